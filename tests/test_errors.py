"""tf.errors beside TensorFlow's own: codes, attributes, printing, pickling."""

import copy
import inspect
import pickle

import pytest
import tensorflow

import runnel

CLASSES = [
    name
    for name, value in vars(tensorflow.errors).items()
    if inspect.isclass(value) and issubclass(value, tensorflow.errors.OpError)
]
CODED = [name for name in CLASSES if name != "OpError"]
CODES = [name for name in vars(tensorflow.errors) if name.isupper()]


def test_the_original_has_what_these_tests_expect():
    assert len(CODED) == 16
    assert len(CODES) == 17


@pytest.mark.parametrize("name", CODES)
def test_codes(name):
    assert getattr(runnel.errors, name) == getattr(tensorflow.errors, name)


@pytest.mark.parametrize("name", CODED)
@pytest.mark.parametrize("payloads", [(), ({"key": b"value"},)], ids=["plain", "payloads"])
def test_attributes_and_printing(name, payloads):
    ours = getattr(runnel.errors, name)(None, None, "what happened", *payloads)
    theirs = getattr(tensorflow.errors, name)(None, None, "what happened", *payloads)
    for attribute in ("message", "error_code", "op", "node_def", "experimental_payloads", "args"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert str(ours) == str(theirs) == "what happened"
    assert repr(ours) == repr(theirs)
    assert isinstance(ours, runnel.errors.OpError)
    assert isinstance(ours, Exception)


@pytest.mark.parametrize("name", CLASSES)
def test_pickling_and_copying(name):
    code = (3,) if name == "OpError" else ()
    error = getattr(runnel.errors, name)(None, None, "what happened", *code, {"key": 1})
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == "what happened"
        assert other.error_code == error.error_code
        assert other.experimental_payloads == {"key": 1}


@pytest.mark.parametrize("name", [*CLASSES, "OperatorNotAllowedInGraphError"])
def test_signatures(name):
    def parameters(module):
        signature = inspect.signature(getattr(module.errors, name).__init__)
        return [(parameter.kind, parameter.name) for parameter in signature.parameters.values()]

    assert parameters(runnel) == parameters(tensorflow)


def test_attributes_cannot_be_set():
    error = runnel.errors.NotFoundError(None, None, "no such file")
    for attribute in ("message", "op", "error_code", "node_def", "experimental_payloads"):
        with pytest.raises(AttributeError):
            setattr(error, attribute, None)


def test_the_message_is_required():
    with pytest.raises(TypeError, match="message"):
        runnel.errors.AbortedError(None, None)


def test_a_graph_operation_is_named_with_its_trace():
    class GraphOperation:
        name = "dense/MatMul"
        traceback = (("train.py", 12, "<module>", "y = x @ w"),)

    text = str(runnel.errors.InvalidArgumentError(None, GraphOperation(), "shapes differ"))
    assert text.startswith("shapes differ\n\nOriginal stack trace for 'dense/MatMul':\n")
    assert 'File "train.py", line 12, in <module>' in text


def test_operator_not_allowed_is_a_type_error():
    assert issubclass(runnel.errors.OperatorNotAllowedInGraphError, TypeError)
    assert not issubclass(runnel.errors.OperatorNotAllowedInGraphError, runnel.errors.OpError)

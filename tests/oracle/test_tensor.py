"""Making, printing, converting and comparing tensors, expression by expression."""

import copy
import pickle

import numpy as np
import pytest
import tensorflow
from expressions import assert_same_outcome

import runnel as tf

CONSTANTS = """
tf.constant(2**31)
tf.constant([1, 2**40])
tf.constant(-2**31)
tf.constant(-2**31 - 1)
tf.constant(2**70)
tf.constant([1, 2.5])
tf.constant([True, 1])
tf.constant([1, True])
tf.constant('abc')
tf.constant(['a', 'bc'])
tf.constant([b'a\\0', b'b'])
tf.constant([[1, 2], [3]])
tf.constant([1, 'a'])
tf.constant(['a', 1])
tf.constant(None)
tf.constant([1, None])
tf.constant(1, dtype=tf.float32)
tf.constant(1.5, dtype=tf.int32)
tf.constant([1.5], dtype=tf.int32)
tf.constant(300, dtype=tf.uint8)
tf.constant(-1, dtype=tf.uint8)
tf.constant(np.array([1.5]), dtype=tf.int32)
tf.constant(np.array([300]), dtype=tf.uint8)
tf.constant(1, shape=[2, 2])
tf.constant([1, 2, 3, 4], shape=[2, 2])
tf.constant([1, 2, 3], shape=[2, 2])
tf.constant(1 + 2j)
tf.constant([1 + 2j, 3], tf.complex64)
tf.constant(np.float64(1))
tf.constant([np.float64(1), 2])
tf.constant([np.float32(1), 2.0])
tf.constant(np.array(['a', 'b']))
tf.constant(np.array(['é']))
tf.constant(np.array([1, 2], dtype='S2'))
tf.constant(np.array(['a', b'b'], dtype=object))
tf.constant(np.array([1, 2], dtype='>i4'))
tf.constant(np.zeros((2, 0, 3)))
tf.constant([])
tf.constant([[]])
tf.constant([], tf.int32)
tf.constant(1, tf.complex64)
tf.constant(1.5, tf.string)
tf.constant('a', tf.float32)
tf.constant(1.5, tf.bool)
tf.constant(True, tf.int32)
tf.constant(True, tf.float32)
tf.constant([1, 2], tf.bool)
tf.constant(1, 'foo')
tf.constant(tf.constant([1.5]))
tf.constant(tf.constant([1.5]), tf.int32)
tf.convert_to_tensor([tf.constant(1.0), 2.0])
tf.convert_to_tensor([[tf.constant(1.0), 2.0], [3, 4.0]])
tf.convert_to_tensor(tf.constant(1.0), dtype=tf.int32)
tf.convert_to_tensor(tf.constant(1.0), dtype='float32')
tf.convert_to_tensor(1, dtype_hint=tf.float32)
tf.convert_to_tensor(1.5, dtype_hint=tf.int32)
tf.convert_to_tensor(np.array([1, 2]), dtype=tf.float32)
tf.convert_to_tensor(np.arange(6).reshape(2, 3).T)
tf.convert_to_tensor(range(3))
tf.convert_to_tensor((1, 2))
tf.convert_to_tensor({'a': 1})
tf.convert_to_tensor(tf.float32)
tf.convert_to_tensor(object())
tf.convert_to_tensor(tf.TensorShape([2, 3]))
tf.convert_to_tensor(tf.TensorShape([2, None]))
tf.convert_to_tensor(np.array([1, 2], np.uint32))
tf.convert_to_tensor([np.arange(2), np.arange(2)])
tf.convert_to_tensor(memoryview(b'abc'))
tf.convert_to_tensor(np.datetime64('2020-01-01'))
tf.is_tensor(tf.constant(1)), tf.is_tensor(1), tf.is_tensor(tf.Variable(1))
tf.get_static_value(tf.constant([1, 2]))
"""

PRINTOUTS = """
tf.constant(0.1)
tf.constant(1e-30)
tf.constant(1e10)
tf.constant(1e20)
tf.constant(0.1, tf.float16)
tf.constant(1 / 3, tf.float64)
tf.constant(1 / 3, tf.bfloat16)
tf.constant(1 / 3 + 1j, tf.complex64)
tf.constant([1 / 3, 2], tf.bfloat16)
tf.constant(float('nan'))
tf.constant([float('inf'), -float('inf')])
tf.constant(True)
tf.constant([[True]])
tf.constant([1.0, 2.0], tf.experimental.float8_e5m2)
tf.constant(5, tf.uint64)
tf.constant([1e10, 1e-5])
tf.constant(['ab\\xff', 'é'])
tf.constant([b'a' * 100])
tf.constant([[1.5, 2], [3, 4]])
tf.constant([[['a', 'b'], ['c', 'd']]])
tf.constant(np.zeros([100, 100], np.float32))
tf.constant(np.arange(2000, dtype=np.int32))
tf.constant(np.arange(3000, dtype=np.float64).reshape(3, 1000))
tf.constant(np.zeros([0], np.float32))
tf.constant(np.zeros([2, 0, 3], np.float32))
tf.constant(np.full([1001], b'x', object))
tf.constant([1.0, 2.0]).shape
tf.constant([1.0, 2.0]).get_shape()
tf.constant(1.0).device
tf.constant([1.0, 2.0]).cpu()
tf.constant(1.0).ref()
tf.constant([1, 2]).dtype
f"{tf.constant(1.5):.3f}"
f"{tf.constant([1.5])}"
f"{tf.constant([1.5]):.2f}"
f"{tf.constant(7):05d}"
"{}".format(tf.constant('a'))
tf.Variable(1.0)
tf.Variable([1.0, 2.0], name='w')
tf.Variable('a')
tf.Variable([[1.5, 2], [3, 4]])
tf.Variable([1, 2], shape=[None])
tf.Variable(1.0, name='a b')
tf.Variable(1 / 3)
tf.Variable(np.zeros([100, 100], np.float32))
f"{tf.Variable(1.5)}"
str(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
str(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([3])))
tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.]), tf.constant([0]), tf.constant([3])))
tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.]), tf.constant([0])))
"""

PYTHON_VALUES = """
tf.constant(1.0).numpy()
tf.constant([1, 2]).numpy()
type(tf.constant('a').numpy())
tf.constant(['a']).numpy()
type(tf.constant(True).numpy())
tf.constant([1, 2]).numpy().flags.writeable
np.asarray(tf.constant([1, 2])).flags.writeable
np.array(tf.constant([1, 2]), dtype=np.float64)
np.mean(tf.constant([1.0, 2.0]))
bool(tf.constant([1, 2]))
bool(tf.constant([1]))
bool(tf.constant(0))
int(tf.constant([1]))
int(tf.constant(1.7))
float(tf.constant('a'))
complex(tf.constant(1.5))
len(tf.constant(1))
len(tf.constant([1, 2]))
list(tf.constant(1))
[x for x in tf.constant([[1], [2]])]
hash(tf.constant(1))
tf.constant(1.0).ndim
tf.constant([[1.0]]).ndim
[1, 2, 3][tf.constant(1)]
range(tf.constant(3))
tf.constant(1.0).foo
tf.constant(1.0).name
tf.constant(1.0).op
tf.constant(1.0).graph
tf.constant(1.0).eval()
tf.constant([1, 2]).T
tf.constant([1, 2]).astype(1)
tf.constant(1.0).set_shape([2])
tf.constant(1.0).__array_priority__
isinstance(tf.Variable(1.0), tf.Tensor)
len(tf.Variable([1.0, 2.0]))
bool(tf.Variable(1.0))
int(tf.Variable(1))
tf.Variable(1.0).numpy()
hash(tf.Variable(1.0))
[x for x in tf.Variable([1.0, 2.0])]
divmod(tf.constant(7), 2)
tf.constant(1) << 2
"""

VARIABLES = """
tf.Variable(1.0, dtype=tf.float64)
tf.Variable(1, dtype=tf.float32)
tf.Variable(tf.constant(1), dtype=tf.float32)
tf.Variable(lambda: tf.constant([1.0, 1.0]))
tf.Variable([1, 2], shape=[3])
tf.Variable()
tf.Variable(1.0).assign([1.0])
tf.Variable(1.0).assign(1)
tf.Variable(1.0).assign(1.5).numpy()
tf.Variable(1).assign(1.5)
tf.Variable(1.0).assign(tf.constant(1))
tf.Variable(1.0).assign_add(1.0)
tf.Variable([1.0, 2.0]).assign_sub([1.0, 1.0])
tf.Variable([1.0, 2.0]).assign(np.zeros(3))
tf.Variable([1.0, 2.0]).assign_add([1.0, 2.0, 3.0])
tf.Variable([1.0, 2.0]).assign_add(1.0)
tf.Variable([1.0, 2.0]).assign(3.0, read_value=False)
tf.Variable(1.0).assign(3.0, read_value=False)
tf.Variable(1.0).assign_add(3.0, read_value=False)
tf.Variable(1.0).assign_sub(3.0, read_value=False)
tf.Variable([1.0, 2.0], shape=[None]).assign([1.0, 2.0, 3.0])
tf.Variable([1.0, 2.0], shape=tf.TensorShape(None)).assign(3.0)
tf.Variable(1.0).value()
tf.Variable(1.0).read_value()
tf.Variable(1.0).shape
tf.Variable(1.0).trainable
tf.Variable(1.0, trainable=False).trainable
tf.Variable(1.0).constraint
tf.Variable(1.0, constraint=3)
tf.Variable(1.0).device
tf.Variable(1.0, name='x').name
tf.Variable(1.0).initial_value
tf.Variable(1.0).synchronization.name, tf.Variable(1.0).aggregation.name
tf.Variable([1.0, 2.0]).sparse_read([1])
tf.Variable([[1.0, 2.0]]).gather_nd([[0, 1]])
"""


def lines(text):
    return [line for line in text.split("\n") if line]


@pytest.mark.parametrize(
    "expression", lines(CONSTANTS) + lines(PRINTOUTS) + lines(PYTHON_VALUES) + lines(VARIABLES)
)
def test_expression(expression):
    assert_same_outcome(expression)


@pytest.mark.parametrize("name", ["reshape", "T", "name", "op", "graph", "no_such_attribute"])
def test_attributes_that_are_lacking(name):
    assert_same_outcome(f"hasattr(tf.constant([1.0]), {name!r})")
    with pytest.raises(AttributeError, match=f"{name}"):
        getattr(tf.constant([1.0]), name)
    if name not in ("name", "op", "graph"):
        assert not hasattr(tf.Tensor, name)
        with pytest.raises(AttributeError, match=f"object has no attribute '{name}'"):
            tf.function(lambda x: getattr(x, name))(tf.constant([1.0]))


def test_programs_leave_notes_on_tensors():
    noted = []

    def note(tensor):
        tensor.own_note = len(noted)
        noted.append(tensor)
        return tensor

    for library in (tf, tensorflow):
        noted.clear()
        library.function(lambda x: note(note(x) + 1))(note(library.constant([1.0])))
        assert [tensor.own_note for tensor in noted] == [0, 1, 2]
        assert not hasattr(library.constant(1.0), "own_note")


def test_numpy_gives_a_copy():
    tensor = tf.constant([1.0, 2.0])
    array = tensor.numpy()
    array[0] = 9
    assert tensor.numpy().tolist() == [1.0, 2.0]


def test_a_tensor_does_not_follow_the_array_it_was_made_from():
    array = np.array([1.0, 2.0])
    tensor, variable = tf.convert_to_tensor(array), tf.Variable(array)
    array[0] = 9
    assert tensor.numpy().tolist() == variable.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("order", ["transposed", "reversed", "in steps"])
def test_arrays_in_any_order_become_tensors(order):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    view = {"transposed": array.T, "reversed": array[::-1], "in steps": array[:, ::2]}[order]
    tensor = tf.constant(view)
    np.testing.assert_array_equal(tensor, view)
    array += 1
    np.testing.assert_array_equal(tensor + 1, view)
    assert np.asarray(tensor).flags.c_contiguous


def test_asarray_cannot_write_into_the_tensor():
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(tf.constant([1.0, 2.0]))[0] = 9


@pytest.mark.parametrize("value", [1.5, [1, 2], ["a", "b"], [[True]]])
def test_pickle_and_copy(value):
    tensor = tf.constant(value)
    for other in (pickle.loads(pickle.dumps(tensor)), copy.copy(tensor), copy.deepcopy(tensor)):
        assert repr(other) == repr(tensor)


def test_references_are_equal_for_the_same_object_only():
    a, b = tf.constant(1), tf.constant(1)
    assert a.ref() == a.ref() and a.ref() != b.ref()
    assert {a.ref(): 1}[a.ref()] == 1 and a.ref().deref() is a


def test_a_tensor_as_a_key_names_the_way_out():
    with pytest.raises(TypeError, match=r"use tensor\.ref\(\)"):
        {tf.constant(1): "one"}


@pytest.mark.parametrize(
    ("mistake", "advice"),
    [
        (lambda: tf.constant([1.5], tf.int32), r"tf\.cast\(values, tf\.int32\)"),
        (lambda: tf.constant([1, "a"]), "only numbers"),
        (lambda: tf.ones([2, 3]) + tf.ones([4]), "equal or one of them is 1"),
        (lambda: tf.ones([2, 3]) @ tf.ones([2, 3]), "transpose_b"),
        (lambda: tf.ones([2, 3]) @ tf.ones([3]), r"tf\.linalg\.matvec"),
        (lambda: tf.constant([1.0]).item(), r"tensor\.numpy\(\)\.item"),
    ],
)
def test_messages_say_what_to_do(mistake, advice):
    with pytest.raises(Exception, match=advice):
        mistake()


def test_a_message_shows_no_more_than_the_beginning_of_a_long_value():
    with pytest.raises(TypeError) as refusal:
        tf.constant([0.5] * 100_000, tf.int32)
    assert len(str(refusal.value)) < 500


def test_registered_conversion():
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype)

    tf.register_tensor_conversion_function(Celsius, convert)
    assert float(tf.convert_to_tensor(Celsius(3.5))) == 3.5
    assert float(tf.constant(1.0) + Celsius(3.5)) == 4.5


MIXED = ["True", "1", "1.5", "2j", "2**40", "'a'"]


@pytest.mark.parametrize("dtype", ["None", "bool", "int8", "int32", "int64", "float16", "bfloat16",
                                   "float32", "complex64", "complex128", "string",
                                   "qint8"])  # fmt: skip
def test_mixed_sequences(dtype):
    dtype = dtype if dtype == "None" else f"tf.{dtype}"
    for first in MIXED:
        for second in MIXED:
            if first != second:
                assert_same_outcome(f"tf.constant([{first}, {second}], {dtype})")

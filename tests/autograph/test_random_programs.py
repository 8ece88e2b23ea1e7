"""Random small functions give one value: as they are, converted, traced, and on TensorFlow."""

import pytest
import tensorflow
from hypothesis import Phase, given, settings, strategies as st
from programs import function_from, programs

import runnel

arguments = st.tuples(*[st.integers(0, 9)] * 3, st.just(0))
# Making a failing program smaller takes minutes; its text says enough.
once = (Phase.explicit, Phase.generate)


@given(programs(), arguments)
@settings(max_examples=60, phases=once)
def test_converted_on_numbers(text, numbers):
    program = function_from(text)
    assert runnel.autograph.to_graph(program)(*numbers) == program(*numbers), text


@given(programs(), arguments)
@settings(max_examples=25, phases=once)
def test_converted_on_eager_tensors(text, numbers):
    program = function_from(text)
    tensors = [runnel.constant(number) for number in numbers]
    assert int(runnel.autograph.to_graph(program)(*tensors)) == program(*numbers), text


@given(programs(), arguments, arguments)
@settings(max_examples=40, phases=once)
def test_traced(text, numbers, others):
    program = function_from(text)
    traced = runnel.function(program)
    for each in (numbers, others):
        tensors = [runnel.constant(number) for number in each]
        assert int(traced(*tensors)) == program(*each), text
    assert traced.experimental_get_tracing_count() == 1


@given(programs(), arguments)
@settings(max_examples=20, phases=once)
def test_traced_with_some_python_numbers(text, numbers):
    program = function_from(text)
    mixed = [runnel.constant(numbers[0]), numbers[1], runnel.constant(numbers[2]), 0]
    try:
        result = runnel.function(program)(*mixed)
    except NotImplementedError as refusal:
        # A Python loop cannot end by what only the graph knows.
        assert "TF" in str(refusal)
        return
    except ValueError as refusal:
        assert "must" in str(refusal)
        return
    assert int(result) == program(*numbers), text


@given(programs(beyond=False), arguments)
@settings(max_examples=6, phases=once)
def test_as_tensorflow(text, numbers):
    program = function_from(text)
    expected = tensorflow.function(program)(*[tensorflow.constant(each) for each in numbers])
    actual = runnel.function(program)(*[runnel.constant(each) for each in numbers])
    assert int(actual) == int(expected) == program(*numbers), text
    assert actual.dtype.name == expected.dtype.name


def test_the_programs_are_not_trivial():
    texts = []

    @given(programs())
    @settings(max_examples=40, database=None)
    def collect(text):
        texts.append(text)

    collect()
    everything = "\n".join(texts)
    for word in ("while", "for", "break", "continue", "elif", "else:", "and", "not", "return x"):
        assert word in everything, word


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """A function that could not be converted would be told of, and prove nothing."""
    yield
    assert "could not transform" not in caplog.text

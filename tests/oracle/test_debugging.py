"""Assertions about tensors: what they refuse, and in which words."""

import numpy as np
import pytest
import tensorflow
from compare import COMPUTED, assert_same, check
from expressions import outcome

import runnel

nan, inf = float("nan"), float("inf")

CALLS = """
tf.debugging.assert_equal([1, 2], [1, 3])
tf.debugging.assert_equal([1, 2], [1, 2])
tf.debugging.assert_equal([1, 2], [1, 3], message='hey')
tf.debugging.assert_equal([[1, 2], [3, 4]], [[1, 2], [0, 0]])
tf.debugging.assert_equal(['a', 'b'], ['a', 'c'])
tf.debugging.assert_equal(list(range(100)), list(range(1, 101)))
tf.debugging.assert_equal(list(range(100)), list(range(1, 101)), summarize=5)
tf.debugging.assert_none_equal([1, 2], [3, 2])
tf.debugging.assert_less([1, 2], [2, 2])
tf.debugging.assert_less_equal([1, 3], [2, 2])
tf.debugging.assert_greater([1, 3], [2, 2], summarize=1)
tf.debugging.assert_greater_equal([1, 3], 2)
tf.debugging.assert_positive([1, -1])
tf.debugging.assert_positive([1.5, 2])
tf.debugging.assert_negative(1)
tf.debugging.assert_non_negative(-1)
tf.debugging.assert_rank([1, 2], 2)
tf.debugging.assert_rank([1, 2], 1)
tf.debugging.assert_rank([1, 2], [1])
tf.debugging.assert_rank_in([1, 2], [2, 3])
tf.debugging.assert_rank_in([1, 2], [1, 3])
tf.debugging.assert_rank_at_least([1, 2], 2)
tf.debugging.assert_rank_at_least([1, 2], 1)
tf.debugging.assert_scalar([1])
tf.debugging.assert_type([1.0], tf.float32)
tf.debugging.assert_integer([1])
tf.debugging.assert_shapes([([[1, 2]], ('N', 2)), ([1, 2, 3], ('M',))])
tf.debugging.assert_shapes([([[1, 2]], ('N', 'N'))])
tf.debugging.assert_shapes([([[1, 2]], (1, 3))])
tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])
tf.debugging.assert_same_float_dtype([tf.constant(1)])
tf.debugging.assert_same_float_dtype([tf.constant(1.0)])
tf.debugging.assert_same_float_dtype()
tf.debugging.assert_same_float_dtype(dtype=tf.float16)
tf.debugging.assert_proper_iterable([1])
tf.debugging.assert_proper_iterable(1)
tf.debugging.is_numeric_tensor(tf.constant(1))
tf.debugging.is_numeric_tensor(tf.constant('a'))
tf.debugging.is_numeric_tensor(1)
tf.debugging.Assert(False, [tf.constant([1, 2]), 'x'])
tf.debugging.Assert(True, [1])
tf.debugging.Assert(False, [])
tf.debugging.is_traceback_filtering_enabled()
"""

SAME_CLASS_ONLY = """
tf.debugging.Assert(tf.constant([True, False]), [1])
tf.debugging.assert_all_finite([1.0, 2], 'bad')
tf.debugging.check_numerics(tf.constant([1.0]), 'msg')
tf.debugging.assert_equal(tf.constant(1.0), tf.constant(1))
tf.debugging.assert_equal([1, 2], [1, 2, 3])
tf.debugging.assert_near([1.0, 2.0], [1.0, 2.1])
tf.debugging.assert_near([1.0, 2.0], [1.0, 2.1], rtol=0.1)
tf.debugging.assert_near([1, 2], [1, 2], atol=1)
tf.debugging.assert_non_positive(1)
tf.debugging.assert_scalar(1)
tf.debugging.assert_type([1], tf.float32)
tf.debugging.assert_integer([1.0])
tf.debugging.assert_all_finite([1.0, float('nan')], 'bad')
tf.debugging.check_numerics(tf.constant([1.0, float('inf')]), 'msg')
tf.debugging.check_numerics(tf.constant([1]), 'msg')
tf.debugging.assert_shapes({'a': 1})
tf.debugging.assert_shapes([([[1, 2]], ('N',))])
tf.debugging.assert_proper_iterable(tf.constant([1]))
"""


def lines(text):
    return [line for line in text.split("\n") if line]


def failed_alike(call):
    expected, actual = outcome(tensorflow, call), outcome(runnel, call)
    if hasattr(expected, "shape"):
        assert_same(expected, actual)
        return expected, actual
    assert type(actual).__name__ == type(expected).__name__, f"{actual!r}, not {expected!r}"
    return expected, actual


@pytest.mark.parametrize("call", lines(CALLS))
def test_same_words(call):
    expected, actual = failed_alike(call)
    assert str(actual) == str(expected)


@pytest.mark.parametrize("call", lines(SAME_CLASS_ONLY))
def test_same_class(call):
    _, actual = failed_alike(call)
    assert not isinstance(actual, Exception) or len(str(actual)) > 10


@pytest.mark.parametrize("values", [[1.0, nan], [1.0, inf], [nan, -inf]])
def test_check_numerics_names_what_it_found(values):
    failures = []
    for tf in (tensorflow, runnel):
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.debugging.check_numerics(tf.constant(values), "the loss")
        message = str(caught.value)
        failures.append(message[message.index("the loss") : message.index(" [Op")])
    assert failures[0] == failures[1]


def test_check_numerics_has_a_gradient():
    check(lambda tf, x: tf.debugging.check_numerics(x * x, "x"), np.array([1.0, 2.0], np.float32))


def test_enable_check_numerics_names_the_operation():
    runnel.debugging.enable_check_numerics()
    try:
        with pytest.raises(runnel.errors.InvalidArgumentError, match='op "Log"'):
            runnel.math.log(runnel.constant(-1.0))
    finally:
        runnel.debugging.disable_check_numerics()
    assert np.isnan(runnel.math.log(runnel.constant(-1.0)).numpy())


def test_unfiltered_tracebacks_show_the_cause():
    def fail():
        return runnel.constant([1.0, 2.0]) + runnel.constant([1.0, 2.0, 3.0])

    with pytest.raises(runnel.errors.InvalidArgumentError) as caught:
        fail()
    assert caught.value.__cause__ is None
    runnel.debugging.disable_traceback_filtering()
    try:
        with pytest.raises(runnel.errors.InvalidArgumentError) as caught:
            fail()
    finally:
        runnel.debugging.enable_traceback_filtering()
    assert isinstance(caught.value.__cause__, ValueError)


def test_assertions_in_a_graph():
    graph = runnel.core.graph.graph.Graph()
    x = graph.placeholder(runnel.int32, runnel.TensorShape([None]))
    with graph.as_default():
        runnel.debugging.assert_positive(x, message="must be positive")
        y = x * 2
    assert graph.compute([y], [(x, np.array([1, 2], np.int32))])[0].tolist() == [2, 4]
    with pytest.raises(runnel.errors.InvalidArgumentError, match="must be positive"):
        graph.compute([y], [(x, np.array([1, -2], np.int32))])
    COMPUTED.update(operation.type for operation in graph.operations)

"""stack, unstack, concat and split against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.graph.graph import Graph

DTYPES = [ml_dtypes.bfloat16, np.float16, np.int8, np.uint16, np.int64, np.bool_, np.complex64]
TABLE = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
STRINGS = np.array([["a", "bc"], ["", "d"]], object)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def numbers(shape, start=0.0):
    return np.arange(start, start + np.prod(shape)).reshape(shape)


@settings(max_examples=15)
@given(shapes, st.integers(1, 3), st.integers(-5, 4))
def test_stack(shape, count, axis):
    parts = [numbers(shape, 10.0 * i) for i in range(count)]
    check(lambda tf, *x: tf.stack(x, axis), *parts, may_raise=True)


@settings(max_examples=15)
@given(shapes, st.integers(-4, 3))
def test_unstack(shape, axis):
    number = shape[axis] if -len(shape) <= axis < len(shape) else 1
    check(lambda tf, x: tf.unstack(x, axis=axis), numbers(shape), traced=False, may_raise=True)
    check(
        lambda tf, x: tf.unstack(x, number, axis), numbers(shape), traced=number > 0, may_raise=True
    )


@settings(max_examples=15)
@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3), st.data())
def test_concat(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    parts = []
    for i, size in enumerate(sizes):
        whole = list(shape)
        whole[axis] = size
        parts.append(numbers(whole, 10.0 * i))
    check(lambda tf, *x: tf.concat(x, axis), *parts, may_raise=True)
    check(lambda tf, axis, *x: tf.concat(x, axis), np.array(axis, np.int64), *parts, may_raise=True)


@settings(max_examples=12)
@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4), st.data())
def test_split(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    count = data.draw(st.integers(1, 4))
    check(lambda tf, x: tf.split(x, count, axis), numbers(shape), may_raise=True)
    cuts = sorted(data.draw(st.lists(st.integers(0, shape[axis]), max_size=3)))
    sizes = [b - a for a, b in zip([0, *cuts], [*cuts, shape[axis]], strict=True)]
    check(lambda tf, x: tf.split(x, sizes, axis), numbers(shape), may_raise=True)
    hidden = [-1 if i == 0 else size for i, size in enumerate(sizes)]
    check(lambda tf, x: tf.split(x, hidden, axis), numbers(shape), may_raise=True)
    check(
        lambda tf, x, n, axis: tf.split(x, n, axis, num=len(sizes)),
        numbers(shape), np.array(sizes), np.array(axis, np.int32), may_raise=True)  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: [tf.stack([x, 2 * x], 1)], lambda tf, x: tf.unstack(x, 3, 1),
        lambda tf, x: [tf.concat([x, 2 * x], 1)], lambda tf, x: tf.split(x, 2),
        lambda tf, x: tf.split(x, [1, 2], 1),
    ],
)  # fmt: skip
def test_second_derivatives(function):
    check(lambda tf, x: [tf.square(part) for part in function(tf, x)], TABLE)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    check(
        lambda tf, x: [tf.stack([x, x], 1), tf.concat([x, x], 1), tf.unstack(x, 2), tf.split(x, 2)],
        x, gradient=False,
    )  # fmt: skip


def test_strings():
    check(lambda tf, x: tf.stack([x, x], 1), STRINGS)
    check(lambda tf, x: tf.stack([x, x]), np.array("a", object))
    check(lambda tf, x: tf.unstack(x, 2, 1), STRINGS)
    check(lambda tf, x: tf.unstack(x, 2), STRINGS[0])
    check(lambda tf, x: tf.concat([x, x], 0), STRINGS)
    check(lambda tf, x: tf.split(x, 2), STRINGS[0])


@pytest.mark.parametrize(
    "values",
    [
        [1, 2], [1, 2.5], [2.5, 1], [], 5, [[1], [2]], ["a", "b"], [np.ones(1), [1.0]],
        [[1.0], np.ones(1)], np.ones((2, 2), np.int32), ["a", 1], [None], [[1], [2, 3]],
    ],
)  # fmt: skip
def test_stack_of_values(values):
    check(lambda tf: tf.stack(values), may_raise=True)


def test_values_beside_tensors():
    check(lambda tf, x: tf.stack([1, x]), np.array(2.0))
    check(lambda tf, x: tf.stack([x, [1, 2, 3]], 1), np.ones(3))
    check(lambda tf, x: tf.concat([x, [[1, 2, 3]]], 0), TABLE)
    check(lambda tf, x: tf.concat([[[1, 2, 3]], x], 0), TABLE)
    check(lambda tf: tf.concat([np.ones(2, np.float32), np.ones(2)], 0))
    check(lambda tf: tf.concat([tf.Variable([1.0]), tf.Variable([2.0])], 0), traced=False)
    check(lambda tf: tf.stack([tf.Variable([1.0]), tf.Variable([2.0])]), traced=False)
    check(lambda tf, x: tf.stack(x, axis=1), TABLE, traced=False)
    check(lambda tf, x: tf.concat(x, 5), TABLE)
    check(lambda tf, x: tf.stack([x, x], axis=tf.constant(1)), TABLE, traced=False)


def test_lists_of_nested_tensors():
    check(lambda tf, x: tf.stack([[x, x], [x, 2 * x]]), np.array(3.0))


def test_stack_refuses():
    check_raises(lambda tf, x: tf.stack([x, x], 3), TABLE)
    check_raises(lambda tf, x: tf.stack([x, x], -4), TABLE)
    check_raises(lambda tf, x, y: tf.stack([x, y], 1), TABLE, np.ones(2))
    check_raises(lambda tf, x, y: tf.stack([x, y]), TABLE, np.ones((2, 3), np.int32))
    check_raises(lambda tf, x: tf.stack([x, 2.5]), np.array(1))
    check_raises(lambda tf: tf.stack([], axis=3))
    check_raises(lambda tf, x: tf.stack([x, x], axis="a"), TABLE)


def test_unstack_refuses():
    check_raises(lambda tf, x: tf.unstack(x, axis=2), TABLE)
    check_raises(lambda tf, x: tf.unstack(x, num=3), TABLE)
    check_raises(lambda tf, x: tf.unstack(x), np.array(1.0))
    check_raises(lambda tf, x: tf.unstack(x, num="a"), TABLE)
    check_raises(lambda tf, x: tf.unstack(x, axis="a"), TABLE)


def test_concat_refuses():
    check_raises(lambda tf: tf.concat([], 0))
    check_raises(lambda tf, x: tf.concat([x, x], 2), TABLE)
    check_raises(lambda tf, x: tf.concat([x, x], -3), TABLE)
    check_raises(
        lambda tf, x: tf.concat([x, [[1.0, 2.0]]], 0), TABLE,
        message="Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [1,2]",
    )  # fmt: skip
    check_raises(lambda tf, x: tf.concat([x, [1.0]], 0), TABLE)
    check_raises(lambda tf, x, y: tf.concat([x, y], 0), TABLE, np.ones((2, 3), np.int32))
    check_raises(lambda tf, x: tf.concat([x, x], 0), np.array(1.0))
    check_raises(lambda tf, x: tf.concat([x, [["a"]]], 0), TABLE)
    check_raises(lambda tf, x: tf.concat([x, None], 0), TABLE)
    check_raises(lambda tf, x: tf.concat([x, x], 0.0), TABLE)
    check_raises(lambda tf, x: tf.concat([x, x], "a"), TABLE)
    check_raises(lambda tf, x: tf.concat([x, x], [0, 1]), TABLE)


@pytest.mark.parametrize(
    ("how", "axis"),
    [
        (3, 0), (0, 0), (-1, 0), (2, 2), (2, -3), ([1, 2], 0), ([-1, -1], 0), ([3, -1], 0),
        ([1, -2], 0), ([1, 2], 5), ([], 1), (2.0, 1), ([1.0, 2.0], 1), ([[1, 2]], 1), (None, 0),
        ("a", 0), (3, 1.0), (3, None),
    ],
)  # fmt: skip
def test_split_refuses(how, axis):
    check_raises(lambda tf, x: tf.split(x, how, axis), TABLE)


def test_split_needs_a_python_number():
    check_raises(lambda tf, x: tf.split(x, tf.constant(3), 1), TABLE)
    check_raises(lambda tf, x: tf.split(x, tf.constant([1, 2]), 1, num=3), TABLE)
    check_raises(lambda tf, x: tf.split(x, 1), np.array(1.0))
    check(lambda tf, x: tf.split(x, np.int64(3), 1), TABLE)
    check(lambda tf, x: tf.split(x, np.array([1, 2], np.int8), 1), TABLE)


def test_parallel_stack():
    check_raises(lambda tf, x: tf.parallel_stack([x, x]), TABLE)


def test_parallel_stack_in_a_graph():
    graph = Graph()
    with graph.as_default():
        result = runnel.parallel_stack([runnel.constant([1, 2]), runnel.constant([3, 4])])
    assert graph.compute([result], {})[0].tolist() == [[1, 2], [3, 4]]

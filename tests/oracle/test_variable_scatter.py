"""The scatter methods of variables, and count_up_to, against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow
from compare import COMPUTED, assert_same, assert_same_failure, check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.graph.graph import Graph

SPARSE = ["add", "sub", "mul", "div", "max", "min", "update"]
NUMBERS = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.int32,
    np.int64,
]  # fmt: skip


def scatter(name, values, indices):
    """Scatter slices into a variable; the result and the variable afterwards."""

    def call(tf, x):
        v = tf.Variable(x)
        method = getattr(v, f"scatter_{name}" if name != "batch" else "batch_scatter_update")
        return [method(tf.IndexedSlices(tf.constant(values), tf.constant(indices))), v]

    return call


def scatter_nd(name, indices, updates):
    def call(tf, x):
        v = tf.Variable(x)
        return [getattr(v, f"scatter_nd_{name}")(indices, updates), v]

    return call


def check_update(call, x):
    """Eager as TensorFlow, and in a graph as eager."""
    expected = outcome(call, tensorflow, x)
    actual = outcome(call, runnel, x)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_failure(expected, actual)
        return
    assert_same(expected, actual)
    made = []
    graph = Graph()
    with graph.as_default():
        call(Recorder(made), x)
    COMPUTED.update(operation.type for operation in graph.operations)
    graph.compute([], {})
    np.testing.assert_array_equal(made[0].numpy(), actual[1].numpy())


class Recorder:
    """Runnel, but it remembers the variables that are made."""

    def __init__(self, made):
        self._made = made

    def __getattr__(self, name):
        return getattr(runnel, name)

    def Variable(self, value):
        self._made.append(runnel.Variable(value))
        return self._made[-1]


def outcome(call, tf, x):
    try:
        return call(tf, x)
    except Exception as failure:
        return failure


@pytest.mark.parametrize("name", SPARSE)
@settings(max_examples=10)
@given(st.data())
def test_rows(name, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3))
    places = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    rows = data.draw(hnp.arrays(np.int32, places, elements=st.integers(0, shape[0] - 1)))
    values = data.draw(
        hnp.arrays(np.float64, places + shape[1:], elements=st.integers(1, 9).map(float))
    )
    x = np.linspace(-4, 9, int(np.prod(shape))).reshape(shape)
    check_update(scatter(name, values, rows), x)
    check_update(scatter(name, np.float64(2), rows.astype(np.int64)), x)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", SPARSE)
def test_every_dtype(name, dtype):
    x = np.array([[100, 7], [3, 90], [5, 6]]).astype(dtype)
    values = np.array([[2, 3], [3, 2]]).astype(dtype)
    check_update(scatter(name, values, [0, 2]), x)
    check_update(scatter(name, values, [1, 1]), x)


def test_integers_are_divided_towards_zero():
    check_update(scatter("div", np.array([2, -2, 2]), [0, 1, 2]), np.array([-7, 7, 7]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan(name):
    check_update(scatter(name, np.array([-5.0, np.nan, 1.0]), [0, 1, 1]), np.array([np.nan, 1.0]))


def test_other_dtypes():
    check_update(scatter("update", np.array([False]), [1]), np.array([True, True]))
    check_update(
        scatter("update", np.array(["x", "y"], object), [1, 1]), np.array(["a", "b"], object)
    )
    check_update(scatter("mul", np.array([1 + 1j]), [0]), np.array([1 + 1j, 2]))
    for name in ("add", "max"):
        check_update(scatter(name, np.array([True]), [0]), np.array([True, False]))
        check_update(scatter(name, np.array(["x"], object), [0]), np.array(["a", "b"], object))
    check_update(scatter("max", np.array([1 + 1j]), [0]), np.array([1 + 1j]))
    check_update(scatter_nd("update", [[1]], ["z"]), np.array(["a", "b"], object))
    check_update(scatter_nd("add", [[1]], [True]), np.array([True, False]))
    check_update(scatter_nd("add", [[1]], ["x"]), np.array(["a", "b"], object))


@pytest.mark.parametrize(
    ("values", "indices"),
    [
        ([1.0, 2.0], [0, 5]), ([1.0, 2.0], [0, -1]), ([1.0, 2.0], [0]), ([1.0], [0, 1]),
        ([1, 2], [0, 1]), (np.array([1.0], np.float32), [1]), ([1.0], np.array([1], np.int16)),
        ([1.0], [1.0]), ([[1.0, 2.0]], [0]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["add", "update", "div"])
def test_rows_refused(name, values, indices):
    values = np.array(values) if isinstance(values, list) else values
    check_update(scatter(name, values, np.array(indices)), np.array([1.0, 2.0, 3.0]))


def test_zero_divides_no_integer():
    check_update(scatter("div", np.array([0]), [0]), np.array([1, 2]))


@pytest.mark.parametrize("name", [*SPARSE, "batch"])
def test_only_indexed_slices(name):
    method = "batch_scatter_update" if name == "batch" else f"scatter_{name}"
    for value in (np.ones(2), [1.0], None):
        check_raises(
            lambda tf, value=value: getattr(tf.Variable([1.0, 2.0]), method)(value),
            message="must be a `tf.IndexedSlices`",
        )


@pytest.mark.parametrize("name", ["add", "sub", "max", "min", "update"])
@settings(max_examples=10)
@given(st.data())
def test_slices_at_vectors(name, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3))
    depth = data.draw(st.integers(1, len(shape)))
    outer = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    columns = [
        data.draw(hnp.arrays(np.int32, outer, elements=st.integers(0, size - 1)))
        for size in shape[:depth]
    ]
    updates = data.draw(hnp.arrays(np.float64, outer + shape[depth:], elements=st.floats(-9, 9)))
    x = np.linspace(-4, 9, int(np.prod(shape))).reshape(shape)
    check_update(scatter_nd(name, np.stack(columns, -1), updates), x)


@pytest.mark.parametrize(
    ("indices", "updates"),
    [
        ([[0], [3]], [1.0, 2.0]), ([[0], [1]], [1.0, 2.0, 3.0]), ([[0, 1]], [1.0]),
        ([[0.0]], [1.0]), ([[0]], 1.0), (0, 1.0), ([[0], [1]], [1, 2]), ([[0]], ["a"]),
        ([[0]], None),
    ],
)  # fmt: skip
def test_vectors_refused(indices, updates):
    check_update(scatter_nd("update", indices, updates), np.array([1.0, 2.0, 3.0]))


def test_batches():
    table, cube = np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(2, 3, 2)
    check_update(scatter("batch", np.array([1.0, 2.0]), [0, 2]), np.arange(3.0))
    check_update(scatter("batch", np.array([[9.0], [8.0], [7.0]]), [[0], [1], [0]]), table)
    check_update(scatter("batch", np.array([[9.0], [8.0], [7.0]]), [[0], [1], [2]]), table)
    check_update(scatter("batch", np.ones((2, 2, 2)), [[0, 1], [2, 2]]), cube)


def test_count_up_to():
    def counted(tf, start, limit):
        v = tf.Variable(start)
        return [v.count_up_to(limit), v]

    for start in (np.int32(1), np.int64(4)):
        check(lambda tf, start=start: counted(tf, start, 5), traced=False)
    check_raises(lambda tf: counted(tf, 5, 5))
    check_raises(lambda tf: counted(tf, 1.0, 5))
    check_raises(lambda tf: counted(tf, [1], 5))
    v = runnel.Variable(1)
    graph = Graph()
    with graph.as_default():
        first, second = v.count_up_to(3), v.count_up_to(3)
    COMPUTED.update(operation.type for operation in graph.operations)
    assert [int(n) for n in graph.compute([first, second], {})] == [1, 2]
    assert int(v) == 3

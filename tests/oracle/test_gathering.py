"""gather, gather_nd, dynamic_partition and dynamic_stitch against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

TABLE = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
STRINGS = np.array([["a", "bc"], ["", "d"]], object)
picks = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)


def numbers(shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


@settings(max_examples=25)
@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
def test_gather(shape, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = data.draw(
        hnp.arrays(data.draw(st.sampled_from([np.int32, np.int64])), picks,
                   elements=st.integers(0, shape[axis] - 1))
    )  # fmt: skip
    check(lambda tf, x, i: tf.gather(x, i, axis=axis), numbers(shape), indices)
    check(
        lambda tf, x, i, axis: tf.gather(x, i, axis=axis), numbers(shape), indices, np.array(axis)
    )


@settings(max_examples=25)
@given(hnp.array_shapes(min_dims=2, max_dims=4, max_side=3), st.data())
def test_batched_gather(shape, data):
    axis = data.draw(st.integers(1, len(shape) - 1))
    batch = data.draw(st.integers(1, axis))
    rest = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=2))
    indices = data.draw(
        hnp.arrays(np.int32, (*shape[:batch], *rest), elements=st.integers(0, shape[axis] - 1))
    )
    check(lambda tf, x, i: tf.gather(x, i, axis=axis, batch_dims=batch), numbers(shape), indices)
    if rest:
        negative = batch - indices.ndim
        check(
            lambda tf, x, i: tf.gather(x, i, axis=axis - len(shape), batch_dims=negative),
            numbers(shape), indices,
        )  # fmt: skip


def test_gather_defaults_to_the_batch_axis():
    check(lambda tf, x: tf.gather(x, [[0], [1]], batch_dims=1), TABLE)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: [tf.gather(x, [1, 0, 1])], lambda tf, x: [tf.gather(x, [2, 0], axis=1)],
        lambda tf, x: [tf.gather(x, [[0, 0], [2, 1]], batch_dims=1)],
        lambda tf, x: [tf.gather_nd(x, [[0, 1], [0, 1], [1, 2]])],
        lambda tf, x: [tf.gather_nd(x, [[1], [0]])],
        lambda tf, x: tf.dynamic_partition(x, [1, 0], 2),
        lambda tf, x: [tf.dynamic_stitch([[3], [0]], [x[:1], x[1:]])],
    ],
)  # fmt: skip
def test_second_derivatives(function):
    check(lambda tf, x: [tf.square(part) for part in function(tf, x)], TABLE)


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.bfloat16, np.float16, np.int8, np.uint16, np.bool_, np.complex64]
)
def test_every_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    check(
        lambda tf, x: [tf.gather(x, [1, 0], axis=1), tf.gather_nd(x, [[0, 1]])], x, gradient=False
    )


def test_strings():
    check(
        lambda tf, x: [tf.gather(x, [1, 0]), tf.gather(x, 1), tf.gather(x, [[1]], axis=1)], STRINGS
    )
    check(lambda tf, x: tf.gather(x, 1), STRINGS[0])
    check(lambda tf, x: tf.gather(x, [[0], [1]], batch_dims=1), STRINGS)
    check(lambda tf, x: [tf.gather_nd(x, [[0, 1]]), tf.gather_nd(x, [0, 1])], STRINGS)


def test_gather_of_nothing():
    check(lambda tf, x, i: tf.gather(x, i), np.zeros((0, 3)), np.zeros(0, np.int32))
    check(lambda tf, x, i: tf.gather(x, i, axis=1), TABLE, np.zeros(0, np.int32))
    check(lambda tf, x: tf.gather(x, [5]), np.zeros((2, 0)), gradient=False)


@pytest.mark.parametrize(
    ("indices", "options"),
    [
        (2, {}), (-1, {}), ([[0, 5]], {}), ([0], {"axis": 2}), ([0], {"axis": -3}),
        (3, {"axis": 1}),
        ([0.0], {}), (0.0, {}), (np.int8(0), {}), (0, {"axis": 1.0}), (0, {"axis": [1]}), ([], {}),
        ([[0], [1]], {"axis": 1, "batch_dims": 2}), ([0, 1, 2], {"axis": 1, "batch_dims": 1}),
        ([[0], [1]], {"batch_dims": 3}), (0, {"batch_dims": 1}), (None, {}), ("a", {}),
    ],
)  # fmt: skip
def test_gather_refuses(indices, options):
    check_raises(lambda tf, x: tf.gather(x, indices, **options), TABLE)
    check_raises(lambda tf: tf.gather(5.0, 0))


def test_message():
    check_raises(
        lambda tf, x: tf.gather(x, [[0, 5]]), TABLE, message="indices[0,1] = 5 is not in [0, 2)"
    )


@pytest.mark.parametrize("indices", [[0, 1, 0], 1, [[0], [1]]])
def test_gradient_of_gather_is_indexed_slices(indices):
    for tf in (tensorflow, runnel):
        x = tf.constant(TABLE)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(x, indices)
        found = tape.gradient(y, x)
        assert isinstance(found, tf.IndexedSlices)
        assert found.indices.numpy().tolist() == np.ravel(indices).tolist()
        assert found.indices.dtype == tf.int32
        assert found.values.shape == [np.size(indices), 3]
        assert found.dense_shape.numpy().tolist() == [2, 3]
        assert found.dense_shape.dtype == tf.int32


def test_gradient_of_gathered_variable():
    for tf in (tensorflow, runnel):
        v = tf.Variable(TABLE)
        with tf.GradientTape() as tape:
            y = tf.gather(v, [1, 1]) + v.sparse_read([0, 1])
        found = tape.gradient(y, v)
        assert isinstance(found, tf.IndexedSlices)
        dense = tf.convert_to_tensor(found).numpy().tolist()
        assert dense == [[1.0, 1.0, 1.0], [3.0, 3.0, 3.0]]


@settings(max_examples=25)
@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3), st.data())
def test_gather_nd(shape, data):
    depth = data.draw(st.integers(1, len(shape)))
    outer = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=2))
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    columns = [
        data.draw(hnp.arrays(dtype, outer, elements=st.integers(0, size - 1)))
        for size in shape[:depth]
    ]
    check(lambda tf, x, i: tf.gather_nd(x, i), numbers(shape), np.stack(columns, -1))


@settings(max_examples=15)
@given(hnp.array_shapes(min_dims=2, max_dims=4, max_side=3), st.data())
def test_batched_gather_nd(shape, data):
    batch = data.draw(st.integers(1, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    inner = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=2))
    columns = [
        data.draw(hnp.arrays(np.int32, (*shape[:batch], *inner), elements=st.integers(0, size - 1)))
        for size in shape[batch : batch + depth]
    ]
    check(
        lambda tf, x, i: tf.gather_nd(x, i, batch_dims=batch), numbers(shape), np.stack(columns, -1)
    )


def test_gather_nd_of_single_vectors():
    # The original cannot differentiate these.
    check(lambda tf, x: tf.gather_nd(x, [0, 1]), TABLE, gradient=False)
    check(lambda tf, x: tf.gather_nd(x, [1]), TABLE, gradient=False)
    check(lambda tf, x, i: tf.gather_nd(x, i), TABLE, np.zeros((2, 0), np.int32), gradient=False)
    check(lambda tf, x, i: tf.gather_nd(x, i), np.zeros((0, 3)), np.zeros((0, 1), np.int32))


def test_bad_indices_policy():
    indices = np.array([[0, 5], [0, 1], [-1, 0]])
    check(
        lambda tf, x: tf.gather_nd(x, indices, bad_indices_policy="IGNORE"), TABLE, gradient=False
    )
    check(
        lambda tf, x: tf.gather_nd(x, indices, bad_indices_policy="IGNORE"),
        np.arange(6).reshape(2, 3),
    )
    for policy in ("", "ERROR", "DEFAULT"):
        check_raises(
            lambda tf, x, policy=policy: tf.gather_nd(x, indices, bad_indices_policy=policy), TABLE,
            message="indices[0] = [0, 5] does not index into param shape [2,3]",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "batch"),
    [
        (0, 0), ([[0, 5]], 0), ([[0, 0, 0]], 0), ([[1.0]], 0), ([[1], [2]], 2), ([[1], [2]], -1),
        ([[1], [2], [0]], 1), ([[1], [5]], 1), (np.array([[0]], np.int8), 0), (None, 0),
    ],
)  # fmt: skip
def test_gather_nd_refuses(indices, batch):
    check_raises(lambda tf, x: tf.gather_nd(x, indices, batch_dims=batch), TABLE)
    check_raises(lambda tf, x: tf.gather_nd(x, [[0]]), np.zeros((0, 3)))


@settings(max_examples=20)
@given(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), st.data())
def test_dynamic_partition(shape, data):
    depth = data.draw(st.integers(0, len(shape)))
    parts = data.draw(hnp.arrays(np.int32, shape[:depth], elements=st.integers(0, 2)))
    check(lambda tf, x, p: tf.dynamic_partition(x, p, 3), numbers(shape), parts)


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ([0, 2], 2),
        ([0, -1], 2),
        ([0, 1, 0], 2),
        ([0, 1], 0),
        ([0, 1], -1),
        ([0.0, 1], 2),
        (None, 2),
    ],
)
def test_dynamic_partition_refuses(parts, count):
    check_raises(lambda tf, x: tf.dynamic_partition(x, parts, count), TABLE)
    check_raises(lambda tf, x, p: tf.dynamic_partition(x, p, 2), TABLE, np.array([0, 1]))


@settings(max_examples=20)
@given(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), st.data())
def test_dynamic_stitch(inner, data):
    outers = data.draw(
        st.lists(hnp.array_shapes(min_dims=0, max_dims=2, max_side=2), min_size=1, max_size=3)
    )
    indices = [
        data.draw(hnp.arrays(np.int32, outer, elements=st.integers(0, 5))) for outer in outers
    ]
    values = [numbers(outer + inner) + 100 * i for i, outer in enumerate(outers)]
    places = [i for each in indices for i in each.flat]
    # Of equal indices the last wins, but the original's gradient is as if each did.
    check(
        lambda tf, *x: tf.dynamic_stitch(list(x[: len(outers)]), list(x[len(outers) :])),
        *indices, *values, smooth=len(set(places)) == len(places),
    )  # fmt: skip


def test_partition_and_stitch_of_strings():
    check(lambda tf, x: tf.dynamic_partition(x, [1, 0], 2), STRINGS)
    check(lambda tf, x: tf.dynamic_stitch([[0], [3]], [x[:1], x[1:]]), STRINGS)


def test_dynamic_stitch_refuses():
    check_raises(lambda tf: tf.dynamic_stitch([[0, -2], [4]], [[1, 2], [3]]))
    check_raises(lambda tf: tf.dynamic_stitch([0, [1, 2]], [[5, 6], [1, 2]]))
    check_raises(lambda tf: tf.dynamic_stitch([[0]], [[1], [2]]))
    check_raises(lambda tf: tf.dynamic_stitch([], []))
    check_raises(lambda tf: tf.dynamic_stitch([[0.0]], [[1]]))
    check_raises(lambda tf: tf.dynamic_stitch([[0], [1]], [[1], [2.5]]))
    check_raises(lambda tf: tf.dynamic_stitch([[0], [1]], [[[1, 2]], [[1, 2, 3]]]))
    check_raises(lambda tf, x: tf.dynamic_stitch([[0], [1]], x), TABLE)

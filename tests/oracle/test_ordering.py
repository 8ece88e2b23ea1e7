"""transpose, reverse, roll, reverse_sequence, tile, repeat and meshgrid against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)
arrays = hnp.arrays(np.float64, shapes, elements=st.floats(-9, 9, width=16))
CUBE = np.arange(24.0).reshape(2, 3, 4)
TABLE = np.arange(6.0).reshape(2, 3)
STRINGS = np.array([["a", "bc"], ["", "d"]], object)
DTYPES = [ml_dtypes.bfloat16, np.float16, np.int8, np.uint8, np.int64, np.bool_, np.complex64]


@settings(max_examples=12)
@given(arrays, st.data())
def test_transpose(x, data):
    check(lambda tf, x: tf.transpose(x), x)
    perm = data.draw(st.permutations(range(x.ndim)))
    shift = data.draw(st.sampled_from([0, x.ndim]))
    perm = [axis - shift for axis in perm]
    # The original differentiates only through axes that are not negative.
    check(lambda tf, x: tf.transpose(x, perm), x, gradient=not shift)


def test_transpose_by_tensor():
    check(lambda tf, x, perm: tf.transpose(x, perm), CUBE, np.array([2, 0, 1], np.int64))
    check(lambda tf, x, perm: tf.transpose(x, perm), CUBE, np.array([-1, 0, 1]), gradient=False)


def test_conjugate():
    x = np.array([[1 + 2j, 3 - 1j, 2j]])
    check(lambda tf, x: tf.transpose(x, conjugate=True), x)
    check(lambda tf, x: tf.transpose(x, [0, 1], conjugate=True), x)
    check(lambda tf, x: tf.transpose(x, conjugate=True), TABLE)
    check(lambda tf, x: tf.transpose(x, conjugate=True), np.array(1 + 2j))


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: tf.transpose(x), lambda tf, x: tf.reverse(x, [1]),
        lambda tf, x: tf.roll(x, 1, 1),
        lambda tf, x: tf.reverse_sequence(x, [2, 3], seq_axis=1), lambda tf, x: tf.tile(x, [2, 1]),
        lambda tf, x: tf.repeat(x, [1, 2], axis=0), lambda tf, x: tf.repeat(x, 2),
        lambda tf, x: tf.meshgrid(x, x)[0],
    ],
)  # fmt: skip
def test_second_derivatives(function):
    check(lambda tf, x: tf.square(function(tf, x)), TABLE)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)

    def all_of_them(tf, x):
        return [
            tf.transpose(x),
            tf.reverse(x, [1]),
            tf.roll(x, 2, 1),
            tf.tile(x, [2, 1]),
            tf.repeat(x, 2, axis=1),
            tf.reverse_sequence(x, [2, 3], seq_axis=1),
        ]

    check(all_of_them, x, gradient=False)


def test_strings():
    check(lambda tf, x: tf.transpose(x), STRINGS)
    check(lambda tf, x: tf.reverse(x, [0, 1]), STRINGS)
    check(lambda tf, x: tf.roll(x, 1, 0), STRINGS)
    check(lambda tf, x: tf.tile(x, [1, 2]), STRINGS)
    check(lambda tf, x: tf.repeat(x, [1, 2], axis=0), STRINGS)
    check(lambda tf, x: tf.reverse_sequence(x, [2, 1], seq_axis=1), STRINGS)


@pytest.mark.parametrize(
    "perm", [[0, 1], [0, 1, 1], [0, 1, 3], [0, -4, 1], [[0, 1, 2]], [0.0, 1, 2], 0.5, 1, [], "a"]
)
def test_transpose_refuses(perm):
    check_raises(lambda tf, x: tf.transpose(x, perm), CUBE)


@settings(max_examples=12)
@given(arrays, st.lists(st.integers(-4, 3), max_size=3))
def test_reverse(x, axes):
    check(lambda tf, x: tf.reverse(x, axes), x, may_raise=True)


@pytest.mark.parametrize("axes", [0, [3], [0, 0], [0, -3], [0.5], 0.5, None])
def test_reverse_refuses(axes):
    check_raises(lambda tf, x: tf.reverse(x, axes), CUBE)


@settings(max_examples=15)
@given(arrays, st.lists(st.tuples(st.integers(-7, 7), st.integers(-4, 3)), min_size=1, max_size=3))
def test_roll(x, moves):
    shifts, axes = ([move[i] for move in moves] for i in (0, 1))
    check(lambda tf, x: tf.roll(x, shifts, axes), x, may_raise=True)
    check(lambda tf, x: tf.roll(x, shifts[0], axes[0]), x, may_raise=True)


def test_roll_by_tensors():
    shift, axis = np.array([1, -2], np.int64), np.array([0, 2], np.int32)
    check(lambda tf, x, shift, axis: tf.roll(x, shift, axis), CUBE, shift, axis)


@pytest.mark.parametrize(
    ("shift", "axis"), [([1], [0, 1]), (1, 3), (1, -4), (1.0, 0), ([[1]], [[0]]), (1, "a")]
)
def test_roll_refuses(shift, axis):
    check_raises(lambda tf, x: tf.roll(x, shift, axis), CUBE)
    check_raises(lambda tf, x: tf.roll(x, 1, 0), np.array(1.0))


@settings(max_examples=15)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=3),
        elements=st.floats(-9, 9),
    ),
    st.data(),
)
def test_reverse_sequence(x, data):
    batch, sequence = data.draw(st.permutations(range(x.ndim)))[:2]
    lengths = data.draw(
        hnp.arrays(np.int64, x.shape[batch], elements=st.integers(0, x.shape[sequence]))
    )
    check(
        lambda tf, x, lengths: tf.reverse_sequence(x, lengths, seq_axis=sequence, batch_axis=batch),
        x, lengths,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lengths", "axes"),
    [
        ([2, 4], (1, 0)), ([2, -1], (1, 0)), ([2], (1, 0)), ([2, 3], (1, 1)), ([2, 3], (-1, 0)),
        ([2, 3], (2, 0)), ([2, 3], (1, 3)), ([2, 3], (1, -1)), ([2.0, 3], (1, 0)),
        ([[2, 3]], (1, 0)), ([2, 3], (None, 0)),
    ],
)  # fmt: skip
def test_reverse_sequence_refuses(lengths, axes):
    check_raises(lambda tf, x: tf.reverse_sequence(x, lengths, axes[0], axes[1]), TABLE)


@settings(max_examples=12)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        elements=st.floats(-9, 9),
    ),
    st.data(),
)
def test_tile(x, data):
    counts = data.draw(hnp.arrays(np.int32, x.ndim, elements=st.integers(0, 3)))
    check(lambda tf, x: tf.tile(x, counts), x)
    check(lambda tf, x, counts: tf.tile(x, counts), x, counts)


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, -1], 2, [1, 1, 2.0], 2.0, [[1, 1, 1]], None])
def test_tile_refuses(counts):
    check_raises(lambda tf, x: tf.tile(x, counts), CUBE)


@settings(max_examples=15)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        elements=st.floats(-9, 9),
    ),
    st.data(),
)
def test_repeat(x, data):
    axis = data.draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    length = x.size if axis is None else x.shape[axis]
    counts = data.draw(hnp.arrays(np.int32, length, elements=st.integers(0, 3)))
    check(lambda tf, x: tf.repeat(x, 2, axis), x, traced=axis is None or axis >= 0)
    check(lambda tf, x: tf.repeat(x, counts, axis), x, traced=axis is None or axis >= 0)
    check(lambda tf, x, n: tf.repeat(x, n, axis), x, counts, traced=axis is None or axis >= 0)


@pytest.mark.parametrize(
    ("counts", "axis"),
    [
        ([1, 2], None), ([1, 2], 2), ([[1, 2]], 0), ([1, 2, 3], 0), (-1, 0), (1.5, 0), ("a", 0),
        (2, 1.0), (2, "a"), ([], 0), (2, -3),
    ],
)  # fmt: skip
def test_repeat_refuses(counts, axis):
    check_raises(lambda tf, x: tf.repeat(x, counts, axis), TABLE)


def test_repeat_of_nothing_and_of_one():
    check(lambda tf: tf.repeat([], []))
    check(lambda tf: tf.repeat(3, 4))
    check(lambda tf: tf.repeat(3, [4]))
    check(lambda tf, x: tf.repeat(x, [2], axis=1), TABLE)


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [[], [2], [2, 3], [2, 0], [2, 1, 3]])
def test_meshgrid(sizes, indexing):
    vectors = [np.arange(float(size)) + 10 * i for i, size in enumerate(sizes)]
    check(lambda tf, *x: tf.meshgrid(*x, indexing=indexing), *vectors)


def test_meshgrid_arguments():
    check(lambda tf, x: tf.meshgrid(x, 2.0), TABLE, may_raise=True)
    check_raises(lambda tf, x: tf.meshgrid(x, x, indexing="a"), TABLE)
    check_raises(lambda tf, x: tf.meshgrid(x, x, sparse=True), TABLE)
    check_raises(lambda tf, x: tf.meshgrid(x, [1]), TABLE)

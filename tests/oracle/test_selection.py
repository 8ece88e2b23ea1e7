"""where, boolean_mask, one_hot and sequence_mask against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

TABLE = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
shapes = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)
tables = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)
TYPES = [
    ml_dtypes.bfloat16, np.float32, np.int8, np.uint16, np.int64, np.bool_, np.complex64,
]  # fmt: skip


@settings(max_examples=15)
@given(hnp.arrays(np.bool_, shapes))
def test_positions(mask):
    check(lambda tf, m: tf.where(m), mask)


@pytest.mark.parametrize("dtype", TYPES)
def test_positions_of_numbers(dtype):
    check(lambda tf, x: tf.where(x), np.array([[0, 2], [1, 0]]).astype(dtype))


def test_positions_arguments():
    check(lambda tf, x: tf.where(x), np.array([0.0, np.nan, -0.0, np.inf]))
    check(lambda tf: tf.where([True, False]))
    check(lambda tf: tf.where([[1, 0], [0, 2]]))
    check_raises(lambda tf: tf.where(True))
    check_raises(lambda tf: tf.where(["a", ""]))


@settings(max_examples=20)
@given(st.data())
def test_where(data):
    pieces = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0, max_dims=3))
    masks, a, b = pieces.input_shapes
    mask = data.draw(hnp.arrays(np.bool_, masks))
    x, y = np.arange(float(np.prod(a))).reshape(a), -np.arange(float(np.prod(b))).reshape(b)
    check(lambda tf, m, x, y: tf.where(m, x, y), mask, x, y)


def test_second_derivatives():
    mask = np.array([[True], [False]])
    check(lambda tf, x, y: tf.square(tf.where(mask, x, y)), TABLE, TABLE[:, :1] + 1)
    check(lambda tf, x: tf.square(tf.boolean_mask(x, [True, False, True], axis=1)), TABLE)


@pytest.mark.parametrize("dtype", TYPES)
def test_where_types(dtype):
    x = np.arange(3).astype(dtype)
    check(lambda tf, x, y: tf.where([True, False, True], x, y), x, x[::-1], gradient=False)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.uint64])
def test_where_of_many(dtype):
    generator = np.random.default_rng(3)
    mask = generator.random((80, 70)) < 0.5
    x, y = (generator.integers(0, 9, mask.shape).astype(dtype) for _ in range(2))
    if x.dtype.kind == "f":
        x[:9], y[:9] = np.nan, -0.0
        y[9:18] = np.inf
    for a, b in [(x, y), (x, dtype(0)), (dtype(0), y), (x, dtype(7)), (dtype(1), dtype(2))]:
        check(lambda tf, m, a, b: tf.where(m, a, b), mask, a, b, gradient=False)
    check(
        lambda tf, m, a: tf.where(tf.transpose(m), tf.transpose(a), a[:1, :1]),
        mask,
        x,
        gradient=False,
    )
    check(lambda tf, m, a: tf.where(m[::1, ::-1], a[:, ::-1], dtype(0)), mask, x, gradient=False)


def test_gradient_of_where_of_many():
    mask = np.random.default_rng(3).random((70, 60)) < 0.5
    x = np.random.default_rng(4).normal(size=mask.shape).astype(np.float32)
    check(lambda tf, x, y: tf.where(mask, x * x, y), x, x[::-1])


def test_where_strings():
    check(lambda tf: tf.where([True, False], "a", ["b", "c"]))
    check(lambda tf: tf.where(True, "a", "b"))


def test_where_hides_nan():
    check(lambda tf, x: tf.where(x > 0, x, 0.0), np.array([1.0, -np.inf, np.nan]), smooth=False)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (1, 2), (1, 2.5), (1.5, 2), (np.float64(1), 2), (1, np.float64(2)), (np.ones(2), [3, 4]),
        ([3, 4], np.ones(2)), (True, False), (1, True), ("a", 1), (None, 1), (1, None),
        ([1, 2, 3], 0), ([[1], [2]], [3, 4]),
    ],
)  # fmt: skip
def test_where_values(x, y):
    check(lambda tf: tf.where([True, False], x, y), may_raise=True)


def test_where_beside_tensors():
    check(lambda tf, x: tf.where([True, False], x, 1), np.ones(2))
    check(lambda tf, x: tf.where([True, False], [1, 2], x), np.ones(2))
    check(lambda tf: tf.where([True, False], tf.Variable([1.0, 2.0]), 1), traced=False)
    check_raises(lambda tf, x: tf.where([True, False], x, 2.5), np.array([1, 2]))
    check_raises(lambda tf, x: tf.where([True, False], 1.5, x), np.array([1, 2]))
    check_raises(lambda tf, x, y: tf.where([True, False], x, y), np.array([1, 2]), np.ones(2))


@pytest.mark.parametrize("condition", [[1, 0], 5, None, np.array([1, 0]), [1.0, 0.0], "a"])
def test_where_conditions(condition):
    check(lambda tf: tf.where(condition, 1, 2), may_raise=True)
    check_raises(lambda tf, c: tf.where(c, 1, 2), np.array([1, 0]))


@settings(max_examples=20)
@given(st.data())
def test_boolean_mask(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - axis))
    mask = data.draw(hnp.arrays(np.bool_, shape[axis : axis + depth]))
    x = np.arange(float(np.prod(shape))).reshape(shape)
    # The original cannot differentiate masks of nothing along later axes.
    check(lambda tf, x: tf.boolean_mask(x, mask, axis), x, gradient=x.size > 0)
    check(lambda tf, x, m: tf.boolean_mask(x, m, axis), x, mask, gradient=x.size > 0)


@pytest.mark.parametrize(
    ("mask", "axis"),
    [
        ([True, False], None), ([True, False, True], -1), ([True, False], -2),
        ([True, False, True], 1),
        ([True, False, True], None), (True, None), ([True, False], 2), ([1, 0], None),
        ([1.0, 0], None), (np.ones((2, 3, 1), bool), None), (np.ones((2, 3), bool), 1), ("a", None),
        (["a", "b"], None), (None, None),
    ],
)  # fmt: skip
def test_boolean_mask_arguments(mask, axis):
    check(lambda tf, x: tf.boolean_mask(x, mask, axis), TABLE, may_raise=True)


@settings(max_examples=15)
@given(
    hnp.arrays(np.int64, tables, elements=st.integers(-2, 4)),
    st.integers(0, 4),
    st.integers(-2, 3),
)  # fmt: skip
def test_one_hot(indices, depth, axis):
    check(lambda tf, i: tf.one_hot(i, depth, axis=axis), indices, may_raise=True)
    check(lambda tf, i, n: tf.one_hot(i, n), indices, np.array(depth, np.int32), may_raise=True)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.int16, np.float32])
def test_one_hot_indices(dtype):
    check(lambda tf, i: tf.one_hot(i, 3), np.array([0, 2]).astype(dtype), may_raise=True)
    check(lambda tf: tf.one_hot(np.array([0, 2]).astype(dtype), 3), may_raise=True)


@pytest.mark.parametrize(
    ("on", "off", "dtype"),
    [
        (None, None, None), (5, 1, None), (5.5, None, None), (None, 2, None), (5, None, "float32"),
        (5.0, 1, None), (5, 1.0, None), (True, False, None), ("a", "b", None), ("a", None, None),
        (None, None, "string"), (None, None, "bool"), (None, None, "int8"),
        (None, None, "bfloat16"), (1.5, None, "int32"), ([1], None, None), (True, False, "bool"),
        (None, None, "complex64"),
    ],
)  # fmt: skip
def test_one_hot_values(on, off, dtype):
    check(
        lambda tf: tf.one_hot([0, 1], 3, on, off, dtype=dtype and tf.as_dtype(dtype)),
        may_raise=True,
    )


def test_one_hot_of_tensors():
    check(
        lambda tf, on, off: tf.one_hot([0, 1], 3, on, off),
        np.array(2.0),
        np.array(1.0),
        smooth=False,
    )
    check_raises(lambda tf, on: tf.one_hot([0, 1], 3, on, dtype=tf.float32), np.array(1))
    check_raises(lambda tf, on, off: tf.one_hot([0, 1], 3, on, off), np.array(1), np.array(1.0))


@pytest.mark.parametrize("depth", [-3, [3], 3.0, None, "a"])
def test_one_hot_refuses(depth):
    check_raises(lambda tf: tf.one_hot([0, 1], depth))
    check_raises(lambda tf, i, n: tf.one_hot(i, n), np.array([0, 1]), np.array(3))
    check_raises(lambda tf: tf.one_hot([0.0, 1], 3))


@settings(max_examples=12)
@given(
    hnp.arrays(np.int32, tables, elements=st.integers(-1, 5)), st.integers(0, 5),
)  # fmt: skip
def test_sequence_mask(lengths, most):
    check(lambda tf, n: tf.sequence_mask(n), lengths)
    check(lambda tf, n: tf.sequence_mask(n, most, tf.float32), lengths)
    check(lambda tf, n, m: tf.sequence_mask(n, m), lengths, np.array(most))


@pytest.mark.parametrize(
    ("lengths", "most", "dtype"),
    [
        ([1, 3], 2, "bool"), ([1, 3], -1, "bool"), ([1.0, 3], None, "bool"), ([1.5, 3], 3, "int8"),
        ([1, 3], [5], "bool"), ([1, 3], 5.0, "bool"), ([], None, "bool"), ([], 3, "bool"),
        ([1, 2], 3, "string"), (None, 3, "bool"), ([1, 2], 3, "complex64"), (2, 3, "bool"),
    ],
)  # fmt: skip
def test_sequence_mask_arguments(lengths, most, dtype):
    check(lambda tf: tf.sequence_mask(lengths, most, tf.as_dtype(dtype)), may_raise=True)

"""Running sums, products and logarithms of sums against TensorFlow."""

import math

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)
HALVES = [np.float16, ml_dtypes.bfloat16]
FLOATS = [np.float32, np.float64]
DTYPES = [
    *HALVES, *FLOATS, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
    np.uint64, np.complex64, np.complex128,
]  # fmt: skip
SCANS = ["cumsum", "cumprod", "cumulative_logsumexp"]


def numbers(shape, dtype, seed, low=0.5, high=2.0):
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return np.asarray(values * (2 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


@pytest.mark.parametrize("name", SCANS)
@settings(max_examples=15)
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.booleans(), st.data())
def test_values(name, shape, dtype, exclusive, reverse, data):
    if name == "cumulative_logsumexp" and np.dtype(dtype).kind in "iuc":
        dtype = np.float32
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = numbers(shape, dtype, data.draw(st.integers(0, 99)))
    check(lambda tf, x: getattr(tf.math, name)(x, axis, exclusive, reverse), x, gradient=False)


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_wide_slices(name, exclusive, reverse):
    x = numbers((5, 4, 150), np.float32, 3)
    for axis in (0, 1, 2):
        check(lambda tf, x: getattr(tf.math, name)(x, axis, exclusive, reverse), x, gradient=False)
    for shape, axis in (((1, 600), 0), ((2, 0, 600), 0), ((0, 600), 0), ((3, 300, 2), 0)):
        x = numbers(shape, np.float16, 4)
        check(lambda tf, x: getattr(tf.math, name)(x, axis, exclusive, reverse), x, gradient=False)


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradients(name, exclusive, reverse):
    for seed, (shape, axis) in enumerate([((4,), 0), ((2, 3), 0), ((2, 3), -1), ((2, 0), 1)]):
        x = numbers(shape, np.float64, seed)
        check(lambda tf, x: getattr(tf.math, name)(x, axis, exclusive, reverse), x)
        x = -numbers(shape, np.float32, seed)
        check(
            lambda tf, x: getattr(tf.math, name)(x, axis, exclusive, reverse),
            x,
            second_order=False,
        )


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_gradients_of_complex_numbers(name):
    x = np.array([[1 + 1j, 2 - 1j, 3], [1j, -1, 2]], np.complex64)
    check(lambda tf, x: getattr(tf.math, name)(x, 1), x, tolerance=1e-4)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("row", [[1.0, 0.0, 3.0, 2.0], [0.0, 2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
def test_gradient_of_products_with_zeros(row, exclusive, reverse):
    """d(prod of x_j)/dx_i is the product of the others (TensorFlow gives 0 at every zero)."""
    x = runnel.constant(row, runnel.float64)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        y = runnel.math.cumprod(x, exclusive=exclusive, reverse=reverse)
    jacobian = tape.jacobian(y, x).numpy()
    for k in range(4):
        ahead = range(k + exclusive, 4) if reverse else range(k + 1 - exclusive)
        for i in range(4):
            others = [row[j] for j in ahead if j != i]
            assert jacobian[k, i] == (math.prod(others) if i in ahead else 0.0)


def test_special_numbers():
    nan, inf = math.nan, math.inf
    for row in ([1, nan, 2], [inf, 1, 2], [-inf, -inf, 1], [inf, -inf, 1], [0, inf, 3]):
        x = np.array(row, np.float32)
        # TensorFlow's cumulative_logsumexp takes NaN for the sum so far.
        for name in SCANS[: 2 if np.isnan(x).any() else 3]:
            for exclusive in (False, True):
                check(
                    lambda tf, x: getattr(tf.math, name)(x, exclusive=exclusive),
                    x,
                    gradient=False,
                )


def test_axes_and_flags():
    x = np.array([[1, 2], [3, 4]])
    check(lambda tf, x: tf.cumsum(x, tf.constant(1)), x)
    check(lambda tf, x, axis: tf.cumsum(x, axis), x, np.array(1, np.int64))
    check(lambda tf, x: tf.cumsum(x, exclusive=None), x)
    check(lambda tf: tf.cumsum([]))
    check_raises(lambda tf: tf.cumsum(3.0))
    check_raises(lambda tf, x: tf.cumsum(x, 2), x)
    check_raises(lambda tf, x: tf.cumsum(x, -3), x)
    check_raises(lambda tf, x: tf.cumsum(x, [0]), x)
    check_raises(lambda tf, x: tf.cumsum(x, 0.0), x)
    check_raises(lambda tf, x: tf.cumsum(x, None), x)
    check_raises(lambda tf, x: tf.cumsum(x, exclusive="a"), x)
    check_raises(lambda tf, x: tf.cumsum(x, reverse=1), x)
    check_raises(lambda tf: tf.cumsum([True]))
    check_raises(lambda tf, x: tf.math.cumulative_logsumexp(x), x)

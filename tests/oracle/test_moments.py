"""Means and variances, and isotonic regression, against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

HALVES = [np.float16, ml_dtypes.bfloat16]
FLOATS = [np.float32, np.float64]


def numbers(shape, dtype=np.float64, seed=0):
    return np.asarray(np.random.default_rng(seed).uniform(0.5, 2.0, shape)).astype(dtype)


@st.composite
def shapes_and_axes(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    rank = len(shape)
    axes = draw(st.lists(st.integers(0, rank - 1), min_size=1, max_size=rank, unique=True))
    return shape, [axis - rank if draw(st.booleans()) else axis for axis in axes]


@settings(max_examples=12)
@given(shapes_and_axes(), st.booleans(), st.sampled_from(FLOATS + HALVES))
def test_moments(arguments, keepdims, dtype):
    shape, axes = arguments
    # TensorFlow holds the mean fixed in the variance: first derivatives are right, second not.
    check(
        lambda tf, x: tf.nn.moments(x, axes, keepdims=keepdims), numbers(shape, dtype),
        gradient=dtype in FLOATS, second_order=False,
    )  # fmt: skip


def test_second_derivatives_of_moments_are_those_of_the_original():
    check(lambda tf, x: tf.nn.moments(x, [1]), numbers((2, 3)), smooth=False)


def test_arguments_of_moments():
    x = numbers((2, 3), np.float32)
    check(lambda tf, x: tf.nn.moments(x, 0), x, second_order=False)
    check(lambda tf, x: tf.nn.moments(x, -1, shift=5.0), x, second_order=False)
    check(lambda tf, x: tf.nn.moments(x, None), x, second_order=False)
    check(lambda tf, x: tf.nn.moments(x, []), x, second_order=False)
    check(lambda tf, x: tf.nn.moments(x, [0]), np.array([1, 2, 4], np.int32))
    check(lambda tf, x: tf.nn.moments(x, [0]), np.array([1 + 2j, 3], np.complex64), gradient=False)
    check_raises(lambda tf, x: tf.nn.moments(x, [2]), x)
    check_raises(lambda tf, x: tf.nn.moments(x, [0]), np.array([True]))


@settings(max_examples=10)
@given(shapes_and_axes(), st.booleans(), st.sampled_from(FLOATS + HALVES))
def test_weighted_moments(arguments, keepdims, dtype):
    shape, axes = arguments
    check(
        lambda tf, x, w: tf.nn.weighted_moments(x, axes, w, keepdims=keepdims),
        numbers(shape, dtype, 1),
        numbers(shape[-1:], dtype, 2),
        gradient=dtype in FLOATS,
        tolerance=3e-2 if dtype in HALVES else 1e-3 if dtype is np.float32 else 1e-9,
    )


def test_arguments_of_weighted_moments():
    x = numbers((2, 3), np.float32)
    check(lambda tf, x: tf.nn.weighted_moments(x, [0], 2.0), x)
    check(lambda tf, x: tf.nn.weighted_moments(x, 0, [[1], [3]]), x)
    check(lambda tf, x: tf.nn.weighted_moments(x, None, tf.constant([[1], [3]])), x)
    check(lambda tf, x: tf.nn.weighted_moments(x, [0, 1], 0.0), x, smooth=False)
    check_raises(lambda tf, x: tf.nn.weighted_moments(x, [0], [1.0, 2.0]), x)
    check_raises(lambda tf: tf.nn.weighted_moments([1, 2], [0], [1, 3]))


@settings(max_examples=10)
@given(shapes_and_axes(), st.booleans(), st.booleans())
def test_sufficient_statistics(arguments, shifted, keepdims):
    shape, axes = arguments
    shift = 1.5 if shifted else None

    def statistics(tf, x):
        shift_tensor = None if shift is None else tf.constant(shift, x.dtype)
        return tf.nn.sufficient_statistics(x, axes, shift_tensor, keepdims)

    check(statistics, numbers(shape, np.float64, 3))


def test_arguments_of_sufficient_statistics():
    check(lambda tf, x: tf.nn.sufficient_statistics(x, [0]), np.array([[1, 2], [3, 4]]))
    check(lambda tf, x: tf.nn.sufficient_statistics(x, ()), numbers((2,)))
    check(lambda tf: tf.nn.sufficient_statistics([[1.0, 2.0]], [0], shift=[1.0, 2.0]))
    check_raises(lambda tf, x: tf.nn.sufficient_statistics(x, 0), numbers((2,)))
    check_raises(lambda tf, x: tf.nn.sufficient_statistics(x, [2]), numbers((2,)))


@pytest.mark.parametrize("shift", [None, 1.5])
def test_normalize_moments(shift):
    check(
        lambda tf, count, mean, variance: tf.nn.normalize_moments(count, mean, variance, shift),
        np.array(2.0),
        np.array([4.0, 6.0]),
        np.array([10.0, 20.0]),
    )
    check(lambda tf: tf.nn.normalize_moments(0.0, [4.0, 6.0], [10.0, 20.0], shift))


@settings(max_examples=20)
@given(
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=6),
    st.sampled_from([*FLOATS, *HALVES, np.int8, np.int16, np.int32, np.int64]),
    st.booleans(),
    st.integers(0, 99),
    st.data(),
)
def test_isotonic_regression(shape, dtype, decreasing, seed, data):
    x = np.asarray(np.random.default_rng(seed).integers(-8, 9, shape)).astype(dtype)
    axis = data.draw(st.integers(0, len(shape) - 1)) if shape else -1
    if axis == len(shape) - 1:
        axis = -1
    check(lambda tf, x: tf.nn.isotonic_regression(x, decreasing, axis), x, gradient=False)


@pytest.mark.parametrize("decreasing", [True, False])
def test_gradient_of_isotonic_regression(decreasing):
    x = np.random.default_rng(4).permutation(12).reshape(3, 4) + numbers((3, 4))
    check(lambda tf, x: tf.nn.isotonic_regression(x, decreasing)[0], x)
    check(lambda tf, x: tf.nn.isotonic_regression(x, decreasing, 0)[0], x)


def test_gradient_of_isotonic_regression_of_a_vector():
    """Every element gets the mean gradient of its run (TensorFlow errs for vectors)."""
    x = runnel.constant([5.0, 1.0, 3.0, 2.0])
    with runnel.GradientTape() as tape:
        tape.watch(x)
        output, segments = runnel.nn.isotonic_regression(x)
    assert output.numpy().tolist() == [5.0, 2.0, 2.0, 2.0]
    assert segments.numpy().tolist()[:3] == [0, 1, 1]
    runs = segments.numpy()
    weights = np.array([1.0, 2.0, 4.0, 9.0], np.float32)
    gradient = tape.gradient(output, x, runnel.constant(weights)).numpy()
    for run in set(runs.tolist()):
        np.testing.assert_allclose(gradient[runs == run], weights[runs == run].mean())


def test_refusals_of_isotonic_regression():
    check_raises(lambda tf, x: tf.nn.isotonic_regression(x, axis=2), numbers((2, 2)))
    check_raises(lambda tf: tf.nn.isotonic_regression([True, False]))
    check_raises(lambda tf: tf.nn.isotonic_regression(["a"]))

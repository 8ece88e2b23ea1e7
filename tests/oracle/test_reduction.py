"""Reductions, and where the extremes are, against TensorFlow."""

import math

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
HALVES = [np.float16, ml_dtypes.bfloat16]
FLOATS = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
REAL = INTEGERS + HALVES + FLOATS

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def numbers(shape, dtype, seed=0, low=-3.0, high=3.0):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(0 if np.dtype(dtype).kind == "u" else -9, 10, shape).astype(dtype)
    values = generator.uniform(low, high, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.uniform(low, high, shape)
    return np.asarray(values).astype(dtype)


@st.composite
def reductions(draw, shapes=SHAPES):
    """A shape, an axis argument that fits it, and keepdims."""
    shape = draw(shapes)
    rank = len(shape)
    axis = draw(
        st.none()
        | st.lists(st.integers(0, max(rank - 1, 0)), max_size=rank, unique=True)
        | st.integers(-max(rank, 1), max(rank, 1) - 1)
    )
    if isinstance(axis, list):
        axis = [a - rank if draw(st.booleans()) else a for a in axis]
    elif rank == 0:
        axis = None
    return shape, axis, draw(st.booleans())


SUMS = ["reduce_sum", "reduce_mean", "reduce_prod"]
EXTREMES = ["reduce_max", "reduce_min"]


@pytest.mark.parametrize("name", [*SUMS, *EXTREMES])
@settings(max_examples=12)
@given(reductions(), st.sampled_from(REAL + COMPLEX), st.integers(0, 99))
def test_values(name, reduction, dtype, seed):
    shape, axis, keepdims = reduction
    if name in EXTREMES and np.dtype(dtype).kind == "c":
        dtype = np.float32
    x = numbers(shape, dtype, seed)
    check(lambda tf, x: getattr(tf, name)(x, axis, keepdims), x, gradient=False)


@pytest.mark.parametrize("name", [*SUMS, *EXTREMES, "reduce_logsumexp"])
@settings(max_examples=6)
@given(reductions(), st.integers(0, 99))
def test_gradients(name, reduction, seed):
    shape, axis, keepdims = reduction
    x = numbers(shape, np.float64, seed, 0.5, 2.0)
    check(lambda tf, x: getattr(tf, name)(x, axis, keepdims), x)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128, np.float32])
def test_gradients_of_other_dtypes(dtype):
    x = numbers((2, 3), dtype)
    for name in SUMS:
        check(lambda tf, x: getattr(tf, name)(x, 1), x, tolerance=1e-4)
    check(lambda tf, x: tf.math.reduce_euclidean_norm(x, 0), x, tolerance=1e-4)


@settings(max_examples=15)
@given(reductions(), st.sampled_from(["reduce_any", "reduce_all"]), st.integers(0, 99))
def test_any_and_all(reduction, name, seed):
    shape, axis, keepdims = reduction
    x = np.random.default_rng(seed).integers(0, 2, shape).astype(bool)
    check(lambda tf, x: getattr(tf, name)(x, axis, keepdims), np.asarray(x))


@settings(max_examples=10)
@given(reductions(), st.sampled_from([*FLOATS, *HALVES, *COMPLEX, np.int32, np.uint8]))
def test_euclidean_norm(reduction, dtype):
    shape, axis, keepdims = reduction
    x = numbers(shape, dtype, 1)
    smooth = dtype in FLOATS and all(shape)
    check(
        lambda tf, x: tf.math.reduce_euclidean_norm(x, axis, keepdims), x, gradient=smooth,
    )  # fmt: skip


@settings(max_examples=10)
@given(reductions(), st.sampled_from(FLOATS + COMPLEX))
def test_variance_and_deviation(reduction, dtype):
    shape, axis, keepdims = reduction
    x = numbers(shape, dtype, 2)
    check(lambda tf, x: tf.math.reduce_variance(x, axis, keepdims), x, second_order=False)
    check(lambda tf, x: tf.math.reduce_std(x, axis, keepdims), x, gradient=False)


@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_summed_in_float32(dtype):
    # TensorFlow stops at 2048 ones in float16; these lengths are below that.
    x = numbers((200, 3), dtype, 3, 0.0, 1.0)
    check(lambda tf, x: tf.reduce_sum(x, 0), x, gradient=False, tolerance=2e-2)
    check(lambda tf, x: tf.reduce_mean(x, 0), x, gradient=False, tolerance=2e-2)
    ones = runnel.ones((5000, 2), runnel.as_dtype(dtype))
    assert float(runnel.reduce_sum(ones[:, 0])) == 4992 + 8 * (dtype is np.float16)


@pytest.mark.parametrize("name", [*SUMS, *EXTREMES])
@pytest.mark.parametrize("shape", [(20000, 3), (3, 20000), (300, 70), (5, 41, 41, 3), (40, 9, 40)])
def test_large_arrays_are_folded_to_the_same_result(name, shape):
    x = numbers(shape, np.float64, 4, 0.99, 1.01)
    rank = len(shape)
    for axes in ([0], [rank - 1], list(range(rank - 1)), [1], None):
        check(lambda tf, x: getattr(tf, name)(x, axes), x, gradient=False, traced=False)
    integers = numbers(shape, np.int16, 4)
    check(lambda tf, x: getattr(tf, name)(x, 0, True), integers, traced=False)


def test_large_sums_are_exact():
    """Folding keeps totals of float32 near those of float64."""
    x = numbers((200_000, 3), np.float32, 5, 0.0, 1.0)
    found = runnel.reduce_sum(runnel.constant(x), 0).numpy()
    np.testing.assert_allclose(found, x.sum(0, dtype=np.float64), rtol=1e-6)


@pytest.mark.parametrize("dtype", REAL)
def test_empty_reductions(dtype):
    for shape, axis in (((0,), None), ((2, 0), 1), ((2, 0), 0), ((0, 3), 0)):
        x = np.zeros(shape, dtype)
        for name in (*SUMS, *EXTREMES):
            check(lambda tf, x: getattr(tf, name)(x, axis), x, gradient=False)


def test_nan_and_infinities():
    nan, inf = math.nan, math.inf
    for dtype in (*FLOATS, *HALVES):
        x = np.array([[nan, 1, 2], [1, nan, 2], [1, 2, nan], [-inf, inf, 0], [1, 2, 3]], dtype)
        for name in (*SUMS, *EXTREMES):
            for axis in (None, 0, 1):
                check(lambda tf, x: getattr(tf, name)(x, axis), x, gradient=False)
    x = np.array([[0.0, 0.0], [-inf, -inf], [inf, 1.0], [1000.0, 1000.0]], np.float32)
    check(lambda tf, x: tf.reduce_logsumexp(x, 1), x, gradient=False)


def test_means_of_integers_are_cut_towards_zero():
    for values in ([-7, 0], [-1, -2, -2], [7, 0], [2**31 - 1] * 3, [-5, -5, -5]):
        check(lambda tf, x: tf.reduce_mean(x), np.array(values, np.int32))
    check(lambda tf, x: tf.reduce_mean(x), np.array([100, 100, 100], np.int8))
    check(lambda tf, x: tf.reduce_mean(x), np.array([2**62, 2**62], np.int64))
    check(lambda tf, x: tf.reduce_mean(x), np.array([2**64 - 1, 2**64 - 1], np.uint64))


def test_integers_wrap():
    check(lambda tf, x: tf.reduce_sum(x), np.array([100, 100], np.int8))
    check(lambda tf, x: tf.reduce_prod(x), np.array([2**20, 2**20], np.int32))


def test_ties_share_the_gradient():
    x = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    for name in EXTREMES:
        check(lambda tf, x: getattr(tf, name)(x, 1), x, smooth=False)
        check(lambda tf, x: getattr(tf, name)(x), x, smooth=False)


@pytest.mark.parametrize("row", [[1.0, 0.0, 3.0], [0.0, 0.0, 3.0], [2.0, 3.0, 4.0]])
def test_gradient_of_a_product_with_zeros(row):
    x = np.array([row, [1.0, 2.0, 3.0]])
    check(lambda tf, x: tf.reduce_prod(x, 1), x, second_order=False)
    check(lambda tf, x: tf.reduce_prod(x), x, second_order=False)


def test_second_derivatives_of_a_product_with_zeros():
    """The second derivatives of abc are the third factors, whatever is zero (TensorFlow errs)."""
    for a, b, c in ([1.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [2.0, 3.0, 4.0]):
        x = runnel.constant([a, b, c])
        with runnel.GradientTape() as outer:
            outer.watch(x)
            with runnel.GradientTape() as inner:
                inner.watch(x)
                y = runnel.reduce_prod(x)
            gradient = inner.gradient(y, x)
        hessian = outer.jacobian(gradient, x)
        np.testing.assert_allclose(hessian, [[0, c, b], [c, 0, a], [b, a, 0]], atol=1e-6)


@pytest.mark.parametrize(
    "axis", [0, -1, [0], (0, 1), [[0, 1]], [], np.int64(1), np.array([1]), True, range(2)]
)
def test_kinds_of_axes(axis):
    x = numbers((2, 3), np.float32)
    # Axes that are a matrix are an eager operation's alone.
    is_list = np.ndim(axis) < 2
    check(lambda tf, x: tf.reduce_sum(x, axis), x, traced=is_list)


@pytest.mark.parametrize("shape", [[2, 3], None])
@pytest.mark.parametrize("axis", [[[0, 1]], [0, 0], [1, -1], 5, [0, 5]])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max"])
def test_axes_that_functions_refuse(name, axis, shape):
    def traced(tf, x):
        spec = tf.TensorSpec(shape, tf.float32)
        return tf.function(lambda x: getattr(tf, name)(x, axis), input_signature=[spec])(x)

    check_raises(traced, numbers((2, 3), np.float32))


def test_axes_as_tensors():
    x, axes = numbers((2, 3, 2), np.float64, 6, 0.5, 2.0), np.array([0, -1], np.int32)
    for name in (*SUMS, *EXTREMES):
        for keepdims in (False, True):
            check(lambda tf, x, axes: getattr(tf, name)(x, axes, keepdims), x, axes)
    check(lambda tf, x, axes: tf.reduce_sum(x, axes), x, axes.astype(np.int64))


def test_numbers_and_lists():
    check(lambda tf: tf.reduce_sum(3))
    check(lambda tf: tf.reduce_sum([[1, 2], [3, 4]], 0, keepdims=1))
    check(lambda tf: tf.reduce_max([]))
    check(lambda tf: tf.reduce_mean(tf.Variable([1.0, 2.0])))
    check(lambda tf: tf.reduce_any([True, False]))


def test_refusals():
    x = numbers((2, 3), np.float32)
    for axis in (2, -3, [0, 0], [0, -2], [0, 5]):
        check_raises(lambda tf, x: tf.reduce_sum(x, axis), x)
    check_raises(lambda tf, x: tf.reduce_max(x, 2), np.zeros((0, 2), np.float32))
    check_raises(lambda tf: tf.reduce_sum(3, axis=0))
    check_raises(lambda tf, x: tf.reduce_sum(x, axis=1.0), x)
    check_raises(lambda tf, x: tf.reduce_sum(x, axis=tf.constant(1, tf.int8)), x)
    check_raises(lambda tf: tf.reduce_sum([True]))
    check_raises(lambda tf: tf.reduce_sum(["a"]))
    check_raises(lambda tf: tf.reduce_max(tf.constant([1j])))
    check_raises(lambda tf: tf.reduce_any([1, 0]))
    check_raises(lambda tf: tf.reduce_any(tf.constant([1, 0])))
    check_raises(lambda tf: tf.reduce_logsumexp([1, 2]))
    check_raises(lambda tf: tf.math.reduce_variance([1, 2]))
    check_raises(lambda tf: tf.math.reduce_std([True]))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@settings(max_examples=15)
@given(
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4),
    st.sampled_from([*REAL, bool]),
    st.data(),
)
def test_positions_of_extremes(name, shape, dtype, data):
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    x = numbers(shape, np.int8, data.draw(st.integers(0, 99))) % 3
    check(lambda tf, x: getattr(tf, name)(x, axis), x.astype(dtype), gradient=False)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_pass_over_nan(name):
    nan, inf = math.nan, math.inf
    for row in ([nan, 1, 2], [1, nan, 2], [1, 2, nan], [nan, nan], [-inf, -inf], [inf, nan, inf]):
        for dtype in (*FLOATS, *HALVES):
            check(lambda tf, x: getattr(tf, name)(x), np.array(row, dtype), gradient=False)
    x = np.array([[nan, 1, 2], [1, nan, 2]], np.float32)
    check(lambda tf, x: getattr(tf, name)(x, 0), x, gradient=False)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_arguments_of_positions(name):
    def position(tf, *args, **kwargs):
        return getattr(tf, name)(*args, **kwargs)

    x = np.array([3, 1, 2])
    for output_type in ("int32", "int64", "int16", "uint16", "float32"):
        check(lambda tf, x: position(tf, x, output_type=output_type), x, may_raise=True)
    check(lambda tf, x: position(tf, x, axis=tf.constant(0, tf.int64)), x, may_raise=True)
    check(lambda tf, x: position(tf, x, axis=tf.constant(0, tf.int16)), x, may_raise=True)
    check(lambda tf, x: position(tf, x, 0), np.zeros((3, 0), np.float32), may_raise=True)
    check_raises(lambda tf: position(tf, []))
    check_raises(lambda tf, x: position(tf, x, 1), np.zeros((3, 0), np.float32))
    check_raises(lambda tf: position(tf, 3.0))
    check_raises(lambda tf, x: position(tf, x, 1), x)
    check_raises(lambda tf, x: position(tf, x, [0]), x)
    check_raises(lambda tf, x: position(tf, x, 0.0), x)
    check_raises(lambda tf: position(tf, ["a"]))


def test_counts_of_zeros():
    for x in (
        np.array([[0, 1], [2, 0]]),
        np.array([[0.0, -0.0, np.nan]], np.float32),
        np.array([[True, False]]),
        np.array([["", "a"], ["b", ""]], object),
        np.array([[0, 1j]], np.complex64),
    ):
        check(lambda tf, x: tf.math.count_nonzero(x, 1), x, gradient=False)
        check(lambda tf, x: tf.math.count_nonzero(x, keepdims=True, dtype=tf.int32), x)
        check(lambda tf, x: tf.math.zero_fraction(x), x, gradient=False)
    check(lambda tf: tf.math.zero_fraction([]))
    check(lambda tf: tf.math.count_nonzero([1.0, 2.0], dtype="float32"))


@settings(max_examples=10)
@given(reductions(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)))
def test_l2_normalize(reduction):
    shape, axis, _ = reduction
    x = numbers(shape, np.float64, 7, 0.5, 2.0)
    check(lambda tf, x: tf.math.l2_normalize(x, axis), x)
    check(lambda tf, x: tf.nn.l2_normalize(x, axis), x.astype(np.complex64), gradient=False)
    check(lambda tf, x: tf.linalg.l2_normalize(x, axis, epsilon=100), x)


def test_refusals_of_l2_normalize():
    check(lambda tf: tf.math.l2_normalize([3.0, 4.0], dim=0))
    check(lambda tf: tf.math.l2_normalize([0.0, 0.0]))
    check_raises(lambda tf: tf.math.l2_normalize([3, 4]))
    check_raises(lambda tf: tf.math.l2_normalize([3.0, 4.0], axis=0, dim=0))
    check_raises(lambda tf: tf.math.l2_normalize([3.0, 4.0], axis=2))

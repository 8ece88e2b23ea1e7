"""Sorting, the greatest elements and searching against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

REAL = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)


def few(shape, dtype, seed):
    """Few different numbers, so that there are ties."""
    low = 0 if np.dtype(dtype).kind == "u" else -3
    return np.random.default_rng(seed).integers(low, 4, shape).astype(dtype)


def distinct(shape, seed):
    count = int(np.prod(shape))
    return np.random.default_rng(seed).permutation(count).reshape(shape).astype(np.float64)


@settings(max_examples=25)
@given(SHAPES, st.sampled_from(REAL), st.integers(0, 99), st.data())
def test_top_k(shape, dtype, seed, data):
    x = few(shape, dtype, seed)
    k = data.draw(st.integers(0, shape[-1]))
    index_type = data.draw(st.sampled_from(["int16", "int32", "int64"]))
    check(lambda tf, x: tf.math.top_k(x, k, index_type=index_type), x, gradient=False)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, ml_dtypes.bfloat16])
def test_top_k_of_long_rows(dtype):
    generator = np.random.default_rng(1)
    for values in (generator.permutation(2000) % 251, generator.integers(0, 4, 2000)):
        x = values.reshape(2, 1000).astype(dtype)
        for k in (1, 2, 17, 900, 1000):
            check(lambda tf, x: tf.nn.top_k(x, k), x, gradient=False, traced=False)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.float64])
def test_many_are_sorted(dtype):
    """Large arrays: ties, both zeros and both infinities, numbers of all magnitudes."""
    generator = np.random.default_rng(2)
    tied = generator.integers(-3, 4, (9, 400)).astype(dtype)
    spread = generator.integers(-(2**31), 2**31 - 1, (9, 400)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        tied[tied == 0] *= generator.choice([-1, 1], np.count_nonzero(tied == 0))
        spread[0] *= dtype(1e-40)
        spread[1, :2] = np.inf, -np.inf
    for x in (tied, spread):
        for direction in ("ASCENDING", "DESCENDING"):
            for axis in (0, 1):
                check(lambda tf, x: tf.argsort(x, axis, direction), x, gradient=False)
                check(lambda tf, x: tf.sort(x, axis, direction), x, gradient=False)


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 2, 4)])
def test_gradients_of_top_k(shape):
    x = distinct(shape, 2)
    check(lambda tf, x: tf.math.top_k(x, 2)[0], x)
    check(lambda tf, x: tf.math.top_k(x, tf.constant(1, tf.int64)).values, x)


def test_gradient_of_top_k_with_wide_indices():
    """TensorFlow's own rule fails for indices other than int32."""
    x = runnel.constant([1.0, 5.0, 3.0])
    with runnel.GradientTape() as tape:
        tape.watch(x)
        values = runnel.math.top_k(x, 2, index_type=runnel.int64).values
    weights = runnel.constant([2.0, 7.0])
    assert tape.gradient(values, x, weights).numpy().tolist() == [0.0, 2.0, 7.0]


def test_unsorted_top_k_has_the_same_elements():
    x = distinct((3, 9), 3)

    def greatest(tf, x):
        values, indices = tf.math.top_k(x, 4, sorted=False)
        return tf.sort(values), tf.sort(indices)

    check(greatest, x, gradient=False)


def test_refusals_of_top_k():
    x = np.array([1.0, 2.0], np.float32)
    for k in (3, -1, [1], 1.5):
        check_raises(lambda tf, x: tf.math.top_k(x, k), x)
    check_raises(lambda tf: tf.math.top_k(1.0, 0))
    check_raises(lambda tf, x: tf.math.top_k(x, 1, index_type=tf.float32), x)
    check_raises(lambda tf: tf.math.top_k([True, False], 1))
    assert repr(runnel.math.top_k([1, 2])).startswith("TopKV2(values=<tf.Tensor")


@settings(max_examples=25)
@given(
    SHAPES,
    st.sampled_from(REAL),
    st.sampled_from(["ASCENDING", "DESCENDING"]),
    st.integers(0, 99),
    st.data(),
)
def test_sort_and_argsort(shape, dtype, direction, seed, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = few(shape, dtype, seed)
    check(lambda tf, x: tf.sort(x, axis, direction), x, gradient=False)
    check(lambda tf, x: tf.argsort(x, axis, direction, stable=True), x, gradient=False)


@pytest.mark.parametrize("dtype", [t for t in REAL if np.dtype(t).kind in "iu"])
def test_the_ends_of_integers_are_sorted(dtype):
    x = np.array([np.iinfo(dtype).max, 0, np.iinfo(dtype).min, 1], dtype)
    for direction in ("ASCENDING", "DESCENDING"):
        check(lambda tf, x: tf.sort(x, direction=direction), x)
        check(lambda tf, x: tf.argsort(x, direction=direction), x)


def test_gradients_of_sort():
    x = distinct((2, 3, 2), 4)
    for axis in (0, 1, -1):
        for direction in ("ASCENDING", "DESCENDING"):
            check(lambda tf, x: tf.sort(x, axis, direction), x)


def test_refusals_of_sort():
    x = np.array([1, 2])
    check(lambda tf, x: tf.sort(x, tf.constant(0)), x)
    check(lambda tf: tf.sort([]))
    for axis in (1, -2, None):
        check_raises(lambda tf, x: tf.sort(x, axis), x)
        check_raises(lambda tf, x: tf.argsort(x, axis), x)
    check_raises(lambda tf, x: tf.sort(x, direction="UP"), x)
    check_raises(lambda tf: tf.sort(1.0))
    check_raises(lambda tf: tf.sort([True]))
    check_raises(lambda tf: tf.sort(["a"]))


@settings(max_examples=15)
@given(
    st.integers(0, 4), st.integers(1, 5), st.integers(-1, 6),
    st.sampled_from([np.int32, np.int64]), st.integers(0, 99),
)  # fmt: skip
def test_in_top_k(rows, classes, k, dtype, seed):
    predictions = few((rows, classes), np.float32, seed)
    targets = np.random.default_rng(seed).integers(-1, classes + 1, rows).astype(dtype)
    check(
        lambda tf, targets, predictions: tf.math.in_top_k(targets, predictions, k),
        targets,
        predictions,
        gradient=False,
    )


def test_in_top_k_of_special_numbers():
    nan, inf = np.nan, np.inf
    predictions = np.array([[nan, 1, 2], [1, inf, 2], [-inf, 1, 2], [1, 2, 3]], np.float32)
    for target in range(3):
        targets = np.full(4, target)
        check(lambda tf, t, p: tf.nn.in_top_k(t, p, 2), targets, predictions, gradient=False)


def test_refusals_of_in_top_k():
    targets, predictions = np.array([0, 1]), np.ones((2, 3), np.float32)
    check(lambda tf, t, p: tf.math.in_top_k(t, p, tf.constant(1, tf.int64)), targets, predictions)
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, 1), targets[:1], predictions)
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, 1), targets[None], predictions)
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, 1), targets, predictions[0])
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, [1]), targets, predictions)
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, 1), targets.astype(float), predictions)
    check_raises(lambda tf, t, p: tf.math.in_top_k(t, p, 1), targets, predictions.astype(float))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_approximately_greatest(dtype):
    x = few((2, 7), dtype, 5)
    for k in (0, 1, 3):
        check(lambda tf, x: tf.math.approx_max_k(x, k), x, gradient=False)
        check(lambda tf, x: tf.approx_top_k(x, k, recall_target=0.5), x, gradient=False)
    check(lambda tf, x: tf.nn.approx_max_k(x, 2, aggregate_to_topk=False), x, gradient=False)


def test_approximately_least_along_any_axis():
    """TensorFlow has no kernel for these on a CPU; negation and transposition tell the result."""
    x = runnel.constant(distinct((3, 4), 6), runnel.float32)
    with runnel.GradientTape(persistent=True) as tape:
        tape.watch(x)
        values, indices = runnel.math.approx_min_k(x, 2, reduction_dimension=0)
    np.testing.assert_array_equal(values, np.sort(x.numpy(), 0)[:2])
    np.testing.assert_array_equal(indices, np.argsort(x.numpy(), 0)[:2])
    weights = np.arange(8.0, dtype=np.float32).reshape(2, 4)
    gradient = tape.gradient(values, x, output_gradients=runnel.constant(weights))
    expected = np.zeros((3, 4), np.float32)
    np.put_along_axis(expected, indices.numpy(), weights, 0)
    np.testing.assert_array_equal(gradient, expected)


def test_gradient_and_refusals_of_approximately_greatest():
    x = distinct((2, 4), 7).astype(np.float32)
    check(lambda tf, x: tf.math.approx_max_k(x, 2)[0], x, smooth=False)
    check(lambda tf, x: tf.math.approx_max_k(x, tf.constant(2)), x, gradient=False)
    check_raises(lambda tf, x: tf.math.approx_max_k(x, 5), x)
    check_raises(lambda tf, x: tf.math.approx_max_k(x, -1), x)
    check_raises(lambda tf: tf.math.approx_max_k([1, 2], 1))
    check_raises(lambda tf: tf.math.approx_max_k(1.0, 1))


@settings(max_examples=25)
@given(
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=1, max_side=3),
    st.integers(1, 5),
    st.integers(0, 4),
    st.sampled_from(REAL),
    st.sampled_from(["left", "right"]),
    st.integers(0, 99),
)
def test_searchsorted(batch, length, count, dtype, side, seed):
    rows = np.sort(few((*batch, length), dtype, seed), -1)
    values = few((*batch, count), dtype, seed + 1)
    check(lambda tf, rows, v: tf.searchsorted(rows, v, side), rows, values, gradient=False)


def test_searchsorted_for_nan():
    rows, values = np.array([1.0, 2.0], np.float32), np.array([np.nan, 1.0, np.inf], np.float32)
    for side in ("left", "right"):
        check(lambda tf, r, v: tf.searchsorted(r, v, side), rows, values, gradient=False)


def test_searchsorted_in_nothing():
    check(lambda tf: tf.searchsorted([], [1.0]))
    check(lambda tf: tf.searchsorted([1.0], []))
    check(lambda tf, r, v: tf.searchsorted(r, v), np.zeros((2, 0)), np.zeros((2, 3)))


def test_refusals_of_searchsorted():
    rows = np.array([[1, 3], [2, 4]])
    check(lambda tf, r: tf.searchsorted(r, [[2], [3]], out_type=tf.int64), rows, may_raise=True)
    check_raises(lambda tf, r, v: tf.searchsorted(r, v), rows, np.array([2, 3]))
    check_raises(lambda tf, r, v: tf.searchsorted(r, v), rows, np.array([[2], [3], [4]]))
    check_raises(lambda tf, r: tf.searchsorted(r, r, side="x"), rows)
    check_raises(lambda tf, r: tf.searchsorted(r, r, out_type=tf.float32), rows)
    check_raises(lambda tf, r, v: tf.searchsorted(r, v), rows, rows.astype(np.float32))
    check_raises(lambda tf: tf.searchsorted([1.0, 2.0], 1.0))
    check_raises(lambda tf: tf.searchsorted(1.0, [1.0]))

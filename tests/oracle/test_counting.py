"""Bins, histograms, distinct values, confusions, permutations and Sobol points."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.op import REGISTRY

REAL = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip
WEIGHTS = [np.int32, np.int64, np.float32, np.float64]


def raw(tf, name, **inputs):
    """An op without a public function of its own."""
    if tf is runnel:
        return REGISTRY[name](*[tf.convert_to_tensor(value) for value in inputs.values()])
    return getattr(tf.raw_ops, name)(**inputs)


@settings(max_examples=25)
@given(
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5),
    st.sampled_from([np.int32, np.int64]),
    st.none() | st.integers(0, 8),
    st.none() | st.integers(0, 8),
    st.none() | st.sampled_from([0, -1]),
    st.booleans(),
    st.integers(0, 99),
)
def test_bincount(shape, dtype, minlength, maxlength, axis, binary, seed):
    arr = np.asarray(np.random.default_rng(seed).integers(0, 6, shape)).astype(dtype)
    check(
        lambda tf, arr: tf.math.bincount(
            arr, minlength=minlength, maxlength=maxlength, axis=axis, binary_output=binary
        ),
        arr,
    )


@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_weighted_bincount(dtype, axis):
    generator = np.random.default_rng(1)
    arr, weights = generator.integers(0, 6, (3, 5)), generator.integers(-5, 6, (3, 5)).astype(dtype)
    for maxlength in (None, 4):
        check(
            lambda tf, arr, w: tf.math.bincount(arr, w, maxlength=maxlength, axis=axis),
            arr,
            weights,
            gradient=False,
        )
    check(lambda tf, arr: tf.math.bincount(arr, dtype=dtype, axis=axis), arr)


def test_arguments_of_bincount():
    arr = np.array([1, 1, 2, 5])
    check(lambda tf: tf.math.bincount([1.7, 2.2]))
    check(lambda tf: tf.math.bincount([True, False]))
    check(lambda tf: tf.math.bincount([]))
    check(lambda tf, arr: tf.math.bincount(arr, minlength=tf.constant(8, tf.int64)), arr)
    check(lambda tf, arr: tf.math.bincount(arr, minlength=-1), arr)
    check(lambda tf: tf.math.bincount([[[1]]]))
    check_raises(lambda tf: tf.math.bincount([[[1]]], axis=-1))
    check_raises(lambda tf: tf.math.bincount([-1, 1]))
    check_raises(lambda tf: tf.math.bincount([[-1, 1]], axis=-1))
    check_raises(lambda tf, arr: tf.math.bincount(arr, maxlength=-1), arr)
    check_raises(lambda tf, arr: tf.math.bincount(arr, axis=1), arr)
    check_raises(lambda tf, arr: tf.math.bincount(arr, [1.0] * 4, binary_output=True), arr)
    check_raises(lambda tf, arr: tf.math.bincount(arr, [1.0]), arr)
    check_raises(lambda tf, arr: tf.math.bincount(arr, dtype=tf.int8), arr)
    check_raises(lambda tf: tf.math.bincount(tf.constant([1], tf.int8)))
    check_raises(lambda tf: tf.math.bincount(["a"]))
    check_raises(lambda tf: tf.math.bincount(None))


def test_the_older_bincount():
    def bins(tf, arr, weights):
        return raw(tf, "Bincount", arr=arr, size=4, weights=weights)

    arr = np.array([[1, 1], [2, 7]], np.int32)
    check(bins, arr, np.array([], np.int32))
    check(bins, arr, np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), gradient=False)
    check_raises(bins, -arr, np.array([], np.int32))


@settings(max_examples=15)
@given(st.integers(1, 6), st.booleans(), st.booleans(), st.integers(0, 99))
def test_confusion_matrix(count, given_classes, weighted, seed):
    generator = np.random.default_rng(seed)
    labels, predictions = generator.integers(0, 4, (2, count))
    weights = generator.uniform(0, 1, count)
    check(
        lambda tf, labels, predictions, weights: tf.math.confusion_matrix(
            labels,
            predictions,
            num_classes=5 if given_classes else None,
            weights=weights if weighted else None,
            dtype=tf.float64,
        ),
        labels,
        predictions,
        weights,
        smooth=False,
    )


def test_arguments_of_confusion_matrix():
    matrix = lambda tf, *args, **kwargs: tf.math.confusion_matrix(*args, **kwargs)  # noqa: E731
    check(lambda tf: matrix(tf, [[1], [2]], [1, 2]))
    check(lambda tf: matrix(tf, [1, 2], [[1], [2]]))
    check(lambda tf: matrix(tf, [[1, 2], [0, 1]], [[0, 1], [1, 1]]))
    check(lambda tf: matrix(tf, [1.5, 2.0], [1.0, 2.0]))
    check(lambda tf: matrix(tf, [True], [False]))
    check(lambda tf: matrix(tf, [0], [0], dtype=tf.bool))
    check(lambda tf: matrix(tf, [1, 2], [1, 2], weights=[0.5, 2.0]))
    check(lambda tf: matrix(tf, [1, 2], [1, 2], dtype="float16"))
    check(lambda tf: matrix(tf, [], [], num_classes=2))
    check(lambda tf: matrix(tf, [1, 2], [1, 2], num_classes=tf.constant(3)))
    check_raises(lambda tf: matrix(tf, [1, 2, 4], [2, 2, 4], num_classes=3), message="labels")
    check_raises(lambda tf: matrix(tf, [1, 2], [2, 4], num_classes=3), message="predictions")
    check_raises(lambda tf: matrix(tf, [1, -2], [0, 0]), message="negative")
    check_raises(lambda tf: matrix(tf, [0, 1], [1, -1]), message="negative")
    check_raises(lambda tf: matrix(tf, [1, 2], [1, 2, 3]))
    check_raises(lambda tf: matrix(tf, 0, 0))
    check_raises(lambda tf: matrix(tf, ["a"], ["b"]))
    for weights in ([[1], [2]], [1], 2):
        check_raises(lambda tf: matrix(tf, [0, 0], [0, 0], weights=weights))


@settings(max_examples=20)
@given(
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=6),
    st.sampled_from(WEIGHTS),
    st.integers(1, 12),
    st.sampled_from(["int32", "int64"]),
    st.integers(0, 99),
)
def test_histograms(shape, dtype, nbins, out_type, seed):
    values = np.asarray(np.random.default_rng(seed).uniform(-2, 12, shape)).astype(dtype)
    limits = np.array([0, 10], dtype)
    check(
        lambda tf, values, limits: tf.histogram_fixed_width(values, limits, nbins, out_type),
        values,
        limits,
        gradient=False,
    )
    if np.dtype(dtype).kind == "f":
        check(
            lambda tf, values, limits: tf.histogram_fixed_width_bins(values, limits, nbins),
            values,
            limits,
            gradient=False,
        )


def test_limits_of_histograms():
    values = np.array([0.3, 0.6, 0.9, 0.1, 1.0, -np.inf, np.inf], np.float32)
    for name in ("histogram_fixed_width", "histogram_fixed_width_bins"):
        check(lambda tf, x: getattr(tf, name)(x, [0.0, 1.0], 10), values, gradient=False)
        check_raises(lambda tf, x: getattr(tf, name)(x, [0.0, 1.0], 0), values)
        check_raises(lambda tf: getattr(tf, name)([1], [0.0, 1.0], 3))
    check(lambda tf, x: tf.histogram_fixed_width(x, [0, 1]), values, gradient=False)
    check_raises(lambda tf: tf.histogram_fixed_width_bins([1, 2, 3], [0, 5], 3))
    for limits in ([5.0, 0.0], [5.0, 5.0], [0.0, 1.0, 2.0]):
        check_raises(lambda tf, x: tf.histogram_fixed_width(x, limits), values)
    check_raises(lambda tf: tf.histogram_fixed_width([np.nan], [0.0, 1.0]))
    check_raises(lambda tf, x: tf.histogram_fixed_width(x, [0.0, 1.0], dtype="float32"), values)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), max_size=8), st.sampled_from([*REAL, bool, object]))
def test_distinct_values(values, dtype):
    x = np.array([b"%d" % v for v in values], object) if dtype is object else np.array(values)
    x = x.astype(dtype)
    check(lambda tf, x: tf.unique(x), x, gradient=False)
    check(lambda tf, x: tf.unique_with_counts(x, tf.int64), x, gradient=False)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weights", [[], [1.0, 2.0, 3.0, 4.0]], ids=["plain", "weighted"])
def test_ragged_counts(weights, binary):
    def count(tf, splits, values, size):
        inputs = {"splits": splits, "values": values, "size": size}
        inputs["weights"] = tf.constant(weights, tf.float32)
        if tf is runnel:
            tensors = [tf.convert_to_tensor(each) for each in inputs.values()]
            return REGISTRY["RaggedBincount"](*tensors, binary_output=binary)
        return tf.raw_ops.RaggedBincount(**inputs, binary_output=binary)

    values = np.array([1, 7, 1, 2], np.int64)
    splits = np.array([0, 2, 2, 4], np.int64)
    for size in (3, 8, 0):
        check(count, splits, values, np.int64(size))
    check(count, splits[:1], values[:0], np.int64(3))
    for wrong in (splits[:0], splits + 1, splits[:2]):
        check_raises(count, wrong, values, np.int64(3))
    check_raises(count, splits, -values, np.int64(3))
    check_raises(count, splits, values, np.int64(-3))


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(0, 300, np.int32), (-150, 50, np.int8), (-(2**62), 2**62, np.int64), (0, 255, np.uint8)],
)
def test_many_distinct_integers(low, high, dtype):
    x = np.random.default_rng(high % 97).integers(low, high, 700).clip(np.iinfo(dtype).min)
    x = np.append(x.astype(dtype), [np.iinfo(dtype).min, np.iinfo(dtype).max]).astype(dtype)
    for values in (x, x[:-2]):
        check(lambda tf, x: tf.unique(x), values, gradient=False)
        check(lambda tf, x: tf.unique_with_counts(x, tf.int64), values, gradient=False)


def test_distinct_special_numbers():
    x = np.array([0.0, -0.0, np.nan, 1.0, np.nan, np.inf], np.float32)
    check(lambda tf, x: tf.unique(x), x, gradient=False)
    assert repr(runnel.unique([1])).startswith("Unique(y=")


@pytest.mark.parametrize("name", ["UniqueV2", "UniqueWithCountsV2"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, ml_dtypes.bfloat16, object])
def test_distinct_slices(name, dtype):
    x = np.array([[1, 2, 1], [3, 4, 3], [1, 2, 1]])
    x = np.array([[b"%d" % v for v in row] for row in x], object) if dtype is object else x
    x = x.astype(dtype)
    for axis in (0, 1, -1):
        axes = np.array([axis])
        check(lambda tf, x, axis: raw(tf, name, x=x, axis=axis), x, axes, gradient=False)
    check(
        lambda tf, x, axis: raw(tf, name, x=x, axis=axis), x[0], np.array([], np.int64),
        gradient=False,
    )  # fmt: skip
    for axis in ([], [0, 1], [5], 0):
        axes = np.array(axis, np.int64)
        check_raises(lambda tf, x, axis: raw(tf, name, x=x, axis=axis), x, axes)


def test_refusals_of_unique():
    check_raises(lambda tf: tf.unique([[1, 2]]))
    check_raises(lambda tf: tf.unique(3))
    check_raises(lambda tf: tf.unique([1], out_idx=tf.float32))


def test_permutations():
    for count in range(5):
        x = np.random.default_rng(count).permutation(count).astype(np.int32)
        check(lambda tf, x: tf.math.invert_permutation(x), x)
        check(lambda tf, x: tf.math.invert_permutation(x), x.astype(np.int64))
    check(lambda tf: tf.math.invert_permutation([2, 0, 1]))
    for x in ([2, 0, 2], [3, 0, 1], [-1, 0, 1], [[0]], [0.0], 0):
        check_raises(lambda tf: tf.math.invert_permutation(x))


def test_coordinates():
    for indices, dims in (([2, 5, 7], [3, 3]), (5, [3, 3]), ([0, 23], [2, 3, 4]), ([-1], [3, 3])):
        check(
            lambda tf, i, d: tf.unravel_index(i, d), np.array(indices, np.int32),
            np.array(dims, np.int32),
        )  # fmt: skip
        check(lambda tf, d: tf.unravel_index(indices, d), np.array(dims, np.int64))
    for indices, dims in (([9], [3, 3]), ([[1]], [3, 3]), ([1], [[3, 3]]), ([1], [3, 0]), ([1], 3)):
        check_raises(lambda tf: tf.unravel_index(indices, dims))
    check_raises(lambda tf: tf.unravel_index(tf.zeros([0], tf.int32), [3, 3]))
    check_raises(lambda tf: tf.unravel_index([1.0], [3, 3]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sobol_points(dtype):
    for dim, count, skip in ((1, 5, 0), (3, 8, 0), (5, 7, 3), (200, 20, 100), (7, 3, 2**20)):
        check(lambda tf: tf.math.sobol_sample(dim, count, skip, dtype), tolerance=0.0)


def test_refusals_of_sobol_points():
    check(lambda tf, n: tf.math.sobol_sample(2, n), np.array(3, np.int32))
    for arguments in ((0, 4), (2, 0), (2, 1, -1), (2, 2, 2**31 - 1), ([2], 1), (2, 1.5)):
        check_raises(lambda tf: tf.math.sobol_sample(*arguments))
    check_raises(lambda tf: tf.math.sobol_sample(2, 1, dtype=tf.float16))
    check_raises(lambda tf: tf.math.sobol_sample(2, tf.constant(1, tf.int64)))

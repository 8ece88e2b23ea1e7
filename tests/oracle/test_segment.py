"""Sums, products, means and extremes of segments against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

SORTED = ["sum", "mean", "prod", "max", "min"]
UNSORTED = ["sum", "mean", "prod", "max", "min", "sqrt_n"]
REAL = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
    np.uint8, np.uint16, np.uint32, np.uint64,
]  # fmt: skip
COMPLEX = [np.complex64, np.complex128]


def numbers(shape, dtype, seed):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(0 if np.dtype(dtype).kind == "u" else -5, 6, shape).astype(dtype)
    values = generator.uniform(0.5, 2.0, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.uniform(0.5, 2.0, shape)
    return np.asarray(values).astype(dtype)


ROWS = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)


@pytest.mark.parametrize("name", SORTED)
@settings(max_examples=12)
@given(
    st.lists(st.integers(0, 5), max_size=6),
    ROWS,
    st.sampled_from(REAL + COMPLEX),
    st.sampled_from([np.int32, np.int64]),
)
def test_sorted_segments(name, ids, row, dtype, index_type):
    if name in ("max", "min") and np.dtype(dtype).kind == "c":
        dtype = np.float32
    data = numbers((len(ids), *row), dtype, len(ids))
    check(
        lambda tf, data, ids: getattr(tf.math, f"segment_{name}")(data, ids),
        data,
        np.array(sorted(ids), index_type),
        gradient=False,
    )


@pytest.mark.parametrize("name", UNSORTED)
@settings(max_examples=12)
@given(
    hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
    ROWS,
    st.sampled_from(REAL + COMPLEX),
    st.sampled_from([np.int32, np.int64]),
    st.integers(0, 99),
)
def test_unsorted_segments(name, shape, row, dtype, index_type, seed):
    kind = np.dtype(dtype).kind
    if (name not in ("sum", "prod") and kind == "c") or (name == "sqrt_n" and kind in "iu"):
        dtype = np.float32
    ids = np.random.default_rng(seed).integers(-1, 5, shape)
    data = numbers((*shape, *row), dtype, seed)
    check(
        lambda tf, data, ids: getattr(tf.math, f"unsorted_segment_{name}")(data, ids, 5),
        data,
        np.asarray(ids).astype(index_type),
        gradient=False,
    )


@pytest.mark.parametrize("name", SORTED)
def test_gradients_of_sorted_segments(name):
    function = lambda tf, data, ids: getattr(tf.math, f"segment_{name}")(data, ids)  # noqa: E731
    for row in ((), (2,), (2, 2)):
        check(function, numbers((5, *row), np.float64, 1), np.array([0, 0, 2, 2, 3]))
    check(function, np.zeros((0, 2)), np.array([], np.int32))
    if name in ("sum", "mean"):
        check(function, numbers((3,), np.complex64, 2), np.array([0, 0, 1]))


@pytest.mark.parametrize("name", UNSORTED)
def test_gradients_of_unsorted_segments(name):
    def function(tf, data, ids):
        return getattr(tf.math, f"unsorted_segment_{name}")(data, ids, 3)

    for row in ((), (2,), (2, 2)):
        check(function, numbers((5, *row), np.float64, 3), np.array([2, 0, -1, 0, 1]))
        check(function, numbers((5, *row), np.float64, 4), np.array([2, 0, 2, 0, 1], np.int32))
    check(function, numbers((2, 3), np.float64, 5), np.array([[0, 1, 1], [-1, 1, 2]]))
    check(function, numbers((2,), np.float64, 5), np.array([0, 2]), smooth=False)
    if name in ("sum", "prod"):
        check(function, numbers((3,), np.complex64, 6), np.array([0, 0, 1]), tolerance=1e-4)


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_share_the_gradient(name):
    data, ids = np.array([1.0, 1.0, 2.0, 3.0, 3.0]), np.array([0, 0, 1, 1, 1])
    check(lambda tf, x, i: getattr(tf.math, f"segment_{name}")(x, i), data, ids, smooth=False)
    check(
        lambda tf, x, i: getattr(tf.math, f"unsorted_segment_{name}")(x, i, 3),
        data,
        np.array([0, 0, 2, -1, 2]),
        smooth=False,
    )


@pytest.mark.parametrize("row", [[0.0, 3.0, 4.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
def test_gradient_of_products_with_zeros(row):
    data, ids = np.array([*row, 2.0, 5.0]), np.array([0, 0, 0, 1, 1])
    check(lambda tf, x, i: tf.math.segment_prod(x, i), data, ids, second_order=False)
    check(
        lambda tf, x, i: tf.math.unsorted_segment_prod(x, i, 2), data, ids[::-1].copy(),
        second_order=False,
    )  # fmt: skip


def test_number_of_segments():
    data, ids = numbers((3,), np.float32, 7), np.array([0, 2, 2])
    for number in (3, np.int64(4)):
        check(lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, number), data, ids)
    check(
        lambda tf, x, i, n: tf.math.unsorted_segment_mean(x, i, n), data, ids, np.array(5, np.int64)
    )
    check(lambda tf, x: tf.math.unsorted_segment_sum(x, 1, 3), data)
    check(lambda tf, x, i: tf.math.unsorted_segment_sum(x, i, 3), data, ids.astype(np.int16))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.complex64, np.float16])
def test_many_rows(dtype):
    data = numbers((3000, 20), dtype, 8)
    ids = np.random.default_rng(9).integers(-1, 40, 3000)
    expected = np.zeros((40, 20), np.result_type(dtype, np.float32))
    np.add.at(expected, ids[ids >= 0], data[ids >= 0])
    found = runnel.math.unsorted_segment_sum(runnel.constant(data), runnel.constant(ids), 40)
    assert found.numpy().dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == np.float16 else 1e-5)


def test_infinities():
    data = np.array([-np.inf, np.inf, 1.0], np.float32)
    for name in ("max", "min"):
        for ids in ([0, 1, 2], [0, 0, 0]):
            check(
                lambda tf, x, i: getattr(tf.math, f"segment_{name}")(x, i), data, np.array(ids),
                gradient=False,
            )  # fmt: skip
            check(
                lambda tf, x, i: getattr(tf.math, f"unsorted_segment_{name}")(x, i, 3), data,
                np.array(ids), gradient=False,
            )  # fmt: skip


@pytest.mark.parametrize("name", SORTED)
def test_refusals_of_sorted_segments(name):
    function = lambda tf, data, ids: getattr(tf.math, f"segment_{name}")(data, ids)  # noqa: E731
    data = numbers((4, 2), np.float32, 10)
    for ids in ([0, 1, 0, 2], [-1, 0, 0, 2], [0, 0, 2], [[0, 0, 2, 2]]):
        check_raises(function, data, np.array(ids))
    check_raises(function, data, np.array(0))
    check_raises(function, np.array(1.0), np.array([0]))
    check_raises(function, data, np.zeros(4, np.float32))
    check_raises(lambda tf, ids: function(tf, tf.constant(["a"] * 4), ids), np.arange(4))


@pytest.mark.parametrize("name", UNSORTED)
def test_refusals_of_unsorted_segments(name):
    def function(tf, data, ids, number):
        return getattr(tf.math, f"unsorted_segment_{name}")(data, ids, number)

    data, ids = numbers((4, 2), np.float32, 11), np.array([2, 0, 2, 0])
    for number in (2, 0, -1, [4]):
        check_raises(lambda tf, data, ids: function(tf, data, ids, number), data, ids)
    check_raises(lambda tf, data, ids: function(tf, data, ids, 3), data, ids[:3])
    check_raises(lambda tf, data, ids: function(tf, data, ids, 3), data, ids.astype(np.float32))

"""Diagonals and bands of matrices against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from matrices import random

ALIGN = st.sampled_from(["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"])
BATCH = st.sampled_from([(), (2,), (0,), (2, 1)])


def _longest(lower, upper, rows, columns):
    return min(rows + min(upper, 0), columns - max(lower, 0))


@st.composite
def bands(draw):
    """Rows and columns of a matrix, and a range of its diagonals."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lower = draw(st.integers(1 - rows, columns - 1))
    return rows, columns, lower, draw(st.integers(lower, columns - 1))


@settings(max_examples=20)
@given(bands(), BATCH, ALIGN, st.sampled_from(["float64", "int32", "complex64"]))
def test_diag_part_of_bands(band, batch, align, dtype):
    rows, columns, lower, upper = band
    check(
        lambda tf, a: tf.linalg.diag_part(a, k=(lower, upper), align=align, padding_value=7),
        random(*batch, rows, columns, dtype=dtype),
    )


@settings(max_examples=20)
@given(bands(), BATCH, ALIGN, st.sampled_from(["float64", "int32", "complex64"]))
def test_set_diag_of_bands(band, batch, align, dtype):
    rows, columns, lower, upper = band
    count = () if lower == upper else (upper - lower + 1,)
    longest = _longest(lower, upper, rows, columns)
    check(
        lambda tf, a, d: tf.linalg.set_diag(a, d, k=(lower, upper), align=align),
        random(*batch, rows, columns, dtype=dtype),
        random(*batch, *count, longest, dtype=dtype, purpose="diagonal"),
    )


@settings(max_examples=20)
@given(bands(), BATCH, ALIGN, st.sampled_from(["float64", "int32", "complex64"]))
def test_diag_of_bands(band, batch, align, dtype):
    rows, columns, lower, upper = band
    count = () if lower == upper else (upper - lower + 1,)
    longest = _longest(lower, upper, rows, columns)
    size = {"num_rows": rows, "num_cols": columns}
    check(
        lambda tf, d: tf.linalg.diag(d, k=(lower, upper), align=align, padding_value=3, **size),
        random(*batch, *count, longest, dtype=dtype),
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"k": 1},
        {"k": -2},
        {"num_rows": 5},
        {"num_cols": 5},
        {"num_rows": 4, "num_cols": 3, "padding_value": -1},
        {"k": 1, "num_rows": 5},
        {"k": (1, 1)},
        {"k": [-1]},
    ],
)
def test_diag_finds_the_size(options):
    check(lambda tf, d: tf.linalg.diag(d, **options), random(3))
    check(lambda tf, d: tf.linalg.diag(d, **options), random(2, 3, dtype="float32"))


def test_diag_with_tensors_as_options():
    k, padding = np.array([0, 1], np.int32), np.array(2.0)
    check(lambda tf, d, k: tf.linalg.diag(d, k=k), random(2, 3), k)
    check(
        lambda tf, d, p: tf.linalg.diag(d, k=(0, 1), padding_value=p),
        random(2, 3),
        padding,
        smooth=False,
    )
    check(lambda tf, a, k: tf.linalg.diag_part(a, k=k), random(3, 3), k)
    check(lambda tf, a, d, k: tf.linalg.set_diag(a, d, k=k), random(3, 3), random(2, 3), k)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float16, ml_dtypes.bfloat16])
def test_diagonals_of_other_dtypes(dtype):
    a = (random(3, 3) > 0).astype(dtype)
    check(lambda tf, a: tf.linalg.diag(a), a, gradient=False)
    check(lambda tf, a: tf.linalg.diag_part(a, k=(-1, 1)), a, gradient=False)
    check(lambda tf, a: tf.linalg.set_diag(a, a[0]), a, gradient=False)
    check(lambda tf, a: tf.linalg.band_part(a, 0, 1), a, gradient=False)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 0), (0, 2)])
def test_diag_round_trip(shape):
    check(lambda tf, d: tf.linalg.diag_part(tf.linalg.diag(d)), random(*shape))


def test_diag_part_of_empty_matrix():
    check(lambda tf, a: tf.linalg.diag_part(a), np.zeros((0, 0)))
    check(lambda tf, a: tf.linalg.diag_part(a), np.zeros((2, 0, 3)))


def test_set_diag_converts():
    check(lambda tf, a: tf.linalg.set_diag(a, [1, 2]), random(2, 2))
    check(lambda tf: tf.linalg.set_diag([[1, 2], [3, 4]], [5, 6]))


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((), {}),
        ((3,), {"num_rows": 2}),
        ((3,), {"num_rows": 2, "num_cols": 2}),
        ((3,), {"num_rows": 7, "num_cols": 7}),
        ((3,), {"k": 5, "num_rows": 4, "num_cols": 4}),
        ((2, 3), {"k": (1, 0)}),
        ((2, 3), {"k": [1, 2, 3]}),
        ((3, 3), {"k": (0, 1)}),
        ((3,), {"k": (0, 1)}),
        ((2, 3), {"k": (0, 1), "align": "MIDDLE"}),
        ((2, 3), {"k": 1.5}),
    ],
)
def test_diag_refuses(shape, options):
    check_raises(lambda tf, d: tf.linalg.diag(d, **options), random(*shape))


def test_diag_refuses_padding_of_another_dtype():
    check_raises(lambda tf: tf.linalg.diag([1, 2], padding_value=1.5))
    check_raises(lambda tf: tf.linalg.diag(["a", "b"]))


@pytest.mark.parametrize("k", [4, -3, (1, 0), (-3, 0), (2, 4), (0, 1, 2)])
def test_diag_part_refuses(k):
    check_raises(lambda tf, a: tf.linalg.diag_part(a, k=k), random(3, 4))


def test_diag_part_refuses_vectors_and_alignments():
    check_raises(lambda tf, a: tf.linalg.diag_part(a), random(3))
    check_raises(lambda tf, a: tf.linalg.diag_part(a, align="X"), random(3, 3))
    check_raises(lambda tf, a: tf.linalg.diag_part(a, k=1), np.zeros((0, 0)))


@pytest.mark.parametrize(
    ("shape", "diagonal", "k"),
    [
        ((3, 4), (4,), 0),
        ((3, 4), (1, 3), 0),
        ((3, 4), (3, 3), (0, 1)),
        ((3, 4), (3,), 7),
        ((3, 4), (2, 3), (1, 0)),
        ((3, 4), (1, 3), (1, 1)),
        ((2, 2, 3), (3, 2), 0),
        ((3,), (3,), 0),
    ],
)
def test_set_diag_refuses(shape, diagonal, k):
    check_raises(lambda tf, a, d: tf.linalg.set_diag(a, d, k=k), random(*shape), random(*diagonal))


def test_set_diag_refuses_another_dtype():
    check_raises(lambda tf, a, d: tf.linalg.set_diag(a, d), random(2, 2), random(2, dtype="int32"))


@settings(max_examples=20)
@given(st.integers(0, 4), st.integers(0, 4), BATCH, st.data())
def test_band_part(rows, columns, batch, data):
    lower = data.draw(st.integers(-2, rows))
    upper = data.draw(st.integers(-2, columns))
    check(lambda tf, a: tf.linalg.band_part(a, lower, upper), random(*batch, rows, columns))


def test_band_part_limits_as_tensors():
    limits = np.array(1, np.int64), np.array(0, np.int64)
    check(lambda tf, a, b, c: tf.linalg.band_part(a, b, c), random(3, 3), *limits)
    check(lambda tf, a, b: tf.linalg.band_part(a, b, 1), random(3, 3), limits[0])
    check(lambda tf, a: tf.linalg.band_part(a, 0, 0), np.full((2, 2), np.nan), smooth=False)


@pytest.mark.parametrize(("lower", "upper"), [(5, 0), (0, 5), ([1], [1]), (1.0, 1)])
def test_band_part_refuses(lower, upper):
    check_raises(lambda tf, a: tf.linalg.band_part(a, lower, upper), random(3, 4))


def test_band_part_refuses_vectors_and_mixed_limits():
    check_raises(lambda tf, a: tf.linalg.band_part(a, 0, 0), random(3))
    check_raises(
        lambda tf, a, b: tf.linalg.band_part(a, b, tf.constant(1)), random(3, 3), np.array(1)
    )


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0,), (2, 1, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "int64", "float16"])
def test_tensor_diag(shape, dtype):
    d = random(*shape, dtype=dtype)
    check(lambda tf, d: tf.linalg.tensor_diag(d), d)
    check(lambda tf, a: tf.linalg.tensor_diag_part(a), random(*shape, *shape, dtype=dtype))


def test_tensor_diag_refuses():
    check(lambda tf, a: tf.linalg.tensor_diag_part(a), random(), gradient=False)
    check_raises(lambda tf, a: tf.linalg.tensor_diag(a), random())
    check_raises(lambda tf, a: tf.linalg.tensor_diag_part(a), random(3))
    check_raises(lambda tf, a: tf.linalg.tensor_diag_part(a), random(2, 3))
    check_raises(lambda tf, a: tf.linalg.tensor_diag_part(a), random(2, 3, 3, 2))
    check_raises(lambda tf, a: tf.linalg.tensor_diag(a), random(3) > 0)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3), (2, 3, 4), (0, 0), (0, 2, 2)])
@pytest.mark.parametrize("dtype", ["float64", "complex64", "int8"])
def test_trace(shape, dtype):
    check(lambda tf, a: tf.linalg.trace(a), random(*shape, dtype=dtype))


def test_trace_refuses_vectors():
    check_raises(lambda tf, a: tf.linalg.trace(a), random(3))

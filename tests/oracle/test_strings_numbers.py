"""Numbers to text and back, and hash buckets, against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
SPECIAL = [0.0, -0.0, 1.0, -2.5, 1e-7, 60000.0, np.inf, -np.inf, np.nan, -np.nan]
SIZED = [(-1, ""), (12, ""), (12, "0"), (12, "+"), (12, "-"), (12, " "), (-1, "+"), (-1, " ")]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(("width", "fill"), SIZED)
def test_integers_as_strings(dtype, width, fill):
    limits = np.iinfo(dtype)
    numbers = np.array([0, 1, 77, limits.min, limits.max], dtype)
    check(lambda tf, x: tf.strings.as_string(x, width=width, fill=fill), numbers, gradient=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("width", "fill"), SIZED)
@pytest.mark.parametrize("notation", [{}, {"scientific": True}, {"shortest": True}])
def test_floats_as_strings(dtype, width, fill, notation):
    numbers = np.array(SPECIAL, np.float64).astype(dtype)
    for precision in (-1, 0, 3):
        check(
            lambda tf, x, p=precision: tf.strings.as_string(
                x, precision=p, width=width, fill=fill, **notation
            ),
            numbers,
            gradient=False,
            traced=False,
        )


@settings(max_examples=30, deadline=None)
@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)))
def test_any_floats(numbers):
    check(lambda tf, x: tf.as_string(x), numbers, gradient=False)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_and_booleans(dtype):
    numbers = np.array([1 + 2j, -3.5j, 1e10 - 1e-10j], dtype)
    check(lambda tf, x: tf.strings.as_string(x), numbers, gradient=False)
    check(lambda tf, x: tf.strings.as_string(x, precision=2, width=8), numbers, gradient=False)
    check(lambda tf, x: tf.strings.as_string(x), np.array([[True, False]]))


def test_strings_as_strings():
    texts = np.array(["a", "bcd", ""], object)
    check(lambda tf, x: tf.strings.as_string(x), texts)
    check(lambda tf, x: tf.strings.as_string(x, width=3), texts)
    check(lambda tf, x: tf.strings.as_string(x, width=3, fill="-"), texts)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_to_floats(dtype):
    texts = ["1", "-2.5", " 3 ", "1e3", "inf", "nan", "-Infinity", "+4", ".5", "5.", "0x1p3",
             "0x10", "NaN", "nan(1)", "1e400", "1e-400", "\x0b7\n"]  # fmt: skip
    check(lambda tf, x: tf.strings.to_number(x, dtype), np.array(texts, object), gradient=False)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_to_integers(dtype):
    limits = np.iinfo(dtype)
    texts = ["1", "+2", " 77\t", "007", str(limits.max), str(limits.min)]
    check(lambda tf, x: tf.strings.to_number(x, dtype), np.array(texts, object).reshape(2, 3))


@settings(max_examples=60, deadline=None)
@given(
    st.text("0123456789+-.eEx_ inf\x00", max_size=6),
    st.sampled_from(["float32", "float64", "int32", "int64", "uint32"]),
)
def test_any_text(text, dtype):
    check(lambda tf: tf.strings.to_number(text, dtype), traced=False, may_raise=True)


@pytest.mark.parametrize("number", ["", "abc", "1 2", "1_000", "infi", "1e", "++1", "1f"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_what_is_no_number(number, dtype):
    failure = check_raises(lambda tf: tf.strings.to_number(["1", number], dtype))
    assert number in str(failure)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.to_number(1),
        lambda tf: tf.strings.to_number("1", tf.float16),
        lambda tf: tf.strings.to_number("1", tf.string),
        lambda tf: tf.strings.to_number("2147483648", tf.int32),
        lambda tf: tf.strings.to_number("-1", tf.uint32),
        lambda tf: tf.strings.as_string(1.0, scientific=True, shortest=True),
        lambda tf: tf.strings.as_string(1, precision=2),
        lambda tf: tf.strings.as_string(True, precision=2),
        lambda tf: tf.strings.as_string(1, shortest=True),
        lambda tf: tf.strings.as_string(1, fill="x"),
        lambda tf: tf.strings.as_string(1, fill="ab"),
    ],
)
def test_refuses(call):
    check_raises(call)


# Hash buckets.

HASHES = [
    lambda tf, x, n: tf.strings.to_hash_bucket(x, n),
    lambda tf, x, n: tf.strings.to_hash_bucket_fast(x, n),
    lambda tf, x, n: tf.strings.to_hash_bucket_strong(x, n, [1, 2]),
    lambda tf, x, n: tf.strings.to_hash_bucket_strong(x, n, [-1, 2**63 - 1]),
]


@pytest.mark.parametrize("function", HASHES)
@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=150), max_size=5), st.sampled_from([1, 7, 1000, 2**62]))
def test_hashes(function, texts, buckets):
    array = np.array([*texts, None], object)[:-1]
    check(lambda tf, x: function(tf, x, buckets), array)


@pytest.mark.parametrize("function", HASHES)
def test_hashes_of_many(function):
    """Many strings of each length, which are hashed together."""
    text = bytes(range(256))
    sizes = [*range(0, 80, 3), 64, 65, 127, 128, 129, 191, 192, 193, 240]
    texts = [text[start : start + size] for size in sizes for start in range(12)]
    array = np.empty(len(texts), object)
    array[:] = texts
    check(lambda tf, x: function(tf, x, 2**62), array.reshape(4, -1))


@pytest.mark.parametrize("function", HASHES[:3])
def test_hashes_refuse(function):
    check_raises(lambda tf: function(tf, ["a"], 0))
    check_raises(lambda tf: function(tf, ["a"], -5))
    check_raises(lambda tf: function(tf, [1], 5))


def test_bad_keys():
    check_raises(lambda tf: tf.strings.to_hash_bucket_strong(["a"], 10, [1, 2, 3]))
    check_raises(lambda tf: tf.strings.to_hash_bucket_strong(["a"], 10, tf.constant([1, 2])))
    check_raises(lambda tf: tf.strings.to_hash_bucket_strong(["a"], 10, [2**63, 2]))


def test_ragged():
    def each(tf):
        rows = tf.ragged.constant([["1"], [], ["25", "-3"]])
        numbers = tf.strings.to_number(rows, tf.int64)
        texts = tf.strings.as_string(numbers)
        buckets = tf.strings.to_hash_bucket_fast(rows, 10)
        return [part for r in (numbers, texts, buckets) for part in (r.flat_values, r.row_splits)]

    check(each)

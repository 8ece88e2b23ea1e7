"""tf.fingerprint against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=200), max_size=4))
def test_strings(texts):
    check(lambda tf, x: tf.fingerprint(x), np.array([*texts, b""], object)[:-1])


@pytest.mark.parametrize("length", [0, 1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 127, 128, 129, 1000])
def test_every_length_of_text(length):
    text = bytes(range(256)) * 4
    check(lambda tf: tf.fingerprint([text[:length], text[1 : length + 1]]))


@pytest.mark.parametrize(
    "dtype", [np.float32, np.int64, np.int8, np.bool_, np.complex64, ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2), (0, 3), (2, 0)])
def test_numbers(dtype, shape):
    check(lambda tf, x: tf.fingerprint(x), np.arange(np.prod(shape)).reshape(shape).astype(dtype))


@pytest.mark.parametrize("shape", [(2, 1), (1, 2, 2), (0, 2), (2, 1, 1)])
def test_tables_of_strings(shape):
    texts = np.array([f"text {i}" for i in range(int(np.prod(shape)))], object).reshape(shape)
    check(lambda tf, x: tf.fingerprint(x), texts)


def test_transposed_data():
    check(lambda tf, x: tf.fingerprint(tf.transpose(x)), np.arange(6).reshape(2, 3))


def test_refuses():
    check_raises(lambda tf: tf.fingerprint("a"))
    check_raises(lambda tf: tf.fingerprint(["a"], "md5"))
    check_raises(lambda tf: tf.fingerprint(["a"], 5))
    check_raises(lambda tf: tf.fingerprint(None))

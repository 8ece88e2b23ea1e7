"""Casts, bit casts and complex numbers against TensorFlow."""

import logging

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
DTYPES = [*FLOATS, *INTEGERS, np.bool_, *COMPLEX]
NAMES = [np.dtype(dtype).name for dtype in DTYPES]


def to(name, function="cast"):
    return lambda tf, x: getattr(tf, function)(x, name)


def sample(dtype):
    """Values at the edges of each kind of number, whole and fractional."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([0, 1, 2, 100, limits.max, limits.min], dtype)
    if dtype.kind == "b":
        return np.array([True, False])
    values = np.array([0.0, -0.0, 0.5, 1.7, -1.7, 99.9, 3e4], np.float64)
    return (values + 2j if dtype.kind == "c" else values).astype(dtype)


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", DTYPES)
def test_every_pair(source, target):
    x = sample(source)
    if np.dtype(source).kind not in "iub" and target in ("int8", "int16", "uint8", "uint16"):
        x = x[:4]  # what does not fit ends differently from one vector width to the other
    if np.dtype(source).kind not in "iub" and target.startswith("uint"):
        x = x[x.real >= 0]
    check(to(target), x, smooth=False, traced=False)


@pytest.mark.parametrize("target", ["int8", "int16", "int32", "int64", "uint8", "uint16"])
@pytest.mark.parametrize("source", [np.float32, np.float64])
def test_numbers_that_do_not_fit(source, target):
    x = np.array([np.nan, np.inf, -np.inf, 1e10, -1e10, 1e20, 300, -300, 2.0**31, 65535.5], source)
    check(to(target), x)


@pytest.mark.parametrize("source", [*FLOATS, *COMPLEX])
def test_nan_and_infinity(source):
    x = np.array([np.nan, np.inf, -np.inf]).astype(source)
    for target in ("float16", "bfloat16", "float32", "float64", "bool"):
        check(to(target), x, gradient=False)


@settings(max_examples=8)
@given(
    x=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        elements=st.floats(-5, 5),
    ),
    target=st.sampled_from(["float32", "int64", "bool", "complex128"]),
)
def test_shapes_and_derivatives(x, target):
    # Rounding to float32 is no smooth function of float64 numbers a step of 1e-5 apart.
    check(lambda tf, x: tf.cast(x, target), x, smooth=False)


def test_derivative_of_a_cast():
    x = np.array([1.5, -2.0])
    check(lambda tf, x: tf.cast(tf.cast(x, tf.complex128), tf.complex64), x, smooth=False)
    check(lambda tf, x: tf.cast(x, tf.float64), x + 1j, smooth=False)
    check(lambda tf, x: tf.cast(tf.cast(x, tf.int32), tf.float64), x, smooth=False)


@pytest.mark.parametrize("value", [1, 1.7, True, [1, 2], 2**40, np.array([1.5]), [], 1.5 + 2j])
def test_python_values(value):
    for target in ("int32", "float64", "bool"):
        check(lambda tf: tf.cast(value, target), traced=False)
    check(lambda tf: tf.dtypes.cast(value, tf.float32), traced=False)


def test_what_is_returned_as_it_is():
    check(lambda tf: [tf.cast(x, tf.float32) is x for x in (tf.constant(1.0), tf.Variable(1.0))])
    check(lambda tf: tf.cast(tf.Variable([1.5]), tf.int32), traced=False)
    check(lambda tf: tf.cast(tf.constant(["a"]), tf.string), traced=False)


def test_slices_are_cast_as_slices():
    def cast_slices(tf):
        slices = tf.IndexedSlices(tf.constant([[1.5]]), tf.constant([0]), tf.constant([3, 1]))
        return tf.cast(slices, tf.int32)

    check(cast_slices, traced=False)
    assert isinstance(cast_slices(runnel), runnel.IndexedSlices)


@pytest.mark.parametrize(
    ("value", "target"),
    [("1", "int32"), ([1], "string"), (None, "int32"), ([1], None), ([1], "foo"), (["a"], "bool")],
)
def test_refused(value, target):
    check_raises(lambda tf: tf.cast(value, target))


def test_a_lost_imaginary_part_is_reported(caplog):
    runnel.get_logger().propagate = True
    with caplog.at_level(logging.WARNING):
        runnel.cast(runnel.constant([1 + 2j]), runnel.float32)
    assert "discard the imaginary part" in caplog.text


@pytest.mark.parametrize("target", [*NAMES[:12], "complex64"])
@pytest.mark.parametrize("source", [np.float32, np.float64, np.int16, np.uint8, np.complex128])
def test_saturating(source, target):
    x = sample(source)
    if np.dtype(source).kind in "fc":
        x = np.concatenate([x, np.array([1e9, -1e9, 1e30, -1e30], source)])
    # The greatest 64-bit integers are no floats: beyond them the original wraps around.
    if target in ("int64", "uint64") and np.dtype(source).kind in "fc":
        x = x[np.abs(x.real) < 1e18]
    # The original has no derivative for the complex ones.
    check(to(target, "saturate_cast"), x, gradient=x.dtype.kind == "f", smooth=False, traced=False)


def test_saturating_at_the_greatest_integers():
    x = runnel.constant([1e30, -1e30], runnel.float64)
    assert runnel.saturate_cast(x, runnel.int64).numpy().tolist() == [2**63 - 1024, -(2**63)]
    assert runnel.saturate_cast(x, runnel.uint64).numpy().tolist() == [2**64 - 2048, 0]


def test_saturating_traced():
    check(to("uint8", "saturate_cast"), np.array([-3.0, 7.5, 300.0]))
    check(to("float16", "saturate_cast"), np.array([1e9, -3.0, np.inf, np.nan]), gradient=False)
    check(lambda tf: tf.saturate_cast([1.5, 300], tf.uint8), traced=False)


@pytest.mark.parametrize("value", [True, "a", None])
def test_saturating_refused(value):
    check_raises(lambda tf: tf.saturate_cast(value, tf.int32))
    check_raises(lambda tf: tf.saturate_cast(1.5, tf.bool))


@pytest.mark.parametrize("target", [*NAMES[:12], "complex64", "complex128"])
@pytest.mark.parametrize("source", [np.uint8, np.int16, np.float32, np.float64, np.complex128])
def test_bitcast(source, target):
    size, wanted = np.dtype(source).itemsize, runnel.as_dtype(target).size
    x = np.arange(32).reshape(2, -1).astype(source)
    if wanted > size:
        x = x.reshape(-1, wanted // size)
    check(to(target, "bitcast"), x, gradient=False)


def test_bitcast_of_scalars_and_nothing():
    check(to("uint8", "bitcast"), np.array(1.5), gradient=False)
    check(to("int64", "bitcast"), np.array(1.5), gradient=False)
    check(to("float32", "bitcast"), np.zeros((0, 4), np.uint8))
    check(lambda tf: tf.bitcast(1, tf.float32), traced=False)


def test_bitcast_refused():
    check_raises(to("float32", "bitcast"), np.zeros((2, 3), np.uint8))
    check_raises(to("float64", "bitcast"), np.array(1.0, np.float32))
    check_raises(to("bool", "bitcast"), np.zeros(2, np.uint8))
    check_raises(to("uint8", "bitcast"), np.array([True]))
    check_raises(to("uint8", "bitcast"), np.array([b"a"], object))


@settings(max_examples=6)
@given(data=st.data())
def test_complex(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    x, y = (
        data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3)))
        for shape in shapes.input_shapes
    )
    check(lambda tf, x, y: tf.complex(x, y), x, y)
    check(lambda tf, x, y: tf.math.real(tf.complex(x, y)), x, y)
    check(lambda tf, x, y: tf.math.imag(tf.complex(x, y)), x, y)


@pytest.mark.parametrize("name", ["real", "imag", "conj", "angle", "abs"])
@pytest.mark.parametrize("dtype", COMPLEX)
def test_parts(name, dtype):
    x = np.array([[1 + 2j, -0.5 - 1j], [-2 + 0.5j, 1 - 1j]], dtype)
    check(lambda tf, x: getattr(tf.math, name)(x), x)
    check(lambda tf, x: getattr(tf.math, name)(x * x), x)


def test_angles():
    x = np.array([1 + 1j, -2, 0, complex(-0.0, -0.0), complex(-1, -0.0), 1j])
    check(lambda tf, x: tf.math.angle(x), x, gradient=False)
    check(lambda tf, x: tf.math.angle(x), np.array([1.0, -2, 0, -0.0, np.nan]), smooth=False)


@pytest.mark.parametrize("name", ["real", "imag", "conj", "angle"])
def test_parts_of_other_dtypes(name):
    for dtype in (*FLOATS, *INTEGERS, np.bool_, object):
        x = np.array([b"a"], object) if dtype is object else np.ones(1, dtype)
        check(
            lambda tf, x: getattr(tf.math, name)(x), x, gradient=False, traced=False, may_raise=True
        )
    check(lambda tf: getattr(tf.math, name)([1 + 2j]), traced=False, may_raise=True)
    check(lambda tf: getattr(tf.math, name)(1.5), traced=False, may_raise=True)


def test_complex_refused():
    for x, y in [(1, 2), (1.0, 2), (None, 1.0), ("a", 1.0)]:
        check_raises(lambda tf: tf.complex(x, y))
    check_raises(lambda tf, x, y: tf.complex(x, y), np.ones(1, np.float32), np.ones(1))
    check_raises(lambda tf, x, y: tf.complex(x, y), np.ones(2), np.ones(3), message="[2] vs. [3]")
    check_raises(lambda tf, x, y: tf.complex(x, y), np.ones(1, np.float16), np.ones(1, np.float16))

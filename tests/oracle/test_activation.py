"""The relu family, elu, selu, gelu, silu and bias_add against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

NAMES = ["relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu"]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
EDGES = np.array(
    [-np.inf, -1e30, -10, -1, -1e-4, -0.0, 0.0, 1e-4, 1, 6, 7, 1e30, np.inf, np.nan], np.float32
)


def call(name, **options):
    return lambda tf, x: getattr(tf.nn, name)(x, **options)


def away_from_kinks(x):
    """Numbers at which relu and relu6 have no corner, not even within a finite difference."""
    for corner in (0.0, 6.0):
        x = np.where(np.abs(x - corner) < 1e-3, x + 0.01, x)
    return x


smooth_arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    elements=st.floats(-8, 8),
).map(away_from_kinks)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(x=smooth_arrays)
def test_value_and_derivatives(name, x):
    check(call(name), x)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_floats(name, dtype):
    x = np.linspace(-4, 7, 23).astype(dtype)
    check(call(name), x, second_order=np.dtype(dtype).itemsize > 2, smooth=False)


@pytest.mark.parametrize("name", NAMES)
def test_edges(name):
    # TensorFlow's own gelu and silu derivatives are NaN at infinity: 0 times infinity.
    check(call(name), EDGES, smooth=False, second_order=False, traced=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES)
def test_large_arrays(name, dtype):
    # Some kernels take another way for these.
    x = np.linspace(-30, 30, 6001).astype(dtype)
    x[::1000] = np.nan
    check(call(name), x, smooth=False, second_order=False, traced=False)


@pytest.mark.parametrize("size", [3, 1024, 1025, 100_000])
@pytest.mark.parametrize("name", ["relu", "relu6"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_no_negative_zero_at_any_size(name, dtype, size):
    x = np.resize(np.array([-0.0, -2.0, 3.0, np.nan], dtype), size)
    found = np.asarray(check(lambda tf, x: getattr(tf.nn, name)(x), x, gradient=False))
    # The original's sign depends on where in a vector register an element is.
    assert not np.signbit(found[~np.isnan(x)]).any()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("name", NAMES)
def test_integers(name, dtype):
    check(call(name), np.arange(10).astype(dtype), may_raise=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("x", [[True], [1j], None, [1, 2]])
def test_refused(name, x):
    check(lambda tf: call(name)(tf, x), may_raise=True)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0, -0.5, 1])
def test_leaky_relu_alpha(alpha):
    check(call("leaky_relu", alpha=alpha), np.array([-2.0, -0.1, 0.3, 4.0]))
    check(call("leaky_relu", alpha=alpha), EDGES, smooth=False, second_order=False)


def test_leaky_relu_alpha_is_a_number():
    check_raises(lambda tf: tf.nn.leaky_relu([1.0], alpha=tf.constant(0.5)))


@given(x=smooth_arrays)
@settings(max_examples=8)
def test_gelu_approximate(x):
    check(call("gelu", approximate=True), x)


@pytest.mark.parametrize("beta", [1, 0.5, -2.0, [1.0, 2.0, 3.0]])
def test_silu_beta(beta):
    check(call("silu", beta=beta), np.array([-2.0, 0.5, 3.0]))


def test_silu_gradient_of_beta():
    check(lambda tf, x, beta: tf.nn.swish(x, beta), np.array([-2.0, 0.5]), np.array(1.5))


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
def test_crelu(axis):
    check(call("crelu", axis=axis), np.array([[-2.0, 0.5], [3.0, -0.1]]))


def test_crelu_needs_an_axis():
    check_raises(lambda tf: tf.nn.crelu(1.0))
    check_raises(lambda tf: tf.nn.crelu([1.0], axis=3))


@settings(max_examples=15)
@given(
    shape=hnp.array_shapes(min_dims=2, max_dims=5, min_side=0, max_side=3),
    channels_first=st.booleans(),
)
def test_bias_add(shape, channels_first):
    value = np.sin(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)
    bias = np.arange(shape[1 if channels_first else -1], dtype=np.float64)
    data_format = "NCHW" if channels_first else None
    check(lambda tf, x, b: tf.nn.bias_add(x, b, data_format=data_format), value, bias)
    # A square makes the second derivative depend on the bias.
    check(lambda tf, x, b: tf.square(tf.nn.bias_add(x, b, data_format=data_format)), value, bias)


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.complex64, np.complex128, *FLOATS]
)
def test_bias_add_dtypes(dtype):
    value, bias = np.arange(6).reshape(2, 3).astype(dtype), np.array([1, 2, 3]).astype(dtype)
    check(lambda tf, x, b: tf.nn.bias_add(x, b), value, bias)


@pytest.mark.parametrize(
    "data_format",
    ["NC", "NCW", "NCDHW", "NC...", "NWC", "NDHWC", "N...C", "N..C", "XC", "foo", "", "nchw"],
)
def test_bias_add_data_format(data_format):
    value = np.arange(8.0).reshape(1, 2, 2, 2)
    check(
        lambda tf, x: tf.nn.bias_add(x, [1.0, 2.0], data_format=data_format), value, may_raise=True
    )


@pytest.mark.parametrize(
    "value, bias",
    [
        ([1.0, 2.0], [1.0, 2.0]),
        (1.0, [1.0]),
        ([[1.0, 2.0]], [[1.0, 2.0]]),
        ([[1.0, 2.0]], 1.0),
        ([[1.0, 2.0]], [1.0]),
        ([[1.0, 2.0]], [1.0, 2.0, 3.0]),
        ([[1, 2]], [1.0, 2.0]),
        ([[1.0, 2.0]], [1, 2]),
        ([[True]], [False]),
        ([["a"]], ["b"]),
    ],
)
def test_bias_add_checks_its_arguments(value, bias):
    check(lambda tf: tf.nn.bias_add(value, bias), may_raise=True)
    check(lambda tf: tf.nn.bias_add(tf.constant(value), tf.constant(bias)), may_raise=True)

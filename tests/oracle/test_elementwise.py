"""Functions of each element alone against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from runnel.core.op import REGISTRY

# Where each function is defined and smooth: the interval its arguments are drawn from.
SMOOTH = {
    "abs": (0.1, 3), "negative": (-3, 3), "sign": (0.1, 3), "square": (-3, 3), "sqrt": (0.1, 4),
    "math.rsqrt": (0.1, 4), "math.reciprocal": (0.2, 4), "math.reciprocal_no_nan": (0.2, 4),
    "exp": (-3, 3), "math.expm1": (-3, 3), "math.log": (0.1, 4), "math.log1p": (-0.9, 4),
    "sigmoid": (-5, 5), "math.softplus": (-5, 5), "nn.softsign": (0.1, 5),
    "math.log_sigmoid": (-5, 5), "sin": (-4, 4), "cos": (-4, 4), "tan": (-1, 1),
    "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atan": (-4, 4), "sinh": (-3, 3), "cosh": (-3, 3),
    "tanh": (-3, 3), "asinh": (-4, 4), "acosh": (1.1, 4), "atanh": (-0.9, 0.9),
}  # fmt: skip
ROUNDING = ["math.ceil", "floor", "round", "math.rint"]
TESTS = ["math.is_nan", "math.is_inf", "math.is_finite"]
COMPLEX = [
    "abs", "negative", "sign", "square", "sqrt", "math.rsqrt", "math.reciprocal", "exp",
    "math.reciprocal_no_nan", "math.expm1", "math.log", "math.log1p", "sigmoid", "sin", "cos",
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
]  # fmt: skip
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
DTYPES = [*FLOATS, *INTEGERS, np.bool_, np.complex64, np.complex128, object]
EDGES = [-np.inf, -2.5, -1.5, -1, -0.5, -0.0, 0, 0.5, 1, 1.5, 2.5, 100, np.inf, np.nan]


def call(name):
    def function(tf, *arguments):
        target = tf
        for part in name.split("."):
            target = getattr(target, part)
        return target(*arguments)

    return function


def raw(name):
    """The op of this name itself, which no public function calls in this way."""

    def function(tf, **inputs):
        if hasattr(tf, "raw_ops"):
            return getattr(tf.raw_ops, name)(**inputs)
        return REGISTRY[name](*inputs.values())

    return function


def arrays(low, high, dtype=np.float64):
    shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
    return hnp.arrays(dtype, shapes, elements=st.floats(low, high))


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=3)
@given(data=st.data())
def test_value_and_derivatives(name, data):
    check(call(name), data.draw(arrays(*SMOOTH[name])))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("dtype", FLOATS[:3])
def test_floats(name, dtype):
    x = np.linspace(*SMOOTH[name], 12).astype(dtype)
    narrow = np.dtype(dtype).itemsize == 2
    check(call(name), x, second_order=not narrow, smooth=False, traced=False)


@pytest.mark.parametrize("name", [*SMOOTH, *ROUNDING])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges(name, dtype):
    # Values alone: at its poles a derivative is whatever the formula for it makes of them.
    check(call(name), np.array(EDGES, dtype), gradient=False)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_tests(name, dtype):
    check(call(name), np.array(EDGES, np.float32).astype(dtype))


@pytest.mark.parametrize("name", ROUNDING)
@settings(max_examples=5)
@given(x=arrays(-5, 5))
def test_rounding(name, x):
    check(call(name), x, smooth=False)


def test_rounding_of_halves():
    halves = np.arange(-9, 10) / 2
    for name in ROUNDING:
        check(call(name), halves, smooth=False)
    check(call("round"), np.array([3, -4], np.int32))
    check(call("round"), np.array([3, 4], np.uint16))


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex(name, dtype):
    x = np.array([0.5 + 0.3j, -0.2 + 0.7j, 0.9 - 0.4j, -0.6 - 0.1j], dtype)
    check(
        call(name),
        x,
        second_order=name != "sign",
        tolerance=1e-4 if dtype is np.complex64 else None,
    )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype):
    x = np.array([0, 1, 3, 100, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    for name in ("abs", "negative", "sign", "square"):
        check(call(name), x, may_raise=True)


@pytest.mark.parametrize("name", [*SMOOTH, *ROUNDING, *TESTS])
def test_dtypes_accepted(name):
    no_kernel = {"math.reciprocal": INTEGERS[:4], "math.rint": FLOATS[:2]}.get(name, [])
    for dtype in DTYPES:
        if dtype in no_kernel:
            continue
        x = np.array([b"a"], object) if dtype is object else np.ones(1, dtype)
        check(call(name), x, gradient=False, traced=False, may_raise=True)


def test_no_kernel():
    check_raises(call("math.reciprocal"), np.array([2]), message="no kernel")
    check_raises(call("round"), np.array([2j]), message="no kernel")


@pytest.mark.parametrize("value", [1, True, "a", None, [[1.0], [2.0, 3.0]], object()])
def test_what_is_no_number(value):
    check_raises(lambda tf: tf.exp(value))


def test_python_values():
    for value in (1.5, [1.0, 2.0], [], np.float64(2), np.ones((2, 1), np.float32)):
        check(lambda tf: tf.exp(value), traced=False)
    check(lambda tf: tf.exp(tf.Variable([1.0])), traced=False)


def test_derivative_of_abs_and_softsign_at_zero():
    for name in ("abs", "nn.softsign", "math.reciprocal_no_nan", "sign"):
        check(call(name), np.array([0.0, -0.0]), smooth=False, second_order=False)


@pytest.mark.parametrize(
    "name", ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "TanhGrad", "SigmoidGrad"]
)
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_slopes(name, dtype):
    y, dy = np.array([0.3, 0.6, 0.9], dtype), np.array([1.0, -2.0, 0.5], dtype)
    if dtype is np.complex128:
        y, dy = y + 0.4j, dy - 0.3j
    # TensorFlow has no derivative for the second derivative of some.
    check(lambda tf, y, dy: raw(name)(tf, y=y, dy=dy), y, dy, second_order=False)


@pytest.mark.parametrize("name", ["SoftplusGrad", "SoftsignGrad"])
def test_feature_slopes(name):
    gradients, features = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.6, 0.9])
    check(
        lambda tf, g, f: raw(name)(tf, gradients=g, features=f),
        gradients, features, second_order=False, gradient=name == "SoftplusGrad",
    )  # fmt: skip


@settings(max_examples=5)
@given(x=arrays(-3, 3))
def test_stop_gradient(x):
    check(lambda tf, x: tf.stop_gradient(x) * x, x, smooth=False)
    check(lambda tf, x: tf.stop_gradient(x), x, smooth=False)


@pytest.mark.parametrize("name", ["math.xlogy", "math.xlog1py"])
@settings(max_examples=5)
@given(x=arrays(0.5, 3), y=st.floats(0.5, 3))
def test_products_with_logarithms(name, x, y):
    check(call(name), x, np.array([y]), may_raise=True)
    check(call(name), x, np.array([[y], [y + 1]]), may_raise=True)


@pytest.mark.parametrize("name", ["math.xlogy", "math.xlog1py"])
@pytest.mark.parametrize("dtype", [*FLOATS, np.complex64])
def test_products_with_logarithms_at_zero(name, dtype):
    x = np.array([0, 0, 0, 1, 2], np.float32).astype(dtype)
    y = np.array([0, -1, np.nan, 0.5, 3], np.float32).astype(dtype)
    check(call(name), x, y, gradient=False)
    check(call(name), x[3:], y[3:], second_order=False, smooth=False)

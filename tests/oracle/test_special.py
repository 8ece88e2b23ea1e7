"""Error functions, the gamma and beta families and Bessel functions against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

import runnel

# Where each function is defined and smooth.
SMOOTH = {
    "math.erf": (-2, 2), "math.erfc": (-2, 2), "math.erfinv": (-0.9, 0.9), "math.ndtri": (0.1, 0.9),
    "math.erfcinv": (0.1, 1.9), "math.lgamma": (0.3, 5), "math.digamma": (0.3, 5),
    "math.special.dawsn": (-2, 2), "math.special.expint": (0.2, 3),
    "math.special.fresnel_cos": (-2, 2), "math.special.fresnel_sin": (-2, 2),
    "math.special.spence": (0.2, 0.9), "math.special.bessel_i0": (0.2, 3),
    "math.special.bessel_i0e": (0.2, 3), "math.special.bessel_i1": (0.2, 3),
    "math.special.bessel_i1e": (0.2, 3), "math.special.bessel_j0": (0.2, 5),
    "math.special.bessel_j1": (0.2, 5), "math.special.bessel_k0": (0.4, 3),
    "math.special.bessel_k0e": (0.4, 3), "math.special.bessel_k1": (0.4, 3),
    "math.special.bessel_k1e": (0.4, 3), "math.special.bessel_y0": (0.4, 5),
    "math.special.bessel_y1": (0.4, 5), "math.bessel_i0": (-3, -0.2), "math.bessel_i0e": (-3, -0.2),
    "math.bessel_i1": (-3, -0.2), "math.bessel_i1e": (-3, -0.2),
}  # fmt: skip
PAIRS = {
    "math.igamma": [(0.5, 4), (0.5, 4)], "math.igammac": [(0.5, 4), (0.5, 4)],
    "math.zeta": [(1.5, 4), (0.5, 4)],
}  # fmt: skip
# What the original computes in 16 bits too.
HALF = ["math.erf", "math.erfc", "math.lgamma", "math.digamma"] + [
    name for name in SMOOTH if name.startswith("math.special.bessel_")
]
POLES = [-20, -2.5, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 10]


def call(name):
    def function(tf, *arguments):
        target = tf
        for part in name.split("."):
            target = getattr(target, part)
        return target(*arguments)

    return function


def arrays(low, high):
    shapes = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)
    return hnp.arrays(np.float64, shapes, elements=st.floats(low, high))


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=3)
@given(data=st.data())
def test_value_and_derivatives(name, data):
    check(call(name), data.draw(arrays(*SMOOTH[name])), tolerance=1e-8)


@pytest.mark.parametrize("name", SMOOTH)
def test_float32(name):
    x = np.linspace(*SMOOTH[name], 12).astype(np.float32)
    check(call(name), x, second_order=False, smooth=False, traced=False, tolerance=1e-4)


@pytest.mark.parametrize("name", HALF)
def test_float16(name):
    x = np.linspace(*SMOOTH[name], 12).astype(np.float16)
    # The derivative of digamma, polygamma, takes no float16.
    gradient = name != "math.digamma"
    check(call(name), x, gradient=gradient, second_order=False, smooth=False, traced=False)


@pytest.mark.parametrize("name", SMOOTH)
def test_edges(name):
    check(call(name), np.array(POLES), gradient=False, tolerance=1e-8)


def test_infinity():
    # The original's erf of infinity is NaN in float64 (and right in float32).
    infinities = np.array([-np.inf, np.inf, np.nan], np.float32)
    for name in ("math.erf", "math.erfc", "math.lgamma", "math.ndtri", "math.erfinv"):
        check(call(name), infinities, gradient=False)


@pytest.mark.parametrize("name", [*SMOOTH, *PAIRS, "math.polygamma"])
def test_dtypes_refused(name):
    count = 1 if name in SMOOTH else 2
    for dtype in (np.int32, np.bool_, np.complex64):
        # The original's erfcinv meets one of its own checks first.
        if name != "math.erfcinv":
            check_raises(call(name), *[np.ones(1, dtype)] * count)


@st.composite
def pairs(draw, bounds):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    return [
        draw(hnp.arrays(np.float64, shape, elements=st.floats(*interval)))
        for shape, interval in zip(shapes.input_shapes, bounds, strict=True)
    ]


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=4)
@given(data=st.data())
def test_values_of_two(name, data):
    x, y = data.draw(pairs(PAIRS[name]))
    # The first derivative alone: the original has no second one.
    check(call(name), x, y, second_order=False, smooth=False, tolerance=1e-8)


def test_derivatives_of_two():
    order, point = np.array([0.5, 2.0, 4.0]), np.array([0.4, 2.5, 3.0])
    for name in ("math.igamma", "math.igammac"):
        check(call(name), order, point, second_order=False, tolerance=1e-8)
        check(lambda tf, x: call(name)(tf, tf.constant(order), x), point, tolerance=1e-8)
    check(lambda tf, q: tf.math.zeta(tf.constant(order + 1), q), point, tolerance=1e-8)
    check(lambda tf, x: tf.math.polygamma(tf.constant([0.0, 1, 2], x.dtype), x), point)


def test_derivative_by_the_order_of_the_incomplete_gamma_function():
    def slope(tf, a, x):
        if hasattr(tf, "raw_ops"):
            return tf.raw_ops.IgammaGradA(a=a, x=x)
        from runnel.core.op import REGISTRY

        return REGISTRY["IgammaGradA"](a, x)

    orders = np.array([0.01, 0.5, 1, 2.5, 10, 100])[:, None]
    points = np.array([0, 1e-5, 0.1, 1, 3, 9, 45, 90, 110, 150, 300])
    check(slope, orders, points, gradient=False, tolerance=1e-9)


def test_second_derivative_by_the_order_is_refused():
    def curve(tf):
        a = tf.Variable(1.5)
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            value = tf.math.igamma(a, 2.0)
            slope = inner.gradient(value, a)
        return outer.gradient(slope, a)

    check_raises(curve, message="second derivative")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_edges_of_two(dtype):
    orders = np.array([0, 0.5, 1, 2, 3, 10], dtype)[:, None]
    points = np.array([-1, 0, 0.5, 1, 2, 3, 10], dtype)
    tolerance = 1e-4 if dtype is np.float32 else 1e-8
    for name in ("math.igamma", "math.igammac", "math.zeta", "math.polygamma"):
        check(call(name), orders, points, gradient=False, tolerance=tolerance)


@settings(max_examples=6)
@given(data=st.data())
def test_betainc(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    a, b = (data.draw(hnp.arrays(np.float64, shape, elements=st.floats(0.5, 4))) for _ in "ab")
    x = data.draw(hnp.arrays(np.float64, shape, elements=st.floats(0.1, 0.9)))
    check(lambda tf, x: tf.math.betainc(tf.constant(a), tf.constant(b), x), x, tolerance=1e-8)


def test_betainc_of_scalars_and_edges():
    def betainc(tf, *arguments):
        return tf.math.betainc(*arguments)

    x = np.array([0.1, 0.5, 0.9])
    check(betainc, np.array(2.0), np.array(3.0), x, smooth=False, second_order=False)
    check(betainc, x + 1, np.array(3.0), np.array(0.5), smooth=False, second_order=False)
    check(lambda tf: tf.math.betainc(1.0, 2, tf.constant(0.5, tf.float64)), traced=False)
    edges = np.array([-0.5, 0, 0.5, 1, 1.5, np.nan])
    for a in (-1.0, 0.0, 0.5, 3.0):
        for b in (-1.0, 0.0, 0.5, 3.0):
            check(betainc, np.array(a), np.array(b), edges, gradient=False, traced=False)
    check_raises(betainc, np.ones(2), np.ones(3), np.array(0.5), message="[2] vs. [3]")
    check_raises(betainc, np.ones(2), np.ones((2, 1)), np.array(0.5))
    check_raises(lambda tf: tf.math.betainc(1, 2, 0.5))


@settings(max_examples=5)
@given(
    x=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3),
        elements=st.floats(0.3, 4),
    )
)
def test_lbeta(x):
    check(lambda tf, x: tf.math.lbeta(x), x)


def test_lbeta_of_nothing():
    check(lambda tf, x: tf.math.lbeta(x), np.ones((2, 0)), gradient=False)
    check_raises(lambda tf: tf.math.lbeta(3.0))


def test_slopes_of_many_digammas():
    numbers = 10 ** np.random.default_rng(0).uniform(-10, 10, 500)
    found = call("math.polygamma")(runnel, np.float32(1), numbers.astype(np.float32)).numpy()
    exact = special.polygamma(1, numbers.astype(np.float32).astype(np.float64))
    np.testing.assert_allclose(found, exact, rtol=1e-7)
    for row in ([0.5, np.inf, 1e-30, 3e38], [0.5, 0.0, -0.5, np.nan]):
        check(call("math.polygamma"), np.float32(1), np.float32(row), gradient=False)


def test_derivatives_at_zero():
    for name in ("i0", "i0e", "i1", "i1e", "j0", "j1"):
        check(call(f"math.special.bessel_{name}"), np.zeros(2), smooth=False, second_order=False)
    check(call("math.special.spence"), np.ones(2), smooth=False, second_order=False)


def test_many_numbers():
    numbers = np.linspace(-6, 9, 40000).astype(np.float32)
    numbers[:9] = np.nan, np.inf, -np.inf, -0.0, 1e30, -1e30, 1e-40, 12.0, -12.0
    check(call("math.erfc"), numbers, gradient=False, tolerance=1e-5)
    check(lambda tf, x: tf.nn.gelu(x), numbers[10:], gradient=False, tolerance=1e-5)
    check(lambda tf, x: tf.nn.gelu(x, approximate=True), numbers, gradient=False, tolerance=1e-5)
    check(lambda tf, x: x**3.0, numbers, gradient=False)
    check(call("math.erfc"), numbers[10:].reshape(-1, 30)[:, ::2], gradient=False, tolerance=1e-5)
    exact = runnel.math.erfc(numbers.astype(np.float64)).numpy()
    np.testing.assert_allclose(runnel.math.erfc(numbers), exact, rtol=1e-5, atol=1e-37)

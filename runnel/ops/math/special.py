"""Error functions, the gamma and beta families, and other functions that SciPy computes."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import FLOATING, float32, float64
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN, broadcast, dimensions_text, unchanged
from ...core.tensor import Tensor
from ...runtime.half_precision import computed_in_float32
from ..broadcasting import sum_to
from . import many_numbers, reduction
from .arithmetic import add, multiply, subtract, zero_where
from .division import divide
from .elementwise import exp, log, negative, number_like, square, xlog1py, xlogy
from .trigonometry import cos, sin

_WIDE = {float32, float64}


def scipy_kernel(name, adjust=None):
    """A kernel that calls a function of scipy.special, which is imported at the first call.

    Half precision is computed in float32. `adjust(result, *arrays)` corrects special values.
    """
    found = []

    def kernel(x, *rest):
        if not found:
            from scipy import special

            found.append(getattr(special, name))
        result = found[0](x, *rest)
        if adjust is not None:
            result = adjust(result, x, *rest)
        return result if result.dtype == x.dtype else result.astype(x.dtype)

    return computed_in_float32(kernel)


def unary(name, kernel, fresh=False):
    """Declare an op of one floating input."""
    return op(name, "x: T -> y: T", T=FLOATING, shape=unchanged, kernel=kernel, fresh=fresh)


def scaled_exponential(factor, exponent: Tensor) -> Tensor:
    """factor * exp(exponent)."""
    return multiply(number_like(factor, exponent), exp(exponent))


# Error functions.

Erf = unary("Erf", many_numbers.erf(scipy_kernel("erf")), fresh=True)


@Erf.gradient
def _(op, grad):
    slope = scaled_exponential(2 / math.sqrt(math.pi), negative(square(op.inputs[0])))
    return multiply(grad, slope)


def erf(x, name=None):
    """The error function: 2 / √π times the integral of exp(-t²) from 0 to x.

    >>> print(tf.math.erf([0.0, 1.0]).numpy().round(4))
    [0.     0.8427]
    """
    return execute(Erf, (convert_to_tensor(x),))


Erfc = unary("Erfc", many_numbers.erfc(scipy_kernel("erfc")))


@Erfc.gradient
def _(op, grad):
    slope = scaled_exponential(-2 / math.sqrt(math.pi), negative(square(op.inputs[0])))
    return multiply(grad, slope)


def erfc(x, name=None):
    """1 - erf(x), accurate for large x too.

    >>> tf.math.erfc([0.0]).numpy().tolist()
    [1.0]
    """
    return execute(Erfc, (convert_to_tensor(x),))


Erfinv = unary("Erfinv", scipy_kernel("erfinv"))


@Erfinv.gradient
def _(op, grad):
    slope = scaled_exponential(math.sqrt(math.pi) / 2, square(op.outputs[0]))
    return multiply(grad, slope)


def erfinv(x, name=None):
    """The inverse of the error function.

    >>> tf.math.erfinv([0.0, 1.0]).numpy().tolist()
    [0.0, inf]
    """
    return execute(Erfinv, (convert_to_tensor(x),))


Ndtri = unary("Ndtri", scipy_kernel("ndtri"))


@Ndtri.gradient
def _(op, grad):
    exponent = multiply(number_like(0.5, op.outputs[0]), square(op.outputs[0]))
    return multiply(grad, scaled_exponential(math.sqrt(2 * math.pi), exponent))


def ndtri(x, name=None):
    """The quantile function of the standard normal distribution, the inverse of its CDF.

    >>> print(tf.math.ndtri([0.5, 0.975]).numpy().round(2))
    [0.   1.96]
    """
    return execute(Ndtri, (convert_to_tensor(x),))


def erfcinv(x, name=None):
    """The inverse of erfc.

    >>> tf.math.erfcinv([1.0, 0.0]).numpy().tolist()
    [-0.0, inf]
    """
    x = convert_to_tensor(x)
    # erfc(z) = 2 (1 - Φ(z √2)), so z follows from the normal quantile of x / 2.
    return multiply(
        negative(ndtri(multiply(number_like(0.5, x), x))), number_like(math.sqrt(0.5), x)
    )


# The gamma function's family.


def _lgamma_at_minus_infinity(result, x):
    return np.where(x == -np.inf, np.abs(x), result) if (x == -np.inf).any() else result


Lgamma = unary("Lgamma", scipy_kernel("gammaln", _lgamma_at_minus_infinity))
Lgamma.gradient(lambda op, grad: multiply(grad, digamma(op.inputs[0])))


def lgamma(x, name=None):
    """The logarithm of |Γ(x)|, element-wise.

    >>> print(tf.math.lgamma([1.0, 4.0]).numpy().round(4))
    [0.     1.7918]
    """
    return execute(Lgamma, (convert_to_tensor(x),))


def _nan_where(mask, result):
    return np.where(mask, result.dtype.type(np.nan), result) if mask.any() else result


Digamma = unary("Digamma", scipy_kernel("digamma", lambda result, x: _nan_where(x == 0, result)))
Digamma.gradient(lambda op, grad: multiply(grad, polygamma(number_like(1, grad), op.inputs[0])))


def digamma(x, name=None):
    """The derivative of lgamma: Γ'(x) / Γ(x).

    >>> print(tf.math.digamma([1.0]).numpy().round(4))
    [-0.5772]
    """
    return execute(Digamma, (convert_to_tensor(x),))


def lbeta(x, name=None):
    """log|Beta(x)| along the last axis: the sum of lgamma(x) minus lgamma of the sum.

    >>> print(tf.math.lbeta([[1.0, 2.0]]).numpy().round(4))
    [-0.6931]
    """
    x = convert_to_tensor(x)
    product = reduction.reduce_sum(lgamma(x), axis=[-1])
    return subtract(product, lgamma(reduction.reduce_sum(x, axis=[-1])))


def _zeta_at_poles(result, x, q):
    # At poles of odd or fractional order the sign of infinity is undefined.
    pole = (q <= 0) & (q == np.floor(q)) & (x != 1)
    return _nan_where(pole & (np.fmod(x, 2) != 0), result)


_zeta_kernel = scipy_kernel("zeta", _zeta_at_poles)
Zeta = op("Zeta", "x: T, q: T -> z: T", T=_WIDE, shape=broadcast, kernel=_zeta_kernel)


@Zeta.gradient
def _(op, grad):
    x, q = op.inputs
    slope = multiply(negative(x), zeta(add(x, number_like(1, x)), q))
    return None, sum_to(multiply(grad, slope), q)


def zeta(x, q, name=None):
    """The Hurwitz zeta function: the sum of (q + n)^-x over n = 0, 1, 2, ...

    >>> print(tf.math.zeta([2.0], [1.0]).numpy().round(4))
    [1.6449]
    """
    return execute(Zeta, operands(x, q))


_digamma_kernel = Digamma.kernel
_gamma_kernel = scipy_kernel("gamma")


@op("Polygamma", "a: T, x: T -> z: T", T=_WIDE, shape=broadcast)
def Polygamma(a, x):
    if x.dtype == np.float32 and not np.ndim(a) and a == 1 and x.ndim and (x > 0).all():
        return many_numbers.trigamma(x)
    order, point = (np.asarray(each, np.float64) for each in (a, x))
    sign = np.where(np.fmod(order, 2) == 1, 1.0, -1.0)
    derivative = sign * _gamma_kernel(order + 1) * _zeta_kernel(order + 1, point)
    derivative = np.where(order == 0, _digamma_kernel(point), derivative)
    proper = (order >= 0) & (order == np.floor(order))
    return np.where(proper, derivative, np.nan).astype(x.dtype)


@Polygamma.gradient
def _(op, grad):
    a, x = op.inputs
    slope = polygamma(add(a, number_like(1, a)), x)
    return None, sum_to(multiply(grad, slope), x)


def polygamma(a, x, name=None):
    """The a-th derivative of digamma at x.

    >>> print(tf.math.polygamma([1.0], [1.0]).numpy().round(4))
    [1.6449]
    """
    return execute(Polygamma, operands(a, x))


def _at_order_zero(result, a, x):
    return _nan_where((a == 0) & (x > 0), result)


def _at_zero(result, a, x):
    return zero_where(x == 0, _at_order_zero(result, a, x))


_INCOMPLETE = "a: T, x: T -> z: T"
Igamma = op(
    "Igamma", _INCOMPLETE, T=FLOATING, shape=broadcast,
    kernel=scipy_kernel("gammainc", _at_zero),
)  # fmt: skip
Igammac = op(
    "Igammac", _INCOMPLETE, T=FLOATING, shape=broadcast,
    kernel=scipy_kernel("gammaincc", _at_order_zero),
)  # fmt: skip


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The density of the gamma distribution: x^(a-1) exp(-x) / Γ(a)."""
    power = xlogy(subtract(a, number_like(1, a)), x)
    return exp(subtract(subtract(power, x), lgamma(a)))


@Igamma.gradient
def _(op, grad):
    a, x = op.inputs
    return (
        sum_to(multiply(grad, execute(IgammaGradA, (a, x))), a) if op.needs(0) else None,
        sum_to(multiply(grad, _density(a, x)), x) if op.needs(1) else None,
    )


@Igammac.gradient
def _(op, grad):
    by_a, by_x = Igamma.gradient_rule(op, grad)
    return None if by_a is None else negative(by_a), None if by_x is None else negative(by_x)


@op("IgammaGradA", _INCOMPLETE, T=_WIDE, shape=broadcast)
def IgammaGradA(a, x):
    from . import incomplete_gamma

    return incomplete_gamma.derivative_by_order(a, x)


@IgammaGradA.gradient
def _(op, grad):
    a, x = op.inputs
    if op.needs(0):
        raise LookupError(
            "The second derivative of tf.math.igamma and igammac with respect to `a` is not "
            "available. Stop it with tf.stop_gradient(a) if only `x` matters."
        )
    slope = multiply(_density(a, x), subtract(log(x), digamma(a)))
    return None, sum_to(multiply(grad, slope), x)


def igamma(a, x, name=None):
    """The lower regularized incomplete gamma function P(a, x): the integral up to x, over Γ(a).

    >>> print(tf.math.igamma([1.0], [2.0]).numpy().round(4))
    [0.8647]
    """
    return execute(Igamma, operands(a, x))


def igammac(a, x, name=None):
    """The upper regularized incomplete gamma function: 1 - igamma(a, x).

    >>> print(tf.math.igammac([1.0], [2.0]).numpy().round(4))
    [0.1353]
    """
    return execute(Igammac, operands(a, x))


def _betainc_shape(inputs, attrs):
    names, shape, first = "abx", None, ""
    for name, each in zip(names, inputs, strict=True):
        if each.shape.rank is None:
            return UNKNOWN
        if not each.shape.rank:
            continue
        if shape is not None and not shape.is_compatible_with(each.shape):
            raise ValueError(
                f"Shapes of {first} and {name} are inconsistent: {dimensions_text(shape)} vs. "
                f"{dimensions_text(each.shape)}. Only scalars are broadcast here."
            )
        shape, first = (
            (each.shape, name) if shape is None else (shape.merge_with(each.shape), first)
        )
    return inputs[0].shape if shape is None else shape


_betainc_kernel = scipy_kernel(
    "betainc", lambda result, a, b, x: _nan_where((a == 0) | (b == 0) | np.isnan(x), result)
)


@op("Betainc", "a: T, b: T, x: T -> z: T", T=_WIDE, shape=_betainc_shape)
def Betainc(a, b, x):
    if len({each.shape for each in (a, b, x) if each.shape}) > 1:
        raise ValueError("The shapes of a, b and x are inconsistent.")
    return _betainc_kernel(a, b, x)


@Betainc.gradient
def _(op, grad):
    a, b, x = op.inputs
    beta = subtract(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    one = number_like(1, a)
    powers = add(xlogy(subtract(a, one), x), xlog1py(subtract(b, one), negative(x)))
    return None, None, sum_to(multiply(grad, exp(subtract(powers, beta))), x)


def betainc(a, b, x, name=None):
    """The regularized incomplete beta function: the CDF of Beta(a, b) at x.

    >>> tf.math.betainc(1.0, 2.0, [0.5]).numpy().tolist()
    [0.75]
    """
    known = next((each for each in (a, b, x) if isinstance(each, Tensor)), None)
    if known is not None:
        a, _ = operands(a, known)
    a, b = operands(a, b)
    a, x = operands(a, x)
    return execute(Betainc, (a, b, x))


# Integrals without a closed form.

Dawsn = unary("Dawsn", scipy_kernel("dawsn"))


@Dawsn.gradient
def _(op, grad):
    x, y = op.inputs[0], op.outputs[0]
    slope = subtract(number_like(1, x), multiply(number_like(2, x), multiply(x, y)))
    return multiply(grad, slope)


def dawsn(x, name=None):
    """Dawson's integral: exp(-x²) times the integral of exp(t²) from 0 to x.

    >>> print(tf.math.special.dawsn([0.0, 1.0]).numpy().round(4))
    [0.     0.5381]
    """
    return execute(Dawsn, (convert_to_tensor(x),))


Expint = unary("Expint", scipy_kernel("expi", lambda result, x: _nan_where(x < 0, result)))
Expint.gradient(lambda op, grad: multiply(grad, divide(exp(op.inputs[0]), op.inputs[0])))


def expint(x, name=None):
    """The exponential integral Ei of each positive element; NaN for negative ones.

    >>> print(tf.math.special.expint([1.0]).numpy().round(4))
    [1.8951]
    """
    return execute(Expint, (convert_to_tensor(x),))


_fresnel = scipy_kernel("fresnel", lambda result, x: np.stack(result))
FresnelCos = unary("FresnelCos", lambda x: _fresnel(x)[1])
FresnelSin = unary("FresnelSin", lambda x: _fresnel(x)[0])


def _quarter_turns(x: Tensor) -> Tensor:
    return multiply(number_like(math.pi / 2, x), square(x))


@FresnelCos.gradient
def _(op, grad):
    return multiply(grad, cos(_quarter_turns(op.inputs[0])))


@FresnelSin.gradient
def _(op, grad):
    return multiply(grad, sin(_quarter_turns(op.inputs[0])))


def fresnel_cos(x, name=None):
    """The integral of cos(π t² / 2) from 0 to x.

    >>> print(tf.math.special.fresnel_cos([1.0]).numpy().round(4))
    [0.7799]
    """
    return execute(FresnelCos, (convert_to_tensor(x),))


def fresnel_sin(x, name=None):
    """The integral of sin(π t² / 2) from 0 to x.

    >>> print(tf.math.special.fresnel_sin([1.0]).numpy().round(4))
    [0.4383]
    """
    return execute(FresnelSin, (convert_to_tensor(x),))


Spence = unary("Spence", scipy_kernel("spence"))


@Spence.gradient
def _(op, grad):
    x = op.inputs[0]
    one = number_like(1, x)
    slope = divide(log(x), subtract(one, x))
    at_one = REGISTRY["Equal"](x, one)
    return multiply(grad, REGISTRY["SelectV2"](at_one, negative(one), slope))


def spence(x, name=None):
    """Spence's function (the dilogarithm of 1 - x): the integral of -log(t) / (t - 1) from 1 to x.

    >>> print(tf.math.special.spence([1.0, 0.5]).numpy().round(4))
    [0.     0.5822]
    """
    return execute(Spence, (convert_to_tensor(x),))

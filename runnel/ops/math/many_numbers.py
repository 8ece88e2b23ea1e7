"""Functions of large float32 arrays, in passes over cache-sized blocks.

NumPy vectorizes exp, log and arithmetic, but not the functions here, which are composed of those by
formulas with an error of a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime.engine_selection import accelerated
from ...runtime.half_precision import computed_in_float32, is_half, rounded_to_half

# Not profitable below: a pass over a small array takes as long as its call overhead.
_MANY = 16384
_BLOCK = 1 << 16
_SIGN_BIT = np.int32(-(1 << 31))

_Kernel = Callable[..., Any]


@accelerated("exp", 32_768)
def exponential(array, output=None):
    """exp of each element of an array, into `output` if given."""
    if array.size >= _MANY and is_half(array):
        return rounded_to_half(exponential(array.astype(np.float32)), array.dtype)
    return np.exp(array, output)


def many(exact: _Kernel, mended: bool = False) -> Callable[[_Kernel], _Kernel]:
    """A kernel of a formula for large float32 arrays; `exact` computes all others.

    The formula writes its result into its last argument. If it is `mended`, `exact` recomputes the
    elements that are not finite: at infinities, near an overflow.
    """

    def decorate(formula: _Kernel) -> _Kernel:
        def in_blocks(*arrays):
            x = arrays[0]
            flat = [each.reshape(-1) for each in arrays]
            results = np.empty(x.size, np.float32)
            for start in range(0, x.size, _BLOCK):
                block = slice(start, start + _BLOCK)
                inputs, result = [each[block] for each in flat], results[block]
                formula(*inputs, result)
                if mended and not (finite := np.isfinite(result)).all():
                    others = ~finite
                    result[others] = exact(*[each[others] for each in inputs])
            return results.reshape(x.shape)

        def of_one(x):
            if x.size < _MANY or x.dtype.char != "f":
                return exact(x) if x.size < _MANY or not is_half(x) else through_float32(x)
            return in_blocks(x)

        through_float32 = computed_in_float32(in_blocks)

        def of_two(y, x):
            if x.size < _MANY or x.dtype.char != "f" or x.shape != y.shape:
                return exact(y, x)
            return in_blocks(y, x)

        kernel = of_one if formula.__code__.co_argcount == 2 else of_two
        kernel.__name__ = formula.__name__
        kernel.__doc__ = formula.__doc__
        return kernel

    return decorate


def _coefficients(*values: float) -> list[Any]:
    # Arrays: a ufunc converts them faster than Python scalars.
    return [np.array(value, np.float32) for value in values]


(_ONE,) = _coefficients(1.0)


def _polynomial(x, coefficients, result):
    """A polynomial by Horner's rule, coefficients of the highest power first."""
    np.multiply(x, coefficients[0], out=result)
    result += coefficients[1]
    for each in coefficients[2:]:
        result *= x
        result += each
    return result


def _give_sign(result, x, spare):
    """Copy the sign of x to results that are non-negative or have it already, also to zeros."""
    signs = np.bitwise_and(x.view(np.int32), _SIGN_BIT, out=spare.view(np.int32))
    bits = result.view(np.int32)
    np.bitwise_or(bits, signs, out=bits)


@many(np.log1p, mended=True)
def log1p(x, result):
    """log(u) + (x - (u - 1)) / u with u = 1 + x rounded, whose error the quotient corrects."""
    u = x + _ONE
    np.log(u, out=result)
    rest = u - _ONE
    np.subtract(x, rest, out=rest)
    rest /= u
    result += rest
    _give_sign(result, x, rest)


# ln 2 as a sum of two parts; the first has so few bits that its multiples are exact.
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_PER_LN2 = np.float32(1 / np.log(2))
# Adding it leaves the nearest integer in the low bits, plus the exponent bias.
_ROUNDING = np.float32(3 * 2**22 + 127)
# (exp(r) - 1 - r) / r² for |r| <= ln 2 / 2, with a relative error of 1.3e-7.
_EXPM1 = _coefficients(1.390128214e-3, 8.363140375e-3, 4.166685338e-2, 0.1666657732, 0.4999999955)


@many(np.expm1, mended=True)
def expm1(x, result):
    """2ⁿ p + (2ⁿ - 1) with p = exp(r) - 1, where x = n ln 2 + r."""
    # Below, the result is -1; above, the power overflows.
    r = np.clip(x, -30, 88.8)
    power = r * _PER_LN2
    power += _ROUNDING
    n = power - _ROUNDING
    bits = power.view(np.int32)
    np.left_shift(bits, 23, out=bits)
    r -= np.multiply(n, _LN2_HIGH, out=result)
    n *= _LN2_LOW
    r -= n
    _polynomial(r, _EXPM1, result)
    result *= r
    result *= r
    result += r
    result *= power
    power -= _ONE
    result += power
    _give_sign(result, x, n)


# log((1 + s) / (1 - s)) / s for s <= 1/3 in powers of s², with a relative error of 4e-9.
_LOG_RATIO = _coefficients(0.2817832991, 0.2796060387, 0.400249102, 0.6666631468, 2.000000008)


def _exact_softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


@many(_exact_softplus)
def softplus(x, result):
    """max(x, 0) + log(1 + z) with z = exp(-|x|), the logarithm by the series in s = z / (2 + z)."""
    s = np.abs(x)
    np.negative(s, out=s)
    exponential(s, s)
    squares = s + np.float32(2)
    s /= squares
    np.multiply(s, s, out=squares)
    _polynomial(squares, _LOG_RATIO, result)
    result *= s
    result += np.clip(x, 0, np.inf, out=s)


# erf(x) / x for |x| <= 3.92 as a rational function of x², with a relative error of 2e-8; the last
# digits minimize the rounding errors of float32.
_ERF_ABOVE = _coefficients(
    2.046570899e-6, 2.848430013e-4, 3.771459917e-3, 5.276605114e-2, 0.1905651987, 1.128379107
)
_ERF_BELOW = _coefficients(
    3.805335291e-5, 1.163637731e-3, 1.498100441e-2, 0.1141713932, 0.5022167563, 1.0
)


def erf(exact: _Kernel) -> _Kernel:
    """The error function; `exact` computes small arrays."""

    @many(exact)
    def kernel(x, result):
        x = np.clip(x, -3.92, 3.92)
        squares = x * x
        _polynomial(squares, _ERF_ABOVE, result)
        result *= x
        result /= _polynomial(squares, _ERF_BELOW, x)
        np.clip(result, -1, 1, out=result)

    return kernel


# A fit of log(exp(a²) erfc(a) / t) by a polynomial in t = 1 / (1 + _STEEPNESS a).
_STEEPNESS = 0.4
_LOG_ERFCX = (
    -0.213364169, 0.953390241, -1.54573441, 1.06770682, -0.490793467, 0.320463359, 0.394679397,
    1.00240409, -1.48875189,
)  # fmt: skip
_LOG_ERFCX_ARRAYS = _coefficients(*_LOG_ERFCX)


def erfc(exact: _Kernel) -> _Kernel:
    """1 - erf(x) with an error of some 1e-6; `exact` computes small arrays.

    t exp(-x² + polynomial in t) for x >= 0, and 2 - erfc(-x) for the others.
    """

    @many(exact)
    def kernel(x, result):
        magnitude = np.abs(x)
        t = magnitude * np.float32(_STEEPNESS)
        t += _ONE
        np.reciprocal(t, out=t)
        _polynomial(t, _LOG_ERFCX_ARRAYS, result)
        magnitude *= magnitude
        result -= magnitude
        exponential(result, result)
        result *= t
        magnitude[...] = _ONE
        _give_sign(magnitude, x, t)
        result *= magnitude
        result += np.subtract(_ONE, magnitude, out=magnitude)

    @accelerated("erfc", 131_072)
    def chosen(x, steepness, coefficients):
        return kernel(x)

    return lambda x: chosen(x, _STEEPNESS, _LOG_ERFCX)


# (atan(t) / t - 1) / t² for |t| <= 1 as a rational function of t², with an error of 3.2e-8 of the
# angle.
_ATAN_ABOVE = _coefficients(-2.926581322e-3, -0.1863009317, -0.3333314528)
_ATAN_BELOW = _coefficients(0.2762244822, 1.158791518, 1.0)


def _unit_atan(t, result):
    """atan(t) for |t| <= 1."""
    squares = t * t
    _polynomial(squares, _ATAN_ABOVE, result)
    result *= squares
    result /= _polynomial(squares, _ATAN_BELOW, np.empty_like(t))
    result += _ONE
    result *= t


@many(np.arctan)
def atan(x, result):
    """atan(x) = 2 atan(x / (1 + √(1 + x²)))."""
    # Larger ones have the same angle, and their squares overflow.
    x = np.clip(x, -1e9, 1e9)
    t = x * x
    t += _ONE
    np.sqrt(t, out=t)
    t += _ONE
    np.divide(x, t, out=t)
    _unit_atan(t, result)
    result *= np.float32(2)


@many(np.arcsin)
def asin(x, result):
    """asin(x) = 2 atan(x / (1 + √(1 - x²)))."""
    t = _ONE - x
    t *= np.add(x, _ONE, out=result)
    np.sqrt(t, out=t)
    t += _ONE
    np.divide(x, t, out=t)
    _unit_atan(t, result)
    result *= np.float32(2)


_ROOT_OF_2 = np.float32(np.sqrt(2))


@many(np.arccos)
def acos(x, result):
    """acos(x) = 4 atan(√(1 - x) / (√2 + √(1 + x)))."""
    t = _ONE - x
    np.sqrt(t, out=t)
    np.add(x, _ONE, out=result)
    np.sqrt(result, out=result)
    result += _ROOT_OF_2
    t /= result
    _unit_atan(t, result)
    result *= np.float32(4)


def _reflect(result, negative, about):
    """`about` - result where the sign of `negative` is negative; overwrites `negative`."""
    mask, bits = negative.view(np.int32), result.view(np.int32)
    np.right_shift(mask, 31, out=mask)
    np.bitwise_xor(bits, mask & _SIGN_BIT, out=bits)
    np.bitwise_and(mask, np.float32(about).view(np.int32), out=mask)
    result += negative


@many(np.arctan2, mended=True)
def atan2(y, x, result):
    """The angle of (|x|, |y|) in the lower half of its quadrant, reflected to that of (x, y)."""
    height, width = np.abs(y), np.abs(x)
    t = np.minimum(height, width)
    np.maximum(height, width, out=result)
    t /= result
    _unit_atan(t, result)
    width -= height
    _reflect(result, width, np.pi / 2)
    np.copyto(width, x)
    _reflect(result, width, np.pi)
    _give_sign(result, y, width)


# Bernoulli numbers from B₆ down to B₂.
_BERNOULLI = (1 / 42, -1 / 30, 1 / 6)


def trigamma(x):
    """The sum of 1 / (x + n)² over all n >= 0 for positive numbers, in float64.

    The first six terms are added, the rest is 1 / y + 1 / (2 y²) + 1 / (6 y³) - 1 / (30 y⁵) + ...
    with y = x + 6, whose truncation error is 2e-8 of it at most.
    """
    y = x.astype(np.float64)
    total = np.zeros_like(y)
    for _ in range(6):
        total += np.reciprocal(y * y)
        y += 1
    inverse = np.reciprocal(y, out=y)
    square = inverse * inverse
    series = np.zeros_like(y)
    for coefficient in _BERNOULLI:
        series += coefficient
        series *= square
    series += 1
    series *= inverse
    series += square * 0.5
    total += series
    return total.astype(np.float32)

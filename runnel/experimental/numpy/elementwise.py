"""Unary element-wise functions, declared in families by how they convert their argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from .conversion import inexact, to_array
from .promotion import behaviour, default_float


def _family(convert: Callable[[Any], Tensor]) -> Callable[..., Any]:
    """Declare functions `f(x)` with a common conversion of their argument."""

    def declare(name: str, summary: str, compute: Callable[[Tensor], Any]) -> Any:
        def function(x: Any) -> Any:
            return compute(convert(x))

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"{summary}, element by element."
        return function

    return declare


_of_floats = _family(inexact)
_of_numbers = _family(to_array)
_of_booleans = _family(lambda x: to_array(x, tf.bool))

arccos = _of_floats("arccos", "The angle whose cosine is x", tf.acos)
arccosh = _of_floats("arccosh", "The inverse hyperbolic cosine", tf.acosh)
arcsin = _of_floats("arcsin", "The angle whose sine is x", tf.asin)
arcsinh = _of_floats("arcsinh", "The inverse hyperbolic sine", tf.asinh)
arctan = _of_floats("arctan", "The angle whose tangent is x", tf.atan)
arctanh = _of_floats("arctanh", "The inverse hyperbolic tangent", tf.atanh)
ceil = _of_floats("ceil", "The least whole number not below x", tf.math.ceil)
cos = _of_floats("cos", "The cosine", tf.cos)
cosh = _of_floats("cosh", "The hyperbolic cosine", tf.cosh)
exp = _of_floats("exp", "e to the power of x", tf.exp)
exp2 = _of_floats("exp2", "2 to the power of x", lambda x: tf.pow(tf.cast(2, x.dtype), x))
expm1 = _of_floats("expm1", "exp(x) - 1, exact near 0", tf.math.expm1)
floor = _of_floats("floor", "The greatest whole number not above x", tf.floor)
isfinite = _of_floats("isfinite", "Whether x is neither infinite nor NaN", tf.math.is_finite)
isnan = _of_floats("isnan", "Whether x is NaN", tf.math.is_nan)
log = _of_floats("log", "The natural logarithm", tf.math.log)
log1p = _of_floats("log1p", "log(1 + x), exact near 0", tf.math.log1p)
sin = _of_floats("sin", "The sine", tf.sin)
sinh = _of_floats("sinh", "The hyperbolic sine", tf.sinh)
sqrt = _of_floats("sqrt", "The square root", tf.sqrt)
tan = _of_floats("tan", "The tangent", tf.tan)
tanh = _of_floats("tanh", "The hyperbolic tangent", tf.tanh)
# NumPy's scalars, not Python's floats: they determine the dtype where operators promote.
log2 = _of_floats("log2", "The logarithm to base 2", lambda x: tf.math.log(x) / np.log(2.0))
log10 = _of_floats("log10", "The logarithm to base 10", lambda x: tf.math.log(x) / np.log(10.0))
deg2rad = _of_floats("deg2rad", "Degrees as radians", lambda x: x * (np.pi / 180.0))

conj = _of_numbers("conj", "The complex conjugate", tf.math.conj)
conjugate = _of_numbers("conjugate", "The complex conjugate", tf.math.conj)
negative = _of_numbers("negative", "-x", tf.negative)
positive = _of_numbers("positive", "x itself", tf.identity)
reciprocal = _of_numbers("reciprocal", "1 / x", tf.math.reciprocal)
square = _of_numbers("square", "x * x", tf.square)
logical_not = _of_booleans("logical_not", "Whether x is false", tf.logical_not)


def _magnitude(x: Tensor) -> Tensor:
    return tf.abs(x)


abs = _of_numbers("abs", "The magnitude", _magnitude)
absolute = _of_numbers("absolute", "The magnitude", _magnitude)
fabs = _of_numbers("fabs", "The magnitude", _magnitude)


def _cube_root(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        raise tf.errors.InvalidArgumentError(
            None, None, f"cbrt takes real numbers, got {x.dtype.name}; use power(x, 1 / 3)."
        )
    return tf.sign(x) * tf.abs(x) ** (1.0 / 3)


cbrt = _of_floats("cbrt", "The cube root", _cube_root)
fix = _of_floats(
    "fix",
    "x rounded towards zero",
    lambda x: tf.where(tf.less(x, tf.zeros([], x.dtype)), tf.math.ceil(x), tf.floor(x)),
)


def _bits(x: Tensor) -> Tensor:
    return tf.logical_not(x) if x.dtype is tf.bool else tf.bitwise.invert(x)


bitwise_not = _of_numbers("bitwise_not", "x with all bits flipped", _bits)


def _imaginary(x: Tensor) -> Tensor:
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


def imag(val: Any) -> Tensor:
    """The imaginary part, element by element; 0 for real numbers."""
    return _imaginary(to_array(val))


def real(val: Any) -> Tensor:
    """The real part, element by element."""
    return tf.math.real(to_array(val))


def angle(z: Any, deg: bool = False) -> Tensor:
    """The angle of complex numbers, in radians or in degrees.

    >>> tf.experimental.numpy.angle(1j, deg=True)
    <tf.Tensor: shape=(), dtype=float64, numpy=90.0>
    """
    z = to_array(z)
    result = tf.math.angle(z if z.dtype.is_complex else tf.cast(z, tf.complex64))
    return result * tf.constant(180.0 / np.pi, result.dtype) if deg else result


def iscomplex(x: Any) -> Tensor:
    """Whether x has an imaginary part, element by element."""
    imaginary = _imaginary(to_array(x))
    return tf.not_equal(imaginary, tf.zeros([], imaginary.dtype))


def isreal(x: Any) -> Tensor:
    """Whether x has no imaginary part, element by element."""
    return tf.logical_not(iscomplex(x))


def _of_infinities(name: str, summary: str, compute: Callable[[Tensor], Tensor]) -> Any:
    def function(x: Any) -> Any:
        x = x if isinstance(x, Tensor) else inexact(x)
        return compute(x) if x.dtype.is_floating else False

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}, element by element; False where the dtype has no infinity."
    return function


def _signed_infinity(sign: float) -> Callable[[Tensor], Tensor]:
    return lambda x: tf.equal(x, tf.constant(sign * np.inf, x.dtype))


isinf = _of_infinities("isinf", "Whether x is infinite", tf.math.is_inf)
isneginf = _of_infinities("isneginf", "Whether x is -infinity", _signed_infinity(-1.0))
isposinf = _of_infinities("isposinf", "Whether x is +infinity", _signed_infinity(1.0))


def rad2deg(x: Any) -> Any:
    """Radians as degrees, element by element."""
    return (to_array(x) if behaviour.is_lattice else x) * (180.0 / np.pi)


def around(a: Any, decimals: int = 0) -> Tensor:
    """The nearest number with that many decimals; halves go to the even one.

    >>> tf.experimental.numpy.around([1.25, 1.35], 1)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.2, 1.4])>
    """
    a = to_array(a)
    working = a.dtype if a.dtype.is_floating or a.dtype.is_complex else default_float()
    factor = tf.constant(float(10**decimals), working)
    rounded = tf.round(tf.cast(a, working) * factor) / factor
    return tf.cast(rounded, a.dtype)


def round(a: Any, decimals: int = 0) -> Tensor:
    """The nearest number with that many decimals; halves go to the even one."""
    return around(a, decimals)


def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Tensor:
    """The sign -1, 0 or 1, element by element; for complex numbers, x / |x|."""
    given = {"out": out, "where": where, **kwargs}
    for name, value in given.items():
        if value:
            raise ValueError(f"tf.experimental.numpy.sign takes no `{name}`, got {value!r}.")
    return tf.sign(to_array(x))


def signbit(x: Any) -> Tensor:
    """Whether x is less than zero, element by element."""
    x = to_array(x)
    return tf.fill(tf.shape(x), False) if x.dtype is tf.bool else tf.less(x, tf.zeros([], x.dtype))


def sinc(x: Any) -> Tensor:
    """sin(pi x) / (pi x), element by element; 1 where x is 0.

    >>> tf.experimental.numpy.sinc([0.0, 0.5])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.        , 0.63661977])>
    """
    x = inexact(x)
    x = x * tf.cast(tf.constant(np.pi, tf.float64), x.dtype)
    at_zero = tf.equal(x, tf.zeros([], x.dtype))
    # The unused quotient must not turn the gradient into NaN.
    divisor = tf.where(at_zero, tf.ones([], x.dtype), x)
    return tf.where(at_zero, tf.ones([], x.dtype), tf.sin(divisor) / divisor)

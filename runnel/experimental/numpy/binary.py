"""Binary element-wise functions, in the common dtype of both arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.tensor import Tensor
from .conversion import inexact, promoted, to_array
from .elementwise import exp2, log2
from .promotion import default_float


def _binary(
    name: str,
    summary: str,
    compute: Callable[[Tensor, Tensor], Any],
    *,
    booleans: Callable[[Tensor, Tensor], Any] | None = None,
    booleans_as: Callable[[], Any] | None = None,
) -> Any:
    """Declare `f(x1, x2)`; booleans have a separate function, or are cast to another dtype."""

    def function(x1: Any, x2: Any) -> Any:
        x1, x2 = promoted(x1, x2)
        if x1.dtype is tf.bool:
            if booleans is not None:
                return booleans(x1, x2)
            if booleans_as is not None:
                x1, x2 = (tf.cast(x, booleans_as()) for x in (x1, x2))
        return compute(x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}, element by element, in the dtype that both share."
    return function


def _logical(name: str, summary: str, compute: Callable[[Tensor, Tensor], Tensor]) -> Any:
    """Declare a logical `f(x1, x2)`; numbers are true where not zero."""

    def function(x1: Any, x2: Any) -> Tensor:
        return compute(to_array(x1, tf.bool), to_array(x2, tf.bool))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}, element by element; every number but 0 is true."
    return function


def _small() -> Any:
    return tf.int8


def _ordinal() -> Any:
    return tf.int32


_or, _and, _xor = tf.logical_or, tf.logical_and, tf.math.logical_xor

add = _binary("add", "x1 + x2", tf.add, booleans=_or)
subtract = _binary("subtract", "x1 - x2", tf.subtract)
multiply = _binary("multiply", "x1 * x2", tf.multiply, booleans=_and)
divide = _binary("divide", "x1 / x2", tf.truediv, booleans_as=default_float)
true_divide = _binary("true_divide", "x1 / x2", tf.truediv, booleans_as=default_float)
floor_divide = _binary("floor_divide", "The floor of x1 / x2", tf.math.floordiv, booleans_as=_small)
mod = _binary("mod", "The remainder of floor division", tf.math.floormod, booleans_as=_small)
remainder = _binary(
    "remainder", "The remainder of floor division", tf.math.floormod, booleans_as=_small
)
power = _binary("power", "x1 to the power of x2", tf.pow)
float_power = _binary("float_power", "x1 to the power of x2", tf.pow)
maximum = _binary("maximum", "The greater one", tf.maximum, booleans=_or)
minimum = _binary("minimum", "The lesser one", tf.minimum, booleans=_and)
arctan2 = _binary("arctan2", "The angle of the point (x2, x1)", tf.atan2)
nextafter = _binary("nextafter", "The number after x1 in direction of x2", tf.math.nextafter)

equal = _binary("equal", "Whether x1 == x2", tf.equal)
not_equal = _binary("not_equal", "Whether x1 != x2", tf.not_equal)
greater = _binary("greater", "Whether x1 > x2", tf.greater, booleans_as=_ordinal)
greater_equal = _binary("greater_equal", "Whether x1 >= x2", tf.greater_equal, booleans_as=_ordinal)
less = _binary("less", "Whether x1 < x2", tf.less, booleans_as=_ordinal)
less_equal = _binary("less_equal", "Whether x1 <= x2", tf.less_equal, booleans_as=_ordinal)

bitwise_and = _binary("bitwise_and", "The bits in both", tf.bitwise.bitwise_and, booleans=_and)
bitwise_or = _binary("bitwise_or", "The bits in either", tf.bitwise.bitwise_or, booleans=_or)
bitwise_xor = _binary("bitwise_xor", "The bits in one alone", tf.bitwise.bitwise_xor, booleans=_xor)

logical_and = _logical("logical_and", "Whether both are true", _and)
logical_or = _logical("logical_or", "Whether one is true", _or)
logical_xor = _logical("logical_xor", "Whether only one is true", _xor)


def divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    """The floor of x1 / x2 and the remainder, element by element.

    >>> [part.numpy().tolist() for part in tf.experimental.numpy.divmod([7, -7], 2)]
    [[3, -4], [1, 1]]
    """
    return floor_divide(x1, x2), mod(x1, x2)


def _hypotenuse(x1: Tensor, x2: Tensor) -> Tensor:
    return tf.sqrt(tf.square(inexact(x1)) + tf.square(inexact(x2)))


def _step(x1: Tensor, x2: Tensor) -> Tensor:
    x1, x2 = inexact(x1), inexact(x2)
    zero, one = tf.zeros([], x1.dtype), tf.ones([], x1.dtype)
    return tf.where(tf.less(x1, zero), zero, tf.where(tf.greater(x1, zero), one, x2))


def _log_of_sum(
    exponential: Callable[[Any], Tensor], logarithm: Callable[[Any], Tensor]
) -> Callable[[Tensor, Tensor], Tensor]:
    def compute(x1: Tensor, x2: Tensor) -> Tensor:
        x1, x2 = inexact(x1), inexact(x2)
        difference = x1 - x2
        # Equal infinities have no difference; their sum is the infinity itself.
        above = logarithm(exponential(-tf.abs(difference)))
        sums = [tf.cast(x, above.dtype) for x in (x1 + x2, tf.maximum(x1, x2))]
        return tf.where(tf.math.is_nan(difference), sums[0], sums[1] + above)

    return compute


hypot = _binary("hypot", "The square root of x1**2 + x2**2", _hypotenuse)
heaviside = _binary("heaviside", "0 below zero, 1 above and x2 at zero", _step)
logaddexp = _binary("logaddexp", "log(exp(x1) + exp(x2))", _log_of_sum(tf.exp, tf.math.log1p))
logaddexp2 = _binary("logaddexp2", "log2(2**x1 + 2**x2)", _log_of_sum(exp2, lambda x: log2(x + 1)))


def _integers(x1: Any, x2: Any, name: str) -> list[Tensor]:
    pair = promoted(x1, x2)
    if not pair[0].dtype.is_integer:
        raise ValueError(
            f"tf.experimental.numpy.{name} takes arrays of integers, got {pair[0].dtype.name}."
        )
    return pair


def gcd(x1: Any, x2: Any) -> Tensor:
    """The greatest common divisor, element by element.

    >>> tf.experimental.numpy.gcd([12, 7], 18)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([6, 1])>
    """
    return _common_divisor(*_integers(x1, x2, "gcd"))


def _common_divisor(x1: Tensor, x2: Tensor) -> Tensor:
    x1, x2 = tf.abs(x1), tf.abs(x2)
    shape = tf.broadcast_dynamic_shape(tf.shape(x1), tf.shape(x2))
    static = tf.broadcast_static_shape(x1.shape, x2.shape)
    x1, x2 = (tf.ensure_shape(tf.broadcast_to(x, shape), static) for x in (x1, x2))
    zero = tf.zeros([], x1.dtype)

    def unfinished(x: Tensor, y: Tensor) -> Tensor:
        return tf.reduce_any(tf.not_equal(y, zero))

    def euclid(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        done = tf.equal(y, zero)
        left = tf.where(done, tf.ones([], y.dtype), y)
        return tf.where(done, x, y), tf.where(done, zero, tf.math.floormod(x, left))

    return tf.while_loop(unfinished, euclid, (x1, x2))[0]


def lcm(x1: Any, x2: Any) -> Tensor:
    """The least common multiple, element by element.

    >>> tf.experimental.numpy.lcm(4, [6, 7])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([12, 28])>
    """
    x1, x2 = _integers(x1, x2, "lcm")
    divisor = _common_divisor(x1, x2)
    none = tf.equal(divisor, tf.zeros([], divisor.dtype))
    safe = tf.where(none, tf.ones([], divisor.dtype), divisor)
    multiple = tf.abs(x1) * tf.math.floordiv(tf.abs(x2), safe)
    return tf.where(none, tf.zeros([], divisor.dtype), multiple)


def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether |a - b| <= atol + rtol * |b|, element by element; of integers, a == b.

    >>> tf.experimental.numpy.isclose([1.0, 1.1], 1.0)
    <tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>
    """
    a, b = promoted(a, b)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return tf.equal(a, b)
    limits = a.dtype.real_dtype
    allowed = tf.constant(atol, limits) + tf.constant(rtol, limits) * tf.abs(b)
    near = tf.less_equal(tf.abs(a - b), allowed)
    if equal_nan and not a.dtype.is_complex:
        return tf.logical_or(near, tf.logical_and(tf.math.is_nan(a), tf.math.is_nan(b)))
    return near


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all elements of two arrays are close."""
    return tf.reduce_all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any) -> Tensor:
    """Whether two arrays have the same shape and elements.

    >>> bool(tf.experimental.numpy.array_equal([1, 2], [1.0, 2.0]))
    True
    """
    a1, a2 = promoted(a1, a2)
    if not a1.shape.is_compatible_with(a2.shape):
        return tf.constant(False)
    same_shape = tf.math.equal(tf.rank(a1), tf.rank(a2))
    if not (a1.shape.is_fully_defined() and a2.shape.is_fully_defined()):
        return tf.cond(
            same_shape,
            lambda: tf.cond(
                tf.reduce_all(tf.equal(tf.shape(a1), tf.shape(a2))),
                lambda: tf.reduce_all(tf.equal(a1, a2)),
                lambda: tf.constant(False),
            ),
            lambda: tf.constant(False),
        )
    return tf.reduce_all(tf.equal(a1, a2))


def clip(a: Any, a_min: Any, a_max: Any) -> Tensor:
    """The numbers clipped to the range from a_min to a_max; None means unbounded.

    >>> tf.experimental.numpy.clip([1, 5, 9], 2, 8)
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([2, 5, 8])>
    """
    if a_min is None and a_max is None:
        raise ValueError("clip: at least one of a_min and a_max must be given, got None for both.")
    if a_min is None:
        return minimum(a, a_max)
    if a_max is None:
        return maximum(a, a_min)
    a, a_min, a_max = promoted(a, a_min, a_max)
    return tf.maximum(tf.minimum(a, a_max), a_min)


def polyval(p: Any, x: Any) -> Tensor:
    """The polynomial with coefficients p, the highest power first, at x.

    >>> tf.experimental.numpy.polyval([1, 0, 2], 3)
    <tf.Tensor: shape=(), dtype=int64, numpy=11>
    """
    p, x = promoted(p, x)
    if p.shape.rank == 0:
        p = tf.reshape(p, [1])
    if x.dtype is tf.bool:
        raise tf.errors.InvalidArgumentError(None, None, "polyval takes numbers, got booleans.")
    coefficients = tf.unstack(p)
    result = tf.zeros_like(x)
    for position, coefficient in enumerate(coefficients):
        result = result * x + coefficient if position else result + coefficient
    return result

"""True, floor and truncated division; remainders; division that gives 0 instead of NaN."""

from __future__ import annotations

import operator

import numpy as np

from ...core import errors
from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import (
    COMPLEX,
    FLOATING,
    INTEGER,
    NUMERIC,
    REAL,
    float32,
    float64,
    from_numpy,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ...core.op import REGISTRY, execute, op, type_text
from ...core.shape_rules import broadcast
from ...core.tensor import Tensor
from ..broadcasting import sum_to
from . import arithmetic, elementwise
from .casting import cast
from .complex import conj

_BINARY = "x: T, y: T -> z: T"

# The dtype of true division: integers of up to 16 bits are exact in float32.
_QUOTIENT_TYPE = {
    **{dtype: dtype for dtype in FLOATING | COMPLEX},
    **{dtype: float64 for dtype in INTEGER},
    **{dtype: float32 for dtype in (int8, int16, uint8, uint16)},
}


def no_kernel(name, dtype):
    """The error for a dtype that TensorFlow's op declares but has no kernel for."""
    return errors.NotFoundError(
        None,
        None,
        f"Could not find device for node {name}: there is no kernel for T={type_text(dtype)}. "
        "Cast the input to a floating dtype first: tf.cast(x, tf.float32).",
    )


RealDiv = op(
    "RealDiv",
    _BINARY,
    T=FLOATING | COMPLEX,
    shape=broadcast,
    kernel=operator.truediv,
    batchable=True,
)


def _quotient_gradient(divide):
    """The gradient of x / y: with respect to x it is 1 / y, to y it is -(x / y) / y."""

    def gradient(op, grad):
        x, y = op.inputs
        by_x = by_y = None
        if op.needs(0):
            by_x = sum_to(execute(divide, (grad, conj(y))), x)
        if op.needs(1):
            dividend, divisor = elementwise.negative(conj(x)), conj(y)
            slope = execute(divide, (execute(divide, (dividend, divisor)), divisor))
            by_y = sum_to(arithmetic.multiply(grad, slope), y)
        return by_x, by_y

    return gradient


RealDiv.gradient(_quotient_gradient(RealDiv))


def _quotient_operands(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both of one floating or complex dtype; integers become floats."""
    dtype = x.dtype
    if dtype is not y.dtype:
        raise TypeError(
            f"`x` and `y` must have the same dtype, got {dtype!r} != {y.dtype!r}. "
            "Use tf.cast to convert one of them."
        )
    result = _QUOTIENT_TYPE.get(dtype)
    if result is dtype:
        return x, y
    if result is None:
        raise TypeError(
            f"`x` has invalid dtype {dtype!r} for a division: it must be floating, complex or "
            "integer."
        )
    return cast(x, result), cast(y, result)


def truediv(x, y, name=None):
    """x / y with a floating result: 32 and 64-bit integers become float64, smaller ones float32.

    >>> tf.truediv(7, 2)
    <tf.Tensor: shape=(), dtype=float64, numpy=3.5>
    """
    if not isinstance(x, Tensor):
        x = convert_to_tensor(x)
    return execute(RealDiv, _quotient_operands(*operands(x, y)))


def divide(x, y, name=None):
    """x / y as Python's operator computes it on tensors.

    >>> tf.divide([1.0, 3.0], 2.0).numpy().tolist()
    [0.5, 1.5]
    """
    return execute(RealDiv, _quotient_operands(*operands(x, y)))


def realdiv(x, y, name=None):
    """x / y of floating or complex numbers.

    >>> tf.realdiv(3.0, 2.0).numpy().item()
    1.5
    """
    x, y = operands(x, y)
    if x.dtype in INTEGER:
        raise no_kernel("RealDiv", x.dtype)
    return execute(RealDiv, (x, y))


@op("DivNoNan", _BINARY, T=FLOATING | COMPLEX, shape=broadcast)
def DivNoNan(x, y):
    if not x.ndim and not y.ndim:
        return x / y if y != 0 else x.dtype.type(0)
    return arithmetic.zero_where(y == 0, x / y)


DivNoNan.gradient(_quotient_gradient(DivNoNan))


def divide_no_nan(x, y, name=None):
    """x / y, but 0 where y is 0.

    >>> tf.math.divide_no_nan([3.0, 1.0], [2.0, 0.0]).numpy().tolist()
    [1.5, 0.0]
    """
    return execute(DivNoNan, _quotient_operands(*operands(x, y)))


@op("Xdivy", _BINARY, T=FLOATING | COMPLEX, shape=broadcast)
def Xdivy(x, y):
    return arithmetic.zero_where(x == 0, x / y)


@Xdivy.gradient
def _(op, grad):
    x, y = op.inputs
    by_x = by_y = None
    if op.needs(0):
        slope = execute(Xdivy, (is_not_zero(x), y))
        by_x = sum_to(arithmetic.multiply(grad, slope), x)
    if op.needs(1):
        slope = execute(Xdivy, (elementwise.negative(x), elementwise.square(y)))
        by_y = sum_to(arithmetic.multiply(grad, slope), y)
    return by_x, by_y


def is_not_zero(x: Tensor) -> Tensor:
    """1 where x is not zero and 0 where it is, in the dtype of x."""
    return cast(REGISTRY["NotEqual"](x, elementwise.number_like(0, x)), x.dtype)


def xdivy(x, y, name=None):
    """x / y, but 0 where x is 0.

    >>> tf.math.xdivy([0.0, 3.0], [0.0, 2.0]).numpy().tolist()
    [0.0, 1.5]
    """
    return execute(Xdivy, operands(x, y))


def _check_divisor(x, y, failure=errors.InvalidArgumentError):
    # An empty x is no division by zero.
    if x.size and not y.all():
        raise failure(None, None, "Integer division by zero: `y` holds a 0.")


def _no_gradient(op, grad):
    return None, None


@op("FloorDiv", _BINARY, T=NUMERIC, shape=broadcast, gradient=_no_gradient)
def FloorDiv(x, y):
    kind = x.dtype.kind
    if kind in "iu":
        _check_divisor(x, y)
        return x // y
    if kind == "c":
        raise no_kernel("FloorDiv", from_numpy(x.dtype))
    # NumPy's floor division is defined by the remainder: 1.0 // 0.1 would be 9 and not 10.
    return np.floor(x / y)


def floordiv(x, y, name=None):
    """floor(x / y); an integer for integers.

    >>> tf.math.floordiv([7, -7], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 3, -4], dtype=int32)>
    """
    return execute(FloorDiv, operands(x, y))


@op("TruncateDiv", _BINARY, T=NUMERIC, shape=broadcast, gradient=_no_gradient)
def TruncateDiv(x, y):
    kind = x.dtype.kind
    if kind in "iu":
        _check_divisor(x, y, errors.InternalError)
        quotient = x // y
        return quotient + ((quotient < 0) & (quotient * y != x)).astype(quotient.dtype)
    if kind == "c":
        raise no_kernel("TruncateDiv", from_numpy(x.dtype))
    return np.trunc(x / y)


def truncatediv(x, y, name=None):
    """trunc(x / y); an integer for integers.

    >>> tf.truncatediv([7, -7], 2)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 3, -3], dtype=int32)>
    """
    return execute(TruncateDiv, operands(x, y))


def _remainder_gradient(quotient):
    """The gradient of x - y * quotient(x, y), whose quotient is piecewise constant."""

    def gradient(op, grad):
        x, y = op.inputs
        by_x = by_y = None
        if op.needs(0):
            by_x = sum_to(grad, x)
        if op.needs(1):
            slope = elementwise.negative(execute(quotient, (x, y)))
            by_y = sum_to(arithmetic.multiply(grad, slope), y)
        return by_x, by_y

    return gradient


@op("FloorMod", _BINARY, T=REAL, shape=broadcast, gradient=_remainder_gradient(FloorDiv))
def FloorMod(x, y):
    if x.dtype.kind in "iu":
        _check_divisor(x, y)
    return x % y


def floormod(x, y, name=None):
    """The remainder of floor division; it has the sign of y.

    >>> tf.math.floormod([7, -7], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    return execute(FloorMod, operands(x, y))


mod = floormod


@op(
    "TruncateMod",
    _BINARY,
    T=FLOATING | {int32, int64},
    shape=broadcast,
    gradient=_remainder_gradient(TruncateDiv),
)
def TruncateMod(x, y):
    if x.dtype.kind in "iu":
        _check_divisor(x, y, errors.InternalError)
    return np.fmod(x, y)


def truncatemod(x, y, name=None):
    """The remainder of truncated division; it has the sign of x.

    >>> tf.truncatemod([7, -7], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    return execute(TruncateMod, operands(x, y))

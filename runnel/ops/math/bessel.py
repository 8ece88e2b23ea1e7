"""Bessel functions of order 0 and 1: J and Y, and modified I and K with their scaled forms."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.op import REGISTRY, execute
from ...core.tensor import Tensor
from .arithmetic import add, multiply, subtract
from .division import divide
from .elementwise import negative, number_like, reciprocal, sign
from .special import scipy_kernel, unary

BesselI0 = unary("BesselI0", scipy_kernel("i0"))
BesselI0.gradient(lambda op, grad: multiply(grad, bessel_i1(op.inputs[0])))


def bessel_i0(x, name=None):
    """The modified Bessel function of the first kind of order 0.

    >>> print(tf.math.special.bessel_i0([0.0, 1.0]).numpy().round(4))
    [1.     1.2661]
    """
    return execute(BesselI0, (convert_to_tensor(x),))


BesselI0e = unary("BesselI0e", scipy_kernel("i0e"))


@BesselI0e.gradient
def _(op, grad):
    x = op.inputs[0]
    return multiply(grad, subtract(bessel_i1e(x), multiply(sign(x), op.outputs[0])))


def bessel_i0e(x, name=None):
    """exp(-|x|) bessel_i0(x).

    >>> print(tf.math.special.bessel_i0e([0.0, 1.0]).numpy().round(4))
    [1.     0.4658]
    """
    return execute(BesselI0e, (convert_to_tensor(x),))


def _where_zero(x: Tensor, value, otherwise: Tensor) -> Tensor:
    """`value` where x is 0, where the formula of the gradient is 0 / 0."""
    is_zero = REGISTRY["Equal"](x, number_like(0, x))
    return REGISTRY["SelectV2"](is_zero, number_like(value, x), otherwise)


BesselI1 = unary("BesselI1", scipy_kernel("i1"))


@BesselI1.gradient
def _(op, grad):
    x = op.inputs[0]
    slope = subtract(bessel_i0(x), divide(op.outputs[0], x))
    # TensorFlow's value at 0; the limit is 1/2.
    return multiply(grad, _where_zero(x, 1, slope))


def bessel_i1(x, name=None):
    """The modified Bessel function of the first kind of order 1.

    >>> print(tf.math.special.bessel_i1([0.0, 1.0]).numpy().round(4))
    [0.     0.5652]
    """
    return execute(BesselI1, (convert_to_tensor(x),))


BesselI1e = unary("BesselI1e", scipy_kernel("i1e"))


@BesselI1e.gradient
def _(op, grad):
    x = op.inputs[0]
    steepness = add(sign(x), reciprocal(x))
    slope = subtract(bessel_i0e(x), multiply(op.outputs[0], steepness))
    return multiply(grad, _where_zero(x, 0.5, slope))


def bessel_i1e(x, name=None):
    """exp(-|x|) bessel_i1(x).

    >>> print(tf.math.special.bessel_i1e([0.0, 1.0]).numpy().round(4))
    [0.     0.2079]
    """
    return execute(BesselI1e, (convert_to_tensor(x),))


BesselJ0 = unary("BesselJ0", scipy_kernel("j0"))
BesselJ0.gradient(lambda op, grad: negative(multiply(grad, bessel_j1(op.inputs[0]))))


def bessel_j0(x, name=None):
    """The Bessel function of the first kind of order 0.

    >>> print(tf.math.special.bessel_j0([0.0, 1.0]).numpy().round(4))
    [1.     0.7652]
    """
    return execute(BesselJ0, (convert_to_tensor(x),))


BesselJ1 = unary("BesselJ1", scipy_kernel("j1"))


@BesselJ1.gradient
def _(op, grad):
    x = op.inputs[0]
    slope = subtract(bessel_j0(x), divide(op.outputs[0], x))
    return multiply(grad, _where_zero(x, 0.5, slope))


def bessel_j1(x, name=None):
    """The Bessel function of the first kind of order 1.

    >>> print(tf.math.special.bessel_j1([0.0, 1.0]).numpy().round(4))
    [0.     0.4401]
    """
    return execute(BesselJ1, (convert_to_tensor(x),))


def _infinite_below_zero(sign_of_infinity):
    """Below 0, return the infinity of the pole at 0."""

    def adjust(result, x):
        if not (x < 0).any():
            return result
        return np.where(x < 0, result.dtype.type(sign_of_infinity * np.inf), result)

    return adjust


BesselK0 = unary("BesselK0", scipy_kernel("k0", _infinite_below_zero(1)))
BesselK0.gradient(lambda op, grad: negative(multiply(grad, bessel_k1(op.inputs[0]))))


def bessel_k0(x, name=None):
    """The modified Bessel function of the second kind of order 0.

    >>> print(tf.math.special.bessel_k0([1.0]).numpy().round(4))
    [0.421]
    """
    return execute(BesselK0, (convert_to_tensor(x),))


BesselK0e = unary("BesselK0e", scipy_kernel("k0e", _infinite_below_zero(1)))
BesselK0e.gradient(
    lambda op, grad: multiply(grad, subtract(op.outputs[0], bessel_k1e(op.inputs[0])))
)


def bessel_k0e(x, name=None):
    """exp(x) bessel_k0(x).

    >>> print(tf.math.special.bessel_k0e([1.0]).numpy().round(4))
    [1.1445]
    """
    return execute(BesselK0e, (convert_to_tensor(x),))


BesselK1 = unary("BesselK1", scipy_kernel("k1", _infinite_below_zero(1)))


@BesselK1.gradient
def _(op, grad):
    x = op.inputs[0]
    return multiply(grad, negative(add(bessel_k0(x), divide(op.outputs[0], x))))


def bessel_k1(x, name=None):
    """The modified Bessel function of the second kind of order 1.

    >>> print(tf.math.special.bessel_k1([1.0]).numpy().round(4))
    [0.6019]
    """
    return execute(BesselK1, (convert_to_tensor(x),))


BesselK1e = unary("BesselK1e", scipy_kernel("k1e", _infinite_below_zero(1)))


@BesselK1e.gradient
def _(op, grad):
    x = op.inputs[0]
    damping = subtract(number_like(1, x), reciprocal(x))
    return multiply(grad, subtract(multiply(op.outputs[0], damping), bessel_k0e(x)))


def bessel_k1e(x, name=None):
    """exp(x) bessel_k1(x).

    >>> print(tf.math.special.bessel_k1e([1.0]).numpy().round(4))
    [1.6362]
    """
    return execute(BesselK1e, (convert_to_tensor(x),))


BesselY0 = unary("BesselY0", scipy_kernel("y0", _infinite_below_zero(-1)))
BesselY0.gradient(lambda op, grad: negative(multiply(grad, bessel_y1(op.inputs[0]))))


def bessel_y0(x, name=None):
    """The Bessel function of the second kind of order 0.

    >>> print(tf.math.special.bessel_y0([1.0]).numpy().round(4))
    [0.0883]
    """
    return execute(BesselY0, (convert_to_tensor(x),))


BesselY1 = unary("BesselY1", scipy_kernel("y1", _infinite_below_zero(-1)))


@BesselY1.gradient
def _(op, grad):
    x = op.inputs[0]
    return multiply(grad, subtract(bessel_y0(x), divide(op.outputs[0], x)))


def bessel_y1(x, name=None):
    """The Bessel function of the second kind of order 1.

    >>> print(tf.math.special.bessel_y1([1.0]).numpy().round(4))
    [-0.7812]
    """
    return execute(BesselY1, (convert_to_tensor(x),))

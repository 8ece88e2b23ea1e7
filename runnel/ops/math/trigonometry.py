"""Trigonometric and hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import COMPLEX, FLOATING
from ...core.op import execute, op
from ...core.shape_rules import broadcast, unchanged
from ...core.tensor import Tensor
from ...runtime.engine_selection import accelerated
from ..broadcasting import sum_to
from . import many_numbers
from .arithmetic import add, multiply, subtract
from .complex import conj
from .division import divide
from .elementwise import negative, number_like, sqrt, square


def _unary(name, kernel, fresh=False):
    return op(
        name, "x: T -> y: T", T=FLOATING | COMPLEX, shape=unchanged, kernel=kernel, fresh=fresh
    )


def _one_minus(x: Tensor) -> Tensor:
    return subtract(number_like(1, x), x)


def _one_plus(x: Tensor) -> Tensor:
    return add(number_like(1, x), x)


Sin = _unary("Sin", np.sin)
Sin.gradient(lambda op, grad: multiply(grad, cos(conj(op.inputs[0]))))


def sin(x, name=None):
    """The sine of each element, in radians.

    >>> tf.sin([0.0, np.pi / 2]).numpy().tolist()
    [0.0, 1.0]
    """
    return execute(Sin, (convert_to_tensor(x),))


Cos = _unary("Cos", np.cos)
Cos.gradient(lambda op, grad: negative(multiply(grad, sin(conj(op.inputs[0])))))


def cos(x, name=None):
    """The cosine of each element, in radians.

    >>> tf.cos([0.0, np.pi]).numpy().tolist()
    [1.0, -1.0]
    """
    return execute(Cos, (convert_to_tensor(x),))


Tan = _unary("Tan", np.tan)
Tan.gradient(lambda op, grad: divide(grad, square(cos(conj(op.inputs[0])))))


def tan(x, name=None):
    """The tangent of each element, in radians.

    >>> tf.tan([0.0]).numpy().tolist()
    [0.0]
    """
    return execute(Tan, (convert_to_tensor(x),))


Asin = _unary("Asin", many_numbers.asin, fresh=True)
Asin.gradient(lambda op, grad: divide(grad, sqrt(_one_minus(square(conj(op.inputs[0]))))))


def asin(x, name=None):
    """The inverse sine in [-π/2, π/2]; NaN outside [-1, 1].

    >>> print(tf.asin([0.0, 1.0]).numpy().round(4))
    [0.     1.5708]
    """
    return execute(Asin, (convert_to_tensor(x),))


Acos = _unary("Acos", many_numbers.acos, fresh=True)


@Acos.gradient
def _(op, grad):
    return negative(divide(grad, sqrt(_one_minus(square(conj(op.inputs[0]))))))


def acos(x, name=None):
    """The inverse cosine in [0, π]; NaN outside [-1, 1].

    >>> print(tf.acos([1.0, -1.0]).numpy().round(4))
    [0.     3.1416]
    """
    return execute(Acos, (convert_to_tensor(x),))


Atan = _unary("Atan", many_numbers.atan, fresh=True)
Atan.gradient(lambda op, grad: divide(grad, _one_plus(square(conj(op.inputs[0])))))


def atan(x, name=None):
    """The inverse tangent in (-π/2, π/2).

    >>> print(tf.atan([0.0, 1.0]).numpy().round(4))
    [0.     0.7854]
    """
    return execute(Atan, (convert_to_tensor(x),))


Atan2 = op(
    "Atan2",
    "y: T, x: T -> z: T",
    T=FLOATING,
    shape=broadcast,
    kernel=many_numbers.atan2,
    fresh=True,
)


@Atan2.gradient
def _(op, grad):
    y, x = op.inputs
    scaled = divide(grad, add(square(x), square(y)))
    return (
        sum_to(multiply(x, scaled), y) if op.needs(0) else None,
        sum_to(multiply(negative(y), scaled), x) if op.needs(1) else None,
    )


def atan2(y, x, name=None):
    """The angle in [-π, π] from the x-axis to the point (x, y).

    >>> print(tf.atan2([1.0, -1.0], [-1.0, -1.0]).numpy().round(4))
    [ 2.3562 -2.3562]
    """
    return execute(Atan2, operands(y, x))


Sinh = _unary("Sinh", np.sinh)
Sinh.gradient(lambda op, grad: multiply(grad, cosh(conj(op.inputs[0]))))


def sinh(x, name=None):
    """The hyperbolic sine of each element.

    >>> tf.sinh([0.0]).numpy().tolist()
    [0.0]
    """
    return execute(Sinh, (convert_to_tensor(x),))


Cosh = _unary("Cosh", np.cosh)
Cosh.gradient(lambda op, grad: multiply(grad, sinh(conj(op.inputs[0]))))


def cosh(x, name=None):
    """The hyperbolic cosine of each element.

    >>> tf.cosh([0.0]).numpy().tolist()
    [1.0]
    """
    return execute(Cosh, (convert_to_tensor(x),))


# The derivative is an op of its own for speed: tanh is ubiquitous.
@op("TanhGrad", "y: T, dy: T -> z: T", T=FLOATING | COMPLEX, shape=broadcast, fresh=True)
@accelerated("tanh_backprop", 262_144)
def TanhGrad(y, dy):
    slope = y * y
    if slope.ndim:
        np.subtract(1, slope, out=slope)
    else:
        slope = 1 - slope
    return slope * dy


@TanhGrad.gradient
def _(op, grad):
    y, dy = op.inputs
    value = conj(y)
    slope = multiply(number_like(-2, y), multiply(conj(dy), value))
    return multiply(grad, slope), execute(TanhGrad, (value, grad))


Tanh = _unary("Tanh", np.tanh, fresh=True)
Tanh.gradient(lambda op, grad: execute(TanhGrad, (conj(op.outputs[0]), grad)))


def tanh(x, name=None):
    """The hyperbolic tangent of each element.

    >>> print(tf.tanh([0.0, 1.0]).numpy().round(4))
    [0.     0.7616]
    """
    return execute(Tanh, (convert_to_tensor(x),))


Asinh = _unary("Asinh", np.arcsinh)
Asinh.gradient(lambda op, grad: divide(grad, cosh(conj(op.outputs[0]))))


def asinh(x, name=None):
    """The inverse of the hyperbolic sine.

    >>> tf.asinh([0.0]).numpy().tolist()
    [0.0]
    """
    return execute(Asinh, (convert_to_tensor(x),))


Acosh = _unary("Acosh", np.arccosh)
Acosh.gradient(lambda op, grad: divide(grad, sinh(conj(op.outputs[0]))))


def acosh(x, name=None):
    """The inverse of the hyperbolic cosine; NaN below 1.

    >>> tf.acosh([1.0]).numpy().tolist()
    [0.0]
    """
    return execute(Acosh, (convert_to_tensor(x),))


Atanh = _unary("Atanh", np.arctanh)
Atanh.gradient(lambda op, grad: divide(grad, _one_minus(square(conj(op.inputs[0])))))


def atanh(x, name=None):
    """The inverse of the hyperbolic tangent; NaN outside [-1, 1].

    >>> print(tf.atanh([0.0, 0.5]).numpy().round(4))
    [0.     0.5493]
    """
    return execute(Atanh, (convert_to_tensor(x),))

"""Addition, multiplication and the other arithmetic of two tensors."""

from __future__ import annotations

import operator

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import NUMERIC, string
from ...core.op import execute, op
from ...core.shape_rules import broadcast
from ..broadcasting import sum_to

AddV2 = op(
    "AddV2", "x: T, y: T -> z: T", T=NUMERIC | {string}, shape=broadcast, kernel=operator.add
)


@AddV2.gradient
def _(op, grad):
    x, y = op.inputs
    return sum_to(grad, x), sum_to(grad, y)


def add(x, y, name=None):
    """x + y, element by element.

    >>> tf.add([1, 2], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 5], dtype=int32)>
    """
    return execute(AddV2, operands(x, y, lenient=True))


Mul = op("Mul", "x: T, y: T -> z: T", T=NUMERIC, shape=broadcast, kernel=operator.mul)


@Mul.gradient
def _(op, grad):
    x, y = op.inputs
    return (
        sum_to(multiply(grad, y), x) if op.needs(0) else None,
        sum_to(multiply(grad, x), y) if op.needs(1) else None,
    )


def multiply(x, y, name=None):
    """x * y, element by element.

    >>> tf.multiply([1, 2], 3)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([3, 6], dtype=int32)>
    """
    return execute(Mul, operands(x, y))


@op("AddN", "inputs: N*T -> sum: T", T=NUMERIC, shape=broadcast)
def AddN(inputs):
    total = inputs[0]
    for each in inputs[1:]:
        total = total + each
    return total


@AddN.gradient
def _(op, grad):
    return [grad] * len(op.inputs)


def add_n(inputs, name=None):
    """The sum of tensors of one shape."""
    return AddN([convert_to_tensor(each) for each in inputs])

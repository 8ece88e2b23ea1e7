"""A product with its bias and activation as one operation, for layers that run eagerly.

It does what the three operations do one after the other, in one third of their number of steps in
Python; a small layer spends most of its time there. Graphs are made of the three: a pass joins them
where that is faster (core/passes/fuse.py).
"""

from __future__ import annotations

import numpy as np

from ...core.dtypes import float32
from ...core.op import Op, execute
from ...core.shapes import TensorShape
from ..linalg.matmul import MatMul, product_of
from ..math.trigonometry import TanhGrad
from .activation import ReluGrad
from .bias import BiasAdd, BiasAddGrad

# As an array: NumPy takes half as long for it as for a Python number.
_ZERO = np.zeros((), np.float32)
_FIRST = {"transpose_a": True}
_SECOND = {"transpose_b": True}


class _Known:
    """What a shape rule asks of a tensor of which only the shape is known."""

    def __init__(self, shape: TensorShape) -> None:
        self.shape = shape


def _affine_shape(inputs, attrs):
    a, b, bias = inputs
    product = MatMul.shape_rule([a, b], MatMul.defaults)
    return BiasAdd.shape_rule([_Known(product), bias], BiasAdd.defaults)


def _affine(a, b, bias):
    product = product_of(a, b)
    if bias.shape != product.shape[1:]:
        raise ValueError("The bias must be a vector with one element per column.")
    product += bias
    return product


def _affine_relu(a, b, bias):
    product = _affine(a, b, bias)
    return np.maximum(product, _ZERO, out=product)


def _affine_tanh(a, b, bias):
    product = _affine(a, b, bias)
    return np.tanh(product, out=product)


def _declared(kernel, through_activation):
    """The op of a kernel; `through_activation(output, gradient)` goes back to the sum."""
    declared = Op(
        "_FusedMatMul", "a: T, b: T, bias: T -> y: T", kernel, _affine_shape, False, True,
        {"T": {float32}},
    )  # fmt: skip

    @declared.gradient
    def _(op, grad):
        a, b, _ = op.inputs
        if through_activation is not None:
            grad = through_activation(op.outputs[0], grad)
        return (
            execute(MatMul, (grad, b), _SECOND) if op.needs(0) else None,
            execute(MatMul, (a, grad), _FIRST) if op.needs(1) else None,
            execute(BiasAddGrad, (grad,)) if op.needs(2) else None,
        )

    return declared


# By the activation.
AFFINE = {
    "linear": _declared(_affine, None),
    "relu": _declared(_affine_relu, lambda output, grad: execute(ReluGrad, (grad, output))),
    "tanh": _declared(_affine_tanh, lambda output, grad: execute(TanhGrad, (output, grad))),
}

"""A matmul or convolution with its bias and activation as one operation, for eager layers.

It computes the same as the three operations, with a third of their Python overhead, which dominates
small layers; and the intermediate results, the largest arrays of a model, are never materialized.
Graphs consist of the three: epilogue fusion joins them where it is profitable
(compiler/passes/epilogue_fusion.py).
"""

from __future__ import annotations

from ...core.dtypes import float32
from ...core.op import Op, execute
from ...core.shapes import TensorShape
from ...runtime.epilogue import ACTIVATIONS, Epilogue
from ..linalg.matmul import MATMUL_THRESHOLD, MatMul, product_of
from ..math.trigonometry import TanhGrad
from .activation import Relu6Grad, ReluGrad
from .bias import BiasAdd, BiasAddGrad
from .convolution import Conv2D

# Per activation: from its output and the upstream gradient to the gradient of its input.
_BACK = {
    "Relu": lambda output, grad: execute(ReluGrad, (grad, output)),
    "Relu6": lambda output, grad: execute(Relu6Grad, (grad, output)),
    "Tanh": lambda output, grad: execute(TanhGrad, (output, grad)),
}


class _Known:
    """The part of a tensor that a shape rule reads, where only the shape is known."""

    def __init__(self, shape: TensorShape) -> None:
        self.shape = shape


def _declared(product, kernel, activation):
    """The op that computes a matmul or convolution with bias and activation."""

    def shape_of_all(inputs, attrs):
        *factors, bias = inputs
        shape = product.shape_rule(factors, {**product.defaults, **attrs})
        return BiasAdd.shape_rule([_Known(shape), bias], BiasAdd.defaults)

    declared = Op(
        f"_Fused{product.name}", "a: T, b: T, bias: T -> y: T", kernel, shape_of_all, False, True,
        {"T": {float32}},
    )  # fmt: skip

    @declared.gradient
    def _(op, grad):
        if activation is not None:
            grad = _BACK[activation](op.outputs[0], grad)
        to_bias = execute(BiasAddGrad, (grad,)) if op.needs(2) else None
        return *op.of_product(product, 0, 1, grad), to_bias

    return declared


def _affine_kernel(activation):
    activate = None if activation is None else ACTIVATIONS[activation]

    def kernel(a, b, bias):
        product = product_of(a, b) if a.size >= MATMUL_THRESHOLD else a.dot(b)
        if bias.shape != product.shape[1:]:
            raise ValueError("The bias must be a vector with one element per column.")
        product += bias
        return product if activate is None else activate(product, product)

    return kernel


def _convolved_kernel(activation):
    def kernel(images, filters, bias, **attrs):
        return Conv2D.kernel(images, filters, Epilogue(None, bias, activation), **attrs)

    return kernel


_ACTIVATIONS = {"linear": None, "relu": "Relu", "relu6": "Relu6", "tanh": "Tanh"}
# Keyed by the activation of a layer.
AFFINE = {
    name: _declared(MatMul, _affine_kernel(each), each) for name, each in _ACTIVATIONS.items()
}
CONVOLVED = {
    name: _declared(Conv2D, _convolved_kernel(each), each) for name, each in _ACTIVATIONS.items()
}

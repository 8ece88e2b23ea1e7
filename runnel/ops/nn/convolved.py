"""A convolution with its bias and activation as one operation, for layers that run eagerly.

The bias is added while the sums are still in registers, and the activation is done in place: the
arrays between the three operations, the largest of a model, are never made. `dense.py` has the same
for products.
"""

from __future__ import annotations

from ...core.dtypes import float32
from ...core.finish import Finish
from ...core.op import Op, execute
from ..array.shaping import shape
from ..math.trigonometry import TanhGrad
from .activation import Relu6Grad, ReluGrad
from .bias import BiasAddGrad
from .convolution import Conv2D, Conv2DBackpropFilter, Conv2DBackpropInput


def _same_shape(inputs, attrs):
    return Conv2D.shape_rule(inputs[:2], {**Conv2D.defaults, **attrs})


def _declared(activation, through_activation):
    """The op; `through_activation(output, gradient)` goes back to the sum."""

    def kernel(input, filter, bias, **attrs):
        if bias.shape != filter.shape[-1:]:
            raise ValueError("The bias must be a vector with one element per filter.")
        return Conv2D.kernel(input, filter, Finish(None, bias, activation), **attrs)

    declared = Op(
        "_FusedConv2D", "input: T, filter: T, bias: T -> output: T", kernel, _same_shape, False,
        True, {"T": {float32}},
    )  # fmt: skip

    @declared.gradient
    def _(op, grad):
        input, filter, _ = op.inputs
        attrs = op.given
        if through_activation is not None:
            grad = through_activation(op.outputs[0], grad)
        return (
            Conv2DBackpropInput(shape(input), filter, grad, **attrs) if op.needs(0) else None,
            Conv2DBackpropFilter(input, shape(filter), grad, **attrs) if op.needs(1) else None,
            execute(BiasAddGrad, (grad,)) if op.needs(2) else None,
        )

    return declared


# By the activation.
CONVOLVED = {
    "linear": _declared(None, None),
    "relu": _declared("Relu", lambda output, grad: execute(ReluGrad, (grad, output))),
    "relu6": _declared("Relu6", lambda output, grad: execute(Relu6Grad, (grad, output))),
    "tanh": _declared("Tanh", lambda output, grad: execute(TanhGrad, (output, grad))),
}

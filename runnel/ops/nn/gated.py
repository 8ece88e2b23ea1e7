"""Gated recurrent units with the reset gate after the matmul, all time steps as one operation."""

from __future__ import annotations

from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..linalg.matmul import matmul
from . import gated_kernels
from .composed_gradients import composed_gradient, derivatives_of_composed, given, present
from .gated_gates import composed_gru_gates
from .recurrent import composed_steps, projected, require_rows
from .recurrent_gates import AT_ONCE

_INPUTS = "x: T, h: T, kernel: T, recurrent_kernel: T, bias: T"


def _layer_shape(inputs, attrs):
    x, h = inputs[0].shape.with_rank(3), inputs[1].shape.with_rank(2)
    require_rows(x, h, inputs[2].shape.with_rank(2), inputs[3].shape.with_rank(2))
    state = TensorShape([x[1], h[1]])
    return [TensorShape([x[0], x[1], h[1]]), state, TensorShape([None, None])]


@op(
    "GRULayer",
    f"{_INPUTS} -> outputs: T, last_h: T, kept: T",
    T=AT_ONCE,
    shape=_layer_shape,
    heavy=True,
)
def GRULayer(x, h, kernel, recurrent_kernel, bias, *, keep=True):
    outputs, kept = gated_kernels.gru(recurrent_kernel, kernel, bias, x, h, keep)
    return outputs, outputs[-1], kept


GRULayer.partial = True


@GRULayer.gradient
def _(op, to_outputs, to_h, to_kept):
    outputs, _, kept = op.outputs
    weights = present(outputs, to_outputs, to_h)
    with_x = op.needs(0)
    to_x, *rest = GRULayerGrad(*op.inputs, outputs, kept, *weights, with_x=with_x)
    return [to_x if with_x else None, *rest]


@op(
    "GRULayerGrad",
    f"{_INPUTS}, outputs: T, kept: T, to_outputs: T, to_h: T"
    " -> to_x: T, to_h0: T, to_kernel: T, to_recurrent_kernel: T, to_bias: T",
    T=AT_ONCE,
    shape=lambda inputs, attrs: [each.shape for each in inputs[:5]],
    heavy=True,
)
def GRULayerGrad(x, h, kernel, recurrent_kernel, bias, *results, with_x=True):
    return gated_kernels.gru_backprop(recurrent_kernel, kernel, bias, x, h, *results, with_x)


GRULayerGrad.partial = True


@GRULayerGrad.gradient
def _(op, *weights):
    sources = (*op.inputs[:5], *op.inputs[7:])
    found = derivatives_of_composed(composed_gru_gradient, sources, weights)
    return [*found[:5], None, None, *found[5:]]


def gru_layer(x, h, kernel, recurrent_kernel, bias):
    """All outputs and the last one, for x of (time, batch, inputs).

    z, r = sigmoid(split of the first two thirds of x @ kernel + h @ recurrent_kernel + biases)
    g = tanh(x_g + r * h_g);  h = z * h + (1 - z) * g
    """
    tensors = [convert_to_tensor(each) for each in (x, h, kernel, recurrent_kernel, bias)]
    keep = bool(state.tapes) or state.graph is not None
    return execute(GRULayer, tensors, {"keep": keep})[:2]


def composed_gru(x, h, kernel, recurrent_kernel, bias):
    """`gru_layer`, composed of the operations of its time steps."""

    def step(states, inputs):
        (output,) = states
        return (composed_gru_gates(inputs, matmul(output, recurrent_kernel) + bias[1], output),)

    return composed_steps(step, projected(x, kernel, bias[0]), (h,))


def composed_gru_gradient(x, h, kernel, recurrent_kernel, bias, to_outputs, to_h):
    """The gradients of `composed_gru` with respect to all inputs."""
    sources = (x, h, kernel, recurrent_kernel, bias)
    return composed_gradient(composed_gru, sources, given(to_outputs, to_h))

"""Simple recurrent layers, all time steps as one operation."""

from __future__ import annotations

from functools import partial

from ...core.convert import convert_to_tensor
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..linalg.matmul import matmul
from ..math.trigonometry import tanh
from .activation import relu
from .composed_gradients import composed_gradient, derivatives_of_composed, given, present
from .recurrent import composed_steps, projected, require_rows
from .recurrent_gates import AT_ONCE
from .simple_recurrent_kernels import simple_rnn, simple_rnn_backprop

_INPUTS = "x: T, h: T, kernel: T, recurrent_kernel: T, bias: T"

# The activations with kernels.
ACTIVATIONS = {"relu": relu, "tanh": tanh}


def _layer_shape(inputs, attrs):
    x, h = inputs[0].shape.with_rank(3), inputs[1].shape.with_rank(2)
    kernel, recurrent = inputs[2].shape.with_rank(2), inputs[3].shape.with_rank(2)
    require_rows(x, h, kernel, recurrent)
    for weights in (kernel, recurrent, inputs[4].shape.with_rank(1)):
        if not weights[-1:].is_compatible_with(h[1:]):
            raise ValueError(f"The weights {weights} must have a column for each unit of {h}.")
    last = TensorShape([x[1], h[1]])
    return [TensorShape([x[0], x[1], h[1]]), last]


@op(
    "SimpleRNNLayer",
    f"{_INPUTS} -> outputs: T, last_h: T",
    T=AT_ONCE,
    shape=_layer_shape,
)
def SimpleRNNLayer(x, h, kernel, recurrent_kernel, bias, *, activation="tanh"):
    outputs = simple_rnn(x, h, kernel, recurrent_kernel, bias, activation)
    return outputs, outputs[-1]


SimpleRNNLayer.partial = True


@SimpleRNNLayer.gradient
def _(op, to_outputs, to_h):
    outputs, _ = op.outputs
    attrs = {"activation": op.attrs["activation"], "with_x": op.needs(0)}
    weights = present(outputs, to_outputs, to_h)
    to_x, *rest = SimpleRNNLayerGrad(*op.inputs, outputs, *weights, **attrs)
    return [to_x if attrs["with_x"] else None, *rest]


@op(
    "SimpleRNNLayerGrad",
    f"{_INPUTS}, outputs: T, to_outputs: T, to_h: T"
    " -> to_x: T, to_h0: T, to_kernel: T, to_recurrent_kernel: T, to_bias: T",
    T=AT_ONCE,
    shape=lambda inputs, attrs: [each.shape for each in inputs[:5]],
)
def SimpleRNNLayerGrad(
    x, h, kernel, recurrent_kernel, bias, *results, activation="tanh", with_x=True
):
    return simple_rnn_backprop(x, h, kernel, recurrent_kernel, *results, activation, with_x)


SimpleRNNLayerGrad.partial = True


@SimpleRNNLayerGrad.gradient
def _(op, *weights):
    composed = partial(composed_simple_rnn_gradient, op.attrs["activation"])
    sources = (*op.inputs[:5], *op.inputs[6:])
    found = derivatives_of_composed(composed, sources, weights)
    return [*found[:5], None, *found[5:]]


def simple_rnn_layer(x, h, kernel, recurrent_kernel, bias, activation):
    """All outputs and the last one, for x of (time, batch, inputs).

    h = activation(x @ kernel + h @ recurrent_kernel + bias), with "tanh" or "relu"
    """
    tensors = [convert_to_tensor(each) for each in (x, h, kernel, recurrent_kernel, bias)]
    return execute(SimpleRNNLayer, tensors, {"activation": activation})


def composed_simple_rnn(activation, x, h, kernel, recurrent_kernel, bias):
    """`simple_rnn_layer`, composed of the operations of its time steps."""
    function = ACTIVATIONS[activation]

    def step(states, inputs):
        return (function(inputs + matmul(states[0], recurrent_kernel)),)

    return composed_steps(step, projected(x, kernel, bias), (h,))


def composed_simple_rnn_gradient(
    activation, x, h, kernel, recurrent_kernel, bias, to_outputs, to_h
):
    """The gradients of `composed_simple_rnn` with respect to all inputs."""
    sources = (x, h, kernel, recurrent_kernel, bias)
    composed = partial(composed_simple_rnn, activation)
    return composed_gradient(composed, sources, given(to_outputs, to_h))

"""Long short-term memory, all time steps as one operation."""

from __future__ import annotations

from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.op import execute, op
from ...core.shapes import TensorShape
from .. import mapping
from ..array import joining, shaping
from ..linalg.matmul import matmul
from . import recurrent_kernels
from .composed_gradients import composed_gradient, derivatives_of_composed, given, present
from .recurrent_gates import AT_ONCE, composed_gates

_WEIGHTS = "kernel: T, recurrent_kernel: T, bias: T"


def require_rows(x, h, kernel, recurrent):
    """ValueError unless kernels have a row for each input and for each unit."""
    if not kernel[:1].is_compatible_with(x[2:]):
        raise ValueError(f"The kernel {kernel} must have a row for each of the inputs in {x}.")
    if not recurrent[:1].is_compatible_with(h[1:]):
        raise ValueError(f"The recurrent kernel {recurrent} must have a row for each unit of {h}.")


def _layer_shape(inputs, attrs):
    x, h = inputs[0].shape.with_rank(3), inputs[1].shape.with_rank(2)
    require_rows(x, h, inputs[3].shape.with_rank(2), inputs[4].shape.with_rank(2))
    state = TensorShape([x[1], h[1]])
    return [TensorShape([x[0], x[1], h[1]]), state, state, TensorShape([None, None])]


@op(
    "LSTMLayer",
    f"x: T, h: T, c: T, {_WEIGHTS} -> outputs: T, last_h: T, last_c: T, kept: T",
    T=AT_ONCE,
    shape=_layer_shape,
    heavy=True,
)
def LSTMLayer(x, h, c, kernel, recurrent_kernel, bias, *, keep=True):
    outputs, last_c, kept = recurrent_kernels.lstm(recurrent_kernel, kernel, bias, x, h, c, keep)
    return outputs, outputs[-1], last_c, kept


# Most layers use the last output or all of them, and few the carry: upstream gradients may be None.
LSTMLayer.partial = True


@LSTMLayer.gradient
def _(op, to_outputs, to_h, to_c, to_kept):
    outputs, _, last_c, kept = op.outputs
    weights = present(outputs, to_outputs, to_h, to_c)
    with_x = op.needs(0)
    to_x, *rest = LSTMLayerGrad(*op.inputs, outputs, last_c, kept, *weights, with_x=with_x)
    return [to_x if with_x else None, *rest]


def _gradient_shapes(inputs, attrs):
    return [each.shape for each in inputs[:6]]


@op(
    "LSTMLayerGrad",
    f"x: T, h: T, c: T, {_WEIGHTS}, outputs: T, last_c: T, kept: T, to_outputs: T, to_h: T, to_c: T"
    " -> to_x: T, to_h0: T, to_c0: T, to_kernel: T, to_recurrent_kernel: T, to_bias: T",
    T=AT_ONCE,
    shape=_gradient_shapes,
    heavy=True,
)
def LSTMLayerGrad(x, h, c, kernel, recurrent_kernel, bias, *results, with_x=True):
    return recurrent_kernels.lstm_backprop(
        recurrent_kernel, kernel, bias, x, h, c, *results, with_x
    )


LSTMLayerGrad.partial = True


@LSTMLayerGrad.gradient
def _(op, *weights):
    # The outputs and saved values are functions of the inputs; second derivatives recompute them.
    sources = (*op.inputs[:6], *op.inputs[9:])
    found = derivatives_of_composed(composed_lstm_gradient, sources, weights)
    return [*found[:6], None, None, None, *found[6:]]


def lstm_layer(x, h, c, kernel, recurrent_kernel, bias):
    """All outputs, the last one and the last carry, for x of (time, batch, inputs).

    i, f, g, o = split(x @ kernel + h @ recurrent_kernel + bias)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g);  h = sigmoid(o) * tanh(c)
    """
    tensors = [convert_to_tensor(each) for each in (x, h, c, kernel, recurrent_kernel, bias)]
    # In a graph, whether a gradient is needed is known only when it is planned.
    keep = bool(state.tapes) or state.graph is not None
    return execute(LSTMLayer, tensors, {"keep": keep})[:3]


def composed_lstm(x, h, c, kernel, recurrent_kernel, bias):
    """`lstm_layer`, composed of the operations of its time steps."""

    def step(states, inputs):
        output, carry = states
        return composed_gates(inputs + matmul(output, recurrent_kernel), carry)

    return composed_steps(step, projected(x, kernel, bias), (h, c))


def projected(x, kernel, bias):
    """x @ kernel + bias for all time steps, as one matmul."""
    rows = matmul(shaping.reshape(x, [-1, x.shape[2]]), kernel) + bias
    sizes = joining.concat([shaping.shape(x)[:2], shaping.shape(kernel)[1:]], 0)
    return shaping.ensure_shape(shaping.reshape(rows, sizes), [*x.shape[:2], kernel.shape[1]])


def composed_steps(step, rows, states):
    """The outputs of `step(states, row)` for all rows, and the last states; outputs are states."""
    if rows.shape[0] is None:
        found = mapping.scan(step, rows, states)
        return found[0], *[each[-1] for each in found]
    outputs = []
    for row in joining.unstack(rows):
        states = step(states, row)
        outputs.append(states[0])
    return joining.stack(outputs), *states


def composed_lstm_gradient(x, h, c, kernel, recurrent_kernel, bias, to_outputs, to_h, to_c):
    """The gradients of `composed_lstm` with respect to all inputs."""
    sources = (x, h, c, kernel, recurrent_kernel, bias)
    return composed_gradient(composed_lstm, sources, given(to_outputs, to_h, to_c))

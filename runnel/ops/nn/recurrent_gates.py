"""The gates of a long short-term memory: a time step without its matmuls, as one operation."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..array import joining
from ..math import elementwise, trigonometry
from .composed_gradients import composed_gradient, derivatives_of_composed, given, present

# The dtypes for which there are fused time steps.
AT_ONCE = frozenset({float32, float64})


def _gates_shape(inputs, attrs):
    sums, carry = inputs[0].shape.with_rank(2), inputs[1].shape.with_rank(2)
    if None not in (sums[1], carry[1]) and sums[1] != 4 * carry[1]:
        raise ValueError(f"The sums {sums} must have four columns for each unit of {carry}.")
    state = TensorShape([sums[0], carry[1]])
    return [state, state, sums, state]


@op(
    "LSTMGates",
    "sums: T, carry: T -> output: T, new_carry: T, gates: T, squashed: T",
    T=AT_ONCE,
    shape=_gates_shape,
)
def LSTMGates(sums, carry):
    units = carry.shape[1]
    gates = elementwise.Sigmoid.kernel(sums)
    candidate = gates[:, 2 * units : 3 * units]
    np.tanh(sums[:, 2 * units : 3 * units], out=candidate)
    new = gates[:, units : 2 * units] * carry
    squashed = gates[:, :units] * candidate
    new += squashed
    np.tanh(new, out=squashed)
    return gates[:, 3 * units :] * squashed, new, gates, squashed


LSTMGates.partial = True


@LSTMGates.gradient
def _(op, to_output, to_new_carry, to_gates, to_squashed):
    _, _, gates, squashed = op.outputs
    weights = present(gates, to_output, to_new_carry)
    return LSTMGatesGrad(*op.inputs, gates, squashed, *weights)


@op(
    "LSTMGatesGrad",
    "sums: T, carry: T, gates: T, squashed: T, to_output: T, to_new_carry: T"
    " -> to_sums: T, to_carry: T",
    T=AT_ONCE,
    shape=lambda inputs, attrs: [inputs[0].shape, inputs[1].shape],
)
def LSTMGatesGrad(sums, carry, gates, squashed, to_output, to_new_carry):
    units = carry.shape[1]
    i, f, g, o = (gates[:, place * units : (place + 1) * units] for place in range(4))
    to_sums = np.empty(gates.shape, gates.dtype)
    to_i, to_f, to_g, to_o = (to_sums[:, place * units : (place + 1) * units] for place in range(4))
    # s (1 - s) for all sigmoids at once; the candidate's columns then become 1 - g².
    np.subtract(1, gates, out=to_sums)
    to_sums *= gates
    np.multiply(g, g, out=to_g)
    np.subtract(1, to_g, out=to_g)
    if to_output.ndim > 1:
        to_o *= squashed
        to_o *= to_output
        by_carry = squashed * squashed
        np.subtract(1, by_carry, out=by_carry)
        by_carry *= o
        by_carry *= to_output
        if to_new_carry.ndim > 1:
            by_carry += to_new_carry
    else:
        to_o[...] = 0
        by_carry = to_new_carry
    to_i *= g
    to_i *= by_carry
    to_g *= i
    to_g *= by_carry
    to_f *= carry
    to_f *= by_carry
    return to_sums, by_carry * f


LSTMGatesGrad.partial = True


@LSTMGatesGrad.gradient
def _(op, *weights):
    sources = [op.inputs[place] for place in (0, 1, 4, 5)]
    found = derivatives_of_composed(composed_gates_gradient, sources, weights)
    return [*found[:2], None, None, *found[2:]]


def lstm_gates(sums, carry):
    """The output and the new carry of a time step.

    i, f, g, o = split(sums)
    carry = sigmoid(f) * carry + sigmoid(i) * tanh(g);  output = sigmoid(o) * tanh(carry)
    """
    return execute(LSTMGates, (convert_to_tensor(sums), convert_to_tensor(carry)))[:2]


def composed_gates(sums, carry):
    """`lstm_gates`, composed of element-wise operations."""
    sigmoid, tanh = elementwise.sigmoid, trigonometry.tanh
    i, f, g, o = joining.split(sums, 4, 1)
    carry = sigmoid(f) * carry + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(carry), carry


def composed_gates_gradient(sums, carry, to_output, to_new_carry):
    """The gradients of `composed_gates`."""
    return composed_gradient(composed_gates, (sums, carry), given(to_output, to_new_carry))

"""The gates of a gated recurrent unit: a time step without its matmuls, as one operation."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..array import joining
from ..math import elementwise, trigonometry
from .composed_gradients import composed_gradient, derivatives_of_composed
from .recurrent_gates import AT_ONCE


def _gates_shape(inputs, attrs):
    sums, products, h = (each.shape.with_rank(2) for each in inputs)
    if None not in (sums[1], h[1]) and sums[1] != 3 * h[1]:
        raise ValueError(f"The sums {sums} must have three columns for each unit of {h}.")
    if not sums.is_compatible_with(products):
        raise ValueError(f"The sums {sums} and those of the state {products} must be alike.")
    rows, units = sums.merge_with(products)[:1].merge_with(h[:1])[0], h[1]
    state = TensorShape([rows, units])
    return [state, TensorShape([rows, None if units is None else 2 * units]), state]


@op(
    "GRUGates",
    "sums: T, state_sums: T, h: T -> output: T, gates: T, candidate: T",
    T=AT_ONCE,
    shape=_gates_shape,
)
def GRUGates(sums, state_sums, h):
    units = h.shape[1]
    gates = elementwise.Sigmoid.kernel(sums[:, : 2 * units] + state_sums[:, : 2 * units])
    candidate = gates[:, units:] * state_sums[:, 2 * units :]
    candidate += sums[:, 2 * units :]
    np.tanh(candidate, out=candidate)
    output = h - candidate
    output *= gates[:, :units]
    output += candidate
    return output, gates, candidate


GRUGates.partial = True


@GRUGates.gradient
def _(op, to_output, to_gates, to_candidate):
    return GRUGatesGrad(*op.inputs, *op.outputs[1:], to_output)


@op(
    "GRUGatesGrad",
    "sums: T, state_sums: T, h: T, gates: T, candidate: T, to_output: T"
    " -> to_sums: T, to_state_sums: T, to_h: T",
    T=AT_ONCE,
    shape=lambda inputs, attrs: [each.shape for each in inputs[:3]],
)
def GRUGatesGrad(sums, state_sums, h, gates, candidate, to_output):
    units = h.shape[1]
    to_sums = np.empty(sums.shape, sums.dtype)
    to_z, to_r, to_g = (to_sums[:, place * units : (place + 1) * units] for place in range(3))
    to_h = to_output * gates[:, :units]
    # A contiguous array is faster to compute with than a strided block of columns.
    slope = candidate * candidate
    np.subtract(1, slope, out=slope)
    slope *= to_output - to_h
    to_g[...] = slope
    slopes = 1 - gates
    slopes *= gates
    np.multiply(slope, state_sums[:, 2 * units :], out=to_r)
    to_r *= slopes[:, units:]
    np.subtract(h, candidate, out=slope)
    slope *= to_output
    np.multiply(slope, slopes[:, :units], out=to_z)
    to_state_sums = to_sums.copy()
    to_state_sums[:, 2 * units :] *= gates[:, units:]
    return to_sums, to_state_sums, to_h


GRUGatesGrad.partial = True


@GRUGatesGrad.gradient
def _(op, *weights):
    sources = [op.inputs[place] for place in (0, 1, 2, 5)]
    found = derivatives_of_composed(composed_gru_gates_gradient, sources, weights)
    return [*found[:3], None, None, found[3]]


def gru_gates(sums, state_sums, h):
    """The output of a time step, from the projections of its inputs and its state.

    z, r = sigmoid(sums + state_sums);  g = tanh(sums_g + r * state_sums_g)
    output = z * h + (1 - z) * g
    """
    tensors = [convert_to_tensor(each) for each in (sums, state_sums, h)]
    return execute(GRUGates, tensors)[0]


def composed_gru_gates(sums, state_sums, h):
    """`gru_gates`, composed of element-wise operations."""
    x_z, x_r, x_g = joining.split(sums, 3, 1)
    h_z, h_r, h_g = joining.split(state_sums, 3, 1)
    z, r = elementwise.sigmoid(x_z + h_z), elementwise.sigmoid(x_r + h_r)
    return z * h + (1 - z) * trigonometry.tanh(x_g + r * h_g)


def composed_gru_gates_gradient(sums, state_sums, h, to_output):
    """The gradients of `composed_gru_gates`."""

    def composed(*sources):
        return (composed_gru_gates(*sources),)

    return composed_gradient(composed, (sums, state_sums, h), (to_output,))

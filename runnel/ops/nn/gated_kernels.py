"""All steps of gated recurrent units, reset gate after the matmul, and their backward pass."""

from __future__ import annotations

import numpy as np

from ...runtime.engine_selection import accelerated
from ..linalg.matmul import product_of
from .recurrent_kernels import with_ones

# How many arrays of the outputs' size are saved for the backward pass: z, r, g and what r scales.
_KEPT = 4


@accelerated("gru", 4096)
def gru(recurrent, kernel, bias, x, h, keep):
    """The outputs of all time steps, and if `keep` the values saved for `gru_backprop`.

    x is (time, batch, inputs); the columns of the weights are those of z, r, g; the bias has a row
    for the inputs and one for the state.
    """
    outputs, kept = _all_steps(recurrent, kernel, bias, x, h)
    return outputs, kept if keep else kept[:0].copy()


def _all_steps(recurrent, kernel, bias, x, h):
    length, batch, _ = x.shape
    units = h.shape[1]
    kept = np.empty((length, batch, _KEPT * units), x.dtype)
    weights = np.concatenate([kernel, bias[:1]])
    kept[..., : 3 * units] = product_of(with_ones(x), weights).reshape(length, batch, 3 * units)
    outputs = np.empty((length, batch, units), x.dtype)
    product = np.empty((batch, 3 * units), x.dtype)
    for step in range(length):
        gates, candidate, scaled = _parts(kept[step], units)
        np.matmul(h, recurrent, out=product)
        product += bias[1]
        gates += product[:, : 2 * units]
        np.negative(gates, out=gates)
        np.exp(gates, out=gates)
        gates += 1
        np.reciprocal(gates, out=gates)
        z, r = gates[:, :units], gates[:, units:]
        scaled[...] = product[:, 2 * units :]
        candidate += r * scaled
        np.tanh(candidate, out=candidate)
        output = outputs[step]
        np.subtract(h, candidate, out=output)
        output *= z
        output += candidate
        h = output
    return outputs, kept.reshape(1, -1)


@accelerated("gru_backprop", 4096)
def gru_backprop(recurrent, kernel, bias, x, h, outputs, kept, to_outputs, to_h, with_x):
    """The gradients with respect to x (zeros unless requested), h, the two kernels and the bias.

    `to_outputs` and `to_h` are the upstream gradients of all outputs and of the last one; empty if
    there are none.
    """
    length, batch, inputs = x.shape
    units = h.shape[1]
    if kept.size != _KEPT * outputs.size:
        # No values were saved, or they are of an engine that is no longer in use.
        kept = _all_steps(recurrent, kernel, bias, x, h)[-1]
    kept = kept.reshape(length, batch, _KEPT * units)
    by_inputs = np.empty((length, batch, 3 * units), x.dtype)
    by_state = np.empty_like(by_inputs)
    by_output = to_h.copy() if to_h.ndim > 1 else np.zeros(h.shape, h.dtype)
    for step in range(length - 1, -1, -1):
        if to_outputs.ndim > 1:
            by_output += to_outputs[step]
        gates, candidate, scaled = _parts(kept[step], units)
        z, r = gates[:, :units], gates[:, units:]
        before = outputs[step - 1] if step else h
        to_z, to_r, to_g = (by_inputs[step, :, i * units : (i + 1) * units] for i in range(3))
        np.subtract(1, z, out=to_z)
        np.multiply(to_z, by_output, out=to_g)
        to_g *= 1 - candidate * candidate
        by_output *= z
        to_z *= by_output
        to_z *= before - candidate
        np.subtract(1, r, out=to_r)
        to_r *= r
        to_r *= scaled
        to_r *= to_g
        gradients = by_state[step]
        gradients[:, : 2 * units] = by_inputs[step, :, : 2 * units]
        np.multiply(to_g, r, out=gradients[:, 2 * units :])
        by_output += np.matmul(gradients, recurrent.T)
    by_inputs, by_state = (each.reshape(-1, 3 * units) for each in (by_inputs, by_state))
    of_inputs = product_of(with_ones(x).T, by_inputs)
    states = np.concatenate([h[np.newaxis], outputs[:-1]])
    of_states = product_of(with_ones(states).T, by_state)
    to_x = np.broadcast_to(x.dtype.type(0), x.shape)
    if with_x:
        to_x = product_of(by_inputs, kernel.T).reshape(x.shape)
    to_bias = np.stack([of_inputs[inputs], of_states[units]])
    return to_x, by_output, of_inputs[:inputs], of_states[:units], to_bias


def _parts(kept, units):
    """The gates z and r, the candidate, and the state's contribution to it before r scales it."""
    return kept[:, : 2 * units], kept[:, 2 * units : 3 * units], kept[:, 3 * units :]

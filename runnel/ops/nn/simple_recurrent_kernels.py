"""All time steps of a simple recurrent layer in one kernel, and their backward pass."""

from __future__ import annotations

import numpy as np

from ..linalg.matmul import product_of
from .recurrent_kernels import with_ones


def simple_rnn(x, h, kernel, recurrent, bias, activation):
    """The outputs of all time steps, for x of (time, batch, inputs) and "tanh" or "relu"."""
    length, batch, _ = x.shape
    units = h.shape[1]
    weights = np.concatenate([kernel, bias[np.newaxis]])
    outputs = product_of(with_ones(x), weights).reshape(length, batch, units)
    product = np.empty((batch, units), x.dtype)
    for output in outputs:
        np.matmul(h, recurrent, out=product)
        output += product
        if activation == "tanh":
            np.tanh(output, out=output)
        else:
            np.maximum(output, 0, out=output)
        h = output
    return outputs


def simple_rnn_backprop(x, h, kernel, recurrent, outputs, to_outputs, to_h, activation, with_x):
    """The gradients with respect to x (zeros unless requested), h, the two kernels and the bias.

    `to_outputs` and `to_h` are the upstream gradients of all outputs and of the last one; empty if
    there are none. The derivatives of both activations are computed from the outputs.
    """
    length, _, inputs = x.shape
    units = h.shape[1]
    if activation == "tanh":
        gradients = outputs * outputs
        np.subtract(1, gradients, out=gradients)
    else:
        gradients = (outputs > 0).astype(outputs.dtype)
    by_output = to_h.copy() if to_h.ndim > 1 else np.zeros(h.shape, h.dtype)
    back = recurrent.T
    for step in range(length - 1, -1, -1):
        if to_outputs.ndim > 1:
            by_output += to_outputs[step]
        gradient = gradients[step]
        gradient *= by_output
        np.matmul(gradient, back, out=by_output)
    flat = gradients.reshape(-1, units)
    of_inputs = product_of(with_ones(x).T, flat)
    states = np.concatenate([h[np.newaxis], outputs[:-1]]).reshape(-1, units)
    to_recurrent = product_of(states.T, flat)
    to_x = np.broadcast_to(x.dtype.type(0), x.shape)
    if with_x:
        to_x = product_of(flat, kernel.T).reshape(x.shape)
    return to_x, by_output, of_inputs[:inputs], to_recurrent, of_inputs[inputs]

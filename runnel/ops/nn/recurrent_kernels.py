"""All time steps of a long short-term memory in one kernel, and their backward pass.

The inputs of all steps are multiplied by the kernel in one matmul, and so are the gradients of the
pre-activations in the backward pass; a step is left with one matmul, of the state, and with the
gates, which are computed in that matmul's buffer.
"""

from __future__ import annotations

import numpy as np

from ...runtime.engine_selection import accelerated
from ..linalg.matmul import product_of

# Padding between the rows of a matrix: row strides of a power of two alias in the cache, and large
# GEMMs take twice as long.
_APART = 16
# How many arrays of the outputs' size are saved for the backward pass.
_KEPT = 6


@accelerated("lstm", 4096)
def lstm(recurrent, kernel, bias, x, h, c, keep):
    """The outputs of all steps, the last carry, and if `keep` the values for `lstm_backprop`.

    x is (time, batch, inputs); the columns of the weights are those of i, f, g, o.
    """
    outputs, carry, kept = _all_steps(recurrent, kernel, bias, x, h, c)
    return outputs, carry, kept if keep else kept[:0].copy()


def _all_steps(recurrent, kernel, bias, x, h, c):
    length, batch, _ = x.shape
    units = h.shape[1]
    kept = np.empty((1, _KEPT * length * batch * units), x.dtype)
    gates, carries, squashed = _parts(kept, length, batch, units)
    # The bias becomes a row of the weights for a constant input of 1.
    weights = np.concatenate([kernel, bias[np.newaxis]])
    gates[...] = product_of(with_ones(x), weights).reshape(gates.shape)
    i, f, g, o = _quarters(gates, units)
    outputs = np.empty((length, batch, units), x.dtype)
    product = np.empty((batch, 4 * units), x.dtype)
    term = np.empty((batch, units), x.dtype)
    add, multiply, tanh = np.add, np.multiply, np.tanh
    for step in range(length):
        gate, candidate, carry, output = gates[step], g[step], carries[step], outputs[step]
        np.matmul(h, recurrent, out=product)
        add(gate, product, out=gate)
        tanh(candidate, out=term)
        np.negative(gate, out=gate)
        np.exp(gate, out=gate)
        add(gate, 1, out=gate)
        np.reciprocal(gate, out=gate)
        candidate[...] = term
        multiply(f[step], c, out=carry)
        multiply(i[step], term, out=term)
        add(carry, term, out=carry)
        tanh(carry, out=squashed[step])
        multiply(o[step], squashed[step], out=output)
        h, c = output, carry
    return outputs, c, kept


@accelerated("lstm_backprop", 4096)
def lstm_backprop(
    recurrent, kernel, bias, x, h, c, outputs, last_c, kept, to_outputs, to_h, to_c, with_x
):
    """The gradients with respect to x (zeros unless requested), h, c, the two kernels and the bias.

    `to_outputs`, `to_h` and `to_c` are the upstream gradients of all outputs, of the last one and
    of the last carry; empty if there are none.
    """
    length, batch, inputs = x.shape
    units = h.shape[1]
    if kept.size != _KEPT * outputs.size:
        # No values were saved, or they are of an engine that is no longer in use.
        kept = _all_steps(recurrent, kernel, bias, x, h, c)[-1]
    gates, carries, all_squashed = _parts(kept, length, batch, units)
    i, f, g, o = _quarters(gates, units)
    distance = 4 * units + _APART
    flat = np.empty((length * batch, distance), x.dtype)
    gradients = flat.reshape(length, batch, distance)[..., : 4 * units]
    to_i, to_f, to_g, to_o = _quarters(gradients, units)
    flat = flat[:, : 4 * units]
    by_output = to_h.copy() if to_h.ndim > 1 else np.zeros(h.shape, h.dtype)
    by_carry = to_c.copy() if to_c.ndim > 1 else np.zeros(c.shape, c.dtype)
    slope = np.empty(c.shape, c.dtype)
    back = recurrent.T
    multiply, subtract = np.multiply, np.subtract
    for step in range(length - 1, -1, -1):
        if to_outputs.ndim > 1:
            by_output += to_outputs[step]
        # With respect to o, which multiplies the squashed carry, and to the carry.
        gate, squashed, target = o[step], all_squashed[step], to_o[step]
        subtract(1, gate, out=target)
        by_output *= gate
        multiply(squashed, squashed, out=slope)
        subtract(1, slope, out=slope)
        slope *= by_output
        by_carry += slope
        by_output *= squashed
        target *= by_output
        # With respect to i and g, whose element-wise product is added to the carry.
        gate, candidate, target = i[step], g[step], to_i[step]
        multiply(by_carry, gate, out=slope)
        subtract(1, gate, out=target)
        target *= candidate
        target *= slope
        target = to_g[step]
        multiply(candidate, candidate, out=target)
        subtract(1, target, out=target)
        target *= slope
        # With respect to f and to the previous carry, which it multiplies.
        gate, target = f[step], to_f[step]
        by_carry *= gate
        subtract(1, gate, out=target)
        target *= carries[step - 1] if step else c
        target *= by_carry
        np.matmul(gradients[step], back, out=by_output)
    of_inputs = product_of(with_ones(x).T, flat)
    to_recurrent = product_of(h.T, flat[:batch])
    if length > 1:
        to_recurrent += product_of(outputs[:-1].reshape(-1, units).T, flat[batch:])
    to_x = np.broadcast_to(x.dtype.type(0), x.shape)
    if with_x:
        to_x = product_of(flat, kernel.T).reshape(x.shape)
    return to_x, by_output, by_carry, of_inputs[:inputs], to_recurrent, of_inputs[inputs]


def _parts(kept, length, batch, units):
    """Views of the saved buffer: the gates, the carries, and the tanh of the carries."""
    size = length * batch * units
    return [
        kept[0, begin * size : end * size].reshape(length, batch, (end - begin) * units)
        for begin, end in ((0, 4), (4, 5), (5, 6))
    ]


def _quarters(array, units):
    """The columns of i, f, g and o."""
    return [array[..., place * units : (place + 1) * units] for place in range(4)]


def with_ones(x):
    """Flatten all time steps to rows, with a column of ones at the end."""
    length, batch, inputs = x.shape
    rows = np.ones((length, batch, inputs + 1), x.dtype)
    rows[..., :inputs] = x
    return rows.reshape(length * batch, inputs + 1)

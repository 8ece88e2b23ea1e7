"""The eager fast path of layers: matmul or convolution, bias and activation as one fused op."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.autodiff.tape import GradientTape
from ...core.context import state
from ...core.dtypes import float32
from ...core.op import Op, execute
from ...core.tensor import Tensor
from ...core.variable import Variable
from .. import activations

# Compared by identity: other callables may be unhashable.
_NAMES = {
    id(activations.linear): "linear",
    id(activations.relu): "relu",
    id(activations.sigmoid): "sigmoid",
    id(activations.tanh): "tanh",
    id(tf.nn.relu): "relu",
    id(tf.nn.relu6): "relu6",
    id(tf.nn.sigmoid): "sigmoid",
    id(tf.nn.tanh): "tanh",
}


def known_activation(function: Any) -> str:
    """The name of a built-in activation, or an empty string.

    User functions may have the same names but compute something else.
    """
    return _NAMES.get(id(function), "")


def are_plain_weights(*weights: Any) -> bool:
    """Whether all weights are plain float32 variables, not wrappers around them."""
    for each in weights:  # noqa: SIM110 -- in small models such a call is what takes the time
        if type(each) is not Variable or each.dtype is not float32:
            return False
    return True


def tapes_are_plain() -> bool:
    """Whether operations are only recorded by gradient tapes, and by no other observer."""
    for tape in state.tapes:  # noqa: SIM110
        if type(tape) is not GradientTape:
            return False
    return True


def outputs_at_once(
    layer: Any, inputs: Tensor, rank: int, ops: dict[str, Op], attrs: dict[str, Any]
) -> Tensor | None:
    """The outputs for a float32 tensor of some rank by one fused op; None if it does not apply.

    Observers of single operations, such as the check for NaN, see every operation.
    """
    kernel, bias, tapes = layer.kernel, layer.bias, state.tapes
    # The functions above inlined: in small models call overhead dominates.
    if (
        inputs.dtype is not float32
        or len(inputs._array.shape) != rank
        or type(kernel) is not Variable
        or type(bias) is not Variable
        or kernel.dtype is not float32
        or bias.dtype is not float32
    ):
        return None
    op = ops.get(_NAMES.get(id(layer.activation), ""))
    if op is None or not layer.use_bias:
        return None
    if not tapes:
        # Bypasses the read notifications of variables: nothing observes them here.
        return execute(op, (inputs, kernel._tensor, bias._tensor), attrs)
    if not tapes_are_plain():
        return None
    return execute(op, (inputs, kernel._as_tensor(), bias._as_tensor()), attrs)

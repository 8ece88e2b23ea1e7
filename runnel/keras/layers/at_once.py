"""Layers that run eagerly as one operation: a product or convolution, its bias, its activation."""

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

# By identity: any other callable may be unhashable.
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
    """The name of an activation that is one of the library's; of others an empty one.

    Users have functions of the same names that compute something else.
    """
    return _NAMES.get(id(function), "")


def are_plain_weights(*weights: Any) -> bool:
    """Whether weights are variables of float32, and nothing that stands for some."""
    for each in weights:  # noqa: SIM110 -- in small models such a call is what takes the time
        if type(each) is not Variable or each.dtype is not float32:
            return False
    return True


def tapes_are_plain() -> bool:
    """Whether nobody listens to single operations but tapes that gradients are computed from."""
    for tape in state.tapes:  # noqa: SIM110
        if type(tape) is not GradientTape:
            return False
    return True


def outputs_at_once(
    layer: Any, inputs: Tensor, rank: int, ops: dict[str, Op], attrs: dict[str, Any]
) -> Tensor | None:
    """The outputs of a layer for a float32 tensor of a rank; None where it takes several steps.

    Those who listen to single operations, such as the check for NaN, get to hear of each.
    """
    kernel, bias, tapes = layer.kernel, layer.bias, state.tapes
    # The functions above written out: in small models such calls are what takes the time.
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
        # What a variable would tell them of being read is told to nobody.
        return execute(op, (inputs, kernel._tensor, bias._tensor), attrs)
    if not tapes_are_plain():
        return None
    return execute(op, (inputs, kernel._as_tensor(), bias._as_tensor()), attrs)

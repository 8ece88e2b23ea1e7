"""Find the model inputs that a symbolic value depends on."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.keras_tensor import is_keras_tensor


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> Any:
    """The model inputs that a symbolic value is computed from.

    Args:
      tensor: The value to start from.
      layer: A layer to start from instead.
      node_index: Index of the layer's call.

    >>> x = tf.keras.Input([2])
    >>> tf.keras.utils.get_source_inputs(x * 2 + 1) == [x]
    True
    """
    if not is_keras_tensor(tensor):
        return tensor
    node = tensor.op if layer is None else layer._inbound_nodes[node_index or 0]
    found: dict[int, Any] = {}
    _collect(node, found, set())
    return list(found.values())


def _collect(node: Any, found: dict[int, Any], seen: set[int]) -> None:
    if node.order in seen:
        return
    seen.add(node.order)
    if not node.keras_inputs:
        found.update({id(tensor): tensor for tensor in tf.nest.flatten(node.outputs)})
    for tensor in node.keras_inputs:
        _collect(tensor.op, found, seen)

"""The layer order of a functional model: topological, by descending depth.

Weight files list weights in this order, so it must match the original's: a call's depth is the
number of calls after it on the longest path to an output, a layer's depth that of its deepest call,
and layers of equal depth are in the order of a depth-first traversal from the outputs.
"""

from __future__ import annotations

from typing import Any

import runnel as tf

from .keras_tensor import CompositeKerasTensor, OperationNode, is_keras_tensor


def call_of(tensor: Any) -> Any:
    """The call that produced a KerasTensor; all operations of a TFOpLambda layer are one call."""
    step = tensor.op
    return step.layer if isinstance(step, OperationNode) else step


def inputs_of(call: Any) -> list[Any]:
    """The KerasTensors that a call takes from other calls."""
    operations = getattr(call, "operations", None)
    if operations is None:
        return call.keras_inputs
    given = [v for v in tf.nest.flatten(call.arguments) if is_keras_tensor(v)]
    if any(isinstance(each, CompositeKerasTensor) for each in given):
        return given
    return [
        tensor
        for operation in operations
        for tensor in operation.keras_inputs
        if call_of(tensor) is not call
    ]


def layer_of(call: Any) -> Any:
    """The layer that is called."""
    return getattr(call, "layer", call)


def ordered_layers(inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """The layers between inputs and outputs, including the input layers."""
    given = {id(call_of(tensor)) for tensor in inputs}
    calls, rank = _walk_back(given, outputs)
    depth_of_call: dict[int, int] = {}
    depth: dict[int, int] = {}
    layers: dict[int, Any] = {}
    for call in reversed(calls):
        layer = layer_of(call)
        layers[id(layer)] = layer
        here = max(depth_of_call.get(id(call), 0), depth.get(id(layer), 0))
        depth_of_call[id(call)] = depth[id(layer)] = here
        if id(call) in given:
            continue
        for tensor in inputs_of(call):
            before = id(call_of(tensor))
            depth_of_call[before] = max(here + 1, depth_of_call.get(before, 0))
    for tensor in inputs:
        layer = layer_of(call_of(tensor))
        if id(layer) not in layers:
            layers[id(layer)] = layer
            depth[id(layer)], rank[id(layer)] = 0, -1
    return sorted(layers.values(), key=lambda layer: (-depth[id(layer)], rank[id(layer)]))


def model_calls(model: Any) -> list[Any]:
    """The calls of a functional model in topological order."""
    outputs = getattr(model, "outputs", None)
    if not outputs:
        return []
    return _walk_back({id(call_of(tensor)) for tensor in model.inputs}, outputs)[0]


def _walk_back(given: set[int], outputs: list[Any]) -> tuple[list[Any], dict[int, int]]:
    """All calls in topological order, and the index of each layer in discovery order."""
    calls: list[Any] = []
    rank: dict[int, int] = {}
    met: set[int] = set()
    pending: list[tuple[Any, bool]] = [(call_of(tensor), False) for tensor in reversed(outputs)]
    while pending:
        call, done = pending.pop()
        if done:
            calls.append(call)
            continue
        if id(call) in met:
            continue
        met.add(id(call))
        rank.setdefault(id(layer_of(call)), len(rank))
        pending.append((call, True))
        if id(call) not in given:
            pending.extend((call_of(tensor), False) for tensor in reversed(inputs_of(call)))
    return calls, rank

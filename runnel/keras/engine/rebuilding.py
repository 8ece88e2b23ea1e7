"""Building a functional model's calls again, on other inputs or with other layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.graph import Graph
from .keras_tensor import KerasTensor, OperationNode


class _OpenGraph(Graph):
    """A graph for operations on its tensors while no graph is being built, as on KerasTensors."""

    open = True


def split_arguments(layer: Any) -> tuple[Any, dict[str, Any]]:
    """The first argument of a TFOpLambda's function, and the others by name."""
    first, *others = layer.arguments
    return layer.arguments[first], {
        name: layer.arguments[name] for name in others if name != "name"
    }


def results_of(layer: Any) -> dict[int, int]:
    """Which result of a TFOpLambda's function each tensor of its operations is, by identity.

    The function is tried again, and does the same operations in the same order.
    """
    graph = _OpenGraph()

    def stand_in(value: Any) -> Any:
        if isinstance(value, KerasTensor):
            return graph.placeholder(value.dtype, value.shape)
        return value

    first, kwargs = tf.nest.map_structure(stand_in, split_arguments(layer))
    results = tf.nest.flatten(layer.call(first, **kwargs))
    made = [operation for operation in graph.operations if operation.type != "Placeholder"]
    tensors = {
        id(output): original
        for operation, done in zip(made, layer.operations, strict=True)
        for output, original in zip(operation.outputs, done.outputs, strict=True)
    }
    return {id(tensors[id(result)]): index for index, result in enumerate(results)}


def rebuilt(
    steps: list[Any],
    values: dict[int, Any],
    outputs: Any,
    layer_for: Callable[[Any], Any],
) -> Any:
    """The outputs of the same calls, made with `layer_for(layer)`; `values` holds the inputs."""

    def value_of(argument: Any) -> Any:
        return values[id(argument)] if isinstance(argument, KerasTensor) else argument

    done: set[int] = set()
    for step in steps:
        layer = step.layer
        if isinstance(step, OperationNode):
            if id(layer) not in done:
                done.add(id(layer))
                first, kwargs = tf.nest.map_structure(value_of, split_arguments(layer))
                # Calls are counted per layer, and this one's operations are a call already.
                copy = type(layer).from_config(layer.get_config())
                flat = tf.nest.flatten(copy(first, **kwargs))
                for tensor, index in results_of(layer).items():
                    values[tensor] = flat[index]
        else:
            inputs, rest, kwargs = tf.nest.map_structure(value_of, step.arguments)
            flat = tf.nest.flatten(layer_for(layer)(inputs, *rest, **kwargs))
            for tensor, value in zip(step.flat_outputs, flat, strict=True):
                values[id(tensor)] = value
    return tf.nest.map_structure(value_of, outputs)

"""Replay a functional model's calls on other inputs or with other layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.graph.graph import Graph
from .keras_tensor import (
    GRAPH,
    KerasTensor,
    OperationNode,
    is_keras_tensor,
    note_value,
    stand_in_composite,
    value_in,
)


class _OpenGraph(Graph):
    """A graph that records operations on its tensors outside of a graph context, as for
    KerasTensors.
    """

    open = True


def split_arguments(layer: Any) -> tuple[Any, dict[str, Any]]:
    """The first argument of a TFOpLambda's function, and the others by name."""
    first, *others = layer.arguments
    return layer.arguments[first], {name: layer.arguments[name] for name in others}


def results_of(layer: Any) -> dict[int, int]:
    """Which result of a TFOpLambda's function each operation output is, by identity.

    The function is replayed, and performs the same operations in the same order.
    """
    graph = _OpenGraph()

    def stand_in(value: Any) -> Any:
        if isinstance(value, KerasTensor):
            return graph.placeholder(value.dtype, value.shape)
        return stand_in_composite(graph, value) if is_keras_tensor(value) else value

    first, kwargs = tf.nest.map_structure(stand_in, split_arguments(layer))
    results = tf.nest.flatten(layer.call(first, **kwargs))
    if len(results) == 1:
        return {id(output): 0 for done in layer.operations for output in done.outputs}
    made = [operation for operation in graph.operations if operation.type != "Placeholder"]
    tensors = {
        id(output): original
        for operation, done in zip(made, layer.operations, strict=True)
        for output, original in zip(operation.outputs, done.outputs, strict=True)
    }
    values = [getattr(result, "flat_values", result) for result in results]
    return {id(tensors[id(value)]): index for index, value in enumerate(values)}


def rebuilt(
    steps: list[Any],
    values: dict[int, Any],
    outputs: Any,
    layer_for: Callable[[Any], Any],
) -> Any:
    """The outputs of replayed calls, with `layer_for(layer)`; `values` holds the inputs."""

    def value_of(argument: Any) -> Any:
        return value_in(values, argument) if is_keras_tensor(argument) else argument

    copies: dict[int, Any] = {}
    for step in steps:
        layer = step.layer
        if isinstance(step, OperationNode):
            copy = copies.get(id(layer))
            if copy is None:
                # Calls are counted per layer, and this layer's operations are one call already.
                copy = copies[id(layer)] = type(layer).from_config(layer.get_config())
                copy.take_arguments(tf.nest.map_structure(value_of, layer.arguments))
            inputs = [value_of(each) for each in step.inputs]
            results = GRAPH.add_to(copy, step.op, inputs, step.given)
            for tensor, value in zip(
                step.outputs, [results] if step.op.single else results, strict=True
            ):
                values[id(tensor)] = value
        else:
            inputs, rest, kwargs = tf.nest.map_structure(value_of, step.arguments)
            flat = tf.nest.flatten(layer_for(layer)(inputs, *rest, **kwargs))
            for tensor, value in zip(step.flat_outputs, flat, strict=True):
                note_value(values, tensor, value)
    return tf.nest.map_structure(value_of, outputs)

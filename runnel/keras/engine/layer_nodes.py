"""The symbolic calls of a layer: the inputs and outputs of each."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .layer_config import LayerConfig


class LayerNodes(LayerConfig):
    """The position of a layer in functional models."""

    _inbound_nodes: list[Any]
    _outbound_nodes: list[Any]

    @property
    def inbound_nodes(self) -> list[Any]:
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Any]:
        return self._outbound_nodes

    @property
    def input(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self._inbound_nodes[0].input_tensors

    @property
    def output(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self._inbound_nodes[0].outputs

    @property
    def input_shape(self) -> Any:
        nodes = self._nodes_with("input")
        return self._same_in_all("input", [shape_tuples(node.input_tensors) for node in nodes])

    @property
    def output_shape(self) -> Any:
        nodes = self._nodes_with("output")
        return self._same_in_all("output", [shape_tuples(node.outputs) for node in nodes])

    @property
    def input_mask(self) -> Any:
        """The input mask of the layer's first call, or None."""
        return _masks(self.input)

    @property
    def output_mask(self) -> Any:
        """The output mask of the layer's first call, or None."""
        return _masks(self.output)

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of the layer's call `node_index`."""
        return self._node_at(node_index, "input").input_tensors

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of the layer's call `node_index`."""
        return self._node_at(node_index, "output").outputs

    def get_input_shape_at(self, node_index: int) -> Any:
        """The input shapes of the layer's call `node_index`."""
        return shape_tuples(self._node_at(node_index, "input shape").input_tensors)

    def get_output_shape_at(self, node_index: int) -> Any:
        """The output shapes of the layer's call `node_index`."""
        return shape_tuples(self._node_at(node_index, "output shape").outputs)

    def get_input_mask_at(self, node_index: int) -> Any:
        """The input mask of the layer's call `node_index`, or None."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index: int) -> Any:
        """The output mask of the layer's call `node_index`, or None."""
        return _masks(self.get_output_at(node_index))

    def _nodes_with(self, what: str) -> list[Any]:
        if not self._inbound_nodes:
            raise AttributeError(
                f'The layer "{self.name}" has never been called and thus has no defined {what} '
                "shape."
            )
        return self._inbound_nodes

    def _same_in_all(self, what: str, shapes: list[Any]) -> Any:
        """The shapes of a layer's calls, if equal in all of them."""
        if any(each != shapes[0] for each in shapes):
            raise AttributeError(
                f'The layer "{self.name}" has multiple inbound nodes, with different {what} '
                f'shapes. Hence the notion of "{what} shape" is ill-defined for the layer. Use '
                f"`get_{what}_shape_at(node_index)` instead."
            )
        return shapes[0]

    def _node_at(self, index: int, what: str) -> Any:
        count = len(self._inbound_nodes)
        if not count:
            raise RuntimeError(
                f"The layer {self.name} has never been called and thus has no defined {what}."
            )
        if not index < count:
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only {count} inbound "
                "nodes."
            )
        return self._inbound_nodes[index]


def shape_tuples(tensors: Any) -> Any:
    """The shapes of tensors as plain tuples, in the tensors' structure."""
    return tf.nest.map_structure(lambda tensor: tuple(tensor.shape), tensors)


def _masks(tensors: Any) -> Any:
    if isinstance(tensors, list | tuple):
        return [getattr(tensor, "_keras_mask", None) for tensor in tf.nest.flatten(tensors)]
    return getattr(tensors, "_keras_mask", None)

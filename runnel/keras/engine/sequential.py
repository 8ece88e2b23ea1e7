"""Sequential: layers one after the other."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import masking
from .base_layer import Layer
from .call_context import context
from .composite_data import is_encoded
from .functional import Functional
from .keras_tensor import is_keras_tensor
from .model import Model


class Sequential(Functional):
    """A stack of layers, each with one input and one output.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.ReLU()])
    >>> model(tf.ones([3, 4])).shape
    TensorShape([3, 2])
    """

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        Model.__init__(self, name=name)
        self._stack: list[Layer] = []
        # What each layer of the stack gives in the graph, as far as it was called there.
        self._ends: list[Any] = []
        self.inputs = self.outputs = None  # type: ignore[assignment]
        for layer in layers or []:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Put a layer on top of the stack."""
        if is_keras_tensor(layer):
            layer = layer.op.layer
        if not isinstance(layer, Layer):
            if callable(layer) and isinstance(layer, tf.Module):
                layer = tf.keras.layers.Lambda(layer)
            else:
                raise TypeError(
                    "The added layer must be an instance of class Layer. Received: "
                    f"layer={layer} of type {type(layer)}."
                )
        if any(each.name == layer.name for each in self._stack):
            raise ValueError(
                "All layers added to a Sequential model should have unique names. Name "
                f'"{layer.name}" is already the name of a layer in this model. Update the `name` '
                "argument to pass a unique name."
            )
        if not self._stack and not _is_input(layer):
            first = _first_input_shape(layer)
            if first is not None:
                shape, dtype = first
                tensor = tf.keras.Input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input")
                self._stack.append(tensor.op.layer)
        self._stack.append(layer)
        self._tracked[:] = list(self._stack)
        if _is_input(self._stack[0]):
            self._extend_graph()
        else:
            self.built = False

    def _extend_graph(self) -> None:
        if not self._ends:
            self._ends.append(self._stack[0]._inbound_nodes[0].outputs)
        del self._ends[len(self._stack) :]
        # A layer is called once, so that its output is the one that later layers go on from.
        for layer in self._stack[len(self._ends) :]:
            end = layer(self._ends[-1])
            if len(tf.nest.flatten(end)) != 1:
                raise ValueError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    f"multi-output layers, use the functional API. Received: {layer.name}"
                )
            self._ends.append(end)
        if len(self._ends) > 1:
            self._connect(self._ends[0], self._ends[-1])
        self._tracked[:] = list(self._stack)

    def pop(self) -> None:
        """Take the top layer off."""
        if not self._stack:
            raise TypeError("There are no layers in the model.")
        self._stack.pop()
        self._tracked[:] = list(self._stack)
        if self._stack and _is_input(self._stack[0]):
            self._extend_graph()
        else:
            self.built, self.inputs, self.outputs = False, None, None  # type: ignore[assignment]

    @property
    def layers(self) -> list[Any]:
        layers = list(self._stack)
        return layers[1:] if layers and _is_input(layers[0]) else layers

    @property  # type: ignore[misc]
    def input_spec(self) -> Any:
        return None

    def build(self, input_shape: Any = None) -> None:
        """Make the weights for inputs of a shape."""
        if self.outputs is None and input_shape is not None:
            shape = tuple(tf.TensorShape(input_shape))
            shape = (None, *shape[1:])
            name = f"{self._stack[0].name}_input"
            tensor = tf.keras.Input(batch_shape=shape, dtype=self._first_dtype(), name=name)
            stack = self._stack
            self._stack = [tensor.op.layer, *stack]
            self._ends.clear()
            try:
                self._extend_graph()
            finally:
                self._stack = stack
                self._tracked[:] = list(stack)
        self.built = True

    def _first_dtype(self) -> Any:
        first = self._stack[0]
        # Layers of tokens take inputs that are not of the dtype they compute in.
        return getattr(first, "_input_dtype", None) or first.compute_dtype or "float32"

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers one after the other."""
        if self.outputs is not None and self._terms:
            return super().call(inputs, training, mask)
        if isinstance(inputs, list | tuple) and len(inputs) == 1 and self.outputs is not None:
            inputs = inputs[0]
        if mask is not None:
            (inputs,) = masking.masked([inputs], [mask])
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    def _call_with_care(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args[1] if len(args) > 1 else kwargs.get("training")
        if self.outputs is not None or given is None:
            return super()._call_with_care(args, kwargs)
        # The graph of layers is made in the course of this call, and in training if that is:
        # layers that count seeds of their own take one more then.
        before, context.training = context.training, given
        try:
            return super()._call_with_care(args, kwargs)
        finally:
            context.training = before

    def _maybe_build(self, inputs: Any) -> None:
        # The layers build themselves when called; the graph only serves shapes and summaries.
        shape = None if is_encoded(inputs) else getattr(inputs, "shape", None)
        if self.outputs is None and shape is not None and shape.rank is not None:
            # As where the shape is known beforehand: not in the caller's scope, nor in its graph.
            scope, context.scope = context.scope, ""
            try:
                with tf.init_scope(), tf.name_scope(""):
                    self.build(shape)
            except Exception:
                # Layers that make no graph of layers may still run; if not, they say why.
                self.inputs = self.outputs = None
            finally:
                context.scope = scope
        self._build_input_shape = shape
        self.built = True

    @property
    def input(self) -> Any:
        self._need_graph("input")
        return super().input

    @property
    def output(self) -> Any:
        self._need_graph("output")
        return super().output

    @property
    def input_shape(self) -> Any:
        self._need_graph("input")
        return super().input_shape

    @property
    def output_shape(self) -> Any:
        self._need_graph("output")
        return super().output_shape

    def _need_graph(self, what: str) -> None:
        if self.outputs is None:
            raise AttributeError(
                f'The layer "{self.name}" has never been called and thus has no defined {what} '
                "shape."
            )

    def _whole_stack(self) -> list[Any]:
        """The layers, with an input layer in front once the shape of the inputs is known."""
        if not self._stack or _is_input(self._stack[0]) or self.outputs is None:
            return list(self._stack)
        tensor = self.inputs[0]
        start = tf.keras.layers.InputLayer(
            batch_input_shape=tuple(tensor.shape),
            dtype=tensor.dtype,
            name=f"{self._stack[0].name}_input",
        )
        return [start, *self._stack]

    def get_config(self) -> dict[str, Any]:
        """The configurations of the layers."""
        serialize = tf.keras.saving.serialize_keras_object
        return {"name": self.name, "layers": [serialize(layer) for layer in self._whole_stack()]}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Sequential:
        """A model made from `get_config`."""
        layers = config["layers"] if isinstance(config, dict) else config
        name = config.get("name") if isinstance(config, dict) else None
        model = cls(name=name)
        for each in layers:
            model.add(tf.keras.layers.deserialize(each, custom_objects=custom_objects))
        shape = config.get("build_input_shape") if isinstance(config, dict) else None
        if shape and not model.built:
            model.build(shape)
        return model


def _is_input(layer: Any) -> bool:
    return isinstance(layer, tf.keras.layers.InputLayer)


def _first_input_shape(layer: Any) -> Any:
    """The shape and dtype of the inputs, where the first layer was given them."""
    while isinstance(layer, Model) and layer.layers:
        inputs = getattr(layer, "inputs", None)
        if inputs:
            return tuple(inputs[0].shape), inputs[0].dtype
        layer = layer.layers[0]
    shape = getattr(layer, "_batch_input_shape", None)
    return None if shape is None else (shape, layer.compute_dtype)

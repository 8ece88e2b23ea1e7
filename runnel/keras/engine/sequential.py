"""Sequential: a linear stack of layers."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.context import state
from . import masking
from .base_layer import Layer
from .call_context import context
from .composite_data import is_encoded
from .functional import Functional, _fitted
from .keras_tensor import Node, is_keras_tensor
from .model import Model
from .tracking import unique


class Sequential(Functional):
    """A stack of layers, each with one input and one output.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.ReLU()])
    >>> model(tf.ones([3, 4])).shape
    TensorShape([3, 2])
    """

    def __init__(self, layers: Any = None, name: str | None = None) -> None:
        Model.__init__(self, name=name)
        self._stack: list[Layer] = []
        # The symbolic output of each layer, as far as the graph was built.
        self._ends: list[Any] = []
        # The index of the first layer that is not an input layer.
        self._first = 0
        self._without_inputs()
        if layers:
            for layer in layers if isinstance(layers, list | tuple) else [layers]:
                self.add(layer)

    def _without_inputs(self) -> None:
        """Mark the input shape as unknown: it is inferred from the first inputs."""
        self.inputs = self.outputs = None  # type: ignore[assignment]
        self.built = False
        # Whether the first layer defines the input shape.
        self._shape_is_given = False
        # The inferred shape of the graph; sizes that varied are None.
        self._met_shape: tuple[int | None, ...] | None = None
        # Whether the layers only run in sequence, without a symbolic graph.
        self._only_runs = False

    def add(self, layer: Any) -> None:
        """Append a layer to the stack."""
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
        if any(each.name == layer.name and each is not layer for each in self._stack):
            raise ValueError(
                "All layers added to a Sequential model should have unique names. Name "
                f'"{layer.name}" is already the name of a layer in this model. Update the `name` '
                "argument to pass a unique name."
            )
        if not self._stack:
            if not _is_input(layer):
                first = _first_input_shape(layer)
                if first is not None:
                    shape, dtype = first
                    name = f"{layer.name}_input"
                    tensor = tf.keras.Input(batch_shape=shape, dtype=dtype, name=name)
                    self._stack.append(tensor.op.layer)
            self._shape_is_given = _is_input(layer) or bool(self._stack)
        self._stack.append(layer)
        self._first = int(_is_input(self._stack[0]))
        self._tracked[:] = unique(self._stack)
        if self._shape_is_given or self.outputs is not None:
            self._extend_graph(self._stack)
        else:
            self.built = False

    def _extend_graph(self, stack: list[Any]) -> None:
        """Call the layers not called symbolically yet; the first one is the input layer."""
        if not self._ends:
            self._ends.append(stack[0]._inbound_nodes[0].outputs)
        if not _is_input(stack[0]):
            # The graph was inferred from inputs; its input layer is not part of the stack.
            stack = [self.inputs[0].op.layer, *stack]
        del self._ends[len(stack) :]
        # Called once, so that later layers continue from this output.
        for layer in stack[len(self._ends) :]:
            end = layer(self._ends[-1])
            if len(tf.nest.flatten(end)) != 1:
                raise _several_outputs(layer)
            self._ends.append(end)
        self._connect(self._ends[0], self._ends[-1])
        self._tracked[:] = unique(self._stack)

    def pop(self) -> None:
        """Remove the last layer."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self._stack.pop()
        self._tracked[:] = unique(self._stack)
        if not self.layers:
            self._ends.clear()
            self._without_inputs()
        elif self.outputs is not None:
            self._extend_graph(self._stack)
        else:
            self.built = False

    @property
    def layers(self) -> list[Any]:
        layers = unique(self._stack)
        return layers[1:] if layers and _is_input(layers[0]) else layers

    @property
    def input_spec(self) -> Any:
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        Layer.input_spec.fset(self, value)  # type: ignore[attr-defined]

    def _spec_of_inputs(self) -> Any:
        return super()._spec_of_inputs() if self._shape_is_given else None

    def build(self, input_shape: Any = None) -> None:
        """Create the weights for inputs of a shape."""
        if self.outputs is None:
            if input_shape is None:
                raise ValueError("You must provide an `input_shape` argument.")
            if self._stack:
                self._make_graph(tuple(tf.TensorShape(input_shape)), self._first_dtype())
            else:
                self._build_input_shape = input_shape
        self.built = True

    def _make_graph(self, shape: tuple[int | None, ...], dtype: Any) -> None:
        """Call the layers symbolically on an input of a shape, replacing the previous graph."""
        stack = [layer for layer in self._stack if not _is_input(layer)]
        for node in {id(node): node for node in self._nodes_made()}.values():
            node.layer._inbound_nodes.remove(node)
        tensor = tf.keras.Input(batch_shape=shape, dtype=dtype, name=f"{stack[0].name}_input")
        self._ends.clear()
        self._extend_graph([tensor.op.layer, *stack])
        self._met_shape = shape

    def _nodes_made(self) -> list[Any]:
        """The calls that make up the graph."""
        ends = tf.nest.flatten(self._ends[1:])
        return [end.op for end in ends if isinstance(getattr(end, "op", None), Node)]

    def _first_dtype(self) -> Any:
        first = self._stack[0]
        # Layers of tokens accept inputs in other dtypes than their compute dtype.
        return getattr(first, "_input_dtype", None) or first.compute_dtype or "float32"

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Run the layers in sequence."""
        if self.outputs is not None and not self._shape_is_given:
            self._meet(inputs)
        if self.outputs is not None:
            if self._terms:
                return super().call(inputs, training, mask)
            if not isinstance(inputs, tf.Tensor):
                (inputs,) = self._flat_inputs(inputs)
            inputs = _fitted(inputs, self.inputs[0])
        if mask is not None:
            (inputs,) = masking.masked([inputs], [mask])
        for layer in self._stack[self._first :]:
            inputs = layer(inputs)
            if self._only_runs and len(tf.nest.flatten(inputs)) != 1:
                raise _several_outputs(layer)
        return inputs

    def _meet(self, inputs: Any) -> None:
        """Relax the graph's input shape, so that it covers these inputs and the earlier ones."""
        shape, met = getattr(inputs, "shape", None), self._met_shape
        if met is None or shape is None or shape.rank != len(met):
            return
        sizes = shape.as_list()
        if any(old is not None and old != new for old, new in zip(met, sizes, strict=True)):
            relaxed = (old if old == new else None for old, new in zip(met, sizes, strict=True))
            self._try_graph(tuple(relaxed), inputs.dtype)

    def _call_with_care(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = args[1] if len(args) > 1 else kwargs.get("training")
        if self.outputs is not None or given is None:
            return super()._call_with_care(args, kwargs)
        # The graph is built during this call, with its training flag: layers that count seeds
        # consume one more then.
        before, context.training = context.training, given
        try:
            return super()._call_with_care(args, kwargs)
        finally:
            context.training = before

    def _maybe_build(self, inputs: Any) -> None:
        # The layers build themselves when called; the graph is for shapes and summaries.
        shape = None if is_encoded(inputs) else getattr(inputs, "shape", None)
        known = shape is not None and shape.rank is not None
        if known and self.outputs is None and self._stack and not self._only_runs:
            self._try_graph(tuple(shape), inputs.dtype)
        elif not known:
            self._only_runs = True
        self._build_input_shape = shape
        self.built = True

    def _try_graph(self, shape: tuple[int | None, ...], dtype: Any) -> None:
        """Build the graph; layers that cannot be called symbolically may still run or raise."""
        # As with a known input shape: outside of the caller's scope and graph. In a program's
        # graph, which also holds the weights, the scope is preserved.
        wanted = "" if state.home is None else self._scope() + "/"
        scope, context.scope = context.scope, wanted.rstrip("/")
        try:
            with tf.init_scope(), tf.name_scope(wanted):
                self._make_graph(shape, dtype)
        except Exception:
            self._only_runs = True
            self.inputs = self.outputs = None  # type: ignore[assignment]
        finally:
            context.scope = scope

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
        """The layers, preceded by an input layer once the input shape is known."""
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
        """The layers' configs."""
        serialize = tf.keras.saving.serialize_keras_object
        return {"name": self.name, "layers": [serialize(layer) for layer in self._whole_stack()]}

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Sequential:
        """Create a model from its config."""
        layers = config["layers"] if isinstance(config, dict) else config
        name = config.get("name") if isinstance(config, dict) else None
        model = cls(name=name)
        made: dict[Any, Any] = {}
        for each in layers:
            layer = tf.keras.layers.deserialize(each, custom_objects=custom_objects)
            # A layer that is called several times is a single object.
            model.add(made.setdefault(layer.name, layer))
        shape = config.get("build_input_shape") if isinstance(config, dict) else None
        if shape and not model.built:
            model.build(shape)
        return model


def _several_outputs(layer: Any) -> ValueError:
    return ValueError(
        "All layers in a Sequential model should have a single output tensor. For "
        f"multi-output layers, use the functional API. Received: {layer.name}"
    )


def _is_input(layer: Any) -> bool:
    return isinstance(layer, tf.keras.layers.InputLayer)


def _first_input_shape(layer: Any) -> Any:
    """The input shape and dtype, if defined by the first layer."""
    while isinstance(layer, Functional):
        if not layer.layers:
            raise ValueError("Cannot add an empty model to a `Sequential` model.")
        inputs = getattr(layer, "inputs", None)
        if inputs:
            return tuple(inputs[0].shape), inputs[0].dtype
        layer = layer.layers[0]
    shape = getattr(layer, "_batch_input_shape", None)
    return None if shape is None else (shape, layer.compute_dtype)

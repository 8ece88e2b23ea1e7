"""Functional models as configs: the layers, and the calls of each on the outputs of others.

A reference to a tensor is [layer name, index of the layer's call, index of the output]; within
calls a fourth entry holds the other arguments. This is the format of Keras 2 files.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

import runnel as tf

from ..layers.op_lambda import InstanceProperty, TFOpLambda
from ..layers.serializing import deserialize
from ..loading_limits import calls_of_model, claim_calls
from ..serialization import serialize_keras_object
from .added_terms import AddLoss, AddMetric
from .call_spec import call_spec
from .keras_tensor import holds_keras_tensors, is_keras_tensor
from .layer_order import call_of
from .rebuilding import results_of, split_arguments

_CONSTANT = "_CONSTANT_VALUE"
_TERMS = {"AddLoss": AddLoss, "AddMetric": AddMetric}


def functional_config(model: Any) -> dict[str, Any]:
    """The config of a functional model."""
    writer = _Writer(model)
    return {
        "name": model.name,
        "trainable": model.trainable,
        "layers": [writer.layer(layer) for layer in model._layers],
        "input_layers": writer.structure(model._nested_inputs),
        "output_layers": writer.structure(model._nested_outputs),
    }


def _first_index(layer: Any) -> int:
    """The index of a layer's first call; a model's own graph is call 0 of the model."""
    from .functional import Functional

    return 1 if isinstance(layer, Functional) and getattr(layer, "inputs", None) else 0


class _Writer:
    """Serializes the layers of one model, numbering their calls within it."""

    def __init__(self, model: Any) -> None:
        steps = {id(step) for step in model._steps}
        self._index: dict[int, int] = {}
        self._calls: dict[int, list[Any]] = {}
        self._results: dict[int, dict[int, int]] = {}
        for layer in model._layers:
            is_input = isinstance(layer, tf.keras.layers.InputLayer)
            calls = [n for n in layer._inbound_nodes if id(n) in steps or is_input]
            if getattr(layer, "operations", None):
                calls = [layer]
            for index, call in enumerate(calls, start=_first_index(layer)):
                self._index[id(call)] = index
            self._calls[id(layer)] = [] if is_input else calls

    def layer(self, layer: Any) -> dict[str, Any]:
        """The config of a layer, including its calls."""
        config = serialize_keras_object(layer)
        if isinstance(layer, TFOpLambda | InstanceProperty):
            config["module"] = "tf_keras.src.layers.core.tf_op_layer"
            config["registered_name"] = type(layer).__name__
        config["name"] = layer.name
        config["inbound_nodes"] = [self._call(layer, call) for call in self._calls[id(layer)]]
        return config

    def structure(self, tensors: Any) -> Any:
        """The references to a model's inputs or outputs, in their structure."""
        if is_keras_tensor(tensors):
            return [self._reference(tensors)]
        return tf.nest.map_structure(self._reference, tensors)

    def _reference(self, tensor: Any) -> list[Any]:
        call = call_of(tensor)
        if isinstance(call, TFOpLambda):
            if id(call) not in self._results:
                self._results[id(call)] = results_of(call)
            index = self._results[id(call)][id(getattr(tensor, "_main", tensor))]
        else:
            index = tensor._keras_history.tensor_index
        layer = getattr(call, "layer", call)
        return [layer.name, self._index[id(call)], index]

    def _call(self, layer: Any, call: Any) -> Any:
        if isinstance(call, TFOpLambda):
            first, kwargs = split_arguments(call)
        else:
            first, rest, kwargs = call.arguments
            kwargs = {**dict(zip(call_spec(type(layer)).names[1:], rest)), **kwargs}  # noqa: B905
        written = {key: self._argument(layer, value) for key, value in kwargs.items()}
        data = tf.nest.map_structure(lambda value: self._input(layer, value, written), first)
        nested = isinstance(first, list | tuple | dict)
        return data if nested or isinstance(layer, TFOpLambda | InstanceProperty) else [data]

    def _input(self, layer: Any, value: Any, kwargs: dict[str, Any]) -> list[Any]:
        if is_keras_tensor(value):
            return [*self._reference(value), kwargs]
        return [_CONSTANT, -1, self._argument(layer, value), kwargs]

    def _argument(self, layer: Any, value: Any) -> Any:
        if is_keras_tensor(value):
            return self._reference(value)
        if isinstance(value, list | tuple):
            return type(value)(self._argument(layer, each) for each in value)
        if isinstance(value, dict):
            return {key: self._argument(layer, each) for key, each in value.items()}
        if value is Ellipsis:
            return {"class_name": "__ellipsis__"}
        if isinstance(value, tf.Variable | tf.Module):
            raise ValueError(
                f"The layer {layer.name!r} was called on {value!r}, which belongs to no layer and "
                "cannot be written into a config. Make it a weight of a layer of your own."
            )
        if isinstance(value, tf.Tensor):
            value = value.numpy()
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        return value


def functional_from_config(cls: Any, config: dict[str, Any], custom_objects: Any = None) -> Any:
    """The model that `functional_config` described."""
    with calls_of_model():
        reader = _Reader(config, custom_objects)
    inputs = reader.structure(config["input_layers"])
    outputs = reader.structure(config["output_layers"])
    options = {"trainable": config["trainable"]} if "trainable" in config else {}
    model = cls(inputs=inputs, outputs=outputs, name=config.get("name"), **options)
    if terms := reader.terms():
        model._add_terms(terms)
    return model


class _Reader:
    """Creates the layers of a model, and calls each as soon as its inputs are available."""

    def __init__(self, config: dict[str, Any], custom_objects: Any) -> None:
        self._layers: dict[str, Any] = {}
        self._outputs: dict[str, list[list[Any]]] = defaultdict(list)
        waiting: dict[str, list[Any]] = {}
        for each in config["layers"]:
            layer = deserialize(
                {key: value for key, value in each.items() if key != "build_config"},
                {**_TERMS, **(custom_objects or {})},
            )
            name = each.get("name", layer.name)
            self._layers[name] = layer
            waiting[name] = list(each["inbound_nodes"])
            if isinstance(layer, tf.keras.layers.InputLayer):
                self._outputs[name].append(tf.nest.flatten(layer.output))
                waiting[name] = []
        self._call_all(waiting)

    def _call_all(self, waiting: dict[str, list[Any]]) -> None:
        # A worklist: layers that others waited for and that were called since, or not visited yet.
        for calls in waiting.values():
            calls.reverse()
        ready = list(waiting)
        followers: dict[str, list[str]] = defaultdict(list)
        while ready:
            again: dict[str, None] = {}
            for name in ready:
                calls = waiting[name]
                while calls:
                    missing = self._missing(calls[-1])
                    if missing is not None:
                        followers[missing].append(name)
                        break
                    self._call(name, calls.pop())
                    again.update(dict.fromkeys(followers.pop(name, ())))
            ready = list(again)
        stuck = [name for name, calls in waiting.items() if calls]
        if stuck:
            raise ValueError(
                "The config of the model is not complete: these layers are called on outputs "
                f"that no layer makes: {stuck}."
            )

    def _missing(self, value: Any) -> str | None:
        """A layer that must be called before a call with these arguments."""
        if self._is_reference(value):
            if value[0] != _CONSTANT and self._found(value) is None:
                return str(value[0])
            return self._missing(value[3]) if len(value) == 4 else None
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list | tuple):
            for each in value:
                if (missing := self._missing(each)) is not None:
                    return missing
        return None

    def _is_reference(self, value: Any) -> bool:
        if not isinstance(value, list | tuple) or len(value) not in (3, 4):
            return False
        name, index = value[0], value[1]
        if not isinstance(name, str) or not isinstance(index, int):
            return False
        # Three-element values may be arguments that only look like references; with four it is
        # certain.
        return name in self._layers or (len(value) == 4 and isinstance(value[3], dict))

    def _found(self, reference: Any) -> Any:
        name, call, output = reference[:3]
        if name not in self._layers:
            return None
        calls = self._outputs[name]
        call -= _first_index(self._layers[name])
        return calls[call][output] if 0 <= call < len(calls) else None

    def _value(self, value: Any) -> Any:
        """An argument with its references resolved to tensors."""
        if self._is_reference(value):
            return value[2] if value[0] == _CONSTANT else self._found(value)
        if isinstance(value, dict):
            return {key: self._value(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return type(value)([self._value(each) for each in value])
        return value

    def _call(self, name: str, data: Any) -> None:
        layer = self._layers[name]
        kwargs = self._value(self._kwargs(data))
        inputs = self._value(data)
        lone = isinstance(inputs, list) and len(inputs) == 1 and is_keras_tensor(inputs[0])
        if lone and not isinstance(layer, TFOpLambda):
            inputs = inputs[0]
        if isinstance(layer, TFOpLambda):
            layer._function()
        if not holds_keras_tensors((inputs, kwargs)):
            # It would be computed now, whatever it takes, and be no part of the model.
            what = getattr(layer, "function_name", type(layer).__name__)
            raise ValueError(
                f"The config of the model calls {what} in the layer {name!r} on constants alone, "
                "without a tensor of the model."
            )
        claim_calls(name, layer)
        self._outputs[name].append(tf.nest.flatten(layer(inputs, **kwargs)))

    def _kwargs(self, data: Any) -> dict[str, Any]:
        """The other arguments of a call: stored with each of its inputs."""
        if self._is_reference(data):
            return data[3] if len(data) == 4 else {}
        parts = data.values() if isinstance(data, dict) else data
        for part in parts:
            return self._kwargs(part)
        return {}

    def terms(self) -> list[Any]:
        """The outputs of layers that add losses and metrics on intermediate values."""
        kinds = tuple(_TERMS.values())
        named = [name for name, layer in self._layers.items() if isinstance(layer, kinds)]
        return [tensor for name in named for call in self._outputs[name] for tensor in call]

    def structure(self, references: Any) -> Any:
        """The inputs or outputs of a model; a single one is not in a list."""
        if isinstance(references, list | tuple) and len(references) == 1:
            references = references[0]
        return self._value(references)

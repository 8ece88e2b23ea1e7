"""tf.keras.models: models, cloning, and loading from files and configs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ..core.suggestions import suggesting as _suggesting
from .engine import experimental_models
from .engine.functional import Functional
from .engine.keras_tensor import is_keras_tensor, note_value
from .engine.model import Model as Model
from .engine.rebuilding import rebuilt
from .engine.sequential import Sequential as Sequential
from .engine.tracking import unique
from .layers.input_layer import InputLayer
from .saving.api import (
    load_model as load_model,
    model_from_config as model_from_config,
    model_from_json as model_from_json,
    save_model as save_model,
)

experimental = experimental_models


def model_from_yaml(yaml_string: str, custom_objects: Any = None) -> Any:
    """Not supported: YAML could execute code. Use `model_from_json`."""
    raise RuntimeError(
        "Method `model_from_yaml()` has been removed due to security risk of arbitrary code "
        "execution. Please use `Model.to_json()` and `model_from_json()` instead."
    )


def clone_model(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Any], Any] | None = None
) -> Any:
    """A model of equal layers with new weights.

    `clone_function(layer)` returns the replacement of a layer; inputs stay inputs.

    >>> model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    >>> copy = tf.keras.models.clone_model(model)
    >>> copy.output_shape, copy.weights[0] is model.weights[0]
    ((None, 2), False)
    """
    if isinstance(model, Sequential):
        return _clone_sequential(model, input_tensors, clone_function or _clone_layer)
    if isinstance(model, Functional):
        if clone_function is None and type(model) is not Functional and input_tensors is None:
            return type(model).from_config(model.get_config())
        return _clone_functional(model, input_tensors, clone_function or _clone_layer)
    if clone_function is not None or input_tensors is not None:
        raise ValueError(
            "Arguments clone_function and input_tensors are only supported for Sequential models "
            f"or Functional models. Received model of type '{type(model).__name__}'."
        )
    if not isinstance(model, Model):
        raise ValueError(
            f"Expected `model` argument to be a `Model` instance. Received: model={model}"
        )
    return type(model).from_config(model.get_config())


def _clone_layer(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def _clone_sequential(model: Any, input_tensors: Any, clone: Callable[[Any], Any]) -> Any:
    stack = model._whole_stack()
    clones = {
        id(layer): _clone_layer(layer) if isinstance(layer, InputLayer) else clone(layer)
        for layer in unique(stack)
    }
    layers = [clones[id(layer)] for layer in stack]
    if input_tensors is not None:
        given = tf.nest.flatten(input_tensors)
        if len(given) != 1 or not is_keras_tensor(given[0]):
            raise ValueError(
                "A Sequential model has one input: `input_tensors` should be one tensor of "
                f"tf.keras.Input. Received: {input_tensors}"
            )
        layers = [given[0], *[layer for layer in layers if not isinstance(layer, InputLayer)]]
    return Sequential(layers, name=model.name)


def _clone_functional(model: Any, input_tensors: Any, clone: Callable[[Any], Any]) -> Any:
    if input_tensors is None:
        new = [_clone_layer(tensor.op.layer).output for tensor in model.inputs]
    else:
        new = tf.nest.flatten(input_tensors)
        if len(new) != len(model.inputs):
            raise ValueError(
                f"The model has {len(model.inputs)} inputs, but `input_tensors` has {len(new)}."
            )
    values: dict[int, Any] = {}
    for old, tensor in zip(model.inputs, new, strict=True):
        note_value(values, old, tensor)
    copies: dict[int, Any] = {}

    def copy_of(layer: Any) -> Any:
        if id(layer) not in copies:
            copies[id(layer)] = clone(layer)
        return copies[id(layer)]

    ends = model._nested_outputs, model._terms
    outputs, terms = rebuilt(model._steps, values, ends, copy_of)
    inputs = tf.nest.pack_sequence_as(model._nested_inputs, new)
    copy = Functional(inputs, outputs, name=model.name)
    if terms:
        copy._add_terms(terms)
    return copy


__getattr__ = _suggesting(__name__)

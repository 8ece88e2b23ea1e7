"""Lambda: any function as a layer."""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any

import numpy as np

import runnel as tf

from ..code_objects import LiveText, dump_code, is_trusted, load_code, require_trust
from ..engine.base_layer import Layer
from ..object_registration import get_registered_object


class Lambda(Layer):
    """An arbitrary function of tensors as a layer; it must not create variables.

    >>> tf.keras.layers.Lambda(lambda x: x**2)(tf.constant([3.0])).numpy().tolist()
    [9.0]
    """

    def __init__(self, function, output_shape=None, mask=None, arguments=None, **kwargs):
        super().__init__(**kwargs)
        self.arguments = arguments or {}
        if not callable(function):
            raise TypeError(f"A Lambda layer needs a function, an unsupported {function!r} came.")
        self.function = function
        self.mask = mask
        self.supports_masking = True
        self._output_shape = output_shape
        names = _parameters(function)
        self._takes_mask = "mask" in names and "mask" not in self.arguments
        self._takes_training = "training" in names and "training" not in self.arguments

    def call(self, inputs, mask=None, training=None):
        """function(inputs)"""
        kwargs = dict(self.arguments)
        if self._takes_mask:
            kwargs["mask"] = mask
        if self._takes_training:
            kwargs["training"] = training
        made: list[Any] = []

        def note(creator: Any, **options: Any) -> Any:
            variable = creator(**options)
            made.append(variable)
            return variable

        with tf.variable_creator_scope(note):
            outputs = self.function(inputs, **kwargs)
        if made:
            names = "\n".join(f"  {variable!r}" for variable in made)
            raise ValueError(
                f"The following Variables were created within a Lambda layer ({self.name}) but are "
                f"not tracked by said layer:\n{names}\nThe layer cannot safely ensure proper "
                "Variable reuse across multiple calls, and consequently this behavior is "
                "disallowed for safety. Lambda layers are not well suited to stateful "
                "computation; instead, writing a subclassed Layer is the recommend way to define "
                "layers with Variables."
            )
        return outputs

    def compute_mask(self, inputs, mask=None):
        """The given mask, or the given mask function of the inputs and their mask."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape):
        """The given shape or shape function; otherwise inferred by a trial call."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return _shapes_in(self._output_shape(input_shape))
        first = tf.nest.flatten(_shapes_in(input_shape))[0]
        batch = tf.TensorShape([first[0] if first.rank else None])
        if isinstance(self._output_shape, int):
            return batch.concatenate([self._output_shape])
        shapes = _shapes_in(self._output_shape)
        return tf.nest.map_structure(batch.concatenate, shapes)

    def get_config(self):
        """The constructor arguments, as a dict; a `lambda` as its marshalled code."""
        function, kind, module = _function_config(self.function)
        shape, shape_kind, shape_module = _function_config(self._output_shape)
        config: dict[str, Any] = {
            "function": function,
            "function_type": kind,
            "module": module,
            "output_shape": shape,
            "output_shape_type": shape_kind,
            "output_shape_module": shape_module,
        }
        if self.mask is not None:
            mask, mask_kind, mask_module = _function_config(self.mask)
            config.update(mask=mask, mask_type=mask_kind, mask_module=mask_module)
        config["arguments"] = self.arguments
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config; code in it runs only with safe mode disabled."""
        config = dict(config)
        function = _function_of(
            config, custom_objects, "function", config.pop("function_type"), config.pop("module")
        )
        shape = _function_of(
            config,
            custom_objects,
            "output_shape",
            config.pop("output_shape_type", "raw"),
            config.pop("output_shape_module", None),
        )
        if "mask" in config:
            config["mask"] = _function_of(
                config,
                custom_objects,
                "mask",
                config.pop("mask_type", "raw"),
                config.pop("mask_module", None),
            )
        config["function"], config["output_shape"] = function, shape
        config["arguments"] = {
            key: np.array(value["value"])
            if isinstance(value, dict) and value.get("type") == "ndarray"
            else value
            for key, value in (config.get("arguments") or {}).items()
        }
        return cls(**config)


def _shapes_in(value: Any) -> Any:
    """Nested shapes given as lists or tuples of sizes, as TensorShapes."""
    if isinstance(value, dict):
        return {key: _shapes_in(each) for key, each in value.items()}
    if not isinstance(value, list | tuple) or all(each is None or _is_size(each) for each in value):
        return tf.TensorShape(value)
    return type(value)(_shapes_in([each] if _is_size(each) else each) for each in value)


def _is_size(value: Any) -> bool:
    return isinstance(value, int | np.integer)


def _parameters(function: Any) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return []


def _function_config(value: Any) -> tuple[Any, str, str | None]:
    """The config of a function: its code or name, its type, and its module."""
    if isinstance(value, types.LambdaType) and value.__name__ == "<lambda>":
        return dump_code(value), "lambda", value.__module__
    if callable(value):
        return LiveText(value.__name__, value), "function", value.__module__
    return value, "raw", None


def _function_of(config: Any, custom_objects: Any, key: str, kind: str, module: Any) -> Any:
    value = config[key]
    if kind == "function":
        known = {**(custom_objects or {})}
        found = known.get(value) or get_registered_object(value)
        if found is None and isinstance(value, LiveText):
            found = value.value
        # A file must not choose which module's function is called.
        if found is None and module is not None and is_trusted():
            found = getattr(importlib.import_module(module), value, None)
        if found is None:
            raise ValueError(
                f"Unknown {key} of a Lambda layer: {value!r}. Name it in `custom_objects` or in a "
                "`tf.keras.utils.custom_object_scope`; with `safe_mode=False` it is taken from the "
                f"module that the file names, {module}."
            )
        return found
    if kind == "lambda":
        if isinstance(value, list | tuple) and value and isinstance(value[0], LiveText):
            return value[0].value
        require_trust("a Lambda layer with a Python `lambda` inside it")
        code = value["value"] if isinstance(value, dict) else value
        return load_code(code, {"tf": tf, "np": np})
    return value

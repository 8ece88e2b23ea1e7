"""Keras 3 files: conversion of configs to Keras 2, and the variable order.

The layers are mostly the same. The differences are the format of calls in functional models, dtype
policies as objects, the name of an input's shape, options that exist only in Keras 3, and the
learning rate among an optimizer's variables.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import runnel as tf

from ..engine.base_layer import _ALLOWED, Layer
from ..engine.call_spec import call_spec
from ..layers.serializing import known_layers
from ..object_registration import get_registered_object
from ..optimizers.base import Optimizer
from . import keras3_operations

# Where non-layer classes are looked up, for legacy configs without modules.
_HOMES = ("optimizers", "losses", "metrics", "initializers", "regularizers", "constraints")
# Options that are renamed.
_RENAMED = {
    "InputLayer": {"batch_shape": "batch_input_shape"},
    "LeakyReLU": {"negative_slope": "alpha"},
}
# The neutral values of options that exist only in Keras 3; for all others None and False.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "autocast": (True,),
    "data_format": ("channels_last",),
    "encoding": ("utf-8",),
    "fill_mode": ("constant",),
    "fill_value": (0.0,),
    "oov_method": ("floormod",),
    "renorm_momentum": (0.99,),
}
# Options that do not affect results.
_IGNORED = frozenset({"seed", "vocabulary_size", "quantization_config", "shared_object_id"})
# Arguments that classes take in their **kwargs.
_OF_RECURRENT = frozenset({"zero_output_for_mask"})
_OF_OPTIMIZERS = frozenset(
    {"name", "learning_rate", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm"}
    | {"use_ema", "ema_momentum", "ema_overwrite_frequency"}
)
# Layers on strings have another dtype in Keras 3: that of their numeric outputs.
_OF_STRINGS = ("TextVectorization", "StringLookup", "IntegerLookup", "Hashing")
_COMPILE = frozenset(
    {"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics", "run_eagerly"}
    | {"steps_per_execution", "jit_compile"}
)


def is_version_3(version: Any) -> bool:
    """Whether a file's version is one of Keras 3."""
    if isinstance(version, bytes):
        version = version.decode()
    return str(version or "").partition(".")[0] == "3"


def as_version_2(config: Any) -> Any:
    """Convert a Keras 3 config to the Keras 2 format."""
    if isinstance(config, list | tuple):
        return type(config)(as_version_2(each) for each in config)
    if not isinstance(config, dict):
        return config
    if "class_name" not in config or "config" not in config:
        return {key: as_version_2(value) for key, value in config.items()}
    name, inner = config["class_name"], config["config"]
    if name in ("DTypePolicy", "FloatDTypePolicy"):
        return inner["name"]
    if name == "__slice__":
        return inner
    if not isinstance(inner, dict) or name.startswith("__"):
        return config
    cls = _class_of(config)
    result = {**config, "config": _inner(config, cls)}
    if cls is not None and not issubclass(cls, tf.keras.Sequential):
        # A layer of a functional model is built when called.
        result.pop("build_config", None)
    compiled = config.get("compile_config")
    if isinstance(compiled, dict):
        result["compile_config"] = compile_arguments(compiled)
    return result


def lost_vocabularies(config: Any) -> list[str]:
    """The layers whose learnt vocabulary is missing from a config; HDF5 files have no copy."""
    if isinstance(config, list | tuple):
        return [name for each in config for name in lost_vocabularies(each)]
    if not isinstance(config, dict):
        return []
    names = [name for each in config.values() for name in lost_vocabularies(each)]
    if config.get("vocabulary_size") and config.get("vocabulary", "") is None:
        names.append(str(config.get("name")))
    return names


def compile_arguments(config: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `compile` in a file."""
    kept = {key: as_version_2(value) for key, value in config.items() if key in _COMPILE}
    if kept.get("jit_compile") == "auto":
        kept["jit_compile"] = None
    return kept


def _class_of(config: dict[str, Any]) -> Any:
    """Our class for a config; None for custom classes."""
    name = config["class_name"]
    for known in (config.get("registered_name"), name):
        if known and get_registered_object(known) is not None:
            return None
    if not str(config.get("module") or "keras").startswith("keras"):
        return None
    found = known_layers().get(name)
    for home in _HOMES:
        found = found or getattr(getattr(tf.keras, home), name, None)
    return found if inspect.isclass(found) else None


def _inner(config: dict[str, Any], cls: Any) -> dict[str, Any]:
    inner = config["config"]
    if isinstance(inner.get("layers"), list) and "input_layers" in inner:
        graph = _functional(inner)
        others = {key: value for key, value in inner.items() if key not in graph}
        return {**_options(others, cls, config["class_name"]), **graph}
    options = _options(inner, cls, config["class_name"])
    if cls is tf.keras.layers.MultiHeadAttention:
        # In Keras 2 the build shapes of this layer are among its options.
        shapes = (config.get("build_config") or {}).get("shapes_dict", {})
        options |= {"key_shape": shapes.get("value_shape"), **shapes}
    if cls is not None and config["class_name"] in _OF_STRINGS:
        options.pop("dtype", None)
    return options


def _options(inner: dict[str, Any], cls: Any, kind: str) -> dict[str, Any]:
    """The options of an object that our class accepts."""
    renamed = _RENAMED.get(kind, {})
    given = {renamed.get(key, key): as_version_2(value) for key, value in inner.items()}
    accepted = None if cls is None else _accepted(cls)
    if accepted is None:
        return given
    kept = {}
    for key, value in given.items():
        if key in accepted:
            kept[key] = value
        elif key in _IGNORED or value in (None, False, *_NEUTRAL.get(key, ())):
            continue
        else:
            raise ValueError(
                f"{kind} {inner.get('name', '')!r} has the option {key}={value!r} of Keras 3, "
                "which has no counterpart here."
            )
    return kept


def _accepted(cls: type) -> frozenset[str] | None:
    """The argument names that a class accepts; None if it accepts any."""
    if issubclass(cls, tf.keras.Model):
        return None
    names: set[str] = set()
    if issubclass(cls, tf.keras.layers.RNN):
        names |= _OF_RECURRENT
    for each in cls.__mro__:
        if "__init__" not in vars(each):
            continue
        if each is Layer:
            return frozenset(names | _ALLOWED | {"name", "trainable", "dtype", "dynamic"})
        if each is Optimizer:
            return frozenset(names | _OF_OPTIMIZERS)
        parameters = inspect.signature(each.__init__).parameters.values()  # type: ignore[misc]
        names.update(p.name for p in parameters)
        if not issubclass(cls, Layer) and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            return frozenset(names)
    return None


# Calls in functional models.


def _functional(inner: dict[str, Any]) -> dict[str, Any]:
    firsts = {each.get("name"): _first_call(each) for each in inner["layers"]}

    def reference(history: Any) -> list[Any]:
        name, call, output = history
        return [name, call + firsts.get(name, 0), output]

    layers = []
    for each in inner["layers"]:
        calls = each["inbound_nodes"]
        if keras3_operations.is_operation(each):
            calls = [keras3_operations.call_of(each, node) for node in calls]
            config, names, more = keras3_operations.as_layer(each)
            config = {**config, "name": each["name"]}
            alone = True
        else:
            config, more, alone = as_version_2(_with_shapes(each)), {}, False
            cls = _class_of(each) or get_registered_object(each["class_name"])
            names = tuple(call_spec(cls).names) if cls is not None else ("inputs",)
        nodes = [_call(node, names, more, alone, reference) for node in calls]
        layers.append({**config, "inbound_nodes": nodes})
    ends = {key: _ends(inner[key], reference) for key in ("input_layers", "output_layers")}
    return {"layers": layers, **ends}


def _with_shapes(layer: dict[str, Any]) -> dict[str, Any]:
    """An attention layer's config with its input shapes, which HDF5 files lack."""
    nodes = layer["inbound_nodes"]
    if layer["class_name"] != "MultiHeadAttention" or "build_config" in layer or not nodes:
        return layer
    given = dict(zip(("query", "value", "key"), nodes[0]["args"], strict=False))
    tensors = {**given, **nodes[0]["kwargs"]}
    shapes = {
        f"{name}_shape": tensors[name]["config"]["shape"]
        for name in ("query", "value", "key")
        if _is_tensor(tensors.get(name))
    }
    return {**layer, "build_config": {"shapes_dict": shapes}}


def _first_call(layer: dict[str, Any]) -> int:
    """The index of a layer's first call: in Keras 2 a model's own graph is its call 0."""
    inner = layer["config"]
    layers = inner.get("layers") if isinstance(inner, dict) else None
    if not isinstance(layers, list) or not layers:
        return 0
    return int("input_layers" in inner or layers[0].get("class_name") == "InputLayer")


def _ends(value: Any, reference: Callable[[Any], list[Any]]) -> Any:
    """The inputs or outputs of a model; a single one is in a list in Keras 2."""
    if _is_history(value):
        return [reference(value)]
    return _histories(value, reference)


def _histories(value: Any, reference: Callable[[Any], list[Any]]) -> Any:
    if _is_history(value):
        return reference(value)
    if isinstance(value, dict):
        return {key: _histories(each, reference) for key, each in value.items()}
    return [_histories(each, reference) for each in value]


def _is_history(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and isinstance(value[0], str)
        and isinstance(value[1], int)
    )


def _call(
    node: Any,
    names: tuple[str, ...],
    more: dict[str, Any],
    alone: bool,
    reference: Callable[[Any], list[Any]],
) -> Any:
    """A call {"args", "kwargs"} as lists of references, each with the other arguments."""
    if not isinstance(node, dict):
        return node
    args, kwargs = list(node["args"]), dict(node["kwargs"])
    if not args and names and names[0] in kwargs:
        args = [kwargs.pop(names[0])]
    first, rest = args[0], args[1:]
    kwargs = {**dict(zip(names[1:], rest, strict=False)), **kwargs, **more}
    # Mask and training are unspecified: they are determined at call time.
    kwargs = {
        key: _tensors(value, reference)
        for key, value in kwargs.items()
        if value is not None or key not in ("mask", "training")
    }

    def place(value: Any) -> Any:
        if _is_tensor(value):
            return [*reference(value["config"]["keras_history"]), kwargs]
        if isinstance(value, dict) and "class_name" not in value:
            return {key: place(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [place(each) for each in value]
        return ["_CONSTANT_VALUE", -1, as_version_2(value), kwargs]

    data = place(first)
    nested = isinstance(first, list | tuple) or (isinstance(first, dict) and not _is_tensor(first))
    return data if nested or alone else [data]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and value.get("class_name") == "__keras_tensor__"


def _tensors(value: Any, reference: Callable[[Any], list[Any]]) -> Any:
    """An argument with its tensors replaced by references."""
    if _is_tensor(value):
        return reference(value["config"]["keras_history"])
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _tensors(each, reference) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_tensors(each, reference) for each in value)
    return as_version_2(value)


# Optimizers.


def load_optimizer(optimizer: Any, saved: Mapping[str, Any]) -> bool:
    """Load an optimizer from Keras 3 variables; False if they do not match.

    Keras 3 stores the learning rate after the iteration count. It stores Nadam's momentum product,
    which is not a listed variable here, and unused scalars where Adafactor does not factor; SGD has
    no momentum slots unless they are used.
    """
    if not hasattr(optimizer, "_variables"):
        return False  # a wrapper around another optimizer, for loss scaling
    variables = list(optimizer._variables)
    rate = optimizer._learning_rate
    wanted = [variables[0], *([rate] if isinstance(rate, tf.Variable) else []), *variables[1:]]
    if isinstance(optimizer, tf.keras.optimizers.Nadam):
        wanted.append(optimizer._u_product)
    values = [np.asarray(saved[str(i)]) for i in range(len(saved)) if str(i) in saved]
    if _fit(variables, values):
        return False
    if isinstance(optimizer, tf.keras.optimizers.Adafactor):
        values = [value for i, value in enumerate(values) if i < 2 or value.ndim]
    if isinstance(optimizer, tf.keras.optimizers.SGD) and not optimizer.momentum:
        wanted = wanted[: len(values)]
    if not _fit(wanted, values):
        return False
    for variable, value in zip(wanted, values, strict=True):
        variable.assign(value)
    return True


def _fit(variables: list[Any], values: list[Any]) -> bool:
    return [tuple(each.shape) for each in variables] == [each.shape for each in values]

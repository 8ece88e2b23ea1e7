"""Files of Keras 3: their configs in the words of Keras 2, and the order of their variables.

The layers are much the same. Another are the form of calls in functional models, dtype policies as
objects, the name of an input's shape, options that only Keras 3 has, and the learning rate among
the variables of an optimizer.
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

# Where classes that are no layers are found, in the older form of configs without modules.
_HOMES = ("optimizers", "losses", "metrics", "initializers", "regularizers", "constraints")
# Options that have another name here.
_RENAMED = {
    "InputLayer": {"batch_shape": "batch_input_shape"},
    "LeakyReLU": {"negative_slope": "alpha"},
}
# What options of Keras 3 alone mean nothing with; None and False mean nothing for all others.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "autocast": (True,),
    "data_format": ("channels_last",),
    "encoding": ("utf-8",),
    "fill_mode": ("constant",),
    "fill_value": (0.0,),
    "oov_method": ("floormod",),
    "renorm_momentum": (0.99,),
}
# Options without a meaning for the results.
_IGNORED = frozenset({"seed", "vocabulary_size", "quantization_config", "shared_object_id"})
# Arguments that classes take among their keyword arguments.
_OF_RECURRENT = frozenset({"zero_output_for_mask"})
_OF_OPTIMIZERS = frozenset(
    {"name", "learning_rate", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm"}
    | {"use_ema", "ema_momentum", "ema_overwrite_frequency"}
)
# Layers on strings have another dtype in Keras 3: that of what they would give as numbers.
_OF_STRINGS = ("TextVectorization", "StringLookup", "IntegerLookup", "Hashing")
_COMPILE = frozenset(
    {"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics", "run_eagerly"}
    | {"steps_per_execution", "jit_compile"}
)


def is_version_3(version: Any) -> bool:
    """Whether the version in a file is one of Keras 3."""
    if isinstance(version, bytes):
        version = version.decode()
    return str(version or "").partition(".")[0] == "3"


def as_version_2(config: Any) -> Any:
    """A config of Keras 3 in the form of Keras 2."""
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
        # A layer of a functional model is built when it is called.
        result.pop("build_config", None)
    compiled = config.get("compile_config")
    if isinstance(compiled, dict):
        result["compile_config"] = compile_arguments(compiled)
    return result


def lost_vocabularies(config: Any) -> list[str]:
    """The layers whose learnt vocabulary is not in a config; HDF5 files have it nowhere else."""
    if isinstance(config, list | tuple):
        return [name for each in config for name in lost_vocabularies(each)]
    if not isinstance(config, dict):
        return []
    names = [name for each in config.values() for name in lost_vocabularies(each)]
    if config.get("vocabulary_size") and config.get("vocabulary", "") is None:
        names.append(str(config.get("name")))
    return names


def compile_arguments(config: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `compile` that a file has."""
    kept = {key: as_version_2(value) for key, value in config.items() if key in _COMPILE}
    if kept.get("jit_compile") == "auto":
        kept["jit_compile"] = None
    return kept


def _class_of(config: dict[str, Any]) -> Any:
    """The class here that a config is of; None for the user's own."""
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
        # In Keras 2 the shapes that the layer was built for are among its options.
        shapes = (config.get("build_config") or {}).get("shapes_dict", {})
        options |= {"key_shape": shapes.get("value_shape"), **shapes}
    if cls is not None and config["class_name"] in _OF_STRINGS:
        options.pop("dtype", None)
    return options


def _options(inner: dict[str, Any], cls: Any, kind: str) -> dict[str, Any]:
    """The options of an object that its class here takes."""
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
    """The names of the arguments that a class takes; None if it takes any."""
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
    """The config of an attention layer with its inputs' shapes, which HDF5 files leave out."""
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
    """The number of a layer's first call: in Keras 2 the graph of a model is its call 0."""
    inner = layer["config"]
    layers = inner.get("layers") if isinstance(inner, dict) else None
    if not isinstance(layers, list) or not layers:
        return 0
    return int("input_layers" in inner or layers[0].get("class_name") == "InputLayer")


def _ends(value: Any, reference: Callable[[Any], list[Any]]) -> Any:
    """The inputs or outputs of a model; one alone stands in a list in Keras 2."""
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
    """A call {"args", "kwargs"} as lists of references with the other arguments beside them."""
    if not isinstance(node, dict):
        return node
    args, kwargs = list(node["args"]), dict(node["kwargs"])
    if not args and names and names[0] in kwargs:
        args = [kwargs.pop(names[0])]
    first, rest = args[0], args[1:]
    kwargs = {**dict(zip(names[1:], rest, strict=False)), **kwargs, **more}
    # Nothing was said of a mask or of training: it is decided when the model is called.
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
    """An argument with references in place of tensors."""
    if _is_tensor(value):
        return reference(value["config"]["keras_history"])
    if isinstance(value, dict) and "class_name" not in value:
        return {key: _tensors(each, reference) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_tensors(each, reference) for each in value)
    return as_version_2(value)


# Optimizers.


def load_optimizer(optimizer: Any, saved: Mapping[str, Any]) -> bool:
    """Give an optimizer the variables of one of Keras 3; False if they are not those.

    Keras 3 keeps the learning rate after the number of iterations. It keeps the product of Nadam's
    momenta, which is no listed variable here, and numbers without a meaning where Adafactor has no
    rows and columns; SGD has no momenta if they are not used.
    """
    if not hasattr(optimizer, "_variables"):
        return False  # one around another, as for scaled losses
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

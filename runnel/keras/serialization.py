"""Serialization: Keras objects to and from plain dicts, lists and numbers.

The format written is {"module", "class_name", "config", "registered_name"}; the legacy
{"class_name", "config"} is read too, and written where a function takes `use_legacy_format`.
"""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any

import numpy as np

import runnel as tf

from ..core.suggestions import nearest
from .code_objects import (
    LAMBDA_WARNING,
    dump_code,
    is_trusted,
    load_code,
    loading_scope,
    require_trust,
    without_live_text,
)
from .object_registration import custom_object_scope, get_registered_name, get_registered_object

_PACKAGE = __name__.rpartition(".")[0]

# The package names that Keras has had; a config's module starts with one of them.
_KERAS_NAMES = ("keras.src", "keras", "tf_keras.src", "tf_keras", "tensorflow.keras")

# Modules whose registries resolve functions saved by their bare name. No others are searched: a
# file must not be able to name a function that deletes files.
_FUNCTION_HOMES = (
    "losses",
    "metrics",
    "activations",
    "initializers",
    "regularizers",
    "constraints",
)

_TYPE_SPEC_MODULES = {
    "TensorSpec": "tensorflow.python.framework.tensor",
    "SparseTensorSpec": "tensorflow.python.framework.sparse_tensor",
    "RaggedTensorSpec": "tensorflow.python.ops.ragged.ragged_tensor",
    "IndexedSlicesSpec": "tensorflow.python.framework.indexed_slices",
}

_NUMBERS = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint", "float", "complex") for bits in (8, 16, 32, 64, 128)
) | {"bool"}

_FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def serialize_keras_object(obj: Any) -> Any:
    """An object as JSON-serializable values: numbers, strings, lists and dicts.

    >>> tf.keras.saving.serialize_keras_object(tf.keras.initializers.Zeros())["class_name"]
    'Zeros'
    """
    if isinstance(obj, np.generic):
        return obj.item()
    if obj is None or isinstance(obj, str | int | float):
        return obj
    if isinstance(obj, list | tuple):
        values = [serialize_keras_object(value) for value in obj]
        return tuple(values) if isinstance(obj, tuple) else values
    if isinstance(obj, dict):
        return {key: serialize_keras_object(value) for key, value in obj.items()}
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("utf-8")}}
    if isinstance(obj, tf.TensorShape):
        return None if obj.rank is None else obj.as_list()
    if isinstance(obj, tf.Tensor):
        return _array_config("__tensor__", obj.numpy(), obj.dtype.name)
    if isinstance(obj, np.ndarray):
        return _array_config("__numpy__", obj, obj.dtype.name) if obj.ndim else obj.item()
    if isinstance(obj, tf.DType):
        return obj.name
    if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
        warnings.warn(LAMBDA_WARNING, UserWarning, stacklevel=2)
        return {"class_name": "__lambda__", "config": {"value": dump_code(obj)}}
    if isinstance(obj, tf.TypeSpec):
        return _type_spec_config(obj)
    if isinstance(obj, _FUNCTION_TYPES):
        kind = "function" if isinstance(obj, types.FunctionType) else type(obj).__name__
        return {
            "module": "builtins",
            "class_name": kind,
            "config": get_registered_name(obj),
            "registered_name": kind,
        }
    if not hasattr(obj, "get_config"):
        raise TypeError(
            f"Cannot serialize object {obj} of type {type(obj)}. To be serializable, a class must "
            "implement the `get_config()` method."
        )
    return _object_config(obj)


def _array_config(kind: str, array: Any, dtype: str) -> dict[str, Any]:
    return {"class_name": kind, "config": {"value": array.tolist(), "dtype": dtype}}


def _type_spec_config(spec: tf.TypeSpec) -> dict[str, Any]:
    name = type(spec).__name__
    return {
        "class_name": "__typespec__",
        "spec_name": name,
        "module": _TYPE_SPEC_MODULES.get(name, type(spec).__module__),
        "config": [serialize_keras_object(part) for part in spec._serialize()],
        "registered_name": None,
    }


def _object_config(obj: Any) -> dict[str, Any]:
    module, registered_name = _address(type(obj))
    config = {
        "module": module,
        "class_name": type(obj).__name__,
        "config": serialize_keras_object(obj.get_config()),
        "registered_name": registered_name,
    }
    for key in ("build_config", "compile_config"):
        if hasattr(obj, f"get_{key}"):
            more = getattr(obj, f"get_{key}")()
            if more is not None:
                config[key] = serialize_keras_object(more)
    return config


def _address(cls: type) -> tuple[str | None, str | None]:
    """The public module of a class, and its registered name.

    A built-in class belongs to the first Keras package that exports it; unexported ones belong to
    the original's internals.
    """
    registered_name = get_registered_name(cls)
    home = cls.__module__
    if not home.startswith(f"{_PACKAGE}."):
        return (None if home in ("builtins", "__main__") else home), registered_name
    parts = home.removeprefix(f"{_PACKAGE}.").split(".")
    inside = parts[0] in ("engine", "applications")
    for length in range(len(parts) if inside else len(parts) + 1):
        package = ".".join([_PACKAGE, *parts[:length]])
        if getattr(sys.modules.get(package), cls.__name__, None) is cls:
            return ".".join(["keras", *parts[:length]]), None
    return ".".join(["tf_keras.src", *parts]), registered_name


def deserialize_keras_object(
    config: Any, custom_objects: dict[str, Any] | None = None, safe_mode: bool = True, **kwargs: Any
) -> Any:
    """Create an object from the result of `serialize_keras_object`.

    `custom_objects` maps names to custom classes and functions. With `safe_mode`, code in the
    config is rejected.

    >>> config = tf.keras.saving.serialize_keras_object(tf.keras.initializers.Constant(3))
    >>> tf.keras.saving.deserialize_keras_object(config)([2]).numpy().tolist()
    [3.0, 3.0]
    """
    module_objects = kwargs.pop("module_objects", None)
    kwargs.pop("printable_module_name", None)
    if kwargs:
        raise ValueError(f"The following argument(s) are not supported: {list(kwargs)}")
    # While a file is loaded, the safe mode chosen for the file applies.
    with custom_object_scope(custom_objects or {}), loading_scope(safe_mode):
        return _value_of(config, module_objects)


def _value_of(config: Any, module_objects: Mapping[str, Any] | None) -> Any:
    if config is None or isinstance(config, int | float):
        return config
    if isinstance(config, str):
        return _named(config, module_objects)
    if isinstance(config, list | tuple):
        return [_value_of(value, None) for value in config]
    if not isinstance(config, dict):
        raise TypeError(
            f"Could not parse config: {config}. A config is a dict, a list, a number, a string or "
            "None."
        )
    if "class_name" not in config or "config" not in config:
        return {key: _value_of(value, None) for key, value in config.items()}
    special = _SPECIAL.get(config["class_name"])
    if special is not None:
        return special(config)
    if config["class_name"] == "function":
        return _function_named(config)
    return _built(_class_of(config, module_objects), config)


def _named(name: str, module_objects: Mapping[str, Any] | None) -> Any:
    found = get_registered_object(name)
    if found is None and module_objects and name in module_objects:
        found = module_objects[name]
        return found() if isclass(found) else found
    return name if found is None else found


def _tensor_from(config: dict[str, Any]) -> Any:
    inner = config["config"]
    return tf.constant(inner["value"], dtype=inner["dtype"])


def _array_from(config: dict[str, Any]) -> Any:
    inner = config["config"]
    # The itemsize of a string dtype could request any amount of memory.
    dtype = inner["dtype"] if str(inner["dtype"]) in _NUMBERS else None
    return np.array(inner["value"], dtype=dtype)


def _lambda_from(config: dict[str, Any]) -> Callable:
    require_trust("a `lambda` object")
    keras = sys.modules[_PACKAGE]
    names = {"tf": tf, "np": np, "keras": keras, "K": keras.backend}
    return load_code(config["config"]["value"], names)


def type_spec_from(config: dict[str, Any]) -> tf.TypeSpec:
    """The TypeSpec of a config."""
    name = config["spec_name"]
    kind = getattr(tf, name, None)
    if not (isclass(kind) and issubclass(kind, tf.TypeSpec)):
        raise TypeError(f"There is no TypeSpec {name!r}. Full object config: {config}")
    return kind(*[_value_of(part, None) for part in config["config"]])


_SPECIAL: dict[str, Callable[[dict[str, Any]], Any]] = {
    "__bytes__": lambda config: config["config"]["value"].encode("utf-8"),
    "__tensor__": _tensor_from,
    "__numpy__": _array_from,
    "__lambda__": _lambda_from,
    "__typespec__": type_spec_from,
}


def _function_named(config: dict[str, Any]) -> Callable:
    name = config["config"]
    found = get_registered_object(name)
    if found is not None:
        return found
    keras = sys.modules[_PACKAGE]
    for home in _FUNCTION_HOMES:
        found = getattr(keras, home)._registry.objects.get(name)
        if isinstance(found, types.FunctionType):
            return found
    raise TypeError(
        f"Could not locate function {name!r}. Make sure custom functions are decorated with "
        "`@tf.keras.saving.register_keras_serializable()`, or name them in `custom_objects`. Full "
        f"object config: {config}"
    )


def _class_of(config: dict[str, Any], module_objects: Mapping[str, Any] | None) -> Any:
    name = config["class_name"]
    registered_name = config.get("registered_name")
    for known in (registered_name, name):
        found = get_registered_object(known) if known else None
        if found is not None:
            return found
    if module_objects and name in module_objects:
        return module_objects[name]
    found = _class_in(config.get("module"), name, config)
    if found is None:
        raise TypeError(
            f"Could not locate class {name!r}. Make sure custom classes are decorated with "
            "`@tf.keras.saving.register_keras_serializable()`, or name them in `custom_objects`. "
            f"Full object config: {config}"
        )
    return found


def _class_in(module: str | None, name: str, config: dict[str, Any]) -> Any:
    if not module:
        return None
    for package in _KERAS_NAMES:
        if module == package or module.startswith(f"{package}."):
            return _class_of_keras(module[len(package) + 1 :], name)
    if is_trusted():
        return _imported(module, name, config)
    if module not in sys.modules:
        raise TypeError(
            f"Could not deserialize class {name!r} because its parent module {module} is not "
            "imported. Import it before loading; it is not done for you since a file should not "
            f"choose what code runs (safe_mode=False allows it). Full object config: {config}"
        )
    found = vars(sys.modules[module]).get(name)
    if found is not None and not (isclass(found) and issubclass(found, _kinds())):
        raise TypeError(
            f"Could not deserialize {name!r} of the module {module}: it is no layer, model, loss, "
            "metric, optimizer, schedule, initializer, regularizer or constraint of Keras. If it "
            "belongs to the model, decorate it with "
            "`@tf.keras.saving.register_keras_serializable()` or name it in `custom_objects`; "
            f"safe_mode=False allows it, too. Full object config: {config}"
        )
    return found


def _imported(module: str, name: str, config: dict[str, Any]) -> Any:
    try:
        return getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError:
        raise TypeError(
            f"Could not deserialize class {name!r} because its parent module {module} cannot be "
            f"imported. Full object config: {config}"
        ) from None


def _kinds() -> tuple[type, ...]:
    """# The base classes of what a file may name: classes meant to be created from configs."""
    keras = sys.modules[_PACKAGE]
    return (
        keras.layers.Layer,
        keras.losses.Loss,
        keras.optimizers.Optimizer,
        keras.optimizers.legacy.Optimizer,
        keras.optimizers.schedules.LearningRateSchedule,
        keras.initializers.Initializer,
        keras.regularizers.Regularizer,
        keras.constraints.Constraint,
    )


def _class_of_keras(path: str, name: str) -> Any:
    """A built-in class by the original's module and name: from our closest package that has it."""
    parts = path.split(".") if path else []
    for length in range(len(parts), -1, -1):
        if not all(part.isidentifier() for part in parts[:length]):
            continue
        try:
            package = importlib.import_module(".".join([_PACKAGE, *parts[:length]]))
        except ModuleNotFoundError:
            continue
        found = getattr(package, name, None)
        # Names that Keras modules merely import from elsewhere are excluded.
        if isclass(found) and found.__module__.partition(".")[0] == tf.__name__:
            return found
    return None


def _built(cls: Any, config: dict[str, Any]) -> Any:
    if not hasattr(cls, "from_config"):
        raise TypeError(
            f"Unable to reconstruct an instance of {config['class_name']!r} because the class is "
            f"missing a `from_config()` method. Full object config: {config}"
        )
    obj = cls.from_config(config["config"] or {})
    for key in ("build", "compile"):
        details = config.get(f"{key}_config")
        if details and hasattr(obj, f"{key}_from_config"):
            getattr(obj, f"{key}_from_config")(details)
    return obj


def legacy_serialize_keras_object(instance: Any) -> Any:
    """An object in the legacy format: {"class_name", "config"}, or a function's name."""
    if instance is None:
        return None
    if hasattr(instance, "get_config") and not isclass(instance):
        name = get_registered_name(type(instance))
        return {"class_name": name, "config": _legacy_config(instance.get_config())}
    if hasattr(instance, "__name__"):
        return get_registered_name(instance)
    raise ValueError(f"Cannot serialize {instance} because it doesn't implement `get_config()`.")


def _legacy_config(config: dict[str, Any]) -> dict[str, Any]:
    return {
        key: legacy_serialize_keras_object(value)
        if hasattr(value, "get_config") and not isclass(value)
        else value
        for key, value in config.items()
    }


def legacy_deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Create an object from a config in the legacy format, or a name."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(
                f"Improper config format for {identifier}. Expecting python dict contains "
                "`class_name` and `config` as keys"
            )
        name, config = identifier["class_name"], identifier["config"] or {}
        found = _known_object(name, module_objects, custom_objects, printable_module_name)
        with custom_object_scope(custom_objects or {}), loading_scope():
            return found.from_config(config) if hasattr(found, "from_config") else found(**config)
    if isinstance(identifier, str):
        name = identifier
        found = _known_object(name, module_objects, custom_objects, printable_module_name)
        return found() if isclass(found) else found
    if isinstance(identifier, types.FunctionType):
        return identifier
    raise ValueError(
        f"Could not interpret serialized {printable_module_name}: {identifier}. It should be a "
        "name or a dict with `class_name` and `config`."
    )


def _known_object(
    name: str,
    module_objects: Mapping[str, Any] | None,
    custom_objects: dict[str, Any] | None,
    kind: str,
) -> Any:
    if custom_objects and name in custom_objects:
        return custom_objects[name]
    found = get_registered_object(name, None, module_objects)
    if found is None:
        raise ValueError(unknown_name_message(kind, name, module_objects or {}))
    return found


def unknown_name_message(kind: str, name: str, known: Mapping[str, Any]) -> str:
    """The error message for an unknown name, with the closest known name."""
    near = nearest(name, known, count=5)
    if near:
        # Several names of one object give one suggestion: the closest.
        names = {id(known[each]): each for each in reversed(near)}
        suggestion = f" Did you mean {' or '.join(map(repr, list(names.values())[:-3:-1]))}?"
    else:
        several = {id(known[each]): each for each in reversed(list(known))}
        suggestion = f" Known are {', '.join(sorted(several.values()))}." if several else ""
    return (
        f"Unknown {kind}: {name!r}.{suggestion} For an object of your own, make sure it is in "
        "`custom_objects`, in a `tf.keras.utils.custom_object_scope` or registered with "
        "`@tf.keras.saving.register_keras_serializable()`."
    )


class Registry:
    """The names of one kind of Keras object: implements its `get`, `serialize` and `deserialize`.

    `objects` maps names to classes and functions, or is a function that creates such a mapping
    lazily.
    """

    def __init__(
        self, kind: str, objects: Mapping[str, Any] | Callable[[], Mapping[str, Any]]
    ) -> None:
        self.kind = kind
        self._objects = objects

    @property
    def objects(self) -> Mapping[str, Any]:
        if callable(self._objects):
            self._objects = self._objects()
        return self._objects

    def get(self, identifier: Any) -> Any:
        """The object for a name, a config, or an object; None for None."""
        if identifier is None or callable(identifier):
            return identifier
        if isinstance(identifier, str | dict):
            return self.deserialize(identifier)
        raise ValueError(
            f"Could not interpret {self.kind} identifier: {identifier}. It should be a name, a "
            "config (a dict with `class_name` and `config`) or a callable."
        )

    def serialize(self, obj: Any, use_legacy_format: bool = False) -> Any:
        """The config of an object."""
        if use_legacy_format:
            return without_live_text(legacy_serialize_keras_object(obj))
        return without_live_text(serialize_keras_object(obj))

    def deserialize(
        self,
        config: Any,
        custom_objects: dict[str, Any] | None = None,
        use_legacy_format: bool = False,
    ) -> Any:
        """Create an object from a config or name; ValueError, with the closest name, if none."""
        if isinstance(config, dict) and "module" in config and not use_legacy_format:
            return deserialize_keras_object(config, custom_objects, module_objects=self.objects)
        return legacy_deserialize_keras_object(config, self.objects, custom_objects, self.kind)


def names_of(*objects: Any, **aliases: Any) -> dict[str, Any]:
    """A registry's names for classes and functions: their own, snake-case ones, and aliases."""
    names: dict[str, Any] = {}
    for each in objects:
        names[each.__name__] = each
    for each in objects:
        if isclass(each):
            names.setdefault(_snake_case(each.__name__), each)
    return {**names, **aliases}


def _snake_case(name: str) -> str:
    """RandomNormal -> random_normal, L1L2 -> l1_l2."""
    letters = [
        f"_{letter.lower()}" if letter.isupper() and i and not name[i - 1].isupper() else letter
        for i, letter in enumerate(name)
    ]
    return "".join(letters).lower()

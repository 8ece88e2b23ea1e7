"""Registration of custom classes and functions for saving and loading."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from inspect import isclass
from typing import Any

_objects: dict[str, Any] = {}
_names: dict[Any, str] = {}


class _Scopes(threading.local):
    """The custom objects of the scopes that this thread is in."""

    objects: dict[str, Any] = {}  # noqa: RUF012 - each scope replaces it, none changes it


_scopes = _Scopes()


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable:
    """A decorator that registers a class or function as `package>name` for saving and loading.

    >>> @tf.keras.saving.register_keras_serializable("my_package")
    ... def double(x):
    ...     return 2 * x
    >>> tf.keras.saving.get_registered_name(double)
    'my_package>double'
    """

    def decorator(arg: Any) -> Any:
        if isclass(arg) and not hasattr(arg, "get_config"):
            raise ValueError(
                f"Cannot register a class that does not have a get_config() method: {arg}. Add "
                "one that returns the arguments of __init__ as a dict."
            )
        registered_name = f"{package}>{arg.__name__ if name is None else name}"
        _objects[registered_name] = arg
        _names[arg] = registered_name
        return arg

    return decorator


class custom_object_scope:
    """Make objects known by name within a block, for loading models that use them.

    >>> def double(x):
    ...     return 2 * x
    >>> with tf.keras.utils.custom_object_scope({"double": double}):
    ...     tf.keras.activations.get("double")(21)
    42
    """

    def __init__(self, *args: dict[str, Any]) -> None:
        self.custom_objects = args

    def __enter__(self) -> custom_object_scope:
        inner = dict(_scopes.objects)
        for objects in self.custom_objects:
            inner.update(objects)
        self._outer = _scopes.objects
        _scopes.objects = inner
        return self

    def __exit__(self, *args: object) -> None:
        _scopes.objects = self._outer


CustomObjectScope = custom_object_scope


def get_custom_objects() -> dict[str, Any]:
    """The mutable dict of all registered objects.

    >>> tf.keras.utils.get_custom_objects()["double"] = lambda x: 2 * x
    >>> tf.keras.activations.get("double")(4)
    8
    >>> del tf.keras.utils.get_custom_objects()["double"]
    """
    return _objects


def get_registered_name(obj: Any) -> str:
    """The registered name of a class or function, or its own."""
    if obj.__hash__ is not None and obj in _names:
        return _names[obj]
    return obj.__name__


def get_registered_object(
    name: str,
    custom_objects: Mapping[str, Any] | None = None,
    module_objects: Mapping[str, Any] | None = None,
) -> Any:
    """Look up a name: in scopes, in the registry, or in the given dicts; else None."""
    for objects in (_scopes.objects, _objects, custom_objects, module_objects):
        if objects and name in objects:
            return objects[name]
    return None

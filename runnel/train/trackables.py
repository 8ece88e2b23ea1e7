"""Trackable objects: the children of Python objects in checkpoints, named as in the original."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..core import hooks
from ..core.module import Module
from ..core.variable import Variable

# Internal attributes of modules and generators.
_OWN = frozenset({"_name", "_name_scope"})


class Trackable:
    """The base class of Runnel's own objects with children in checkpoints.

    Classes that must not import this package define the method only: iterators over datasets.
    """

    def _checkpoint_children(self) -> dict[str, Any]:
        return attribute_children(self)


def is_trackable(value: Any) -> bool:
    """Whether a value can be a child in a checkpoint."""
    if isinstance(value, Variable | Module) or hasattr(type(value), "_checkpoint_children"):
        return True
    if hasattr(type(value), "_checkpoint_attribute"):
        return True
    if isinstance(value, list | dict):
        return True
    if isinstance(value, tuple):
        return any(map(is_trackable, value))
    return _is_generator(value) or hooks.children_function(value) is not None


def attribute_of(value: Any) -> str | None:
    """The attribute name of a non-variable object's values in checkpoints.

    Its tensors are those of `_checkpoint_tensors()`: key suffix, dtype and array; they are restored
    by `_restore_tensors`.
    """
    name: str | None = getattr(value, "_checkpoint_attribute", None)
    return name


def is_container(value: Any) -> bool:
    """Whether a value is a plain Python container, without an identity of its own."""
    return isinstance(value, list | dict | tuple)


def children_of(value: Any) -> dict[str, Any]:
    """The children of an object by name, in the original's order."""
    if isinstance(value, Variable) or attribute_of(value):
        return {}
    if isinstance(value, list | tuple):
        # The fields of named tuples are children by name and by index.
        named = zip(getattr(value, "_fields", ()), value, strict=False)
        placed = ((str(i), each) for i, each in enumerate(value))
        return {key: each for key, each in (*named, *placed) if is_trackable(each)}
    if isinstance(value, dict):
        return {key: each for key, each in _entries(value) if is_trackable(each)}
    if hasattr(type(value), "_checkpoint_children"):
        parts: dict[str, Any] = value._checkpoint_children()
        return parts
    of_keras = hooks.children_function(value)
    if of_keras is not None:
        return of_keras(value)
    return attribute_children(value)


def attribute_children(value: Any) -> dict[str, Any]:
    """The attributes that can be children in a checkpoint."""
    return {
        name: each for name, each in vars(value).items() if name not in _OWN and is_trackable(each)
    }


def slots_of(value: Any) -> Iterator[tuple[Any, str, Any]]:
    """The (variable's key, slot name, slot variable) triples of a legacy optimizer."""
    if hasattr(type(value), "_checkpoint_slots"):
        yield from value._checkpoint_slots()
    elif type(value).__module__ in sys.modules and hasattr(value, "get_slot_names"):
        for slot_name in value.get_slot_names():
            for key, slots in value._slots.items():
                if slot_name in slots:
                    yield key, slot_name, slots[slot_name]


def _entries(value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, each in value.items():
        if isinstance(key, str):
            yield key, each
        elif isinstance(each, Variable | Module | Trackable):
            raise ValueError(
                f"Unable to save the object {value} (a dictionary). It contains a non-string key "
                f"({key!r}) which maps to a trackable object. Use strings as keys, or keep it in "
                "an object that checkpoints do not look into."
            )


def _is_generator(value: Any) -> bool:
    module = sys.modules.get("runnel.ops.random_generator")
    return module is not None and isinstance(value, module.Generator)

"""Finding the layers and variables among a layer's attributes, in the order they were set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import runnel as tf


def leaves_of(value: Any) -> Iterator[Any]:
    """The modules and variables in a value; lists and dicts are looked into when asked."""
    if isinstance(value, tf.Variable | tf.Module):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from leaves_of(each)
    elif isinstance(value, dict):
        # By key, as structures are flattened everywhere; weight files depend on it.
        for key in sorted(value, key=str):
            yield from leaves_of(value[key])


def holds_state(value: Any) -> bool:
    """Whether a value may hold layers or variables, now or later."""
    return isinstance(value, tf.Variable | tf.Module | list | tuple | dict)


def unique(values: Iterator[Any]) -> list[Any]:
    """Each object once, in the order of first appearance."""
    seen: dict[int, Any] = {}
    for value in values:
        seen.setdefault(id(value), value)
    return list(seen.values())

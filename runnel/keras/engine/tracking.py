"""Find layers and variables in a layer's attributes, in order of assignment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import runnel as tf

_LEAVES = (tf.Variable, tf.Module)
_LISTS = (list, tuple)
_STATE = (*_LEAVES, *_LISTS, dict)


def leaves_of(value: Any) -> Sequence[Any]:
    """The modules and variables in a value; lists and dicts are traversed on request."""
    if isinstance(value, _LEAVES):
        return (value,)
    if isinstance(value, dict):
        # Sorted by key, like all structures; weight files depend on it.
        value = [value[key] for key in sorted(value, key=str)]
    elif not isinstance(value, _LISTS):
        return ()
    return [leaf for each in value for leaf in leaves_of(each)]


def holds_state(value: Any) -> bool:
    """Whether a value may hold layers or variables, now or later."""
    return isinstance(value, _STATE)


def is_metric(value: Any) -> bool:
    """Whether a value is a metric."""
    return getattr(value, "_is_metric", False)


def unique(values: Iterable[Any]) -> list[Any]:
    """The unique objects, in order of first appearance."""
    return list({id(value): value for value in values}.values())

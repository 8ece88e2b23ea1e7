"""Unique names of layers and models: dense, dense_1, dense_2, ..."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from ...core.context import state
from .call_context import context

_counts: dict[str, int] = defaultdict(int)
_counts_of_graphs: WeakKeyDictionary[Any, dict[str, int]] = WeakKeyDictionary()


@contextlib.contextmanager
def names_of_graph() -> Iterator[None]:
    """Keep the name counters of the current graph after the block leaves it."""
    outer = context.building
    context.building = outer if state.graph is None else state.graph
    try:
        yield
    finally:
        context.building = outer


def _current_counts() -> dict[str, int]:
    """The name counters of the graph under construction: one set per symbolic layer call and per
    function.
    """
    graph = context.building if state.graph is None else state.graph
    if graph is None:
        return _counts
    if graph not in _counts_of_graphs:
        _counts_of_graphs[graph] = defaultdict(int)
    return _counts_of_graphs[graph]


def snake_case(name: str) -> str:
    """A class name in snake case, as Keras does it: Conv2D becomes conv2d, MyLayer my_layer."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    return "private" + name if name.startswith("_") else name


def unique_name(name: str, zero_based: bool = True) -> str:
    """`name`, then `name_1`, `name_2`, ...; starts at `name_1` unless zero-based."""
    counts = _current_counts()
    count = counts[name]
    counts[name] = count + 1
    if zero_based:
        return name if count == 0 else f"{name}_{count}"
    return f"{name}_{count + 1}"


def get_uid(prefix: str = "") -> int:
    """The next counter value for a prefix, from 1 on."""
    counts = _current_counts()
    counts[prefix] += 1
    return counts[prefix]


def reset() -> None:
    """Reset the counters."""
    _counts.clear()
    _counts_of_graphs.clear()

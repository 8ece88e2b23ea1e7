"""Names for layers and models: dense, dense_1, dense_2, ..."""

from __future__ import annotations

import re
from collections import defaultdict

_counts: dict[str, int] = defaultdict(int)


def snake_case(name: str) -> str:
    """The name of a class as Keras writes it: Conv2D becomes conv2d, MyLayer my_layer."""
    name = re.sub(r"\W+", "", name)
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    name = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()
    return "private" + name if name.startswith("_") else name


def unique_name(name: str, zero_based: bool = True) -> str:
    """`name`, then `name_1`, `name_2`, ...; counting from `name_1` on unless zero-based."""
    count = _counts[name]
    _counts[name] = count + 1
    if zero_based:
        return name if count == 0 else f"{name}_{count}"
    return f"{name}_{count + 1}"


def get_uid(prefix: str = "") -> int:
    """The next number for a prefix, from 1 on."""
    _counts[prefix] += 1
    return _counts[prefix]


def reset() -> None:
    """Start counting anew."""
    _counts.clear()

"""Appending to lists that may be tensors (Feature.LISTS)."""

from __future__ import annotations

from typing import Any

from ..ops.tensor_array import TensorArray


def list_append(items: Any, item: Any) -> Any:
    """The list with an item appended; for a TensorArray, a write after its last element."""
    if isinstance(items, TensorArray):
        return items.write(items.size(), item)
    items.append(item)
    return items

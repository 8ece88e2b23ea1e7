"""Which classes are those of values made of several tensors."""

from __future__ import annotations

from typing import Any

from .tensor import Tensor
from .variable import Variable


def is_composite(kind: Any) -> bool:
    """Whether a class is one of values made of tensors, such as a ragged tensor."""
    return (
        isinstance(kind, type)
        and hasattr(kind, "_type_spec")
        and not issubclass(kind, Tensor | Variable)
    )

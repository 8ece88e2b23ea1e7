"""The registry of composite tensor classes: values with several component tensors."""

from __future__ import annotations

from typing import Any

from .tensor import Tensor
from .variable import Variable


def is_composite(kind: Any) -> bool:
    """Whether a class is a composite tensor class, such as that of ragged tensors."""
    return (
        isinstance(kind, type)
        and hasattr(kind, "_type_spec")
        and not issubclass(kind, Tensor | Variable)
    )

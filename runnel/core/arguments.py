"""Validation of numeric arguments, with error messages for arguments of other types."""

from __future__ import annotations

import numbers
from typing import Any

_NOT_A_NUMBER = "`{name}` of {owner} must be {kind}. Received: {name}={value!r} of type {type}."


def is_number(value: Any) -> bool:
    """Whether a value is a Python or NumPy number, or a tensor or variable of a numeric dtype."""
    return isinstance(value, numbers.Number) or getattr(value, "dtype", None) is not None


def require_number(value: Any, name: str, owner: str) -> None:
    """Raise TypeError unless the value is a number.

    >>> require_number("ten", "patience", "EarlyStopping")
    Traceback (most recent call last):
    TypeError: `patience` of EarlyStopping must be a number. Received: patience='ten' of type str.
    """
    if not is_number(value):
        raise TypeError(not_a_number(value, name, owner, "a number"))


def require_integer(value: Any, name: str, owner: str) -> None:
    """Raise TypeError unless the value is an integer or an integer tensor."""
    if isinstance(value, float) or not is_number(value):
        raise TypeError(not_a_number(value, name, owner, "an integer"))


def not_a_number(value: Any, name: str, owner: str, kind: str) -> str:
    """The error message for an argument that is not a number."""
    return _NOT_A_NUMBER.format(
        name=name, owner=owner, kind=kind, value=value, type=type(value).__name__
    )

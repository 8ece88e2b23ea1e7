"""Arguments that must be numbers: what to tell a user who gives something else."""

from __future__ import annotations

import numbers
from typing import Any

_NOT_A_NUMBER = "`{name}` of {owner} must be {kind}. Received: {name}={value!r} of type {type}."


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python or NumPy, or a tensor or variable that holds one."""
    return isinstance(value, numbers.Number) or getattr(value, "dtype", None) is not None


def require_number(value: Any, name: str, owner: str) -> None:
    """Raise TypeError for what is no number.

    >>> require_number("ten", "patience", "EarlyStopping")
    Traceback (most recent call last):
    TypeError: `patience` of EarlyStopping must be a number. Received: patience='ten' of type str.
    """
    if not is_number(value):
        raise TypeError(not_a_number(value, name, owner, "a number"))


def require_integer(value: Any, name: str, owner: str) -> None:
    """Raise TypeError for what is no integer, nor a tensor of them."""
    if isinstance(value, float) or not is_number(value):
        raise TypeError(not_a_number(value, name, owner, "an integer"))


def not_a_number(value: Any, name: str, owner: str, kind: str) -> str:
    """The message for an argument of another type than a number."""
    return _NOT_A_NUMBER.format(
        name=name, owner=owner, kind=kind, value=value, type=type(value).__name__
    )

"""`x[key]` and `x[key] = value` where a class has them not: an error that says what to write."""

from __future__ import annotations

from typing import Any, NoReturn


class NoItemsError(TypeError, AttributeError):
    """An object does not support items: a TypeError to `x[key]`, an AttributeError to `getattr`."""


class NoItems:
    """In the place of `__getitem__` or `__setitem__`, which to `hasattr` are not there.

    >>> class Fixed:
    ...     __setitem__ = NoItems("'Fixed' object does not support item assignment.")
    >>> hasattr(Fixed(), "__setitem__")
    False
    >>> Fixed()[0] = 1
    Traceback (most recent call last):
    runnel.core.item_access.NoItemsError: 'Fixed' object does not support item assignment.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise NoItemsError(self._message)

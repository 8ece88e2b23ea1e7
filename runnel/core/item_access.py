"""Advice for `x[key]` and `x[key] = value` on classes that do not support them."""

from __future__ import annotations

from typing import Any, NoReturn


class NoItemsError(TypeError, AttributeError):
    """An object does not support indexing: a TypeError for `x[key]`, an AttributeError for
    `getattr`.
    """


class NoItems:
    """A descriptor for `__getitem__` or `__setitem__` that `hasattr` reports as missing.

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

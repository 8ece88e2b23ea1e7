"""Errors on their way through a pipeline: iterations go on behind the element that raised one.

A generator that raises has come to its end. So transformations that are generators get errors as
elements (`caught`), hand them on, and raise them where somebody asks (`Raising`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core import errors


class Failed:
    """An error in the place of an element."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def caught(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, with errors in the places of those that could not be computed."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except errors.OpError as failure:
            element = Failed(failure)
        yield element


class Raising:
    """Elements of which some are errors: these are raised, and the others follow."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def __iter__(self) -> Raising:
        return self

    def __next__(self) -> Any:
        element = next(self._elements)
        if type(element) is Failed:
            raise element.error
        return element


def going_on(
    transformation: Callable[..., Iterator[Any]], elements: Iterator[Any], *arguments: Any
) -> Iterator[Any]:
    """What a generator makes of elements; it hands on those that are `Failed`."""
    return Raising(transformation(caught(elements), *arguments))

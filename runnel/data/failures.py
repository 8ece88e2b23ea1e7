"""Error handling in pipelines: iterations continue after an element that raised an error.

A generator that raises is exhausted. So transformations that are generators receive errors as
elements (`caught`), pass them on, and raise them at the consumer (`Raising`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..core import errors


class Failed:
    """An error as an element."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def caught(elements: Iterator[Any]) -> Iterator[Any]:
    """The elements, with errors in place of those whose computation failed."""
    while True:
        try:
            element = next(elements)
        except StopIteration:
            return
        except errors.OpError as failure:
            element = Failed(failure)
        yield element


class Raising:
    """Elements of which some are errors: these are raised, and the iteration continues."""

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
    """The output of a generator for the elements; elements that are `Failed` are passed through."""
    return Raising(transformation(caught(elements), *arguments))

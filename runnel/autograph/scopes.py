"""The scope of each converted function, and the marks of generated functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .options import STD, ConversionOptions
from .values import UndefinedReturnValue

F = TypeVar("F")


class FunctionScope:
    """Holds the conversion options for calls from the body of a converted function.

    The names of its methods appear in the converted source.
    """

    __slots__ = ("callopts",)

    def __init__(self, function_name: str, scope_name: str, options: ConversionOptions) -> None:
        self.callopts = STD
        if options.optional_features or not options.recursive:
            self.callopts = ConversionOptions(
                recursive=options.recursive, optional_features=options.optional_features
            )

    def __enter__(self) -> FunctionScope:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing to clean up."""

    def ret(self, value: Any, did_return: Any) -> Any:
        """The return value for the caller."""
        return None if isinstance(value, UndefinedReturnValue) else value


def with_function_scope(
    thunk: Callable[[FunctionScope], Any], scope_name: str, options: ConversionOptions
) -> Any:
    """The value of a converted lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)


def autograph_artifact(entity: F) -> F:
    """Mark a function as already converted."""
    entity.ag_artifact = True  # type: ignore[attr-defined]
    return entity

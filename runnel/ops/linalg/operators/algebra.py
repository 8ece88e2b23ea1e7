"""Dispatch rules that preserve the structure of operators' results.

A rule is registered for an operation ("adjoint", "inverse", "cholesky", "matmul", "solve") and the
classes of its operands. The rule of the most specific classes applies; the rules for
`LinearOperator` itself are the fallback.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_RULES: dict[tuple[str, tuple[type, ...]], Callable[..., Any]] = {}


def rule(operation: str, *classes: type) -> Callable[[Any], Any]:
    """Register the function as the rule of an operation for these operand classes."""

    def decorate(function: Any) -> Any:
        _RULES[operation, classes] = function
        return function

    return decorate


def applied(operation: str, *operators: Any) -> Any:
    """Apply the rule of the most specific classes."""
    found: list[tuple[int, Callable[..., Any]]] = []
    for (name, classes), function in _RULES.items():
        if name == operation and len(classes) == len(operators):
            distance = 0
            for operator, cls in zip(operators, classes, strict=True):
                lineage = type(operator).__mro__
                if cls not in lineage:
                    break
                distance += lineage.index(cls)
            else:
                found.append((distance, function))
    return min(found, key=lambda candidate: candidate[0])[1](*operators)


def both(left: bool | None, right: bool | None) -> bool | None:
    """The hint of `A @ B`: True if both have it, False if one lacks it."""
    if left is False or right is False:
        return False
    return True if left and right else None


def commuting_hints(left: Any, right: Any) -> dict[str, Any]:
    """The hints of the composition of two operators that commute."""
    self_adjoint: bool | None = None
    if left.is_self_adjoint and right.is_self_adjoint:
        self_adjoint = True
    elif left.is_self_adjoint is not right.is_self_adjoint and None not in (
        left.is_self_adjoint,
        right.is_self_adjoint,
    ):
        self_adjoint = False
    positive = left.is_positive_definite and right.is_positive_definite
    return {
        "is_non_singular": both(left.is_non_singular, right.is_non_singular),
        "is_self_adjoint": self_adjoint,
        "is_positive_definite": True if positive and self_adjoint else None,
        "is_square": True,
    }


def hints_of(operator: Any) -> dict[str, Any]:
    """The four hints of an operator, as constructor arguments."""
    return {
        "is_non_singular": operator.is_non_singular,
        "is_self_adjoint": operator.is_self_adjoint,
        "is_positive_definite": operator.is_positive_definite,
        "is_square": operator.is_square,
    }

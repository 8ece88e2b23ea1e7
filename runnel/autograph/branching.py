"""`if` and conditional expressions: Python's own, or tf.cond for a staged condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import nest
from ..core.graph.branch import BranchGraph
from ..core.variable import Variable
from ..ops import control_flow
from ..ops.array.creation import zeros
from .values import (
    UndefinedReturnValue,
    condition,
    is_staged,
    is_undefined,
    missing_value,
    stageable,
    staged,
    static_sizes,
)

_BRANCHES = ("the main branch", "the else branch")
_NOT_CARRIED = (
    "To be compatible with tf.function, Python functions must return zero or more Tensors or "
    "ExtensionTypes or None values; '{name}' differs between the branches of a staged `if`, and "
    "found a value of type {kind}, which is not a Tensor or ExtensionType. Choose between "
    "tensors, or decide by a Python value."
)


def if_stmt(
    cond: Any,
    body: Callable[[], Any],
    orelse: Callable[[], Any],
    get_state: Callable[[], tuple[Any, ...]],
    set_state: Callable[[Any], None],
    symbol_names: Sequence[str],
    nouts: int,
) -> None:
    """`if cond: body() else: orelse()`, with its effects on the state."""
    if not is_staged(cond):
        if cond:
            body()
        else:
            orelse()
        return
    start = get_state()

    def values_after(function: Callable[[], Any]) -> Callable[[], tuple[Any, ...]]:
        def run() -> tuple[Any, ...]:
            set_state(start)
            function()
            return get_state()[:nouts]

        return run

    cond = condition(cond, "if statement")
    results = _choose(cond, values_after(body), values_after(orelse), symbol_names[:nouts])
    set_state((*results, *start[nouts:]))


def if_exp(
    cond: Any, if_true: Callable[[], Any], if_false: Callable[[], Any], expr_repr: str
) -> Any:
    """`if_true() if cond else if_false()`."""
    if not is_staged(cond):
        return if_true() if cond else if_false()
    cond = condition(cond, "conditional expression")
    return _choose(cond, lambda: (if_true(),), lambda: (if_false(),), [expr_repr])[0]


Branch = Callable[[], tuple[Any, ...]]


class _TypesNeeded(Exception):
    """The branch traced first lacks a value whose type only the other one determines."""


def _choose(cond: Any, main: Branch, other: Branch, names: Sequence[str]) -> list[Any]:
    """The values that the branch selected by the condition assigns to the names."""
    try:
        outcome = _Outcome(names)
        results = control_flow.cond(cond, outcome.first(main), outcome.second(other))
    except _TypesNeeded:
        with BranchGraph.inside("scratch").building():
            model = other()
        outcome = _Outcome(names, model)
        results = control_flow.cond(cond, outcome.first(main), outcome.second(other))
    return outcome.restored(results)


class _Outcome:
    """The values of the same names at the end of two branches.

    The first branch is traced before the second is known. So every name with a stageable value
    contributes its leaves to tf.cond, and the second branch checks that both agree. `model` are
    values of the types that the second branch will have, if the first one needs them.
    """

    def __init__(self, names: Sequence[str], model: tuple[Any, ...] | None = None) -> None:
        self._names = names
        self._model = model
        self._first: tuple[Any, ...] = ()
        self._second: tuple[Any, ...] = ()

    def first(self, branch: Branch) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            values = branch()
            self._first = values if self._model is None else self._filled(values, self._model)
            return self._tensors(self._first, _BRANCHES[0])

        return run

    def second(self, branch: Branch) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            values = branch()
            for name, first, second in zip(self._names, self._first, values, strict=True):
                if not is_undefined(second) and self._is_unneeded(name, first, self._first):
                    raise _TypesNeeded
            self._second = self._filled(values, self._first)
            for name, first, second in zip(self._names, self._first, self._second, strict=True):
                _check_agreement(name, first, second)
            return self._tensors(self._second, _BRANCHES[1])

        return run

    def _is_unneeded(self, name: str, value: Any, values: tuple[Any, ...]) -> bool:
        """Whether a name has no value in a branch and is not read afterwards.

        The return value is not read before a return statement was reached; after that, the
        variables of the function are not.
        """
        flags = [v for n, v in zip(self._names, values, strict=True) if "do_return" in n]
        if isinstance(value, UndefinedReturnValue):
            return all(flag is False for flag in flags)
        return is_undefined(value) and name.isidentifier() and any(flag is True for flag in flags)

    def _filled(self, values: tuple[Any, ...], model: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values, with zeros of the model's types for unneeded ones."""
        return tuple(
            nest.map_structure(_blank, like)
            if self._is_unneeded(name, value, values) and stageable(like)
            else value
            for name, value, like in zip(self._names, values, model, strict=True)
        )

    def _tensors(self, values: tuple[Any, ...], branch: str) -> list[Any]:
        tensors = []
        for name, value in zip(self._names, values, strict=True):
            if value is None:
                raise ValueError(f"'{name}' is None at the end of {branch}.")
            if stageable(value):
                tensors.append([staged(leaf) for leaf in nest.flatten(value)])
        return tensors

    def restored(self, results: Any) -> list[Any]:
        """The values of the names after the `if`."""
        remaining = iter(results or ())
        restored = []
        for first, second in zip(self._first, self._second, strict=True):
            if not stageable(first):
                restored.append(first)
                continue
            tensors = next(remaining)
            # Values that both branches leave unchanged need no tensor: variables, and flags of
            # jumps.
            same = first is second and isinstance(first, bool | Variable)
            restored.append(first if same else nest.pack_sequence_as(first, list(tensors)))
        return restored


def _check_agreement(name: str, first: Any, second: Any) -> None:
    """Raise an error for a name with incompatible values at the ends of the branches."""
    one, two = _BRANCHES
    if is_undefined(first) and is_undefined(second):
        return
    for value, branch in ((first, one), (second, two)):
        if isinstance(value, UndefinedReturnValue):
            raise missing_value(f"{branch} must also have a return statement.")
        if is_undefined(value):
            raise missing_value(f"'{name}' must also be initialized in {branch}")
    if second is None:
        raise ValueError(f"'{name}' is None at the end of {two}.")
    if not (stageable(first) and stageable(second)):
        if first is not second:
            value = second if stageable(first) else first
            raise TypeError(_NOT_CARRIED.format(name=name, kind=type(value).__name__))
        return
    _check_structure(name, first, second)
    for leaf, other in zip(nest.flatten(first), nest.flatten(second), strict=True):
        kind, other_kind = staged(leaf).dtype, staged(other).dtype
        if kind is not other_kind:
            raise TypeError(
                f"'{name}' has dtype {kind.name} in {one}, but dtype {other_kind.name} in {two}"
            )


def _blank(leaf: Any) -> Any:
    tensor = staged(leaf)
    return zeros(static_sizes(tensor.shape), tensor.dtype)


def _check_structure(name: str, first: Any, second: Any) -> None:
    try:
        nest.assert_same_structure(first, second)
    except (ValueError, TypeError) as mismatch:
        raise TypeError(
            f"'{name}' must have the same nested structure in the main and else branches:\n\n"
            f"{mismatch}"
        ) from None

"""Exchanging a function's code for a while, for everybody who holds the function.

What watches a program now and then (a profile), or takes some calls over (a handler for a user's
types), must cost nothing the rest of the time: no question "is anybody there?" in functions that
run a million times a second. Assigning other functions to the attributes of modules would not
reach those who imported the old ones; assigning to attributes of classes makes Python forget, for
good after some hundred times, how to look them up fast.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

# What functions have that now have other code, by that code.
_own: dict[CodeType, CodeType] = {}


class Exchange:
    """Has calls of a function go to `replacement_of(the function as it was)` until `undo()`.

    The replacement gets all arguments in the order of the parameters, defaults included; or, if
    `as_given`, just those of the call, in the way they were given.
    """

    def __init__(
        self,
        function: Any,
        replacement_of: Callable[[Callable[..., Any]], Callable[..., Any]],
        as_given: bool = False,
    ) -> None:
        code = function.__code__
        self._function = function
        self._code = code
        self._defaults = function.__defaults__, function.__kwdefaults__
        plain = FunctionType(
            code, function.__globals__, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        plain.__kwdefaults__ = function.__kwdefaults__
        function.__signature__ = inspect.signature(function)
        taken = "*args, **kwargs" if as_given else ", ".join(_parameters(code))
        self._stand_in = _passing_on(taken, replacement_of(plain)).replace(
            co_name=code.co_name, co_freevars=code.co_freevars
        )
        _own[self._stand_in] = code
        function.__code__ = self._stand_in
        if as_given:
            function.__defaults__ = function.__kwdefaults__ = None

    def undo(self) -> None:
        """Give the function its own code back."""
        self._function.__code__ = self._code
        self._function.__defaults__, self._function.__kwdefaults__ = self._defaults
        del self._function.__signature__
        del _own[self._stand_in]


def _parameters(code: CodeType) -> list[str]:
    parameters = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & inspect.CO_VARARGS:
        parameters.append(f"*{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}")
    return parameters


def _passing_on(taken: str, other: Callable[..., Any]) -> CodeType:
    """Code that calls another function with what it takes.

    It runs with the globals and the closure of the function it is given to, so it carries the
    other function among its own constants.
    """
    made: dict[str, Any] = {}
    source = (
        f"def pass_on({taken}):\n    instead_of_it = 'instead'\n    return instead_of_it({taken})\n"
    )
    # In a file of the library: what looks for the user's line passes over it.
    exec(compile(source, __file__, "exec"), made)
    code: CodeType = made["pass_on"].__code__
    return code.replace(
        co_consts=tuple(other if each == "instead" else each for each in code.co_consts)
    )


def is_stand_in(code: CodeType) -> bool:
    """Whether code only passes a call on, in the place of a function's own."""
    return code in _own


def own_code(function: Any) -> CodeType | None:
    """The code that a function was defined with; None for what has none."""
    code: CodeType | None = getattr(function, "__code__", None)
    return None if code is None else _own.get(code, code)

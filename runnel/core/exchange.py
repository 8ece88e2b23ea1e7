"""Temporary replacement of a function's code object, effective for every reference to the function.

Instrumentation that is rarely active (a profile), or that intercepts some calls (a handler for a
user's types), must have no overhead otherwise: no check "is it active?" in functions that run a
million times a second. Replacing module attributes would not affect references imported earlier;
assigning class attributes invalidates Python's type attribute cache, permanently after some hundred
assignments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

# The original code of functions whose code is replaced, by the new code.
_own: dict[CodeType, CodeType] = {}


class Exchange:
    """Redirects calls of a function to `replacement_of(the original function)` until `undo()`.

    The replacement receives all arguments in the order of the parameters, defaults included; with
    `as_given`, only the arguments of the call, as they were passed.
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
        """Restore the function's original code."""
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
    """Code that forwards its arguments to another function.

    It runs with the globals and closure of the function it is assigned to, so it holds the target
    function among its constants.
    """
    made: dict[str, Any] = {}
    source = (
        f"def pass_on({taken}):\n    instead_of_it = 'instead'\n    return instead_of_it({taken})\n"
    )
    # In a file of the library, so that the search for the user's line skips it.
    exec(compile(source, __file__, "exec"), made)
    code: CodeType = made["pass_on"].__code__
    return code.replace(
        co_consts=tuple(other if each == "instead" else each for each in code.co_consts)
    )


def is_stand_in(code: CodeType) -> bool:
    """Whether code is forwarding code in place of a function's own."""
    return code in _own


def own_code(function: Any) -> CodeType | None:
    """The code that a function was defined with; None if it has no code."""
    code: CodeType | None = getattr(function, "__code__", None)
    return None if code is None else _own.get(code, code)

"""Exchanging a function's code for a while, for everybody who holds the function.

What watches a program now and then (a profile) must cost nothing the rest of the time: no question
"is anybody watching?" in functions that run a million times a second. Assigning other functions to
the attributes of modules would not reach those who imported the old ones; assigning to attributes
of classes makes Python forget, for good after some hundred times, how to look them up fast.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import FunctionType
from typing import Any


class Exchange:
    """Has calls of a function go to `replacement_of(the function as it was)` until `undo()`."""

    def __init__(
        self, function: Any, replacement_of: Callable[[Callable[..., Any]], Callable[..., Any]]
    ) -> None:
        code = function.__code__
        self._function = function
        self._code = code
        plain = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
        # The new code runs with the globals of the old, and finds its replacement there.
        name = "_instead_of_" + re.sub(r"\W", "_", function.__qualname__)
        function.__globals__[name] = replacement_of(plain)
        parameters = list(code.co_varnames[: code.co_argcount])
        if code.co_flags & inspect.CO_VARARGS:
            parameters.append(f"*{code.co_varnames[code.co_argcount + code.co_kwonlyargcount]}")
        taken = ", ".join(parameters)
        made: dict[str, Any] = {}
        exec(f"def pass_on({taken}):\n    return {name}({taken})\n", made)
        function.__code__ = made["pass_on"].__code__

    def undo(self) -> None:
        """Give the function its own code back."""
        self._function.__code__ = self._code

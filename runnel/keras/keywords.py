"""Keyword arguments that a function or constructor does not have: what to tell the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.suggestions import keyword_advice

# The flag of code that takes any keywords; what it makes of them is its own business.
_TAKES_ANY = 0x08


class RefusesUnknownKeywords:
    """A base of classes whose constructors name what is near to a keyword they do not have.

    Python says no more than that it got an unexpected one.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            code = getattr(cls.__init__, "__code__", None)
            if code is not None and not code.co_flags & _TAKES_ANY:
                known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
                for name in kwargs:
                    if name not in known:
                        raise TypeError(unexpected_keyword(f"{cls.__name__}.__init__", cls, name))
        return super().__new__(cls)


def unexpected_keyword(called: str, function: Callable[..., Any], name: str) -> str:
    """The message for a keyword that a function or class does not take."""
    return (
        f"{called}() got an unexpected keyword argument {name!r}.{keyword_advice(function, name)}"
    )

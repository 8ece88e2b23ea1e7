"""Keyword arguments that a function or constructor does not have: what to tell the user."""

from __future__ import annotations

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
            refuse_unknown(cls, kwargs)
        return super().__new__(cls)


def refuse_unknown(kind: type, kwargs: dict[str, Any]) -> None:
    """Raise TypeError for a keyword that the constructor of a class does not take."""
    code = getattr(kind.__init__, "__code__", None)  # type: ignore[misc]
    if code is None or code.co_flags & _TAKES_ANY:
        return
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in kwargs:
        if name not in known:
            raise TypeError(
                f"{kind.__name__}.__init__() got an unexpected keyword argument {name!r}."
                f"{keyword_advice(kind, name)}"
            )

"""Error messages for unknown keyword arguments."""

from __future__ import annotations

from typing import Any

from ..core.suggestions import keyword_advice

# The flag of code with **kwargs; what it does with them is unknown.
_TAKES_ANY = 0x08


class RefusesUnknownKeywords:
    """A base class whose constructor error suggests the closest known keyword.

    Python only reports an unexpected keyword argument.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            refuse_unknown(cls, kwargs)
        return super().__new__(cls)


def refuse_unknown(kind: type, kwargs: dict[str, Any]) -> None:
    """Raise TypeError for a keyword that a class's constructor does not accept."""
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

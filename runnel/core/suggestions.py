"""Suggestions of similar known names for unknown ones, in error messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def nearest(name: str, known: Iterable[str], count: int = 2) -> list[str]:
    """The known names that are spelled like `name`, closest first.

    >>> nearest("rellu", ["tanh", "relu", "selu"], count=1)
    ['relu']
    """
    # Imported on the first error: nothing else needs it.
    import difflib

    # Among names that differ in case only, the one in the user's case is suggested.
    alike_last = sorted(known, key=lambda each: each.islower() == name.islower())
    by_lower_case = {each.lower(): each for each in alike_last}
    short = name.lower()
    near = difflib.get_close_matches(short, by_lower_case, n=count, cutoff=0.6)
    if not near and len(short) > 2:
        near = sorted(each for each in by_lower_case if each.startswith(short))[:count]
    return [by_lower_case[each] for each in near]


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """A sentence with the closest names, after a space; empty if there is none.

    >>> did_you_mean("rellu", ["tanh", "relu"])
    " Did you mean 'relu'?"
    """
    near = nearest(name, known) if isinstance(name, str) else []
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The keyword parameters of a function; of a class, those of all its constructors."""
    import inspect

    kinds = function.__mro__ if isinstance(function, type) else (function,)
    names: dict[str, None] = {}
    for kind in kinds:
        made_by = vars(kind).get("__init__") if isinstance(kind, type) else kind
        if not inspect.isfunction(made_by):
            continue
        parameters = inspect.signature(made_by).parameters.values()
        for each in parameters:
            if each.name != "self" and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
                names[each.name] = None
        if not any(each.kind is each.VAR_KEYWORD for each in parameters):
            break  # keywords are not passed on to the base class constructors
    return list(names)


def keyword_advice(function: Callable[..., Any], name: str) -> str:
    """The parameters of a function or class that are similar to a keyword, and the list of all."""
    known = parameters_of(function)
    return f"{did_you_mean(name, known)} The arguments are: {', '.join(known)}."


def no_attribute(module: str, name: str, hint: str = "") -> AttributeError:
    """The error for a missing name of a Runnel namespace, optionally with a specific hint."""
    if not hint and name[:1] != "_":
        known = [each for each in dir(sys.modules.get(module)) if each[:1] != "_"]
        hint = did_you_mean(name, known)
        hint = hint and "." + hint
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def suggesting(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for re-exporting namespaces: its error suggests similar names."""

    def __getattr__(name: str) -> Any:
        raise no_attribute(module, name)

    return __getattr__

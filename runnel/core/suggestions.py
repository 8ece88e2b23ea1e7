"""The nearest of the known names to one that nothing has, for the messages of errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any


def nearest(name: str, known: Iterable[str], count: int = 2) -> list[str]:
    """Those of the known names that are spelled like `name`, the nearest first.

    >>> nearest("rellu", ["tanh", "relu", "selu"], count=1)
    ['relu']
    """
    # Loaded with the first mistake: nothing else needs it.
    import difflib

    # Where two names differ in their case alone, the one written like the user's is suggested.
    alike_last = sorted(known, key=lambda each: each.islower() == name.islower())
    by_lower_case = {each.lower(): each for each in alike_last}
    short = name.lower()
    near = difflib.get_close_matches(short, by_lower_case, n=count, cutoff=0.6)
    if not near and len(short) > 2:
        near = sorted(each for each in by_lower_case if each.startswith(short))[:count]
    return [by_lower_case[each] for each in near]


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """A sentence with the nearest names, a space before it; nothing where none is near.

    >>> did_you_mean("rellu", ["tanh", "relu"])
    " Did you mean 'relu'?"
    """
    near = nearest(name, known) if isinstance(name, str) else []
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The names that a function takes as keywords; of a class, those of all its constructors."""
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
            break  # nothing is passed on to the constructors of its bases
    return list(names)


def keyword_advice(function: Callable[..., Any], name: str) -> str:
    """What a function or class has that is near to a keyword, and all that it has."""
    known = parameters_of(function)
    return f"{did_you_mean(name, known)} The arguments are: {', '.join(known)}."


def no_attribute(module: str, name: str, hint: str = "") -> AttributeError:
    """What to raise for a name that a namespace of ours does not have; with a hint of its own."""
    if not hint and name[:1] != "_":
        known = [each for each in dir(sys.modules.get(module)) if each[:1] != "_"]
        hint = did_you_mean(name, known)
        hint = hint and "." + hint
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def suggesting(module: str) -> Callable[[str], Any]:
    """A `__getattr__` for a namespace that only re-exports: its error names what is near."""

    def __getattr__(name: str) -> Any:
        raise no_attribute(module, name)

    return __getattr__

"""When the parts of a step, or all steps, are done as one operation."""

from __future__ import annotations

from typing import Any

from ....core.context import state


def is_compiled() -> bool:
    """Whether XLA is to compile what is traced: it gets all parts, for it joins them itself."""
    return bool(getattr(state.graph, "jit_compile", False))


def is_function(function: Any, other: Any) -> bool:
    """Whether an activation is a certain one, or one of its name."""
    return function is other or getattr(function, "__name__", None) == other.__name__

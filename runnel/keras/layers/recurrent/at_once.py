"""When the parts of a step, or all steps, are done as one operation."""

from __future__ import annotations

from typing import Any

from ....core.context import state
from ..at_once import known_activation


def is_compiled() -> bool:
    """Whether XLA is to compile what is traced: it gets all parts, for it joins them itself."""
    return bool(getattr(state.graph, "jit_compile", False))


def has_usual_gates(cell: Any) -> bool:
    """Whether the activations of a cell or layer are those that there are such operations for."""
    return (
        known_activation(cell.activation) == "tanh"
        and known_activation(cell.recurrent_activation) == "sigmoid"
    )

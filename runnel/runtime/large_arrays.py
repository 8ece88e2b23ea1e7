"""Sums, differences and products of large arrays, which the threads of an engine share.

One processor waits for memory half of the time. The results are the same, for each is rounded once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .engine_selection import SMALLEST, accelerated
from .output_buffers import ufunc_of

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

_SHARED = frozenset({np.add, np.subtract, np.multiply})
_COMMUTATIVE = frozenset({"add", "multiply"})


def is_worth_sharing(operation: Operation) -> bool:
    """Whether a result may be that large: what is known to be smaller is not asked each time."""
    output = operation.outputs[0] if operation.outputs else None
    if output is None or output.dtype.name != "float32" or ufunc_of(operation) not in _SHARED:
        return False
    size = output.shape.num_elements()
    return bool(output.shape.rank) if size is None else size >= SMALLEST["binary"]


@accelerated("binary", 1_048_576)
def _by_engine(first: Any, second: Any, name: str, out: Any) -> Any:
    """What an engine makes of two arrays, or of one and a number; else None."""
    return None


def larger_first(first: Any, second: Any, name: str) -> tuple[Any, Any]:
    """The operands of a function, the larger one first where their order does not matter."""
    swapped = first.size < second.size and name in _COMMUTATIVE
    return (second, first) if swapped else (first, second)


@functools.cache
def shared(function: np.ufunc) -> Callable[..., Any]:
    """The same function, by an engine where it can."""
    name = function.__name__

    def kernel(first: Any, second: Any, out: Any = None) -> Any:
        found = _by_engine(*larger_first(first, second, name), name, out)
        return function(first, second, out) if found is None else found

    return kernel

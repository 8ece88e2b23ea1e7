"""Element-wise add, subtract and multiply of large arrays on the threads of an engine.

One core does not saturate the memory bandwidth. The results are bit-identical.
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

_PARALLEL = frozenset({np.add, np.subtract, np.multiply})
_COMMUTATIVE = frozenset({"add", "multiply"})


def may_be_parallel(operation: Operation) -> bool:
    """Whether the result may be above the parallel threshold, by its static shape."""
    output = operation.outputs[0] if operation.outputs else None
    if output is None or output.dtype.name != "float32" or ufunc_of(operation) not in _PARALLEL:
        return False
    size = output.shape.num_elements()
    return bool(output.shape.rank) if size is None else size >= SMALLEST["binary"]


@accelerated("binary", 1_048_576)
def _by_engine(first: Any, second: Any, name: str, out: Any) -> Any:
    """The engine's result of two arrays, or of an array and a scalar; None if it cannot."""
    return None


def larger_first(first: Any, second: Any, name: str) -> tuple[Any, Any]:
    """The operands, the larger one first if the function is commutative."""
    swapped = first.size < second.size and name in _COMMUTATIVE
    return (second, first) if swapped else (first, second)


@functools.cache
def parallel_ufunc(function: np.ufunc) -> Callable[..., Any]:
    """The ufunc, run by an engine where it can."""
    name = function.__name__

    def kernel(first: Any, second: Any, out: Any = None) -> Any:
        found = _by_engine(*larger_first(first, second, name), name, out)
        return function(first, second, out) if found is None else found

    return kernel

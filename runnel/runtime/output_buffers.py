"""Kernels with an argument `out`: they write their result into a buffer that they are given."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

# The dtypes of results that kernels write into buffers.
TYPES = ("float32", "float64")

_UFUNCS: dict[Any, np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.neg: np.negative,
}


def ufunc_of(operation: Operation) -> Callable[..., Any] | None:
    """The function with an argument `out` that an operation comes to."""
    op = operation.op
    if isinstance(op.kernel, np.ufunc):
        return op.kernel
    if op.into is not None:
        return op.into if operation.outputs[0].dtype.name in TYPES else None
    try:
        return _UFUNCS.get(op.kernel)
    except TypeError:
        return None

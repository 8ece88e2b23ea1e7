"""Half precision where oneDNN has no fast code: computed in float32 and rounded once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime.epilogue import Epilogue
from ...runtime.half_precision import is_half, rounded_to_half

Kernel = Callable[..., Any]


def in_float32_otherwise(kernel: Kernel) -> Kernel:
    """A kernel that computes in float32 where it returns None in half precision."""

    @functools.wraps(kernel)
    def run(first: Any, *rest: Any) -> Any:
        result = kernel(first, *rest)
        if result is not None or first.itemsize != 2 or not is_half(first):
            return result
        # The epilogue is applied in the result's own dtype.
        *others, finish = rest if rest and isinstance(rest[-1], Epilogue) else (*rest, None)
        wide = [widened(each) for each in (first, *others)]
        result = kernel(*wide)
        if result is None:
            return None
        result = rounded_to_half(result, first.dtype)
        return result if finish is None else finish.apply(result)

    return run


def widened(argument: Any) -> Any:
    """A half-precision array converted to float32; anything else as it is."""
    if isinstance(argument, np.ndarray) and is_half(argument):
        return argument.astype(np.float32)
    return argument

"""Half precision (float16, bfloat16): computed in float32 and rounded once.

NumPy is slow in float16 and ml_dtypes in bfloat16, and both accumulate sums in half precision. Some
kernels therefore always compute in float32. Others, whose results are the same either way, do so in
plans, where arrays are large.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import bfloat16, float16
from .engine_selection import accelerated
from .output_buffers import ufunc_of
from .parallel_elementwise import larger_first

if TYPE_CHECKING:
    from ..core.graph.graph import Operation

Kernel = Callable[..., Any]

_HALVES = frozenset({bfloat16, float16})
# Functions whose float32 result rounds to the correctly rounded half; the last two miss it a few
# times in a million.
_ROUNDED = frozenset(
    {np.add, np.subtract, np.multiply, np.true_divide, np.sqrt, np.maximum, np.minimum}
    | {np.log, np.tanh}
)
_OF_TWO = frozenset({"add", "divide", "maximum", "minimum", "multiply", "subtract"})
_SIGN = np.uint16(0x8000)
# From this many elements on computing in float32 is faster.
LARGE = 4096


def is_half(array: Any) -> bool:
    """Whether an array is of float16 or bfloat16."""
    return array.itemsize == 2 and array.dtype.kind not in "iu"


@accelerated("narrow", 16_384)
def rounded_to_half(array: Any, dtype: Any) -> Any:
    """An array rounded to a half-precision dtype."""
    return array.astype(dtype)


def computed_in_float32(kernel: Kernel) -> Kernel:
    """Let a kernel compute float16 and bfloat16 in float32, and round its results."""

    @functools.wraps(kernel)
    def widened(*arrays: Any, **attrs: Any) -> Any:
        first = arrays[0]
        if first.itemsize != 2 or not is_half(first):
            return kernel(*arrays, **attrs)
        dtype = first.dtype
        wide = [each.astype(np.float32) if each.dtype == dtype else each for each in arrays]
        result = kernel(*wide, **attrs)
        if isinstance(result, tuple):
            return tuple([rounded_to_half(each, dtype) for each in result])
        return rounded_to_half(result, dtype) if result.dtype == np.float32 else result

    # The op's attributes and their defaults are read from here.
    defaults = getattr(kernel, "__kwdefaults__", None)
    setattr(widened, "__kwdefaults__", defaults)  # noqa: B010
    return widened


def kernel_of(operation: Operation) -> Kernel:
    """The kernel of an operation in a plan: the op's own, or the same computed in float32."""
    kernel = operation.op.kernel
    if not operation.inputs or operation.inputs[0].dtype not in _HALVES:
        return kernel
    function = ufunc_of(operation)
    if operation.type == "Square":
        return _in_float32(kernel, "square")
    if function is np.negative:
        return _negative
    return _in_float32(kernel, function.__name__) if function in _ROUNDED else kernel


def _negative(array: Any) -> Any:
    # Flip the sign bit.
    return np.bitwise_xor(array.view(np.uint16), _SIGN).view(array.dtype)


@accelerated("half_binary", 8192)
def _narrow(first: Any, second: Any, name: str) -> Any:
    """The result of an engine that computes in half precision; None if it cannot."""
    return None


@functools.cache
def _in_float32(kernel: Kernel, name: str) -> Kernel:
    through = computed_in_float32(kernel)

    def of_one(array: Any) -> Any:
        if array.size < LARGE:
            return kernel(array)
        found = _narrow(array, array, "multiply") if name == "square" else None
        return through(array) if found is None else found

    def of_two(first: Any, second: Any) -> Any:
        if max(first.size, second.size) < LARGE:
            return kernel(first, second)
        found = _narrow(*larger_first(first, second, name), name)
        return through(first, second) if found is None else found

    return of_two if name in _OF_TWO else of_one

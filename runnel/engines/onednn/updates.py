"""Optimizer updates of variables, in a few passes over their arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .library import Library, Unsupported
from .post_ops import ADD, MULTIPLY, SUBTRACT, TOTAL, Step, appended
from .primitive import DST, SRC, Primitive, compute, described, user_scratchpad
from .sync_latency import sharing

_OPERATORS = {"+": ADD, "*": MULTIPLY, "-": SUBTRACT}
# Unary algorithms with their two parameters.
_NEGATIVE: Step = (0x26, (-1.0, 0.0))
_FUNCTIONS: dict[str, Step] = {"root": (0x25, (0.0, 0.0)), "inverse": (0x30, (1.0, -1.0))}
_SECOND = 2
# Zero follows the values of an update.
_ZERO, _LAST = np.zeros(1, np.float32), -1
# The arithmetic intensity, in units of other primitives, and at low synchronization latency. An
# epoch with Adam updates of 78,400 elements takes 261 ms on one thread and 242 on two then, else
# 287 and 322.
_ITS_WORK, _ITS_WORK_IF_QUICK = 2, 4


def update(*given: Any) -> Any:
    """Update flat arrays by passes over them; True if it was done.

    The last two arguments are the numbers, as arrays of rank 0, and the passes.
    """
    *arrays, numbers, passes = given
    if not all(array.dtype == np.float32 and array.flags.c_contiguous for array in arrays):
        return None
    size, count = arrays[0].size, len(arrays)
    # Keyed by identity, as hashing them takes as long as a pass. The cache references them.
    key = "update", size, id(passes)
    work = size * (_ITS_WORK_IF_QUICK if sharing.is_in_use else _ITS_WORK)
    made = compute(key, lambda lib: Passes(lib, size, count, passes), work, *arrays, *numbers)
    return made or None


class Passes:
    """The primitives of all passes: either all of them exist, or none."""

    def __init__(self, library: Library, size: int, count: int, passes: Sequence[Any]) -> None:
        """`count` of the values are arrays of this size, the others scalars."""
        self._told = passes
        array, number = described(library, (size,), (1,)), described(library, (1,), (1,))

        def at(place: int) -> Any:
            return array if 0 <= place < count else number

        self.passes = []
        for target, sign, start, steps in passes:
            (first, place), *rest = steps
            if place is None:
                # A primitive starts with two operands: here the first and zero.
                first, place, rest = "+", _LAST, steps
            chain = [
                _FUNCTIONS[kind] if value is None else (_OPERATORS[kind], at(value))
                for kind, value in rest
            ]
            if sign:
                chain += [*([_NEGATIVE] if sign == "-" else []), (TOTAL, None)]
            primitive = combined(library, _OPERATORS[first], (array, at(place)), chain)
            operands = [value for _, value in rest if value is not None]
            self.passes.append((primitive, (start, place, target, *operands)))

    def run_unclaimed(self, *values: Any) -> None:
        """Run the passes without claiming the thread pool."""
        values = (*values, _ZERO)
        for primitive, places in self.passes:
            primitive.run_unclaimed(*[values[place] for place in places])


def combined(
    library: Library, algorithm: int, operands: tuple[Any, Any], steps: Sequence[Step]
) -> Primitive:
    """A binary operation with post-ops, written to the array `DST`."""
    attrs = user_scratchpad(library)
    further = appended(library, attrs, steps)
    first, second = operands
    descriptor = library.made(
        "dnnl_binary_primitive_desc_create",
        library.engine, algorithm, first, second, first, attrs,
    )  # fmt: skip
    library.destroy("dnnl_primitive_attr_destroy", attrs)
    if library.implementation(descriptor).startswith("ref"):
        library.destroy("dnnl_primitive_desc_destroy", descriptor)
        raise Unsupported("slower than NumPy: there is no code for this processor")
    return Primitive(library, descriptor, {SRC: first, _SECOND: second, DST: first, **further})

"""The update of a variable by Adam, in three passes over its arrays instead of twelve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .library import Library, Unsupported
from .post_ops import ADD, MULTIPLY, TOTAL, Step, appended
from .primitive import DST, SRC, Primitive, compute, described, user_scratchpad

_SUBTRACT, _SQUARE_ROOT, _POWER = 0x1FFF5, 0x25, 0x30
_SECOND = 2
_ZERO = np.zeros(1, np.float32)


def adam(var: Any, m: Any, v: Any, grad: Any, numbers: tuple[Any, Any, Any, Any]) -> Any:
    """Change flat arrays as `adam` of ops/training_rules.py does; True if it did."""
    if not all(a.dtype == np.float32 and a.flags.c_contiguous for a in (var, m, v, grad)):
        return None
    size = var.size
    *others, alpha = numbers
    arrays = var, m, v, grad, *others, np.asarray(-alpha)
    return compute(("adam", size), lambda library: _Adam(library, size), size, *arrays) or None


class _Adam:
    """Three primitives that are there together, or none."""

    def __init__(self, library: Library, size: int) -> None:
        array, number = described(library, (size,), (1,)), described(library, (1,), (1,))
        total = TOTAL, None
        # m += (grad - m) rest_1
        steps: list[Step] = [(MULTIPLY, number), total]
        self._first = _binary(library, _SUBTRACT, (array, array), steps)
        # v += (grad grad - v) rest_2
        steps = [(_SUBTRACT, array), (MULTIPLY, number), total]
        self._second = _binary(library, MULTIPLY, (array, array), steps)
        # var += 1 / (sqrt(v + 0) + epsilon) m (-alpha)
        root, inverse = (_SQUARE_ROOT, (0.0, 0.0)), (_POWER, (1.0, -1.0))
        steps = [root, (ADD, number), inverse, (MULTIPLY, array), (MULTIPLY, number), total]
        self._change = _binary(library, ADD, (array, number), steps)

    def run_beside(
        self, var: Any, m: Any, v: Any, grad: Any, rest_1: Any, rest_2: Any, epsilon: Any,
        factor: Any,
    ) -> None:  # fmt: skip
        """Update the arrays, in the calling thread's share of the processors."""
        self._first.run_beside(grad, m, m, rest_1)
        self._second.run_beside(grad, grad, v, v, rest_2)
        self._change.run_beside(v, _ZERO, var, epsilon, m, factor)


def _binary(
    library: Library, algorithm: int, operands: tuple[Any, Any], steps: Sequence[Step]
) -> Primitive:
    """An operation of two arrays whose result goes through steps into the array `DST`."""
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

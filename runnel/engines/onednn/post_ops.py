"""Post-ops: what oneDNN applies to a result while it is in registers.

Activations are not among them: oneDNN's relu turns NaN into 0, which would hide errors.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...runtime.epilogue import Epilogue
from .library import Library
from .primitive import described, user_scratchpad

ADD, MULTIPLY, DIVIDE, SUBTRACT = 0x1FFF0, 0x1FFF1, 0x1FFF4, 0x1FFF5
# A step: an algorithm with its second operand, one with two parameters, or the sum with the
# previous content of the output.
Step = tuple[Any, Any]
TOTAL = "total"
_SAME_TYPE = 0
# The second operand of a post-op, by its index.
_OPERAND, _BY_PLACE = 2, 32768


def appended(
    library: Library, attributes: ctypes.c_void_p, steps: Sequence[Step]
) -> dict[int, Any]:
    """Append post-ops to attributes; the descriptors of their operands, by argument."""
    listed = library.made("dnnl_post_ops_create")
    operands = {}
    for place, (kind, given) in enumerate(steps):
        if kind == TOTAL:
            one, nothing = ctypes.c_float(1.0), ctypes.c_int32(0)
            library.call("dnnl_post_ops_append_sum", listed, one, nothing, _SAME_TYPE)
        elif isinstance(given, tuple):
            numbers = [ctypes.c_float(number) for number in given]
            library.call("dnnl_post_ops_append_eltwise", listed, kind, *numbers)
        else:
            library.call("dnnl_post_ops_append_binary", listed, kind, given)
            operands[_BY_PLACE * (place + 1) | _OPERAND] = given
    library.call("dnnl_primitive_attr_set_post_ops", attributes, listed)
    library.destroy("dnnl_post_ops_destroy", listed)
    return operands


def vectors_of(finish: Epilogue | None, channels: int) -> tuple[Any, ...]:
    """The vectors of an epilogue that are operands of post-ops, in their order."""
    if finish is None:
        return ()
    finish.require(channels)
    vectors = [finish.shift] if finish.scale is None else [finish.scale, finish.shift]
    if finish.center is not None:
        vectors.insert(0, -finish.center)
    # A bias may be a column of a matrix.
    return tuple([np.ascontiguousarray(vector) for vector in vectors])


@lru_cache(maxsize=1024)
def epilogue_post_ops(
    library: Library, count: int, channels: int, rank: int
) -> tuple[ctypes.c_void_p, dict[int, Any]]:
    """Attributes that add a vector, or scale before it, or center before that; with their
    arguments.
    """
    ones = [1] * (rank - 2)
    vector = described(library, (1, channels, *ones), (channels, 1, *ones))
    made = user_scratchpad(library)
    return made, appended(library, made, [(each, vector) for each in (ADD, MULTIPLY, ADD)[-count:]])

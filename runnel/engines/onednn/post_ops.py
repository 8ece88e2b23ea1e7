"""Post-ops: scales and shifts of channels that oneDNN does before a result leaves the registers.

Activations are not among them: oneDNN's ReLU makes zeros of NaNs, which then nobody would notice.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

from ...core.finish import Finish
from .library import Library
from .primitive import described, user_scratchpad

_MULTIPLY, _ADD = 0x1FFF1, 0x1FFF0
# The second operand of a post-op, by its place in their list.
_OPERAND, _BY_PLACE = 2, 32768


def vectors_of(finish: Finish | None) -> tuple[Any, ...]:
    """The vectors of a finish that are operands of post-ops, in their order."""
    if finish is None:
        return ()
    return (finish.shift,) if finish.scale is None else (finish.scale, finish.shift)


def arguments(library: Library, count: int, channels: int, rank: int) -> dict[int, Any]:
    """The descriptors of so many vectors, by the kinds of argument that they are."""
    vector = _vector(library, channels, rank)
    return {_BY_PLACE * (place + 1) | _OPERAND: vector for place in range(count)}


@lru_cache(maxsize=1024)
def attributes(library: Library, count: int, channels: int, rank: int) -> ctypes.c_void_p:
    """The attributes of a primitive that adds one vector, or scales by one and adds another."""
    made = user_scratchpad(library)
    listed = library.made("dnnl_post_ops_create")
    for algorithm in (_MULTIPLY, _ADD)[-count:]:
        vector = _vector(library, channels, rank)
        library.call("dnnl_post_ops_append_binary", listed, algorithm, vector)
    library.call("dnnl_primitive_attr_set_post_ops", made, listed)
    library.destroy("dnnl_post_ops_destroy", listed)
    return made


def _vector(library: Library, channels: int, rank: int) -> Any:
    ones = [1] * (rank - 2)
    return described(library, (1, channels, *ones), (channels, 1, *ones))

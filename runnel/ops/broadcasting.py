"""Gradients of broadcasting."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core.context import state
from ..core.dtypes import int32, int64
from ..core.op import execute, op
from ..core.shape_rules import unknown_of_rank
from ..core.tensor import Tensor
from .array.shaping import Reshape, reshape, shape
from .math.reduction import Sum


@op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    T={int32, int64},
    shape=lambda inputs, attrs: [unknown_of_rank(1)(inputs, attrs)] * 2,
    gradient=None,
)
def BroadcastGradientArgs(s0, s1):
    rank = max(len(s0), len(s1))
    a = np.concatenate([np.ones(rank - len(s0), s0.dtype), s0])
    b = np.concatenate([np.ones(rank - len(s1), s1.dtype), s1])
    axes = np.arange(rank, dtype=s0.dtype)
    same = (a == 1) & (b == 1)
    return axes[(a == 1) & (b != 1) | same], axes[(b == 1) & (a != 1) | same]


def sum_to(gradient: Tensor, like: Tensor) -> Tensor:
    """Sum a gradient over the axes along which `like` was broadcast."""
    if type(gradient) is Tensor and type(like) is Tensor:
        array = gradient._array
        whole, part = array.shape, like._array.shape
        is_sum = not part and len(whole) == 1 and array.itemsize > 2
        if is_sum and not state.tapes and state.graph is None:
            # Mostly the gradient of a scalar operand; without tapes the sum need not be recorded.
            return Tensor(np.add.reduce(array, 0, array.dtype), gradient.dtype)
    else:
        whole, part = gradient._sizes, like._sizes
        if whole is None or part is None or None in whole or None in part:
            axes, _ = BroadcastGradientArgs(shape(like), shape(gradient))
            return reshape(execute(Sum, (gradient, axes)), shape(like))
    if whole == part:
        return gradient
    axes, attrs, last_shape = _plan(whole, part)
    total = execute(Sum, (gradient, axes), attrs)
    return total if last_shape is None else execute(Reshape, (total, last_shape))


@lru_cache(4096)
def _plan(whole: tuple[int, ...], part: tuple[int, ...]):
    """The axes to sum over, the attributes of the sum, and the shape of a final reshape."""
    extra = len(whole) - len(part)
    leading = list(range(extra))
    stretched = [
        extra + axis for axis, size in enumerate(part) if size == 1 and whole[extra + axis] != 1
    ]
    axes = Tensor(np.array(leading + stretched, np.int32), int32)
    if leading and stretched:
        return axes, {}, Tensor(np.array(part, np.int32), int32)
    return axes, {"keep_dims": True} if stretched else {}, None

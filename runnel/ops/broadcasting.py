"""How gradients go back through broadcasting."""

from __future__ import annotations

import numpy as np

from ..core.dtypes import int32, int64
from ..core.op import execute, op
from ..core.shape_rules import unknown_of_rank
from ..core.tensor import Tensor
from .array.shaping import reshape, shape
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
    whole, part = gradient.shape, like.shape
    if part == whole and part.is_fully_defined():
        return gradient
    if not (part.is_fully_defined() and whole.is_fully_defined()):
        axes, _ = BroadcastGradientArgs(shape(like), shape(gradient))
        return reshape(execute(Sum, (gradient, axes)), shape(like))
    extra = whole.rank - part.rank
    leading = tuple(range(extra))
    stretched = tuple(
        extra + axis for axis, size in enumerate(part) if size == 1 and whole[extra + axis] != 1
    )
    if not leading:
        return execute(Sum, (gradient, _axes(stretched)), {"keep_dims": True})
    total = execute(Sum, (gradient, _axes(leading + stretched)))
    return reshape(total, part) if stretched else total


_AXES: dict[tuple[int, ...], Tensor] = {}


def _axes(axes: tuple[int, ...]) -> Tensor:
    found = _AXES.get(axes)
    if found is None:
        found = _AXES[axes] = Tensor(np.array(axes, np.int32), int32)
    return found

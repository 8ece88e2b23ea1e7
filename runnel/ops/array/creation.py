"""Tensors made from nothing: filled, counted, like another."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, operands
from ...core.dtypes import REAL
from ...core.op import execute, op
from ...core.shape_rules import unchanged
from ...core.shapes import TensorShape

ZerosLike = op(
    "ZerosLike", "x: T -> y: T", shape=unchanged, kernel=lambda x: np.zeros(x.shape, x.dtype),
    gradient=None,
)  # fmt: skip

OnesLike = op(
    "OnesLike", "x: T -> y: T", shape=unchanged, kernel=lambda x: np.ones(x.shape, x.dtype),
    gradient=None,
)  # fmt: skip


def _range_shape(inputs, attrs):
    bounds = [constant_value(each) for each in inputs]
    if any(bound is None for bound in bounds):
        return TensorShape([None])
    return TensorShape([len(np.arange(*bounds))])


@op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    Tidx=REAL,
    shape=_range_shape,
    gradient=None,
)
def Range(start, limit, delta):
    return np.arange(start, limit, delta, start.dtype)


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` up to but not `limit`, `delta` apart.

    >>> tf.range(3)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 2], dtype=int32)>
    """
    if limit is None:
        start, limit = 0, start
    limit, start = operands(limit, start)
    return execute(Range, (start, limit, convert_to_tensor(delta, start.dtype)))

"""Sums, products, extremes and means over axes."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import NUMERIC, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import SCALAR, UNKNOWN, normalized_axis
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array.shaping import broadcast_to, reshape, shape


def reduced_shape(inputs, attrs):
    """The shape left after the axes in the second input are reduced."""
    value, axes = inputs
    rank = value.shape.rank
    wanted = constant_value(axes)
    if rank is None or wanted is None:
        kept = rank if attrs["keep_dims"] else None
        return UNKNOWN if kept is None else TensorShape([None] * kept)
    reduced = {normalized_axis(int(axis), rank, "reduction axis") for axis in np.ravel(wanted)}
    sizes = value.shape.as_list()
    if attrs["keep_dims"]:
        return TensorShape([1 if i in reduced else size for i, size in enumerate(sizes)])
    return TensorShape([size for i, size in enumerate(sizes) if i not in reduced])


def axes_of(array, reduction_indices):
    """The axes as NumPy takes them, each once; IndexError for one that is not there."""
    rank = array.ndim
    axes = {normalized_axis(int(a), rank, "reduction axis") for a in np.ravel(reduction_indices)}
    return tuple(axes)


@op(
    "Sum",
    "input: T, reduction_indices: Tidx -> output: T",
    T=NUMERIC,
    Tidx={int32, int64},
    shape=reduced_shape,
)
def Sum(input, reduction_indices, *, keep_dims=False):
    return np.add.reduce(
        input, axis=axes_of(input, reduction_indices), dtype=input.dtype, keepdims=keep_dims
    )


@Sum.gradient
def _(op, grad):
    value = op.inputs[0]
    return broadcast_to(with_reduced_axes(op, grad), shape(value)), None


def with_reduced_axes(op, grad: Tensor) -> Tensor:
    """A gradient (or result) of a reduction with its reduced axes back, of size 1."""
    value, axes = op.inputs
    if op.attrs["keep_dims"] or grad.shape == SCALAR:
        return grad
    static = reduced_shape((value, axes), {"keep_dims": True})
    if static.is_fully_defined():
        return reshape(grad, static)
    return reshape(grad, KeptDimsShape(shape(value), axes))


@op(
    "ReducedShape",
    "input_shape: int32, axes: Tidx -> output: int32",
    Tidx={int32, int64},
    shape=lambda inputs, attrs: inputs[0].shape,
    gradient=None,
)
def KeptDimsShape(input_shape, axes):
    sizes = input_shape.copy()
    sizes[np.ravel(axes)] = 1
    return sizes


def reduction_axes(value: Tensor, axis) -> Tensor:
    """The axes to reduce as a tensor: all of them for None."""
    if axis is not None:
        return convert_to_tensor(axis, dtype_hint=int32)
    if value.shape.rank is not None:
        return convert_to_tensor(np.arange(value.shape.rank, dtype=np.int32))
    from ..array.creation import range as range_op
    from ..array.shaping import rank

    return range_op(rank(value))


def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum of the elements over `axis`, or over all axes.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([4, 6], dtype=int32)>
    """
    value = convert_to_tensor(input_tensor)
    return execute(Sum, (value, reduction_axes(value, axis)), {"keep_dims": bool(keepdims)})

"""Sums and maxima of sparse tensors along axes, and segment reductions of gathered rows."""

from __future__ import annotations

import numpy as np

from ...core.context import state
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import NUMERIC, REAL, int32
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ..array import creation, gathering, selection, shaping
from ..math import casting, comparison, reduction, segment
from ..ragged.row_partition import require
from . import positions
from .sparse_tensor import SparseTensor, as_sparse


def _checked_axes(axes, rank):
    """Sorted non-negative axes, all for None; ValueError for one out of range."""
    if axes is None or not np.size(axes):
        return list(range(rank))
    found = set()
    for axis in np.reshape(axes, -1).tolist():
        if not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
        found.add(axis % rank)
    return sorted(found)


def _dense_sizes(inputs, attrs):
    _, _, shape, axes = inputs
    sizes, reduced = constant_value(shape), constant_value(axes)
    if sizes is None or reduced is None:
        return TensorShape(None)
    reduced = _checked_axes(reduced, len(sizes))
    if attrs["keep_dims"]:
        return TensorShape([1 if i in reduced else int(n) for i, n in enumerate(sizes)])
    return TensorShape([int(n) for i, n in enumerate(sizes) if i not in reduced])


def _sparse_sizes(inputs, attrs):
    dense = _dense_sizes(inputs, attrs)
    return [TensorShape([None, dense.rank]), TensorShape([None]), TensorShape([dense.rank])]


def _groups(indices, shape, axes, keep_dims):
    """The shape of the result, and the flat index of each element in it (NumPy)."""
    reduced = _checked_axes(axes, len(shape))
    kept = [axis for axis in range(len(shape)) if axis not in reduced]
    sizes = np.asarray(shape)[kept]
    places = positions.flat_numbers(indices[:, kept], sizes)
    if keep_dims:
        sizes = np.where(np.isin(np.arange(len(shape)), reduced), 1, shape)
    return sizes.astype(np.int64), places


def _combined(ufunc, values, places):
    """`ufunc` over the values of each group; the groups that have any (NumPy)."""
    found, ids = np.unique(places, return_inverse=True)
    first = np.full(len(found), -1)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    result = values[first].copy() if len(found) else values[:0].copy()
    rest = np.ones(len(ids), bool)
    rest[first] = False
    ufunc.at(result, ids[rest], values[rest])
    return found, result


def _reduction_ops(name, ufunc, types, dense):
    signature = (
        "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> "
    )

    def to_dense(input_indices, input_values, input_shape, reduction_axes, *, keep_dims=False):
        sizes, places = _groups(input_indices, input_shape, reduction_axes, keep_dims)
        found, combined = _combined(ufunc, input_values, places)
        result = np.zeros(int(np.prod(sizes)), input_values.dtype)
        result[found] = combined
        return result.reshape(sizes)

    def to_sparse(input_indices, input_values, input_shape, reduction_axes, *, keep_dims=False):
        sizes, places = _groups(input_indices, input_shape, reduction_axes, keep_dims)
        found, combined = _combined(ufunc, input_values, places)
        return positions.unflattened(found, sizes).astype(np.int64), combined, sizes

    sparse = op(
        f"{name}Sparse",
        signature + "output_indices: int64, output_values: T, output_shape: int64",
        T=types,
        shape=_sparse_sizes,
        kernel=to_sparse,
        gradient=None,
    )
    if not dense:
        return None, sparse
    return (
        op(name, signature + "output: T", T=types, shape=_dense_sizes, kernel=to_dense,
           gradient=None),
        sparse,
    )  # fmt: skip


_, SparseReduceSumSparse = _reduction_ops("SparseReduceSum", np.add, NUMERIC, dense=False)
SparseReduceMax, SparseReduceMaxSparse = _reduction_ops(
    "SparseReduceMax", np.maximum, REAL, dense=True
)


def _axes_tensor(value, axis):
    if axis is not None:
        return casting.cast(convert_to_tensor(axis, dtype_hint=int32), int32)
    rank = value.shape.rank
    if rank is not None:
        return convert_to_tensor(np.arange(rank, dtype=np.int32))
    return creation.range(shaping.size(value.dense_shape))


def _reduced(function_op, value, axis, keepdims):
    inputs = (value.indices, value.values, value.dense_shape, _axes_tensor(value, axis))
    return execute(function_op, inputs, {"keep_dims": bool(keepdims)})


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sum of the elements over `axis`, or over all axes: dense, or sparse if requested.

    >>> tf.sparse.reduce_sum(tf.SparseTensor([[0, 0], [0, 1]], [5, 6], [2, 2]), 1).numpy().tolist()
    [11, 0]
    """
    value = as_sparse(sp_input)
    if output_is_sparse:
        return SparseTensor(*_reduced(SparseReduceSumSparse, value, axis, keepdims))
    # A segment sum, so that it has gradients of any order.
    rank = value.shape.rank
    known = constant_value(_axes_tensor(value, axis))
    if axis is not None and (rank is None or known is None):
        if known is None:
            raise ValueError("The axis of tf.sparse.reduce_sum must be known.")
        rank = rank or value.indices.shape[1]
        if rank is None:
            raise ValueError("tf.sparse.reduce_sum along an axis needs a known rank.")
    if axis is None:
        total = reduction.reduce_sum(value.values)
        ones = creation.ones_like(value.dense_shape)
        return shaping.reshape(total, ones) if keepdims else total
    try:
        reduced = _checked_axes(known, rank)
    except ValueError as error:
        raise InvalidArgumentError(None, None, f"{error} [Op:SparseReduceSum]") from None
    kept = [i for i in range(rank) if i not in reduced]
    sizes = gathering.gather(value.dense_shape, np.array(kept, np.int32))
    columns = gathering.gather(value.indices, np.array(kept, np.int32), axis=1)
    count = reduction.reduce_prod(sizes)
    places = positions.flat_positions(columns, sizes)
    total = segment.unsorted_segment_sum(value.values, places, count)
    if keepdims:
        mask = np.isin(np.arange(rank), reduced)
        sizes = selection.where(mask, np.int64(1), value.dense_shape)
    total = shaping.reshape(total, sizes)
    if value.shape.rank is not None and not total.shape.is_fully_defined():
        known = list(value.shape)
        total.set_shape([1 if i in reduced else known[i] for i in range(rank)] if keepdims
                        else [known[i] for i in kept])  # fmt: skip
    return total


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The maximum over `axis`, or over all axes; 0 where there are no elements.

    >>> tf.sparse.reduce_max(tf.SparseTensor([[0, 0], [0, 1]], [5, 6], [2, 2]), 1).numpy().tolist()
    [6, 0]
    """
    value = as_sparse(sp_input)
    if output_is_sparse:
        return SparseTensor(*_reduced(SparseReduceMaxSparse, value, axis, keepdims))
    return _reduced(SparseReduceMax, value, axis, keepdims)


def _segments(data, indices, segment_ids, num_segments, sparse_gradient):
    """The gathered rows and their segments, validated."""
    data, indices = convert_to_tensor(data), convert_to_tensor(indices, dtype_hint=int32)
    ids = convert_to_tensor(segment_ids, dtype_hint=int32)
    rising = reduction.reduce_all(comparison.less_equal(ids[:-1], ids[1:]))
    require(rising, "segment ids are not increasing:", ids)
    if num_segments is None:
        # The last id is the largest.
        last = ids[-1:] + 1
        count = reduction.reduce_sum(last)
    else:
        count = convert_to_tensor(num_segments, dtype_hint=int32)
    sizes = indices.shape[:1], ids.shape[:1]
    if not sizes[0].is_compatible_with(sizes[1]):
        message = f"segment_ids and indices should have same size, got {sizes}"
        if state.graph is not None:
            raise ValueError(message)
        raise InvalidArgumentError(None, None, f"{message} [Op:SparseSegmentSum]")
    if sparse_gradient:
        return gathering.gather(data, indices), ids, count
    # Along any axis but the first, the gradient of a gather is dense.
    rows = gathering.gather(shaping.expand_dims(data, 0), indices, axis=1)
    return shaping.squeeze(rows, [0]), ids, count


def segment_sum(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sums of the rows of `data` at `indices` with equal segment ids; the ids are sorted.

    >>> tf.sparse.segment_sum([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy().tolist()
    [[5.0]]
    """
    picked = _segments(data, indices, segment_ids, num_segments, sparse_gradient)
    return segment.unsorted_segment_sum(*picked)


def segment_mean(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The means of the rows of `data` at `indices` with equal segment ids; the ids are sorted.

    >>> tf.sparse.segment_mean([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy().tolist()
    [[2.5]]
    """
    picked = _segments(data, indices, segment_ids, num_segments, sparse_gradient)
    return segment.unsorted_segment_mean(*picked)


def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
    """The sums of the rows with equal segment ids, divided by the square root of their number.

    >>> tf.sparse.segment_sqrt_n([[1.0], [2.0]], [0, 1, 1, 1], [0, 0, 0, 0]).numpy().tolist()
    [[3.5]]
    """
    picked = _segments(data, indices, segment_ids, num_segments, sparse_gradient)
    return segment.unsorted_segment_sqrt_n(*picked)

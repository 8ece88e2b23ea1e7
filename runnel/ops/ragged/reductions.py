"""Sums, means, extremes and other reductions of ragged tensors, and segments of their rows."""

from __future__ import annotations

import functools

from ...core import dtypes
from ...core.dtypes import int64
from ...core.op import REGISTRY, execute
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, shaping
from ..math import arithmetic, casting, comparison, division, elementwise, reduction, segment
from . import gathering as ragged_gathering, ragged_tensor
from .joining import checked_axis
from .row_partition import integer, partition_of, splits_of_lengths

SEGMENTS = {
    "Sum": segment.unsorted_segment_sum,
    "Prod": segment.unsorted_segment_prod,
    "Max": segment.unsorted_segment_max,
    "Min": segment.unsorted_segment_min,
}
_BOOLEAN = {"Any": "Max", "All": "Min"}


def reduce(name, value, axes, keep_dims=False):
    """The reduction of the op `name` over some axes of a ragged tensor."""
    if name in _BOOLEAN:
        numbers = casting.cast(value, dtypes.int32)
        found = reduce(_BOOLEAN[name], numbers, axes, keep_dims)
        return casting.cast(comparison.greater(found, integer(0, dtypes.int32)), dtypes.bool)
    if name == "Mean":
        return _mean(value, axes, keep_dims)
    rank = value.shape.rank
    if axes is None:
        result = _dense(name, value.flat_values, None)
        if keep_dims:
            sizes = creation.ones(shaping.reshape(shaping.rank(value), [1]), dtypes.int32)
            result = shaping.reshape(result, [1] * rank if rank is not None else sizes)
        return result
    axes = sorted({checked_axis(axis, rank) for axis in axes}, reverse=True)
    if rank is not None and len(axes) == rank:
        return reduce(name, value, None, keep_dims)
    for axis in axes:
        value = _reduced(name, value, axis)
        if keep_dims:
            value = shaping.expand_dims(value, axis)
    return value


def _mean(value, axes, keep_dims):
    if not (value.dtype.is_floating or value.dtype.is_complex):
        value = casting.cast(value, dtypes.float64)
    total = reduce("Sum", value, axes, keep_dims)
    count = reduce("Sum", creation.ones_like(value), axes, keep_dims)
    return division.divide(total, count)


def _dense(name, tensor, axis):
    return getattr(reduction, f"reduce_{name.lower()}")(tensor, axis)


def _reduced(name, value, axis):
    if isinstance(value, Tensor):
        return _dense(name, value, axis)
    if axis > 1:
        inner = _reduced(name, value.values, axis - 1)
        return ragged_tensor.RaggedTensor(inner, value._row_partition, internal=True)
    ids, count = _groups(value, axis)
    return segments(SEGMENTS[name], value.values, ids, count)


def _groups(value, axis):
    """The segment id of each value along axis 0 or 1, and the number of segments."""
    if axis == 1:
        return value.value_rowids(), value.nrows()
    # Axis 0: the elements at equal positions in their rows form a segment.
    lengths = value.row_lengths()
    _, columns = ragged_gathering.ranges(creation.zeros_like(lengths), lengths)
    return columns, value._longest()


def segments(reduction, data, ids, count):
    """The reduction of rows with equal ids; ragged rows are combined position by position."""
    if isinstance(data, Tensor):
        return reduction(data, ids, count)
    dtype = data.row_splits.dtype
    ids, count = integer(ids, dtype), integer(count, dtype)
    lengths = segment.unsorted_segment_max(data.row_lengths(), ids, count)
    splits = splits_of_lengths(arithmetic.maximum(lengths, integer(0, dtype)))
    starts = gathering.gather(splits, ids)
    _, places = ragged_gathering.ranges(starts, starts + data.row_lengths())
    values = segments(reduction, data.values, places, splits[-1])
    return ragged_tensor.RaggedTensor(values, partition_of(splits), internal=True)


def softmax(value, op, attrs):
    """Softmax (or its logarithm) along the innermost dimension."""
    if value.shape.rank is None:
        raise ValueError("tf.nn.softmax of a ragged tensor needs flat_values of known rank.")
    if value.shape.rank != value.ragged_rank + 1:
        return value.with_flat_values(execute(op, (value.flat_values,), attrs))
    inner = value
    while not isinstance(inner.values, Tensor):
        inner = inner.values
    ids, rows = inner.value_rowids(), inner.nrows()
    flat = inner.values
    largest = gathering.gather(segment.unsorted_segment_max(flat, ids, rows), ids)
    from ..math.elementwise import exp, stop_gradient

    shifted = flat - stop_gradient(largest)
    total = segment.unsorted_segment_sum(exp(shifted), ids, rows)
    if op.name == "LogSoftmax":
        result = shifted - elementwise.log(gathering.gather(total, ids))
    else:
        result = division.divide(exp(shifted), gathering.gather(total, ids))
    return value.with_flat_values(result)


def cumulative(op, value, axis, attrs):
    """Cumulative sums along an axis; padding with zeros does not change them."""
    axis = checked_axis(axis, value.shape.rank)
    if axis > value.ragged_rank:
        inner = integer(axis - value.ragged_rank, dtypes.int32)
        return value.with_flat_values(execute(op, (value.flat_values, inner), attrs))
    dense = execute(op, (value.to_tensor(), integer(axis, dtypes.int32)), attrs)
    return ragged_tensor.RaggedTensor.from_tensor(
        dense, lengths=list(value.nested_row_lengths()), row_splits_dtype=value.row_splits.dtype
    )


def join_rows(value, axes, keep_dims, separator):
    """tf.strings.reduce_join of ragged strings."""
    rank = value.shape.rank
    axes = sorted({checked_axis(axis, rank) for axis in axes}, reverse=True)
    op = REGISTRY["UnsortedSegmentJoin"]
    for axis in axes:
        value = _joined(value, axis, separator, op)
        if keep_dims:
            value = shaping.expand_dims(value, axis)
    return value


def _joined(value, axis, separator, op):
    if isinstance(value, Tensor):
        axes = joining.stack([integer(axis, dtypes.int32)])
        attrs = {"keep_dims": False, "separator": separator}
        return execute(REGISTRY["ReduceJoin"], (value, axes), attrs)
    if axis > 1:
        inner = _joined(value.values, axis - 1, separator, op)
        return ragged_tensor.RaggedTensor(inner, value._row_partition, internal=True)
    join = functools.partial(_join_segments, op, separator)
    ids, count = _groups(value, axis)
    return segments(join, value.values, ids, count)


def _join_segments(op, separator, data, ids, count):
    inputs = (data, casting.cast(ids, int64), casting.cast(count, int64))
    return execute(op, inputs, {"separator": separator})

"""Segment reductions: sums, products, means, maxima and minima of rows with the same segment id."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import NUMERIC, REAL, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...runtime.half_precision import is_half
from ..array import creation, gathering, joining, selection
from ..array.arguments import INDEX, integers
from ..array.scatter_kernels import combine_rows, sparse_sum
from ..array.shaping import rank as rank_of, reshape, shape
from . import arithmetic, casting, comparison, division, elementwise
from .reduction_kernels import highest, lowest, truncated_quotient


def _combine(ufunc, data, ids, rows, initial):
    """Reduce the rows of `data` per id with `ufunc`; segments without rows are `initial`.

    `data` is a matrix, `ids` a vector of numbers below `rows`; negative ones are ignored.
    """
    kept = ids >= 0
    if not kept.all():
        data, ids = data[kept], ids[kept]
    kind = data.dtype
    if is_half(data):
        data = data.astype(np.float32)
    width = data.shape[1]
    sums = sparse_sum(data, ids, rows) if ufunc is np.add else None
    if sums is not None:
        return sums.astype(kind, copy=False)
    result = np.full(rows * width, initial, data.dtype)
    combine_rows(ufunc, result, ids, data)
    return result.reshape(rows, width).astype(kind, copy=False)


def _sorted_segments(data, segment_ids):
    """The data as a matrix, and the number of segments; ValueError for invalid ids."""
    if not data.ndim:
        raise ValueError("input must be at least rank 1")
    if segment_ids.ndim != 1:
        raise ValueError(
            f"segment_ids should be a vector. It has the shape {list(segment_ids.shape)}."
        )
    if len(segment_ids) != len(data):
        raise ValueError(
            "segment_ids should be the same size as dimension 0 of input. There are "
            f"{len(segment_ids)} ids for {len(data)} rows."
        )
    if not len(segment_ids):
        return data.reshape(0, int(np.prod(data.shape[1:], dtype=np.int64))), 0
    if (segment_ids[1:] < segment_ids[:-1]).any():
        raise ValueError(
            "segment ids are not increasing: sort them with their rows, or use the "
            "tf.math.unsorted_segment_* functions."
        )
    rows = int(segment_ids[-1]) + 1
    if segment_ids[0] < 0:
        raise ValueError(
            f"Segment id {segment_ids[0]} out of range [0, {rows}), possibly because "
            "'segment_ids' input is not sorted."
        )
    return data.reshape(len(data), -1), rows


def _sorted_shape(inputs, attrs):
    data, ids = inputs
    if ids.shape.rank not in (None, 1):
        raise ValueError(f"segment_ids should be a vector. It has the shape {ids.shape}.")
    if data.shape.rank is None:
        return UNKNOWN
    if not data.shape.rank:
        raise ValueError("input must be at least rank 1")
    return TensorShape([None, *data.shape[1:]])


def _sorted_segment(name, ufunc, initial, missing, types):
    """An op over sorted segments; empty segments become `missing`."""

    def kernel(data, segment_ids):
        rows, segments = _sorted_segments(data, segment_ids)
        result = _combine(ufunc, rows, segment_ids, segments, initial(rows.dtype))
        if missing is not None:
            present = np.zeros(segments, bool)
            present[segment_ids] = True
            result[~present] = missing
        return result.reshape(segments, *data.shape[1:])

    return op(
        name,
        "data: T, segment_ids: Tindices -> output: T",
        T=types,
        Tindices=INDEX,
        shape=_sorted_shape,
        kernel=kernel,
    )


def _zero(kind):
    return 0


def _one(kind):
    return 1


SegmentSum = _sorted_segment("SegmentSum", np.add, _zero, None, NUMERIC)
SegmentProd = _sorted_segment("SegmentProd", np.multiply, _one, None, NUMERIC)
SegmentMax = _sorted_segment("SegmentMax", np.maximum, lowest, 0, REAL)
SegmentMin = _sorted_segment("SegmentMin", np.minimum, highest, 0, REAL)


@op(
    "SegmentMean",
    "data: T, segment_ids: Tindices -> output: T",
    T=NUMERIC,
    Tindices=INDEX,
    shape=_sorted_shape,
)
def SegmentMean(data, segment_ids):
    rows, segments = _sorted_segments(data, segment_ids)
    kind = data.dtype
    if kind.kind in "iu":
        rows = rows.astype(np.int64 if kind.kind == "i" else np.uint64)
    elif is_half(data):
        rows = rows.astype(np.float32)
    total = _combine(np.add, rows, segment_ids, segments, 0)
    counts = np.maximum(np.bincount(segment_ids, minlength=segments), 1)[:, np.newaxis]
    if kind.kind in "iu":
        mean = truncated_quotient(total, counts.astype(total.dtype))
    else:
        mean = total / counts.astype(total.real.dtype)
    return mean.astype(kind, copy=False).reshape(segments, *data.shape[1:])


def _unsorted_shape(inputs, attrs):
    data, ids, number = inputs
    if number.shape.rank not in (None, 0):
        raise ValueError(f"num_segments should be a scalar, not shape {number.shape}.")
    if data.shape.rank is None or ids.shape.rank is None:
        return UNKNOWN
    if not data.shape[: ids.shape.rank].is_compatible_with(ids.shape):
        raise ValueError(
            f"data.shape = {dimensions_text(data.shape)} does not start with segment_ids.shape = "
            f"{dimensions_text(ids.shape)}."
        )
    count = constant_value(number)
    if count is not None and count < 0:
        raise ValueError(f"Input num_segments == {count} must not be negative.")
    return TensorShape([None if count is None else int(count), *data.shape[ids.shape.rank :]])


def _unsorted_segment(name, ufunc, initial, types, index_types):
    def kernel(data, segment_ids, num_segments):
        rank = segment_ids.ndim
        if np.ndim(num_segments):
            raise ValueError(f"num_segments should be a scalar, not shape {num_segments.shape}.")
        segments = int(num_segments)
        if segments < 0:
            raise ValueError(f"Input num_segments == {segments} must not be negative.")
        if data.shape[:rank] != segment_ids.shape:
            raise ValueError(
                f"data.shape = {list(data.shape)} does not start with segment_ids.shape = "
                f"{list(segment_ids.shape)}."
            )
        ids = np.reshape(segment_ids, -1)
        if ids.size and ids.max() >= segments:
            position = int(np.argmax(ids >= segments))
            raise ValueError(
                f"segment_ids[{position}] = {ids[position]} is out of range [0, {segments}). Give "
                "a larger num_segments; negative ids leave rows out."
            )
        row = data.shape[rank:]
        matrix = np.reshape(data, (ids.size, int(np.prod(row, dtype=np.int64))))
        return _combine(ufunc, matrix, ids, segments, initial(data.dtype)).reshape(segments, *row)

    return op(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        T=types,
        Tindices=index_types,
        Tnumsegments=INDEX,
        shape=_unsorted_shape,
        kernel=kernel,
    )


def _least_finite(kind):
    return np.iinfo(kind).min if kind.kind in "iu" else dtypes.from_numpy(kind).min


def _greatest_finite(kind):
    return np.iinfo(kind).max if kind.kind in "iu" else dtypes.from_numpy(kind).max


UnsortedSegmentSum = _unsorted_segment(
    "UnsortedSegmentSum", np.add, _zero, NUMERIC, INDEX | {dtypes.int16}
)
UnsortedSegmentProd = _unsorted_segment("UnsortedSegmentProd", np.multiply, _one, NUMERIC, INDEX)
UnsortedSegmentMax = _unsorted_segment("UnsortedSegmentMax", np.maximum, _least_finite, REAL, INDEX)
UnsortedSegmentMin = _unsorted_segment(
    "UnsortedSegmentMin", np.minimum, _greatest_finite, REAL, INDEX
)


def _rows_of(segments, ids):
    """Gather its segment's row for every id; an arbitrary row for a negative id."""
    if ids.dtype not in INDEX:
        ids = casting.cast(ids, int32)
    return gathering.gather(segments, ids if _none_negative(ids) else arithmetic.maximum(ids, 0))


def _none_negative(ids):
    """Whether all ids are statically known to be non-negative."""
    known = constant_value(ids)
    return known is not None and (not known.size or known.min() >= 0)


def _is_kept(ids, rows):
    """The mask of non-negative ids, shaped to broadcast with the rows."""
    kept = comparison.greater_equal(ids, convert_to_tensor(0, ids.dtype))
    return reshape(kept, _with_ones(ids, rows))


def _with_ones(ids, rows):
    """The shape of the ids, with ones appended up to the rank of the rows."""
    ranks = ids.shape.rank, rows.shape.rank
    if None not in ranks:
        ones = tensor_of(np.ones(ranks[1] - ranks[0], np.int32), int32)
    else:
        ones = creation.fill(reshape(rank_of(rows) - rank_of(ids), [1]), 1)
    return joining.concat([shape(ids), ones], 0)


def _masked(ids, rows):
    """Zero the rows whose ids are negative."""
    if _none_negative(ids):
        return rows
    return selection.where(_is_kept(ids, rows), rows, creation.zeros_like(rows))


def _total(rows, op):
    """Sum over the segments of an op, sorted or unsorted."""
    if len(op.inputs) == 2:
        return execute(SegmentSum, (rows, op.inputs[1]))
    return execute(UnsortedSegmentSum, (rows, *op.inputs[1:]))


def _with_nothing(op, grad):
    """The gradient with respect to the data, and None for the ids."""
    return (grad, *[None] * (len(op.inputs) - 1))


@SegmentSum.gradient
def _(op, grad):
    return _rows_of(grad, op.inputs[1]), None


@UnsortedSegmentSum.gradient
def _(op, grad):
    ids = op.inputs[1]
    return _masked(ids, _rows_of(grad, ids)), None, None


@SegmentMean.gradient
def _(op, grad):
    data, ids = op.inputs
    ones = reshape(creation.ones_like(ids, grad.dtype), _with_ones(ids, data))
    counts = _rows_of(execute(SegmentSum, (ones, ids)), ids)
    return division.divide(_rows_of(grad, ids), counts), None


@SegmentMax.gradient
@SegmentMin.gradient
@UnsortedSegmentMax.gradient
@UnsortedSegmentMin.gradient
def _(op, grad):
    # Ties within a segment divide its gradient equally.
    data, ids = op.inputs[:2]
    chosen = comparison.equal(data, _rows_of(op.outputs[0], ids))
    if not _none_negative(ids):
        chosen = comparison.logical_and(chosen, _is_kept(ids, data))
    counts = _total(casting.cast(chosen, grad.dtype), op)
    rows = _rows_of(division.divide(grad, counts), ids)
    return _with_nothing(op, selection.where(chosen, rows, creation.zeros_like(rows)))


@SegmentProd.gradient
@UnsortedSegmentProd.gradient
def _(op, grad):
    # The product of the other rows is the total divided by the row; for a zero row it is the
    # product of the nonzero ones, and 0 if there is another zero.
    data, ids = op.inputs[:2]
    is_zero = comparison.equal(data, creation.zeros_like(data))
    several = comparison.greater(_total(casting.cast(is_zero, int32), op), 1)
    grad = selection.where(several, creation.zeros_like(grad), grad)
    divisor = selection.where(is_zero, creation.ones_like(data), data)
    without_zeros = _rows_of(execute(op.op, (divisor, *op.inputs[1:])), ids)
    others = selection.where(
        is_zero, without_zeros, division.divide(_rows_of(op.outputs[0], ids), divisor)
    )
    rows = arithmetic.multiply(_rows_of(grad, ids), others)
    return _with_nothing(op, _masked(ids, rows))


def _sorted_call(op, data, segment_ids):
    return execute(op, (convert_to_tensor(data), convert_to_tensor(segment_ids)))


def _unsorted_call(op, data, segment_ids, num_segments):
    return execute(
        op, (convert_to_tensor(data), convert_to_tensor(segment_ids), integers(num_segments))
    )


def segment_sum(data, segment_ids, name=None):
    """The sum of the rows with the same segment id.

    The ids must be sorted and non-negative; an id that does not occur gives 0.

    >>> tf.math.segment_sum([[1, 2], [3, 4], [5, 6]], [0, 0, 1]).numpy().tolist()
    [[4, 6], [5, 6]]
    """
    return _sorted_call(SegmentSum, data, segment_ids)


def segment_mean(data, segment_ids, name=None):
    """The mean of the rows with the same segment id; for integers it is truncated.

    The ids must be sorted and non-negative; an id that does not occur gives 0.

    >>> tf.math.segment_mean([1.0, 2.0, 5.0], [0, 0, 1]).numpy().tolist()
    [1.5, 5.0]
    """
    return _sorted_call(SegmentMean, data, segment_ids)


def segment_prod(data, segment_ids, name=None):
    """The product of the rows with the same segment id.

    The ids must be sorted and non-negative; an id that does not occur gives 1.

    >>> tf.math.segment_prod([2, 3, 5], [0, 0, 2]).numpy().tolist()
    [6, 1, 5]
    """
    return _sorted_call(SegmentProd, data, segment_ids)


def segment_max(data, segment_ids, name=None):
    """The element-wise maximum of the rows with the same segment id.

    The ids must be sorted and non-negative; an id that does not occur gives 0.

    >>> tf.math.segment_max([2, 3, 5], [0, 0, 2]).numpy().tolist()
    [3, 0, 5]
    """
    return _sorted_call(SegmentMax, data, segment_ids)


def segment_min(data, segment_ids, name=None):
    """The element-wise minimum of the rows with the same segment id.

    The ids must be sorted and non-negative; an id that does not occur gives 0.

    >>> tf.math.segment_min([2, 3, 5], [0, 0, 2]).numpy().tolist()
    [2, 0, 5]
    """
    return _sorted_call(SegmentMin, data, segment_ids)


def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    """The sum of the rows with the same segment id, for ids in any order.

    Rows with a negative id are ignored; an id that does not occur gives 0.

    >>> tf.math.unsorted_segment_sum([1, 2, 3, 4], [2, 0, 2, -1], num_segments=3).numpy().tolist()
    [2, 0, 4]
    """
    return _unsorted_call(UnsortedSegmentSum, data, segment_ids, num_segments)


def unsorted_segment_prod(data, segment_ids, num_segments, name=None):
    """The product of the rows with the same segment id, for ids in any order.

    Rows with a negative id are ignored; an id that does not occur gives 1.

    >>> tf.math.unsorted_segment_prod([1, 2, 3], [2, 0, 2], num_segments=3).numpy().tolist()
    [2, 1, 3]
    """
    return _unsorted_call(UnsortedSegmentProd, data, segment_ids, num_segments)


def unsorted_segment_max(data, segment_ids, num_segments, name=None):
    """The maximum of the rows with the same segment id, for ids in any order.

    Rows with a negative id are ignored; an id that does not occur gives the dtype's minimum.

    >>> tf.math.unsorted_segment_max([1, 2, 3], [1, 0, 1], num_segments=2).numpy().tolist()
    [2, 3]
    """
    return _unsorted_call(UnsortedSegmentMax, data, segment_ids, num_segments)


def unsorted_segment_min(data, segment_ids, num_segments, name=None):
    """The minimum of the rows with the same segment id, for ids in any order.

    Rows with a negative id are ignored; an id that does not occur gives the dtype's maximum.

    >>> tf.math.unsorted_segment_min([1, 2, 3], [1, 0, 1], num_segments=2).numpy().tolist()
    [2, 1]
    """
    return _unsorted_call(UnsortedSegmentMin, data, segment_ids, num_segments)


def _counts(data, ids, num_segments):
    """The number of rows of each segment (at least 1), shaped to divide the segments."""
    if not isinstance(data, Tensor):
        # Ragged rows are summed position by position: each position has its own count.
        ones = creation.ones_like(data)
        return arithmetic.maximum(execute(UnsortedSegmentSum, (ones, ids, num_segments)), 1)
    counts = execute(UnsortedSegmentSum, (creation.ones_like(ids, data.dtype), ids, num_segments))
    counts = arithmetic.maximum(counts, 1)
    ranks = data.shape.rank, ids.shape.rank
    if None not in ranks:
        return reshape(counts, [-1] + [1] * (ranks[0] - ranks[1]))
    ones = creation.fill(reshape(rank_of(data) - rank_of(ids), [1]), 1)
    return reshape(counts, joining.concat([shape(counts), ones], 0))


def _average(data, segment_ids, num_segments, divisor):
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    num_segments = integers(num_segments)
    total = execute(UnsortedSegmentSum, (data, ids, num_segments))
    return division.divide(total, divisor(_counts(data, ids, num_segments)))


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows with the same segment id, for ids in any order.

    Rows with a negative id are ignored; an id that does not occur gives 0.

    >>> tf.math.unsorted_segment_mean([1.0, 2.0, 4.0], [1, 0, 1], num_segments=2).numpy().tolist()
    [2.0, 2.5]
    """
    return _average(data, segment_ids, num_segments, lambda counts: counts)


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows with the same segment id, divided by the square root of their number.

    >>> tf.math.unsorted_segment_sqrt_n([1.0, 1.0, 1.0, 1.0], [0, 0, 0, 0], 1).numpy().tolist()
    [2.0]
    """
    return _average(data, segment_ids, num_segments, elementwise.sqrt)

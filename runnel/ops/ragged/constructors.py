"""tf.ragged.*: ragged tensors from Python lists, ranges, masks and other tensors."""

from __future__ import annotations

import builtins

import numpy as np

from ...core.convert import constant as dense_constant, convert_to_tensor
from ...core.dtypes import as_dtype, int32, int64
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, selection, shaping
from ..array.arguments import INDEX
from ..math import casting, comparison, reduction, sorting
from . import conversion, joining
from .ragged_tensor import RaggedTensor, nest_values
from .row_partition import (
    RowPartition,
    index_tensor,
    partition_of,
    require,
    require_same_dtypes,
    splits_of_lengths,
)

_REAL_RANGES = frozenset(as_dtype(name) for name in ("float32", "float64", "int32", "int64",
                                                     "bfloat16"))  # fmt: skip


def constant(
    pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=int64
):
    """A ragged tensor from nested lists.

    `ragged_rank` dimensions after the first are ragged (by default all), the rest are uniform, of
    `inner_shape`.

    >>> tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    <tf.RaggedTensor [[1, 2], [3], [4, 5, 6]]>
    """
    splits_dtype = as_dtype(row_splits_dtype)
    if splits_dtype not in INDEX:
        raise ValueError(f"row_splits must have dtype int32 or int64, got {splits_dtype.name}.")
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank {ragged_rank}: must be nonnegative.")
    scalar_depth, most_depth = _depths(pylist)
    if scalar_depth is not None and most_depth > scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting: "
            "all scalar values must have the same nesting depth"
        )
    inner_shape = None if inner_shape is None else tuple(TensorShape(inner_shape))
    rank = _ragged_rank(pylist, scalar_depth, most_depth, ragged_rank, inner_shape)
    if inner_shape is None:
        inner_shape = _common_shape(pylist, rank)
    if rank == 0:
        return _tensor(pylist, dtype, None)
    values, nested = list(pylist), []
    for _ in builtins.range(rank):
        lengths = [len(row) for row in values]
        nested.append(np.cumsum([0, *lengths]).astype(splits_dtype.numpy))
        values = [each for row in values for each in row]
    shape = None if inner_shape is None else (len(values), *inner_shape)
    flat = _tensor(values, dtype, shape)
    partitions = [partition_of(convert_to_tensor(splits)) for splits in nested]
    return nest_values(partitions, flat)


def _is_list(value):
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _depths(value):
    """The nesting depth of scalars (None if there are none), and of lists."""
    if isinstance(value, RaggedTensor | Tensor):
        raise TypeError("pylist may not be a RaggedTensor or Tensor.")
    if not _is_list(value):
        return 0, 0
    scalar, most = None, 1
    for each in value:
        inner_scalar, inner_most = _depths(each)
        if inner_scalar is not None:
            if scalar is not None and scalar != inner_scalar + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            scalar = inner_scalar + 1
        most = max(most, inner_most + 1)
    return scalar, most


def _ragged_rank(pylist, scalar_depth, most_depth, ragged_rank, inner_shape):
    if ragged_rank is None:
        if inner_shape is None:
            return max(0, most_depth - 1)
        if scalar_depth is None:
            return max(0, most_depth - 1)
        return max(0, scalar_depth - 1 - len(inner_shape))
    if scalar_depth is not None and ragged_rank >= scalar_depth:
        raise ValueError(
            f"Invalid pylist={pylist}: pylist has scalar values depth {scalar_depth}, but "
            f"ragged_rank={ragged_rank} requires scalar value depth greater than {ragged_rank}"
        )
    if inner_shape is not None and scalar_depth is not None:
        wanted = ragged_rank + len(inner_shape) + 1
        if wanted != scalar_depth:
            raise ValueError(
                f"Invalid pylist={pylist}: the scalar depth is {scalar_depth}, but ragged_rank="
                f"{ragged_rank} and inner_shape={inner_shape} expect {wanted}."
            )
    return ragged_rank


def _common_shape(pylist, rank):
    """The common shape of all values below the ragged dimensions."""
    values = [pylist]
    for _ in builtins.range(rank + 1):
        if not all(_is_list(each) for each in values):
            return ()
        values = [each for row in values for each in row]
    return _shape_of_all(values) if values else None


def _shape_of_all(values):
    if not _is_list(values[0]):
        if any(_is_list(each) for each in values):
            raise ValueError("inner values have inconsistent shape")
        return ()
    sizes = {len(each) if _is_list(each) else None for each in values}
    if len(sizes) > 1:
        raise ValueError("inner values have inconsistent shape")
    inner = [each for row in values for each in row]
    return (sizes.pop(), *(_shape_of_all(inner) if inner else ()))


def _tensor(values, dtype, shape):
    if shape is not None and not len(values):
        return creation.zeros(shape, "float32" if dtype is None else dtype)
    return dense_constant(values, dtype, shape)


def _range_shape(inputs, attrs):
    rows = None
    for each, what in zip(inputs, ("starts", "limits", "deltas"), strict=True):
        if each.shape.rank not in (None, 0, 1):
            raise ValueError(f"{what} must be a scalar or vector, got shape {each.shape}.")
        if each.shape.rank == 1 and each.shape[0] is not None:
            if rows is not None and rows != each.shape[0]:
                raise ValueError("starts, limits, and deltas must have the same shape")
            rows = each.shape[0]
    if rows is None and all(each.shape.rank == 0 for each in inputs):
        rows = 1
    return [TensorShape([None if rows is None else rows + 1]), TensorShape([None])]


@op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=_REAL_RANGES,
    shape=_range_shape,
    gradient=None,
)
def RaggedRange(starts, limits, deltas, *, Tsplits=int64):
    arrays = []
    for each, what in ((starts, "starts"), (limits, "limits"), (deltas, "deltas")):
        if np.ndim(each) > 1:
            raise ValueError(f"{what} must be a scalar or vector")
        arrays.append(np.asarray(each))
    counts = {len(each) for each in arrays if each.ndim}
    if len(counts) > 1:
        raise ValueError("starts, limits, and deltas must have the same shape")
    rows = counts.pop() if counts else 1
    starts, limits, deltas = (np.broadcast_to(each, (rows,)) for each in arrays)
    if (deltas == 0).any():
        raise ValueError("Requires delta != 0")
    if starts.dtype.kind == "i":
        lengths = -((starts.astype(np.int64) - limits) // deltas)
    else:
        lengths = np.ceil((limits.astype(np.float64) - starts) / deltas).astype(np.int64)
    lengths = np.maximum(lengths, 0)
    splits = np.concatenate([[0], np.cumsum(lengths)])
    column = np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths)
    values = np.repeat(starts, lengths) + column.astype(starts.dtype) * np.repeat(deltas, lengths)
    return splits.astype(Tsplits.numpy), values.astype(starts.dtype, copy=False)


def ranges(starts, limits, deltas=None, dtype=None):
    """The row splits and flat values of ranges, one per start."""
    starts = convert_to_tensor(starts)
    if deltas is None:
        deltas = convert_to_tensor(1, starts.dtype)
    splits_dtype = dtype or (starts.dtype if starts.dtype in INDEX else int64)
    return execute(RaggedRange, (starts, limits, deltas), {"Tsplits": splits_dtype})


def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=int64):
    """A ragged tensor of ranges: row i goes from starts[i] up to limits[i] in steps of deltas[i].

    >>> tf.ragged.range([3, 5, 2])
    <tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    """
    if limits is None:
        starts, limits = 0, starts
    starts, limits, deltas = (convert_to_tensor(each, dtype) for each in (starts, limits, deltas))
    # A common dtype of all three: the first of this order that one of them has.
    if dtype is None:
        order = [int32, int64, as_dtype("float32"), as_dtype("float64")]
        known = [each.dtype for each in (starts, limits, deltas)]
        wanted = max(known, key=lambda kind: order.index(kind) if kind in order else -1)
        starts, limits, deltas = (
            each if each.dtype is wanted else casting.cast(each, wanted)
            for each in (starts, limits, deltas)
        )
    splits, values = ranges(starts, limits, deltas, as_dtype(row_splits_dtype))
    return RaggedTensor(values, partition_of(splits), internal=True)


def boolean_mask(data, mask, name=None):
    """The elements of `data` where `mask` is true, with the rows preserved.

    >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
    <tf.RaggedTensor [[1], [3, 4]]>
    """
    data = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    if not isinstance(mask, RaggedTensor):
        mask = convert_to_tensor(mask, "bool")
    elif mask.dtype is not as_dtype("bool"):
        raise ValueError(f"mask must be of dtype bool, got {mask.dtype.name}.")
    if mask.shape.rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    require_same_dtypes([each for each in (data, mask) if isinstance(each, RaggedTensor)])
    return _masked(data, mask)


def _masked(data, mask):
    if mask.shape.rank > 1 and isinstance(data, RaggedTensor) != isinstance(mask, RaggedTensor):
        dtype = (data if isinstance(data, RaggedTensor) else mask).row_splits.dtype
        if isinstance(data, RaggedTensor):
            mask = conversion.from_tensor(mask, row_splits_dtype=dtype)
        else:
            data = conversion.from_tensor(data, row_splits_dtype=dtype)
    if isinstance(mask, RaggedTensor):
        same = data._row_partition.same_as(mask._row_partition)
        require(same, "Inputs must have identical ragged splits: data and mask differ.")
        kept = mask.values
        if isinstance(kept, Tensor) and kept.shape.rank != 1:
            kept = conversion.from_tensor(kept, row_splits_dtype=mask.row_splits.dtype)
        inner = _masked(data.values, kept)
        if isinstance(kept, RaggedTensor):
            return RaggedTensor(inner, data._row_partition, internal=True)
        lengths = reduction.reduce_sum(casting.cast(mask, mask.row_splits.dtype), 1)
        partition = RowPartition.from_row_lengths(lengths, validate=False)
        return RaggedTensor(inner, partition, internal=True)
    if isinstance(data, RaggedTensor):
        from .gathering import gather_rows

        places = shaping.reshape(selection.where(mask), [-1])
        return gather_rows(data, places)
    if mask.shape.rank == 1:
        return selection.boolean_mask(data, mask)
    return _masked(conversion.from_tensor(data), conversion.from_tensor(mask))


def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of every value.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
    [0, 0, 0, 2, 2]
    """
    splits = index_tensor(splits, "splits")
    splits.shape.assert_has_rank(1)
    if splits.shape.rank == 1 and splits.shape[0] == 0:
        raise ValueError("Invalid row_splits: []")
    ids = partition_of(splits).value_rowids()
    return ids if out_type is None else casting.cast(ids, out_type)


def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The row splits of sorted row numbers.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2]).numpy().tolist()
    [0, 3, 3, 5]
    """
    dtype = None if out_type is None else as_dtype(out_type)
    ids = (
        segment_ids
        if isinstance(segment_ids, Tensor)
        else convert_to_tensor(segment_ids, dtype_hint=dtype or int64)
    )
    if ids.dtype not in INDEX:
        raise ValueError(f"segment_ids must have dtype int32 or int64, got {ids.dtype.name}.")
    from ..math.counting import bincount

    counts = bincount(ids, minlength=num_segments, maxlength=num_segments, dtype=ids.dtype)
    return casting.cast(splits_of_lengths(counts), dtype or ids.dtype)


def stack(values, axis=0, name=None):
    """Tensors or ragged tensors of equal rank stacked along a new axis.

    >>> tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
    <tf.RaggedTensor [[1, 2], [3]]>
    """
    if isinstance(values, RaggedTensor | Tensor):
        values = [values]
    values = [
        each if isinstance(each, RaggedTensor) else convert_to_tensor(each) for each in values
    ]
    if axis == 0 and values and all(isinstance(each, Tensor) for each in values):
        # Vectors get int32 row splits; below matrices, rows may differ in length, too.
        if all(each.shape.rank == 1 for each in values):
            return joining.stack(values).with_row_splits_dtype(int32)
        if all(each.shape.rank and each.shape.rank > 1 for each in values):
            ragged = [conversion.from_tensor(each) for each in values]
            return joining.stack([_without_uniform(each) for each in ragged])
    return joining.stack(values, axis)


def _without_uniform(value):
    return RaggedTensor(value.values, partition_of(value.row_splits), internal=True)


def stack_dynamic_partitions(data, partitions, num_partitions, name=None):
    """Row i holds the elements of `data` whose entry in `partitions` is i.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
    <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    from .gathering import gather_rows

    data = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    ragged = isinstance(partitions, RaggedTensor)
    partitions = partitions if ragged else convert_to_tensor(partitions)
    rank = partitions.shape.rank
    if rank is None:
        raise ValueError("partitions must have known rank.")
    count = convert_to_tensor(num_partitions, partitions.dtype if not ragged else None)
    if rank == 0:
        data = shaping.expand_dims(data, 0)
        partitions = shaping.expand_dims(partitions, 0)
    for _ in builtins.range(rank - 1):
        data = conversion.merge_dims(data, 0, 1)
        partitions = conversion.merge_dims(partitions, 0, 1)
    order = sorting.argsort(partitions, stable=True)
    ids = shaping.reshape(gathered(partitions, order), [-1])
    dtype = data.row_splits.dtype if isinstance(data, RaggedTensor) else ids.dtype
    inside = reduction.reduce_all(comparison.less(ids, casting.cast(count, ids.dtype)))
    require(inside, "partitions must be less than num_partitions, got", partitions, count)
    ids, count = casting.cast(ids, dtype), casting.cast(count, dtype)
    splits = sorting.searchsorted(ids, creation.range(count + 1), out_type=dtype)
    partition = partition_of(splits, value_rowids=ids, nrows=count)
    values = gather_rows(data, order) if isinstance(data, RaggedTensor) else gathered(data, order)
    return RaggedTensor(values, partition, internal=True)


def gathered(tensor, places):
    from ..array import gathering

    return gathering.gather(tensor, places)

"""Concatenating, stacking, splitting and repeating ragged tensors."""

from __future__ import annotations

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..array import creation, gathering as dense_gathering, joining, repeating, shaping
from ..math import arithmetic, comparison
from . import conversion, gathering, ragged_tensor
from .row_partition import (
    RowPartition,
    count_of,
    integer,
    partition_of,
    require,
    require_same_dtypes,
)


def checked_axis(axis, rank, extra=0) -> int:
    """A non-negative axis; ValueError where it is out of range."""
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if the rank is statically known.")
        return axis
    if not -(rank + extra) <= axis < rank + extra:
        size = rank + extra
        raise ValueError(f"axis={axis} out of bounds: expected {-size}<=axis<{size}")
    return axis + rank + extra if axis < 0 else axis


def _inputs(values):
    """Tensors and ragged tensors converted to one dtype, one rank and one dtype of row splits."""
    found = None
    for each in values:
        if isinstance(each, Tensor | ragged_tensor.RaggedTensor):
            found = each.dtype
            break
    values = [
        each if isinstance(each, ragged_tensor.RaggedTensor) else convert_to_tensor(each, found)
        for each in values
    ]
    rank = next((each.shape.rank for each in values if each.shape.rank is not None), None)
    for each in values:
        if rank is not None:
            each.shape.assert_has_rank(rank)
        if each.dtype is not values[0].dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"Ragged tensors of one dtype are joined, got {values[0].dtype.name} and "
                f"{each.dtype.name}.",
            )
    ragged = [each for each in values if not isinstance(each, Tensor)]
    require_same_dtypes(ragged)
    return values, rank


def concat(values, axis):
    """tf.concat where at least one tensor is ragged."""
    values, rank = _inputs(values)
    axis = checked_axis(axis, rank)
    return values[0] if len(values) == 1 else _concat(values, axis)


def _concat(values, axis):
    if all(isinstance(each, Tensor) for each in values):
        return joining.concat(values, axis)
    values = _all_ragged(values)
    if axis == 0:
        return _end_to_end(values)
    if axis == 1:
        return _row_by_row(values)
    _require_same_rows(values)
    inner = _concat([each.values for each in values], axis - 1)
    return ragged_tensor.RaggedTensor(inner, values[0]._row_partition, internal=True)


def _all_ragged(values):
    """Every value as a ragged tensor, with the ragged rank of the deepest."""
    depth = max(0 if isinstance(each, Tensor) else each.ragged_rank for each in values)
    dtype = next(each.row_splits.dtype for each in values if not isinstance(each, Tensor))
    return [_as_ragged(each, depth, dtype) for each in values]


def _as_ragged(value, depth, dtype):
    if isinstance(value, Tensor):
        return conversion.from_tensor(value, ragged_rank=depth, row_splits_dtype=dtype)
    if value.ragged_rank < depth:
        inner = _as_ragged(value.values, depth - 1, dtype)
        return ragged_tensor.RaggedTensor(inner, value._row_partition, internal=True)
    return value


def _end_to_end(values):
    """All rows of the first, then all of the second, ..."""
    offset, parts = None, []
    for each in values:
        splits = each.row_splits
        parts.append(splits if offset is None else splits[1:] + offset)
        offset = splits[-1] if offset is None else offset + splits[-1]
    inner = _concat([each.values for each in values], 0)
    lengths = [each._row_partition.static_uniform_row_length for each in values]
    same = None not in lengths and len(set(lengths)) == 1
    partition = partition_of(
        joining.concat(parts, 0), values[0].uniform_row_length if same else None
    )
    return ragged_tensor.RaggedTensor(inner, partition, internal=True)


def _interleaved(values):
    """The first row of each, then the second row of each, ..., as one ragged tensor."""
    rows = values[0].nrows()
    for i, each in enumerate(values[1:], 1):
        require(
            comparison.equal(each.nrows(), rows),
            f"Input tensors at index 0 (=x) and {i} (=y) have incompatible shapes: they have "
            "different numbers of rows:",
            rows,
            each.nrows(),
        )
    stacked = _end_to_end(values)
    order = creation.range(rows * len(values))
    order = shaping.reshape(order, [len(values), -1])
    from ..array import ordering

    return gathering.gather_rows(stacked, shaping.reshape(ordering.transpose(order), [-1]))


def _row_by_row(values):
    """Row i of the result holds the elements of all the rows i."""
    interleaved = _interleaved(values)
    splits = interleaved.row_splits[:: len(values)]
    lengths = [each.uniform_row_length for each in values]
    known = all(each is not None for each in lengths)
    uniform = arithmetic.add_n(lengths) if known else None
    partition = partition_of(splits, uniform)
    return ragged_tensor.RaggedTensor(interleaved.values, partition, internal=True)


def _require_same_rows(values):
    first = values[0]._row_partition
    for each in values[1:]:
        same = first.same_as(each._row_partition)
        require(same, "Inputs must have identical ragged splits to be joined along an inner axis.")


def stack(values, axis=0):
    """Tensors or ragged tensors of equal rank stacked along a new axis."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    values, rank = _inputs(values)
    axis = checked_axis(axis, rank, extra=1)
    if rank == 0:
        return joining.stack(values, axis)
    return _stack(values, axis)


def _stack(values, axis):
    if axis == 0:
        counts = _row_counts(values)
        inner = values[0] if len(values) == 1 else _concat(values, 0)
        partition = RowPartition.from_row_lengths(counts, validate=False)
        return ragged_tensor.RaggedTensor(inner, partition, internal=True)
    if all(isinstance(each, Tensor) for each in values):
        return joining.stack(values, axis)
    values = _all_ragged(values)
    if axis == 1:
        interleaved = values[0] if len(values) == 1 else _interleaved(values)
        dtype = interleaved.row_splits.dtype
        rows, count = values[0].nrows(), integer(len(values), dtype)
        splits = creation.range(rows + 1) * count
        return ragged_tensor.RaggedTensor(interleaved, partition_of(splits), internal=True)
    _require_same_rows(values)
    inner = _stack([each.values for each in values], axis - 1)
    return ragged_tensor.RaggedTensor(inner, values[0]._row_partition, internal=True)


def _row_counts(values):
    dtype = next((each.row_splits.dtype for each in values if not isinstance(each, Tensor)), int64)
    return joining.stack([count_of(each, dtype) for each in values])


def expand_dims(value, axis):
    """A ragged tensor with a new axis of size 1."""
    axis = checked_axis(axis, value.shape.rank, extra=1)
    if isinstance(value, Tensor):
        return shaping.expand_dims(value, axis)
    if axis > 1:
        inner = expand_dims(value.values, axis - 1)
        return ragged_tensor.RaggedTensor(inner, value._row_partition, internal=True)
    rows = value.nrows()
    one = integer(1, rows.dtype)
    length, count = (rows, one) if axis == 0 else (one, rows)
    partition = RowPartition.from_uniform_row_length(length, rows, count, validate=False)
    return ragged_tensor.RaggedTensor(value, partition, internal=True)


def squeeze(value, axes):
    """A ragged tensor without some axes of size 1."""
    if not axes:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    rank = value.shape.rank
    axes = sorted({checked_axis(int(axis), rank) for axis in axes}, reverse=True)
    for axis in axes:
        value = _squeezed(value, axis)
    return value


def _squeezed(value, axis):
    if isinstance(value, Tensor):
        return shaping.squeeze(value, [axis])
    if axis > 1:
        inner = _squeezed(value.values, axis - 1)
        return ragged_tensor.RaggedTensor(inner, value._row_partition, internal=True)
    words = f"the given axis (axis = {axis}) is not squeezable: its size is not 1."
    if axis == 0:
        require(comparison.equal(value.nrows(), integer(1, value.row_splits.dtype)), words)
        return value.values
    lengths = value.row_lengths()
    from ..math import reduction

    require(reduction.reduce_all(comparison.equal(lengths, integer(1, lengths.dtype))), words)
    return value.values


def tile(value, multiples):
    """A ragged tensor repeated along its axes."""
    multiples = convert_to_tensor(multiples)
    known = constant_value(multiples)
    rank = value.shape.rank
    if multiples.shape.rank == 1 and rank is not None and multiples.shape[0] not in (None, rank):
        raise ValueError(f"multiples must have one number per axis, got {multiples.shape}.")
    count = None if known is None else known.tolist()
    return _tiled(value, multiples, count)


def _tiled(value, multiples, known):
    if isinstance(value, Tensor):
        return repeating.tile(value, multiples)
    if known is not None and all(each == 1 for each in known):
        return value
    value = _tiled_inside(value, multiples, known)
    if known is not None and known[0] == 1:
        return value
    places = repeating.tile(creation.range(value.nrows()), multiples[:1])
    return gathering.gather_rows(value, places)


def _tiled_inside(value, multiples, known):
    """Every axis but the first repeated."""
    if isinstance(value, Tensor):
        inner = joining.concat([[1], multiples[1:]], 0)
        return repeating.tile(value, inner)
    partition, times = value._row_partition, integer(multiples[1], value.row_splits.dtype)
    inner = _tiled_inside(value.values, multiples[1:], None if known is None else known[1:])
    value = ragged_tensor.RaggedTensor(inner, partition, internal=True)
    if known is not None and known[1] == 1:
        return value
    # Every row's range of values repeated, contiguously.
    rows = repeating.repeat(creation.range(partition.nrows()), times)
    starts = dense_gathering.gather(partition.row_starts(), rows)
    limits = dense_gathering.gather(partition.row_limits(), rows)
    _, places = gathering.ranges(starts, limits)
    uniform = value.uniform_row_length
    repeated = partition_of(
        partition._row_splits * times, None if uniform is None else uniform * times
    )
    return ragged_tensor.RaggedTensor(gathering.gather_rows(inner, places), repeated, internal=True)


def split(value, sizes, axis):
    """The parts of a ragged tensor along an axis, of these sizes or this many of equal size."""
    axis = checked_axis(axis, value.shape.rank)
    if axis > 0:
        if not isinstance(value, Tensor) and axis <= value.ragged_rank:
            raise ValueError(
                f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and "
                f"`axis` {axis}."
            )
        parts = joining.split(value.flat_values, sizes, axis - value.ragged_rank)
        return [value.with_flat_values(part) for part in parts]
    if isinstance(sizes, int):
        rows = value._row_partition.static_nrows
        words = f"Cannot exactly split the rows into {sizes} parts; their number is"
        if sizes < 1 or (rows is not None and rows % sizes):
            raise InvalidArgumentError(None, None, f"{words} {rows}. [Op:Split]")
        if rows is None:
            rows = value.nrows()
            require(comparison.equal(rows % sizes, integer(0, rows.dtype)), words, rows)
        sizes = [rows // sizes] * sizes
    else:
        known = constant_value(convert_to_tensor(sizes))
        if known is None:
            raise ValueError("tf.split of a ragged tensor needs known sizes.")
        sizes = [int(size) for size in known]
        rows = value._row_partition.static_nrows
        if -1 in sizes and rows is not None:
            sizes[sizes.index(-1)] = rows - sum(sizes) - 1
        if rows is not None and sum(sizes) != rows:
            raise InvalidArgumentError(
                None, None, f"Sizes {sizes} do not add up to {rows} rows. [Op:SplitV]"
            )
    from .slicing import rows_between

    parts, start = [], 0
    for size in sizes:
        parts.append(rows_between(value, start, start + size))
        start += size
    return parts

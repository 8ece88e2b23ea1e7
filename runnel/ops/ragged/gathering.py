"""Rows of ragged tensors picked by number: gather, gather_nd, reverse."""

from __future__ import annotations

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import InvalidArgumentError
from ...core.op import REGISTRY, execute
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, ordering, shaping
from ..math import casting, reduction
from . import conversion, ragged_tensor
from .row_partition import RowPartition, integer, partition_of, require


def ranges(starts, limits, deltas=None, dtype=None):
    """The row splits and flat values of ranges of integers, one per start."""
    deltas = integer(1, starts.dtype) if deltas is None else deltas
    attrs = {"Tsplits": dtype or starts.dtype}
    return execute(REGISTRY["RaggedRange"], (starts, limits, deltas), attrs)


def gather_rows(value, places):
    """The rows of a tensor or ragged tensor at a vector of places."""
    if isinstance(value, Tensor):
        return gathering.gather(value, places)
    starts = gathering.gather(value.row_starts(), places)
    limits = gathering.gather(value.row_limits(), places)
    splits, inner = ranges(starts, limits)
    partition = partition_of(splits, value.uniform_row_length)
    values = gather_rows(value.values, inner)
    return ragged_tensor.RaggedTensor(values, partition, internal=True)


def gather(params, indices, axis=0, batch_dims=0):
    """tf.gather where the params or the indices are ragged."""
    if batch_dims:
        return _batched(params, indices, axis, batch_dims)
    rank = params.shape.rank
    if axis < 0:
        if rank is None:
            raise ValueError("axis may only be negative if the rank of params is known.")
        axis += rank
    if axis == 0:
        return _from_rows(params, indices)
    if isinstance(params, Tensor):
        if isinstance(indices, Tensor):
            return gathering.gather(params, indices, axis=axis)
        raise ValueError("tf.gather with ragged indices takes axis 0 or batch_dims.")
    if axis > 1:
        inner = gather(params.values, indices, axis - 1)
        return params.with_values(inner)
    if not isinstance(indices, Tensor) or indices.shape.rank != 1:
        raise ValueError("tf.gather along axis 1 of ragged rows takes a vector of indices.")
    starts = params.row_starts()
    count = shaping.shape(indices, out_type=starts.dtype)[0]
    offsets = casting.cast(indices, starts.dtype)
    places = shaping.reshape(shaping.expand_dims(starts, 1) + offsets, [-1])
    partition = RowPartition.from_uniform_row_length(
        count, params.nrows() * count, params.nrows(), validate=False
    )
    return ragged_tensor.RaggedTensor(gather_rows(params.values, places), partition, internal=True)


def _from_rows(params, indices):
    if not isinstance(indices, Tensor):
        picked = gather(params, indices.flat_values)
        return ragged_tensor.nest_values(indices._nested_row_partitions, picked)
    if isinstance(params, Tensor):
        return gathering.gather(params, indices)
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("tf.gather of a ragged tensor needs indices of known rank.")
    if rank == 0:
        from .slicing import rows_between

        place = indices
        start = gathering.gather(params.row_starts(), place)
        return rows_between(params.values, start, gathering.gather(params.row_limits(), place))
    if rank == 1:
        return gather_rows(params, indices)
    ragged = conversion.from_tensor(
        indices, ragged_rank=rank - 1, row_splits_dtype=params.row_splits.dtype
    )
    return _from_rows(params, ragged)


def _batched(params, indices, axis, batch_dims):
    """tf.gather whose first dimensions belong together: offsets make it one gather of rows."""
    if axis != batch_dims:
        raise ValueError("tf.gather of ragged tensors with batch_dims takes axis == batch_dims.")
    params, indices = (_ragged(each, batch_dims) for each in (params, indices))
    for _ in range(batch_dims - 1):
        same = params._row_partition.same_as(indices._row_partition)
        require(same, "tf.gather with batch_dims: params and indices differ in the batch.")
        inner = _batched(params.values, indices.values, axis - 1, batch_dims - 1)
        return indices.with_values(inner)
    dtype = params.row_splits.dtype
    partition = indices._row_partition.with_dtype(dtype)
    starts = gathering.gather(params.row_starts(), partition.value_rowids())
    limits = gathering.gather(params.row_limits(), partition.value_rowids())
    flat = indices.values
    if isinstance(flat, Tensor) and flat.shape.rank == 1:
        places = casting.cast(flat, dtype)
        inside = reduction.reduce_all((places >= 0) & (places < limits - starts))
        require(inside, "tf.gather: indices are out of bounds of their rows, got", flat)
        picked = gather_rows(params.values, starts + places)
        return ragged_tensor.RaggedTensor(picked, partition, internal=True)
    raise ValueError("tf.gather of ragged tensors with batch_dims takes indices of one more rank.")


def _ragged(value, depth):
    if isinstance(value, Tensor):
        return conversion.from_tensor(value, ragged_rank=depth)
    return value


def gather_nd(params, indices):
    """tf.gather_nd where the params or the indices are ragged."""
    if not isinstance(indices, Tensor):
        return indices.with_values(gather_nd(params, indices.values))
    if isinstance(params, Tensor):
        return gathering.gather_nd(params, indices)
    rank = indices.shape.rank
    size = indices.shape[-1] if rank else None
    if size is None:
        raise ValueError("tf.gather_nd of a ragged tensor needs indices of known shape[-1].")
    if size == 0:
        raise ValueError("tf.gather_nd of a ragged tensor takes index vectors of length >= 1.")
    if size > params.shape.rank:
        raise ValueError(
            f"index innermost dimension length must be <= params rank; saw: {size} vs. "
            f"{params.shape.rank}"
        )
    if rank > 2:
        outer = conversion.from_tensor(indices, ragged_rank=rank - 2)
        return outer.with_flat_values(gather_nd(params, outer.flat_values))
    flat = shaping.reshape(indices, [-1, size])
    places = flat[:, 0]
    depth = 1
    value = params
    while depth < size and not isinstance(value, Tensor):
        dtype = value.row_splits.dtype
        starts = gathering.gather(value.row_starts(), places)
        limits = gathering.gather(value.row_limits(), places)
        offsets = casting.cast(flat[:, depth], dtype)
        inside = reduction.reduce_all((offsets >= 0) & (starts + offsets < limits))
        require(inside, "tf.gather_nd: indices are out of bounds of their rows, got", indices)
        places, value = starts + offsets, value.values
        depth += 1
    if depth < size:
        rest = casting.cast(flat[:, depth:], places.dtype)
        picked = gathering.gather_nd(value, joining.concat([places[:, None], rest], 1))
    else:
        picked = gather_rows(value, places)
    return picked[0] if rank == 1 else picked


def reverse(value, axes):
    """The ragged tensor with the elements along each of some axes in the other order."""
    rank = value.shape.rank
    for axis in axes:
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    axes = sorted(axis + rank if axis < 0 else axis for axis in axes)
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(None, None, f"An axis stands twice in {axes} [Op:ReverseV2]")
    return _reversed(value, axes)


def _reversed(value, axes):
    if not axes:
        return value
    if isinstance(value, Tensor):
        return ordering.reverse(value, axes)
    if axes[0] == 0:
        value = value[::-1]
        axes = axes[1:]
    if axes and axes[0] == 1:
        value = value[:, ::-1]
        axes = axes[1:]
    if not axes:
        return value
    return value.with_values(_reversed(value.values, [axis - 1 for axis in axes]))


def dynamic_partition(value, partitions, num_partitions):
    """Lists of the rows of a ragged tensor by their number in `partitions`."""
    from .constructors import stack_dynamic_partitions

    stacked = stack_dynamic_partitions(value, partitions, num_partitions)
    return [stacked[i] for i in range(num_partitions)]


def positions(condition):
    """The indices of the true elements of a ragged tensor, one per row of the result."""
    columns, value = [creation.range(condition.nrows(int64))], condition
    while not isinstance(value, Tensor):
        partition = value._row_partition.with_dtype(int64)
        ids = partition.value_rowids()
        inside = creation.range(partition.nvals()) - gathering.gather(partition.row_starts(), ids)
        columns = [gathering.gather(column, ids) for column in columns]
        columns.append(inside)
        value = value.values
    from ..array import selection

    found = selection.where(value)
    outer = [gathering.gather(column, found[:, 0]) for column in columns]
    return joining.concat([joining.stack(outer, 1), found[:, 1:]], 1)


def known_integers(tensor, what):
    """The integers of a tensor that must be known while a graph is built."""
    found = constant_value(convert_to_tensor(tensor))
    if found is None:
        raise ValueError(f"{what} of a ragged tensor must be known when the graph is built.")
    return found

"""Rows of ragged tensors selected by index: gather, gather_nd, reverse."""

from __future__ import annotations

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int64
from ...core.errors import InvalidArgumentError
from ...core.op import REGISTRY, execute
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, ordering, shaping
from ..math import casting, reduction
from . import conversion, ragged_tensor
from .row_partition import count_of, integer, partition_of, require


def ranges(starts, limits, deltas=None, dtype=None):
    """The row splits and flat values of ranges of integers, one per start."""
    deltas = integer(1, starts.dtype) if deltas is None else deltas
    attrs = {"Tsplits": dtype or starts.dtype}
    return execute(REGISTRY["RaggedRange"], (starts, limits, deltas), attrs)


def gather_rows(value, places):
    """The rows of a tensor or ragged tensor at a vector of indices."""
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
    axis = _counted(axis, params.shape.rank, "params")
    batch_dims = _counted(batch_dims, indices.shape.rank, "indices")
    if axis < batch_dims:
        raise ValueError(f"axis ({axis}) must be at least batch_dims ({batch_dims}).")
    if isinstance(params, Tensor) and isinstance(indices, Tensor):
        return gathering.gather(params, indices, axis=axis, batch_dims=batch_dims)
    if axis == 0:
        return _from_rows(params, indices)
    if batch_dims > 1 or axis > 1:
        return _from_inside(params, indices, axis, batch_dims)
    if batch_dims == 0:
        indices = _repeated(indices, count_of(params, int64))
    return _batched(params, indices)


def _counted(axis, rank, name):
    """An axis counted from the first one."""
    if axis >= 0:
        return axis
    if rank is None:
        raise ValueError(f"axis and batch_dims may only be negative if the rank of {name} is known")
    return axis + rank


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
    rows = conversion.from_tensor(
        indices, ragged_rank=rank - 1, row_splits_dtype=params.row_splits.dtype
    )
    partitions = [partition_of(each) for each in rows.nested_row_splits]
    return ragged_tensor.nest_values(partitions, gather_rows(params, rows.flat_values))


def _from_inside(params, indices, axis, batch_dims):
    """Gather from the values of the params, one dimension further inside."""
    if isinstance(params, Tensor):
        params = conversion.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    partition = params._row_partition
    if batch_dims == 0:
        return params.with_values(gather(params.values, indices, axis - 1))
    if batch_dims == 1:
        _check_batch(params, indices)
        inner = gathering.gather if isinstance(indices, Tensor) else gather_rows
        indices = inner(indices, partition.value_rowids())
        return params.with_values(gather(params.values, indices, axis - 1, 1))
    if isinstance(indices, Tensor):
        if not partition.is_uniform():
            raise ValueError(
                "batch shape from indices does not match params shape: ragged params dimension "
                "corresponds to uniform indices dimension"
            )
        indices = conversion.from_tensor(indices, row_splits_dtype=partition.dtype)
    same = partition.same_as(indices._row_partition)
    require(same, "tf.gather with batch_dims: params and indices differ in the batch.")
    return params.with_values(gather(params.values, indices.values, axis - 1, batch_dims - 1))


def _repeated(indices, count):
    """The same indices for each of `count` rows."""
    if isinstance(indices, Tensor):
        sizes = shaping.shape(indices, out_type=int64)
        return shaping.broadcast_to(
            indices, joining.concat([shaping.reshape(count, [1]), sizes], 0)
        )
    from .joining import expand_dims

    return gather_rows(expand_dims(indices, 0), creation.zeros_like(creation.range(count)))


def _check_batch(params, indices):
    if not params.shape[:1].is_compatible_with(indices.shape[:1]):
        raise ValueError(
            f"batch shape from indices {indices.shape[:1]} does not match params shape "
            f"{params.shape}"
        )


def _batched(params, indices):
    """A batched gather: row i of the indices refers to row i of the params."""
    _check_batch(params, indices)
    if isinstance(params, Tensor):
        params = conversion.from_tensor(params, row_splits_dtype=indices.row_splits.dtype)
    dtype = params.row_splits.dtype
    if isinstance(indices, Tensor):
        rows, flat, partitions = creation.range(params.nrows()), indices, ()
    else:
        partitions = [each.with_dtype(dtype) for each in indices._nested_row_partitions]
        rows, flat = creation.range(partitions[0].nrows()), indices.flat_values
        for partition in partitions:
            rows = gathering.gather(rows, partition.value_rowids())
    ones = [1] * (flat.shape.with_rank_at_least(1).rank - 1)
    starts = shaping.reshape(gathering.gather(params.row_starts(), rows), [-1, *ones])
    limits = shaping.reshape(gathering.gather(params.row_limits(), rows), [-1, *ones])
    places = starts + casting.cast(flat, dtype)
    inside = reduction.reduce_all((places >= starts) & (places < limits))
    require(inside, "tf.gather: indices are out of bounds of their rows, got", flat)
    return ragged_tensor.nest_values(partitions, _from_rows(params.values, places))


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
    """The ragged tensor reversed along some axes."""
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
    """Lists of the rows of a ragged tensor, by their number in `partitions`."""
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
    """The integers of a tensor that must be static."""
    found = constant_value(convert_to_tensor(tensor))
    if found is None:
        raise ValueError(f"{what} of a ragged tensor must be known when the graph is built.")
    return found

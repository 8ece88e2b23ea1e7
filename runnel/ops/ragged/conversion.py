"""Conversion of ragged tensors from and to tensors and sparse tensors; merged dimensions."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import as_dtype, int64
from ...core.op import REGISTRY, execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, selection, shaping
from ..array.arguments import INDEX
from ..broadcasting import sum_to
from ..math import arithmetic, casting, comparison, reduction
from . import ragged_tensor
from .row_partition import RowPartition, integer, partition_of, require


def _padded_shape(inputs, attrs):
    wanted, values, _, partitions = inputs
    kinds = attrs["row_partition_types"]
    depth = sum(kind != "FIRST_DIM_SIZE" for kind in kinds)
    rows = None
    if kinds[0] == "ROW_SPLITS" and partitions[0].shape.rank == 1:
        count = partitions[0].shape[0]
        rows = None if count is None else count - 1
    inner = values.shape[1:] if values.shape.rank is not None else TensorShape(None)
    found = TensorShape([rows] + [None] * depth).concatenate(inner)
    asked = constant_value(wanted)
    if wanted.shape.rank == 0:
        return found
    if asked is None:
        return TensorShape(None if found.rank is None else [None] * found.rank)
    asked = [None if size < 0 else int(size) for size in asked]
    if found.rank is None:
        return TensorShape(asked)
    if found.rank != len(asked):
        raise ValueError(
            f"rt_input.shape and shape={asked} are incompatible: rt_input.rank = {found.rank} but "
            f"shape.rank = {len(asked)}"
        )
    outer = [found[i] if size is None else size for i, size in enumerate(asked[: depth + 1])]
    try:
        return TensorShape(outer).concatenate(inner.merge_with(asked[depth + 1 :]))
    except ValueError:
        raise ValueError(
            f"rt_input.shape={found} and shape={asked} are incompatible: the innermost dimensions "
            "differ, and they are not ragged."
        ) from None


def splits_of_rowids(ids, rows):
    """The row splits of sorted row ids (NumPy)."""
    return np.searchsorted(ids, np.arange(rows + 1))


def _all_splits(partitions, kinds):
    """The row splits of every dimension, whatever encodes the partitions (NumPy)."""
    rows, found = None, []
    for array, kind in zip(partitions, kinds, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(array)
        elif kind == "VALUE_ROWIDS":
            found.append(splits_of_rowids(array, rows))
            rows = len(array)
        elif kind == "ROW_SPLITS":
            found.append(array)
            rows = int(array[-1])
        else:
            raise ValueError(f"row_partition_types holds {kind!r}, which is not known.")
    return found


def _sizes(wanted, nested, values):
    """The shape of the padded tensor: the requested one, else what the rows need."""
    longest = [int(np.diff(splits).max(initial=0)) for splits in nested]
    sizes = [len(nested[0]) - 1, *longest, *values.shape[1:]]
    if not np.ndim(wanted):
        return sizes
    if len(wanted) != len(sizes):
        raise ValueError(
            f"rt_input.shape and shape={wanted.tolist()} are incompatible: rt_input.rank = "
            f"{len(sizes)} but shape.rank = {len(wanted)}"
        )
    chosen = [found if size < 0 else int(size) for size, found in zip(wanted, sizes, strict=True)]
    depth = len(nested) + 1
    if chosen[depth:] != sizes[depth:]:
        raise ValueError(
            f"rt_input.shape={sizes} and shape={wanted.tolist()} are incompatible: the innermost "
            "dimensions differ, and they are not ragged."
        )
    return chosen


@op(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors*Tindex -> result: T",
    Tshape=INDEX,
    Tindex=INDEX,
    shape=_padded_shape,
)
def RaggedTensorToTensor(
    shape, values, default_value, row_partition_tensors, *, row_partition_types
):
    nested = _all_splits(row_partition_tensors, row_partition_types)
    sizes = _sizes(shape, nested, values)
    row = tuple(sizes[len(nested) + 1 :])
    default_value = np.asarray(default_value)
    try:
        default = np.broadcast_to(default_value, row)
    except ValueError:
        raise ValueError(
            f"default_value.shape={list(default_value.shape)} and rt_input.flat_values.shape="
            f"{list(values.shape)} are incompatible: the default must fill an innermost value."
        ) from None
    outer = sizes[: len(nested) + 1]
    result = np.empty((*outer, *row), values.dtype)
    result[...] = default
    # The index of each row among the rows of the result; truncated ones go to -1.
    places = np.arange(len(nested[0]) - 1)
    places = np.where(places < outer[0], places, -1)
    for splits, size in zip(nested, outer[1:], strict=True):
        lengths = np.diff(splits)
        column = np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths)
        start = np.repeat(places, lengths)
        places = np.where((start >= 0) & (column < size), start * size + column, -1)
    kept = places >= 0
    flat = result.reshape(-1, *row) if result.size else result
    if result.size:
        flat[places[kept]] = values[kept]
    return result


@RaggedTensorToTensor.gradient
def _(op, grad):
    shape, values, default, *partitions = op.inputs
    kinds = op.attrs["row_partition_types"]
    if shape.shape.rank:
        shape = shape[: 1 + sum(kind != "FIRST_DIM_SIZE" for kind in kinds)]
    # The destination of each value: the indices of the values, padded with -1.
    count = shaping.shape(values, out_type=int64)[0]
    numbers, nothing = creation.range(count), tensor_of(np.int64(-1), int64)
    places = execute(RaggedTensorToTensor, (shape, numbers, nothing, *partitions), op.given)
    places = shaping.reshape(places, [-1])
    sizes = joining.concat([shaping.shape(places), shaping.shape(values)[1:]], 0)
    rows = shaping.reshape(grad, sizes)
    to_values = REGISTRY["UnsortedSegmentSum"](rows, places, count) if op.needs(1) else None
    if not op.needs(2):
        return None, to_values, None, *[None] * len(partitions)
    filled = comparison.equal(places, nothing)
    padding = reduction.reduce_sum(selection.boolean_mask(rows, filled), 0)
    return None, to_values, sum_to(padding, default), *[None] * len(partitions)


def to_tensor(value, default_value=None, shape=None) -> Tensor:
    """The rows of a ragged tensor padded to a tensor."""
    if default_value is None:
        default = creation.zeros([], value.dtype)
    else:
        default = convert_to_tensor(default_value, value.dtype)
    splits = value.nested_row_splits
    kinds = ("ROW_SPLITS",) * len(splits)
    inputs = (_asked_shape(shape), value.flat_values, default, *splits)
    return execute(RaggedTensorToTensor, inputs, {"row_partition_types": kinds})


def _asked_shape(shape):
    if shape is None:
        return tensor_of(np.int64(-1), int64)
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, TensorShape) and shape.rank is None:
        return tensor_of(np.int64(-1), int64)
    sizes = [-1 if size is None else size for size in shape]
    return convert_to_tensor(sizes, int64)


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=int64):
    """The rows of a tensor as a ragged tensor; see RaggedTensor.from_tensor."""
    dtype = as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have "
            f"ragged dimensions. Received argument `tensor` with rank {tensor.shape.rank}."
        )
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    if isinstance(lengths, list | tuple) and lengths and not isinstance(lengths[0], int | float):
        return _cut_by_nested_lengths(tensor, lengths, dtype)
    if ragged_rank > 1:
        return _cut_innermost(tensor, lengths, padding, ragged_rank, dtype)
    if padding is not None:
        lengths = _lengths_without(tensor, padding, dtype)
    if lengths is None:
        return _uniform_rows(tensor, dtype)
    columns = shaping.shape(tensor, out_type=dtype)[1]
    lengths = integer(lengths, dtype)
    lengths.shape.assert_has_rank(1)
    lengths = arithmetic.maximum(arithmetic.minimum(lengths, columns), integer(0, dtype))
    kept = selection.sequence_mask(lengths, columns)
    values = selection.boolean_mask(tensor, kept)
    partition = RowPartition.from_row_lengths(lengths, validate=False)
    return ragged_tensor.RaggedTensor(values, partition, internal=True)


def _uniform_rows(tensor, dtype):
    sizes = shaping.shape(tensor, out_type=dtype)
    rows, columns = sizes[0], sizes[1]
    if tensor.shape.rank is not None and None not in tensor.shape[:2]:
        rows, columns = (integer(size, dtype) for size in tensor.shape[:2])
    partition = RowPartition.from_uniform_row_length(columns, rows * columns, rows, validate=False)
    return ragged_tensor.RaggedTensor(merge_dense(tensor, 0, 1), partition, internal=True)


def _cut_by_nested_lengths(tensor, lengths, dtype):
    outer, *rest = lengths
    result = from_tensor(tensor, outer, row_splits_dtype=dtype)
    if not rest:
        return result
    return result.with_values(_cut_by_nested_lengths(result.values, rest, dtype))


def _cut_innermost(tensor, lengths, padding, ragged_rank, dtype):
    """The outer dimensions stay uniform; the last ragged one is truncated."""
    flat = merge_dense(tensor, 0, ragged_rank - 1)
    result = from_tensor(flat, lengths, padding, 1, dtype)
    sizes = shaping.shape(tensor, out_type=dtype)
    for axis in range(ragged_rank - 1, 0, -1):
        known = tensor.shape[axis] if tensor.shape.rank is not None else None
        length = sizes[axis] if known is None else integer(known, dtype)
        static = tensor.shape[:axis].num_elements() if tensor.shape.rank is not None else None
        rows = reduction.reduce_prod(sizes[:axis]) if static is None else integer(static, dtype)
        partition = RowPartition.from_uniform_row_length(length, rows * length, rows, False)
        result = ragged_tensor.RaggedTensor(result, partition, internal=True)
    return result


def _lengths_without(tensor, padding, dtype):
    """The lengths of the rows without trailing padding."""
    padding = convert_to_tensor(padding, tensor.dtype)
    if tensor.shape.rank is not None and padding.shape.rank is not None:
        padding.shape.assert_is_compatible_with(tensor.shape[2 : 2 + padding.shape.rank])
    same = comparison.equal(tensor, padding)
    inner = creation.range(2, shaping.rank(tensor))
    if tensor.shape.rank is not None:
        inner = list(range(2, tensor.shape.rank))
    filled = reduction.reduce_all(same, inner)
    columns = shaping.shape(tensor, out_type=dtype)[1]
    ends = selection.where(filled, integer(0, dtype), creation.range(columns) + 1)
    return arithmetic.maximum(reduction.reduce_max(ends, 1), integer(0, dtype))


def merge_dense(tensor, outer, inner) -> Tensor:
    """A tensor with the dimensions from `outer` to `inner` merged."""
    if outer == inner:
        return tensor
    shape = tensor.shape
    if shape.rank is not None:
        merged = shape[outer : inner + 1].num_elements()
        sizes = [*shape[:outer], merged, *shape[inner + 1 :]]
        if None not in sizes:
            return shaping.reshape(tensor, sizes)
    found = shaping.shape(tensor)
    count = shaping.reshape(reduction.reduce_prod(found[outer : inner + 1]), [1])
    result = shaping.reshape(tensor, joining.concat([found[:outer], count, found[inner + 1 :]], 0))
    if shape.rank is not None:
        result.set_shape(sizes)
    return result


def merge_dims(value, outer, inner):
    """A ragged tensor (or tensor) with the dimensions from `outer` to `inner` merged."""
    if outer == inner:
        return value
    if isinstance(value, Tensor):
        return merge_dense(value, outer, inner)
    if outer == 0:
        return merge_dims(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_values(merge_dims(value.values, outer - 1, inner - 1))
    while inner > 1:
        value = _without_second_dimension(value)
        inner -= 1
    return value


def _without_second_dimension(value):
    """Rows of rows concatenated: dimensions 1 and 2 merged."""
    inner, splits = value.values, value.row_splits
    length = value.uniform_row_length
    if isinstance(inner, Tensor):
        size = shaping.shape(inner, out_type=splits.dtype)[1]
        if inner.shape.rank is not None and inner.shape[1] is not None:
            size = integer(inner.shape[1], splits.dtype)
        splits, values = splits * size, merge_dense(inner, 0, 1)
        length = None if length is None else length * size
    else:
        splits, values = gathering.gather(inner.row_splits, splits), inner.values
        both = length is not None and inner.uniform_row_length is not None
        length = length * inner.uniform_row_length if both else None
    return ragged_tensor.RaggedTensor(values, partition_of(splits, length), internal=True)


def _sparse_shape(inputs, attrs):
    nested, values = inputs
    if values.shape.rank is None:
        return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]
    rank = values.shape.rank + len(nested)
    count = values.shape.num_elements()
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


@op(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK*Tsplits, rt_dense_values: T -> sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64",
    Tsplits=INDEX,
    shape=_sparse_shape,
)
def RaggedTensorToSparse(rt_nested_splits, rt_dense_values):
    columns = [np.arange(len(rt_nested_splits[0]) - 1)]
    for splits in rt_nested_splits:
        lengths = np.diff(splits)
        columns = [np.repeat(column, lengths) for column in columns]
        columns.append(np.arange(int(splits[-1])) - np.repeat(splits[:-1], lengths))
    row = rt_dense_values.shape[1:]
    size = int(np.prod(row, dtype=np.int64))
    columns = [np.repeat(column, size) for column in columns]
    if row:
        inner = np.indices(row).reshape(len(row), size)
        columns += [np.tile(each, len(rt_dense_values)) for each in inner]
    indices = np.stack(columns, 1).astype(np.int64)
    longest = [int(np.diff(splits).max(initial=0)) for splits in rt_nested_splits]
    shape = np.array([len(rt_nested_splits[0]) - 1, *longest, *row], np.int64)
    return indices, rt_dense_values.reshape(-1), shape


@RaggedTensorToSparse.gradient
def _(op, _indices, grad, _shape):
    *splits, values = op.inputs
    return *[None] * len(splits), shaping.reshape(grad, shaping.shape(values))


def to_sparse(value):
    """A sparse tensor with the values of a ragged one."""
    from ..sparse.sparse_tensor import SparseTensor

    splits = value.nested_row_splits
    return SparseTensor(*execute(RaggedTensorToSparse, (*splits, value.flat_values)))


def from_sparse(st_input, row_splits_dtype=int64):
    """The ragged tensor of a sparse matrix whose rows have no gaps."""
    from ..sparse.sparse_tensor import SparseTensor

    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type "
            f"{type(st_input).__name__}."
        )
    dtype = as_dtype(row_splits_dtype)
    shape = st_input.dense_shape.shape
    if shape.rank is not None and shape[0] not in (None, 2):
        raise ValueError(f"rank(st_input) must be 2, got {shape[0]}.")
    rows, columns = st_input.indices[:, 0], st_input.indices[:, 1]
    count = casting.cast(st_input.dense_shape[0], dtype)
    partition = RowPartition.from_value_rowids(casting.cast(rows, dtype), count, validate=False)
    starts = gathering.gather(partition.row_starts(), partition.value_rowids())
    places = creation.range(shaping.shape(rows, out_type=dtype)[0]) - starts
    right = reduction.reduce_all(comparison.equal(casting.cast(columns, dtype), places))
    require(right, "SparseTensor is not right-ragged: its rows must have no gaps, got", columns)
    return ragged_tensor.RaggedTensor(st_input.values, partition, internal=True)

"""Shape manipulation of sparse tensors: reshape, transpose, slice, concat, fill empty rows."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...core.context import state
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import bool as bool_dtype, int64
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, selection, shaping
from ..math import arithmetic, casting, comparison, reduction
from ..ragged.row_partition import require
from . import positions
from .sparse_tensor import SparseTensor, as_sparse

_FilledRows = namedtuple(  # type: ignore[name-match]
    "RaggedFillEmptyRows",
    ["output_value_rowids", "output_values", "empty_row_indicator", "reverse_index_map"],
)
_FilledRowsGradient = namedtuple(  # type: ignore[name-match]
    "RaggedFillEmptyRowsGrad", ["d_values", "d_default_value"]
)


def _reshaped_shape(inputs, attrs):
    indices, _, new_shape = inputs
    rank = new_shape.shape[0] if new_shape.shape.rank else None
    count = indices.shape[0] if indices.shape.rank else None
    return [TensorShape([count, rank]), TensorShape([rank])]


@op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, "
    "output_shape: int64",
    shape=_reshaped_shape,
    gradient=None,
)
def SparseReshape(input_indices, input_shape, new_shape):
    count = int(np.prod(input_shape))
    sizes = new_shape.tolist()
    unknown = [axis for axis, size in enumerate(sizes) if size == -1]
    if len(unknown) > 1:
        raise ValueError(
            f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    if unknown:
        rest = int(np.prod([size for size in sizes if size != -1]))
        if rest == 0 or count % rest:
            raise ValueError(
                f"Input to reshape is a SparseTensor with {count} dense values, but the requested "
                f"shape requires a multiple of {rest}. input_shape={input_shape.tolist()} "
                f"output_shape={sizes}"
            )
        sizes[unknown[0]] = count // rest
    if int(np.prod(sizes)) != count:
        raise ValueError(
            f"Input to reshape is a tensor with {count} dense values, but the requested shape has "
            f"{int(np.prod(sizes))}. input_shape={input_shape.tolist()} output_shape={sizes}"
        )
    numbers = positions.flat_numbers(input_indices, input_shape)
    sizes = np.array(sizes, np.int64)
    return positions.unflattened(numbers, sizes).astype(np.int64), sizes


def reshape(sp_input, shape, name=None):
    """The same elements in a tensor of another shape; -1 stands for one size to be inferred.

    >>> tf.sparse.reshape(tf.SparseTensor([[0, 1], [1, 0]], [5, 6], [2, 2]), [-1]).indices.numpy()
    array([[1],
           [2]])
    """
    value = as_sparse(sp_input)
    wanted = casting.cast(convert_to_tensor(shape, dtype_hint=int64), int64)
    known = constant_value(wanted)
    indices, sizes = execute(SparseReshape, (value.indices, value.dense_shape, wanted))
    result = SparseTensor(indices, value.values, sizes)
    if known is not None:
        result.set_shape([None if size < 0 else int(size) for size in known])
    return result


def transpose(sp_input, perm=None, name=None):
    """The axes permuted, reversed by default.

    >>> tf.sparse.transpose(tf.SparseTensor([[0, 1]], [5], [2, 3])).dense_shape.numpy().tolist()
    [3, 2]
    """
    value = as_sparse(sp_input)
    if perm is None:
        if value.shape.rank is not None:
            perm = list(range(value.shape.rank))[::-1]
        else:
            count = shaping.size(value.dense_shape)
            perm = count - 1 - creation.range(count)
    perm = perm if isinstance(perm, Tensor) else convert_to_tensor(perm, "int32")
    indices = gathering.gather(value.indices, perm, axis=1)
    sizes = gathering.gather(value.dense_shape, perm)
    return SparseTensor(*positions.reordered(indices, value.values, sizes), sizes)


def expand_dims(sp_input, axis=None, name=None):
    """A sparse tensor with a new axis of size 1, by default the last.

    >>> tf.sparse.expand_dims(tf.SparseTensor([[1]], [5], [2]), 0).indices.numpy().tolist()
    [[0, 1]]
    """
    value = as_sparse(sp_input)
    rank = value.shape.rank
    place = -1 if axis is None else axis
    if place < 0:
        place += (shaping.size(value.dense_shape) if rank is None else rank) + 1
    if rank is not None and not 0 <= place <= rank:
        raise InvalidArgumentError(
            None, None, f"axis {axis} is not in [{-rank - 1}, {rank}] for a tensor of rank {rank}."
        )
    zeros = creation.zeros_like(value.indices[:, :1])
    indices = joining.concat([value.indices[:, :place], zeros, value.indices[:, place:]], 1)
    shape = value.dense_shape
    one = creation.ones([1], int64)
    return SparseTensor(
        indices, value.values, joining.concat([shape[:place], one, shape[place:]], 0)
    )


def retain(sp_input, to_retain):
    """The elements whose entry in `to_retain` is true.

    >>> tf.sparse.retain(tf.SparseTensor([[0], [1]], [5, 6], [2]), [False, True]).values.numpy()
    array([6], dtype=int32)
    """
    value = as_sparse(sp_input)
    kept = convert_to_tensor(to_retain, bool_dtype)
    kept.shape.assert_has_rank(1)
    sizes = value.values.shape[0], kept.shape[0] if kept.shape.rank else None
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(f"Dimensions {sizes[0]} and {sizes[1]} are not compatible")
    places = shaping.reshape(selection.where(kept), [-1])
    indices = gathering.gather(value.indices, places)
    return SparseTensor(indices, gathering.gather(value.values, places), value.dense_shape)


def slice(sp_input, start, size, name=None):
    """The slice of a sparse tensor that starts at `start` and has at most the shape `size`.

    >>> tf.sparse.slice(tf.SparseTensor([[0], [3]], [5, 6], [4]), [2], [2]).indices.numpy()
    array([[1]])
    """
    value = as_sparse(sp_input)
    start, size = convert_to_tensor(start, int64), convert_to_tensor(size, int64)
    rank = value.shape.rank
    for tensor, what in ((start, "start"), (size, "size")):
        length = tensor.shape[0] if tensor.shape.rank == 1 else None
        if tensor.shape.rank not in (None, 1) or (None not in (length, rank) and length != rank):
            raise InvalidArgumentError(
                None,
                None,
                f"Expected {what} to be a vector of length {rank} but got shape {tensor.shape} "
                "[Op:SparseSlice]",
            )
    end = arithmetic.minimum(start + size, value.dense_shape)
    after = comparison.greater_equal(value.indices, start)
    inside = comparison.logical_and(after, comparison.less(value.indices, end))
    # As in the original the gradient is a tensor; retaining alone would make it IndexedSlices.
    values = shaping.reshape(value.values, shaping.shape(value.values))
    part = retain(value.with_values(values), reduction.reduce_all(inside, 1))
    zero = convert_to_tensor(0, int64)
    sizes = arithmetic.maximum(end - start, zero)
    return SparseTensor(part.indices - start, part.values, sizes)


def split(sp_input=None, num_split=None, axis=None, name=None):
    """A sparse tensor split along an axis; the first parts are longer if it is not divisible.

    >>> parts = tf.sparse.split(tf.SparseTensor([[0], [2]], [5, 6], [3]), 2, 0)
    >>> [part.values.numpy().tolist() for part in parts]
    [[5], [6]]
    """
    for each, what in ((num_split, "num_split"), (axis, "axis"), (sp_input, "sp_input")):
        if each is None:
            raise ValueError(f"{what} is required")
    value = as_sparse(sp_input)
    place = int(constant_value(convert_to_tensor(axis)))
    rank = value.shape.rank
    if rank is not None:
        if not -rank <= place < rank:
            raise InvalidArgumentError(
                None,
                None,
                f"Input axis should be in range [{-rank}, {rank}), got {place} [Op:SparseSplit]",
            )
        place %= rank
    length = value.shape[place] if rank is not None else None
    words = "Input num_split should be between 1 and the splitting dimension size"
    if num_split < 1 or (length is not None and num_split > length):
        message = f"{words} ({length}), got {num_split} [Op:SparseSplit]"
        if num_split < 1 and state.graph is not None:
            raise ValueError(message)
        raise InvalidArgumentError(None, None, message)
    whole = value.dense_shape[place]
    require(comparison.less_equal(convert_to_tensor(num_split, int64), whole), words, whole)
    short, longer = whole // num_split, whole % num_split
    sizes = value.dense_shape
    here = comparison.equal(creation.range(shaping.size(sizes)), place)
    parts, start = [], convert_to_tensor(0, int64)
    for number in range(num_split):
        more = comparison.less(convert_to_tensor(number, int64), longer)
        size = selection.where(more, short + 1, short)
        begin = selection.where(here, start, creation.zeros_like(sizes))
        parts.append(slice(value, begin, selection.where(here, size, sizes)))
        start = start + size
    return parts


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors concatenated along an axis.

    `expand_nonconcat_dims` lets them differ along the other axes.

    >>> one = tf.SparseTensor([[0]], [5], [2])
    >>> tf.sparse.concat(0, [one, one]).indices.numpy().tolist()
    [[0], [2]]
    """
    if isinstance(sp_inputs, SparseTensor):
        sp_inputs = [sp_inputs]
    values = [as_sparse(each, "sp_inputs") for each in sp_inputs]
    if not values:
        raise ValueError("tf.sparse.concat needs at least one sparse tensor.")
    if len(values) == 1:
        return values[0]
    rank = next((each.shape.rank for each in values if each.shape.rank is not None), None)
    if rank is None:
        raise ValueError("tf.sparse.concat needs a sparse tensor of known rank.")
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            None,
            None,
            f"Concat dimension must be in range [{-rank}, {rank}), got {axis} [Op:SparseConcat]",
        )
    axis %= rank
    if not expand_nonconcat_dims:
        _require_fit(values, axis)
    unit = np.eye(rank, dtype=np.int64)[axis]
    offset, indices = 0, []
    for each in values:
        indices.append(each.indices + offset * unit)
        offset = each.dense_shape[axis] + offset
    others = values[0].dense_shape
    for each in values[1:]:
        others = arithmetic.maximum(others, each.dense_shape)
    sizes = selection.where(unit.astype(bool), offset, others)
    elements = joining.concat([each.values for each in values], 0)
    return SparseTensor(*positions.reordered(joining.concat(indices, 0), elements, sizes), sizes)


def _require_fit(values, axis):
    from ..ragged.row_partition import require

    for number, each in enumerate(values[1:], 1):
        same = comparison.equal(each.dense_shape, values[0].dense_shape)
        along = np.arange(values[0].shape.rank or each.shape.rank) == axis
        fits = reduction.reduce_all(comparison.logical_or(same, along))
        require(
            fits,
            f"Input shapes must match but along the axis {axis}; they differ at position {number}:",
            values[0].dense_shape,
            each.dense_shape,
        )


def _filled_shape(inputs, attrs):
    indices, values, shape, _ = inputs
    rank = indices.shape[1] if indices.shape.rank == 2 else None
    sizes = constant_value(shape)
    rows = None if sizes is None or not len(sizes) else int(sizes[0])
    count = values.shape[0] if values.shape.rank else None
    return [
        TensorShape([None, rank]), TensorShape([None]), TensorShape([rows]), TensorShape([count])
    ]  # fmt: skip


@op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    shape=_filled_shape,
)
def SparseFillEmptyRows(indices, values, dense_shape, default_value):
    if not len(dense_shape):
        raise ValueError("Dense shape cannot be empty.")
    positions.require_inside(indices[:, :1], dense_shape[:1])
    rows = int(dense_shape[0])
    empty = np.bincount(indices[:, 0], minlength=rows) == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    everything = np.concatenate([indices, added])
    elements = np.empty(len(everything), values.dtype)
    elements[: len(values)] = values
    elements[len(values) :] = default_value
    order = np.argsort(everything[:, 0], kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return everything[order], elements[order], empty, place[: len(values)]


@SparseFillEmptyRows.gradient
def _(op, _indices, grad, _empty, _map):
    return None, *_filled_gradient(op.outputs[3], grad)


def _filled_gradient(places, grad):
    """For the values: gathered from their new positions; for the default: the sum of the rest."""
    to_values = gathering.gather(grad, places)
    to_default = reduction.reduce_sum(grad) - reduction.reduce_sum(to_values)
    return to_values, None, to_default


def fill_empty_rows(sp_input, default_value, name=None):
    """A default element at the start of each empty row; and the mask of those rows.

    >>> filled, empty = tf.sparse.fill_empty_rows(tf.SparseTensor([[1, 0]], [5], [2, 1]), 9)
    >>> filled.values.numpy().tolist(), empty.numpy().tolist()
    ([9, 5], [True, False])
    """
    value = as_sparse(sp_input)
    default = convert_to_tensor(default_value, value.dtype)
    inputs = (value.indices, value.values, value.dense_shape, default)
    indices, values, empty, _ = execute(SparseFillEmptyRows, inputs)
    return SparseTensor(indices, values, value.dense_shape), empty


def _rows_filled_shape(inputs, attrs):
    ids, _, rows, _ = inputs
    known = constant_value(rows)
    return [
        TensorShape([None]),
        TensorShape([None]),
        TensorShape([None if known is None else int(known)]),
        ids.shape,
    ]


@op(
    "RaggedFillEmptyRows",
    "value_rowids: int64, values: T, nrows: int64, default_value: T -> "
    "output_value_rowids: int64, output_values: T, empty_row_indicator: bool, "
    "reverse_index_map: int64",
    shape=_rows_filled_shape,
)
def RaggedFillEmptyRows(value_rowids, values, nrows, default_value):
    indices = np.asarray(value_rowids)[:, np.newaxis]
    filled, elements, empty, places = SparseFillEmptyRows.kernel(
        indices, values, np.array([nrows]), default_value
    )
    return filled[:, 0], elements, empty, places


@RaggedFillEmptyRows.gradient
def _(op, _ids, grad, _empty, _map):
    return None, *_filled_gradient(op.outputs[3], grad)


@op(
    "RaggedFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    shape=lambda inputs, attrs: [inputs[0].shape, TensorShape([])],
    gradient=None,
)
def RaggedFillEmptyRowsGrad(reverse_index_map, grad_values):
    if len(reverse_index_map) and not (
        reverse_index_map.min() >= 0 and reverse_index_map.max() < len(grad_values)
    ):
        raise ValueError(
            f"Elements in reverse index must be in [0, {len(grad_values)}), got "
            f"{reverse_index_map.tolist()}"
        )
    rest = np.ones(len(grad_values), bool)
    rest[reverse_index_map] = False
    total = np.add.reduce(grad_values[rest], dtype=grad_values.dtype)
    return grad_values[reverse_index_map], total


def ragged_fill_empty_rows(value_rowids, values, nrows, default_value, name=None):
    """A default value in each empty row: new ids, values, mask of rows, reverse index map.

    >>> tf.ragged_fill_empty_rows([0, 2], [5, 6], 3, 9).output_values.numpy().tolist()
    [5, 9, 6]
    """
    values = convert_to_tensor(values)
    inputs = (
        convert_to_tensor(value_rowids, int64),
        values,
        convert_to_tensor(nrows, int64),
        convert_to_tensor(default_value, values.dtype),
    )
    return _FilledRows(*execute(RaggedFillEmptyRows, inputs))


def ragged_fill_empty_rows_grad(reverse_index_map, grad_values, name=None):
    """The gradients of the values and of the default value of `ragged_fill_empty_rows`.

    >>> tf.ragged_fill_empty_rows_grad([0, 2], [1.0, 2.0, 3.0]).d_default_value.numpy()
    np.float32(2.0)
    """
    inputs = convert_to_tensor(reverse_index_map, int64), convert_to_tensor(grad_values)
    return _FilledRowsGradient(*execute(RaggedFillEmptyRowsGrad, inputs))

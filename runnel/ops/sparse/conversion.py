"""Conversion of sparse tensors from and to dense ones."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_shape, constant_value, convert_to_tensor
from ...core.dtypes import as_dtype, bool as bool_dtype, float32, int64
from ...core.op import execute, op
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, selection, shaping
from ..array.arguments import INDEX
from ..math import arithmetic, casting, comparison, reduction
from . import positions
from .sparse_tensor import SparseTensor, as_sparse


def from_dense(tensor, name=None):
    """The elements of a tensor that are not zero (or empty, False).

    >>> tf.sparse.from_dense([[0, 5], [7, 0]]).indices.numpy().tolist()
    [[0, 1], [1, 0]]
    """
    tensor = convert_to_tensor(tensor)
    zero = creation.zeros([], tensor.dtype)
    indices = selection.where(comparison.not_equal(tensor, zero))
    values = gathering.gather_nd(tensor, indices)
    return SparseTensor(indices, values, shaping.sizes_of(tensor, int64))


def _scattered_shape(inputs, attrs):
    indices, shape, _, _ = inputs
    if indices.shape.rank is not None and indices.shape.rank > 2:
        raise ValueError(
            f"sparse_indices should be a scalar, vector, or matrix, got shape {indices.shape}"
        )
    return constant_shape(shape)


@op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T "
    "-> dense: T",
    Tindices=INDEX,
    shape=_scattered_shape,
)
def SparseToDense(
    sparse_indices, output_shape, sparse_values, default_value, *, validate_indices=True
):
    sizes = tuple(int(size) for size in np.reshape(output_shape, -1))
    indices = np.asarray(sparse_indices)
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if indices.shape[1] != len(sizes):
        raise ValueError(
            f"output_shape has incorrect number of elements: {len(sizes)}, should be: "
            f"{indices.shape[1]}"
        )
    values = np.asarray(sparse_values)
    if values.ndim and len(values) != len(indices):
        raise ValueError(
            f"sparse_values has incorrect shape {list(values.shape)}, should be [] or "
            f"[{len(indices)}]"
        )
    positions.require_inside(indices, sizes)
    flat = positions.require_sorted if validate_indices else positions.flat_numbers
    places = flat(indices, sizes)
    dense = np.empty(math.prod(sizes), values.dtype)
    dense[...] = default_value
    dense[places] = values
    return dense.reshape(sizes)


@SparseToDense.gradient
def _(op, grad):
    indices, _, values, _ = op.inputs
    if indices.shape.rank is not None and indices.shape.rank < 2:
        indices = shaping.reshape(indices, [-1, 1])
    picked = gathering.gather_nd(grad, indices)
    rest = reduction.reduce_sum(grad) - reduction.reduce_sum(picked)
    to_values = reduction.reduce_sum(picked) if values.shape.rank == 0 else picked
    return None, None, to_values, rest


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value` (0, or empty strings) for implicit elements.

    >>> tf.sparse.to_dense(tf.SparseTensor([[0, 1], [1, 0]], [3, 4], [2, 2])).numpy().tolist()
    [[0, 3], [4, 0]]
    """
    sp_input = as_sparse(sp_input)
    if default_value is None:
        default = creation.zeros([], sp_input.dtype)
    else:
        default = convert_to_tensor(default_value, sp_input.dtype)
    inputs = (sp_input.indices, sp_input.dense_shape, sp_input.values, default)
    dense = execute(SparseToDense, inputs, {"validate_indices": bool(validate_indices)})
    if not dense.shape.is_fully_defined():
        dense.set_shape(sp_input.shape)
    return dense


def reorder(sp_input, name=None):
    """The same elements sorted by index.

    >>> tf.sparse.reorder(tf.SparseTensor([[1], [0]], [10, 20], [2])).values.numpy().tolist()
    [20, 10]
    """
    value = as_sparse(sp_input)
    indices, values = positions.reordered(value.indices, value.values, value.dense_shape)
    return SparseTensor(indices, values, value.dense_shape)


def eye(num_rows, num_columns=None, dtype=float32, name=None):
    """The identity matrix.

    >>> tf.sparse.to_dense(tf.sparse.eye(2, 3)).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    rows = _length(num_rows)
    columns = rows if num_columns is None else _length(num_columns)
    diagonal = creation.range(arithmetic.minimum(rows, columns))
    indices = joining.stack([diagonal, diagonal], 1)
    values = creation.ones(shaping.shape(diagonal), as_dtype(dtype))
    return SparseTensor(indices, values, joining.stack([rows, columns]))


def _length(value):
    return casting.cast(value, int64) if isinstance(value, Tensor) else convert_to_tensor(
        value, int64
    )  # fmt: skip


def to_indicator(sp_input, vocab_size, name=None):
    """A dense boolean tensor: for each row, which of the ids (the values) it contains.

    >>> ids = tf.SparseTensor([[0, 0], [1, 0]], [2, 0], [2, 1])
    >>> tf.sparse.to_indicator(ids, 3).numpy().tolist()
    [[False, False, True], [True, False, False]]
    """
    value = as_sparse(sp_input)
    rows = value.indices[:, :-1]
    ids = shaping.expand_dims(casting.cast(value.values, int64), 1)
    indices = joining.concat([rows, ids], 1)
    last = shaping.reshape(casting.cast(vocab_size, int64), [1])
    shape = joining.concat([value.dense_shape[:-1], last], 0)
    true = creation.ones(shaping.shape(value.values), bool_dtype)
    # An id may be repeated in a row.
    return to_dense(SparseTensor(indices, true, shape), False, validate_indices=False)


def reset_shape(sp_input, new_shape=None):
    """The same elements in a tensor of another shape, the smallest possible by default.

    >>> tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [5], [9, 9])).dense_shape.numpy().tolist()
    [1, 2]
    """
    value = as_sparse(sp_input)
    if new_shape is None:
        low = reduction.reduce_max(joining.concat([value.indices[:0], [value.dense_shape * 0 - 1],
                                                   value.indices], 0), 0)  # fmt: skip
        return SparseTensor(value.indices, value.values, low + 1)
    shape = convert_to_tensor(new_shape, int64)
    shape.shape.assert_has_rank(1)
    ranks = shape.shape[0], value.dense_shape.shape[0]
    if None not in ranks and ranks[0] != ranks[1]:
        raise ValueError(f"Dimensions {ranks[0]} and {ranks[1]} are not compatible")
    known, old = constant_value(shape), constant_value(value.dense_shape)
    if known is not None and old is not None:
        if (known < old).any():
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  Found "
                f"new_shape ({known}), sp_input.shape ({old})."
            )
    else:
        from ..ragged.row_partition import require

        fits = reduction.reduce_all(comparison.less_equal(value.dense_shape, shape))
        require(fits, "Requested new_shape should have dimension sizes >= sp_input.shape.", shape)
    return SparseTensor(value.indices, value.values, shape)

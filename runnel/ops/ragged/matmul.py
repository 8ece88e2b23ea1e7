"""Batched matmuls of matrices of different sizes."""

from __future__ import annotations

from ...core.op import execute
from ...core.tensor import Tensor
from ..array import repeating, shaping
from ..math import comparison, reduction
from . import conversion
from .row_partition import require

_RAGGED_INSIDE = "The matrices in `a` and `b` may not be ragged in their innermost dimension."


def matmul(op, a, b, attrs):
    """a @ b where one of them is ragged; padding with zeros does not change a matmul."""
    for each in (a, b):
        if each.shape.rank is None:
            raise ValueError("tf.matmul of ragged tensors needs operands of known rank.")
    rank = a.shape.rank
    if rank != b.shape.rank:
        raise ValueError(f"`a` and `b` must have the same rank, got {a.shape} and {b.shape}.")
    if rank == 2:
        return execute(op, (_dense_matrix(a), _dense_matrix(b)), attrs)
    if rank > 3:
        return _by_rows(op, a, b, attrs)
    flip_a = attrs.get("adj_x") or attrs.get("transpose_a")
    flip_b = attrs.get("adj_y") or attrs.get("transpose_b")
    dtype = (b if isinstance(a, Tensor) else a).row_splits.dtype
    rows, inner = _sizes(a, dtype, flip_a)
    other, columns = _sizes(b, dtype, flip_b)
    words = "Matrix size-incompatible: the columns of `a` and the rows of `b` number"
    require(reduction.reduce_all(comparison.equal(inner, other)), words, inner, other)
    dense = [each if isinstance(each, Tensor) else conversion.to_tensor(each) for each in (a, b)]
    product = execute(op, tuple(dense), attrs)
    return _cut(product, rows, columns, dtype)


def _dense_matrix(value):
    """A dense matrix from rows of equal length."""
    if isinstance(value, Tensor):
        return value
    lengths = value.row_lengths()
    require(reduction.reduce_all(comparison.equal(lengths, value._longest())), _RAGGED_INSIDE)
    return conversion.to_tensor(value)


def _by_rows(op, a, b, attrs):
    """The matmuls of the values of both, where the matrices are in inner dimensions."""
    like = b if isinstance(a, Tensor) else a
    ragged = [
        conversion.from_tensor(each, row_splits_dtype=like.row_splits.dtype)
        if isinstance(each, Tensor)
        else each
        for each in (a, b)
    ]
    same = ragged[0]._row_partition.same_as(ragged[1]._row_partition)
    require(same, "The batches of `a` and `b` must have the same rows to be multiplied.")
    return like.with_values(execute(op, tuple(each.values for each in ragged), attrs))


def _sizes(value, dtype, flipped):
    """The numbers of rows and columns: a scalar where all matrices agree, else one per matrix."""
    if isinstance(value, Tensor):
        sizes = shaping.shape(value, out_type=dtype)
        rows, columns = sizes[1], sizes[2]
    else:
        rows = value.uniform_row_length
        rows = value.row_lengths() if rows is None else rows
        if isinstance(value.values, Tensor):
            columns = shaping.shape(value.values, out_type=dtype)[1]
        else:
            lengths = value.row_lengths(axis=2)
            columns = reduction.reduce_max(lengths, axis=1)
            same = comparison.equal(lengths, shaping.expand_dims(columns, 1))
            require(reduction.reduce_all(same), _RAGGED_INSIDE)
    return (columns, rows) if flipped else (rows, columns)


def _cut(product, rows, columns, dtype):
    """The results without their padding, ragged where the matrices differ in size."""
    if columns.shape.rank == 0:
        lengths = None if rows.shape.rank == 0 else rows
        return conversion.from_tensor(product, lengths, row_splits_dtype=dtype)
    kept = conversion.from_tensor(
        product, rows if rows.shape.rank else None, row_splits_dtype=dtype
    )
    lengths = repeating.repeat(columns, rows)
    inner = conversion.from_tensor(kept.values, lengths, row_splits_dtype=dtype)
    return kept.with_values(inner)

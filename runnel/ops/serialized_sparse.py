"""Serialized sparse tensors: strings of their indices, values and shapes."""

from __future__ import annotations

import numpy as np

from ..core import errors
from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, int64, string
from ..core.op import execute, op, type_text
from ..core.shapes import TensorShape
from . import tensor_proto
from .sparse.sparse_tensor import SparseTensor, as_sparse


def _texts(*arrays):
    result = np.empty(len(arrays), object)
    result[:] = [tensor_proto.dump(np.ascontiguousarray(array)) for array in arrays]
    return result


@op(
    "SerializeSparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    shape=lambda inputs, attrs: TensorShape([3]),
    gradient=None,
)
def SerializeSparse(sparse_indices, sparse_values, sparse_shape, *, out_type=string):
    return _texts(sparse_indices, sparse_values, sparse_shape)


@op(
    "SerializeManySparse",
    "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type",
    shape=lambda inputs, attrs: TensorShape([None, 3]),
    gradient=None,
)
def SerializeManySparse(sparse_indices, sparse_values, sparse_shape, *, out_type=string):
    if len(sparse_shape) < 2:
        raise ValueError(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(sparse_shape)}"
        )
    count = int(sparse_shape[0])
    rows = sparse_indices[:, 0]
    if len(rows) and (rows.min() < 0 or rows.max() >= count or (np.diff(rows) < 0).any()):
        raise ValueError(
            f"The rows of a SparseTensor's indices must rise and be smaller than its first "
            f"dimension, {count}"
        )
    if count > len(rows) and count * 3 > 2**31:
        raise errors.ResourceExhaustedError(
            None, None, f"A SparseTensor of {count} rows is too large to be serialized by rows"
        )
    bounds = np.searchsorted(rows, np.arange(count + 1))
    result = np.empty((count, 3), object)
    for row in range(count):
        part = slice(bounds[row], bounds[row + 1])
        result[row] = _texts(sparse_indices[part, 1:], sparse_values[part], sparse_shape[1:])
    return result


def _many_shapes(inputs, attrs):
    serialized = inputs[0].shape
    if serialized.rank not in (None, 2) or (serialized.rank and serialized[1] not in (None, 3)):
        raise ValueError(
            f"serialized_sparse must be a matrix with 3 columns, but its shape is {serialized}"
        )
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


@op(
    "DeserializeManySparse",
    "serialized_sparse: string -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    shape=_many_shapes,
    gradient=None,
)
def DeserializeManySparse(serialized_sparse, *, dtype):
    if serialized_sparse.ndim != 2 or serialized_sparse.shape[1] != 3:
        raise ValueError(
            "serialized_sparse must be a matrix with 3 columns, but its shape is "
            f"{list(serialized_sparse.shape)}"
        )
    if not len(serialized_sparse):
        raise ValueError("There must be at least one serialized SparseTensor, but there are none")
    parts = [_parts(row, number, dtype) for number, row in enumerate(serialized_sparse)]
    ranks = {len(shape) for _, _, shape in parts}
    if len(ranks) > 1:
        raise ValueError(f"Serialized SparseTensors of one batch have different ranks: {ranks}")
    indices = [
        np.concatenate([np.full((len(each), 1), row, np.int64), each], 1)
        for row, (each, _, _) in enumerate(parts)
    ]
    sizes = np.max([shape for _, _, shape in parts], axis=0)
    return (
        np.concatenate(indices),
        np.concatenate([values for _, values, _ in parts]),
        np.array([len(parts), *sizes], np.int64),
    )


def _parts(row, number, dtype):
    """Indices, values and shape of one serialized sparse tensor."""
    (index_type, indices), (value_type, values), (shape_type, shape) = map(tensor_proto.load, row)
    if value_type is not dtype:
        raise ValueError(
            f"Requested SparseTensor of type {type_text(dtype)} but SparseTensor[{number}]."
            f"values.dtype() == {type_text(value_type)}"
        )
    fits = index_type is int64 and shape_type is int64 and shape.ndim == 1 and values.ndim == 1
    if not fits or indices.shape != (len(values), len(shape)):
        raise ValueError(
            f"SparseTensor[{number}] has indices of shape {list(indices.shape)}, values of shape "
            f"{list(values.shape)} and a dense shape of shape {list(shape.shape)}: they do not fit"
        )
    return indices, values, shape


def _require_strings(out_type):
    if as_dtype(out_type) is not string:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Sparse tensors are serialized to tf.string, not to {as_dtype(out_type).name}",
        )


def serialize_sparse(sp_input, out_type=string, name=None):
    """A SparseTensor as 3 strings: its indices, values and dense shape."""
    sparse = as_sparse(sp_input)
    _require_strings(out_type)
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    return execute(SerializeSparse, parts, {"out_type": string})


def serialize_many_sparse(sp_input, out_type=string, name=None):
    """The rows of a SparseTensor, each as 3 strings: indices, values and dense shape.

    >>> rows = tf.io.serialize_many_sparse(tf.sparse.from_dense([[0, 1], [2, 0]]))
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(rows, tf.int32)).numpy().tolist()
    [[0, 1], [2, 0]]
    """
    sparse = as_sparse(sp_input)
    _require_strings(out_type)
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    return execute(SerializeManySparse, parts, {"out_type": string})


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """Stack serialized sparse tensors as rows of one; its shape is the largest of theirs."""
    texts = convert_to_tensor(serialized_sparse, string)
    indices, values, shape = execute(DeserializeManySparse, (texts,), {"dtype": as_dtype(dtype)})
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)

"""Row-wise counts of integers, as sparse tensors."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32, int64
from ...core.errors import InvalidArgumentError
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, shaping
from ..array.arguments import INDEX
from ..math import casting
from ..ragged.ragged_tensor import RaggedTensor
from ..ragged.row_partition import RowPartition
from .sparse_tensor import SparseTensor


def _counted(rows, count_of_rows, values, weights, minlength, maxlength, binary_output, ranked):
    """The indices, counts and shape of the row-wise counts of values (NumPy)."""
    values = np.asarray(values, np.int64).reshape(-1)
    if values.size and values.min() < 0:
        raise ValueError("Input values must all be non-negative")
    weights = np.asarray(weights).reshape(-1)
    if len(weights) and len(weights) != len(values):
        raise ValueError(
            f"Weights and values must have the same shape. Weight count: {len(weights)}; values "
            f"count: {len(values)}"
        )
    size = max(int(values.max(initial=0)) + 1, minlength)
    if maxlength >= 0:
        size = max(min(size, maxlength), 0) if minlength < maxlength else maxlength
        kept = values < maxlength
        rows, values = rows[kept], values[kept]
        weights = weights[kept] if len(weights) else weights
    width = max(size, 1)
    found, ids = np.unique(rows * width + values, return_inverse=True)
    counts = np.zeros(len(found), weights.dtype)
    if binary_output:
        counts[:] = 1
    else:
        np.add.at(counts, ids, weights if len(weights) else weights.dtype.type(1))
    places = np.stack([found // width, found % width], 1)
    if not ranked:
        return places[:, 1:], counts, np.array([size], np.int64)
    return places, counts, np.array([count_of_rows, size], np.int64)


def _sizes(rank):
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


_OUTPUTS = "output_indices: int64, output_values: output_type, output_dense_shape: int64"


@op(
    "DenseCountSparseOutput",
    f"values: T, weights: output_type -> {_OUTPUTS}",
    T=INDEX,
    shape=lambda inputs, attrs: _sizes(inputs[0].shape.rank),
    gradient=None,
)
def DenseCountSparseOutput(values, weights, *, minlength=-1, maxlength=-1, binary_output=False):
    if not 1 <= values.ndim <= 2:
        raise ValueError(f"Input must be a 1 or 2-dimensional tensor, got rank {values.ndim}")
    ranked = values.ndim == 2
    count = len(values) if ranked else 1
    rows = np.repeat(np.arange(count), values.shape[-1])
    return _counted(rows, count, values, weights, minlength, maxlength, binary_output, ranked)


@op(
    "SparseCountSparseOutput",
    f"indices: int64, values: T, dense_shape: int64, weights: output_type -> {_OUTPUTS}",
    T=INDEX,
    shape=lambda inputs, attrs: _sizes(inputs[2].shape[0] if inputs[2].shape.rank else None),
    gradient=None,
)
def SparseCountSparseOutput(
    indices, values, dense_shape, weights, *, minlength=-1, maxlength=-1, binary_output=False
):
    ranked = len(dense_shape) == 2
    rows = indices[:, 0] if ranked else np.zeros(len(values), np.int64)
    count = int(dense_shape[0]) if ranked else 1
    return _counted(rows, count, values, weights, minlength, maxlength, binary_output, ranked)


@op(
    "RaggedCountSparseOutput",
    f"splits: int64, values: T, weights: output_type -> {_OUTPUTS}",
    T=INDEX,
    shape=lambda inputs, attrs: _sizes(2),
    gradient=None,
)
def RaggedCountSparseOutput(
    splits, values, weights, *, minlength=-1, maxlength=-1, binary_output=False
):
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
    count = len(splits) - 1
    return _counted(rows, count, values, weights, minlength, maxlength, binary_output, True)


def bincount(
    values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None
):
    """How often each integer occurs, overall (axis=0) or in each row (axis=-1), sparse.

    >>> counts = tf.sparse.bincount([[1, 1, 2], [0, 0, 5]], axis=-1)
    >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
    ([[0, 1], [0, 2], [1, 0], [1, 5]], [2, 1, 2, 1])
    """
    composite = SparseTensor | RaggedTensor
    values = values if isinstance(values, composite) else convert_to_tensor(values)
    if axis not in (0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    for length, what in ((minlength, "minlength"), (maxlength, "maxlength")):
        if length is not None and length < 0:
            raise InvalidArgumentError(None, None, f"{what} must be >= 0, got {length}.")
    if axis == 0:
        values, weights = _flat(values), None if weights is None else _flat(weights)
    else:
        weights = _beside(values, weights)
    if weights is None:
        weights = creation.zeros([0], values.dtype)
    attrs = {
        "minlength": -1 if minlength is None else int(minlength),
        "maxlength": -1 if maxlength is None else int(maxlength),
        "binary_output": bool(binary_output),
    }
    if isinstance(values, SparseTensor):
        inputs = (values.indices, _integers(values.values), values.dense_shape, weights)
        return SparseTensor(*execute(SparseCountSparseOutput, inputs, attrs))
    if isinstance(values, RaggedTensor):
        splits = casting.cast(values.row_splits, int64)
        inputs = (splits, _integers(values.values), weights)
        return SparseTensor(*execute(RaggedCountSparseOutput, inputs, attrs))
    return SparseTensor(*execute(DenseCountSparseOutput, (_integers(values), weights), attrs))


def as_rows(values, weights):
    """The values of a sparse matrix, and their weights, as ragged rows; a vector's as a tensor."""
    if values.shape.rank == 1:
        return values.values, None if weights is None else weights.values
    partition = RowPartition.from_value_rowids(
        values.indices[:, 0], values.dense_shape[0], validate=False
    )
    rows = RaggedTensor(values.values, partition, internal=True)
    return rows, None if weights is None else rows.with_values(weights.values)


def _integers(values):
    if values.dtype in INDEX:
        return values
    if not values.dtype.is_integer:
        raise InvalidArgumentError(
            None, None, f"tf.sparse.bincount counts integers, not {values.dtype.name}."
        )
    return casting.cast(values, int32)


def _flat(values):
    if isinstance(values, SparseTensor):
        return values.values
    if isinstance(values, RaggedTensor):
        return values.flat_values
    return shaping.reshape(convert_to_tensor(values), [-1])


def _beside(values, weights):
    """The weights, of the same composite type as the values, as one tensor."""
    if weights is None:
        return None
    kind = type(values) if not isinstance(values, Tensor) else Tensor
    if kind is Tensor:
        weights = convert_to_tensor(weights)
        if not isinstance(weights, Tensor) or not weights.shape.is_compatible_with(values.shape):
            raise InvalidArgumentError(
                None, None, f"Weights and values must have the same shape, got {weights.shape} "
                f"beside {values.shape}."
            )  # fmt: skip
        return weights
    if not isinstance(weights, kind):
        raise ValueError(
            f"Argument `weights` must be a {kind.__name__} if `values` is one. Received "
            f"{type(weights).__name__}."
        )
    return weights.values

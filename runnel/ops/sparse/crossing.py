"""Feature crosses: every combination of one feature of each column, row by row."""

from __future__ import annotations

import itertools

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int64, string
from ...core.op import execute, op
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import shaping
from ..farmhash import fingerprint64
from ..math import casting
from ..ragged.ragged_tensor import RaggedTensor
from ..ragged.row_partition import RowPartition
from .sparse_tensor import SparseTensor

_MASK = 2**64 - 1
_FACTOR = 0xC6A4A7935BD1E995
_DEFAULT_KEY = 0xDECAFCAFFE
_LARGEST = 2**63 - 1


def _mixed(value):
    return value ^ value >> 47


def joined_fingerprint(first: int, second: int) -> int:
    """One fingerprint combined from two."""
    result = first ^ _FACTOR
    result ^= _mixed(second * _FACTOR & _MASK) * _FACTOR & _MASK
    result = result * _FACTOR & _MASK
    return _mixed(_mixed(result) * _FACTOR & _MASK)


def _fingerprint(feature) -> int:
    return fingerprint64(feature) if isinstance(feature, bytes) else int(feature) & _MASK


def _texts(feature) -> bytes:
    return feature if isinstance(feature, bytes) else str(int(feature)).encode()


def _crossed(columns, separator, num_buckets, hash_key, hashed):
    """The row lengths and the crosses of columns, each of which is a list of rows of features."""
    lengths, result = [], []
    for rows in zip(*columns, strict=True):
        count = 0
        for combination in itertools.product(*rows):
            count += 1
            if not hashed:
                result.append(separator.join(_texts(feature) for feature in combination))
                continue
            number = hash_key & _MASK
            for feature in combination:
                number = joined_fingerprint(number, _fingerprint(feature))
            result.append(number % (num_buckets or _LARGEST))
        lengths.append(count)
    values = np.empty(len(result), object if not hashed else np.int64)
    values[:] = result
    return np.array(lengths, np.int64), values


def _rows_of(splits, values):
    """Rows of Python values."""
    values = values.tolist()
    return [values[a:b] for a, b in itertools.pairwise(splits.tolist())]


def _require_same_rows(columns):
    counts = {len(each) for each in columns}
    if len(counts) > 1:
        raise ValueError(f"Expected inputs of the same batch size, got {sorted(counts)}.")


def _cross_shape(inputs, attrs):
    return [TensorShape([None]), TensorShape([None])]


# The inputs are pairs of row splits and values: a flat list of one length each.
@op(
    "RaggedFeatureCross",
    "parts: *T -> lengths: int64, crosses: out_type",
    shape=_cross_shape,
    gradient=None,
)
def RaggedFeatureCross(parts, *, out_type, separator="_X_", num_buckets=0, hash_key=0):
    columns = [_rows_of(*parts[i : i + 2]) for i in range(0, len(parts), 2)]
    _require_same_rows(columns)
    hashed = out_type is not string
    return _crossed(columns, separator.encode(), num_buckets, hash_key, hashed)


def _column(value):
    """The row splits and values of a matrix of features."""
    if isinstance(value, RaggedTensor):
        if value.ragged_rank != 1 or value.flat_values.shape.rank not in (None, 1):
            raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
        splits, values = casting.cast(value.row_splits, int64), value.values
    elif isinstance(value, SparseTensor):
        rows = value.indices[:, 0]
        partition = RowPartition.from_value_rowids(rows, value.dense_shape[0], validate=False)
        splits, values = partition._row_splits, value.values
    else:
        if value.shape.rank not in (None, 2):
            raise ValueError(f"Features to cross are matrices, got shape {value.shape}.")
        sizes = shaping.shape(value, out_type=int64)
        partition = RowPartition.from_uniform_row_length(
            sizes[1], sizes[0] * sizes[1], sizes[0], validate=False
        )
        splits, values = partition._row_splits, shaping.reshape(value, [-1])
    if values.dtype is not string and values.dtype is not int64:
        if not values.dtype.is_integer:
            raise ValueError(
                f"Unexpected dtype for inputs: {values.dtype.name}. Features are strings or "
                "integers."
            )
        values = casting.cast(values, int64)
    return splits, values


def _execute(inputs, out_type, separator="_X_", num_buckets=0, hash_key=None):
    parts = [part for each in inputs for part in _column(each)]
    attrs = {
        "out_type": out_type,
        "separator": separator,
        "num_buckets": int(num_buckets),
        "hash_key": _DEFAULT_KEY if hash_key is None else int(hash_key),
    }
    return execute(RaggedFeatureCross, tuple(parts), attrs)


def _ragged_cross(inputs, out_type, **attrs):
    if not isinstance(inputs, tuple | list) or not inputs:
        raise TypeError(f"tf.ragged.cross expects a list of tensors, got {inputs!r}.")
    inputs = [
        each if isinstance(each, RaggedTensor | SparseTensor) else convert_to_tensor(each)
        for each in inputs
    ]
    dtype = next((x.row_splits.dtype for x in inputs if isinstance(x, RaggedTensor)), int64)
    lengths, values = _execute(inputs, out_type, **attrs)
    partition = RowPartition.from_row_lengths(lengths, validate=False)
    return RaggedTensor(values, partition.with_dtype(dtype), internal=True)


def ragged_cross(inputs, name=None):
    """Every combination of one feature of each input, row by row, joined by "_X_".

    >>> tf.ragged.cross([tf.ragged.constant([["a", "b"], ["c"]]), [["x"], ["y"]]])
    <tf.RaggedTensor [[b'a_X_x', b'b_X_x'], [b'c_X_y']]>
    """
    return _ragged_cross(inputs, string)


def ragged_cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The crosses of features hashed to numbers below `num_buckets` (0: below 2**63 - 1).

    >>> crosses = tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["c"]]), [["x"], ["y"]]], 100)
    >>> crosses.shape, crosses.dtype
    (TensorShape([2, None]), tf.int64)
    """
    return _ragged_cross(inputs, int64, num_buckets=num_buckets, hash_key=hash_key)


def _sparse_cross(inputs, out_type, **attrs):
    lengths, values = _execute(inputs, out_type, **attrs)
    partition = RowPartition.from_row_lengths(lengths, validate=False)
    return RaggedTensor(values, partition, internal=True).to_sparse()


def cross(inputs, name=None, separator=None):
    """Every combination of one feature of each column, row by row, as joined strings.

    >>> a = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> tf.sparse.cross([a, tf.constant([["x"]])], separator="-").values.numpy().tolist()
    [b'a-x', b'b-x']
    """
    if not isinstance(inputs, list | tuple):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(each, SparseTensor | Tensor | RaggedTensor) for each in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    return _sparse_cross(inputs, string, separator="_X_" if separator is None else separator)


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The crosses of sparse features hashed to numbers below `num_buckets` (0: below 2**63 - 1).

    >>> a = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> tf.sparse.cross_hashed([a, a], num_buckets=10).shape
    TensorShape([1, 4])
    """
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(each, SparseTensor | Tensor | RaggedTensor) for each in inputs):
        raise TypeError("All inputs must be SparseTensors")
    return _sparse_cross(inputs, int64, num_buckets=num_buckets, hash_key=hash_key)

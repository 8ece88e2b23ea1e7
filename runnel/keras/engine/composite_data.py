"""Ragged and sparse data for fit, evaluate and predict: row selection and concatenation."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...core.batchable import BatchableTypeSpec, parts_of, value_of
from ...core.tensor import Tensor
from .kinds import is_ragged, is_sparse


def is_composite(value: Any) -> bool:
    """Whether a value is a composite tensor with rows, or a SciPy sparse matrix."""
    return is_ragged(value) or is_sparse(value) or is_encoded(value) or _is_scipy_matrix(value)


def is_encoded(value: Any) -> bool:
    """Whether a value is encoded before batching, as extension types are."""
    kind = type(value)
    return hasattr(kind, "_type_spec") and isinstance(value._type_spec, BatchableTypeSpec)


def _is_scipy_matrix(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


def tensor_of_composite(value: Any) -> Any:
    """A SciPy matrix as a sparse tensor; other values unchanged."""
    if not _is_scipy_matrix(value):
        return value
    matrix = value.tocoo()
    values = matrix.data
    if values.dtype.kind == "f":
        values = values.astype(tf.keras.backend.floatx())
    indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    return tf.sparse.reorder(tf.SparseTensor(indices, values, matrix.shape))


class EncodedRows:
    """The examples of a batched extension-type value, selectable by index."""

    def __init__(self, value: Any) -> None:
        spec = value._type_spec
        self._spec = spec._unbatch()._batch(None)
        parts = parts_of(spec, value, minimum_rank=1)
        self._parts = [rows_of(each) if is_composite(each) else np.asarray(each) for each in parts]

    def __len__(self) -> int:
        return len(self._parts[0])

    def part(self, where: Any) -> Any:
        """The examples of a slice, or at indices in any order."""
        picked = (
            tf.constant(each[where]) if isinstance(each, np.ndarray) else each.part(where)
            for each in self._parts
        )
        return value_of(self._spec, picked)


def rows_of(value: Any) -> Any:
    """The examples of a composite value, selectable by index."""
    return EncodedRows(value) if is_encoded(value) else CompositeRows(value)


class CompositeRows:
    """The examples of a ragged or sparse tensor, selectable by index."""

    def __init__(self, value: Any) -> None:
        self._value = tensor_of_composite(value)
        if is_ragged(self._value):
            self._count = int(self._value.nrows())
        else:
            self._count = int(self._value.dense_shape[0])
            self._rows = np.asarray(self._value.indices)[:, 0]

    def __len__(self) -> int:
        return self._count

    def part(self, where: Any) -> Any:
        """The examples of a slice, or at indices in any order."""
        if not is_ragged(self._value):
            return self._sparse_part(np.arange(self._count)[where])
        return self._value[where] if isinstance(where, slice) else tf.gather(self._value, where)

    def _sparse_part(self, places: np.ndarray) -> tf.SparseTensor:
        target = np.full(self._count, -1, np.int64)
        target[places] = np.arange(len(places))
        new = target[self._rows]
        kept = np.flatnonzero(new >= 0)
        kept = kept[np.argsort(new[kept], kind="stable")]
        indices = np.asarray(self._value.indices)[kept]
        indices[:, 0] = new[kept]
        sizes = np.asarray(self._value.dense_shape).copy()
        sizes[0] = len(places)
        return tf.SparseTensor(indices, np.asarray(self._value.values)[kept], sizes)


def plain(output: Any) -> Any:
    """A model output as a writable NumPy array, unless it is composite."""
    if type(output) is Tensor:
        return np.array(output._array)
    return output if is_composite(output) else np.array(output)


def joined(parts: Any) -> Any:
    """The outputs of several batches, concatenated."""
    if is_ragged(parts[0]):
        return tf.concat(list(parts), axis=0)
    if is_sparse(parts[0]):
        return tf.sparse.concat(axis=0, sp_inputs=list(parts), expand_nonconcat_dims=True)
    if is_encoded(parts[0]):
        spec = parts[0]._type_spec
        columns = zip(*[parts_of(spec, each, minimum_rank=1) for each in parts], strict=True)
        whole = spec._unbatch()._batch(None)
        results = ([plain(part) for part in column] for column in columns)
        return value_of(whole, (_tensor(joined(each)) for each in results))
    if len({part.shape[1:] for part in parts}) > 1:
        # Batches were padded to different sizes.
        rank = max(axis for part in parts for axis in _differing(part, parts[0])) or 1
        rows = [tf.RaggedTensor.from_tensor(part, ragged_rank=rank) for part in parts]
        return tf.concat(rows, axis=0)
    return np.concatenate(parts)


def _tensor(value: Any) -> Any:
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def _differing(part: Any, other: Any) -> list[int]:
    """The axes along which two arrays differ in size; 0 if none."""
    sizes = zip(part.shape, other.shape, strict=True)
    return [axis for axis, (one, two) in enumerate(sizes) if axis and one != two] or [0]

"""Ragged and sparse data for fit, evaluate and predict: rows picked, batches put together."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from .kinds import is_ragged, is_sparse


def is_composite(value: Any) -> bool:
    """Whether a value is a ragged or sparse tensor, or a sparse matrix of SciPy."""
    return is_ragged(value) or is_sparse(value) or _is_scipy_matrix(value)


def _is_scipy_matrix(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")


def tensor_of_composite(value: Any) -> Any:
    """A matrix of SciPy as a sparse tensor; anything else as it is."""
    if not _is_scipy_matrix(value):
        return value
    matrix = value.tocoo()
    values = matrix.data
    if values.dtype.kind == "f":
        values = values.astype(tf.keras.backend.floatx())
    indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    return tf.sparse.reorder(tf.SparseTensor(indices, values, matrix.shape))


class CompositeRows:
    """The examples of a ragged or sparse tensor, to be picked by number."""

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
        """The examples in a slice, or at places in any order."""
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
    """An output of a model as NumPy's array, unless it is ragged or sparse."""
    return output if is_ragged(output) or is_sparse(output) else np.asarray(output)


def joined(parts: Any) -> Any:
    """The outputs of several batches as one."""
    if is_ragged(parts[0]):
        return tf.concat(list(parts), axis=0)
    if is_sparse(parts[0]):
        return tf.sparse.concat(axis=0, sp_inputs=list(parts), expand_nonconcat_dims=True)
    if len({part.shape[1:] for part in parts}) > 1:
        # Batches that were padded to different sizes.
        rank = max(axis for part in parts for axis in _differing(part, parts[0])) or 1
        rows = [tf.RaggedTensor.from_tensor(part, ragged_rank=rank) for part in parts]
        return tf.concat(rows, axis=0)
    return np.concatenate(parts)


def _differing(part: Any, other: Any) -> list[int]:
    """The axes along which two arrays have other sizes; 0 if there is none."""
    sizes = zip(part.shape, other.shape, strict=True)
    return [axis for axis, (one, two) in enumerate(sizes) if axis and one != two] or [0]

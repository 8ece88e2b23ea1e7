"""The values of composite tensors, as fetched from and fed to sessions."""

from __future__ import annotations

from collections import namedtuple
from itertools import pairwise

import numpy as np

SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
SparseTensorValue.__doc__ = "A sparse tensor in NumPy arrays."
IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
IndexedSlicesValue.__doc__ = "Rows of a larger tensor in NumPy arrays."


class RaggedTensorValue:
    """A ragged tensor as NumPy arrays."""

    def __init__(self, values, row_splits):
        self.values = values
        self.row_splits = row_splits

    @property
    def flat_values(self):
        inner = self.values
        return inner.flat_values if isinstance(inner, RaggedTensorValue) else inner

    @property
    def nested_row_splits(self):
        inner = self.values
        if isinstance(inner, RaggedTensorValue):
            return (self.row_splits, *inner.nested_row_splits)
        return (self.row_splits,)

    @property
    def dtype(self):
        return self.values.dtype

    def to_list(self):
        """The rows as nested lists."""
        inner = self.values
        rows = inner.to_list() if isinstance(inner, RaggedTensorValue) else inner.tolist()
        splits = self.row_splits.tolist()
        return [rows[a:b] for a, b in pairwise(splits)]

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"


def parts_of(composite):
    """The component tensors of a composite tensor; None for any other value."""
    kind = type(composite).__name__
    if kind == "SparseTensor":
        return [composite.indices, composite.values, composite.dense_shape]
    if kind == "IndexedSlices":
        shape = composite.dense_shape
        return [composite.values, composite.indices, *([] if shape is None else [shape])]
    if kind == "RaggedTensor":
        return [composite.flat_values, *composite.nested_row_splits]
    return None


def composite_value(composite, arrays):
    """The value of a composite tensor, from those of its components."""
    kind = type(composite).__name__
    if kind == "SparseTensor":
        return SparseTensorValue(*arrays)
    if kind == "IndexedSlices":
        values, indices, *shape = arrays
        return IndexedSlicesValue(values, indices, shape[0] if shape else None)
    values = arrays[0]
    for splits in reversed(arrays[1:]):
        values = RaggedTensorValue(values, np.asarray(splits))
    return values

"""sparse_batch: elements of different shapes as the rows of sparse tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import errors, nest
from ..core.convert import constant_value
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from . import cardinality
from .batching import Grouped, batch_size_of
from .dataset import Dataset, number
from .structure import Leaves


class _DenseToSparseBatchDataset(Dataset):
    """Consecutive elements as the rows of a sparse tensor."""

    def __init__(self, dataset: Dataset, batch_size: Any, row_shape: Any) -> None:
        from ..ops.sparse.sparse_tensor import SparseTensorSpec

        spec = dataset.element_spec
        if type(spec) is not TensorSpec:
            kinds = nest.map_structure(lambda each: getattr(each, "dtype", each), spec)
            raise TypeError(
                "`dense_to_sparse_batch` requires an input dataset whose elements have a single "
                f"component, but the given dataset has the following component types: {kinds}."
            )
        self._inputs = (dataset,)
        self._tensors = (batch_size_of(batch_size, "DenseToSparseBatchDataset"),)
        if isinstance(row_shape, Tensor):
            known = constant_value(row_shape)
            row_shape = known if known is None else [None if n < 0 else n for n in known.tolist()]
        self._row = TensorShape(row_shape)
        self._spec = SparseTensorSpec(TensorShape([None]).concatenate(self._row), spec.dtype)

    def _size(self) -> int:
        return cardinality.of_batches(self._inputs[0]._size(), number(self._tensors[0]), False)

    def _elements(self) -> Iterator[Leaves]:
        size = int(self._tensors[0]._array)
        return Grouped(self._inputs[0]._elements(), size, False, self._joined)

    def _joined(self, rows: list[Leaves]) -> Leaves:
        from ..ops.sparse.sparse_tensor import SparseTensor

        arrays = [np.asarray(leaves[0]) for leaves in rows]
        sizes = [self._checked(array) for array in arrays]
        largest = [max(lengths) for lengths in zip(*sizes, strict=True)]
        dense = [
            most if wanted is None else wanted
            for most, wanted in zip(largest, self._row, strict=True)
        ]
        places = [
            np.indices(array.shape).reshape(array.ndim, -1).T
            if array.ndim
            else np.zeros((1, 0), np.int64)
            for array in arrays
        ]
        numbered = [
            np.column_stack([np.full(len(place), row, np.int64), place])
            for row, place in enumerate(places)
        ]
        values = np.concatenate([array.reshape(-1) for array in arrays])
        indices = np.concatenate(numbered).astype(np.int64)
        return [SparseTensor(indices, values, np.array([len(arrays), *dense], np.int64))]

    def _checked(self, array: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = array.shape
        row = self._row.as_list()
        if len(shape) != len(row):
            raise errors.InvalidArgumentError(
                None, None,
                f"Input element had shape ({list(shape)}) that is incompatible with the row shape "
                f"({row}).",
            )  # fmt: skip
        if any(most is not None and size > most for size, most in zip(shape, row, strict=True)):
            raise errors.DataLossError(
                None, None,
                f"Input element had shape ({list(shape)}) that is larger than the row shape "
                f"({row}).",
            )  # fmt: skip
        return shape

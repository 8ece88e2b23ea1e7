"""Elements stacked into batches, and batches taken apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.batchable import part_specs
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import as_dtype
from ..core.tensor import Tensor
from ..core.type_spec import NoneTensorSpec, TensorSpec
from . import cardinality
from .cardinality import UNKNOWN
from .dataset import Dataset, invalid, number, scalar
from .failures import Failed, going_on
from .sources import _rows_in, _slice
from .structure import Leaves, Parts, are_plain, batched, first_sizes, sized_parts, unbatched


def flag(value: Any, name: str) -> bool:
    """A boolean argument that is statically known."""
    if isinstance(value, Tensor):
        known = constant_value(value)
        if known is None:
            raise ValueError(f"`{name}` must be known when the dataset is made, got {value}.")
        return bool(known)
    return bool(value)


def batch_size_of(value: Any, op: str) -> Tensor:
    """The number of elements in a batch."""
    size = scalar(value, name="batch_size")
    known = number(size)
    if known is not None and known < 1:
        raise invalid("Batch size must be greater than zero.", op)
    return size


class _BatchDataset(Dataset):
    """Batches of consecutive elements."""

    def __init__(self, dataset: Dataset, batch_size: Any, drop_remainder: Any) -> None:
        self._inputs = (dataset,)
        self._tensors = (batch_size_of(batch_size, "BatchDatasetV2"),)
        self._drop = flag(drop_remainder, "drop_remainder")
        size = number(self._tensors[0]) if self._drop else None
        self._specs = nest.flatten(dataset.element_spec)
        self._spec = nest.map_structure(lambda spec: batched(spec, size), dataset.element_spec)
        self._parts = Parts(self._specs, nest.flatten(self._spec))

    def _size(self) -> int:
        return cardinality.of_batches(
            self._inputs[0]._size(), number(self._tensors[0]), self._drop
        )  # fmt: skip

    def _elements(self) -> Iterator[Leaves]:
        size = int(self._tensors[0]._array)
        return Grouped(self._inputs[0]._elements(), size, self._drop, self._stacked)

    def _stacked(self, rows: list[Leaves]) -> Leaves:
        columns = zip(*map(self._parts.of, rows), strict=True)
        return self._parts.leaves(
            [
                _joined(spec, column, place)
                for place, (spec, column) in enumerate(zip(self._parts.specs, columns, strict=True))
            ]
        )


class _ParallelBatchDataset(_BatchDataset):
    """The same; the name records that parallel calls were requested."""


class Grouped:
    """Groups of elements, combined; continues after an element that raised an error."""

    def __init__(
        self,
        elements: Iterator[Leaves],
        size: int,
        drop: bool,
        join: Callable[[list[Leaves]], Leaves],
    ) -> None:
        self._elements = elements
        self._size = size
        self._drop = drop
        self._join = join

    def __iter__(self) -> Grouped:
        return self

    def __next__(self) -> Leaves:
        rows = list(itertools.islice(self._elements, self._size))
        if not rows or (self._drop and len(rows) < self._size):
            raise StopIteration
        return self._join(rows)


def stacked(column: Sequence[Any], place: int = 0) -> Any:
    """Stack arrays of equal shapes."""
    first = column[0]
    shape = first.shape
    for number_, each in enumerate(column):
        if each.shape != shape:
            raise errors.InvalidArgumentError(
                None, None,
                f"Cannot batch tensors with different shapes in component {place}. First element "
                f"had shape {list(shape)} and element {number_} had shape {list(each.shape)}. "
                "Use padded_batch or ragged_batch for these.",
            )  # fmt: skip
    if shape == () and first.dtype.kind != "O":
        return np.array(column, first.dtype)
    result = np.empty((len(column), *shape), first.dtype)
    for number_, each in enumerate(column):
        result[number_] = each[()] if shape == () else each
    return result


def _joined(spec: Any, column: Sequence[Any], place: int) -> Any:
    if type(spec) is TensorSpec:
        return stacked(column, place)
    if isinstance(spec, NoneTensorSpec):
        return None
    if hasattr(spec, "ragged_rank"):
        from ..ops.ragged.joining import stack

        return stack(list(column), axis=0).with_row_splits_dtype(spec.row_splits_dtype)
    from ..ops.sparse.shaping import concat, expand_dims

    return concat(0, [expand_dims(each, 0) for each in column], expand_nonconcat_dims=True)


class _UnbatchDataset(Dataset):
    """The rows of the elements."""

    def __init__(self, dataset: Dataset) -> None:
        self._inputs = (dataset,)
        specs = nest.flatten(dataset.element_spec)
        self._spec = nest.map_structure(_row_spec, dataset.element_spec)
        self._parts = Parts(specs, nest.flatten(self._spec))
        sizes = [size for size in first_sizes(sized_parts(specs)) if size is not None]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"Cannot unbatch an input whose components have different batch sizes: {sizes}."
            )
        self._rows = sizes[0] if sizes else None

    def _size(self) -> int:
        size = self._inputs[0]._size()
        if size < 0:
            return size
        return UNKNOWN if self._rows is None else size * self._rows

    def _elements(self) -> Iterator[Leaves]:
        return going_on(self._in_rows, self._inputs[0]._elements())

    def _in_rows(self, elements: Iterator[Any]) -> Iterator[Any]:
        for leaves in elements:
            if type(leaves) is Failed:
                yield leaves
                continue
            parts = self._parts.of(leaves, minimum_rank=1)
            counts = {_rows_in(part) for part in parts if part is not None}
            if len(counts) > 1:
                yield Failed(invalid(
                    f"Input element must have the same batch size in each component, got "
                    f"{sorted(counts)}.", "UnbatchDataset",
                ))  # fmt: skip
                continue
            for index in range(counts.pop()):
                yield self._parts.leaves([_slice(part, index) for part in parts])


def _row_spec(spec: Any) -> Any:
    # The original's message differs between datasets and single specs.
    for part in sized_parts([spec]):
        if getattr(part, "shape", None) is not None and part.shape.rank == 0:
            raise ValueError("Cannot unbatch an input with scalar components.")
    return unbatched(spec)


class _RebatchDataset(Dataset):
    """Batches of another size."""

    def __init__(self, dataset: Dataset, batch_size: Any, drop_remainder: Any) -> None:
        self._inputs = (dataset,)
        sizes = convert_to_tensor(batch_size, dtypes.int64)
        self._tensors = (scalar(sizes),) if sizes.shape.rank == 0 else (sizes,)
        self._drop = flag(drop_remainder, "drop_remainder")
        specs = nest.flatten(dataset.element_spec)
        if any(getattr(getattr(spec, "shape", None), "rank", None) == 0 for spec in specs):
            raise ValueError(
                "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset "
                "with scalar elements. Fix the issue by adding the `batch` transformation to the "
                "dataset."
            )
        self._plain = are_plain([part for spec in specs for part in part_specs(spec)])
        known = constant_value(self._tensors[0])
        flat = [] if known is None else np.ravel(known).tolist()
        if known is not None and min(flat, default=0) < 1:
            raise invalid(f"Batch sizes must be greater than zero, got {flat}.", "RebatchDatasetV2")
        size = flat[0] if self._drop and len(set(flat)) == 1 else None

        self._spec = nest.map_structure(
            lambda spec: batched(unbatched(spec), size), dataset.element_spec
        )
        self._parts = Parts(specs, nest.flatten(self._spec))

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        if not self._plain:
            return self._from_rows()
        return going_on(self._regrouped, self._inputs[0]._elements())

    def _sizes(self) -> Iterator[int]:
        return itertools.cycle(np.ravel(self._tensors[0]._array).tolist())

    def _from_rows(self) -> Iterator[Leaves]:
        """Ragged and sparse tensors, row by row."""
        rows = _UnbatchDataset(self._inputs[0])
        join, elements = _BatchDataset(rows, 1, False)._stacked, rows._elements()
        for wanted in self._sizes():
            group = list(itertools.islice(elements, wanted))
            if not group or (self._drop and len(group) < wanted):
                return
            yield join(group)

    def _regrouped(self, elements: Iterator[Any]) -> Iterator[Any]:
        sizes = self._sizes()
        wanted = next(sizes)
        held: Leaves | None = None
        for leaves in elements:
            if type(leaves) is Failed:
                # The other elements of the same batch are dropped with it.
                held = None
                yield leaves
                continue
            parts = self._parts.of(leaves, minimum_rank=1)
            held = parts if held is None else _appended(held, parts)
            start = 0
            while len(held[0]) - start >= wanted:
                yield self._parts.leaves([part[start : start + wanted] for part in held])
                start += wanted
                wanted = next(sizes)
            held = [part[start:] for part in held]
        if held is not None and len(held[0]) and not self._drop:
            yield self._parts.leaves(held)


def _appended(first: Leaves, second: Leaves) -> Leaves:
    return [np.concatenate(pair) for pair in zip(first, second, strict=True)]


def ragged_batch(dataset: Dataset, size: Any, drop: Any, splits: Any) -> Dataset:
    """See `Dataset.ragged_batch`."""
    from ..ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorSpec

    kind = as_dtype(splits)

    def spec_of(spec: Any) -> Any:
        if type(spec) is not TensorSpec or spec.shape.is_fully_defined():
            return spec
        if spec.shape.rank is None:
            raise ValueError(f"ragged_batch takes tensors of known rank, got elements of {spec}.")
        last = max(axis for axis, length in enumerate(spec.shape) if length is None)
        return RaggedTensorSpec(spec.shape, spec.dtype, last, kind)

    def ragged(spec: Any, leaf: Any) -> Any:
        tensor = Tensor(leaf, spec.dtype)
        if not spec.ragged_rank:
            return tensor
        return RaggedTensor.from_tensor(tensor, ragged_rank=spec.ragged_rank, row_splits_dtype=kind)

    return _BatchDataset(_RaggedDataset(dataset, spec_of, ragged), size, drop)


class _RaggedDataset(Dataset):
    """Tensors of unknown sizes with the specs of ragged tensors' rows."""

    def __init__(
        self,
        dataset: Dataset,
        spec_of: Callable[[Any], Any],
        ragged: Callable[[Any, Any], Any],
    ) -> None:
        self._inputs = (dataset,)
        self._spec = nest.map_structure(spec_of, dataset.element_spec)
        old, new = nest.flatten(dataset.element_spec), nest.flatten(self._spec)
        self._changed = [None if a is b else b for a, b in zip(old, new, strict=True)]
        self._ragged = ragged

    def _elements(self) -> Iterator[Leaves]:
        return map(self._changed_leaves, self._inputs[0]._elements())

    def _changed_leaves(self, leaves: Leaves) -> Leaves:
        return [
            leaf if spec is None else self._ragged(spec, leaf)
            for leaf, spec in zip(leaves, self._changed, strict=True)
        ]

"""Structure of elements: nested structures of tensors, flattened to lists of leaves.

Inside a pipeline an element is a list with one entry per leaf of its spec: a bare NumPy array for a
tensor, the value itself for a composite (ragged and sparse tensors, datasets), None for None.
Tensors are created only for the user.

Tuples, mappings and the like are structure; a list is not: it becomes a tensor, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core import nest
from ..core.batchable import BatchableTypeSpec, part_specs, parts_of, value_of
from ..core.convert import convert_to_tensor
from ..core.tensor import Tensor
from ..core.type_spec import NoneTensorSpec, TensorSpec, TypeSpec, type_spec_from_value
from ..core.variable import Variable

Leaves = list[Any]

_ADVICE = " Extension types that are put into batches derive from BatchableExtensionType."


def normalized(value: Any) -> Any:
    """The structure with tensors, composites or None as its only leaves."""
    if isinstance(value, tuple):
        parts = [normalized(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, Mapping):
        changed = {key: normalized(each) for key, each in value.items()}
        return changed if type(value) is dict else _like(value, changed)
    if hasattr(type(value), "__attrs_attrs__"):
        fields = [field.name for field in type(value).__attrs_attrs__]
        return type(value)(*[normalized(getattr(value, name)) for name in fields])
    return leaf_of(value)


def _like(value: Any, changed: dict[Any, Any]) -> Any:
    copied = value.copy()
    for key, each in changed.items():
        copied[key] = each
    return copied


def leaf_of(value: Any) -> Any:
    """A tensor, a composite of tensors, or None."""
    if value is None or isinstance(value, Tensor):
        return value
    if not isinstance(value, Variable) and isinstance(getattr(value, "_type_spec", None), TypeSpec):
        return value
    return convert_to_tensor(value)


def spec_of(leaf: Any) -> TypeSpec:
    """The spec of a leaf."""
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    return NoneTensorSpec() if leaf is None else type_spec_from_value(leaf)


def specs_of(structure: Any) -> Any:
    """The specs of a normalized structure."""
    return nest.map_structure(spec_of, structure)


def tensors_of(structure: Any) -> list[Tensor]:
    """All component tensors of a normalized structure."""
    return [
        tensor
        for leaf in nest.flatten(structure)
        for tensor in ([leaf] if isinstance(leaf, Tensor) else spec_of(leaf).to_tensors(leaf))
    ]


def leaves_of(specs: Sequence[Any], tensors: Sequence[Tensor]) -> Leaves:
    """The leaves composed of eager tensors."""
    rest = iter(tensors)
    return [
        next(rest)._array if type(spec) is TensorSpec else spec.from_tensors(rest) for spec in specs
    ]


def arrays_of(specs: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The arrays of all component tensors of leaves."""
    arrays: list[Any] = []
    for spec, leaf in zip(specs, leaves, strict=True):
        if type(spec) is TensorSpec:
            arrays.append(leaf)
        else:
            arrays += [tensor._array for tensor in spec.to_tensors(leaf)]
    return arrays


def are_plain(specs: Sequence[Any]) -> bool:
    """Whether all leaves are bare arrays."""
    return all(type(spec) is TensorSpec for spec in specs)


class Packer:
    """Packs leaves into the structure that a user sees."""

    def __init__(self, structure: Any) -> None:
        self.structure = structure
        self.specs = nest.flatten(structure)
        self._dtypes: list[Any] = [getattr(spec, "dtype", None) for spec in self.specs]
        self._plain = are_plain(self.specs)
        self._single = type(structure) is TensorSpec
        self._tuple = type(structure) is tuple and all(
            part is spec for part, spec in zip(structure, self.specs, strict=False)
        )

    def tensors(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves with arrays converted to tensors."""
        if self._plain:
            return [Tensor(a, dtype) for a, dtype in zip(leaves, self._dtypes, strict=True)]
        return [
            Tensor(leaf, dtype) if type(spec) is TensorSpec else leaf
            for leaf, dtype, spec in zip(leaves, self._dtypes, self.specs, strict=True)
        ]

    def element(self, leaves: Sequence[Any]) -> Any:
        """The element as a structure of tensors."""
        if self._single:
            return Tensor(leaves[0], self._dtypes[0])
        return self.packed(self.tensors(leaves))

    def packed(self, values: Sequence[Any]) -> Any:
        """Values, one per leaf, in the structure."""
        if self._tuple:
            return tuple(values)
        return nest.pack_sequence_as(self.structure, list(values))


def row_of(array: Any, index: int) -> Any:
    """A row as an array; a string stays an array of rank 0."""
    row = array[index]
    if array.dtype.kind == "O" and array.ndim == 1:
        held = np.empty((), object)
        held[()] = row
        return held
    return row


def rows_of(arrays: Sequence[Any]) -> Callable[[int], Leaves]:
    """A function from an index to the leaves in that row."""
    if any(array.dtype.kind == "O" and array.ndim == 1 for array in arrays):
        return lambda index: [row_of(array, index) for array in arrays]
    if len(arrays) == 1:
        only = arrays[0]
        return lambda index: [only[index]]
    return lambda index: [array[index] for array in arrays]


def relaxed(first: Any, second: Any, kind: str = "dataset elements") -> Any:
    """The most specific structure of specs that includes both; TypeError if there is none."""
    try:
        nest.assert_same_structure(first, second)
        merged = [
            a.most_specific_common_supertype([b])
            for a, b in zip(nest.flatten(first), nest.flatten(second), strict=True)
        ]
    except (TypeError, ValueError):
        merged = [None]
    if any(each is None for each in merged):
        raise TypeError(f"Incompatible {kind}:\n  {first} vs.   {second}")
    return nest.pack_sequence_as(first, merged)


def batched(spec: Any, size: int | None) -> Any:
    """The spec of a batch of values."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    from .iterators import DatasetSpec

    if isinstance(spec, DatasetSpec):
        raise TypeError("Batching of datasets is not supported: flat_map over them first.")
    if not hasattr(spec, "_batch"):
        raise AttributeError(f"Elements of the type {spec} cannot be put into batches.{_ADVICE}")
    return spec._batch(size)


def unbatched(spec: Any) -> Any:
    """The spec of one value of a batch."""
    if isinstance(spec, NoneTensorSpec):
        return spec
    if not hasattr(spec, "_unbatch"):
        raise AttributeError(f"Values of the type {spec} cannot be taken apart into rows.{_ADVICE}")
    return spec._unbatch()


def sized_parts(specs: Sequence[Any]) -> list[Any]:
    """The specs of all components that have rows."""
    parts = [part for spec in specs for part in part_specs(spec)]
    return [part for part in parts if not isinstance(part, NoneTensorSpec)]


def first_sizes(parts: Sequence[Any]) -> list[int | None]:
    """The static sizes of the first dimension."""
    return [part.shape[0] if part.shape.rank is not None else None for part in parts]


class Parts:
    """Leaves and their components that are stacked or sliced: mostly the leaves themselves."""

    def __init__(self, specs: Sequence[Any], changed: Sequence[Any]) -> None:
        """`specs` of the input leaves, and of those composed of the changed components."""
        self._specs = specs
        self._changed = [(spec, part_specs(spec)) for spec in changed]
        self._same = not any(isinstance(spec, BatchableTypeSpec) for spec in specs)
        self.specs = [part for spec in specs for part in part_specs(spec)]

    def of(self, leaves: Leaves, minimum_rank: int = 0) -> Leaves:
        """The components of leaves."""
        if self._same:
            return leaves
        parts: Leaves = []
        for spec, leaf in zip(self._specs, leaves, strict=True):
            if isinstance(spec, BatchableTypeSpec):
                specs, encoded = part_specs(spec), parts_of(spec, leaf, minimum_rank)
                parts += [
                    convert_to_tensor(part)._array if type(each) is TensorSpec else part
                    for each, part in zip(specs, encoded, strict=True)
                ]
            else:
                parts.append(leaf)
        return parts

    def leaves(self, parts: Leaves) -> Leaves:
        """The leaves composed of changed components."""
        if self._same:
            return parts
        rest = iter(parts)
        return [
            value_of(spec, _as_values(specs, rest))
            if isinstance(spec, BatchableTypeSpec)
            else next(rest)
            for spec, specs in self._changed
        ]


def _as_values(specs: Sequence[Any], parts: Iterator[Any]) -> Iterator[Any]:
    for spec, part in zip(specs, parts, strict=False):
        yield Tensor(part, spec.dtype) if type(spec) is TensorSpec else part

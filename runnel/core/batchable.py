"""Values that go into batches: the parts that stand for them while they are stacked or sliced.

A type that can be batched has a spec with `_batch` and `_unbatch`. Tensors, ragged and sparse
tensors are stacked and sliced as they are. Other values are encoded as such parts first; what is
made of the stacked or sliced parts is decoded with the spec of the batch or of the row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from . import nest
from .type_spec import TypeSpec


class BatchableTypeSpec(TypeSpec):
    """The type of values that are encoded to be stacked, sliced or joined."""

    __slots__ = ()

    @abstractmethod
    def _batch(self, size: int | None) -> Any:
        """The spec of so many values together; None where it is not known how many."""

    @abstractmethod
    def _unbatch(self) -> Any:
        """The spec of one of the values in a batch."""

    @abstractmethod
    def _encode(self, value: Any, minimum_rank: int = 0) -> Any:
        """A nest of tensors and of values that can be batched themselves."""

    @abstractmethod
    def _decode(self, encoded: Any) -> Any:
        """The value that was encoded, or a batch or row of such values."""

    @property
    @abstractmethod
    def _encoding_specs(self) -> Any:
        """A nest of the specs of what values are encoded as."""


def part_specs(spec: Any) -> list[Any]:
    """The specs of all parts that stand for a value."""
    if not isinstance(spec, BatchableTypeSpec):
        return [spec]
    return [part for each in nest.flatten(spec._encoding_specs) for part in part_specs(each)]


def parts_of(spec: Any, value: Any, minimum_rank: int = 0) -> list[Any]:
    """All parts that stand for a value."""
    if not isinstance(spec, BatchableTypeSpec):
        return [value]
    specs = nest.flatten(spec._encoding_specs)
    values = nest.flatten(spec._encode(value, minimum_rank))
    return [
        part
        for each, encoded in zip(specs, values, strict=True)
        for part in parts_of(each, encoded, minimum_rank)
    ]


def value_of(spec: Any, parts: Iterator[Any]) -> Any:
    """The value that the next parts stand for."""
    if not isinstance(spec, BatchableTypeSpec):
        return next(parts)
    specs = spec._encoding_specs
    encoded = [value_of(each, parts) for each in nest.flatten(specs)]
    return spec._decode(nest.pack_sequence_as(specs, encoded))

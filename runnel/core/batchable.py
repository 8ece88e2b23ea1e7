"""Batchable values: their encoding as tensors that can be stacked and sliced.

A batchable type has a spec with `_batch` and `_unbatch`. Tensors, ragged and sparse tensors are
stacked and sliced directly. Other values are first encoded as such components; the stacked or
sliced components are decoded with the spec of the batch or of the row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from . import nest
from .type_spec import TypeSpec


class BatchableTypeSpec(TypeSpec):
    """The type of values that are encoded in order to be stacked, sliced or concatenated."""

    __slots__ = ()

    @abstractmethod
    def _batch(self, size: int | None) -> Any:
        """The spec of a batch of this many values; None if the batch size is unknown."""

    @abstractmethod
    def _unbatch(self) -> Any:
        """The spec of one value of a batch."""

    @abstractmethod
    def _encode(self, value: Any, minimum_rank: int = 0) -> Any:
        """A nest of tensors and of other batchable values."""

    @abstractmethod
    def _decode(self, encoded: Any) -> Any:
        """The value that was encoded, or a batch or row of such values."""

    @property
    @abstractmethod
    def _encoding_specs(self) -> Any:
        """A nest of the specs of the encoded components."""


def part_specs(spec: Any) -> list[Any]:
    """The specs of all components that encode a value."""
    if not isinstance(spec, BatchableTypeSpec):
        return [spec]
    return [part for each in nest.flatten(spec._encoding_specs) for part in part_specs(each)]


def parts_of(spec: Any, value: Any, minimum_rank: int = 0) -> list[Any]:
    """All components that encode a value."""
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
    """The value decoded from the next components."""
    if not isinstance(spec, BatchableTypeSpec):
        return next(parts)
    specs = spec._encoding_specs
    encoded = [value_of(each, parts) for each in nest.flatten(specs)]
    return spec._decode(nest.pack_sequence_as(specs, encoded))

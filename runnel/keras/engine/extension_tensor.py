"""Extension types in functional models."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .keras_tensor import CompositeKerasTensor, KerasTensor


class ExtensionKerasTensor(CompositeKerasTensor):
    """A symbolic value of an extension type, whose component tensors are KerasTensors.

    Layers accept it like the value itself; it has the same fields and properties.
    """

    def __init__(self, spec: Any, parts: list[Any]) -> None:
        self._type_spec = spec
        self._tensors = parts
        self._value = spec.from_tensors(iter(parts))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"A KerasTensor has no attribute {name!r}.")
        return getattr(self._value, name)

    @property
    def shape(self) -> Any:
        return self._type_spec.shape

    @property
    def dtype(self) -> Any:
        return self._type_spec.dtype

    @property
    def _main(self) -> KerasTensor:
        return self._tensors[0]

    def _parts(self) -> list[Any]:
        return self._tensors

    def _of_parts(self, parts: list[Any]) -> Any:
        return self._type_spec.from_tensors(iter(parts))

    def _parts_of_value(self, value: Any) -> list[Any]:
        if isinstance(value, ExtensionKerasTensor):
            return value._tensors
        kind = self._type_spec.value_type
        if not isinstance(value, kind):
            raise TypeError(
                f"The input {self.name!r} of the model takes values of the type {kind.__name__}, "
                f"but got {type(value).__name__}."
            )
        return list(tf.type_spec_from_value(value).to_tensors(value))

    def __str__(self) -> str:
        return (
            f"KerasTensor(type_spec={self._type_spec!r}, "
            f"description=\"created by layer '{self.layer_name}'\")"
        )

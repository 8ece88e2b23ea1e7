"""Optional: an element that may be missing, such as the next one of an exhausted iterator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.context import state
from ..core.op import Op, execute
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from .iterators import Handle, _HandleSpec
from .structure import Packer, arrays_of, leaves_of, normalized, specs_of, tensors_of

_MISSING = "The given optional does not have a value."


def _has_value(optional: Any) -> Any:
    return np.bool_(optional.value is not None)


def _get_value(optional: Any, *, specs: Any, Tout: Any, shapes: Any) -> list[Any]:
    if optional.value is None:
        raise errors.InvalidArgumentError(None, None, f"{_MISSING} [Op:OptionalGetValue]")
    return arrays_of(specs, optional.value)


def _from_value(components: Any, *, specs: Any, Tin: Any) -> Any:
    tensors = [Tensor(array, dtype) for array, dtype in zip(components, Tin, strict=True)]
    return Handle(leaves_of(specs, tensors))


def _next_as_optional(iterator: Any) -> Any:
    try:
        return Handle(iterator.value._advance())
    except StopIteration:
        return Handle(None)


def _scalar(inputs: Any, attrs: Any) -> Any:
    return TensorShape([])


OptionalHasValue = Op("OptionalHasValue", "optional: resource -> has_value: bool", _has_value,
                      _scalar, True, False, {})  # fmt: skip
OptionalGetValue = Op("OptionalGetValue", "optional: resource -> components: *Tout", _get_value,
                      lambda inputs, attrs: attrs["shapes"], True, False, {})  # fmt: skip
OptionalFromValue = Op("OptionalFromValue", "components: *Tin -> optional: resource", _from_value,
                       _scalar, True, False, {})  # fmt: skip
IteratorGetNextAsOptional = Op("IteratorGetNextAsOptional",
                               "iterator: resource -> optional: resource", _next_as_optional,
                               _scalar, True, False, {})  # fmt: skip


class OptionalSpec(_HandleSpec):
    """The type of an optional: the spec of its value."""

    __slots__ = ()

    @classmethod
    def from_value(cls, value: Any) -> OptionalSpec:
        """The spec that describes an optional."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """Optional."""
        return Optional

    def _to_components(self, value: Any) -> Tensor:
        handle: Tensor = value._handle
        return handle

    def _from_components(self, components: Any) -> Any:
        return Optional(components, self._element_spec)


class Optional:
    """A value that may be missing.

    >>> present = tf.experimental.Optional.from_value(42)
    >>> present.has_value().numpy(), present.get_value().numpy()
    (np.True_, np.int32(42))
    """

    def __init__(self, handle: Tensor, element_spec: Any) -> None:
        self._handle = handle
        self._element_spec = element_spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An optional that holds a value."""
        values = normalized(value)
        spec = specs_of(values)
        specs, tensors = nest.flatten(spec), tensors_of(values)
        if state.graph is None:
            return Optional(Tensor(Handle(leaves_of(specs, tensors)), dtypes.resource), spec)
        attrs = {"specs": specs, "Tin": [tensor.dtype for tensor in tensors]}
        return Optional(execute(OptionalFromValue, tuple(tensors), attrs), spec)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An empty optional."""
        return Optional(Tensor(Handle(None), dtypes.resource), element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of the value."""
        return self._element_spec

    @property
    def _type_spec(self) -> OptionalSpec:
        return OptionalSpec(self._element_spec)

    def has_value(self, name: Any = None) -> Tensor:
        """Whether there is a value."""
        found: Tensor = execute(OptionalHasValue, (self._handle,), {})
        return found

    def get_value(self, name: Any = None) -> Any:
        """The value; tf.errors.InvalidArgumentError if there is none."""
        packer = Packer(self._element_spec)
        if state.graph is None and not isinstance(self._handle, SymbolicTensor):
            leaves = self._handle._array.value
            if leaves is None:
                raise errors.InvalidArgumentError(None, None, f"{_MISSING} [Op:OptionalGetValue]")
            return packer.element(leaves)
        parts = [part for spec in packer.specs for part in spec.flatten()]
        attrs = {
            "specs": packer.specs,
            "Tout": [part.dtype for part in parts],
            "shapes": [part.shape for part in parts],
        }
        tensors = iter(execute(OptionalGetValue, (self._handle,), attrs))
        return packer.packed([spec.from_tensors(tensors) for spec in packer.specs])


def get_next_as_optional(iterator: Any) -> Optional:
    """The next element of an iterator, or an empty optional after the last.

    >>> iterator = iter(tf.data.Dataset.range(1))
    >>> [iterator.get_next_as_optional().has_value().numpy() for _ in range(2)]
    [np.True_, np.False_]
    """
    return Optional(
        execute(IteratorGetNextAsOptional, (iterator._handle,), {}), iterator.element_spec
    )

"""Type specs: the static type of a tensor or of a composite of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import nest
from .context import state
from .dtypes import DType, as_dtype, float32, from_numpy
from .shapes import TensorShape, as_shape, row_shape

if TYPE_CHECKING:
    from .tensor import Tensor


# The classes of specs of extension types, by the names that files use for them.
REGISTERED_SPECS: dict[str, type] = {}


class TypeSpec(ABC):
    """The static type of an argument, a result or the state of a traced function.

    A subclass defines what distinguishes its instances (`_serialize`: the constructor's arguments)
    and the component tensors of a value (`_component_specs`, `_to_components` and
    `_from_components`); comparison, hashing, printing and pickling are derived from that.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def value_type(self) -> type:
        """The Python type of the values described."""

    @abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The constructor arguments that recreate an equal spec."""

    @property
    @abstractmethod
    def _component_specs(self) -> Any:
        """A nest of the specs of a value's components."""

    @abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The components of a value, nested like `_component_specs`."""

    @abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value with these components."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls(*serialization)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), self._serialize()

    def __eq__(self, other: object) -> bool:
        pairs = self._paired_with(other)
        return pairs is not None and all(_equal(ours, theirs) for ours, theirs in pairs)

    def __hash__(self) -> int:
        leaves = nest.flatten(self._serialize())
        return hash((type(self), *(_hashable(leaf) for leaf in leaves)))

    def _paired_with(self, other: Any) -> list[tuple[Any, Any]] | None:
        """The leaves of this serialization paired with those of `other`; None if they do not
        correspond.
        """
        if type(other) is not type(self):
            return None
        ours, theirs = self._serialize(), other._serialize()
        try:
            nest.assert_same_structure(ours, theirs)
        except (TypeError, ValueError):
            return None
        return list(zip(nest.flatten(ours), nest.flatten(theirs), strict=True))

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if some value has both this type and that of `spec_or_value`."""
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = type_spec_from_value(spec_or_value)
        pairs = self._paired_with(spec_or_value)
        return pairs is not None and all(
            ours.is_compatible_with(theirs)
            if isinstance(ours, _TYPES) and isinstance(theirs, _TYPES)
            else _equal(ours, theirs)
            for ours, theirs in pairs
        )

    def is_subtype_of(self, other: Any) -> bool:
        """True if every value of this type also is of the type `other`."""
        pairs = self._paired_with(other)
        return pairs is not None and all(
            ours.is_subtype_of(theirs) if isinstance(ours, _TYPES) else _equal(ours, theirs)
            for ours, theirs in pairs
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> Any:
        """The narrowest type of the values of this and all `others`; None if there is none."""
        rows = []
        for other in others:
            pairs = self._paired_with(other)
            if pairs is None:
                return None
            rows.append([theirs for _, theirs in pairs])
        serialization = self._serialize()
        leaves = nest.flatten(serialization)
        for i, ours in enumerate(leaves):
            theirs = [row[i] for row in rows]
            if isinstance(ours, _TYPES):
                leaves[i] = ours.most_specific_common_supertype(theirs)
                if leaves[i] is None:
                    return None
            elif not all(_equal(ours, leaf) for leaf in theirs):
                return None
        return self._deserialize(nest.pack_sequence_as(serialization, leaves))

    def most_specific_compatible_type(self, other: TypeSpec) -> Any:
        """The narrowest type of the values of this and `other`; ValueError if there is none."""
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def flatten(self) -> list[Any]:
        """The specs of a value's component tensors."""
        return [leaf for spec in nest.flatten(self._component_specs) for leaf in spec.flatten()]

    def to_tensors(self, value: Any) -> list[Tensor]:
        """The component tensors of `value`, in the order of `flatten()`."""
        return [
            tensor
            for spec, component in self._components_of(value)
            for tensor in spec.to_tensors(component)
        ]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value reconstructed from the next tensors of an iterator."""
        specs = self._component_specs
        components = [spec.from_tensors(tensors) for spec in nest.flatten(specs)]
        return self._from_components(nest.pack_sequence_as(specs, components))

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A placeholder value of this type, with placeholders in the context's graph."""
        graph = getattr(placeholder_context, "context_graph", None) or state.graph
        if graph is None:
            raise ValueError(
                f"A placeholder for {self!r} belongs to a graph, but the placeholder context has "
                "none and no graph is being built."
            )
        made = [graph.placeholder(spec.dtype, spec.shape) for spec in self.flatten()]
        return self.from_tensors(iter(made))

    def cast(self, value: Any, casting_context: Any) -> Any:
        """The value with its components converted to their specs; TypeError if they cannot be.

        In a context whose `allow_specs` is true a narrower spec may replace a value.
        """
        if self._accepts_spec(value, casting_context):
            return self
        pairs = self._components_of(value)
        components = [spec.cast(component, casting_context) for spec, component in pairs]
        if all(new is old for new, (_, old) in zip(components, pairs, strict=True)):
            return value
        return self._from_components(nest.pack_sequence_as(self._component_specs, components))

    def _accepts_spec(self, value: Any, casting_context: Any) -> bool:
        if not (isinstance(value, TypeSpec) and getattr(casting_context, "allow_specs", False)):
            return False
        if not value.is_subtype_of(self):
            raise AssertionError(f"Can not cast {value!r} to {self!r}")
        return True

    def _components_of(self, value: Any) -> list[tuple[Any, Any]]:
        specs = nest.flatten(self._component_specs)
        components = nest.flatten(self._to_components(value))
        if len(specs) != len(components):
            raise ValueError(
                f"{value!r} has {len(components)} components, but {self!r} describes {len(specs)}."
            )
        return list(zip(specs, components, strict=True))


class TensorSpec(TypeSpec):
    """The shape, the dtype and perhaps the name of a tensor.

    >>> tf.TensorSpec([None, 3], tf.int32)
    TensorSpec(shape=(None, 3), dtype=tf.int32, name=None)
    >>> tf.TensorSpec([None]).is_compatible_with(tf.constant([1.0, 2.0]))
    True
    """

    __slots__ = ("__weakref__", "_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = float32, name: Any = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The shape, possibly partially unknown."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def name(self) -> Any:
        """The name of the argument or tensor described, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """The Python type of the values described: `Tensor`."""
        from .tensor import Tensor

        return Tensor

    @classmethod
    def from_spec(cls, spec: Any, name: Any = None) -> TensorSpec:
        """The spec of the same shape and dtype, under another name if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: Any = None) -> TensorSpec:
        """The spec that describes a tensor.

        >>> tf.TensorSpec.from_tensor(tf.constant([1, 2]), name="x")
        TensorSpec(shape=(2,), dtype=tf.int32, name='x')
        """
        from .tensor import SymbolicTensor, Tensor

        is_tensor = isinstance(tensor, Tensor)
        if not is_tensor:
            raise ValueError(
                f"`tensor` should be a tf.Tensor, but got type {type(tensor)}. "
                "Convert it with tf.convert_to_tensor first."
            )
        if name is None and isinstance(tensor, SymbolicTensor):
            name = tensor.op.name
        return TensorSpec(tensor.shape, tensor.dtype, name)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return value

    def _from_components(self, components: Any) -> Any:
        return components

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}"
            f"(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TensorSpec)
            and type(self) is type(other)
            and self._dtype is other._dtype
            and self._shape._dims == other._shape._dims
            and self._name == other._name
        )

    def __hash__(self) -> int:
        return hash((self._shape._dims, self._dtype))

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """True if some tensor fits both; False for anything that is no tensor or spec."""
        from .tensor import Tensor

        return (
            isinstance(spec_or_tensor, (TensorSpec, Tensor))
            and self._dtype is spec_or_tensor.dtype
            and self._shape.is_compatible_with(spec_or_tensor.shape)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """True if every tensor that fits this spec fits `other`; a name fits only itself."""
        return (
            isinstance(other, TensorSpec)
            and (self._name is None or self._name == other._name)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def flatten(self) -> list[Any]:
        """This spec alone."""
        return [self]

    def to_tensors(self, value: Any) -> list[Tensor]:
        """The value as a tensor that fits this spec, in a list."""
        return [self.cast(value, None)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The next tensor of an iterator."""
        return next(tensors)

    def _batch(self, size: int | None) -> TensorSpec:
        """The spec of a batch of this many tensors."""
        return TensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> TensorSpec:
        """The spec of one row."""
        return TensorSpec(row_shape(self._shape), self._dtype)

    def cast(self, value: Any, casting_context: Any) -> Any:
        """The value as a tensor that fits this spec; TypeError if its dtype or shape do not."""
        from .convert import convert_to_tensor
        from .tensor import Tensor

        if self._accepts_spec(value, casting_context):
            return self
        if not isinstance(value, Tensor):
            value = convert_to_tensor(value, self._dtype)
        if value.dtype is not self._dtype or not self._shape.is_compatible_with(value.shape):
            raise TypeError(
                f"Can not cast {TensorSpec(value.shape, value.dtype, self._name)} to {self}"
            )
        if not value.shape.is_subtype_of(self._shape):
            value.set_shape(self._shape)
        return value


class NoneTensorSpec(TypeSpec):
    """The type of None in a structure of tensors."""

    __slots__ = ()

    @property
    def value_type(self) -> type:
        """The Python type of the value described: NoneType."""
        return type(None)

    def _serialize(self) -> tuple[Any, ...]:
        return ()

    @property
    def _component_specs(self) -> Any:
        return []

    def _to_components(self, value: Any) -> Any:
        return []

    def _from_components(self, components: Any) -> Any:
        return None

    @staticmethod
    def from_value(value: Any) -> NoneTensorSpec:
        """The spec of None."""
        return NoneTensorSpec()

    def most_specific_compatible_shape(self, other: Any) -> NoneTensorSpec:
        """This spec, if the other one is of None, too; otherwise ValueError."""
        if type(other) is not type(self):
            raise ValueError(f"No `TypeSpec` is compatible with both {self} and {other}")
        return self


# Types in a serialization that have subtypes; all others are compared for equality.
_TYPES = (TypeSpec, TensorShape, DType)


def _equal(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray):
        return np.array_equal(ours, theirs)
    return bool(ours == theirs)


def _hashable(leaf: Any) -> Any:
    return (leaf.shape, leaf.tobytes()) if isinstance(leaf, np.ndarray) else leaf


_SPEC_OF: dict[type, Callable[[Any], TypeSpec]] = {}


def register_type_spec(value_type: type, spec_of: Callable[[Any], TypeSpec]) -> None:
    """Register the function by which `type_spec_from_value` describes values of this type."""
    _SPEC_OF[value_type] = spec_of


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, of a composite tensor, or of a value that converts to a tensor.

    >>> tf.type_spec_from_value([1, 2, 3])
    TensorSpec(shape=(3,), dtype=tf.int32, name=None)
    """
    for cls in type(value).__mro__:
        spec_of = _SPEC_OF.get(cls)
        if spec_of is not None:
            return spec_of(value)
    if value is None:
        return NoneTensorSpec()
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    try:
        if isinstance(value, (np.ndarray, np.generic)):
            return TensorSpec(TensorShape.of(value.shape), from_numpy(value.dtype))
        from .convert import convert_to_tensor

        tensor = convert_to_tensor(value)
        return TensorSpec(tensor.shape, tensor.dtype)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}: it is "
            "no tensor, holds no tensors and does not convert to one."
        ) from None

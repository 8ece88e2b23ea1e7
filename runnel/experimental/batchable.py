"""BatchableExtensionType: extension types whose values can be stacked, sliced and concatenated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..core.batchable import BatchableTypeSpec
from ..core.shapes import TensorShape, row_shape
from ..core.type_spec import TypeSpec
from .extensions import ExtensionType, ExtensionTypeSpec


class ExtensionTypeBatchEncoder:
    """Encodes values of an extension type as tensors that are stacked or sliced in their place.

    This one stacks and slices every field. A type for which that is wrong has its own encoder as
    `__batch_encoder__`, with other methods.
    """

    def batch(self, spec: Any, batch_size: Any) -> Any:
        """The spec of this many values: a new first dimension in every spec and shape of it."""

        def changed(each: Any) -> Any:
            if isinstance(each, TensorShape):
                return TensorShape([batch_size]).concatenate(each)
            return each._batch(batch_size) if hasattr(each, "_batch") else each

        return _with_fields(spec, changed)

    def unbatch(self, spec: Any) -> Any:
        """The spec of a value in a batch: the first dimension dropped in every spec and shape."""

        def changed(each: Any) -> Any:
            if isinstance(each, TensorShape):
                return row_shape(each)
            return each._unbatch() if hasattr(each, "_unbatch") else each

        return _with_fields(spec, changed)

    def encode(self, spec: Any, value: Any, minimum_rank: Any = 0) -> Any:
        """The encoding of a value: a nest of tensors, or of batchable values, those in its fields.

        All of them have at least `minimum_rank` dimensions, the outer ones of equal sizes.
        """
        return spec._to_components(value)

    def decode(self, spec: Any, encoded_value: Any) -> Any:
        """The value of a spec, decoded from an encoding or from stacked or sliced ones."""
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec: Any) -> Any:
        """A nest of the specs of the results of `encode`."""
        return spec._component_specs


def _with_fields(spec: Any, changed: Callable[[Any], Any]) -> Any:
    """A spec with a function applied to its fields."""
    fields = spec._field_specs()
    return type(spec)._of({name: _mapped(changed, each) for name, each in fields.items()})


def _mapped(changed: Callable[[Any], Any], field: Any) -> Any:
    if isinstance(field, TypeSpec | TensorShape):
        return changed(field)
    if isinstance(field, tuple):
        return tuple(_mapped(changed, each) for each in field)
    if isinstance(field, Mapping):
        return {key: _mapped(changed, each) for key, each in field.items()}
    return field


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The spec of batchable values, with the encoder of their class."""

    @property
    def _encoder(self) -> ExtensionTypeBatchEncoder:
        encoder: ExtensionTypeBatchEncoder = self._value_class.__batch_encoder__  # type: ignore[attr-defined]
        return encoder

    def _batch(self, size: int | None) -> Any:
        return self._encoder.batch(self, size)

    def _unbatch(self) -> Any:
        return self._encoder.unbatch(self)

    def _encode(self, value: Any, minimum_rank: int = 0) -> Any:
        return self._encoder.encode(self, value, minimum_rank)

    def _decode(self, encoded: Any) -> Any:
        return self._encoder.decode(self, encoded)

    @property
    def _encoding_specs(self) -> Any:
        return self._encoder.encoding_specs(self)


class BatchableExtensionType(ExtensionType):
    """The base class of extension types that datasets, `tf.map_fn` and Keras can batch.

    All tensors, shapes and values in the fields are stacked or sliced; where a batch is defined
    otherwise, `__batch_encoder__` is an `ExtensionTypeBatchEncoder`.

    >>> class Vehicle(tf.experimental.BatchableExtensionType):
    ...     top_speed: tf.Tensor
    ...     mpg: tf.Tensor
    >>> batch = Vehicle([120, 150, 80], [30, 40, 12])
    >>> tf.map_fn(lambda each: each.top_speed * each.mpg, batch, fn_output_signature=tf.int32)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([3600, 6000,  960], dtype=int32)>
    """

    _spec_class: ClassVar[type] = BatchableExtensionTypeSpec

    __batch_encoder__: ClassVar[ExtensionTypeBatchEncoder] = ExtensionTypeBatchEncoder()

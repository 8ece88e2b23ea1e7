"""Ragged and sparse tensors in functional models."""

from __future__ import annotations

import sys
from typing import Any

import runnel as tf

from ...core.convert import register_converter
from ...core.op import COMPOSITES
from ...core.type_spec import register_type_spec
from .keras_tensor import CompositeKerasTensor, KerasTensor, apply_symbolically


class RaggedKerasTensor(CompositeKerasTensor, tf.RaggedTensor):
    """A ragged tensor whose values and row splits are KerasTensors."""

    __hash__ = tf.RaggedTensor.__hash__

    def _adopt(self, composite: Any) -> None:
        composite.__class__ = RaggedKerasTensor

    @property
    def _main(self) -> KerasTensor:
        values = self._values
        return values if isinstance(values, KerasTensor) else values._main

    def _parts_of_value(self, value: Any) -> list[Any]:
        if isinstance(value, tf.Tensor):
            value = tf.RaggedTensor.from_tensor(value, ragged_rank=self.ragged_rank)
        elif not isinstance(value, tf.RaggedTensor):
            raise _not_like(self, value)
        return [value.flat_values, *value.nested_row_splits]


class SparseKerasTensor(CompositeKerasTensor, tf.SparseTensor):
    """A sparse tensor whose indices, values and shape are KerasTensors."""

    @property
    def _main(self) -> KerasTensor:
        return self._values

    def _parts_of_value(self, value: Any) -> list[Any]:
        if isinstance(value, tf.Tensor):
            value = tf.sparse.from_dense(value)
        elif not isinstance(value, tf.SparseTensor):
            raise _not_like(self, value)
        return [value.indices, value.values, value.dense_shape]


def _not_like(tensor: Any, value: Any) -> TypeError:
    return TypeError(
        f"The input {tensor.name!r} of the model takes values like {tensor.type_spec}, but got "
        f"{type(value).__name__}. Make it dense or convert it first."
    )


KINDS = {
    tf.RaggedTensor: RaggedKerasTensor,
    tf.SparseTensor: SparseKerasTensor,
    RaggedKerasTensor: RaggedKerasTensor,
    SparseKerasTensor: SparseKerasTensor,
}


def _called_by_an_operation() -> bool:
    """Whether a member is accessed by a library op, not by a user or a layer."""
    return (
        sys._getframe(2).f_globals.get("__name__", "").startswith(("runnel.ops.", "runnel.core."))
    )


def _method(kind: type, name: str) -> Any:
    plain = getattr(kind, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _called_by_an_operation():
            return plain(self, *args, **kwargs)
        from ..layers.op_lambda import InstanceMethod

        arguments = {"args": list(args), "kwargs": kwargs}
        return apply_symbolically(InstanceMethod(name), self, (), arguments)

    method.__name__, method.__doc__ = name, plain.__doc__
    return method


def _property(kind: type, name: str) -> Any:
    plain = getattr(kind, name).fget

    def get(self: Any) -> Any:
        if _called_by_an_operation():
            return plain(self)
        from ..layers.op_lambda import InstanceProperty

        return apply_symbolically(InstanceProperty(name), self, (), {})

    return property(get, doc=plain.__doc__)


# User calls of these become layers of the model, as in the original.
RAGGED_PROPERTIES = ("values", "flat_values", "row_splits", "nested_row_splits")
RAGGED_METHODS = (
    "value_rowids", "nested_value_rowids", "nrows", "row_starts", "row_limits", "row_lengths",
    "nested_row_lengths", "bounding_shape", "with_values", "with_flat_values",
    "with_row_splits_dtype", "merge_dims", "to_tensor", "to_sparse",
)  # fmt: skip
SPARSE_PROPERTIES = ("indices", "values", "dense_shape")
MEMBERS = frozenset({*RAGGED_PROPERTIES, *RAGGED_METHODS, *SPARSE_PROPERTIES})

for _name in RAGGED_PROPERTIES:
    setattr(RaggedKerasTensor, _name, _property(tf.RaggedTensor, _name))
for _name in RAGGED_METHODS:
    setattr(RaggedKerasTensor, _name, _method(tf.RaggedTensor, _name))
for _name in SPARSE_PROPERTIES:
    setattr(SparseKerasTensor, _name, _property(tf.SparseTensor, _name))
for _kind in (RaggedKerasTensor, SparseKerasTensor):
    COMPOSITES.add(_kind)
    register_converter(_kind, lambda value, dtype: value)
    register_type_spec(_kind, lambda value: value._type_spec)

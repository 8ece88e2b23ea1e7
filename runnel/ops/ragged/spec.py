"""RaggedTensorSpec: the type of a ragged tensor."""

from __future__ import annotations

from ...core.convert import convert_to_tensor, tensor_of
from ...core.dtypes import as_dtype, float32, int64
from ...core.shapes import TensorShape, row_shape
from ...core.tensor import Tensor
from ...core.type_spec import TensorSpec, TypeSpec
from ..array.arguments import INDEX
from . import ragged_tensor
from .row_partition import partition_of


class RaggedTensorSpec(TypeSpec):
    """The shape, dtype, number of ragged dimensions and dtype of the row splits.

    >>> tf.RaggedTensorSpec([None, None, 2], tf.int32, ragged_rank=1)
    RaggedTensorSpec(TensorShape([None, None, 2]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("__weakref__", "_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype",
                 "_shape")  # fmt: skip

    def __init__(
        self,
        shape=None,
        dtype=float32,
        ragged_rank=None,
        row_splits_dtype=int64,
        flat_values_spec=None,
    ):
        self._shape = TensorShape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is None:
                dtype = flat_values_spec.dtype
            elif as_dtype(dtype) is not flat_values_spec.dtype:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype = as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        if self._row_splits_dtype not in INDEX:
            raise ValueError(
                f"row_splits_dtype must be int32 or int64, got {self._row_splits_dtype.name}."
            )
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value):
        """The spec that describes a ragged tensor."""
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def shape(self):
        """The static shape; None for ragged and unknown dimensions."""
        return self._shape

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self):
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self):
        """The spec of the innermost values where it was given, or None."""
        return self._flat_values_spec

    @property
    def value_type(self):
        """RaggedTensor, or Tensor where no dimension is ragged."""
        return ragged_tensor.RaggedTensor if self._ragged_rank else Tensor

    def _serialize(self):
        parts = self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    @property
    def _component_specs(self):
        if not self._ragged_rank:
            return [TensorSpec(self._shape, self._dtype)]
        rank, shape = self._ragged_rank, self._shape
        flat = self._flat_values_spec
        if flat is None:
            inner = shape[rank + 1 :] if shape.rank is not None else TensorShape(None)
            flat = TensorSpec(TensorShape([None]).concatenate(inner), self._dtype)
        rows = shape[0] if shape.rank is not None else None
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        inner_splits = TensorSpec([None], self._row_splits_dtype)
        return [flat, outer, *[inner_splits] * (rank - 1)]

    def _to_components(self, value):
        if isinstance(value, ragged_tensor.RaggedTensor):
            return [value.flat_values, *value.nested_row_splits]
        return [value]

    def _from_components(self, components):
        flat, *nested = components
        if not nested:
            return flat
        if not isinstance(flat, Tensor):
            flat = convert_to_tensor(flat)
        partitions = []
        for axis, splits in enumerate(nested, 1):
            if not isinstance(splits, Tensor):
                splits = convert_to_tensor(splits, self._row_splits_dtype)
            size = self._shape[axis] if self._shape.rank is not None else None
            kind = splits.dtype
            uniform = None if size is None else tensor_of(kind.as_numpy_dtype(size), kind)
            partitions.append(partition_of(splits, uniform))
        return ragged_tensor.nest_values(partitions, flat)

    def _batch(self, size):
        """The spec of this many values, stacked."""
        shape = TensorShape([size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self):
        """The spec of a row."""
        shape, rank = row_shape(self._shape), self._ragged_rank - 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def is_compatible_with(self, spec_or_value):
        """True if a value could have both this type and that of `spec_or_value`."""
        if not self._ragged_rank:
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

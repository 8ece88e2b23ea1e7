"""The type specs of row partitions and ragged shapes: their static properties."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.batchable import BatchableTypeSpec
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, bool as boolean, int64
from ...core.shapes import TensorShape
from ...core.type_spec import TensorSpec, TypeSpec
from ..array.arguments import INDEX
from .dynamic_shape import DynamicRaggedShape
from .row_partition import RowPartition, partition_of
from .spec import RaggedTensorSpec


def _product(first, second):
    return None if first is None or second is None else first * second


def _with_length(partition, length):
    """A partition with a static uniform row length, where there is one."""
    if length is None or partition.is_uniform():
        return partition
    return partition_of(partition.row_splits(), convert_to_tensor(length, partition.dtype))


class RowPartitionSpec(TypeSpec):
    """The numbers of rows and values, the uniform row length, and the dtype."""

    __slots__ = ("__weakref__", "_dtype", "_sizes")

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype=int64):
        self._sizes = TensorShape([nrows, nvals, uniform_row_length])
        self._dtype = as_dtype(dtype)
        if self._dtype not in INDEX:
            raise ValueError(f"dtype must be tf.int32 or tf.int64, got {self._dtype.name}.")

    @classmethod
    def from_value(cls, value):
        """The spec that describes a row partition."""
        nrows, length = value.static_nrows, value.static_uniform_row_length
        nvals = value.static_nvals
        return cls(nrows, _product(nrows, length) if nvals is None else nvals, length, value.dtype)

    @property
    def nrows(self):
        """The number of rows; None if unknown."""
        return self._sizes[0]

    @property
    def nvals(self):
        """The number of values; None if unknown."""
        return self._sizes[1]

    @property
    def uniform_row_length(self):
        """The length of all rows; None if they differ or it is unknown."""
        return self._sizes[2]

    @property
    def dtype(self):
        """The dtype of the partition's tensors."""
        return self._dtype

    @property
    def value_type(self):
        """RowPartition."""
        return RowPartition

    def _serialize(self):
        return self._sizes, self._dtype

    @classmethod
    def _deserialize(cls, serialization):
        sizes, dtype = serialization
        return cls(*sizes, dtype)

    def __reduce__(self):
        return type(self), (*self._sizes, self._dtype)

    def __repr__(self):
        return (
            f"RowPartitionSpec(nrows={self.nrows}, nvals={self.nvals}, "
            f"uniform_row_length={self.uniform_row_length}, dtype={self._dtype!r})"
        )

    @property
    def _component_specs(self):
        return TensorSpec([None if self.nrows is None else self.nrows + 1], self._dtype)

    def _to_components(self, value):
        return value.row_splits()

    def _from_components(self, components):
        return _with_length(partition_of(components), self.uniform_row_length)

    def flatten(self):
        """The spec of the row splits."""
        return [self._component_specs]

    def to_tensors(self, value):
        """The row splits."""
        return [value.row_splits()]

    def from_tensors(self, tensors):
        """The partition of the next row splits."""
        return self._from_components(next(tensors))


def _agreed(first, second):
    """The common static size of two that are equal where both are known."""
    if first is not None and second is not None and first != second:
        raise ValueError(f"Dimensions {first} and {second} are not compatible")
    return second if first is None else first


def _completed(partitions, inner, dtype):
    """The specs of row partitions and the inner shape, each completed from the others."""
    sizes = [[each.nrows, each.nvals, each.uniform_row_length] for each in partitions]
    count = inner[0] if partitions and inner.rank is not None else None
    for _ in range(2):  # static sizes propagate in both directions
        for index in reversed(range(len(sizes))):
            nrows, nvals, length = sizes[index]
            after = sizes[index + 1][0] if index + 1 < len(sizes) else count
            nvals = _agreed(_agreed(nvals, after), _product(nrows, length))
            if nrows is None and nvals is not None and length:
                nrows = nvals // length
            sizes[index] = [nrows, nvals, length]
            if index + 1 < len(sizes):
                sizes[index + 1][0] = nvals
            else:
                count = nvals
    specs = tuple(RowPartitionSpec(*each, dtype) for each in sizes)
    if partitions and inner.rank is not None:
        inner = TensorShape([count]).concatenate(inner[1:])
    return specs, inner


class DynamicRaggedShapeSpec(BatchableTypeSpec):
    """The type of a ragged shape: specs of its row partitions, and its static inner shape.

    >>> tf.experimental.DynamicRaggedShape.Spec([], tf.TensorShape([2, None]), tf.int64)
    DynamicRaggedShape.Spec(row_partitions=(), static_inner_shape=..., dtype=tf.int64)
    """

    __slots__ = ("__weakref__", "_dtype", "_row_partitions", "_static_inner_shape")

    def __init__(self, row_partitions, static_inner_shape, dtype):
        if not isinstance(row_partitions, Iterable):
            raise TypeError("row_partitions should be an Iterable")
        row_partitions = tuple(row_partitions)
        if not all(isinstance(each, RowPartitionSpec) for each in row_partitions):
            raise TypeError("row_partitions should be an Iterable of RowPartitionSpecs")
        self._dtype = as_dtype(dtype)
        if self._dtype not in INDEX:
            raise ValueError("dtype must be tf.int32 or tf.int64")
        if any(each.dtype is not self._dtype for each in row_partitions):
            raise ValueError(
                f"dtype of row_partitions must be {self._dtype!r}, got {row_partitions}."
            )
        inner = TensorShape(static_inner_shape)
        if row_partitions and inner.rank == 0:
            raise ValueError("If row_partitions are provided, must have inner_rank > 0")
        found = _completed(row_partitions, inner, self._dtype)
        self._row_partitions, self._static_inner_shape = found

    @classmethod
    def from_value(cls, value):
        """The spec that describes a ragged shape."""
        partitions = [RowPartitionSpec.from_value(each) for each in value.row_partitions]
        return cls(partitions, value._static_inner_shape, value.dtype)

    @property
    def dtype(self):
        """The dtype of the sizes, int32 or int64."""
        return self._dtype

    @property
    def num_row_partitions(self):
        """The number of partitioned dimensions."""
        return len(self._row_partitions)

    @property
    def inner_rank(self):
        """The rank of the flat values; None if unknown."""
        return self._static_inner_shape.rank

    @property
    def rank(self):
        """The number of dimensions; None if unknown."""
        return None if self.inner_rank is None else self.inner_rank + self.num_row_partitions

    def with_dtype(self, dtype):
        """The same type with sizes of this dtype."""
        dtype = as_dtype(dtype)
        partitions = [RowPartitionSpec(*each._sizes, dtype) for each in self._row_partitions]
        return DynamicRaggedShapeSpec(partitions, self._static_inner_shape, dtype)

    @property
    def value_type(self):
        """DynamicRaggedShape."""
        return DynamicRaggedShape

    def static_shape(self):
        """The static sizes; None where rows have different lengths."""
        if not self._row_partitions:
            return self._static_inner_shape
        lengths = [each.uniform_row_length for each in self._row_partitions]
        outer = TensorShape([self._row_partitions[0].nrows, *lengths])
        inner = self._static_inner_shape
        return TensorShape(None) if inner.rank is None else outer.concatenate(inner[1:])

    def _serialize(self):
        return self._row_partitions, self._static_inner_shape, self._dtype

    def __repr__(self):
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions!r}, "
            f"static_inner_shape={self._static_inner_shape!r}, dtype={self._dtype!r})"
        )

    @property
    def _component_specs(self):
        return [TensorSpec([self.inner_rank], self._dtype), *self._row_partitions]

    def _to_components(self, value):
        return [value.inner_shape, *value.row_partitions]

    def _from_components(self, components):
        inner, *partitions = components
        return DynamicRaggedShape(
            partitions, inner, self._dtype, static_inner_shape=self._static_inner_shape
        )

    # In batches a shape is a tensor of that shape.

    def _batch(self, size):
        inner = self._static_inner_shape
        if self.rank == 0:
            return DynamicRaggedShapeSpec([], [size], self._dtype)
        shape = self.static_shape()
        rows = RowPartitionSpec(size, _product(size, shape[0]), shape[0], self._dtype)
        others = [
            RowPartitionSpec(
                _product(size, each.nrows), _product(size, each.nvals), each.uniform_row_length,
                self._dtype,
            )
            for each in self._row_partitions
        ]  # fmt: skip
        inner = TensorShape([_product(size, inner[0])]).concatenate(inner[1:])
        return DynamicRaggedShapeSpec([rows, *others], inner, self._dtype)

    def _unbatch(self):
        inner = self._static_inner_shape
        if not self._row_partitions:
            if inner.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
            return DynamicRaggedShapeSpec([], inner[1:], self._dtype)
        first, *others = self._row_partitions
        count = first.uniform_row_length
        specs = []
        for each in others:
            length = each.uniform_row_length
            specs.append(RowPartitionSpec(count, _product(count, length), length, self._dtype))
            count = _product(count, length)
        return DynamicRaggedShapeSpec(
            specs, TensorShape([count]).concatenate(inner[1:]), self._dtype
        )

    @property
    def _encoding_specs(self):
        shape, depth = self.static_shape(), self.num_row_partitions
        if not depth and (shape.rank == 0 or shape.is_fully_defined()):
            return TensorSpec(shape, boolean)
        return RaggedTensorSpec(shape, boolean, depth, self._dtype)

    def _encode(self, value, minimum_rank=0):
        return value._ones()

    def _decode(self, encoded):
        shape = DynamicRaggedShape.from_tensor(encoded, self._dtype)
        shape = shape._with_num_row_partitions(self.num_row_partitions)
        pairs = zip(shape.row_partitions, self._row_partitions, strict=True)
        parts = [_with_length(part, spec.uniform_row_length) for part, spec in pairs]
        return DynamicRaggedShape(
            parts, shape.inner_shape, self._dtype, static_inner_shape=shape._static_inner_shape
        )


DynamicRaggedShapeSpec.__qualname__ = "DynamicRaggedShape.Spec"

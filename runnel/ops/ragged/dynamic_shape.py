"""DynamicRaggedShape: the shape of a ragged tensor, including its row lengths."""

from __future__ import annotations

from ...core.convert import (
    constant_shape,
    constant_value,
    convert_to_tensor,
    register_converter,
)
from ...core.dtypes import as_dtype, bool as boolean, int32, int64
from ...core.op import COMPOSITES, CompositeInput, unsupported
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, joining, shaping
from ..array.arguments import INDEX
from ..math import casting, comparison
from . import elementwise
from .ragged_tensor import RaggedTensor, nest_values
from .row_partition import RowPartition, integer


class DynamicRaggedShape:
    """Row partitions and the shape of the flat values: what `tf.shape` returns for ragged tensors.

    >>> tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
    <DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>
    """

    __hash__ = None  # type: ignore[assignment]
    Spec: type

    def __init__(
        self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None
    ):
        if not isinstance(row_partitions, list | tuple) or not all(
            isinstance(each, RowPartition) for each in row_partitions
        ):
            raise TypeError(
                f"row_partitions should be a list of row partitions, got {row_partitions!r}."
            )
        if dtype is None:
            dtype = row_partitions[0].dtype if row_partitions else None
        if dtype is None:
            dtype = inner_shape.dtype if isinstance(inner_shape, Tensor) else int64
        dtype = as_dtype(dtype)
        if dtype not in INDEX:
            raise ValueError(f"dtype must be int32 or int64, got {dtype.name}.")
        if not isinstance(inner_shape, Tensor):
            inner_shape = convert_to_tensor(inner_shape, dtype)
        self._inner_shape = integer(inner_shape, dtype)
        self._inner_shape.shape.assert_has_rank(1)
        self._row_partitions = tuple(each.with_dtype(dtype) for each in row_partitions)
        self._dtype = dtype
        if static_inner_shape is None:
            static_inner_shape = constant_shape(self._inner_shape)
        self._static_inner_shape = TensorShape(static_inner_shape)

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """The shape of a tensor or ragged tensor."""
        if isinstance(t, RaggedTensor):
            dtype = t.row_splits.dtype if dtype is None else as_dtype(dtype)
            partitions, flat = t._nested_row_partitions, t.flat_values
        else:
            partitions, flat, dtype = [], convert_to_tensor(t), as_dtype(dtype or int64)
        return cls(partitions, shaping.sizes_of(flat, dtype), dtype, static_inner_shape=flat.shape)

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=int64):
        """The shape with a size, or a list of the lengths of all rows, for each dimension.

        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (1, 2), 3])
        <DynamicRaggedShape lengths=[2, (1, 2), 3] num_row_partitions=1>
        """
        if not isinstance(lengths, list | tuple):
            raise ValueError("lengths should be a list or tuple")
        dtype = as_dtype(dtype)
        ragged = [axis for axis, each in enumerate(lengths) if isinstance(each, list | tuple)]
        depth = ragged[-1] if ragged else 0
        if num_row_partitions is not None:
            if num_row_partitions < depth or num_row_partitions >= max(len(lengths), 1):
                raise ValueError(
                    f"num_row_partitions must be from {depth} to {len(lengths) - 1}, got "
                    f"{num_row_partitions}."
                )
            depth = num_row_partitions
        if 0 in ragged:
            raise ValueError("The first dimension is a number of rows, not a list of lengths.")
        partitions, count = [], lengths[0] if lengths else 1
        for each in lengths[1 : depth + 1]:
            if isinstance(each, list | tuple):
                if len(each) != count:
                    raise ValueError(f"{len(each)} lengths are given for {count} rows: {each}.")
                row_lengths = convert_to_tensor(list(each), dtype)
                partitions.append(RowPartition.from_row_lengths(row_lengths))
                count = sum(each)
            else:
                partitions.append(
                    RowPartition.from_uniform_row_length(each, count * each, count, dtype=dtype)
                )
                count *= each
        inner = [count, *lengths[depth + 1 :]] if lengths else []
        return cls(partitions, convert_to_tensor(inner, dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """The shape of a ragged tensor whose flat values are a vector."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        inner = shaping.reshape(row_partitions[-1].nvals(), [1])
        return cls(row_partitions, inner, dtype)

    @property
    def dtype(self):
        """The dtype of the sizes, int32 or int64."""
        return self._dtype

    @property
    def row_partitions(self):
        """The row partitions of the dimensions after the first."""
        return self._row_partitions

    @property
    def num_row_partitions(self):
        """The number of partitioned dimensions."""
        return len(self._row_partitions)

    @property
    def inner_shape(self):
        """The shape of the flat values, a vector."""
        return self._inner_shape

    @property
    def inner_rank(self):
        """The rank of the flat values; None if unknown."""
        return self._static_inner_shape.rank

    @property
    def rank(self):
        """The number of dimensions; None if unknown."""
        inner = self.inner_rank
        return None if inner is None else inner + self.num_row_partitions

    @property
    def _type_spec(self):
        return DynamicRaggedShapeSpec.from_value(self)

    # Public functions read the shape of a size argument: that of a vector.
    @property
    def shape(self):
        return TensorShape([self.rank])

    def with_dtype(self, dtype):
        """The same shape with sizes of this dtype."""
        return DynamicRaggedShape(
            self._row_partitions,
            self._inner_shape,
            as_dtype(dtype),
            static_inner_shape=self._static_inner_shape,
        )

    def _with_num_row_partitions(self, count):
        """The same shape with at least this many row partitions on its first dimensions."""
        inner = self._inner_shape
        partitions = list(self._row_partitions)
        static = list(self._static_inner_shape)
        while len(partitions) < count:
            # The next inner dimension becomes rows of equal length.
            rows, length = (
                inner[place] if size is None else convert_to_tensor(size, self._dtype)
                for place, size in enumerate(static[:2])
            )
            partitions.append(
                RowPartition.from_uniform_row_length(
                    length, rows * length, rows, validate=False, dtype=self._dtype
                )
            )
            inner = joining.concat([shaping.reshape(rows * length, [1]), inner[2:]], 0)
            total = None if None in static[:2] else static[0] * static[1]
            static = [total, *static[2:]]
        return DynamicRaggedShape(partitions, inner, self._dtype, static_inner_shape=static)

    def is_uniform(self, axis):
        """Whether all rows along an axis have equal length by construction."""
        rank = self.rank
        if axis < 0 or (rank is not None and axis >= rank):
            raise IndexError(f"Expected 0 <= axis < {rank}, got {axis}.")
        between = 0 < axis <= self.num_row_partitions
        return not between or self._row_partitions[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths=True):
        """The static part of each dimension: a size, the lengths of its rows, or None."""
        found = []
        if self._row_partitions:
            found.append(self._row_partitions[0].static_nrows)
        for partition in self._row_partitions:
            size = partition.static_uniform_row_length
            lengths = constant_value(partition.row_lengths()) if ragged_lengths else None
            known = None if lengths is None else tuple(lengths.tolist())
            found.append(known if size is None else size)
        inner = list(self._static_inner_shape) if self.inner_rank is not None else []
        return found + inner[1:] if self._row_partitions else inner

    def __getitem__(self, index):
        """The size of a uniform dimension, or the shape of the first dimensions."""
        if isinstance(index, slice):
            return self._sliced(index)
        rank, place = self.rank, int(index)
        if rank is not None and not -rank <= place < rank:
            raise IndexError(f"Index must have an absolute value less than {rank}, got {index}.")
        if place < 0:
            if rank is None:
                raise ValueError("Rank must be known to use a negative index.")
            place += rank
        depth = self.num_row_partitions
        if place > depth or not depth:
            return self._inner_shape[place - depth]
        if place == 0:
            return self._row_partitions[0].nrows()
        if not self.is_uniform(place):
            raise ValueError(f"Index {place} is not uniform")
        return self._row_partitions[place - 1].uniform_row_length()

    def _sliced(self, key):
        rank = self.rank
        start, stop, step = key.indices(rank if rank is not None else self.num_row_partitions + 1)
        if step != 1:
            raise IndexError("Cannot stride through a shape")
        depth = self.num_row_partitions
        if start == 0:
            if stop > depth:
                inner = self._inner_shape[: stop - depth]
                return DynamicRaggedShape(self._row_partitions, inner, self._dtype)
            if stop <= 1:
                sizes = joining.stack([self[0]]) if stop else self._inner_shape[:0]
                return DynamicRaggedShape([], sizes, int64)
            kept = self._row_partitions[: stop - 1]
            return DynamicRaggedShape.from_row_partitions(kept, self._dtype)
        if any(not self.is_uniform(axis) for axis in range(min(stop, depth + 1))):
            raise ValueError("All relevant dimensions must be uniform")
        sizes = [self[axis] for axis in range(start, stop)]
        return DynamicRaggedShape([], joining.stack(sizes) if sizes else self._inner_shape[:0])

    def __eq__(self, other):
        if not isinstance(other, DynamicRaggedShape):
            return NotImplemented
        if self.rank != other.rank or self.num_row_partitions != other.num_row_partitions:
            return False
        from ..math import reduction

        other = other.with_dtype(self._dtype)
        same = reduction.reduce_all(comparison.equal(self._inner_shape, other._inner_shape))
        for ours, theirs in zip(self._row_partitions, other._row_partitions, strict=True):
            same = comparison.logical_and(same, convert_to_tensor(ours.same_as(theirs)))
        return same

    def __repr__(self):
        lengths = [str(each) for each in self.static_lengths()]
        return (
            f"<DynamicRaggedShape lengths=[{', '.join(lengths)}] "
            f"num_row_partitions={self.num_row_partitions}>"
        )

    # The interface to operations.

    @property
    def _array(self):
        raise CompositeInput(self)

    @property
    def _sizes(self):
        return self.shape._dims

    def _execute(self, op, inputs, attrs):
        rule = _RULES.get(op.name)
        if rule is None:
            raise unsupported()(
                f"The operation {op.name} does not take a DynamicRaggedShape; give it the size of "
                "a dimension (shape[0]) or a shape without ragged dimensions."
            )
        return rule(*inputs)

    def _ones(self):
        """A tensor or ragged tensor of ones of this shape, with the same static shape."""
        flat = creation.ones(self._inner_shape, boolean)
        flat.set_shape(self._static_inner_shape)
        return nest_values(self._row_partitions, flat)

    def _of(self, flat):
        """The ragged tensor of this shape with these flat values."""
        return nest_values(self._row_partitions, shaping.reshape(flat, self._inner_shape))


def shape_of(value, dtype):
    """The result of `tf.shape` for a ragged tensor."""
    return DynamicRaggedShape.from_tensor(value, dtype)


def _template(value):
    """A tensor of a shape, to broadcast with."""
    if isinstance(value, DynamicRaggedShape):
        return value._of(creation.zeros(value.inner_shape, int32))
    return creation.zeros(value, int32)


def _reshape(value, shape):
    return shape._of(value if isinstance(value, Tensor) else value.flat_values)


def _broadcast(value, shape):
    (flat, template), partitions = elementwise.aligned([value, _template(shape)])
    return nest_values(partitions, shaping.broadcast_to(flat, shaping.shape(template)))


def _broadcast_shapes(first, second):
    (one, other), partitions = elementwise.aligned([_template(first), _template(second)])
    dtype = (first if isinstance(first, DynamicRaggedShape) else second).dtype
    sizes = shaping.broadcast_dynamic_shape(shaping.shape(one), shaping.shape(other))
    return DynamicRaggedShape(list(partitions), casting.cast(sizes, dtype), dtype)


def _fill(dims, value):
    return dims._of(creation.fill(dims.inner_shape, value))


_RULES = {
    "Reshape": _reshape,
    "BroadcastTo": _broadcast,
    "BroadcastArgs": _broadcast_shapes,
    "Fill": _fill,
}


def _as_input(value, dtype):
    return value if dtype is None or dtype is value.dtype else value.with_dtype(dtype)


COMPOSITES.add(DynamicRaggedShape)
register_converter(DynamicRaggedShape, _as_input)

from .shape_specs import DynamicRaggedShapeSpec  # noqa: E402  (it is written on the class)

DynamicRaggedShape.Spec = DynamicRaggedShapeSpec

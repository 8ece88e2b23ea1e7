"""Element-wise operations on ragged tensors: on the flat values, once the rows match."""

from __future__ import annotations

from ...core.convert import constant_value, tensor_of
from ...core.op import execute
from ...core.tensor import Tensor
from ..array import creation, gathering, shaping
from ..math import arithmetic, casting, comparison, reduction
from . import conversion, ragged_tensor
from .row_partition import (
    RowPartition,
    count_of,
    integer,
    partition_of,
    require,
    require_same_dtypes,
    splits_of_lengths,
)

_MISMATCH = (
    "Unable to broadcast: dimension size mismatch. Ragged rows must have equal lengths; only "
    "uniform dimensions of size 1 stretch."
)


def apply(op, inputs, attrs):
    """An element-wise op on inputs of which one at least is ragged."""
    flat, partitions = aligned(inputs)
    result = execute(op, tuple(flat), attrs)
    if isinstance(result, list):
        return [ragged_tensor.nest_values(partitions, each) for each in result]
    return ragged_tensor.nest_values(partitions, result)


def aligned(inputs):
    """Flat values of all inputs that broadcast together, and the partitions of their rows."""
    ragged = [each for each in inputs if not isinstance(each, Tensor)]
    require_same_dtypes(ragged)
    first = ragged[0]._nested_row_partitions
    scalars = all(each.shape.rank == 0 for each in inputs if isinstance(each, Tensor))
    if scalars and all(_surely_same(first, each) for each in ragged[1:]):
        return [_flat(each) for each in inputs], first
    ranks = [each.shape.rank for each in inputs]
    if None in ranks:
        if not scalars or any(each.ragged_rank != len(first) for each in ragged):
            raise ValueError("Ragged tensors of unknown rank broadcast only with scalars.")
        for each in ragged[1:]:
            for ours, theirs in zip(first, each._nested_row_partitions, strict=True):
                require(ours.same_as(theirs), _MISMATCH)
        return [_flat(each) for each in inputs], first
    return _broadcast(inputs, max(ranks))


def _flat(value):
    return value if isinstance(value, Tensor) else value.flat_values


def _surely_same(partitions, value):
    others = value._nested_row_partitions
    return len(others) == len(partitions) and all(
        ours.same_as(theirs) is True for ours, theirs in zip(partitions, others, strict=True)
    )


class _Operand:
    """One input, descended through its dimensions: its index for every row of the result."""

    def __init__(self, value, rank, depth, dtype):
        self.pad = rank - value.shape.rank
        ragged = 0 if isinstance(value, Tensor) else value.ragged_rank
        flat = _flat(value)
        sizes = shaping.sizes_of(flat, dtype)
        # Dimensions 0 to `depth`: a partition where rows differ, else a common size.
        self.dimensions = [integer(1, dtype)] * self.pad
        if ragged:
            self.dimensions.append(count_of(value, dtype))
            for partition in value._nested_row_partitions:
                uniform = partition._uniform_row_length
                self.dimensions.append(partition.with_dtype(dtype) if uniform is None else
                                       integer(uniform, dtype))  # fmt: skip
            extra = depth - self.pad - ragged
            self.dimensions += [sizes[axis] for axis in range(1, extra + 1)]
        else:
            extra = depth - self.pad
            self.dimensions += [sizes[axis] for axis in range(extra + 1)]
        self.values = conversion.merge_dense(flat, 0, extra)
        self.places = tensor_of(dtype.numpy.type(0), dtype)
        self.places = shaping.reshape(self.places, [1])

    def descend(self, axis, parents, column):
        """Descend one dimension: to the indices of all elements of all rows."""
        dimension = self.dimensions[axis]
        if isinstance(dimension, RowPartition):
            starts = gathering.gather(dimension.row_starts(), self.places)
            step = column
        else:
            starts = self.places * dimension
            known = constant_value(dimension)
            if known is not None:
                step = column if known != 1 else column * 0
            else:
                step = column * casting.cast(comparison.not_equal(dimension, 1), column.dtype)
        self.places = gathering.gather(starts, parents) + step


def _broadcast(inputs, rank):
    dtype = next(each.row_splits.dtype for each in inputs if not isinstance(each, Tensor))
    depth = max(
        rank - each.shape.rank + each.ragged_rank for each in inputs if not isinstance(each, Tensor)
    )
    operands = [
        _Operand(each, rank, depth, dtype) if rank - each.shape.rank <= depth else None
        for each in inputs
    ]
    active = [each for each in operands if each is not None]
    partitions = []
    count = integer(1, dtype)
    for axis in range(depth + 1):
        partition = _common_partition(active, axis, count, dtype)
        parents = partition.value_rowids()
        count = partition.nvals()
        column = creation.range(count) - gathering.gather(partition.row_starts(), parents)
        for operand in active:
            operand.descend(axis, parents, column)
        partitions.append(partition)
    flat = [
        value if operand is None else gathering.gather(operand.values, operand.places)
        for value, operand in zip(inputs, operands, strict=True)
    ]
    return flat, partitions[1:]


def _common_partition(operands, axis, count, dtype):
    """The rows of the result in one dimension, from those of all operands."""
    ragged = [each for each in operands if isinstance(each.dimensions[axis], RowPartition)]
    sizes = [
        each.dimensions[axis] for each in operands
        if not isinstance(each.dimensions[axis], RowPartition)
    ]  # fmt: skip
    one = integer(1, dtype)
    if not ragged:
        size = sizes[0]
        for other in sizes[1:]:
            size = _stretched(size, other, one)
        for other in sizes:
            same = comparison.equal(other, size)
            require(comparison.logical_or(comparison.equal(other, one), same), _MISMATCH)
        splits = creation.range(count + 1) * size
        return partition_of(splits, size, nrows=count)
    lengths = [
        gathering.gather(each.dimensions[axis].row_lengths(), each.places) for each in ragged
    ]
    for other in lengths[1:]:
        require(reduction.reduce_all(comparison.equal(lengths[0], other)), _MISMATCH)
    for size in sizes:
        same = reduction.reduce_all(comparison.equal(lengths[0], size))
        require(comparison.logical_or(comparison.equal(size, one), same), _MISMATCH)
    return partition_of(splits_of_lengths(lengths[0]), row_lengths=lengths[0])


def _stretched(a, b, one):
    """The broadcast size of a dimension of sizes a and b: the other one where one of them is 1."""
    known = constant_value(a), constant_value(b)
    if None not in known:
        return b if known[0] == 1 else a
    larger = arithmetic.maximum(a, b)
    # With a size of 0 only a 1 broadcasts, and it becomes 0.
    empty = comparison.logical_or(comparison.equal(a, 0), comparison.equal(b, 0))
    return larger * (one - casting.cast(empty, one.dtype))


def map_flat_values(op, *args, **kwargs):
    """A function of the flat values of all ragged arguments, which must have equal row partitions.

    >>> tf.ragged.map_flat_values(tf.ones_like, tf.ragged.constant([[1, 2, 3], [], [4, 5]]))
    <tf.RaggedTensor [[1, 1, 1], [], [1, 1]]>
    """
    from ...core import nest

    found = []

    def flat(value):
        if isinstance(value, ragged_tensor.RaggedTensor):
            found.append(value)
            return value.flat_values
        return value

    args, kwargs = nest.map_structure(flat, (args, kwargs))
    if not found:
        return op(*args, **kwargs)
    partitions = found[0]._nested_row_partitions
    for value in found[1:]:
        others = value._nested_row_partitions
        if len(others) != len(partitions):
            raise ValueError("tf.ragged.map_flat_values: the arguments' ragged ranks differ.")
        for ours, theirs in zip(partitions, others, strict=True):
            require(
                ours.same_as(theirs),
                "tf.ragged.map_flat_values: partitions have incompatible row_splits.",
            )
    result = op(*args, **kwargs)
    expected = found[0].flat_values.shape[:1]
    for part in nest.flatten(result):
        if part.shape.rank == 0 or not part.shape[:1].is_compatible_with(expected):
            raise ValueError(
                "tf.ragged.map_flat_values requires that the output of `op` have the same "
                "outer-dimension size as flat_values of any ragged inputs. (output shape: "
                f"{part.shape}; expected outer dimension size: {expected[0]})"
            )
    return nest.map_structure(lambda part: ragged_tensor.nest_values(partitions, part), result)

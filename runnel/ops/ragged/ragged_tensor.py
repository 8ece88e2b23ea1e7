"""RaggedTensor: a tensor whose rows may have different lengths."""

from __future__ import annotations

from ...core.convert import convert_to_tensor, register_converter
from ...core.dtypes import as_dtype, int64
from ...core.op import COMPOSITES, CompositeInput
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.type_spec import register_type_spec
from ...core.variable import Variable
from ..array import joining, shaping
from ..array.arguments import INDEX
from ..math import casting, comparison, reduction
from . import printing
from .row_partition import RowPartition, count_of, index_tensor, integer, require

_PRIVATE = (
    "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
    "RaggedTensor.from_row_lengths())"
)


class RaggedTensor:
    """Values partitioned into rows, which may have different lengths.

    `values` is a tensor, or a nested ragged tensor where there are several ragged dimensions; row i
    holds `values[row_splits[i]:row_splits[i + 1]]`.

    >>> rows = tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5, 9, 2], [0, 4, 4, 6, 7])
    >>> rows
    <tf.RaggedTensor [[3, 1, 4, 1], [], [5, 9], [2]]>
    >>> (rows * 10)[2].numpy().tolist(), rows.shape
    ([50, 90], TensorShape([4, None]))
    """

    __array_priority__ = 100

    def __init__(self, values, row_partition, internal=False):
        if not internal:
            raise ValueError(_PRIVATE)
        self._values = values
        self._row_partition = row_partition
        # Tensor subclasses may have their own ragged class.
        adopt = getattr(type(values), "_adopt", None)
        if adopt is not None:
            adopt(values, self)

    # Constructors from row-partitioning tensors.

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Row i holds `values[row_splits[i]:row_splits[i + 1]]`.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, dtype = _values(values)
        return _checked(
            values, RowPartition.from_row_splits(row_splits, validate, dtype_hint=dtype), validate
        )

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Row i holds the next `row_lengths[i]` values.

        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4], [2, 0, 1])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, dtype = _values(values)
        partition = RowPartition.from_row_lengths(row_lengths, validate, dtype_hint=dtype)
        return _checked(values, partition, validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Value i is in row `value_rowids[i]`; the ids are sorted.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, dtype = _values(values)
        partition = RowPartition.from_value_rowids(value_rowids, nrows, validate, dtype_hint=dtype)
        count = TensorShape([partition._value_rowids.shape[0]])
        values.shape[:1].assert_is_compatible_with(count)
        return _checked(values, partition, validate)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Row i begins at `values[row_starts[i]]`.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 2, 2])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, dtype = _values(values)
        starts = index_tensor(row_starts, "row_starts", dtype_hint=dtype)
        nvals = count_of(values, starts.dtype)
        return _checked(values, RowPartition.from_row_starts(starts, nvals, validate), validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Row i ends before `values[row_limits[i]]`.

        >>> tf.RaggedTensor.from_row_limits([3, 1, 4], [2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        values, dtype = _values(values)
        return _checked(
            values, RowPartition.from_row_limits(row_limits, validate, dtype_hint=dtype), validate
        )

    @classmethod
    def from_uniform_row_length(
        cls, values, uniform_row_length, nrows=None, validate=True, name=None
    ):
        """Every row holds `uniform_row_length` values.

        >>> tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [], [2, 3], [4]]), 2)
        <tf.RaggedTensor [[[1], []],
         [[2, 3], [4]]]>
        """
        values, dtype = _values(values)
        nvals = count_of(values, _dtype_of_length(uniform_row_length) or dtype or int64)
        partition = RowPartition.from_uniform_row_length(
            uniform_row_length, nvals, nrows, validate, dtype_hint=dtype
        )
        return cls(values, partition, internal=True)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Several ragged dimensions, the outermost row splits first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, "splits", validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Several ragged dimensions, the outermost row lengths first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, "lengths", validate)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True
    ):
        """Several ragged dimensions, the outermost ids of rows first."""
        if isinstance(nested_value_rowids, Tensor):
            raise TypeError(
                "Argument `nested_value_rowids` must be a list of Tensors. Received "
                f"{nested_value_rowids}."
            )
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        elif isinstance(nested_nrows, Tensor):
            raise TypeError(
                f"Argument `nested_nrows` must be a list of Tensors. Received {nested_nrows}."
            )
        elif len(nested_nrows) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument "
                f"`nested_value_rowids`. len(nested_nrows) = {len(nested_nrows)} vs. "
                f"len(nested_value_rowids) = {len(nested_value_rowids)}."
            )
        result = flat_values
        pairs = zip(reversed(nested_value_rowids), reversed(nested_nrows), strict=True)
        for ids, rows in pairs:
            result = cls.from_value_rowids(result, ids, rows, validate=validate)
        return result

    @classmethod
    def from_tensor(
        cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=int64
    ):
        """The rows of a tensor, cut to `lengths` or with trailing `padding` left out.

        >>> tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]], padding=0)
        <tf.RaggedTensor [[5, 7], [0, 3], [6]]>
        """
        return conversion.from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=int64):
        """The values of a sparse matrix whose rows have no gaps.

        >>> tf.RaggedTensor.from_sparse(tf.sparse.from_dense([[1, 2], [3, 0]]))
        <tf.RaggedTensor [[1, 2], [3]]>
        """
        return conversion.from_sparse(st_input, row_splits_dtype)

    # Components.

    @property
    def dtype(self):
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self):
        """The static shape: None for ragged or unknown dimensions."""
        partition = self._row_partition
        outer = [partition.static_nrows, partition.static_uniform_row_length]
        return TensorShape(outer).concatenate(self._values.shape[1:])

    def get_shape(self):
        """The static shape, the same as `shape`."""
        return self.shape

    @property
    def _sizes(self):
        return self.shape._dims

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        values = self._values
        return 1 + (values.ragged_rank if isinstance(values, RaggedTensor) else 0)

    @property
    def values(self):
        """The concatenated rows: the tensor without its outermost dimension."""
        return self._values

    @property
    def flat_values(self):
        """The innermost values, a tensor."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def row_splits(self):
        """The offsets of the rows in `values`, and the end of the last one."""
        return self._row_partition._row_splits

    @property
    def uniform_row_length(self):
        """The length of all rows by construction, a scalar tensor; None if ragged."""
        return self._row_partition._uniform_row_length

    @property
    def _nested_row_partitions(self):
        partitions = [self._row_partition]
        values = self._values
        while isinstance(values, RaggedTensor):
            partitions.append(values._row_partition)
            values = values._values
        return tuple(partitions)

    @property
    def nested_row_splits(self):
        """The row splits of all ragged dimensions, the outermost first."""
        return tuple(each._row_splits for each in self._nested_row_partitions)

    def value_rowids(self, name=None):
        """The row number of each value."""
        return self._row_partition.value_rowids()

    def nested_value_rowids(self, name=None):
        """The ids of rows of all ragged dimensions, the outermost first."""
        return tuple(each.value_rowids() for each in self._nested_row_partitions)

    def nrows(self, out_type=None, name=None):
        """The number of rows, as a tensor."""
        rows = self._row_partition.nrows()
        return rows if out_type is None else integer(rows, as_dtype(out_type))

    def row_starts(self, name=None):
        """The start of each row in `values`."""
        return self._row_partition.row_starts()

    def row_limits(self, name=None):
        """The end of each row in `values`."""
        return self._row_partition.row_limits()

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows along an axis; ragged themselves beyond axis 1.

        >>> tf.ragged.constant([[3, 1], [], [4]]).row_lengths().numpy().tolist()
        [2, 0, 1]
        """
        axis = _axis(axis, self.shape.rank, "axis")
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        values = self._values
        if isinstance(values, RaggedTensor):
            return self.with_values(values.row_lengths(axis - 1))
        sizes = shaping.shape(values, out_type=self.row_splits.dtype)
        return self.with_values(shaping.broadcast_to(sizes[axis - 1], sizes[: axis - 1]))

    def nested_row_lengths(self, name=None):
        """The row lengths of all ragged dimensions, the outermost first."""
        return tuple(each.row_lengths() for each in self._nested_row_partitions)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest shape of a tensor that holds all rows.

        >>> tf.ragged.constant([[1, 2, 3], [4], []]).bounding_shape().numpy().tolist()
        [3, 3]
        """
        dtype = self.row_splits.dtype if out_type is None else as_dtype(out_type)
        if isinstance(axis, int):
            if axis == 0:
                return self.nrows(dtype)
            if axis == 1:
                return integer(self._longest(), dtype)
        sizes = joining.concat(self._bounding_sizes(), 0)
        if sizes.dtype is not dtype:
            sizes = casting.cast(sizes, dtype)
        if axis is None:
            return sizes
        from ..array import gathering

        return gathering.gather(sizes, axis)

    def _longest(self):
        uniform = self._row_partition._uniform_row_length
        if uniform is not None:
            return uniform
        lengths = self._row_partition.row_lengths()
        # No rows at all have the maximum length 0.
        return reduction.reduce_max(joining.concat([lengths[:0], [0], lengths], 0))

    def _bounding_sizes(self):
        sizes = [shaping.reshape(self.nrows(), [1])]
        value = self
        while isinstance(value, RaggedTensor):
            sizes.append(shaping.reshape(value._longest(), [1]))
            value = value._values
        return [*sizes, shaping.shape(value, out_type=self.row_splits.dtype)[1:]]

    # The same rows with other values or row splits.

    def with_values(self, new_values):
        """The same rows with other values, equal in number.

        >>> tf.ragged.constant([[1, 2], [3]]).with_values(["a", "b", "c"])
        <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
        """
        values, _ = _values(new_values)
        values.shape.with_rank_at_least(1)
        values.shape[:1].assert_is_compatible_with(self._values.shape[:1])
        partition = self._row_partition
        if isinstance(values, RaggedTensor):
            partition, values = _same_dtype(partition, values)
        return RaggedTensor(values, partition, internal=True)

    def with_flat_values(self, new_values):
        """The same rows with other innermost values, equal in number."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same rows with row splits of this dtype, int32 or int64."""
        dtype = as_dtype(dtype)
        if dtype not in INDEX:
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {dtype!r}."
            )
        if dtype is self.row_splits.dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, self._row_partition.with_dtype(dtype), internal=True)

    def merge_dims(self, outer_axis, inner_axis):
        """The dimensions from `outer_axis` to `inner_axis` merged.

        >>> tf.ragged.constant([[[1, 2], [3]], [[4]]]).merge_dims(0, 1)
        <tf.RaggedTensor [[1, 2], [3], [4]]>
        """
        rank = self.shape.rank
        outer, inner = _axis(outer_axis, rank, "outer_axis"), _axis(inner_axis, rank, "inner_axis")
        if outer > inner:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
                f"({inner_axis})."
            )
        return conversion.merge_dims(self, outer, inner)

    # Conversion from and to other types.

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A tensor with the rows padded with `default_value` (0, or empty strings).

        >>> tf.ragged.constant([[9, 8, 7], [], [4]]).to_tensor().numpy().tolist()
        [[9, 8, 7], [0, 0, 0], [4, 0, 0]]
        """
        return conversion.to_tensor(self, default_value, shape)

    def to_sparse(self, name=None):
        """A sparse tensor with the same values.

        >>> tf.sparse.to_dense(tf.ragged.constant([[1, 2], [3]]).to_sparse()).numpy().tolist()
        [[1, 2], [3, 0]]
        """
        return conversion.to_sparse(self)

    def to_list(self):
        """The rows as nested lists of Python numbers or bytes."""
        return printing.nested_list(self)

    def numpy(self):
        """A NumPy array: an object array with one array per row, where row lengths differ."""
        return printing.nested_array(self)

    def consumers(self):
        """The operations that use its tensors; in graphs only."""
        if not hasattr(self.flat_values, "consumers"):
            return []
        return [each for part in (self.flat_values, *self.nested_row_splits)
                for each in part.consumers()]  # fmt: skip

    def __repr__(self):
        return printing.text(self)

    def __iter__(self):
        rows = self._row_partition.static_nrows
        if rows is None:
            raise TypeError(
                "A RaggedTensor whose number of rows a graph does not know cannot be gone over in "
                "Python: use tf.map_fn, or a `for` statement that AutoGraph converts."
            )
        return (self[row] for row in range(rows))

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self):
        raise TypeError("RaggedTensor is unhashable.")

    def __getitem__(rt_input, key):
        """A row, or rows of parts of rows: as for tensors, but no single column of ragged rows.

        >>> tf.ragged.constant([[1, 2, 3], [4], [5, 6]])[1:, :1]
        <tf.RaggedTensor [[4],
         [5]]>
        """
        return slicing.getitem(rt_input, key)

    # The interface to operations.

    @property
    def _array(self):
        raise CompositeInput(self)

    def _execute(self, op, inputs, attrs):
        return dispatch.execute_ragged(op, inputs, attrs)

    @property
    def _gradient_tensor(self):
        return self.flat_values

    def _with_gradient(self, gradient):
        """The gradient of the flat values, with these row partitions."""
        return self.with_flat_values(convert_to_tensor(gradient))

    @property
    def _type_spec(self):
        return RaggedTensorSpec.from_value(self)


def _axis(axis, rank, name):
    if axis < 0:
        if rank is None:
            raise ValueError(f"{name} may only be negative if the rank is statically known.")
        if axis < -rank:
            raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
        return axis + rank
    if rank is not None and axis >= rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis


def _values(values):
    """The values as a tensor or ragged tensor, and the dtype of their row splits."""
    if isinstance(values, RaggedTensor):
        return values, values.row_splits.dtype
    if isinstance(values, Variable):
        values = values._as_tensor()
    if not isinstance(values, Tensor):
        values = convert_to_tensor(values)
    if isinstance(values, RaggedTensor):
        return values, values.row_splits.dtype
    return values, None


def _dtype_of_length(length):
    return length.dtype if isinstance(length, Tensor) and length.dtype in INDEX else None


def _same_dtype(partition, values):
    """Row splits of one dtype, int64 where they differ and both come from ops."""
    if partition.dtype is values.row_splits.dtype:
        return partition, values
    return partition.with_dtype(int64), values.with_row_splits_dtype(int64)


def _checked(values, partition, validate):
    if isinstance(values, RaggedTensor) and partition.dtype is not values.row_splits.dtype:
        raise ValueError(
            f"row_splits has dtype {partition.dtype.name}, but the row_splits of values have dtype "
            f"{values.row_splits.dtype.name}. Use values.with_row_splits_dtype to change it."
        )
    if validate:
        values.shape.with_rank_at_least(1)
        holds = comparison.equal(partition.nvals(), count_of(values, partition.dtype))
        words = (
            "Arguments to _from_row_partition do not form a valid RaggedTensor: the rows do not "
            "end with the last value; row_splits and number of values:"
        )
        require(holds, words, partition._row_splits, count_of(values, partition.dtype))
    return RaggedTensor(values, partition, internal=True)


def _nested(make, flat_values, nested, what, validate):
    if isinstance(nested, Tensor):
        raise TypeError(
            f"Argument `nested_row_{what}` must be a list of Tensors. Received {nested}."
        )
    result = flat_values
    for each in reversed(list(nested)):
        result = make(result, each, validate=validate)
    return result


def nest_values(partitions, values):
    """A tensor or ragged tensor partitioned several times, the outermost first."""
    for partition in reversed(partitions):
        values = RaggedTensor(values, partition, internal=True)
    return values


def _as_input(value, dtype):
    """Public functions pass a ragged tensor through; `dispatch` handles it."""
    if dtype is not None and dtype is not value.dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for a RaggedTensor with dtype "
            f"{value.dtype.name}. Use tf.cast to change the dtype."
        )
    return value


from . import conversion, dispatch, slicing  # noqa: E402  (they are written on the class)
from .spec import RaggedTensorSpec  # noqa: E402

dispatch.define_operators(RaggedTensor)
COMPOSITES.add(RaggedTensor)
register_converter(RaggedTensor, _as_input)
register_type_spec(RaggedTensor, RaggedTensorSpec.from_value)

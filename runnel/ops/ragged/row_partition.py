"""RowPartition: the division of a ragged tensor's values into rows."""

from __future__ import annotations

import numpy as np

from ...core import dtypes
from ...core.convert import constant_value, convert_to_tensor, tensor_of
from ...core.dtypes import int64
from ...core.errors import InvalidArgumentError
from ...core.tensor import SymbolicTensor, Tensor
from ..array import creation, gathering, joining, shaping
from ..array.arguments import INDEX
from ..math import arithmetic, casting, comparison, cumulative, division, reduction, sorting


def require(condition, message, *data) -> None:
    """Raise InvalidArgumentError unless a scalar condition holds; in a graph, when it runs."""
    if isinstance(condition, SymbolicTensor):
        # A graph under construction runs only what its results need.
        if not condition.graph.open:
            from .. import debugging

            debugging.Assert(condition, [message, *data])
    elif not condition:
        shown = "".join(f" {constant_value(each)}" for each in data)
        raise InvalidArgumentError(None, None, f"{message}{shown}")


def index_tensor(value, name, dtype=None, dtype_hint=None) -> Tensor:
    """A row-partitioning tensor: int32 or int64, int64 where the value does not determine it."""
    if not isinstance(value, Tensor):
        value = convert_to_tensor(value, dtype_hint=dtype or dtype_hint or int64)
    if dtype is not None and value.dtype is not dtypes.as_dtype(dtype):
        value = casting.cast(value, dtype)
    if value.dtype not in INDEX:
        raise ValueError(f"{name} must have dtype int32 or int64, got {value.dtype.name}.")
    return value


def integer(value, dtype) -> Tensor:
    """A Python integer, or a tensor of any integer dtype, as a tensor of this dtype."""
    if isinstance(value, Tensor):
        return value if value.dtype is dtype else casting.cast(value, dtype)
    return convert_to_tensor(value, dtype)


def splits_of_lengths(lengths: Tensor) -> Tensor:
    """The start of each row, and the end of the last one."""
    zero = tensor_of(np.zeros(1, lengths.dtype.numpy), lengths.dtype)
    return joining.concat([zero, cumulative.cumsum(lengths)], 0)


def count_of(values, dtype) -> Tensor:
    """The outermost size of a tensor or ragged tensor."""
    if not isinstance(values, Tensor):
        return values.nrows(dtype)
    size = values.shape[0] if values.shape.rank else None
    if size is not None:
        return tensor_of(dtype.as_numpy_dtype(size), dtype)
    return shaping.shape(values, out_type=dtype)[0]


def partition_of(
    row_splits, uniform_row_length=None, value_rowids=None, row_lengths=None, nrows=None
):
    """The partition of valid row splits, and of other known encodings."""
    return RowPartition(
        row_splits, row_lengths, value_rowids, nrows, uniform_row_length, internal=True
    )


class RowPartition:
    """Row i holds the values from `row_splits[i]` up to `row_splits[i + 1]`.

    Other known encodings (row ids, a uniform row length) are cached with it.
    """

    __slots__ = ("_nrows", "_row_lengths", "_row_splits", "_uniform_row_length", "_value_rowids")

    def __init__(
        self,
        row_splits,
        row_lengths=None,
        value_rowids=None,
        nrows=None,
        uniform_row_length=None,
        nvals=None,
        internal=False,
    ):
        if not internal:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods "
                "instead (e.g., RowPartition.from_row_lengths())"
            )
        self._row_splits = row_splits
        self._row_lengths = row_lengths
        self._value_rowids = value_rowids
        self._nrows = nrows
        self._uniform_row_length = uniform_row_length

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Row i holds the values from `row_splits[i]` up to `row_splits[i + 1]`."""
        splits = index_tensor(row_splits, "row_splits", dtype, dtype_hint)
        splits.shape.assert_has_rank(1)
        if splits.shape.rank == 1 and splits.shape[0] == 0:
            raise ValueError("row_splits tensor may not be empty: it starts with 0.")
        if validate:
            start = "Arguments to from_row_splits do not form a valid RaggedTensor:"
            require(splits[0] == 0, start + "zero. row_splits must start with 0, got", splits)
            rising = _rises(splits)
            require(rising, start + "monotonic. row_splits must not fall, got", splits)
        return partition_of(splits)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Row i holds the next `row_lengths[i]` values."""
        lengths = index_tensor(row_lengths, "row_lengths", dtype, dtype_hint)
        lengths.shape.assert_has_rank(1)
        if validate:
            _require_not_negative(lengths, "from_row_lengths")
        return partition_of(splits_of_lengths(lengths), row_lengths=lengths)

    @classmethod
    def from_value_rowids(
        cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        """Value i is in row `value_rowids[i]`; the ids are sorted."""
        ids = index_tensor(value_rowids, "value_rowids", dtype, dtype_hint)
        ids.shape.assert_has_rank(1)
        if nrows is None:
            # The last id is the largest; without values there are no rows.
            last = joining.concat([tensor_of(np.array([-1], ids.dtype.numpy), ids.dtype), ids], 0)
            rows = last[-1] + 1
        else:
            rows = integer(nrows, ids.dtype)
            rows.shape.assert_has_rank(0)
            _check_rows(constant_value(rows), constant_value(ids))
        if validate:
            words = "from_value_rowids"
            _require_not_negative(ids, words)
            rising = _rises(ids)
            require(rising, f"Arguments to {words} do not form a valid RowPartition: ids fall", ids)
            if nrows is not None:
                fits = reduction.reduce_all(comparison.less(ids, rows))
                require(fits, f"Arguments to {words} do not form a valid RowPartition: nrows", rows)
        splits = sorting.searchsorted(ids, creation.range(rows + 1), out_type=ids.dtype)
        return partition_of(splits, value_rowids=ids, nrows=rows)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Row i starts at value `row_starts[i]`; there are `nvals` values."""
        starts = index_tensor(row_starts, "row_starts", dtype, dtype_hint)
        starts.shape.assert_has_rank(1)
        last = shaping.reshape(integer(nvals, starts.dtype), [1])
        splits = joining.concat([starts, last], 0)
        if validate:
            words = "Arguments to from_row_starts do not form a valid RaggedTensor: row_starts"
            require(reduction.reduce_all(starts[:1] == 0), words + " must begin with 0", starts)
            rising = _rises(splits)
            require(rising, words + " fall", splits)
        return partition_of(splits)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Row i ends before value `row_limits[i]`."""
        limits = index_tensor(row_limits, "row_limits", dtype, dtype_hint)
        limits.shape.assert_has_rank(1)
        zero = tensor_of(np.zeros(1, limits.dtype.numpy), limits.dtype)
        splits = joining.concat([zero, limits], 0)
        if validate:
            rising = _rises(splits)
            words = "Arguments to from_row_limits do not form a valid RaggedTensor: row_limits"
            require(rising, words + " fall or are negative:", limits)
        return partition_of(splits)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length,
        nvals=None,
        nrows=None,
        validate=True,
        dtype=None,
        dtype_hint=None,
    ):
        """Every row holds `uniform_row_length` values."""
        length = uniform_row_length
        if not isinstance(length, Tensor) or length.dtype not in INDEX:
            length = integer(length, dtypes.as_dtype(dtype or dtype_hint or int64))
        kind = length.dtype
        length.shape.assert_has_rank(0)
        if nvals is None:
            if nrows is None:
                raise ValueError("from_uniform_row_length needs nvals or nrows.")
            nvals = integer(nrows, kind) * length
        nvals = integer(nvals, kind)
        known, count = constant_value(length), constant_value(nvals)
        if known is not None and known < 0:
            raise ValueError(f"uniform_row_length must be >= 0, got {known}.")
        if nrows is not None:
            rows = integer(nrows, kind)
        elif known is not None:
            rows = division.floordiv(nvals, length) if known else integer(0, kind)
        else:
            rows = casting.cast(division.divide_no_nan(_wide(nvals), _wide(length)), kind)
        wanted = constant_value(rows)
        if None not in (known, count, wanted):
            if wanted < 0:
                raise ValueError(f"Expected nrows >= 0; got {wanted}.")
            if known * wanted != count:
                raise ValueError(
                    f"uniform_row_length={known} times nrows={wanted} must equal nvals={count}."
                )
        elif validate:
            words = "uniform_row_length times nrows must equal the number of values."
            require(comparison.equal(length * rows, nvals), words, length, rows, nvals)
        splits = creation.range(rows + 1) * length
        return partition_of(splits, length, nrows=rows)

    @property
    def _type_spec(self):
        from .shape_specs import RowPartitionSpec

        return RowPartitionSpec.from_value(self)

    @property
    def dtype(self) -> dtypes.DType:
        """The dtype of the partition's tensors."""
        return self._row_splits.dtype

    @property
    def static_nrows(self) -> int | None:
        """The static number of rows, if known."""
        size = self._row_splits.shape[0] if self._row_splits.shape.rank else None
        if size is None:
            known = None if self._nrows is None else constant_value(self._nrows)
            return None if known is None else int(known)
        return size - 1

    @property
    def static_nvals(self) -> int | None:
        """The static number of values, if known."""
        if self._value_rowids is not None:
            return self._value_rowids.shape[0] if self._value_rowids.shape.rank else None
        rows, length = self.static_nrows, self.static_uniform_row_length
        return None if rows is None or length is None else rows * length

    @property
    def static_uniform_row_length(self) -> int | None:
        """The static length of all rows, if known."""
        if self._uniform_row_length is None:
            return None
        known = constant_value(self._uniform_row_length)
        return None if known is None else int(known)

    def nrows(self) -> Tensor:
        """The number of rows, as a tensor."""
        if self._nrows is not None:
            return self._nrows
        rows = self.static_nrows
        if rows is None:
            return shaping.shape(self._row_splits, out_type=self.dtype)[0] - 1
        return tensor_of(self.dtype.as_numpy_dtype(rows), self.dtype)

    def nvals(self) -> Tensor:
        """The number of values, as a tensor."""
        return self._row_splits[-1]

    def row_splits(self) -> Tensor:
        """The start of each row, and the end of the last one."""
        return self._row_splits

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, where it is uniform by construction."""
        return self._uniform_row_length

    def is_uniform(self) -> bool:
        """Whether all rows have equal length by construction."""
        return self._uniform_row_length is not None

    def offsets_in_rows(self) -> Tensor:
        """The position of every value in its row."""
        starts = gathering.gather(self.row_starts(), self.value_rowids())
        return creation.range(self.nvals()) - starts

    def row_starts(self) -> Tensor:
        """The start of each row."""
        return self._row_splits[:-1]

    def row_limits(self) -> Tensor:
        """The end of each row."""
        return self._row_splits[1:]

    def row_lengths(self) -> Tensor:
        """The length of each row."""
        if self._row_lengths is not None:
            return self._row_lengths
        if self._uniform_row_length is not None:
            rows = shaping.reshape(self.nrows(), [1])
            return shaping.broadcast_to(self._uniform_row_length, rows)
        return arithmetic.subtract(self.row_limits(), self.row_starts())

    def value_rowids(self) -> Tensor:
        """The row number of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        if not isinstance(self._row_splits, SymbolicTensor):
            # Static rows need no operations: the ids are a constant too.
            splits = self._row_splits._array
            rows = np.arange(len(splits) - 1, dtype=splits.dtype)
            return tensor_of(np.repeat(rows, splits[1:] - splits[:-1]), self.dtype)
        places = creation.range(self.nvals())
        return sorting.searchsorted(self.row_limits(), places, "right", out_type=self.dtype)

    def with_dtype(self, dtype) -> RowPartition:
        """The same rows with tensors of this dtype, int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX:
            raise ValueError(f"dtype must be int32 or int64, got {dtype.name}.")
        if dtype is self.dtype:
            return self

        def changed(tensor):
            return None if tensor is None else casting.cast(tensor, dtype)

        return partition_of(
            casting.cast(self._row_splits, dtype),
            changed(self._uniform_row_length),
            changed(self._value_rowids),
            changed(self._row_lengths),
            changed(self._nrows),
        )

    def __repr__(self) -> str:
        known = constant_value(self._row_splits)
        if self._uniform_row_length is not None:
            length, rows = constant_value(self._uniform_row_length), constant_value(self.nrows())
            return f"tf.RowPartition(nrows={rows}, uniform_row_length={length})"
        return f"tf.RowPartition(row_splits={self._row_splits if known is None else known})"

    def same_as(self, other) -> Tensor | bool:
        """Whether two partitions are equal; a tensor where that is not static."""
        if self is other or self._row_splits is other._row_splits:
            return True
        ours, theirs = constant_value(self._row_splits), constant_value(other._row_splits)
        if ours is not None and theirs is not None:
            return bool(np.array_equal(ours, theirs))
        if not self._row_splits.shape.is_compatible_with(other._row_splits.shape):
            return False
        # Sizes may differ, too: the compared tensors must broadcast.
        sizes = comparison.equal(shaping.size(self._row_splits), shaping.size(other._row_splits))
        count = arithmetic.minimum(shaping.size(self._row_splits), shaping.size(other._row_splits))
        theirs = casting.cast(other._row_splits[:count], self.dtype)
        equal = reduction.reduce_all(comparison.equal(self._row_splits[:count], theirs))
        return comparison.logical_and(sizes, equal)


def _rises(tensor):
    """Whether the numbers are sorted in ascending order."""
    if isinstance(tensor, SymbolicTensor):
        return reduction.reduce_all(comparison.less_equal(tensor[:-1], tensor[1:]))
    array = tensor._array
    return bool((array[:-1] <= array[1:]).all())


def _wide(tensor):
    return casting.cast(tensor, dtypes.float64)


def _require_not_negative(tensor, words):
    if isinstance(tensor, SymbolicTensor):
        positive = reduction.reduce_all(comparison.greater_equal(tensor, integer(0, tensor.dtype)))
    else:
        positive = bool((tensor._array >= 0).all())
    require(
        positive,
        f"Arguments to {words} do not form a valid RowPartition. They must not be negative:",
        tensor,
    )


def _check_rows(rows, ids):
    if rows is not None and rows < 0:
        raise ValueError(f"Expected nrows >= 0; got {rows}.")
    if rows is not None and ids is not None and ids.size and rows <= ids[-1]:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={rows}, value_rowids[-1]={ids[-1]}"
        )


def require_same_dtypes(values) -> None:
    """ValueError unless the row splits of ragged tensors have equal dtypes."""
    if len({each.row_splits.dtype for each in values}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )

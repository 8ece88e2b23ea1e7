"""`rt[key]`: rows, and parts of rows."""

from __future__ import annotations

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int16
from ...core.tensor import Tensor
from ..array import creation, gathering as dense_gathering, joining, shaping
from ..array.arguments import INDEX
from ..math import arithmetic, comparison
from . import gathering, ragged_tensor
from .row_partition import integer, partition_of

_ALL = slice(None)
_NOT_AN_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices, got {!r}"
)


def getitem(value, key):
    """A ragged tensor's rows or parts of rows at a key."""
    keys = list(key) if isinstance(key, list | tuple) else [key]
    for each in keys:
        _check(each)
    if Ellipsis in [each for each in keys if not isinstance(each, Tensor)]:
        keys = _without_ellipsis(keys, value.shape.rank)
    return _sliced(value, keys)


def _check(key):
    if key is None or key is Ellipsis:
        return
    if isinstance(key, slice):
        for each in (key.start, key.stop, key.step):
            if each is not None and not _is_number(each):
                raise TypeError(f"slice offsets must be integers or None, got {each!r}")
        if isinstance(key.step, int) and key.step == 0:
            raise ValueError("slice step cannot be zero")
        return
    if isinstance(key, bool):
        raise ValueError("A mask cannot be a scalar; tf.ragged.boolean_mask takes a mask.")
    if not _is_number(key):
        raise TypeError(_NOT_AN_INDEX.format(key))


def _is_number(value):
    if isinstance(value, Tensor):
        return value.shape.rank in (None, 0) and value.dtype in INDEX | {int16}
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _without_ellipsis(keys, rank):
    place = next(i for i, key in enumerate(keys) if key is Ellipsis)
    before, after = keys[:place], keys[place + 1 :]
    if any(key is Ellipsis for key in after):
        raise IndexError("an index can only have a single ellipsis ('...')")
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    used = sum(key is not None for key in (*before, *after))
    return [*before, *[_ALL] * (rank - used), *after]


def _sliced(value, keys):
    if not keys:
        return value
    if isinstance(value, Tensor):
        return value[tuple(keys)]
    first, *rest = keys
    if first is None:
        inner = _sliced(value, rest)
        return shaping.expand_dims(inner, 0)
    if isinstance(first, slice):
        return _sliced_inside(_rows(value, first), rest)
    return _sliced(row_at(value, first), rest)


def _sliced_inside(value, keys):
    """The keys for the dimensions after the first."""
    while keys and isinstance(keys[-1], slice) and keys[-1] == _ALL:
        keys = keys[:-1]
    if not keys:
        return value
    if isinstance(value, Tensor):
        return value[(_ALL, *keys)]
    first, *rest = keys
    if first is None:
        return shaping.expand_dims(_sliced_inside(value, rest), 1)
    if isinstance(first, slice):
        value = _columns(value, first)
        return value.with_values(_sliced_inside(value.values, rest)) if rest else value
    if value.uniform_row_length is None:
        raise ValueError(
            "Cannot index into an inner ragged dimension: its rows differ in length. Slice it "
            "(rt[:, :1]), or make it uniform first (rt.to_tensor())."
        )
    return _sliced_inside(_column(value, first), rest)


def row_at(value, index):
    """One row of a ragged tensor."""
    known = constant_value(index) if isinstance(index, Tensor) else index.__index__()
    rows = value._row_partition.static_nrows
    if known is not None:
        known = int(known)
        if rows is not None and not -rows <= known < rows:
            raise IndexError(f"Row key {known} out of bounds: there are {rows} rows.")
        index = known
    start, limit = value.row_starts()[index], value.row_limits()[index]
    return rows_between(value.values, start, limit)


def rows_between(value, start, limit):
    """The rows from `start` up to `limit` of a tensor or ragged tensor."""
    start, limit = _plain(start), _plain(limit)
    if isinstance(value, Tensor):
        return value[start:limit]
    splits = value.row_splits[start : limit + 1]
    inner = rows_between(value.values, splits[0], splits[-1])
    partition = partition_of(splits - splits[0], value.uniform_row_length)
    return ragged_tensor.RaggedTensor(inner, partition, internal=True)


def _plain(number):
    """A static Python integer, for the faster way to slice."""
    known = constant_value(number) if isinstance(number, Tensor) else number
    return number if known is None else int(known)


def _rows(value, key):
    if key == _ALL:
        return value
    step = 1 if key.step is None else _plain(key.step)
    rows = value._row_partition.static_nrows
    bounds = [None if each is None else _plain(each) for each in (key.start, key.stop)]
    known = all(each is None or isinstance(each, int) for each in bounds)
    if step == 1 and rows is not None and known:
        start, limit, _ = slice(*bounds).indices(rows)
        return rows_between(value, start, max(start, limit))
    places = creation.range(value.nrows())[slice(*bounds, step)]
    return gathering.gather_rows(value, places)


def _columns(value, key):
    """The part of every row that a slice selects."""
    if key == _ALL:
        return value
    partition = value._row_partition
    dtype = partition.dtype
    step = integer(1 if key.step is None else key.step, dtype)
    lengths, zero, one = partition.row_lengths(), integer(0, dtype), integer(1, dtype)
    known = constant_value(step)
    if known is not None:
        falling = bool(known < 0)
        low, high = (-one, lengths - one) if falling else (zero, lengths)
        first, last = (high, low) if falling else (low, high)
    else:
        falling = comparison.less(step, zero)
        from ..array import selection

        low = selection.where(falling, -one, zero)
        high = selection.where(falling, lengths - one, lengths)
        first = selection.where(falling, high, low)
        last = selection.where(falling, low, high)
    starts = partition.row_starts()
    begin = starts + (first if key.start is None else _bound(key.start, lengths, low, high, dtype))
    end = starts + (last if key.stop is None else _bound(key.stop, lengths, low, high, dtype))
    splits, places = gathering.ranges(begin, end, step, dtype)
    length = partition.static_uniform_row_length
    bounds = [None if each is None else _plain(each) for each in (key.start, key.stop, key.step)]
    uniform = None
    if length is not None and all(each is None or isinstance(each, int) for each in bounds):
        uniform = integer(len(range(*slice(*bounds).indices(length))), dtype)
    values = gathering.gather_rows(value.values, places)
    return ragged_tensor.RaggedTensor(values, partition_of(splits, uniform), internal=True)


def _bound(offset, lengths, low, high, dtype):
    offset = integer(offset, dtype)
    negative = constant_value(offset)
    if negative is None:
        from ..array import selection

        offset = selection.where(comparison.less(offset, 0), offset + lengths, offset)
    elif negative < 0:
        offset = offset + lengths
    return arithmetic.minimum(arithmetic.maximum(offset, low), high)


def _column(value, index):
    """Element `index` of every row, where all rows have equal lengths."""
    partition = value._row_partition
    offset, length = integer(index, partition.dtype), partition.static_uniform_row_length
    known = constant_value(offset)
    if length is not None and known is not None and not -length <= known < length:
        raise IndexError(f"Column key {known} out of bounds: rows have {length} elements.")
    if known is None or known < 0:
        ends = joining.stack([partition.row_limits(), partition.row_starts()])
        side = 0 if known is not None else convert_to_tensor(comparison.greater_equal(offset, 0))
        if known is None:
            from ..math import casting

            side = casting.cast(side, "int32")
        places = dense_gathering.gather(ends, side) + offset
    else:
        places = partition.row_starts() + offset
    return gathering.gather_rows(value.values, places)

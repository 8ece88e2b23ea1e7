"""The values of ragged features, partitioned into rows by other features of the same record.

In a batch the values of all records are concatenated, and so are the partitions. `splits` are the
offsets of each record's values; each partition, from the innermost to the outermost, becomes the
lengths of its rows in all records, and new splits: how many rows each record has.
"""

from __future__ import annotations

from ...core.tensor import Tensor
from ..array import creation, gathering, joining, selection, shaping
from ..math import casting, comparison, division, segment
from ..ragged.ragged_tensor import RaggedTensor
from ..ragged.row_partition import splits_of_lengths
from .features import RowLengths, RowLimits, RowSplits, RowStarts, UniformRowLength, ValueRowIds

_MAKERS = {
    RowSplits: RaggedTensor.from_row_splits,
    RowLengths: RaggedTensor.from_row_lengths,
    RowStarts: RaggedTensor.from_row_starts,
    RowLimits: RaggedTensor.from_row_limits,
    ValueRowIds: RaggedTensor.from_value_rowids,
}


def partitioned(values, splits, feature, raw):
    """The values in the rows of a feature's partitions, and the splits of rows into records.

    `splits` is None for a single record.
    """
    for partition in reversed(feature.partitions):
        if isinstance(partition, UniformRowLength):
            values = _uniform(values, partition.length)
            if splits is not None:
                splits = division.floordiv(splits, partition.length)
            continue
        numbers, *outer = raw[partition.key]
        numbers = casting.cast(numbers, feature.row_splits_dtype)
        if splits is None:
            values = _MAKERS[type(partition)](values, numbers, validate=feature.validate)
        else:
            lengths, splits = _in_batch[type(partition)](numbers, outer[-1], splits)
            values = RaggedTensor.from_row_lengths(values, lengths, validate=feature.validate)
    return values, splits


def _uniform(values, length):
    if isinstance(values, Tensor):
        inner = shaping.shape(values)[1:]
        shape = joining.concat([[-1, length], inner], 0)
        result = shaping.reshape(values, shape)
        result.set_shape([None, length, *values.shape.as_list()[1:]])
        return result
    return RaggedTensor.from_uniform_row_length(values, length)


def _lengths_from_lengths(numbers, records, splits):
    return numbers, records


def _lengths_from_splits(numbers, records, splits):
    """The differences of adjacent numbers within each record."""
    owners = RaggedTensor.from_row_splits(numbers, records, validate=False).value_rowids()
    inside = comparison.equal(owners[1:], owners[:-1])
    lengths = selection.boolean_mask(numbers[1:] - numbers[:-1], inside)
    counts = records[1:] - records[:-1]
    rows = selection.where(counts > 0, counts - 1, creation.zeros_like(counts))
    return lengths, splits_of_lengths(rows)


def _with_column(numbers, records, before=None, after=None):
    """The numbers of each record with one more prepended, or appended."""
    ragged = RaggedTensor.from_row_splits(numbers, records, validate=False)
    parts = [ragged]
    if before is not None:
        parts.insert(0, shaping.expand_dims(before, 1))
    if after is not None:
        parts.append(shaping.expand_dims(after, 1))
    wider = joining.concat(parts, 1)
    return wider.values, wider.row_splits


def _lengths_from_limits(numbers, records, splits):
    zeros = creation.zeros_like(records[1:])
    return _lengths_from_splits(*_with_column(numbers, records, before=zeros), splits)


def _lengths_from_starts(numbers, records, splits):
    ends = splits[1:] - splits[:-1]
    return _lengths_from_splits(*_with_column(numbers, records, after=ends), splits)


def _lengths_from_ids(numbers, records, splits):
    """The number of values of each row; the last id of a record is that of its last row."""
    shifted = joining.concat([creation.zeros_like(records[:1]), numbers + 1], 0)
    filled = records[1:] > records[:-1]
    rows = gathering.gather(shifted, records[1:])
    rows = selection.where(filled, rows, creation.zeros_like(rows))
    outer = splits_of_lengths(rows)
    owners = RaggedTensor.from_row_splits(numbers, records, validate=False).value_rowids()
    names = numbers + gathering.gather(outer, owners)
    ones = creation.ones_like(numbers)
    return segment.unsorted_segment_sum(ones, names, outer[-1]), outer


_in_batch = {
    RowSplits: _lengths_from_splits,
    RowLengths: _lengths_from_lengths,
    RowStarts: _lengths_from_starts,
    RowLimits: _lengths_from_limits,
    ValueRowIds: _lengths_from_ids,
}

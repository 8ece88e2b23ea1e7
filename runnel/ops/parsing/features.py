"""Feature configurations: the tensor type that the parsers return for a feature."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.dtypes import DType, as_dtype, float32, int32, int64, string


class VarLenFeature(NamedTuple):
    """A feature with any number of values, parsed into a SparseTensor."""

    dtype: Any


class FixedLenFeature(NamedTuple):
    """A feature with values of one shape in all records, parsed into a Tensor.

    `default_value` is used where a record lacks the feature; without it that is an error.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of values of one shape, parsed into a Tensor and padded to the longest record."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A SparseTensor whose indices and values are in separate features."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """The feature `key` holds the row splits."""

    key: str


class RowLengths(NamedTuple):
    """The feature `key` holds the row lengths."""

    key: str


class RowStarts(NamedTuple):
    """The feature `key` holds the row starts."""

    key: str


class RowLimits(NamedTuple):
    """The feature `key` holds the row limits."""

    key: str


class ValueRowIds(NamedTuple):
    """The feature `key` holds the row number of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """All rows have equal length."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: Any


class RaggedFeature(_RaggedFields):
    """A feature with any number of values, parsed into a RaggedTensor.

    `value_key` names the feature (if not the key in the dictionary); `partitions`, outermost first,
    divide its values into rows: `tf.io.RaggedFeature.RowLengths("lengths")`, ...
    """

    __slots__ = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key!r}")
        kind: DType = as_dtype(dtype)
        if kind not in (int64, float32, string):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {kind!r}")
        splits: DType = as_dtype(row_splits_dtype)
        if splits not in (int32, int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {splits!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(
                f"Argument `partitions` must be a list or tuple. Received {partitions=} of type "
                f"{type(partitions).__name__}."
            )
        for each in partitions:
            if not isinstance(each, PARTITIONS):
                names = ", ".join(kind.__name__ for kind in PARTITIONS)
                raise TypeError(
                    f"Argument `partitions` must hold partitions (tf.io.RaggedFeature.: {names}); "
                    f"got {each!r} of type {type(each).__name__}"
                )
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, kind, value_key, tuple(partitions), splits, validate)

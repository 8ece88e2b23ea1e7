"""One feature of many records, as arrays: dense, padded, sparse or ragged."""

from __future__ import annotations

import math

import numpy as np

from ...core.dtypes import float32, int64, string
from ...core.op import type_text
from ...formats import example_wire as wire

KINDS = {string: wire.BYTES, float32: wire.FLOATS, int64: wire.INTEGERS}
_NAMES = {wire.BYTES: "string", wire.FLOATS: "float", wire.INTEGERS: "int64"}
_VALUES = {wire.BYTES: "bytes", wire.FLOATS: "float", wire.INTEGERS: "int64"}


class Batch:
    """Serialized records, their names, and the offsets of their features."""

    __slots__ = ("found", "names", "records", "scalar")

    def __init__(self, serialized, names):
        serialized = np.asarray(serialized, dtype=object)
        if serialized.ndim > 1:
            raise ValueError(
                f"Expected serialized to be a scalar or vector, got shape: {list(serialized.shape)}"
            )
        names = np.asarray(names, dtype=object)
        if names.size and names.shape != serialized.shape:
            raise ValueError(
                f"Expected names have the same shape as serialized: name.shape={list(names.shape)},"
                f" serialized.shape={list(serialized.shape)}"
            )
        self.scalar = not serialized.ndim
        self.records = [serialized.item()] if self.scalar else serialized.tolist()
        self.names = names.reshape(-1).tolist()
        self.found = []

    def locate(self, find):
        """Find the features of every record; a record that is not a message is an error."""
        for index, record in enumerate(self.records):
            try:
                self.found.append(find(record))
            except wire.MalformedRecord as failure:
                raise ValueError(
                    f"{self.at(index)}Could not parse example input: {failure}; value: "
                    f"{record[:60]!r}{'...' if len(record) > 60 else ''}"
                ) from None

    def at(self, index, key=None):
        """The start of an error message about a record and one of its features."""
        name = shown(self.names[index]) if self.names else "<unknown>"
        where = "" if self.scalar and not self.names else f"Name: {name}, "
        if key is None:
            return where
        return f"{where}Key: {shown(key)}, Index: {index}.  "


def shown(text):
    """Bytes as error messages show them."""
    return text.decode(errors="backslashreplace")


def payload(batch, index, key, place, dtype):
    """The values of a feature: a list of strings or packed numbers; None if missing."""
    record = batch.records[index]
    if dtype is not string:
        numbers = wire.short_numbers(record, *place, KINDS[dtype])
        if numbers is not None:
            return numbers
    try:
        found = wire.values_of(record, *place)
        if found is None:
            return None
        kind, start, end = found
        if kind == KINDS[dtype]:
            if kind == wire.BYTES:
                return wire.strings(record, start, end)
            return wire.packed(record, start, end, kind)
    except wire.MalformedRecord as failure:
        raise ValueError(
            f"{batch.at(index, key)}Can't parse serialized Example: {failure}"
        ) from None
    raise ValueError(
        f"{batch.at(index, key)}Data types don't match. Expected type: {type_text(dtype)}, "
        f"Actual type: {_NAMES[kind]}"
    )


def payloads(batch, features, key, dtype):
    """The values of one feature in all records; `features`: each record's features."""
    result = []
    for index, found in enumerate(features):
        place = found.get(key)
        result.append(None if place is None else payload(batch, index, key, place, dtype))
    return result


def size(values, dtype):
    """The number of values in a result of `payload`."""
    if values is None:
        return 0
    return len(values) if dtype is string else wire.count(values, KINDS[dtype])


def joined(parts, dtype):
    """The values of several payloads concatenated."""
    present = [part for part in parts if part]
    if dtype is string:
        values = [each for part in present for each in part]
        array = np.empty(len(values), object)
        array[:] = values
        return array
    numbers = b"".join(present)
    try:
        return wire.floats(numbers) if dtype is float32 else wire.integers(numbers)
    except wire.MalformedRecord as failure:
        raise ValueError(f"Can't parse serialized Example: {failure}") from None


def dense(batch, parts, key, dtype, shape, default):
    """Values of one shape from every record, or the default."""
    elements = math.prod(shape)
    missing = [index for index, part in enumerate(parts) if part is None]
    default = np.asarray(default)
    if missing and not default.size:
        raise ValueError(
            f"{batch.at(missing[0])}Feature: {shown(key)} (data type: {type_text(dtype)}) is "
            "required but could not be found."
        )
    for index, part in enumerate(parts):
        if part is not None and (found := size(part, dtype)) != elements:
            raise ValueError(
                f"{batch.at(index, key)}Number of {_VALUES[KINDS[dtype]]} values != expected.  "
                f"Values size: {found} but output shape: {list(shape)}"
            )
    array = joined(parts, dtype)
    if missing:
        present = [index for index, part in enumerate(parts) if part is not None]
        rows = np.empty((len(parts), elements), dtype.numpy)
        rows[present] = array.reshape(len(present), elements)
        rows[missing] = default.reshape(-1)
        array = rows
    return array.reshape(shape if batch.scalar else (len(parts), *shape))


def padded(batch, parts, key, dtype, shape, default):
    """Values in steps of one shape, every record padded to the longest."""
    stride = math.prod(shape)
    counts = [size(part, dtype) for part in parts]
    for index, found in enumerate(counts):
        if found % stride if stride else found:
            raise ValueError(
                f"{batch.at(index, key)}Number of {_VALUES[KINDS[dtype]]} values is not a multiple "
                f"of stride length. Saw {found} values but output shape is: "
                f"[?,{','.join(map(str, shape))}]"
            )
    values = joined(parts, dtype)
    if batch.scalar:
        return values.reshape(counts[0] // stride if stride else 0, *shape)
    return filled(values, counts, stride, shape, default, dtype)


def filled(values, counts, stride, shape, default, dtype):
    """Rows of `counts` values, padded to the longest, in steps of a shape."""
    longest = max(counts, default=0)
    steps = longest // stride if stride else 0
    if len(set(counts)) < 2:
        return values.reshape(len(counts), steps, *shape)
    rows = np.empty((len(counts), longest), dtype.numpy)
    rows[...] = np.asarray(default).reshape(())
    rows[np.arange(longest) < np.array(counts)[:, np.newaxis]] = values
    return rows.reshape(len(counts), steps, *shape)


def positions(counts):
    """For each of the values in rows of these lengths: its row, and its position in it."""
    counts = np.array(counts, np.int64)
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - starts[rows]


def sparse(batch, parts, dtype):
    """Indices, values and dense shape."""
    values = joined(parts, dtype)
    if batch.scalar:
        indices = np.arange(len(values), dtype=np.int64)[:, np.newaxis]
        return indices, values, np.array([len(values)], np.int64)
    counts = [size(part, dtype) for part in parts]
    rows, columns = positions(counts)
    indices = np.stack([rows, columns], 1).astype(np.int64, copy=False)
    return indices, values, np.array([len(counts), max(counts, default=0)], np.int64)


def splits(counts, dtype):
    """The start of each row for these lengths, and the end of the last one."""
    result = np.zeros(len(counts) + 1, dtype.numpy)
    np.cumsum(counts, out=result[1:], dtype=dtype.numpy)
    return result


def ragged(parts, dtype, split_dtype):
    """Values and row splits."""
    return joined(parts, dtype), splits([size(part, dtype) for part in parts], split_dtype)

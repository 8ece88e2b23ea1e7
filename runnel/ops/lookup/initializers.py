"""Initializers of immutable tables: from tensors, or from the lines of a text file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...core.context import init_scope
from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import DType, as_dtype, int32, int64, string
from ...core.errors import NotFoundError, OutOfRangeError
from ...core.op import READS_FILES, execute, op
from ...core.shape_rules import nothing
from ...core.tensor import SymbolicTensor, Tensor
from ...formats.paths import local
from ..strings.elements import filled
from ..strings.numbers import read_float
from .tables import LookupTableImportV2


class TextFileIndex:
    """The part of a line, besides a column index.

    >>> tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    (-2, -1)
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


def eager_if_known(value: Any, dtype: Any = None) -> Tensor:
    """The eager tensor of a value where it is static, also while a graph is built.

    Tables are created once, outside of the functions that use them.
    """
    if isinstance(value, SymbolicTensor):
        known = constant_value(value)
        if known is None:
            return convert_to_tensor(value, dtype)
        value = Tensor(known, value.dtype)
    with init_scope():
        return convert_to_tensor(value, dtype)


class TableInitializer:
    """Base class of table initializers: the dtypes, and `initialize(table)`."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = as_dtype(key_dtype)
        self._value_dtype = as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    def _require_types_of(self, table: Any) -> None:
        wanted = (table.key_dtype, table.value_dtype)
        if wanted != (self._key_dtype, self._value_dtype):
            raise TypeError(
                f"Invalid key/value dtypes: the table has {wanted[0].name} -> {wanted[1].name}, "
                f"the initializer {self._key_dtype.name} -> {self._value_dtype.name}."
            )


class KeyValueTensorInitializer(TableInitializer):
    """Initializes a table with keys and values given as tensors of equal shape.

    >>> initializer = tf.lookup.KeyValueTensorInitializer(["a", "b", "c"], [1, 2, 3])
    >>> table = tf.lookup.StaticHashTable(initializer, default_value=-1)
    >>> table.lookup(tf.constant(["c", "z"])).numpy()
    array([ 3, -1], dtype=int32)
    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys = eager_if_known(keys, key_dtype)
        self._values = eager_if_known(values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        """Insert the keys and values into a table."""
        self._require_types_of(table)
        inputs = (table.resource_handle, self._keys, self._values)
        if any(isinstance(each, SymbolicTensor) for each in inputs):
            execute(LookupTableImportV2, inputs)
            return
        with init_scope():
            execute(LookupTableImportV2, inputs)


class TextFileInitializer(TableInitializer):
    """Initializes a table from a text file: a key and a value in each line.

    `key_index` and `value_index` are a column, the whole line or the line number (see
    `tf.lookup.TextFileIndex`).
    """

    def __init__(
        self,
        filename,
        key_dtype,
        key_index,
        value_dtype,
        value_index,
        vocab_size=None,
        delimiter="\t",
        name=None,
        value_index_offset=0,
    ):
        if isinstance(filename, os.PathLike):
            filename = os.fspath(filename)
        if isinstance(filename, str | bytes) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        super().__init__(key_dtype, value_dtype)
        for what, index, dtype in (
            ("key", key_index, self._key_dtype),
            ("value", value_index, self._value_dtype),
        ):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"`{what}_index` should be >= -2, received: {index}.")
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(
                    f"`{what}_dtype` must be int64 if `{what}_index` is -1, received: {dtype!r}"
                )
            if index == TextFileIndex.WHOLE_LINE and not (dtype.is_integer or dtype is string):
                raise ValueError(
                    f"`{what}_dtype` should be either integer or string for `{what}_index` -2, "
                    f"received: {dtype!r}"
                )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be > 0, received: {vocab_size}")
        self._filename = filename
        self._attrs = {
            "key_index": int(key_index),
            "value_index": int(value_index),
            "vocab_size": -1 if vocab_size is None else int(vocab_size),
            "delimiter": delimiter,
            "offset": int(value_index_offset),
        }

    def initialize(self, table):
        """Read the file into a table."""
        self._require_types_of(table)
        with init_scope():
            inputs = (table.resource_handle, eager_if_known(self._filename, string))
            execute(InitializeTableFromTextFileV2, inputs, self._attrs)


@op(
    "InitializeTableFromTextFileV2",
    "table_handle: resource, filename: string",
    shape=nothing,
    stateful=True,
    gradient=None,
    effect=READS_FILES,
)
def InitializeTableFromTextFileV2(
    table_handle, filename, *, key_index, value_index, vocab_size=-1, delimiter="\t", offset=0
):
    if len(delimiter) != 1:
        raise ValueError(f"delimiter should be only 1 char, got {delimiter!r}")
    path = local(filename[()])
    lines = _lines(path, vocab_size)
    numbers = range(len(lines))
    columns = []
    for index, dtype in (
        (key_index, table_handle.key_dtype),
        (value_index, table_handle.value_dtype),
    ):
        if index == TextFileIndex.LINE_NUMBER:
            columns.append(np.array(numbers, np.int64))
        elif index == TextFileIndex.WHOLE_LINE:
            columns.append(_parsed(lines, dtype))
        else:
            columns.append(_parsed(_column(path, lines, index, delimiter.encode()), dtype))
    keys, values = columns
    if value_index == TextFileIndex.LINE_NUMBER and offset:
        values = values + offset
    table_handle.import_all(keys, values)
    return []


def _lines(path, limit):
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise NotFoundError(None, None, f"{path}; No such file or directory") from None
    except OSError as failure:
        raise ValueError(f"{path}; {failure.strerror}") from None
    if not content:
        raise OutOfRangeError(None, None, f"{path} is empty: a table needs at least one line")
    lines = content.replace(b"\r", b"").split(b"\n")
    if not lines[-1]:
        lines.pop()
    if limit > len(lines):
        raise ValueError(f"Invalid vocab_size in {path}: expected {limit} but got {len(lines)}")
    lines = lines[:limit] if limit > 0 else lines
    if b"" in lines:
        raise ValueError(
            f"Invalid content in {path}: empty line found at line {lines.index(b'')}. Remove it."
        )
    return lines


def _column(path, lines, index, delimiter):
    fields = []
    for number, line in enumerate(lines):
        parts = line.split(delimiter)
        if index >= len(parts):
            shown = line.decode(errors="backslashreplace")
            raise ValueError(
                f"Invalid number of columns in {path} line {number} ({shown}) : expected at least "
                f"{index + 1} got {len(parts)}"
            )
        fields.append(parts[index])
    return fields


def _parsed(fields, dtype):
    if dtype is string:
        return filled(fields, (len(fields),))
    read = int if dtype in (int32, int64) else read_float
    values = []
    for number, field in enumerate(fields):
        try:
            values.append(read(field))
        except ValueError:
            shown = field.decode(errors="backslashreplace")
            raise ValueError(
                f"Field {shown} in line {number} is not a valid {dtype.name}."
            ) from None
    return np.array(values, dtype.numpy)

"""SqlDataset: the rows of a database query."""

from __future__ import annotations

import contextlib
import os
import urllib.parse
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype
from ..core.type_spec import TensorSpec
from .cardinality import UNKNOWN
from .dataset import Dataset, invalid
from .structure import Leaves

_TYPES = (dtypes.string, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
          dtypes.uint16, dtypes.bool, dtypes.float64)  # fmt: skip


class SqlDatasetV2(Dataset):
    """The rows of a query, each value converted by SQLite's type conversion rules.

    >>> import os, sqlite3, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "people.sqlite")
    >>> connection = sqlite3.connect(path)
    >>> _ = connection.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    >>> _ = connection.execute("INSERT INTO people VALUES ('Ada', 36)")
    >>> connection.commit()
    >>> people = tf.data.experimental.SqlDataset(
    ...     "sqlite", path, "SELECT name, age FROM people", (tf.string, tf.int32))
    >>> list(people.as_numpy_iterator())
    [(b'Ada', np.int32(36))]
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        if isinstance(output_types, list):
            raise TypeError(f"Cannot convert {output_types} to a DType: give a tuple of types.")
        self._spec = nest.map_structure(lambda kind: TensorSpec([], as_dtype(kind)), output_types)
        self._specs = nest.flatten(self._spec)
        if isinstance(data_source_name, os.PathLike):
            data_source_name = os.fspath(data_source_name)
        texts = (driver_name, data_source_name, query)
        self._tensors = tuple(convert_to_tensor(text, dtypes.string) for text in texts)
        if any(spec.dtype not in _TYPES for spec in self._specs):
            raise invalid(
                "Each element of `output_types_` must be one of: "
                f"{', '.join(kind.name for kind in _TYPES)}", "SqlDataset",
            )  # fmt: skip
        driver = self._text(0)
        if driver != "sqlite":
            raise invalid(
                f"The database type, {driver}, is not supported by SqlDataset. The set of "
                "supported databases is: {'sqlite'}.", "SqlDataset",
            )  # fmt: skip

    def _text(self, place: int) -> str:
        return str(np.asarray(self._tensors[place]._array).item().decode())

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        import sqlite3

        name, query = self._text(1), self._text(2)
        try:
            # Read only: a query must not create a missing database.
            address = f"file:{urllib.parse.quote(os.path.abspath(name))}?mode=ro"
            connection = sqlite3.connect(address, uri=True, check_same_thread=False)
        except sqlite3.Error as failure:
            raise errors.UnknownError(None, None, f"Opening {name} failed: {failure}") from None
        with contextlib.closing(connection):
            connection.text_factory = bytes
            try:
                cursor = connection.execute(query)
                width = len(cursor.description or ())
                if width != len(self._specs):
                    raise errors.InvalidArgumentError(
                        None, None,
                        f"The number of columns in query ({width}) must match the number of "
                        f"elements in output_types ({len(self._specs)}).",
                    )  # fmt: skip
                for row in cursor:
                    yield [
                        _leaf(value, spec.dtype)
                        for value, spec in zip(row, self._specs, strict=True)
                    ]
            except sqlite3.Error as failure:
                raise errors.UnknownError(
                    None, None, f"The query failed: {failure}: {query}"
                ) from None


def _leaf(value: Any, kind: Any) -> Any:
    if kind is dtypes.string:
        held = np.empty((), object)
        held[()] = _as_bytes(value)
        return held
    number = _number(value)
    if kind is dtypes.bool:
        return np.bool_(int(number) != 0)
    if kind is dtypes.float64:
        return np.float64(number)
    # Larger numbers are truncated to the lower bits.
    return np.array(int(number) & ((1 << 64) - 1), np.uint64).astype(kind.as_numpy_dtype)[()]


def _as_bytes(value: Any) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


def _number(value: Any) -> Any:
    if value is None:
        return 0
    if not isinstance(value, bytes):
        return value
    # As in SQLite: the numeric prefix of a text.
    for end in range(len(value), 0, -1):
        with contextlib.suppress(ValueError):
            return float(value[:end]) if b"." in value[:end] else int(value[:end])
    return 0

"""CSV files: their records as elements, and pipelines over files with named columns."""

from __future__ import annotations

import collections
import csv
import glob
import itertools
import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, errors
from ..core.context import init_scope
from ..core.convert import convert_to_tensor
from ..core.dtypes import DType
from ..core.type_spec import TensorSpec
from ..formats.tfrecord import bytes_of
from ..ops.csv import parsed_column
from .cardinality import UNKNOWN
from .dataset import Dataset, invalid
from .files import _names, _text
from .structure import Leaves, rows_of

_CHUNK = 1 << 18
# The number of records that are converted to arrays at once.
_AT_ONCE = 256
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_OP = "CSVDatasetV2"


class CsvDatasetV2(Dataset):
    """The records of CSV files, a tensor for each column.

    `record_defaults` has for each column the default of empty fields, or a dtype if fields are
    required.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "points.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("1,2.5\\n3,\\n")
    >>> list(tf.data.experimental.CsvDataset(path, [tf.int32, 0.0]).as_numpy_iterator())
    [(np.int32(1), np.float32(2.5)), (np.int32(3), np.float32(0.0))]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        self._inputs = (_names(filenames),)
        self._defaults = [_default(each) for each in record_defaults]
        if not self._defaults:
            raise invalid("Length for attr 'output_types' of 0 must be at least minimum 1", _OP)
        self._types = [kind for kind, _ in self._defaults]
        self._spec = tuple(TensorSpec([], kind) for kind in self._types)
        self._compression = _text(compression_type)
        self._header = bool(header)
        self._delimiter = _text(field_delim).encode()
        if len(self._delimiter) != 1:
            raise invalid(f"field_delim should be only 1 char, got {self._delimiter!r}", _OP)
        self._quotes = bool(use_quote_delim)
        self._missing = _text(na_value).encode()
        self._chosen = _places(select_cols, "select_cols")
        self._excluded = _places(exclude_cols, "exclude_cols")
        if self._chosen and self._excluded:
            raise invalid("Either select_cols or exclude_cols should be empty", _OP)
        if self._chosen and len(self._chosen) != len(self._defaults):
            raise invalid(
                f"select_cols should match output size: {len(self._chosen)} columns and "
                f"{len(self._defaults)} defaults", _OP,
            )  # fmt: skip

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return _Records(self)

    def _lines(self, name: Any) -> Iterator[bytes]:
        """The lines of a file with their line terminators."""
        rest = b""
        with bytes_of(name, self._compression) as file:
            while chunk := file.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line + b"\n"
        if rest:
            yield rest

    def _records(self, name: Any) -> Iterator[list[bytes] | Exception]:
        lines = self._lines(name)
        if self._header:
            next(lines, None)
        for line in lines:
            if self._quotes and b'"' in line:
                try:
                    fields = _quoted_fields(line, lines, self._delimiter)
                except ValueError as failure:
                    yield _failure(str(failure))
                    continue
            else:
                fields = _bare(line).split(self._delimiter)
            yield self._selected(fields)

    def _selected(self, fields: list[bytes]) -> list[bytes] | Exception:
        if self._chosen:
            fields = [fields[place] for place in self._chosen if place < len(fields)]
        elif self._excluded:
            fields = [f for place, f in enumerate(fields) if place not in self._excluded]
        if len(fields) != len(self._defaults):
            return _failure(f"Expect {len(self._defaults)} fields but have {len(fields)} in record")
        return fields

    def _columns(self, records: list[list[bytes]]) -> list[Any]:
        return [
            parsed_column(fields, default=default, dtype=kind, missing=self._missing, place=place)
            for place, (fields, (kind, default)) in enumerate(
                zip(zip(*records, strict=True), self._defaults, strict=True)
            )
        ]


def _failure(message: str) -> Exception:
    return errors.InvalidArgumentError(None, None, message)


def _default(value: Any) -> tuple[DType, Any]:
    """The dtype of a column and its default as an array, empty if there is none."""
    if isinstance(value, DType):
        if value not in _TYPES:
            raise ValueError(f"Columns have the types {[t.name for t in _TYPES]}, got {value!r}.")
        return value, np.empty(0, value.numpy)
    # A dataset created inside a dataset's function has constant defaults, too.
    with init_scope():
        tensor = convert_to_tensor(value)
    if tensor.dtype not in _TYPES:
        raise ValueError(f"Columns have the types {[t.name for t in _TYPES]}, got {value!r}.")
    if tensor.shape.rank not in (0, 1) or np.size(tensor._array) > 1:
        raise ValueError(f"A column has one default, got one of the shape {tensor.shape}.")
    return tensor.dtype, np.asarray(tensor._array).reshape(-1)


def _places(columns: Any, name: str) -> tuple[int, ...]:
    if columns is None:
        return ()
    found = np.ravel(np.asarray(columns)).tolist()
    if any(later <= earlier for earlier, later in itertools.pairwise(found)):
        raise invalid(f"{name} should be strictly increasing indices, got {found}", _OP)
    if found and found[0] < 0:
        raise invalid(f"{name} should be non-negative indices, got {found}", _OP)
    return tuple(found)


def _bare(line: bytes) -> bytes:
    if line.endswith(b"\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(b"\n") else line


def _quoted_fields(line: bytes, lines: Iterator[bytes], delimiter: bytes) -> list[bytes]:
    """The fields of a record with quotes; quoted fields may continue on the next lines."""
    fields: list[bytes] = []
    place = 0
    while True:
        if line[place : place + 1] != b'"':
            end = line.find(delimiter, place)
            field = line[place:end] if end >= 0 else _bare(line)[place:]
            if b'"' in field:
                raise ValueError("Unquoted fields cannot have quotes inside")
            fields.append(field)
            if end < 0:
                return fields
            place = end + 1
            continue
        field, line, place = _one_quoted(line, lines, place + 1)
        fields.append(field)
        if place >= len(_bare(line)):
            return fields
        if line[place : place + 1] != delimiter:
            raise ValueError("Quoted field has to end with quote followed by delim or EOL")
        place += 1


def _one_quoted(line: bytes, lines: Iterator[bytes], place: int) -> tuple[bytes, bytes, int]:
    parts = []
    while True:
        end = line.find(b'"', place)
        if end < 0:
            parts.append(line[place:])
            following = next(lines, None)
            if following is None:
                raise ValueError("Reached end of file without closing quoted field in record")
            line, place = following, 0
            continue
        parts.append(line[place:end])
        if line[end + 1 : end + 2] != b'"':
            return b"".join(parts), line, end + 1
        parts.append(b'"')
        place = end + 2


class _Records:
    """An iteration over CSV files; continues after a malformed record."""

    def __init__(self, dataset: CsvDatasetV2) -> None:
        self._dataset = dataset
        self._files = dataset._inputs[0]._elements()
        self._records: Iterator[list[bytes] | Exception] = iter(())
        self._ready: deque[Leaves | Exception] = deque()
        self._size = 1

    def __iter__(self) -> _Records:
        return self

    def __next__(self) -> Leaves:
        while not self._ready:
            if not self._read():
                leaves = next(self._files)
                self._records = self._dataset._records(np.asarray(leaves[0]).item())
        entry = self._ready.popleft()
        if isinstance(entry, Exception):
            raise entry
        return entry

    def _read(self) -> bool:
        """Read the next records; False at the end."""
        good: list[list[bytes]] = []
        for record in self._records:
            if isinstance(record, Exception):
                self._convert(good)
                self._ready.append(record)
                return True
            good.append(record)
            if len(good) == self._size:
                break
        self._size = min(2 * self._size, _AT_ONCE)
        self._convert(good)
        return bool(good)

    def _convert(self, records: list[list[bytes]]) -> None:
        if not records:
            return
        try:
            row = rows_of(self._dataset._columns(records))
            self._ready.extend(map(row, range(len(records))))
        except ValueError as failure:
            if len(records) == 1:
                message = str(failure).replace(" in record 0", " in record")
                self._ready.append(_failure(message))
            else:
                for record in records:
                    self._convert([record])


# Files with column names.

_INTEGERS = ((dtypes.int32, 1 << 31), (dtypes.int64, 1 << 63))
_ORDER: list[DType | None] = [None, dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64,
                              dtypes.string]  # fmt: skip


def files_of(patterns: Any) -> list[str]:
    """The names of all files that match the patterns, in order."""
    given = [patterns] if isinstance(patterns, str | os.PathLike) else list(patterns)
    found = [name for each in given for name in sorted(glob.glob(os.fspath(each)))]
    if not found:
        raise ValueError(f"No files match `file_pattern` {patterns}.")
    return found


def _rows_of_text(
    name: str, encoding: str, delimiter: str, quotes: bool, compression: Any
) -> Iterator[list[str]]:
    import gzip
    import io
    import zlib

    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    if compression in (None, ""):
        file: Any = open(name, encoding=encoding, newline="")  # noqa: SIM115 - closed below
    elif compression == "GZIP":
        file = gzip.open(name, "rt", encoding=encoding, newline="")  # noqa: SIM115
    else:
        with open(name, "rb") as packed:
            text = zlib.decompress(packed.read()).decode(encoding)
        file = io.StringIO(text, newline="")
    with file:
        yield from csv.reader(file, delimiter=delimiter, quoting=quoting)


def _column_names(files: list[str], rows: Callable[[str], Iterator[list[str]]]) -> list[str]:
    names = next(rows(files[0]), [])
    for name in files[1:]:
        if next(rows(name), []) != names:
            raise ValueError(
                "All input CSV files should have the same column names in the header row. File "
                f"{name} has different column names."
            )
    return names


def _kind_of(text: str, missing: str) -> DType | None:
    if text in ("", missing):
        return None
    if "_" in text:
        return dtypes.string
    try:
        number = int(text)
        for kind, bound in _INTEGERS:
            if -bound <= number < bound:
                return kind
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        return dtypes.string
    if not value < np.inf:
        return dtypes.string
    return dtypes.float32 if np.isfinite(np.float32(value)) else dtypes.float64


def _inferred(
    files: list[str],
    rows: Callable[[str], Iterator[list[str]]],
    header: bool,
    width: int,
    columns: Sequence[int],
    missing: str,
    most: int | None,
) -> list[Any]:
    """Defaults of the narrowest types that hold the first values of each column."""
    kinds = [0] * len(columns)
    seen = 0
    for name in files:
        records = rows(name)
        if header:
            next(records, None)
        for number, record in enumerate(records, 1 + header):
            if most is not None and seen >= most:
                break
            if len(record) != width:
                raise ValueError(
                    f"Problem inferring types: CSV row {number} has {len(record)} number of "
                    f"fields. Expected: {width}."
                )
            for place, column in enumerate(columns):
                kinds[place] = max(kinds[place], _ORDER.index(_kind_of(record[column], missing)))
            seen += 1
    found = [_ORDER[kind] or dtypes.string for kind in kinds]
    return ["" if kind is dtypes.string else kind.as_numpy_dtype(0) for kind in found]


def _chosen_columns(selected: Any, names: list[str]) -> list[int]:
    if selected is None:
        return list(range(len(names)))
    if all(isinstance(each, int | np.integer) for each in selected):
        return sorted(int(each) for each in selected)
    places = []
    for each in selected:
        if each not in names:
            raise ValueError(
                f"Column {each} specified in `select_columns` must be of one of the columns: "
                f"{names}."
            )
        places.append(names.index(each))
    if len(set(places)) < len(places):
        raise ValueError(f"`select_columns` contains duplicate columns: {list(selected)}.")
    return sorted(places)


def shuffled_and_repeated(
    dataset: Dataset, epochs: Any, shuffle: bool, buffer: Any, seed: Any
) -> Dataset:
    """The elements repeated for this many epochs, optionally shuffled."""
    if shuffle:
        dataset = dataset.shuffle(buffer, seed)
    return dataset if epochs == 1 else dataset.repeat(epochs)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: Any = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: Any = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of the records of CSV files: dictionaries from column names to tensors.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "points.csv")
    >>> with open(path, "w") as file:
    ...     _ = file.write("x,y\\n1,2.5\\n3,4\\n")
    >>> batches = tf.data.experimental.make_csv_dataset(path, 2, num_epochs=1, shuffle=False)
    >>> {name: column.numpy().tolist() for name, column in next(iter(batches)).items()}
    {'x': [1, 3], 'y': [2.5, 4.0]}
    """
    files = files_of(file_pattern)

    def rows(name: str) -> Iterator[list[str]]:
        return _rows_of_text(name, encoding, field_delim, use_quote_delim, compression_type)

    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = _column_names(files, rows)
    names = list(column_names)
    repeated = {name for name, count in collections.Counter(names).items() if count > 1}
    if repeated:
        raise ValueError(
            "Either `column_names` argument or CSV header row contains duplicate column names: "
            f"{repeated}."
        )
    chosen = _chosen_columns(select_columns, names)
    if column_defaults is None:
        defaults = _inferred(
            files, rows, header, len(names), chosen, na_value, num_rows_for_inference
        )
    else:
        defaults = list(column_defaults)
    if len(defaults) != len(chosen):
        raise ValueError(
            f"If specified, `column_defaults` and `select_columns` must have same length: got "
            f"{len(defaults)} defaults for the columns {chosen}."
        )
    names = [names[place] for place in chosen]
    if label_name is not None and label_name not in names:
        raise ValueError(
            f"`label_name` provided must be one of the columns: {names}. Received: {label_name}."
        )

    def records(name: Any) -> Dataset:
        dataset: Dataset = CsvDatasetV2(
            name, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value,
            None if select_columns is None else chosen,
        )  # fmt: skip
        return dataset.ignore_errors() if ignore_errors else dataset

    def named(*columns: Any) -> Any:
        features = OrderedDict(zip(names, columns, strict=True))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    dataset = dataset.interleave(records, cycle_length=num_parallel_reads or 1)
    dataset = shuffled_and_repeated(
        dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    )  # fmt: skip
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(named)
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)

"""Comma-separated values: splitting records into fields, parsing fields as numbers."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np

from ..core import errors
from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, float64, int32, int64, string
from ..core.op import execute, op, type_text

_TYPES = (float32, float64, int32, int64, string)
_NEWLINES = re.compile(rb"[\r\n]*")
_INTEGER = re.compile(rb"[ \t-\r]*[+-]?[0-9]+[ \t-\r]*\Z")
_DECIMAL = re.compile(
    rb"[ \t-\r]*[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?"
    rb"|inf(?:inity)?|nan)[ \t-\r]*\Z",
    re.IGNORECASE,
)
_HEXADECIMAL = re.compile(
    rb"[ \t-\r]*([+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?)[ \t-\r]*\Z",
    re.IGNORECASE,
)
_MARKED_NAN = re.compile(rb"[ \t-\r]*[+-]?nan\([0-9a-z_]*\)[ \t-\r]*\Z", re.IGNORECASE)


def _one_per_field(inputs, attrs):
    for default in inputs[1]:
        shape = default.shape
        if shape.rank is not None and (shape.rank > 1 or (shape.rank == 1 and (shape[0] or 0) > 1)):
            raise ValueError(
                f"Each record default should be a scalar or a vector of length 0 (the field is "
                f"required) or 1, but one of record_defaults has shape {shape}"
            )
    return [inputs[0].shape] * len(inputs[1])


@op(
    "DecodeCSV",
    "records: string, record_defaults: *T -> output: *OUT_TYPE",
    shape=_one_per_field,
    gradient=None,
)
def DecodeCSV(
    records,
    record_defaults,
    *,
    OUT_TYPE,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=(),
):
    for place, default in enumerate(record_defaults):
        if default.ndim > 1 or default.size > 1:
            raise ValueError(
                f"There should only be 1 default per field but field {place} has {default.size}"
            )
    split = splitter(as_bytes(field_delim), use_quote_delim, tuple(select_cols), len(OUT_TYPE))
    missing = as_bytes(na_value)
    descriptions = zip(record_defaults, OUT_TYPE, itertools.count())
    if not records.ndim:
        fields = split(records.item(), 0)
        return [_value(f, *each, missing) for f, each in zip(fields, descriptions, strict=False)]
    rows = [split(record, index) for index, record in enumerate(records.reshape(-1).tolist())]
    columns = zip(*rows, strict=True) if rows else [()] * len(OUT_TYPE)
    return [
        parsed_column(fields, *each, missing).reshape(records.shape)
        for fields, each in zip(columns, descriptions, strict=False)
    ]


def as_bytes(text):
    """A string attribute as bytes."""
    return text if isinstance(text, bytes) else text.encode()


def splitter(delimiter, quotes, chosen, count):
    """A function (record, its index) -> the list of its `count` fields, unquoted."""
    if len(delimiter) != 1:
        raise ValueError(f"field_delim should be only 1 char, but it is {delimiter!r}")
    special = [b"\n", b"\r", b'"'] if quotes else [b"\n", b"\r"]
    odd_delimiter = delimiter in b'\n\r"'
    last = chosen[-1] if chosen else None

    def split(record, index):
        if not record:
            fields = []
        elif odd_delimiter or any(each in record for each in special):
            fields = _careful_split(record, delimiter, quotes, last)
        else:
            fields = record.split(delimiter)
        if chosen:
            fields = [fields[column] for column in chosen if column < len(fields)]
        if len(fields) != count:
            raise ValueError(f"Expect {count} fields but have {len(fields)} in record {index}")
        return fields

    return split


def _careful_split(record, delimiter, quotes, last):
    """Split a record with quotes or line breaks into fields, up to the column `last`."""
    fields = []
    place, end = 0, len(record)
    while place < end and (last is None or len(fields) <= last):
        place = _NEWLINES.match(record, place).end()
        if place == end:
            break
        if quotes and record[place : place + 1] == b'"':
            field, place = _quoted(record, place + 1, delimiter)
        else:
            stop = record.find(delimiter, place)
            stop = end if stop < 0 else stop
            field, place = record[place:stop], stop
            if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
                raise ValueError(
                    f"Unquoted fields cannot have quotes/CRLFs inside: {_shown(field)}"
                )
        fields.append(field)
        if place < end:  # at a delimiter: what follows is a field, even if it is empty
            place += 1
            if place == end:
                fields.append(b"")
    return fields


def _quoted(record, place, delimiter):
    """A quoted field, from after its opening quote, and the position after the closing one."""
    parts = []
    while True:
        quote = record.find(b'"', place)
        if quote < 0:
            raise ValueError(
                "Quoted field has to end with quote followed by delim or end: "
                f"{_shown(record[place:])}"
            )
        parts.append(record[place:quote])
        place = quote + 1
        following = record[place : place + 1]
        if following == delimiter or not following:
            return b'"'.join(parts), place
        if following != b'"':
            raise ValueError(
                f"Quote inside a string has to be escaped by another quote: {_shown(record)}"
            )
        place += 1


def _shown(text):
    text = text.decode(errors="backslashreplace")
    return text if len(text) < 100 else text[:100] + "..."


def _value(field, default, dtype, place, missing):
    """The field of a single record."""
    if field and field != missing:
        if dtype is string:
            return np.array(field, dtype=object)
        # Python parses numbers as C does, except for underscores and hexadecimals.
        if b"_" not in field:
            try:
                return dtype.as_numpy_dtype((float if dtype.is_floating else int)(field))
            except (ValueError, OverflowError):
                pass
    return parsed_column((field,), default, dtype, place, missing).reshape(())


def parsed_column(fields, default, dtype, place, missing):
    """The fields of one column as an array; `default` for missing ones."""
    absent = b"" in fields or (missing and missing in fields)
    if absent and not default.size:
        index = next(i for i, field in enumerate(fields) if not field or field == missing)
        raise ValueError(f"Field {place} is required but missing in record {index}!")
    if dtype is string:
        values = np.empty(len(fields), object)
        values[:] = fields
        if absent:
            values[[not field or field == missing for field in fields]] = default.item()
        return values
    try:
        if b"_" in b"".join(fields):
            raise ValueError("Python would overlook an underscore")
        return _numbers(fields, default, dtype, missing, float if dtype.is_floating else int)
    except (ValueError, OverflowError):
        pass
    try:
        careful = _read_float if dtype.is_floating else _read_integer
        return _numbers(fields, default, dtype, missing, careful)
    except (ValueError, OverflowError):
        raise ValueError(_complaint(fields, dtype, missing, place)) from None


def _numbers(fields, default, dtype, missing, read):
    if b"" in fields or missing in fields:
        instead = default.item()
        values = [instead if not f or f == missing else read(f) for f in fields]
    else:
        values = list(map(read, fields))
    return np.array(values, dtype.numpy)


def _read_integer(field):
    if not _INTEGER.match(field):
        raise ValueError("no integer")
    return int(field)


def _read_float(field):
    if _DECIMAL.match(field):
        return float(field)
    hexadecimal = _HEXADECIMAL.match(field)
    if hexadecimal:
        try:
            return float.fromhex(hexadecimal[1].decode())
        except OverflowError:
            return math.copysign(math.inf, -1 if hexadecimal[1][:1] == b"-" else 1)
    if _MARKED_NAN.match(field):
        return math.nan
    raise ValueError("no number")


def _complaint(fields, dtype, missing, place):
    for index, field in enumerate(fields):
        if field and field != missing:
            try:
                value = _read_float(field) if dtype.is_floating else _read_integer(field)
                valid = dtype.is_floating or dtype.min <= value <= dtype.max
            except ValueError:
                valid = False
            if not valid:
                return (
                    f"Field {place} in record {index} is not a valid {type_text(dtype)}: "
                    f"{_shown(field)}"
                )
    return f"Field {place} is not a valid {type_text(dtype)}"


def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=None,
    name=None,
):
    """Parse CSV records into one tensor per column, each of the records' shape.

    `record_defaults` gives for each column its dtype and the value of an empty field; an empty
    tensor makes the field required. `na_value` is a text that also means "empty".

    >>> numbers, words = tf.io.decode_csv(["1,a", ",b"], [[7], [""]])
    >>> numbers.numpy().tolist(), words.numpy().tolist()
    ([1, 7], [b'a', b'b'])
    """
    if not isinstance(record_defaults, list | tuple):
        raise TypeError(
            "`record_defaults` must be a list with a default value for each column, such as "
            f"[[0], [0.0], ['']]. Received: record_defaults={record_defaults!r}"
        )
    defaults = [convert_to_tensor(default) for default in record_defaults]
    chosen = _chosen_columns(select_cols, len(defaults))
    for argument, value in (("field_delim", field_delim), ("na_value", na_value)):
        if not isinstance(value, str | bytes):
            raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    types = [default.dtype for default in defaults]
    if not types:
        raise errors.InvalidArgumentError(
            None, None, "Length for attr 'OUT_TYPE' of 0 must be at least minimum 1 [Op:DecodeCSV]"
        )
    for dtype in types:
        if dtype not in _TYPES:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Value for attr 'OUT_TYPE' of {type_text(dtype)} is not in the list of allowed "
                f"values: {', '.join(map(type_text, _TYPES))}; record_defaults decides the dtype "
                "of each column [Op:DecodeCSV]",
            )
    attrs = {
        "OUT_TYPE": types,
        "field_delim": field_delim,
        "use_quote_delim": bool(use_quote_delim),
        "na_value": na_value,
        "select_cols": chosen,
    }
    return execute(DecodeCSV, (convert_to_tensor(records, string), *defaults), attrs)


def _chosen_columns(columns, count):
    if columns is None:
        return []
    if len(columns) != count:
        raise ValueError(
            f"Length of select_cols ({len(columns)}) and record_defaults ({count}) do not match."
        )
    if not isinstance(columns, list | tuple):
        raise TypeError(f"Expected list for 'select_cols' argument to 'decode_csv', not {columns}.")
    chosen = [int(column) for column in columns]
    if any(left >= right for left, right in itertools.pairwise(chosen)):
        raise ValueError(f"select_cols is not strictly increasing: {chosen}.")
    if chosen and chosen[0] < 0:
        raise ValueError(f"select_cols contains negative values: {chosen}.")
    return chosen

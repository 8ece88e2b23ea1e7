"""Formatting of numbers as strings, and parsing."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import (
    FLOATING,
    INTEGER,
    as_dtype,
    bool as bool_dtype,
    complex64,
    complex128,
    float32,
    float64,
    int32,
    int64,
    string,
    uint32,
    uint64,
)
from ...core.op import execute, op
from ...core.shape_rules import unchanged
from ..array.arguments import require_type
from .elements import each, filled, text

_READABLE = (float32, float64, int32, int64, uint32, uint64)


@op(
    "AsString",
    "input: T -> output: string",
    T=FLOATING | INTEGER | {complex64, complex128, bool_dtype, string},
    shape=unchanged,
    gradient=None,
)
def AsString(input, *, precision=-1, scientific=False, shortest=False, width=-1, fill=""):
    if len(fill) > 1:
        raise ValueError(f"Fill string must be one or fewer characters, got {fill!r}")
    if fill not in ("", " ", "0", "+", "-"):
        raise ValueError(f'Fill argument not supported: "{fill}"; use one of " ", "0", "+", "-"')
    if scientific and shortest:
        raise ValueError("Cannot select both scientific and shortest notation")
    kind = input.dtype.kind
    if kind == "O":
        return _padded_text(input, width, fill)
    if kind in "biu":
        name = input.dtype.name
        if scientific or shortest:
            raise ValueError(f"scientific and shortest format not supported for datatype {name}")
        if precision > -1:
            raise ValueError(f"precision not supported for datatype {name}")
    if kind == "b":
        return filled([b"true" if v else b"false" for v in input.ravel().tolist()], input.shape)
    if kind == "u":
        # Unsigned numbers never have a sign.
        fill = fill.strip("+ ")
    wide = f"{fill}{width}" if width > -1 else fill
    if kind in "iu" and not wide and input.size:
        # All numbers formatted as one string and split again: several times faster than one by one.
        return filled(str(input.ravel().tolist())[1:-1].encode().split(b", "), input.shape)
    if kind in "iu":
        write = f"%{wide}d".encode().__mod__
    else:
        letter = "e" if scientific else "g" if shortest else "f"
        digits = f".{precision}" if precision > -1 else ""
        write = _writer_of_floats(wide, digits, letter)
    if kind == "c":
        pairs = input.ravel().tolist()
        return filled([b"(%s,%s)" % (write(v.real), write(v.imag)) for v in pairs], input.shape)
    if kind not in "iuf":
        input = input.astype(np.float32)
    return filled([write(value) for value in np.ravel(input).tolist()], input.shape)


def _writer_of_floats(wide, digits, letter):
    finite = f"%{wide}{digits}{letter}".encode()
    # C pads infinities with blanks only, and shows the sign of a NaN.
    flag = wide[:1]
    blanks = f"%{'-' if flag == '-' else ''}{wide.lstrip('0+- ')}s"
    positive = flag if flag in ("+", " ") else ""

    def write(value):
        if math.isfinite(value):
            return finite % value
        sign = "-" if math.copysign(1.0, value) < 0 else positive
        return (blanks % f"{sign}{'nan' if math.isnan(value) else 'inf'}").encode()

    return write


def _padded_text(strings, width, fill):
    if fill == "-":
        return each(lambda value: value.ljust(width), strings)
    return each(lambda value: value.rjust(width), strings)


def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Each number as a string, in the format of C's printf.

    >>> tf.strings.as_string([3.14159, 2.0], precision=2).numpy().tolist()
    [b'3.14', b'2.00']
    """
    attrs = {}
    for argument, value in (("precision", precision), ("width", width)):
        if isinstance(value, str | bytes | float) or value is None:
            raise TypeError(f"Expected int for argument '{argument}' not {value!r}.")
    if precision != -1 or scientific or shortest or width != -1 or fill:
        attrs = {
            "precision": int(precision), "scientific": bool(scientific), "shortest": bool(shortest),
            "width": int(width), "fill": fill.decode() if isinstance(fill, bytes) else fill,
        }  # fmt: skip
    return execute(AsString, (convert_to_tensor(input),), attrs)


@op(
    "StringToNumber",
    "string_tensor: string -> output: out_type",
    shape=unchanged,
    gradient=None,
)
def StringToNumber(string_tensor, *, out_type=float32):
    read = read_float if out_type.is_floating else int
    try:
        values = _read_all(string_tensor.ravel().tolist(), read)
    except ValueError:
        raise ValueError(_unreadable(string_tensor, read, None)) from None
    if read is int:
        lowest, highest = int(out_type.min), int(out_type.max)
        in_range = not values or (lowest <= min(values) and max(values) <= highest)
        if not in_range or any(b"_" in each for each in string_tensor.flat):
            raise ValueError(_unreadable(string_tensor, read, (lowest, highest)))
    return np.array(values, out_type.numpy).reshape(string_tensor.shape)


def _read_all(texts, read):
    """The numbers that `read` parses; those in Python's syntax without a call for each."""
    if read is read_float and b"_" not in b" ".join(texts):
        try:
            return list(map(float, texts))
        except ValueError:
            pass
    return list(map(read, texts))


def read_float(text):
    """A number as C's strtod parses it: decimal or hexadecimal, infinity, NaN."""
    try:
        if b"_" not in text:
            return float(text)
    except ValueError:
        stripped = text.strip().lower()
        unsigned = stripped.lstrip(b"+-")
        if unsigned.startswith(b"0x") and len(stripped) - len(unsigned) < 2:
            return float.fromhex(stripped.decode())
        if unsigned.startswith(b"nan(") and unsigned.endswith(b")"):
            return math.nan
    raise ValueError("not a number")


def _unreadable(strings, read, limits):
    for each_string in strings.flat:
        try:
            value = read(each_string)
            if b"_" not in each_string and (limits is None or limits[0] <= value <= limits[1]):
                continue
        except ValueError:
            pass
        shown = each_string.decode(errors="backslashreplace")
        return f"StringToNumberOp could not correctly convert string: {shown}"
    return "StringToNumberOp could not convert the strings"


def to_number(input, out_type=float32, name=None):
    """The number that each string represents.

    >>> tf.strings.to_number(["1.55", "-3"]).numpy()
    array([ 1.55, -3.  ], dtype=float32)
    """
    out_type = as_dtype(out_type or float32)
    require_type("StringToNumber", "out_type", out_type, _READABLE)
    return execute(StringToNumber, (text(input),), {"out_type": out_type})

"""HDF5 datatypes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from .source import DamagedFile, UnknownStructure

_FIXED, _FLOAT, _STRING, _OPAQUE, _COMPOUND, _ENUM, _VARIABLE = 0, 1, 3, 5, 6, 8, 9
# Position and size of the exponent, and size of the mantissa, of IEEE 754 floats.
_FLOATS = {2: (10, 5, 10), 4: (23, 8, 23), 8: (52, 11, 52)}


@dataclass(frozen=True)
class Datatype:
    """The NumPy dtype of elements; variable-length strings are references into a heap instead."""

    dtype: np.dtype
    texts: bool = False


def datatype(data: bytes) -> Datatype:
    """The datatype of a datatype message."""
    return _datatype(data, 0)[0]


def _datatype(data: bytes, start: int) -> tuple[Datatype, int]:
    """A datatype, and the end position of its description."""
    head, bits, size = data[start], int.from_bytes(data[start + 1 : start + 4], "little"), 0
    (size,) = struct.unpack_from("<I", data, start + 4)
    kind, version = head & 15, head >> 4
    if not 1 <= version <= 5 or not size:
        raise DamagedFile(f"a datatype has the version {version} and the size {size}")
    after = start + 8
    if kind == _FIXED:
        offset, precision = struct.unpack_from("<HH", data, after)
        if size not in (1, 2, 4, 8) or offset or precision != 8 * size:
            raise UnknownStructure(f"integers of {precision} bits in {size} bytes")
        order = ">" if bits & 1 else "<"
        return Datatype(np.dtype(f"{order}{'i' if bits & 8 else 'u'}{size}")), after + 4
    if kind == _FLOAT:
        offset, precision, exponent, width, mantissa, digits, _ = struct.unpack_from(
            "<HHBBBBI", data, after
        )
        if bits & 0x40 or offset or mantissa or precision != 8 * size:
            raise UnknownStructure("floats with another layout than those of IEEE 754")
        if _FLOATS.get(size) != (exponent, width, digits):
            raise UnknownStructure(f"floats of {size} bytes that are not those of IEEE 754")
        return Datatype(np.dtype(f"{'>' if bits & 1 else '<'}f{size}")), after + 12
    if kind == _STRING:
        return Datatype(np.dtype(f"S{size}")), after
    if kind == _OPAQUE:
        return Datatype(np.dtype(f"V{size}")), after + (bits & 255)
    if kind == _ENUM:
        return _enumeration(data, after, bits & 0xFFFF, version, size)
    if kind == _VARIABLE:
        base, after = _datatype_below(data, after)
        if bits & 15 != 1 or size != 16 or base.dtype.itemsize != 1:
            raise UnknownStructure("sequences of any length that are no texts")
        return Datatype(np.dtype(object), texts=True), after
    if kind == _COMPOUND and bits & 0xFFFF == 2:
        return _complex(data, after, version, size)
    if kind in (2, 4, _COMPOUND, 7, 10):
        raise UnknownStructure(f"elements of the kind {kind} of HDF5")
    raise DamagedFile(f"there is no kind {kind} of datatypes")


def _datatype_below(data: bytes, start: int) -> tuple[Datatype, int]:
    """The base type of a derived datatype, which must be plain."""
    if data[start] & 15 not in (_FIXED, _FLOAT, _STRING):
        raise UnknownStructure("datatypes inside of datatypes")
    return _datatype(data, start)


def _enumeration(
    data: bytes, start: int, count: int, version: int, size: int
) -> tuple[Datatype, int]:
    """An enumeration: False and True are those of NumPy's bool."""
    base, after = _datatype_below(data, start)
    names = []
    for _ in range(count):
        end = data.index(b"\0", after)
        names.append(data[after:end])
        after = end + 1 if version >= 3 else after + _padded(end + 1 - after)
    values = np.frombuffer(data, base.dtype, count, after).tolist()
    after += count * base.dtype.itemsize
    if base.dtype.itemsize != size:
        raise DamagedFile("an enumeration has another size than its numbers")
    if dict(zip(names, values, strict=True)) == {b"FALSE": 0, b"TRUE": 1} and size == 1:
        return Datatype(np.dtype(bool)), after
    return base, after


def _complex(data: bytes, start: int, version: int, size: int) -> tuple[Datatype, int]:
    """A compound of two floats named r and i: a complex number."""
    after, parts = start, []
    for _ in range(2):
        end = data.index(b"\0", after)
        name = data[after:end]
        after = end + 1 if version >= 3 else after + _padded(end + 1 - after)
        width = 4 if version < 3 else (size.bit_length() + 7) // 8
        offset = int.from_bytes(data[after : after + width], "little")
        dimensions = data[after + 4] if version == 1 else 0
        base, after = _datatype_below(data, after + (32 if version == 1 else width))
        parts.append((name, offset, base.dtype.str, dimensions))
    float_type = np.dtype(parts[0][2])
    half = float_type.itemsize
    wanted = [(b"r", 0, float_type.str, 0), (b"i", half, float_type.str, 0)]
    if parts != wanted or float_type.kind != "f" or half not in (4, 8) or size != 2 * half:
        raise UnknownStructure("elements of several parts")
    return Datatype(np.dtype(f"{float_type.byteorder}c{size}")), after


def _padded(size: int) -> int:
    return (size + 7) // 8 * 8

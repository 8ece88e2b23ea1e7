"""Datasets of HDF5 files as arrays."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from . import headers
from .datatypes import Datatype, datatype
from .headers import Header
from .heaps import Texts, leaf_entries
from .source import UNDEFINED, DamagedFile, Source, UnknownStructure

_COMPACT, _CONTIGUOUS, _CHUNKED, _VIRTUAL = range(4)
_DEFLATE, _SHUFFLE, _FLETCHER32 = 1, 2, 3
_KNOWN_FILTERS = (*range(1, 7), 32000, 32001, 32004, 32008, 32013, 32015)


class Dataset:
    """An array in a file, read on demand."""

    def __init__(self, source: Source, header: Header, texts: Texts, name: str) -> None:
        self._source, self._texts, self.name = source, texts, name
        self._header = header
        if header.find(headers.EXTERNAL) is not None:
            raise DamagedFile(
                f"the values of {name!r} are in another file, where a model must not look"
            )
        space = headers.dataspace(_needed(header, headers.DATASPACE, name))
        self.shape: tuple[int, ...] = space or ()
        self._type: Datatype = datatype(_needed(header, headers.DATATYPE, name))
        self.dtype: np.dtype = self._type.dtype
        self._is_empty = space is None
        self.size = 0 if self._is_empty else math.prod(self.shape)
        self.ndim = len(self.shape)
        width = 16 if self._type.texts else self.dtype.itemsize
        self.nbytes = self.size * width
        if self.nbytes > source.most:
            raise DamagedFile(
                f"{name!r} should have {self.nbytes} bytes, more than a file of {source.size} can "
                "hold"
            )
        self._inside: bytes | None = None
        self._chunk: tuple[int, ...] | None = None
        self._address = UNDEFINED
        self._note_layout()

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<HDF5 dataset {self.name!r}: shape {self.shape}, type {self.dtype.str!r}>"

    def __getitem__(self, key: Any) -> Any:
        return self._read()[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self._read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def _read(self) -> np.ndarray:
        if self._is_empty:
            raise DamagedFile(f"{self.name!r} has no values and no shape")
        if self._type.texts:
            references = self._stored(np.dtype("V16"))
            found = [self._texts.text(each.tobytes()) for each in references.reshape(-1)]
            values = np.empty(len(found), object)
            values[:] = found
            return values.reshape(self.shape)
        return self._stored(self.dtype)

    def _note_layout(self) -> None:
        """Record the storage layout."""
        layout = _needed(self._header, headers.LAYOUT, self.name)
        self._filters = _pipeline(self._header.find(headers.FILTERS))
        version, kind = layout[0], layout[1]
        if version in (1, 2):
            raise UnknownStructure(f"a layout of version {version}")
        if version not in (3, 4):
            raise DamagedFile(f"the layout of {self.name!r} has the version {version}")
        if kind == _VIRTUAL:
            raise DamagedFile(
                f"the values of {self.name!r} are in other datasets, maybe of other files, where a "
                "model must not look"
            )
        if kind > _VIRTUAL:
            raise DamagedFile(f"the layout of {self.name!r} is of the kind {kind}")
        if kind == _CHUNKED and version == 4:
            raise UnknownStructure("chunks with an index of version 4")
        width = 16 if self._type.texts else self.dtype.itemsize
        if kind == _CHUNKED:
            rank = layout[2] - 1
            (self._address,) = struct.unpack_from("<Q", layout, 3)
            *chunk, element = struct.unpack_from(f"<{rank + 1}I", layout, 11)
            self._chunk = tuple(chunk)
            if rank != self.ndim or element != width or not all(chunk):
                raise DamagedFile(f"the chunks {self._chunk} of {self.name!r} do not fit its shape")
            size = math.prod(chunk) * width
            if size > self._source.most:
                raise DamagedFile(
                    f"a chunk of {self.name!r} has {size} bytes, more than the file can hold"
                )
            return
        if kind == _COMPACT:
            (size,) = struct.unpack_from("<H", layout, 2)
            self._inside = layout[4 : 4 + size]
            size = len(self._inside)
        else:
            self._address, size = struct.unpack_from("<QQ", layout, 2)
        if size != self.nbytes and not (kind == _CONTIGUOUS and self._address == UNDEFINED):
            raise DamagedFile(
                f"{self.name!r} has {size} bytes, but its shape {self.shape} needs {self.nbytes}"
            )

    def _stored(self, dtype: np.dtype) -> np.ndarray:
        """The elements in their stored form."""
        if self._inside is not None:
            return np.frombuffer(bytearray(self._inside), dtype).reshape(self.shape)
        if self._chunk is not None:
            return self._from_chunks(self._chunk, dtype)
        if self._address == UNDEFINED:
            return self._filled(dtype)
        values = np.empty(self.shape, dtype)
        self._source.read_into(self._address, values)
        return values

    def _filled(self, dtype: np.dtype) -> np.ndarray:
        """The fill values of elements that were never written."""
        values = np.zeros(self.shape, dtype)
        data = self._header.find(headers.FILL)
        if not self.size or data is None:
            return values
        if data[0] == 3:
            start = 6 if data[1] & 0x20 else None
        else:
            start = 8 if data[3] else None
        if start is not None:
            (size,) = struct.unpack_from("<i", data, start - 4)
            if size == dtype.itemsize:
                values[...] = np.frombuffer(data, dtype, 1, start)[0]
            elif size > 0:
                raise DamagedFile(f"the fill value of {self.name!r} has {size} bytes")
        return values

    def _from_chunks(self, chunk: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        counts = [-(-size // part) for size, part in zip(self.shape, chunk, strict=True)]
        size = math.prod(chunk) * dtype.itemsize
        values = self._filled(dtype)
        if not self.size:
            return values
        seen: set[tuple[int, ...]] = set()
        rank = len(chunk)
        for key, where in leaf_entries(self._source, self._address, 1, 8 + 8 * (rank + 1)):
            stored, skipped = struct.unpack_from("<II", key)
            offsets = struct.unpack_from(f"<{rank}Q", key, 8)
            place = tuple(at // part for at, part in zip(offsets, chunk, strict=True))
            if any(at % part for at, part in zip(offsets, chunk, strict=True)):
                raise DamagedFile(f"a chunk of {self.name!r} is at {offsets}")
            if any(at >= count for at, count in zip(place, counts, strict=True)):
                continue  # outside of a shape that was reduced
            if place in seen:
                raise DamagedFile(f"{self.name!r} has two chunks at {offsets}")
            seen.add(place)
            data = self._source.read(where, stored)
            data = _unfiltered(data, self._filters, skipped, size, self.name)
            if len(data) != size:
                raise DamagedFile(f"a chunk of {self.name!r} has {len(data)} bytes of {size}")
            block = np.frombuffer(data, dtype).reshape(chunk)
            region = tuple(
                slice(at, min(at + part, end))
                for at, part, end in zip(offsets, chunk, self.shape, strict=True)
            )
            values[region] = block[tuple(slice(0, each.stop - each.start) for each in region)]
        return values


def _needed(header: Header, kind: int, name: str) -> bytes:
    data = header.find(kind)
    if data is None:
        raise DamagedFile(f"the dataset {name!r} has no message of the kind {kind}")
    return data


def _pipeline(data: bytes | None) -> list[tuple[int, tuple[int, ...]]]:
    """The filter pipeline of the stored values, with its parameters."""
    if data is None:
        return []
    version, count = data[0], data[1]
    if version not in (1, 2):
        raise DamagedFile(f"a pipeline of filters has the version {version}")
    position = 8 if version == 1 else 2
    filters = []
    for _ in range(count):
        (kind,) = struct.unpack_from("<H", data, position)
        position += 2
        length = 0
        if version == 1 or kind >= 256:
            (length,) = struct.unpack_from("<H", data, position)
            position += 2
        _, number = struct.unpack_from("<HH", data, position)
        position += 4 + ((length + 7) // 8 * 8 if version == 1 else length)
        filters.append((kind, struct.unpack_from(f"<{number}I", data, position)))
        position += 4 * (number + (number % 2 if version == 1 else 0))
        if kind not in (_DEFLATE, _SHUFFLE, _FLETCHER32):
            if kind not in _KNOWN_FILTERS:
                raise DamagedFile(f"there is no filter {kind}")
            raise UnknownStructure(f"the filter {kind}")
    return filters


def _unfiltered(
    data: bytes, filters: list[tuple[int, tuple[int, ...]]], skipped: int, size: int, name: str
) -> bytes:
    """The bytes of a chunk after undoing the filters, at most `size` of them."""
    for index, (kind, parameters) in reversed(list(enumerate(filters))):
        if skipped >> index & 1:
            continue
        if kind == _DEFLATE:
            engine = zlib.decompressobj()
            try:
                data = engine.decompress(data, size + 4)
            except zlib.error as error:
                raise DamagedFile(f"a chunk of {name!r} cannot be inflated: {error}") from None
        elif kind == _FLETCHER32:
            if len(data) < 4 or not _has_fletcher32(data[:-4], data[-4:]):
                raise DamagedFile(f"the values of {name!r} do not have their checksum")
            data = data[:-4]
        else:
            width = parameters[0] if parameters else 1
            if width > 1:
                count = len(data) // width
                whole = np.frombuffer(data, np.uint8, count * width).reshape(width, count)
                data = whole.T.tobytes() + data[count * width :]
    return data


def _has_fletcher32(data: bytes, stored: bytes) -> bool:
    """Whether the Fletcher-32 checksum of data matches."""
    words = np.frombuffer(data + b"\0" * (len(data) % 2), ">u2")
    first = second = 0
    for start in range(0, len(words), 1 << 16):
        part = words[start : start + (1 << 16)].astype(np.uint64)
        total = int(part.sum())
        first += total
        second += (len(words) - start) * total - int(
            (part * np.arange(len(part), dtype=np.uint64)).sum()
        )
    (expected,) = struct.unpack("<I", stored)
    return (expected & 0xFFFF) % 65535 == first % 65535 and (expected >> 16) % 65535 == (
        second % 65535
    )

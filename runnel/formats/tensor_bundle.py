"""Tensor bundles: `<prefix>.index`, a table of what is where, and `<prefix>.data-…`, the values.

The empty key of the index holds a `BundleHeaderProto`, every other key a tensor's
`BundleEntryProto`. Numbers lie raw and little-endian in the data file. A tensor of strings is its
lengths as varints, the masked checksum of the lengths, and then the bytes.
"""

from __future__ import annotations

import glob
import math
import os
import re
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..core import dtypes
from ..core.dtypes import DType
from ..core.errors import DataLossError, NotFoundError, OpError, OutOfRangeError, UnimplementedError
from ..runtime.buffers import empty
from .bundle_messages import BundleEntryProto, BundleHeaderProto
from .masked_crc import crc32c, mask
from .safe_files import EarlyWriteOut, flush_folder, reserve, temporary_name, write_file
from .slice_keys import slice_key
from .sstable import read_table, write_table
from .wire import read_varint, varint

# So many bytes are asked for at once.
_CHUNK = 1 << 24
# So many are written at once: the checksum then finds them in the processor's cache.
_STRETCH = 1 << 20


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def index_path(prefix: str) -> str:
    """The file of the index."""
    return f"{prefix}.index"


def shard_files(prefix: str) -> list[str]:
    """The data files that there are for a prefix."""
    names = glob.glob(f"{glob.escape(prefix)}.data-*")
    return [name for name in names if _SHARD.fullmatch(name[len(prefix) :])]


_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}")


# Writing.


def write_bundle(prefix: str, tensors: Iterable[tuple[str, DType, Any]]) -> None:
    """Write named arrays; a bundle of that prefix is replaced, never left half overwritten.

    Everything is written under temporary names and flushed before it is renamed. Where there is a
    bundle already, its data file must stay until the index points elsewhere: the new data first
    becomes a shard "0 of 2", the index is switched to it, then the same file is linked under the
    usual name and the index switched again.
    """
    folder = os.path.dirname(prefix) or "."
    os.makedirs(folder, exist_ok=True)
    temporary = temporary_name(prefix)
    try:
        entries = _write_data(f"{temporary}.data", sorted(tensors, key=lambda item: item[0]))
        write_file(f"{temporary}.index", _index(entries, 1))
        if os.path.exists(index_path(prefix)):
            if not _replace(prefix, temporary, entries):
                return
        else:
            os.replace(f"{temporary}.data", data_path(prefix, 0, 1))
            flush_folder(folder)
        os.replace(f"{temporary}.index", index_path(prefix))
        flush_folder(folder)
    finally:
        for suffix in (".data", ".index", ".index2"):
            Path(temporary + suffix).unlink(missing_ok=True)
    _remove_other_shards(prefix)


def _replace(prefix: str, temporary: str, entries: list[tuple[str, Any]]) -> bool:
    """Bring new data in under the usual name while every moment has a whole bundle.

    Where files cannot have two names, it stays under the other name, and the result is False.
    """
    folder = os.path.dirname(prefix) or "."
    shards = _shards_aside(prefix)
    aside = data_path(prefix, 0, shards)
    write_file(f"{temporary}.index2", _index(entries, shards))
    os.replace(f"{temporary}.data", aside)
    for number in range(1, shards):
        write_file(data_path(prefix, number, shards), b"")
    flush_folder(folder)
    os.replace(f"{temporary}.index2", index_path(prefix))
    flush_folder(folder)
    try:
        os.link(aside, f"{temporary}.data")
    except OSError:
        return False
    os.replace(f"{temporary}.data", data_path(prefix, 0, 1))
    flush_folder(folder)
    return True


def _shards_aside(prefix: str) -> int:
    """A number of shards that the bundle there does not have.

    It has 2 when the last replacement was interrupted: its data is aside itself.
    """
    try:
        return 3 if BundleReader(prefix)._shards == 2 else 2
    except OpError:
        return 2


def _remove_other_shards(prefix: str) -> None:
    """Remove the data files of bundles that were there before."""
    for path in shard_files(prefix):
        if path != data_path(prefix, 0, 1):
            os.unlink(path)


def _write_data(path: str, tensors: list[tuple[str, DType, Any]]) -> list[tuple[str, Any]]:
    entries = []
    offset = 0
    with open(path, "wb") as file:
        reserve(file, sum(np.asarray(array).nbytes for _, dtype, array in tensors
                          if dtype is not dtypes.string))  # fmt: skip
        early = EarlyWriteOut(file)
        for name, dtype, array in tensors:
            array = np.asarray(array)
            entry = BundleEntryProto(dtype=dtype.as_datatype_enum, offset=offset)
            entry.shape.SetInParent()
            for size in array.shape:
                entry.shape.dim.add(size=size)
            if dtype is dtypes.string:
                data, crc = _string_bytes(array)
                file.write(data)
                size = len(data)
            else:
                flat = _little_endian(array)
                crc = size = 0
                while size < flat.nbytes:
                    stretch = flat[size : size + _STRETCH]
                    file.write(stretch.data)
                    size += stretch.nbytes
                    early.reach(offset + size)
                    crc = crc32c(stretch, crc)
            entry.size, entry.crc32c = size, mask(crc)
            offset += size
            entries.append((name, entry))
        file.flush()
        os.fsync(file.fileno())
    return entries


def _little_endian(array: np.ndarray) -> np.ndarray:
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not _IS_LITTLE):
        array = array.astype(array.dtype.newbyteorder("<"))
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


_IS_LITTLE = np.little_endian


def _string_bytes(array: np.ndarray) -> tuple[bytes, int]:
    strings = [bytes(each) for each in array.reshape(-1)]
    crc = crc32c(b"".join(map(_fixed_length, map(len, strings))))
    check = struct.pack("<I", mask(crc))
    text = b"".join(strings)
    crc = crc32c(text, crc32c(check, crc))
    return b"".join([varint(len(each)) for each in strings]) + check + text, crc


def _fixed_length(length: int) -> bytes:
    """A length as it goes into the checksum."""
    return struct.pack("<I" if length <= 0xFFFFFFFF else "<Q", length)


def _index(entries: list[tuple[str, Any]], shards: int) -> bytes:
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    items = [(b"", header.SerializeToString())]
    items += sorted((name.encode(), entry.SerializeToString()) for name, entry in entries)
    return write_table(items)


# Reading.


class BundleReader:
    """The tensors of a bundle, by name; every checksum is verified."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        path = index_path(prefix)
        try:
            data = Path(path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            raise NotFoundError(
                None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {prefix}",
            ) from None  # fmt: skip
        except IsADirectoryError:
            raise NotFoundError(None, None, f"{path} is a directory, not an index.") from None
        table = dict(read_table(data, path))
        self._shards = self._shard_count(table.pop(b"", None), path)
        self._entries: dict[bytes, Any] = {}
        for key, value in table.items():
            try:
                self._entries[key] = BundleEntryProto.FromString(value)
            except DecodeError:
                raise DataLossError(
                    None, None, f"{path} is corrupt: the entry of {key!r} cannot be read."
                ) from None
        slices = {
            slice_key(key.decode("utf-8", "replace"), _extents(each))
            for key, entry in self._entries.items()
            for each in entry.slices
        }
        self._names = [key for key in self._entries if key not in slices]

    @staticmethod
    def _shard_count(header: bytes | None, path: str) -> int:
        if header is None:
            raise DataLossError(None, None, f"{path} is corrupt: it has no header.")
        try:
            message = BundleHeaderProto.FromString(header)
        except DecodeError:
            raise DataLossError(None, None, f"{path} is corrupt: its header is bad.") from None
        if message.endianness:
            raise UnimplementedError(None, None, f"{path} is of a big-endian machine.")
        return int(message.num_shards)

    def names(self) -> list[str]:
        """The names of all tensors, sorted."""
        return [key.decode("utf-8", "replace") for key in self._names]

    def __contains__(self, name: str) -> bool:
        return name.encode() in self._entries

    def shape(self, name: str) -> list[int]:
        """The shape of a tensor."""
        return [int(dim.size) for dim in self._entry(name).shape.dim]

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        return self._dtype(self._entry(name), name)

    def stored_bytes(self, name: str) -> int:
        """The number of bytes that a tensor takes in the data files."""
        entry = self._entry(name)
        keys = [slice_key(name, _extents(each)) for each in entry.slices]
        parts = [self._entries[key] for key in keys if key in self._entries] if keys else [entry]
        return sum(int(part.size) for part in parts)

    def _entry(self, name: str) -> Any:
        entry = self._entries.get(name.encode())
        if entry is None:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint {self.prefix}")
        return entry

    def _dtype(self, entry: Any, name: str) -> DType:
        try:
            return dtypes.as_dtype(int(entry.dtype))
        except TypeError:
            raise self._loss(name, f"there is no dtype {entry.dtype}") from None

    def _loss(self, name: str, what: str) -> DataLossError:
        return DataLossError(
            None, None, f"Tensor {name!r} of checkpoint {self.prefix} is corrupt: {what}."
        )

    def read(self, name: str) -> np.ndarray:
        """The value of a tensor."""
        entry = self._entry(name)
        if entry.slices:
            return self._read_slices(name, entry)
        return self._read_entry(name, entry)

    def _read_entry(self, name: str, entry: Any) -> np.ndarray:
        dtype = self._dtype(entry, name)
        shape = tuple(dim.size for dim in entry.shape.dim)
        if any(size < 0 for size in shape):
            raise self._loss(name, f"it has the shape {shape}")
        read = self._read_strings if dtype is dtypes.string else self._read_numbers
        path = data_path(self.prefix, entry.shard_id, self._shards)
        try:
            with open(path, "rb", buffering=0) as file:
                self._check_place(name, entry, os.fstat(file.fileno()).st_size)
                return read(name, entry, file, dtype, shape)
        except FileNotFoundError:
            raise NotFoundError(None, None, f"{path}; No such file or directory") from None

    def _check_place(self, name: str, entry: Any, length: int) -> None:
        if entry.offset < 0 or entry.size < 0:
            raise self._loss(name, f"it has {entry.size} bytes at {entry.offset}")
        if entry.offset + entry.size > length:
            raise OutOfRangeError(
                None, None, f"Tensor {name!r} of checkpoint {self.prefix}: its {entry.size} bytes "
                f"at {entry.offset} go beyond the {length} bytes of the data file, which is "
                "truncated.",
            )  # fmt: skip

    def _read_numbers(
        self, name: str, entry: Any, file: Any, dtype: DType, shape: tuple[int, ...]
    ) -> np.ndarray:
        kind = dtype.numpy
        if kind is None or kind.hasobject or entry.size != math.prod(shape) * kind.itemsize:
            raise self._loss(
                name, f"{entry.size} bytes are not a tensor of {dtype.name} of the shape {shape}"
            )
        try:
            array = empty(shape, kind)
        except ValueError as error:
            raise self._loss(name, f"it has the shape {shape}: {error}") from None
        # The array owns its memory, so that a variable that takes it can change it in place.
        buffer = array.reshape(-1).view(np.uint8)
        _fill(file, entry.offset, buffer)
        if mask(crc32c(buffer)) != entry.crc32c:
            raise self._loss(name, "checksum mismatch of its bytes")
        return array if _IS_LITTLE else array.byteswap()

    def _read_strings(
        self, name: str, entry: Any, file: Any, dtype: DType, shape: tuple[int, ...]
    ) -> np.ndarray:
        count = math.prod(shape)
        if count > entry.size:
            raise self._loss(name, f"{count} strings are more than {entry.size} bytes hold")
        buffer = np.empty(entry.size, np.uint8)
        _fill(file, entry.offset, buffer)
        data = buffer.tobytes()
        lengths = []
        position = 0
        try:
            for _ in range(count):
                length, position = read_varint(data, position)
                lengths.append(length)
        except (IndexError, ValueError):
            raise self._loss(name, "the lengths of its strings cannot be read") from None
        start = position + 4
        if start + sum(lengths) != len(data):
            raise self._loss(name, "the lengths of its strings do not add up")
        crc = crc32c(b"".join(map(_fixed_length, lengths)))
        if struct.pack("<I", mask(crc)) != data[position:start]:
            raise self._loss(name, "checksum mismatch of the lengths of its strings")
        if mask(crc32c(data[position:], crc)) != entry.crc32c:
            raise self._loss(name, "checksum mismatch of its bytes")
        strings = np.empty(count, object)
        for i, length in enumerate(lengths):
            strings[i] = data[start : start + length]
            start += length
        return strings.reshape(shape)

    def _read_slices(self, name: str, entry: Any) -> np.ndarray:
        """A tensor that was saved in parts."""
        dtype = self._dtype(entry, name)
        shape = tuple(dim.size for dim in entry.shape.dim)
        parts = []
        for each in entry.slices:
            extents = _extents(each)
            part = self._entries.get(slice_key(name, extents))
            if part is None or len(extents) != len(shape):
                raise self._loss(name, f"its slice {extents} is missing")
            parts.append((extents, self._read_entry(name, part)))
        if sum(part.size for _, part in parts) != math.prod(shape):
            raise self._loss(name, "its slices do not cover it")
        whole = np.empty(shape, dtype.numpy)
        for extents, part in parts:
            place = tuple(
                slice(start, None if length is None else start + length)
                for start, length in extents
            )
            if whole[place].shape != part.shape:
                raise self._loss(name, f"its slice {extents} has the shape {part.shape}")
            whole[place] = part
        return whole


def _fill(file: Any, offset: int, buffer: np.ndarray) -> None:
    """Read bytes from a place of a file into a buffer."""
    file.seek(offset)
    view = buffer.data
    while view.nbytes:
        count = file.readinto(view[:_CHUNK])
        if not count:
            raise OutOfRangeError(None, None, f"{file.name} ended before its data.")
        view = view[count:]


def _extents(message: Any) -> list[tuple[int, int | None]]:
    """The start and length in each dimension of a slice; None for all of it."""
    return [
        (each.start, each.length if each.HasField("length") else None) for each in message.extent
    ]

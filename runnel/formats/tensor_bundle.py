"""Tensor bundles: the index `<prefix>.index`, an SSTable, and the values in `<prefix>.data-…`.

The empty key of the index holds a `BundleHeaderProto`, every other key a tensor's
`BundleEntryProto`. Numbers are stored raw and little-endian in the data file. A string tensor is
stored as its lengths in varints, the masked checksum of the lengths, and then the bytes.
"""

from __future__ import annotations

import contextlib
import glob
import math
import os
import re
import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from ..core import dtypes
from ..core.dtypes import DType
from ..core.errors import DataLossError, NotFoundError, OpError, OutOfRangeError, UnimplementedError
from ..runtime.buffers import empty
from .bundle_messages import BundleEntryProto, BundleHeaderProto
from .locks import exclusively, is_still
from .masked_crc import crc32c, mask
from .paths import refusals
from .safe_files import EarlyWriteOut, flush_folder, make_folders, reserve, workspace, write_file
from .slice_keys import slice_key
from .sstable import read_table, write_table
from .wire import read_varint, varint

# The number of bytes per read.
_CHUNK = 1 << 24
# The number of bytes per write: the checksum then finds them in the CPU cache.
_STRETCH = 1 << 20


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file of a shard."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def index_path(prefix: str) -> str:
    """The file of the index."""
    return f"{prefix}.index"


def shard_files(prefix: str) -> list[str]:
    """The existing data files of a prefix."""
    names = glob.glob(f"{glob.escape(prefix)}.data-*")
    return [name for name in names if _SHARD.fullmatch(name[len(prefix) :])]


_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}")


# Writing.


def write_bundle(prefix: str, tensors: Iterable[tuple[str, DType, Any]]) -> None:
    """Write named arrays; an existing bundle of that prefix is replaced atomically.

    Everything is written to temporary files and fsynced before it is renamed. If a bundle exists,
    its data file must stay until the index refers to the new one: the new data first becomes a
    shard "0 of 2", the index is switched to it, then the same file is linked under the usual name
    and the index switched again. Concurrent writers do this one after the other.
    """
    with refusals(prefix):
        make_folders(os.path.dirname(prefix) or ".")
        with workspace(prefix) as aside:
            data, index = os.path.join(aside, "data"), os.path.join(aside, "index")
            entries = _write_data(data, sorted(tensors, key=lambda item: item[0]))
            write_file(index, _index(entries, 1))
            with exclusively(prefix):
                _install(prefix, data, index, entries)


def _install(prefix: str, data: str, index: str, entries: list[tuple[str, Any]]) -> None:
    folder = os.path.dirname(prefix) or "."
    if not os.path.exists(index_path(prefix)):
        os.replace(data, data_path(prefix, 0, 1))
        flush_folder(folder)
    elif not _switch_data(prefix, data, index, entries):
        return
    os.replace(index, index_path(prefix))
    flush_folder(folder)
    _remove_other_shards(prefix)


def _switch_data(prefix: str, data: str, index: str, entries: list[tuple[str, Any]]) -> bool:
    """Move new data to the usual name such that a complete bundle exists at every moment.

    If the file system has no hard links, it keeps the other name, and the result is False.
    """
    folder = os.path.dirname(prefix) or "."
    shards = _shards_aside(prefix)
    aside = data_path(prefix, 0, shards)
    write_file(f"{index}2", _index(entries, shards))
    os.replace(data, aside)
    for number in range(1, shards):
        write_file(data_path(prefix, number, shards), b"")
    flush_folder(folder)
    os.replace(f"{index}2", index_path(prefix))
    flush_folder(folder)
    try:
        os.link(aside, data)
    except OSError:
        return False
    os.replace(data, data_path(prefix, 0, 1))
    flush_folder(folder)
    return True


def _shards_aside(prefix: str) -> int:
    """A shard count that the existing bundle does not have.

    It has 2 if the last replacement was interrupted: its data has the temporary name itself.
    """
    try:
        return 3 if BundleReader(prefix)._shards == 2 else 2
    except OpError:
        return 2


def _remove_other_shards(prefix: str) -> None:
    """Remove the data files of previous bundles."""
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
    """A length as it enters the checksum."""
    return struct.pack("<I" if length <= 0xFFFFFFFF else "<Q", length)


def _index(entries: list[tuple[str, Any]], shards: int) -> bytes:
    header = BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    items = [(b"", header.SerializeToString())]
    items += sorted((name.encode(), entry.SerializeToString()) for name, entry in entries)
    return write_table(items)


# Reading.

# The maximum number of data files kept open; others are opened for each read.
_KEPT_OPEN = 16


class BundleReader:
    """The tensors of a bundle, by name; every checksum is verified.

    The data files stay open until `release`, so that all tensors are of the indexed version even if
    the bundle is overwritten in the meantime. Later reads are of the version on disk at that time.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._handles: dict[int, int] = {}
        self._released = False
        self._read_index()

    def _read_index(self) -> None:
        """Read the index and open its data files."""
        path = index_path(self.prefix)
        while True:
            try:
                with open(path, "rb") as file:
                    self._load(file.read(), path)
                    self._open_data()
                    # Data files are replaced only while the index refers to others.
                    if os.name != "posix" or is_still(path, file.fileno()):
                        return
            except (FileNotFoundError, NotADirectoryError):
                raise NotFoundError(
                    None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any "
                    f"matching files for {self.prefix}",
                ) from None  # fmt: skip
            except IsADirectoryError:
                raise NotFoundError(None, None, f"{path} is a directory, not an index.") from None
            self.release()

    def _open_data(self) -> None:
        shards = {entry.shard_id for entry in self._entries.values()}
        if os.name != "posix" or len(shards) > _KEPT_OPEN:
            return
        for shard in shards:
            # A missing one is an error only for reads of a tensor in it.
            with contextlib.suppress(OSError):
                self._handles[shard] = self._opened(shard)
        self._released = False

    def _opened(self, shard: int) -> int:
        path = data_path(self.prefix, shard, self._shards)
        return os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))

    def release(self) -> None:
        """Close the data files."""
        self._released = True
        while self._handles:
            os.close(self._handles.popitem()[1])

    def __del__(self) -> None:
        self.release()

    def _load(self, data: bytes, path: str) -> None:
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
        """The size of a tensor in the data files, in bytes."""
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
        if self._released:
            self._read_index()
            try:
                return self._read(name)
            finally:
                self.release()
        return self._read(name)

    def _read(self, name: str) -> np.ndarray:
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
        held = self._handles.get(entry.shard_id)
        try:
            handle = self._opened(entry.shard_id) if held is None else held
        except FileNotFoundError:
            path = data_path(self.prefix, entry.shard_id, self._shards)
            raise NotFoundError(None, None, f"{path}; No such file or directory") from None
        try:
            self._check_place(name, entry, os.fstat(handle).st_size)
            return read(name, entry, handle, dtype, shape)
        finally:
            if held is None:
                os.close(handle)

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
        self, name: str, entry: Any, file: int, dtype: DType, shape: tuple[int, ...]
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
        # The array owns its memory, so that a variable that takes it over can be updated in place.
        buffer = array.reshape(-1).view(np.uint8)
        _fill(file, entry.offset, buffer)
        if mask(crc32c(buffer)) != entry.crc32c:
            raise self._loss(name, "checksum mismatch of its bytes")
        return array if _IS_LITTLE else array.byteswap()

    def _read_strings(
        self, name: str, entry: Any, file: int, dtype: DType, shape: tuple[int, ...]
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
        """Read a partitioned tensor."""
        dtype = self._dtype(entry, name)
        shape = tuple(dim.size for dim in entry.shape.dim)
        parts = [
            (self._place(name, shape, extents), self._part(name, extents))
            for extents in map(_extents, entry.slices)
        ]
        # Before any allocation: the sizes come from the file.
        count = sum(math.prod(each.stop - each.start for each in place) for place, _ in parts)
        if count != math.prod(shape):
            raise self._loss(name, "its slices do not cover it")
        sizes = [part.size for _, part in parts]
        if sum(sizes) > sum(map(self._length, {part.shard_id for _, part in parts})):
            raise self._loss(name, f"its slices have {sum(sizes)} bytes, more than the data files")
        kind = dtype.numpy
        if dtype is not dtypes.string and (
            kind is None or kind.hasobject or sum(sizes) != count * kind.itemsize
        ):
            raise self._loss(name, f"{sum(sizes)} bytes are not {count} of {dtype.name}")
        whole = np.empty(shape, kind)
        covered = np.zeros(shape, np.bool_)
        for place, part in parts:
            value = self._read_entry(name, part)
            if whole[place].shape != value.shape or value.dtype != whole.dtype:
                raise self._loss(name, f"its slice {place} holds {value.dtype} of {value.shape}")
            whole[place] = value
            covered[place] = True
        if not covered.all():
            raise self._loss(name, "its slices do not cover it")
        return whole

    def _part(self, name: str, extents: list[tuple[int, int | None]]) -> Any:
        part = self._entries.get(slice_key(name, extents))
        if part is None:
            raise self._loss(name, f"its slice {extents} is missing")
        return part

    def _length(self, shard: int) -> int:
        """The size of a data file in bytes; 0 if it does not exist."""
        try:
            return os.stat(data_path(self.prefix, shard, self._shards)).st_size
        except FileNotFoundError:
            return 0

    def _place(
        self, name: str, shape: tuple[int, ...], extents: list[tuple[int, int | None]]
    ) -> tuple[slice, ...]:
        """The position of a slice in a tensor."""
        if len(extents) != len(shape):
            raise self._loss(name, f"its slice {extents} does not fit the shape {shape}")
        place = tuple(
            slice(start, size if length is None else start + length)
            for (start, length), size in zip(extents, shape, strict=True)
        )
        if any(
            not 0 <= each.start <= each.stop <= size
            for each, size in zip(place, shape, strict=True)
        ):
            raise self._loss(name, f"its slice {extents} does not fit the shape {shape}")
        return place


def _fill(handle: int, offset: int, buffer: np.ndarray) -> None:
    """Read bytes at an offset of a file into a buffer."""
    view = buffer.data
    while view.nbytes:
        count = _read_at(handle, offset, view[:_CHUNK])
        if not count:
            raise OutOfRangeError(None, None, "A data file ended before its data.")
        offset += count
        view = view[count:]


def _read_at(handle: int, offset: int, view: memoryview) -> int:
    # Positional reads: threads and forked processes share the file position.
    if hasattr(os, "preadv"):
        return os.preadv(handle, [view], offset)
    with open(handle, "rb", buffering=0, closefd=False) as file:
        file.seek(offset)
        return file.readinto(view)


def _extents(message: Any) -> list[tuple[int, int | None]]:
    """The start and length of a slice in each dimension; None for the whole dimension."""
    return [
        (each.start, each.length if each.HasField("length") else None) for each in message.extent
    ]

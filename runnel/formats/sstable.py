"""SSTables in LevelDB's format: sorted keys and values in checksummed blocks, with an index.

A block holds entries with prefix-compressed keys, except at restart points, whose offsets end the
block. Each block is followed by a compression type byte (none here) and its masked CRC-32C. The
index block holds the last key and the offset of every data block; the footer, the offsets of the
index and of an empty metaindex, and a magic number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

from ..core.errors import DataLossError, UnimplementedError
from .masked_crc import crc32c, mask
from .wire import read_varint, varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_BLOCK = 256 * 1024
_RESTART_INTERVAL = 16
_TRAILER = 5


class _BlockBuilder:
    """Builds one block of entries."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._parts = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self.last_key = b""
        self.is_empty = True

    def __len__(self) -> int:
        return len(self._parts)

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since_restart == self._interval:
            self._restarts.append(len(self._parts))
            self._since_restart = 0
        else:
            limit = min(len(key), len(self.last_key))
            while shared < limit and key[shared] == self.last_key[shared]:
                shared += 1
        self._parts += varint(shared) + varint(len(key) - shared) + varint(len(value))
        self._parts += key[shared:]
        self._parts += value
        self._since_restart += 1
        self.last_key = key
        self.is_empty = False

    def finish(self) -> bytes:
        count = len(self._restarts)
        return bytes(self._parts) + struct.pack(f"<{count + 1}I", *self._restarts, count)


def write_table(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The table of keys and values, which must be sorted by key."""
    table = bytearray()
    index = _BlockBuilder(1)

    def append(block: bytes) -> bytes:
        handle = varint(len(table)) + varint(len(block))
        checked = block + b"\0"
        table.extend(checked + struct.pack("<I", mask(crc32c(checked))))
        return handle

    block = _BlockBuilder(_RESTART_INTERVAL)
    for key, value in items:
        block.add(key, value)
        if len(block) >= _BLOCK:
            index.add(block.last_key, append(block.finish()))
            block = _BlockBuilder(_RESTART_INTERVAL)
    if not block.is_empty:
        index.add(block.last_key, append(block.finish()))
    handles = append(_BlockBuilder(_RESTART_INTERVAL).finish())
    handles += append(index.finish())
    return bytes(table) + handles.ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", _MAGIC)


def read_table(data: bytes, source: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a table, every block verified; `source` names it in errors."""
    if len(data) < _FOOTER or struct.unpack("<Q", data[-8:])[0] != _MAGIC:
        raise DataLossError(
            None, None, f"{source} is not a table: bad magic number at its end. The file is "
            "truncated, or not the index of a checkpoint.",
        )  # fmt: skip
    footer = data[-_FOOTER:-8]
    try:
        places = []
        position = 0
        for _ in range(4):
            number, position = read_varint(footer, position)
            places.append(number)
        handles = [varint(number) for number in places]
        if b"".join(handles).ljust(len(footer), b"\0") != footer:
            raise ValueError("its footer is not what the places in it make")
        if places[2] + places[3] + _TRAILER != len(data) - _FOOTER:
            raise ValueError("there are bytes between its index and its footer")
        # The metaindex is unused, but verified like the rest.
        _block(data, handles[0] + handles[1], source)
        index = _block(data, handles[2] + handles[3], source)
        for _, handle in _entries(index, source):
            yield from _entries(_block(data, handle, source), source)
    except (IndexError, ValueError, struct.error) as error:
        raise DataLossError(None, None, f"{source} is corrupt: {error}.") from None


def _block(data: bytes, handle: bytes, source: str) -> bytes:
    start, position = read_varint(handle, 0)
    size, _ = read_varint(handle, position)
    end = start + size
    if end + _TRAILER > len(data) - _FOOTER:
        raise DataLossError(
            None, None, f"{source} is corrupt: a block of {size} bytes at {start} goes beyond the "
            f"{len(data)} bytes of the file.",
        )  # fmt: skip
    if struct.unpack_from("<I", data, end + 1)[0] != mask(crc32c(data[start : end + 1])):
        raise DataLossError(
            None, None, f"{source} is corrupt: checksum mismatch of the block at {start}."
        )
    if data[end]:
        raise UnimplementedError(
            None, None, f"{source} has compressed blocks (type {data[end]}), which checkpoints "
            "never have.",
        )  # fmt: skip
    return data[start:end]


def _entries(block: bytes, source: str) -> Iterator[tuple[bytes, bytes]]:
    restarts = struct.unpack("<I", block[-4:])[0]
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise ValueError("more restart points than bytes in a block")
    position = 0
    key = b""
    while position < end:
        shared, position = read_varint(block, position)
        own, position = read_varint(block, position)
        size, position = read_varint(block, position)
        if shared > len(key) or position + own + size > end:
            raise ValueError("an entry goes beyond its block")
        key = key[:shared] + block[position : position + own]
        position += own
        yield key, block[position : position + size]
        position += size

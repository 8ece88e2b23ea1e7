"""Access to an HDF5 file: every read is bounds-checked, and a sealed file is verified.

A file written by Runnel ends with a seal: the CRC-32C of all preceding bytes. HDF5 ignores bytes
after the end of file recorded in the superblock, and truncates them when a file is opened for
writing.
"""

from __future__ import annotations

import contextlib
import os
import struct
from types import TracebackType
from typing import Any

import numpy as np

from ..masked_crc import crc32c

# The undefined address.
UNDEFINED = 2**64 - 1
SIGNATURE = b"\x89HDF\r\n\x1a\n"
_SEAL = b"\x89Runnel\n"
# The seal's magic bytes, the number of bytes before it, their checksum, and that of the seal.
_SEAL_FORMAT = "<8sQI"
_SEAL_SIZE = struct.calcsize(_SEAL_FORMAT) + 4
_STRETCH = 1 << 20
# The maximum compression ratio of any HDF5 filter: the limit of deflate is 1,032.
_PACKED = 1040
_ROOM = 1 << 16
# Structures are read about once each; a higher count indicates a cycle.
_TIMES = 200


class DamagedFile(Exception):
    """The bytes are not a complete HDF5 file, or refer to addresses outside it."""


class UnknownStructure(Exception):
    """An HDF5 structure that Keras does not write, and that is not supported here."""


class Source:
    """The bytes of a file or of memory, from the start of the HDF5 file in them."""

    def __init__(self, where: str | bytes | memoryview) -> None:
        self._file: Any = None
        self._memory: memoryview | None = None
        if isinstance(where, str):
            self._file = open(where, "rb", buffering=0)  # noqa: SIM115 - closed by `close`
            self.size = os.fstat(self._file.fileno()).st_size
        else:
            self._memory = memoryview(where)
            self.size = self._memory.nbytes
        self.base = 0
        self._read = 0

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    @property
    def most(self) -> int:
        """The upper bound of the size of values in the file: a larger declared size is invalid."""
        return self.size * _PACKED + _ROOM

    def read(self, address: int, size: int) -> bytes:
        """Read a range of bytes."""
        self._require(address, size)
        self._read += size
        if self._read > self.size * _TIMES + _ROOM:
            raise DamagedFile("its structures lead to the same bytes again and again")
        start = self.base + address
        if self._memory is not None:
            return bytes(self._memory[start : start + size])
        self._file.seek(start)
        parts = []
        while size:
            part = self._file.read(size)
            if not part:
                raise DamagedFile("the file became shorter while it was read")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def read_into(self, address: int, array: np.ndarray) -> None:
        """Read bytes of the file into an array."""
        self._require(address, array.nbytes)
        if not array.nbytes:
            return
        target = array.reshape(-1).view(np.uint8).data
        start = self.base + address
        if self._memory is not None:
            target[:] = self._memory[start : start + array.nbytes]
            return
        self._file.seek(start)
        done = 0
        while done < array.nbytes:
            count = self._file.readinto(target[done:])
            if not count:
                raise DamagedFile("the file became shorter while it was read")
            done += count

    def _require(self, address: int, size: int) -> None:
        if address < 0 or size < 0 or self.base + address + size > self.size:
            raise DamagedFile(
                f"{size} bytes at {address} are beyond its end at {self.size - self.base}"
            )

    def check_seal(self) -> bool:
        """Verify the checksum of a sealed file; returns whether there is a seal."""
        if self.size < _SEAL_SIZE:
            return False
        seal = self.read(self.size - _SEAL_SIZE, _SEAL_SIZE)
        name, size, expected = struct.unpack_from(_SEAL_FORMAT, seal)
        (own,) = struct.unpack_from("<I", seal, _SEAL_SIZE - 4)
        before = self.size - _SEAL_SIZE
        # Any part of a seal tells that there was one.
        if name != _SEAL and size != before and self._checksum(before) != expected:
            return False
        if name != _SEAL or size != before or own != crc32c(seal[:-4]):
            raise DamagedFile("the checksum at its end was changed")
        if self._checksum(size) != expected:
            raise DamagedFile(
                "its bytes do not have the checksum that they were written with: some were changed"
            )
        self.size = size
        return True

    def _checksum(self, size: int) -> int:
        if self._memory is not None:
            return crc32c(self._memory[:size])
        return _checksum_of(self._file, size)


def _checksum_of(file: Any, size: int) -> int:
    """The checksum of the first bytes of a file."""
    file.seek(0)
    buffer, crc = memoryview(bytearray(min(size, _STRETCH))), 0
    while size:
        count = file.readinto(buffer[: min(size, _STRETCH)])
        if not count:
            raise DamagedFile("the file became shorter while it was read")
        crc = crc32c(buffer[:count], crc)
        size -= count
    return crc


def _seal_for(size: int, crc: int) -> bytes:
    seal = struct.pack(_SEAL_FORMAT, _SEAL, size, crc)
    return seal + struct.pack("<I", crc32c(seal))


def seal(path: str) -> None:
    """Append the checksum to a finished HDF5 file."""
    with open(path, "r+b", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        crc = _checksum_of(file, size)
        file.seek(size)
        file.write(_seal_for(size, crc))


def find_start(source: Source) -> None:
    """Find the superblock, at 0, 512, 1024, ... and set the base address."""
    start = 0
    while start + len(SIGNATURE) <= source.size:
        if source.read(start, len(SIGNATURE)) == SIGNATURE:
            source.base = start
            return
        start = 2 * start or 512
    raise DamagedFile("it has no signature of HDF5")


def is_hdf5(path: str) -> bool:
    """Whether a file has the signature of HDF5."""
    with contextlib.suppress(OSError, DamagedFile), Source(path) as source:
        find_start(source)
        return True
    return False

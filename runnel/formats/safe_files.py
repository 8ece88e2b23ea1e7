"""Writing files so that a crash leaves the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import secrets
import sys
from collections.abc import Callable
from typing import IO

_LARGE = 1 << 24
# So many bytes are handed to the disk at once.
_STRETCH = 1 << 22
# What file systems say that cannot reserve space.
_NOT_OFFERED = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def temporary_name(path: str) -> str:
    """A name beside a path that nobody else uses."""
    return f"{path}.tempstate{secrets.token_hex(8)}"


def write_file(path: str, data: bytes) -> None:
    """Write a file and flush it to the disk."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def reserve(file: IO[bytes], size: int) -> None:
    """Ask the system for the space of a large file at once, which makes writing it faster.

    A full disk is an error already here.
    """
    if size < _LARGE or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise


class EarlyWriteOut:
    """Sends the bytes of a file to the disk while the next ones are being written.

    The flush at the end, which this does not replace, then finds little left to do. Without it the
    disk stands still until the last byte is in memory. Where the system has no such call, nothing
    happens.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._handle = file.fileno()
        self._sent = 0

    def reach(self, position: int) -> None:
        """Say that everything before a position is written."""
        length = position - self._sent
        if length >= _STRETCH:
            start = _write_out()
            if start is not None:
                # Only a hint: an error of the disk comes out of the flush at the end.
                start(self._handle, self._sent, length, _SYNC_FILE_RANGE_WRITE)
            self._sent = position


_SYNC_FILE_RANGE_WRITE = 2


@functools.cache
def _write_out() -> Callable[[int, int, int, int], int] | None:
    """Linux's `sync_file_range`, which starts writing a part of a file and does not wait for it."""
    if sys.platform != "linux":
        return None
    import ctypes

    call = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


def replace_file(path: str, data: bytes) -> None:
    """Put new contents in the place of a file at once."""
    temporary = temporary_name(path)
    try:
        write_file(temporary, data)
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    flush_folder(os.path.dirname(path) or ".")


def flush_folder(folder: str) -> None:
    """Flush the names in a folder to the disk, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

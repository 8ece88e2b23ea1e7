"""Crash-safe file writes: after a crash there is the old file or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import IO

from .locks import LOCK_ENDING, is_still, lock_file, release

_LARGE = 1 << 24
# The number of bytes that are written out at once.
_STRETCH = 1 << 22
# The error codes of file systems that cannot preallocate space.
_NOT_OFFERED = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def write_file(path: str, data: bytes) -> None:
    """Write a file and fsync it."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def reserve(file: IO[bytes], size: int) -> None:
    """Preallocate the space of a large file, which makes writing it faster.

    A full disk is an error here already.
    """
    if size < _LARGE or not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise


class EarlyWriteOut:
    """Starts write-back of a file's bytes while later ones are being written.

    The final fsync, which this does not replace, then has little left to do. Without it the disk is
    idle until the last byte is in memory. If the system has no such call, this is a no-op.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._handle = file.fileno()
        self._sent = 0

    def reach(self, position: int) -> None:
        """Notify that everything before a position is written."""
        length = position - self._sent
        if length >= _STRETCH:
            start = _write_out()
            if start is not None:
                # Only a hint: a disk error is reported by the final fsync.
                start(self._handle, self._sent, length, _SYNC_FILE_RANGE_WRITE)
            self._sent = position


_SYNC_FILE_RANGE_WRITE = 2


@functools.cache
def _write_out() -> Callable[[int, int, int, int], int] | None:
    """Linux's `sync_file_range`, which starts the write-back of a range without waiting for it."""
    if sys.platform != "linux":
        return None
    import ctypes

    call = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


@contextlib.contextmanager
def workspace(path: str) -> Iterator[str]:
    """A temporary folder next to a path, in which its replacement is prepared.

    It is locked while in use, and removed afterwards. Leftovers of killed processes are recognized
    by their free locks, and removed as well.
    """
    folder, name = os.path.split(path)
    start = os.path.join(folder, f".{name[:50]}.tempstate")
    remove_leftovers(start)
    while True:
        place = f"{start}{secrets.token_hex(8)}"
        os.mkdir(place, 0o700)
        lock = os.path.join(place, _LOCK)
        try:
            handle = lock_file(lock)
        except FileNotFoundError:
            # Removed as a leftover, before it was locked.
            continue
        assert handle is not None
        if is_still(lock, handle):
            break
        release(handle)
    try:
        yield place
    finally:
        if os.name != "posix":
            release(handle)
        _remove_workspace(place)
        if os.name == "posix":
            release(handle)


_LOCK = ".lock"


def remove_leftovers(start: str) -> None:
    """Remove leftovers of killed processes whose names have this prefix."""
    folder, name = os.path.split(start)
    try:
        found = [each for each in os.listdir(folder or ".") if each.startswith(name)]
    except OSError:
        return
    for each in found:
        place = os.path.join(folder, each)
        if _WORKSPACE.search(each):
            # A folder without a lock is empty: its owner is about to lock it, or was killed before.
            with contextlib.suppress(OSError):
                os.rmdir(place)
            _remove_unlocked(place, os.path.join(place, _LOCK))
        elif each.endswith(LOCK_ENDING):
            _remove_unlocked(place, place)


def _remove_workspace(place: str) -> None:
    """Remove a folder, its lock last: without a lock it is empty, even if this is interrupted."""
    with contextlib.suppress(OSError):
        for each in os.scandir(place):
            if each.is_dir(follow_symlinks=False):
                shutil.rmtree(each.path, ignore_errors=True)
            elif each.name != _LOCK:
                os.unlink(each.path)
        os.unlink(os.path.join(place, _LOCK))
        os.rmdir(place)


_WORKSPACE = re.compile(r"\.tempstate[0-9a-f]{16}$")


def _remove_unlocked(place: str, lock: str) -> None:
    if not os.path.exists(lock):
        return
    with contextlib.suppress(OSError):
        handle = lock_file(lock, wait=False)
        if handle is None:
            return
        try:
            if place != lock:
                _remove_workspace(place)
            elif is_still(lock, handle):
                os.unlink(lock)
        finally:
            release(handle)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """The name of a new file to write; it replaces `path` on success."""
    with workspace(path) as folder:
        fresh = os.path.join(folder, os.path.basename(path))
        yield fresh
        flush_file(fresh)
        with contextlib.suppress(OSError):
            shutil.copymode(path, fresh)
        os.replace(fresh, path)
        flush_folder(os.path.dirname(path) or ".")


def replace_file(path: str, data: bytes) -> None:
    """Replace the contents of a file atomically."""
    with replacing(path) as fresh, open(fresh, "wb") as file:
        file.write(data)


def make_folders(path: str) -> None:
    """Create a folder and its parents durably."""
    path = os.path.abspath(path)
    missing = []
    while not os.path.isdir(path):
        if os.path.lexists(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        os.makedirs(each, exist_ok=True)
        flush_folder(os.path.dirname(each))


def flush_file(path: str) -> None:
    """Fsync a file."""
    # Windows flushes only files opened for writing.
    handle = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_tree(folder: str) -> None:
    """Fsync a folder and everything in it."""
    for holder, _, names in os.walk(folder, topdown=False):
        for name in names:
            each = os.path.join(holder, name)
            if os.path.isfile(each) and not os.path.islink(each):
                flush_file(each)
        flush_folder(holder)


def flush_folder(folder: str) -> None:
    """Fsync the entries of a folder, where the system supports it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NOT_OFFERED:
            raise
    finally:
        os.close(handle)

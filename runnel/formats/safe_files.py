"""Writing files so that a crash leaves the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import IO

_LARGE = 1 << 24
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

"""Writing files so that a crash leaves the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets


def temporary_name(path: str) -> str:
    """A name beside a path that nobody else uses."""
    return f"{path}.tempstate{secrets.token_hex(8)}"


def write_file(path: str, data: bytes) -> None:
    """Write a file and flush it to the disk."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


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

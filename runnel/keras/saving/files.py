"""Files of models: which kind one is, and writing that never destroys the old one."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...formats import safe_files


def h5() -> Any:
    """The h5py package."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            "Saving and loading weights needs the package h5py, which is not installed: "
            "`pip install h5py`."
        ) from None
    return h5py


@contextmanager
def h5_file(path: str) -> Iterator[Any]:
    """A new HDF5 file, made in memory and written when it is complete.

    HDF5 itself may end the program with a segmentation fault when the disk is full.
    """
    buffer = io.BytesIO()
    with h5().File(buffer, "w") as file:
        yield file
    with open(path, "wb") as written:
        written.write(buffer.getbuffer())


@contextmanager
def replacing(path: str, overwrite: bool = True) -> Iterator[str | None]:
    """A temporary name to write to; it takes the place of the file when all went well.

    None where there is a file already and the user, when asked, wants to keep it.
    """
    path = os.path.realpath(path)
    if not overwrite and os.path.exists(path) and not user_agrees(path):
        yield None
        return
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            2, "There is no such folder; make it first, for instance with os.makedirs", folder
        )
    with safe_files.replacing(path) as fresh:
        yield fresh


def user_agrees(path: str) -> bool:
    """Ask whether a file may be overwritten."""
    answer = ""
    while answer not in ("y", "n"):
        answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    return answer == "y"


def require_file(path: str) -> None:
    """Refuse a path where there is nothing."""
    if not os.path.exists(path):
        raise OSError(f"No file or directory found at {path}")


def is_zip(path: str) -> bool:
    """Whether a file is a model in the .keras format."""
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)

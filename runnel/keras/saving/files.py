"""Model files: format detection, safe reading of untrusted files, atomic writing."""

from __future__ import annotations

import dis
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import runnel as tf

from ...formats import hdf5, safe_files
from ..code_objects import is_trusted
from ..loading_limits import calls_of_model, weights_of_file


class DamagedFileError(OSError, ValueError):
    """A damaged or malicious file of a model or of weights."""


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Read an untrusted file: any failure becomes one kind of error.

    Errors raised on purpose are passed through, since they carry advice, and so are those from
    custom classes.
    """
    try:
        with calls_of_model():
            yield
    except hdf5.DamagedFile as error:
        raise DamagedFileError(f"The file {path} is damaged: {error}.") from error
    except Exception as error:
        if isinstance(error, DamagedFileError) or _is_meant(error):
            raise
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise DamagedFileError(
            f"The file {path} is damaged, or no file of Keras: what is in it leads to {what}"
        ) from error


@contextmanager
def reading_config() -> Iterator[None]:
    """Read an untrusted config: malformed content becomes a ValueError or TypeError."""
    try:
        with calls_of_model():
            yield
    except _SENSELESS as error:
        if _is_meant(error):
            raise
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ValueError(f"The config is not that of a model: it leads to {what}") from error


_SENSELESS = (
    *(AttributeError, ArithmeticError, AssertionError, LookupError, MemoryError),
    RecursionError,
)
_MEANT = (ValueError, TypeError, RuntimeError, NotImplementedError, ImportError, OSError)
_RAISE = dis.opmap["RAISE_VARARGS"]


def _is_meant(error: Exception) -> bool:
    """Whether an error was raised on purpose here, or in user code."""
    trace = error.__traceback__
    while trace is not None:
        code, module = trace.tb_frame.f_code, trace.tb_frame.f_globals.get("__name__", "")
        package = module.partition(".")[0]
        ours = package == tf.__name__
        if not ours and package not in {"numpy", "google", *sys.stdlib_module_names}:
            return True
        last = code.co_code[trace.tb_lasti] == _RAISE
        trace = trace.tb_next
    return ours and last and isinstance(error, (*_MEANT, tf.errors.OpError))


@contextmanager
def reading_h5(where: str | bytes) -> Iterator[hdf5.Group]:
    """The groups in an HDF5 file, or in its bytes, all validated before use."""
    with hdf5.Source(where) as source:
        source.check_seal()
        try:
            root = hdf5.open_group(source)
            root.check()
        except hdf5.UnknownStructure as reason:
            words = str(reason)
        else:
            yield root
            return
    from ...formats.hdf5.foreign import plain_copy

    with plain_copy(where, words) as copy, hdf5.Source(copy) as source:
        try:
            root = hdf5.open_group(source)
            root.check()
        except hdf5.UnknownStructure as reason:
            raise hdf5.DamagedFile(f"it has {reason}, which models do not have") from None
        yield root


def limits_of(weights: hdf5.Group) -> Any:
    """The memory limit for a model with these weights; none if the file is trusted."""
    return nullcontext() if is_trusted() else weights_of_file(weights.total_bytes)


@contextmanager
def writing_h5(path: str) -> Iterator[Any]:
    """A new HDF5 file, built in memory, written once complete, with a checksum.

    HDF5 itself may crash with a segmentation fault when the disk is full.
    """
    buffer = io.BytesIO()
    with h5().File(buffer, "w", libver="earliest") as file:
        yield file
    with open(path, "wb") as written:
        written.write(buffer.getbuffer())
    hdf5.seal(path)


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
    """A new HDF5 file, built in memory and written once complete.

    HDF5 itself may crash with a segmentation fault when the disk is full.
    """
    buffer = io.BytesIO()
    with h5().File(buffer, "w") as file:
        yield file
    with open(path, "wb") as written:
        written.write(buffer.getbuffer())


@contextmanager
def replacing(path: str, overwrite: bool = True) -> Iterator[str | None]:
    """A temporary path to write to; it replaces the file atomically on success.

    None if the file exists and the user, when asked, declines to overwrite it.
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
    """Raise if a path does not exist."""
    if not os.path.exists(path):
        raise OSError(f"No file or directory found at {path}")


def is_hdf5(path: str) -> bool:
    """Whether a file has the signature of HDF5."""
    return hdf5.is_hdf5(path)


def is_zip(path: str) -> bool:
    """Whether a file is a model in the .keras format."""
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)

"""Atomic replacement of folders: at every moment there is the old one or the new one.

The new folder is prepared in a workspace and exchanged with the old one, which Linux does
atomically. Where that is not possible (other systems; a mount point or working directory) it is
moved into the old folder under the name `COMMITTED`: from then on it is the current version, and
whatever process loads or saves there next completes the move of its files if the saver was killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..core.errors import UnavailableError
from ..formats.locks import LOCK_ENDING, exclusively
from ..formats.paths import refusals
from ..formats.safe_files import (
    flush_file,
    flush_folder,
    flush_tree,
    make_folders,
    remove_leftovers,
    workspace,
)
from ..formats.saved_model_names import (
    ASSETS_DIRECTORY,
    DEBUG_DIRECTORY,
    FINGERPRINT_FILENAME,
    KERAS_METADATA_FILENAME,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    VARIABLES_DIRECTORY,
)

COMMITTED = ".saved_model.committed"

# The files of a SavedModel in a folder; all others belong to the user, and are preserved.
_OF_SAVED_MODELS = frozenset(
    {ASSETS_DIRECTORY, DEBUG_DIRECTORY, FINGERPRINT_FILENAME, KERAS_METADATA_FILENAME, COMMITTED}
    | {SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT, VARIABLES_DIRECTORY}
)
_PASSING = re.compile(rf"\.tempstate[0-9a-f]{{16}}$|{re.escape(LOCK_ENDING)}$")
_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def replacing_folder(path: str) -> Iterator[str]:
    """A temporary folder to write to; it replaces `path` on success.

    Unrelated files of an existing folder are preserved. On failure the old contents stay unchanged.
    """
    path = os.path.realpath(path)
    with refusals(path):
        if os.path.exists(path) and not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, "There is a file, not a directory", path)
        make_folders(os.path.dirname(path))
        complete(path)
        inside = os.path.isdir(path) and _must_stay(path)
        if inside:
            # Left by a saver that could not write next to the folder, or was killed in here.
            remove_leftovers(os.path.join(path, f".{os.path.basename(path)[:50]}."))
        name = os.path.join(path, os.path.basename(path)) if inside else path
        with workspace(name) as aside:
            new = os.path.join(aside, "new")
            os.mkdir(new)
            yield new
            flush_tree(new)
            with exclusively(name):
                if os.path.isdir(path):
                    os.chmod(new, os.stat(path).st_mode & 0o7777)
                if inside or not _change_places(new, path):
                    _commit(new, path)


def _must_stay(path: str) -> bool:
    """Whether a folder itself cannot be replaced, only its contents."""
    if os.path.ismount(path) or not os.access(os.path.dirname(path), os.W_OK):
        return True
    with contextlib.suppress(OSError):
        return os.path.join(os.path.realpath(os.getcwd()), "").startswith(os.path.join(path, ""))
    return False


def _change_places(new: str, path: str) -> bool:
    """Exchange a folder with an existing one atomically; False if that is not possible."""
    parent = os.path.dirname(path)
    if not os.path.isdir(path) or not os.listdir(path):
        try:
            os.rename(new, path)
        except OSError:
            if not os.path.isdir(path):
                raise
            return False
        flush_folder(parent)
        return True
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if os.name == "posix" else None
    if rename is None or not _keep_others(path, new):
        return False
    if rename(_HERE, os.fsencode(new), _HERE, os.fsencode(path), _EXCHANGE) != 0:
        return False
    flush_folder(parent)
    flush_folder(os.path.dirname(new))
    # Files that others added to the old folder in the last moment.
    for name in _others(new):
        if not os.path.lexists(os.path.join(path, name)):
            os.rename(os.path.join(new, name), os.path.join(path, name))
    return True


def _others(folder: str) -> list[str]:
    """The names in a folder that do not belong to a SavedModel."""
    names = os.listdir(folder)
    return [name for name in names if name not in _OF_SAVED_MODELS and not _PASSING.search(name)]


def _keep_others(path: str, new: str) -> bool:
    """Hard-link unrelated files into the new folder; False if that is not possible."""
    for name in _others(path):
        place = os.path.join(new, name)
        # Left by an earlier attempt.
        if not os.path.lexists(place) and not _link(os.path.join(path, name), place):
            return False
    flush_folder(new)
    return True


def _link(source: str, target: str) -> bool:
    if os.path.isdir(source) and not os.path.islink(source):
        os.mkdir(target)
        linked = [
            _link(os.path.join(source, name), os.path.join(target, name))
            for name in os.listdir(source)
        ]
        shutil.copystat(source, target)
        flush_folder(target)
        return all(linked)
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as failure:
        if failure.errno == errno.EXDEV:
            # There is a mount point in the folder.
            return False
        shutil.copy2(source, target, follow_symlinks=False)
        if not os.path.islink(target):
            flush_file(target)
    return True


def _commit(new: str, path: str) -> None:
    """Make a prepared folder the current version, and move its contents into place."""
    with exclusively(os.path.join(path, COMMITTED)):
        _move_committed(path)
        os.rename(new, os.path.join(path, COMMITTED))
        flush_folder(path)
        _move_committed(path)


def complete(path: str) -> None:
    """Complete a commit that a killed saver had begun; wait for one in progress."""
    if os.path.isdir(os.path.join(path, COMMITTED)):
        with exclusively(os.path.join(path, COMMITTED)):
            _move_committed(path)


def _move_committed(path: str) -> None:
    committed = os.path.join(path, COMMITTED)
    if os.path.isdir(committed):
        _move_content(committed, path)
        shutil.rmtree(committed)
        flush_folder(path)


def _move_content(source: str, target: str) -> None:
    # The message last: programs without this protocol do not find a partial new SavedModel.
    for name in sorted(os.listdir(source), key=lambda name: name == SAVED_MODEL_FILENAME_PB):
        fresh, place = os.path.join(source, name), os.path.join(target, name)
        if os.path.isdir(fresh) and os.path.isdir(place) and not os.path.islink(fresh):
            _move_content(fresh, place)
        elif not (os.path.lexists(place) and os.path.samestat(os.lstat(fresh), os.lstat(place))):
            os.replace(fresh, place)
    flush_folder(target)


_ATTEMPTS = 20
_HALF_DONE = (
    "A program that was replacing the SavedModel at {path} was ended before all files had their "
    "places. Load it once as a user who may write there ({failure})."
)
_Loaded = TypeVar("_Loaded")


def of_one_version(path: str, load: Callable[[], _Loaded]) -> _Loaded:
    """The result of loading from a folder, retried if another version was written meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            complete(path)
        except OSError as failure:
            raise OSError(_HALF_DONE.format(path=path, failure=failure)) from None
        before = _version_in(path)
        try:
            loaded = load()
        except Exception:
            if _version_in(path) == before:
                raise
        else:
            if _version_in(path) == before:
                return loaded
    raise UnavailableError(
        None, None, f"The SavedModel at {path} is replaced again and again while it is loaded."
    )


def _version_in(path: str) -> object:
    """A key that differs between versions of a SavedModel in the same folder."""
    if os.path.isdir(os.path.join(path, COMMITTED)):
        return object()
    for name in (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT):
        with contextlib.suppress(OSError):
            found = os.stat(os.path.join(path, name))
            return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
    return None

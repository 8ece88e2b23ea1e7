"""Folders that are replaced as a whole: at every moment there is the old one or the new one."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from ..formats.safe_files import flush_folder
from ..formats.saved_model_names import (
    ASSETS_DIRECTORY,
    DEBUG_DIRECTORY,
    FINGERPRINT_FILENAME,
    KERAS_METADATA_FILENAME,
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    VARIABLES_DIRECTORY,
)

# What a folder may hold for it to be a SavedModel and nothing else.
_OF_SAVED_MODELS = frozenset(
    {ASSETS_DIRECTORY, DEBUG_DIRECTORY, FINGERPRINT_FILENAME, KERAS_METADATA_FILENAME}
    | {SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT, VARIABLES_DIRECTORY}
)
_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE


@contextmanager
def replacing_folder(path: str) -> Iterator[str]:
    """A temporary folder to write to; it becomes `path` when all went well.

    Files of others in a folder that is there already stay. What was there stays as it was when
    anything goes wrong.
    """
    path = os.path.realpath(path)
    parent = os.path.dirname(path)
    os.makedirs(parent, exist_ok=True)
    if os.path.exists(path) and not os.path.isdir(path):
        raise FileExistsError(17, "There is a file where the folder of a SavedModel goes", path)
    temporary = f"{path}.tempstate{secrets.token_hex(8)}"
    os.mkdir(temporary)
    try:
        yield temporary
        _flush(temporary)
        _install(temporary, path)
        flush_folder(parent)
    finally:
        # After an exchange, this is what was there before.
        shutil.rmtree(temporary, ignore_errors=True)


def _flush(folder: str) -> None:
    for holder, _, _ in os.walk(folder):
        flush_folder(holder)


def _install(temporary: str, path: str) -> None:
    present = set(os.listdir(path)) if os.path.isdir(path) else set()
    if os.path.isdir(path):
        os.chmod(temporary, os.stat(path).st_mode & 0o7777)
    if not present:
        if os.path.isdir(path):
            os.rmdir(path)
        os.rename(temporary, path)
    elif present <= _OF_SAVED_MODELS and not os.path.samefile(path, os.getcwd()):
        _exchange(temporary, path)
    else:
        _merge(temporary, path)


def _exchange(temporary: str, path: str) -> None:
    """Let two folders change places, at once where the system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
        if rename(_HERE, os.fsencode(temporary), _HERE, os.fsencode(path), _EXCHANGE) == 0:
            return
    except (AttributeError, OSError):
        pass
    aside = f"{temporary}.old"
    os.rename(path, aside)
    try:
        os.rename(temporary, path)
    except OSError:
        os.rename(aside, path)
        raise
    os.rename(aside, temporary)


def _merge(temporary: str, path: str) -> None:
    """Bring files in one by one, the message last: without it there is no SavedModel."""
    names = sorted(os.listdir(temporary), key=lambda name: name == SAVED_MODEL_FILENAME_PB)
    for name in names:
        source, target = os.path.join(temporary, name), os.path.join(path, name)
        if not os.path.isdir(source):
            os.replace(source, target)
        elif os.path.isdir(target):
            for each in sorted(os.listdir(source)):
                os.replace(os.path.join(source, each), os.path.join(target, each))
        else:
            os.rename(source, target)

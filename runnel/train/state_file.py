"""The text file `checkpoint` of a folder: the list of checkpoints, and the latest one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format

from ..core.logger import get_logger
from ..formats.bundle_messages import CheckpointState
from ..formats.paths import local
from ..formats.safe_files import replace_file
from ..formats.tensor_bundle import index_path, shard_files

# The maximum size of a `checkpoint` file. A hundred thousand checkpoints take less.
_LARGEST = 1 << 24


def _state_path(folder: str, latest_filename: str | None) -> str:
    return os.path.join(folder, latest_filename or "checkpoint")


def checkpoint_exists(prefix: str) -> bool:
    """Whether the files of a checkpoint exist: its index and at least one data file."""
    return os.path.exists(index_path(prefix)) and bool(shard_files(prefix))


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Replace the `checkpoint` file of a folder; paths in the folder are made relative to it."""
    paths = list(all_model_checkpoint_paths or [])
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError(
            f"all_model_checkpoint_timestamps has {len(times)} entries, all_model_checkpoint_paths "
            f"{len(paths)}: there must be one for every path."
        )
    state = CheckpointState(
        model_checkpoint_path=_relative(model_checkpoint_path, save_dir),
        all_model_checkpoint_paths=[_relative(path, save_dir) for path in paths],
        all_model_checkpoint_timestamps=times,
    )
    if last_preserved_timestamp is not None:
        state.last_preserved_timestamp = last_preserved_timestamp
    text = text_format.MessageToString(state)
    replace_file(_state_path(save_dir, latest_filename), text.encode())


def _relative(path: str, folder: str) -> str:
    """The path relative to the folder: it stays valid when the folder is moved."""
    if os.path.isabs(folder) != os.path.isabs(path):
        folder, path = os.path.abspath(folder), os.path.abspath(path)
    relative = os.path.relpath(path, folder or ".")
    return path if relative.startswith("..") else relative


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The contents of a folder's `checkpoint` file; None if it does not exist or cannot be parsed.

    >>> tf.train.get_checkpoint_state("a-folder-that-does-not-exist")
    """
    folder = local(checkpoint_dir)
    path = _state_path(folder, latest_filename)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise OSError(f"more than {_LARGEST} characters are no list of checkpoints")
            state = text_format.Parse(text, CheckpointState())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (text_format.ParseError, UnicodeDecodeError, OSError) as error:
        get_logger().warning("%s: %s", type(error).__name__, error)
        get_logger().warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}: it names no checkpoint.")
    state.model_checkpoint_path = _joined(folder, state.model_checkpoint_path)
    for i, each in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = _joined(folder, each)
    return state


def _joined(folder: str, path: str) -> str:
    return path if os.path.isabs(path) else os.path.join(folder, path)


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The path of the latest checkpoint in a folder; None if there is none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/ckpt")
    >>> tf.train.latest_checkpoint(folder) == path == folder + "/ckpt-1"
    True
    """
    path: str | None = None
    while True:
        state = get_checkpoint_state(checkpoint_dir, latest_filename)
        if state is None:
            return None
        if checkpoint_exists(state.model_checkpoint_path):
            return str(state.model_checkpoint_path)
        if state.model_checkpoint_path == path:
            break
        # Another process may have saved a newer one and deleted this.
        path = state.model_checkpoint_path
    get_logger().error("Couldn't match files for checkpoint %s", path)
    return None

"""CheckpointManager: keeps the last few checkpoints of a folder and deletes the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from ..core.arguments import require_number
from ..core.context import state
from ..core.logger import get_logger
from ..core.variable import Variable
from ..formats.paths import local
from ..formats.safe_files import remove_leftovers
from ..formats.tensor_bundle import index_path, shard_files
from .checkpoint import Checkpoint
from .graph_status import in_default_session
from .options import CheckpointOptions
from .state_file import get_checkpoint_state, latest_checkpoint, update_checkpoint_state

_HOUR = 3600.0


class CheckpointManager:
    """Saves numbered checkpoints, and deletes all but the last `max_to_keep`.

    `keep_checkpoint_every_n_hours` preserves one checkpoint per interval permanently. With a
    `step_counter`, `checkpoint_interval` is the number of steps between two checkpoints. `init_fn`
    is called by `restore_or_initialize` if there is no checkpoint.

    >>> import tempfile, os
    >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    >>> manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [os.path.basename(each) for each in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None:
            require_number(max_to_keep, "max_to_keep", "CheckpointManager")
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = local(directory)
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._latest: str | None = None
        # Path: time of the save, oldest first.
        self._kept: dict[str, float] = {}
        self._last_preserved = time.time()
        # The paths of checkpoints written by this process.
        self._saved: set[str] = set()
        self._recover()

    def _recover(self) -> None:
        """Take over the existing checkpoints of the folder."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        if len(times) != len(paths):
            times = [time.time()] * len(paths)
        if state.last_preserved_timestamp:
            self._last_preserved = state.last_preserved_timestamp
        self._latest = state.model_checkpoint_path
        self._kept = dict(zip(paths, times, strict=True))

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint; None if there is none."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the managed checkpoints, oldest first.

        Those preserved permanently because of `keep_checkpoint_every_n_hours` are not included.
        """
        return list(self._kept)

    @in_default_session
    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Save a checkpoint and delete old ones; None if the interval has not passed yet.

        The number in the name is `checkpoint_number`, a number or a variable, or else the
        checkpoint's save counter.
        """
        if self._step_counter is not None and not self._is_due(check_interval):
            return None
        counter = self._checkpoint.save_counter
        if checkpoint_number is None:
            number = int(counter.assign_add(1))
        else:
            number = int(checkpoint_number)
            counter.assign_add(1)
        path = f"{self._prefix}-{number}"
        self._checkpoint._write(path, options, lambda: self._record(path))
        if self._step_counter is not None:
            self._last_step = int(self._step_counter)
        return path

    def _is_due(self, check_interval: bool) -> bool:
        step = int(self._step_counter)  # type: ignore[arg-type]
        if self._last_step is None:
            return True
        if check_interval and self._interval is not None:
            return step - self._last_step >= self._interval
        return step != self._last_step

    def _record(self, path: str) -> None:
        """Record a new checkpoint in the `checkpoint` file; only then delete old ones."""
        if not self._saved:
            folder, name = os.path.split(self._prefix)
            remove_leftovers(os.path.join(folder, f".{name}-"))
        self._saved.add(path)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._latest = path
        old, preserved = self._sweep()
        update_checkpoint_state(
            self._directory,
            path,
            all_model_checkpoint_paths=list(self._kept),
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=preserved,
        )
        for each in old:
            if self._may_delete(each):
                _delete(each)

    def _may_delete(self, path: str) -> bool:
        """Whether a checkpoint is in the manager's own folders.

        The `checkpoint` file is untrusted text; a symbolic link may lead elsewhere.
        """
        folder = os.path.realpath(os.path.dirname(path))
        own = [os.path.realpath(each) for each in (self._directory, os.path.dirname(self._prefix))]
        if path in self._saved or any(_is_inside(folder, each) for each in own):
            return True
        get_logger().warning(
            "The checkpoint %s is not in the folder %s of its manager: it is no longer counted, "
            "and not deleted.", path, self._directory,
        )  # fmt: skip
        return False

    def _sweep(self) -> tuple[list[str], float]:
        """Remove old checkpoints from the list: those to delete, and the time of the last preserved
        one.
        """
        old = []
        while self._max_to_keep is not None and len(self._kept) > self._max_to_keep:
            path, saved_at = next(iter(self._kept.items()))
            del self._kept[path]
            if self._keep_every and saved_at - self._keep_every * _HOUR >= self._last_preserved:
                self._last_preserved = saved_at
                continue
            old.append(path)
        return old, self._last_preserved

    def _restore(self, path: str) -> None:
        status = self._checkpoint.restore(path)
        if state.home is not None:
            status.run_restore_ops()

    def restore_or_initialize(self) -> str | None:
        """Restore the latest checkpoint and return its path, or call `init_fn` and return None."""
        path = latest_checkpoint(self._directory) if self._latest is None else self._latest
        if path is not None:
            self._restore(path)
            if self._step_counter is not None:
                self._last_step = int(self._step_counter)
            return path
        if self._init_fn is not None:
            self._init_fn()
            get_logger().info("Customized initialization is done through the passed `init_fn`.")
        return None

    def sync(self) -> None:
        """Wait until an asynchronous save is complete."""
        self._checkpoint.sync()


def _is_inside(folder: str, holder: str) -> bool:
    return folder == holder or folder.startswith(os.path.join(holder, ""))


def _delete(path: str) -> None:
    """Delete the files of a checkpoint, the index first: a checkpoint without index is invalid."""
    for name in [index_path(path), *shard_files(path)]:
        try:
            os.unlink(name)
        except FileNotFoundError:
            continue
        except OSError as error:
            get_logger().warning("Failed to delete %s: %s", name, error)

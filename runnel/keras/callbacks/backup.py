"""BackupAndRestore: fault-tolerant training that resumes after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import runnel as tf

from ...formats.paths import refusals
from ...formats.safe_files import make_folders, replacing
from .base import Callback

_UNBUILT = (
    "To use the BackupAndRestore callback, your model must be built before you call `fit()`. Model "
    "%r is unbuilt. You can build it beforehand by calling it on a batch of data."
)
_MISFIT = (
    "The backup in {path} was made by another model: it holds {name} of shape {there}, the model "
    "has {here}. Use another backup_dir, or delete the file to start anew."
)


class BackupAndRestore(Callback):
    """Back up the training state; an interrupted `fit`, called again, resumes from it.

    The backup holds the model's weights, the optimizer's state and the epoch (with an integer
    `save_freq` also the batch). It replaces the previous one atomically, so a crash never leaves a
    broken one. It is deleted after training completes, unless `delete_checkpoint` is False.
    """

    def __init__(
        self,
        backup_dir: Any,
        save_freq: Any = "epoch",
        delete_checkpoint: bool = True,
        save_before_preemption: bool = False,
    ) -> None:
        super().__init__()
        if not save_freq and not save_before_preemption:
            raise ValueError("Either `save_freq` or `save_before_preemption` must be set.")
        self.backup_dir = backup_dir
        self.save_freq = save_freq
        self.delete_checkpoint = delete_checkpoint
        self.save_before_preemption = save_before_preemption
        self._path = Path(backup_dir) / "backup.npz"
        self._epoch = 0
        self._since_backup = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Restore the backup, if there is one."""
        if not self.model.built:
            tf.get_logger().warning(_UNBUILT, self.model)
        self._since_backup = 0
        if self._path.exists():
            self.model._resume_at = self._restore()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Record the current epoch."""
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Back up at the given batch frequency."""
        if not isinstance(self.save_freq, int):
            return
        self._since_backup += 1
        if self._since_backup >= self.save_freq:
            self._since_backup = 0
            whole = (self.params or {}).get("steps") == batch + 1
            self._save(self._epoch + whole, 0 if whole else batch + 1)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Back up after an epoch."""
        if self.save_freq == "epoch":
            self._save(epoch + 1, 0)

    def on_train_end(self, logs: Any = None) -> None:
        """Delete the backup: training is complete."""
        if self.delete_checkpoint:
            self._path.unlink(missing_ok=True)

    def _state(self) -> dict[str, Any]:
        """The backed-up state, by name."""
        optimizer = self.model.optimizer
        # The original builds the optimizer at its first step; a backup must match from the start.
        if hasattr(optimizer, "build") and not getattr(optimizer, "_built", False):
            optimizer.build(self.model.trainable_variables)
        variables = optimizer.variables
        slots = variables() if callable(variables) else variables
        found = {f"weight {i}": v for i, v in enumerate(self.model.weights)}
        return found | {f"optimizer {i}": v for i, v in enumerate(slots)}

    def _save(self, epoch: int, batch: int) -> None:
        arrays = {name: variable.numpy() for name, variable in self._state().items()}
        with refusals(self._path):
            make_folders(str(self._path.parent))
            with replacing(str(self._path)) as fresh, open(fresh, "wb") as file:
                np.savez(file, place=np.array([epoch, batch]), **arrays)

    def _restore(self) -> tuple[int, int]:
        variables = self._state()
        with np.load(self._path, allow_pickle=False) as backup:
            for name, variable in variables.items():
                there = backup[name].shape if name in backup else None
                if there != tuple(variable.shape):
                    raise ValueError(
                        _MISFIT.format(
                            path=self._path, name=name, there=there, here=tuple(variable.shape)
                        )
                    )
            for name, variable in variables.items():
                variable.assign(backup[name])
            epoch, batch = backup["place"].tolist()
        return epoch, batch

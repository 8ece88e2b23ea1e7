"""Callbacks that save the model during training."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import runnel as tf

from ...formats.safe_files import make_folders
from ..utils.interactive import print_message
from .base import Callback
from .monitoring import known_mode


class ModelCheckpoint(Callback):
    """Saves the model, or its weights, at the end of epochs or every `save_freq` batches.

    Args:
      filepath: The path, with format fields for the logs, `epoch` and `batch`, such as
        "weights.{epoch:02d}-{val_loss:.2f}.h5".
      monitor: Name of the quantity that determines the best model.
      verbose: 1 prints messages.
      save_best_only: Save only when the quantity improves.
      save_weights_only: Save the weights rather than the whole model.
      mode: "min" (lower is better), "max" (higher is better) or "auto" (by the name).
      save_freq: "epoch", or the number of batches between saves.
      options: Options passed to the save function.
      initial_value_threshold: The initial best value: a model that is not better is not saved.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        options: Any = None,
        initial_value_threshold: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.verbose = verbose
        self.filepath = os.fspath(filepath)
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.epochs_since_last_save = 0
        self.period = kwargs.get("period", 1)
        self.load_weights_on_restart = kwargs.get("load_weights_on_restart", False)
        self._options = options
        self._batches_since_last_save = 0
        self._last_batch = -1
        self._current_epoch = 0
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f'Unrecognized save_freq: {save_freq}. Expected save_freq are "epoch" or integer'
            )
        if options is not None and self.filepath.endswith(".keras"):
            raise ValueError(
                "The native Keras format does not support the `options` argument. Please remove "
                "it, or use the SavedModel format by removing the `.keras` extension from the "
                "model filepath."
            )
        if "period" in kwargs:
            tf.get_logger().warning(
                "`period` argument is deprecated. Please use `save_freq` to specify the "
                "frequency in number of batches seen."
            )
        if "load_weights_on_restart" in kwargs:
            tf.get_logger().warning(
                "`load_weights_on_restart` argument is deprecated. Please use "
                "`model.load_weights()` for loading weights before the start of `model.fit()`."
            )
        rises = "acc" in monitor or monitor.startswith("fmeasure")
        self.monitor_op = {"min": np.less, "max": np.greater}[
            known_mode(mode, rises, "ModelCheckpoint")
        ]
        self.best: Any = initial_value_threshold
        if self.best is None:
            self.best = np.inf if self.monitor_op is np.less else -np.inf

    def _listens(self, hook: str) -> bool:
        if hook == "on_train_batch_end" and self.save_freq == "epoch":
            return type(self).on_train_batch_end is not ModelCheckpoint.on_train_batch_end
        return super()._listens(hook)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        if self.load_weights_on_restart and os.path.exists(self.filepath):
            self.model.load_weights(self.filepath)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._current_epoch = epoch

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_freq == "epoch":
            return
        # With several steps per execution, the batch index advances in leaps.
        leap = batch + 1 if batch <= self._last_batch else batch - self._last_batch
        self._batches_since_last_save += leap
        self._last_batch = batch
        if self._batches_since_last_save >= int(self.save_freq):
            self._batches_since_last_save = 0
            self._save(self._current_epoch, batch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self.epochs_since_last_save = 0
            self._save(epoch, None, logs)

    def _save(self, epoch: int, batch: int | None, logs: dict[str, Any] | None) -> None:
        logs = logs or {}
        filepath = self._path_for(epoch, batch, logs)
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                tf.get_logger().warning(
                    "Can save best model only with %s available, skipping.", self.monitor
                )
                return
            if not self.monitor_op(current, self.best):
                if self.verbose > 0:
                    print_message(
                        f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {self.best:.5f}"
                    )
                return
            reason = f"{self.monitor} improved from {self.best:.5f} to {current:.5f}, "
            self.best = current
        else:
            reason = ""
        if self.verbose > 0:
            print_message(f"\nEpoch {epoch + 1}: {reason}saving model to {filepath}")
        options = {} if self._options is None else {"options": self._options}
        make_folders(os.path.dirname(filepath) or ".")
        write = self.model.save_weights if self.save_weights_only else self.model.save
        try:
            write(filepath, overwrite=True, **options)
        except IsADirectoryError:
            raise OSError(
                "Please specify a non-directory filepath for ModelCheckpoint. Filepath used is an "
                f"existing directory: {filepath}"
            ) from None

    def _path_for(self, epoch: int, batch: int | None, logs: dict[str, Any]) -> str:
        names = {"epoch": epoch + 1, **logs}
        if batch is not None:
            names["batch"] = batch + 1
        try:
            return self.filepath.format(**names)
        except KeyError as reason:
            raise KeyError(
                f'Failed to format this callback filepath: "{self.filepath}". Reason: {reason}. '
                f"The names at hand are: {', '.join(names)}"
            ) from None

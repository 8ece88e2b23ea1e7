"""Callbacks that stop training early."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.arguments import require_number
from ..utils.interactive import print_message
from .base import Callback
from .monitoring import known_mode, monitored


class EarlyStopping(Callback):
    """Stop training when a quantity stops improving.

    Args:
      monitor: Name of the quantity in the logs.
      min_delta: The minimum change that counts as an improvement.
      patience: Number of epochs without improvement before stopping.
      verbose: 1 prints messages.
      mode: "min" (lower is better), "max" (higher is better) or "auto" (by the name).
      baseline: Also stop if the quantity does not improve on this.
      restore_best_weights: Restore the weights of the best epoch at the end.
      start_from_epoch: The first epoch to monitor.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__()
        for name, value in (("min_delta", min_delta), ("patience", patience)):
            require_number(value, name, "EarlyStopping")
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.wait = 0
        self.stopped_epoch = 0
        self.restore_best_weights = restore_best_weights
        self.best_weights: Any = None
        self.start_from_epoch = start_from_epoch
        rises = monitor.endswith(("acc", "accuracy", "auc"))
        self.monitor_op = {"min": np.less, "max": np.greater}[
            known_mode(mode, rises, "EarlyStopping")
        ]
        self.min_delta = abs(min_delta) if self.monitor_op is np.greater else -abs(min_delta)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best = np.inf if self.monitor_op is np.less else -np.inf
        self.best_weights = None
        self.best_epoch = 0

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            # If the quantity never improves (NaN), there still are weights to restore.
            self.best_weights = self.model.get_weights()
            self.best_epoch = epoch
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best = current
            self.best_epoch = epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print_message(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print_message(
                    "Restoring model weights from the end of the best epoch: "
                    f"{self.best_epoch + 1}."
                )
            self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs: dict[str, Any] | None) -> Any:
        """The monitored quantity, or None with a warning."""
        return monitored(logs, self.monitor, "Early stopping")

    def _is_improvement(self, value: Any, reference: Any) -> bool:
        return bool(self.monitor_op(value - self.min_delta, reference))


class TerminateOnNaN(Callback):
    """Stop training when the loss is NaN or infinite."""

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print_message(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True

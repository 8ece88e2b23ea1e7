"""The record that `fit` returns."""

from __future__ import annotations

from typing import Any

from .base import Callback


class History(Callback):
    """Records the logs of every epoch: `history[name]` is a list with one value per epoch.

    `fit` adds one automatically and returns it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self.epoch: list[int] = []

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        # A second `fit` may have replaced the history in between.
        self.model.history = self

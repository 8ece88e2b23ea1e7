"""The progress bar of fit, evaluate and predict."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ..utils import interactive
from ..utils.progbar import Progbar
from .base import Callback


class ProgbarLogger(Callback):
    """Prints progress and metrics; `fit` and the others add one automatically.

    Args:
      count_mode: "steps" counts batches, "samples" the `size` in each batch's logs.
      stateful_metrics: Names of values displayed unchanged, not averaged over the epoch.
    """

    def __init__(
        self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None
    ) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(
                f'Unknown `count_mode`: {count_mode}. Expected values are ["samples", "steps"]'
            )
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.progbar: Progbar | None = None
        self.target: int | None = None
        self.verbose = 1
        self.epochs = 1
        self._in_fit = False

    def set_params(self, params: dict[str, Any]) -> None:
        super().set_params(params)
        self.verbose = params.get("verbose", self.verbose)
        self.epochs = params.get("epochs", self.epochs)
        # An unknown number of samples is determined at the end of the first epoch.
        self.target = params.get("steps") if self.use_steps else None

    def _listens(self, hook: str) -> bool:
        return hook.endswith("_end") and (self.verbose == 1 or self.target is None)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._in_fit = True

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        self._in_fit = False

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._start()
        if self.verbose and self.epochs > 1:
            interactive.print_message(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._finish(logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        if not self._in_fit:
            self._start()

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if not self._in_fit:
            self._step(batch, logs)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        if not self._in_fit:
            self._finish(logs)

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._start()

    def on_predict_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        # The outputs in the logs are not displayed.
        self._step(batch, None)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        self._finish(logs)

    def _start(self) -> None:
        self.seen = 0
        self.progbar = Progbar(
            self.target,
            verbose=self.verbose,
            stateful_metrics=self.stateful_metrics,
            # In a file or pipe, one line at the end of an epoch is enough.
            interval=0.05 if interactive.is_watched() else math.inf,
            unit_name="step" if self.use_steps else "sample",
        )

    def _bar(self, logs: dict[str, Any] | None) -> Progbar:
        if self.progbar is None:
            self._start()
        assert self.progbar is not None
        # Metrics are averages already; some are created with the first batch only. Finding them
        # traverses all layers, which takes longer than a small step.
        if self.model and logs and not self.progbar.stateful_metrics.issuperset(logs):
            self.progbar.stateful_metrics |= {metric.name for metric in self.model.metrics}
        return self.progbar

    def _step(self, batch: int, logs: dict[str, Any] | None) -> None:
        if self.use_steps:
            self.seen = batch + 1
        else:
            logs = dict(logs or {})
            size = logs.pop("size", 0)
            self.seen += size or logs.pop("batch", 0)
        if self.verbose == 1:
            self._bar(logs).update(self.seen, (logs or {}).items(), finalize=False)

    def _finish(self, logs: dict[str, Any] | None) -> None:
        bar = self._bar(logs)
        if self.target is None:
            self.target = bar.target = self.seen
        bar.update(self.target, (logs or {}).items(), finalize=True)

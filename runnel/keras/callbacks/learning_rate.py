"""Callbacks that change the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf

from ...core.arguments import require_number
from ..utils.interactive import print_message
from .base import Callback
from .monitoring import (
    known_mode,
    learning_rate,
    learning_rate_of,
    monitored,
    set_learning_rate,
)

_NO_SCHEDULE = (
    "`schedule` of LearningRateScheduler must be a function of the epoch and the learning rate "
    "that returns the new one, such as lambda epoch, rate: rate * 0.9. Received: "
    "schedule={schedule!r}"
)


class LearningRateScheduler(Callback):
    """Set the learning rate at the start of each epoch.

    Args:
      schedule: A function of the epoch, or of the epoch and the current rate, that returns a float.
      verbose: 1 prints messages.
    """

    def __init__(self, schedule: Callable, verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        learning_rate_of(self.model.optimizer)
        try:
            rate = self.schedule(epoch, float(learning_rate(self.model.optimizer)))
        except TypeError:
            if not callable(self.schedule):
                raise TypeError(_NO_SCHEDULE.format(schedule=self.schedule)) from None
            # A function of the epoch only, the older signature of schedules.
            rate = self.schedule(epoch)
        if not isinstance(rate, tf.Tensor | float | np.float32 | np.float64):
            raise ValueError(f'The output of the "schedule" function should be float. Got: {rate}')
        if isinstance(rate, tf.Tensor):
            if not rate.dtype.is_floating:
                raise ValueError(f"The dtype of `lr` Tensor should be float. Got: {rate.dtype}")
            rate = rate.numpy()
        set_learning_rate(self.model.optimizer, rate)
        if self.verbose > 0:
            print_message(
                f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to "
                f"{float(rate) if isinstance(rate, np.generic) else rate}."
            )

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is not None:
            logs["lr"] = learning_rate(self.model.optimizer)


class ReduceLROnPlateau(Callback):
    """Reduce the learning rate when a quantity stops improving.

    Args:
      monitor: Name of the quantity in the logs.
      factor: The rate is multiplied by this.
      patience: Number of epochs without improvement before a reduction.
      verbose: 1 prints messages.
      mode: "min" (lower is better), "max" (higher is better) or "auto" (by the name).
      min_delta: The minimum change that counts as an improvement.
      cooldown: Number of epochs after a reduction before monitoring resumes.
      min_lr: Lower bound of the rate.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        for name, value in (("factor", factor), ("patience", patience), ("min_lr", min_lr)):
            require_number(value, name, "ReduceLROnPlateau")
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Got {factor}")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            tf.get_logger().warning(
                "`epsilon` argument is deprecated and will be removed, use `min_delta` instead."
            )
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.cooldown_counter = 0
        self.wait = 0
        self.mode = mode
        self._reset()

    def _reset(self) -> None:
        mode = known_mode(self.mode, "acc" in self.monitor, "Learning rate reduction")
        if self.mode not in ("min", "max"):
            # Warns once only; training may start several times.
            self.mode = "auto"
        self._sign = 1 if mode == "max" else -1
        self.best = -self._sign * np.inf
        self.cooldown_counter = 0
        self.wait = 0

    def monitor_op(self, value: Any, reference: Any) -> bool:
        """Whether the value is better than the reference by more than `min_delta`."""
        return self._sign * value > self._sign * reference + self.min_delta

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._reset()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        logs = logs if logs is not None else {}
        logs["lr"] = learning_rate(self.model.optimizer)
        current = monitored(logs, self.monitor, "Learning rate reduction is")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        old = learning_rate(self.model.optimizer)
        if old <= np.float32(self.min_lr):
            return
        new = max(float(old * self.factor), self.min_lr)
        set_learning_rate(self.model.optimizer, new)
        if self.verbose > 0:
            print_message(
                f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}."
            )
        self.cooldown_counter = self.cooldown
        self.wait = 0

    def in_cooldown(self) -> bool:
        """Whether the rate was changed so recently that the quantity is not evaluated yet."""
        return self.cooldown_counter > 0

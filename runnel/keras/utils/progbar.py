"""The progress bar of training."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from . import interactive


class Progbar:
    """Prints progress, the elapsed or remaining time, and averages of values.

    ```
    3/10 [========>.....................] - ETA: 7s - loss: 1.1668
    ```

    Args:
      target: Total number of steps; None if unknown.
      width: Width of the bar in characters.
      verbose: 0 is silent, 1 a bar, 2 one line at the end.
      interval: Minimum number of seconds between redraws.
      stateful_metrics: Names of values displayed unchanged, not averaged over the steps.
      unit_name: The name of a step.

    >>> bar = tf.keras.utils.Progbar(3, verbose=2)
    >>> bar.add(2, values=[("loss", 0.5)])
    >>> bar.add(1, values=[("loss", 2.0)])
    3/3 - 0s - loss: 1.0000 - .../epoch - .../step
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ) -> None:
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._rewrites_line = interactive.can_rewrite_a_line()
        self._line_width = 0
        self._seen_so_far = 0
        # The running average of each name: the weighted sum and the total weight.
        self._values: dict[str, list[Any]] = {}
        self._start = time.time()
        self._last_update = 0.0
        self._time_after_first_step: float | None = None
        self._epoch_started = self._start
        self._epoch_ended: float | None = None

    def update(
        self,
        current: int,
        values: Iterable[tuple[str, Any]] | None = None,
        finalize: bool | None = None,
    ) -> None:
        """Print that `current` steps are done, with new values of the named quantities."""
        if finalize is None:
            finalize = self.target is not None and current >= self.target
        self._average(current, values or ())
        now = time.time()
        if current == self.target:
            self._epoch_ended = now
        if self.verbose == 1:
            if now - self._last_update < self.interval and not finalize:
                if self.interval == math.inf:
                    self._seconds_per_step(current, now)
                return
            self._draw(current, now, finalize)
        elif self.verbose == 2 and finalize:
            interactive.print_message(self._summary(current, now), line_break=False)
        self._last_update = now

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Print that `n` more steps are done."""
        self.update(self._seen_so_far + n, values)

    def _average(self, current: int, values: Iterable[tuple[str, Any]]) -> None:
        # A repeated update of the same step counts as one.
        weight = max(current - self._seen_so_far, 1)
        for name, value in values:
            if name in self.stateful_metrics:
                self._values[name] = [value, 1]
            elif name in self._values:
                self._values[name][0] += value * weight
                self._values[name][1] += weight
            else:
                self._values[name] = [value * weight, weight]
        self._seen_so_far = current

    def _draw(self, current: int, now: float, finalize: bool) -> None:
        seconds = self._seconds_per_step(current, now)
        if self.target is None or finalize:
            times = f" - {now - self._start:.0f}s{_step_time(seconds, self.unit_name)}"
        else:
            times = f" - ETA: {_clock(seconds * (self.target - current))}"
        line = self._bar(current) + times + self._shown()
        before = self._line_width
        self._line_width = len(line)
        line = line.ljust(before)
        if finalize:
            line += "\n"
        if self.interval != math.inf:
            line = ("\b" * before + "\r" if self._rewrites_line else "\n") + line
        interactive.print_message(line, line_break=False)

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        done = current / self.target if self.target else 1.0
        filled = int(self.width * done)
        bar = ""
        if filled > 0:
            bar = "=" * (filled - 1) + (">" if current < self.target else "=")
        return f"{self._count(current)} [{bar}{'.' * (self.width - filled)}]"

    def _count(self, current: int) -> str:
        target = int(self.target or 0)
        return f"{current:{len(str(target))}d}/{target}"

    def _shown(self) -> str:
        return "".join(
            f" - {name}: {_number(total / max(1, weight))}"
            for name, (total, weight) in self._values.items()
        )

    def _summary(self, current: int, now: float) -> str:
        summary = f"{self._count(current)} - {now - self._start:.0f}s{self._shown()}"
        if self._epoch_ended is None or not self.target:
            return summary
        epoch = self._epoch_ended - self._epoch_started
        self._epoch_started, self._epoch_ended = now, None
        each = _step_time(epoch / self.target, self.unit_name)
        return f"{summary} -{_step_time(epoch, 'epoch')} -{each}\n"

    def _seconds_per_step(self, current: int, now: float) -> float:
        # The first step is excluded once there are others: it includes building and tracing.
        if not current:
            return 0.0
        if self._time_after_first_step is not None and current > 1:
            return (now - self._time_after_first_step) / (current - 1)
        if current == 1:
            self._time_after_first_step = now
        return (now - self._start) / current


def _number(value: Any) -> str:
    value = float(value)
    return f"{value:.4f}" if abs(value) > 1e-3 else f"{value:.4e}"


def _clock(seconds: float) -> str:
    whole = int(seconds)
    if seconds > 3600:
        return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
    if seconds > 60:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole}s"


def _step_time(seconds: float, unit_name: str) -> str:
    if seconds >= 1 or seconds == 0:
        return f" {seconds:.0f}s/{unit_name}"
    if seconds >= 1e-3:
        return f" {seconds * 1e3:.0f}ms/{unit_name}"
    return f" {seconds * 1e6:.0f}us/{unit_name}"

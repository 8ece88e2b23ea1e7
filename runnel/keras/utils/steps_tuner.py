"""StepsPerExecutionTuner: tunes steps_per_execution during training."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any


class StepsPerExecutionTuner:
    """Adjusts the steps per execution towards higher throughput.

    A thread measures the optimizer's iterations per second every `interval` seconds. Every
    `change_spe_interval` measurements it compares their mean with the last: a mean higher by more
    than `change_threshold` repeats the last change, one lower by as much reverts its direction.
    Changes multiply the number by 1.5 or halve it, never below one.

    Args:
      optimizer: The optimizer; its `iterations` are monitored.
      spe_variable: The integer variable with the steps per execution.
      interval: Seconds between two measurements.
      change_spe_interval: Measurements between two changes.
      change_threshold: The relative difference in speed that is significant.
    """

    def __init__(
        self,
        optimizer: Any,
        spe_variable: Any,
        interval: float = 5,
        change_spe_interval: int = 10,
        change_threshold: float = 0.1,
    ) -> None:
        self.optimizer = optimizer
        self._steps_per_execution = spe_variable
        self.interval = interval
        self.change_spe_interval = change_spe_interval
        self.spe_change_threshold = change_threshold
        self.steps_per_execution_stop_event = threading.Event()
        self.thread: threading.Thread | None = None

    @property
    def steps_per_execution(self) -> Any:
        """The variable; assigning a number sets its value."""
        return self._steps_per_execution

    @steps_per_execution.setter
    def steps_per_execution(self, value: int) -> None:
        self._steps_per_execution.assign(value)
        self.init_spe = value

    def start(self) -> threading.Thread:
        """Start measuring in a thread, which is returned."""
        self.init_spe = int(self._steps_per_execution.numpy())
        self._speeds: deque[float] = deque([0.0], maxlen=self.change_spe_interval)
        self._measurements = 1
        self._last_mean = 0.0
        self._upward = True
        self._last_iteration = int(self.optimizer.iterations.numpy())
        self._last_time = time.monotonic()
        self.steps_per_execution_stop_event.clear()
        self.thread = threading.Thread(target=self._measure_at_intervals, daemon=True)
        self.thread.start()
        return self.thread

    def stop(self) -> None:
        """Stop measuring."""
        self.steps_per_execution_stop_event.set()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join()

    def _measure_at_intervals(self) -> None:
        while not self.steps_per_execution_stop_event.wait(self.interval):
            self._measure(int(self.optimizer.iterations.numpy()), time.monotonic())

    def _measure(self, iteration: int, moment: float) -> None:
        elapsed = max(moment - self._last_time, 1e-9)
        speed = (iteration - self._last_iteration) / elapsed
        self._last_iteration, self._last_time = iteration, moment
        self._speeds.append(speed)
        self._measurements += 1
        # Without a step since the last measurement, as between epochs, the mean is meaningless.
        if speed and self._measurements % self.change_spe_interval == 0:
            self._tune()

    def _tune(self) -> None:
        mean = sum(self._speeds) / len(self._speeds)
        before, self._last_mean = self._last_mean, mean
        change = (mean - before) / before if before else float("inf")
        if abs(change) <= self.spe_change_threshold:
            return
        if change < 0:
            self._upward = not self._upward
        steps = int(self._steps_per_execution.numpy())
        self._steps_per_execution.assign(max(round(steps * (1.5 if self._upward else 0.5)), 1))

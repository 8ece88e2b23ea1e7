"""CPU load: how many cores other programs leave idle.

The threads of a parallel loop wait for the last of them. If another program has taken the core of
one, all wait until the scheduler gives it back: milliseconds, in each of hundreds of kernels of a
training step. Two oversubscribed threads are many times slower than one. So the load is sampled
several times a second, and the pools are limited to the idle cores.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

_STATISTICS = Path("/proc/stat")
# The kernel counts in hundredths of a second, and an old sample says nothing about the present.
_MIN_INTERVAL, _MAX_INTERVAL = 0.05, 2.0
# Fraction of a core by which the load must change before the number of threads does.
_HYSTERESIS = 0.7
# The columns of /proc/stat with idle time, time waiting for I/O, and the last one counted.
_IDLE, _WAITING, _LAST = 3, 4, 8


class _Sample(NamedTuple):
    """A time stamp, and the CPU seconds of all processes and of this one until then."""

    time: float
    all: float
    own: float


class CpuLoad:
    """The load of other processes on the cores that this one may use."""

    def __init__(self) -> None:
        self._before: _Sample | None = None

    def busy_cores(self) -> float | None:
        """Cores used by other processes since the last sample; None where that is unknown."""
        before, now = self._before, _sample()
        self._before = now
        if (
            before is None
            or now is None
            or not _MIN_INTERVAL < now.time - before.time < _MAX_INTERVAL
        ):
            return None
        worked = (now.all - before.all) - (now.own - before.own)
        return max(0.0, worked / (now.time - before.time))

    def idle_cores(self, cores: int, used: int) -> int:
        """How many of the cores to use from now on, of which `used` are in use now."""
        busy = self.busy_cores()
        if busy is None or abs(cores - busy - used) < _HYSTERESIS:
            return used
        return min(cores, max(1, round(cores - busy)))


def _sample() -> _Sample | None:
    try:
        lines = _STATISTICS.read_text().splitlines()
        ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        ticks = os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError):
        return None
    total = 0
    for line in lines:
        name, *rest = line.split()
        if name in ours:
            spent = [int(number) for number in rest[:_LAST]]
            total += sum(spent) - spent[_IDLE] - spent[_WAITING]
    return _Sample(time.monotonic(), total / ticks, time.process_time())


cpu_load = CpuLoad()

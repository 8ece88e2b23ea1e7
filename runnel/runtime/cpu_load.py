"""Company: how many processors other programs leave.

Threads that share a piece of work wait for the last of them. Where another program has taken the
processor of one, all wait until the system gives it back: some milliseconds, for each of the
hundreds of pieces of a training step. Two threads are then many times slower than one. So the work
of other programs is looked at several times a second, and only processors they leave are used.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

_STATISTICS = Path("/proc/stat")
# The system counts in hundredths of a second; and a look that is old tells of other times.
_SHORTEST, _LONGEST = 0.05, 2.0
# So far from a whole processor the work of others must be before the number of threads changes.
_CLEARLY = 0.7
# Where a line of the statistics has the time that nobody needed.
_IDLE, _WAITING, _LAST = 3, 4, 8


class _Look(NamedTuple):
    """When it was, what all programs have worked until then, and what this one has, in seconds."""

    time: float
    all: float
    own: float


class Company:
    """What other programs do on the processors that this one may use."""

    def __init__(self) -> None:
        self._before: _Look | None = None

    def others(self) -> float | None:
        """How many processors others have had since the last look; None where nobody can tell."""
        before, now = self._before, _look()
        self._before = now
        if before is None or now is None or not _SHORTEST < now.time - before.time < _LONGEST:
            return None
        worked = (now.all - before.all) - (now.own - before.own)
        return max(0.0, worked / (now.time - before.time))

    def left(self, processors: int, used: int) -> int:
        """How many of the processors to use from now on, where so many were used until now."""
        others = self.others()
        if others is None or abs(processors - others - used) < _CLEARLY:
            return used
        return min(processors, max(1, round(processors - others)))


def _look() -> _Look | None:
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
    return _Look(time.monotonic(), total / ticks, time.process_time())


observed = Company()

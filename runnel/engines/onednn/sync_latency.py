"""Synchronization latency of threads, and the parallel threshold that follows from it.

How long threads wait for each other depends on their cores: two that share a cache synchronize
within a microsecond; two that do not, as a virtual machine may be given from one minute to the
next, take several. So it is measured now and then.

A thread that slept for long may be woken on the core of the thread that waits for it; the two are
time-sliced there, a millisecond each, until the scheduler migrates one of them. So only GEMMs that
have followed each other for a while are parallelized, and a measurement waits until that has
passed.
"""

from __future__ import annotations

from time import monotonic, perf_counter
from typing import Any

import numpy as np

from ...core.devices import settings
from ...runtime.engine_selection import PARALLEL_GEMM, PARALLEL_GEMM_AT_LOW_LATENCY, here
from ...runtime.workers import num_threads
from .library import load

# A GEMM this small takes 0.80 to 0.83 of the time on two threads at low latency, in the minimum of
# some trials, and 0.95 to 0.99 at high latency.
_ROWS, _INNER, _COLUMNS = 32, 64, 256
_QUICK, _TRIALS = 0.88, 12
# Time-sliced threads take far longer than one thread: they are waited for so many seconds.
_TAKING_TURNS, _PATIENCE = 4, 0.05
# Seconds until the next measurement: of threads that are awake because they run in parallel, and of
# others.
_SOON, _LATER = 5.0, 20.0
# Seconds between two consecutive GEMMs, and how long they must have followed each other: the first
# time, when no thread has slept for long, and later.
_GAP, _AT_FIRST, _WHILE = 0.02, 0.005, 0.1


class SyncLatency:
    """The measured latency of this process's threads."""

    def __init__(self) -> None:
        self._are_quick = False
        self._due = 0.0
        # The time of the last GEMM, and from when on consecutive ones are parallelized.
        self._last = self._from = 0.0

    def is_profitable(self, work: int) -> bool:
        """Whether a GEMM of this many multiplications is above the parallel threshold."""
        if work >= PARALLEL_GEMM:
            return True
        if work < PARALLEL_GEMM_AT_LOW_LATENCY or here.in_parallel_region:
            return False
        now = monotonic()
        if now - self._last > _GAP:
            self._from = now + (_WHILE if self._due else _AT_FIRST)
        self._last = now
        return now > self._from and self.is_low()

    @property
    def is_in_use(self) -> bool:
        """Whether a GEMM has just been parallelized because of the low latency."""
        return self._are_quick and self._from < self._last > monotonic() - _GAP

    def is_low(self) -> bool:
        """Whether the latency of this process's threads is low."""
        now = monotonic()
        if now > self._due:
            self._are_quick = self._measured()
            self._due = now + (_SOON if self._are_quick else _LATER)
        return self._are_quick

    def _measured(self) -> bool:
        library = load()
        # The last digits of sums depend on the number of threads.
        if library is None or settings.op_determinism or num_threads(library.most_threads) < 2:
            return False
        trial = _Trial()
        alone = min(trial.seconds(alone=True) for _ in range(_TRIALS))
        end, met = perf_counter() + _PATIENCE, 0
        while met < _TRIALS and perf_counter() < end:
            shared = trial.seconds(alone=False)
            if shared < _QUICK * alone:
                return True
            met += shared < _TAKING_TURNS * alone
        return False


class _Trial:
    """A small GEMM."""

    def __init__(self) -> None:
        self._a = np.ones((_ROWS, _INNER), np.float32)
        self._b = np.ones((_INNER, _COLUMNS), np.float32)
        self._output = np.empty((_ROWS, _COLUMNS), np.float32)

    def seconds(self, alone: bool) -> float:
        """The time it takes on one thread, or on all."""
        from .primitive import address, prepared_library

        a, b, output = (address(each) for each in (self._a, self._b, self._output))
        multiply: Any = prepared_library(alone).multiply
        start = perf_counter()
        multiply(
            b"N", b"N", _ROWS, _COLUMNS, _INNER, 1.0, a, _INNER, b, _COLUMNS, 0.0, output, _COLUMNS
        )
        return perf_counter() - start


sharing = SyncLatency()

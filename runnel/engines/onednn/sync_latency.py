"""Sharing: whether threads meet quickly, and from which size on a product is worth a second one.

How long threads wait for each other depends on where their processors are: two that share a cache
meet within a microsecond, two that do not, as a virtual machine may be given from one minute to the
next, take several. So it is measured now and then.

A thread that slept for long may be woken on the processor of the one that waits for it, and the two
take turns there, a millisecond each, until the system moves one of them. So only products that have
followed each other for a while are shared, and a measurement waits for that to pass.
"""

from __future__ import annotations

from time import monotonic, perf_counter
from typing import Any

import numpy as np

from ...core.devices import settings
from ...runtime.engine_selection import PARALLEL_GEMM, PARALLEL_GEMM_AT_LOW_LATENCY, here
from ...runtime.workers import num_threads
from .library import load

# A product this small takes two threads that meet quickly 0.80 to 0.83 of the time of one, in the
# least of some trials, and those that do not 0.95 to 0.99.
_ROWS, _INNER, _COLUMNS = 32, 64, 256
_QUICK, _TRIALS = 0.88, 12
# Threads that take turns need far longer than one: they are waited for so many seconds.
_TAKING_TURNS, _PATIENCE = 4, 0.05
# Seconds until the next look, at threads that are awake because they share, and at others.
_SOON, _LATER = 5.0, 20.0
# Seconds between two products that follow each other, and for which they must have done so: the
# first time, when no thread has slept for long, and later.
_GAP, _AT_FIRST, _WHILE = 0.02, 0.005, 0.1


class SyncLatency:
    """What was found out about the threads of this process."""

    def __init__(self) -> None:
        self._are_quick = False
        self._due = 0.0
        # When the last product was, and from when on those that follow each other are shared.
        self._last = self._from = 0.0

    def is_worth_it(self, work: int) -> bool:
        """Whether several threads shall do a product of so many multiplications."""
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
    def is_going_on(self) -> bool:
        """Whether a product was just found worth sharing because threads meet quickly."""
        return self._are_quick and self._from < self._last > monotonic() - _GAP

    def is_low(self) -> bool:
        """Whether the threads of this process meet quickly."""
        now = monotonic()
        if now > self._due:
            self._are_quick = self._measured()
            self._due = now + (_SOON if self._are_quick else _LATER)
        return self._are_quick

    def _measured(self) -> bool:
        library = load()
        # By the number of threads, sums may differ in their last digits.
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
    """A small product."""

    def __init__(self) -> None:
        self._a = np.ones((_ROWS, _INNER), np.float32)
        self._b = np.ones((_INNER, _COLUMNS), np.float32)
        self._output = np.empty((_ROWS, _COLUMNS), np.float32)

    def seconds(self, alone: bool) -> float:
        """The time it takes one thread, or all."""
        from .primitive import address, prepared_library

        a, b, output = (address(each) for each in (self._a, self._b, self._output))
        multiply: Any = prepared_library(alone).multiply
        start = perf_counter()
        multiply(
            b"N", b"N", _ROWS, _COLUMNS, _INNER, 1.0, a, _INNER, b, _COLUMNS, 0.0, output, _COLUMNS
        )
        return perf_counter() - start


sharing = SyncLatency()

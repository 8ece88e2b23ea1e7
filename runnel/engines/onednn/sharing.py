"""Sharing: from which size on a product is worth a second thread.

How long threads wait for each other depends on where their processors are: two that share a cache
meet within a microsecond, two that do not, as a virtual machine may be given from one minute to the
next, take several. So it is measured now and then. And a thread that fell asleep takes up to a
millisecond to come, so only products that have followed each other for a while are shared.
"""

from __future__ import annotations

from time import monotonic, perf_counter
from typing import Any

import numpy as np

from ...core.devices import settings
from ...core.engine import WORTH_SHARING, here
from .library import load, threads_at_most

# The multiplications of a product from which on threads that meet quickly share it.
_WORTH_TRYING = 1 << 21
# They do where they take this much of the time of one, in the least of so many trials: a half would
# be the best. At 0.7, where they meet slowly, whole steps got slower by a seventh.
_QUICK, _TRIALS = 0.63, 6
# Seconds between two looks.
_BETWEEN = 5.0
# Seconds between two products that follow each other, and for which they must have done so.
_GAP, _WHILE = 3e-4, 5e-3
_ROWS, _COLUMNS = 32, 256


class Sharing:
    """What was found out about the threads of this process."""

    def __init__(self) -> None:
        self._least = WORTH_SHARING
        self._due = 0.0
        # When the last product was, and the first of those that followed each other.
        self._last = self._first = 0.0

    def is_worth_it(self, work: int) -> bool:
        """Whether several threads shall do a product of so many multiplications."""
        if work >= WORTH_SHARING:
            return True
        if work < _WORTH_TRYING or here.beside_others:
            return False
        now = monotonic()
        if now - self._last > _GAP:
            self._first = now
        self._last = now
        if now - self._first < _WHILE:
            return False
        if now > self._due:
            self._due = now + _BETWEEN
            self._least = _WORTH_TRYING if self._is_quick() else WORTH_SHARING
        return work >= self._least

    def _is_quick(self) -> bool:
        library = load()
        # By the number of threads, sums may differ in their last digits.
        if library is None or settings.op_determinism or threads_at_most(library.most_threads) < 2:
            return False
        a = np.ones((_ROWS, _COLUMNS), np.float32)
        b = np.ones((_COLUMNS, _COLUMNS), np.float32)
        return _seconds(a, b, False) < _QUICK * _seconds(a, b, True)


def _seconds(a: Any, b: Any, alone: bool) -> float:
    """The least time of a product, by one thread or by all."""
    from .primitive import address, prepared_library

    output = np.empty((_ROWS, _COLUMNS), np.float32)
    library = prepared_library(alone)
    times = []
    for _ in range(_TRIALS):
        start = perf_counter()
        library.multiply(
            b"N", b"N", _ROWS, _COLUMNS, _COLUMNS, 1.0, address(a), _COLUMNS, address(b), _COLUMNS,
            0.0, address(output), _COLUMNS,
        )  # fmt: skip
        times.append(perf_counter() - start)
    return min(times)


sharing = Sharing()

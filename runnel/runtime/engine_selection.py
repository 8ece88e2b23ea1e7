"""Engine selection: which library runs a kernel, NumPy or an engine such as oneDNN.

A kernel declares by `@accelerated(name, threshold)` that an engine may run it on arrays above a
size threshold. `runnel.engines` installs `find`, which maps the name to the engine's function. No
engine is loaded before the first call above a threshold.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

Kernel = Callable[..., Any]

# The size threshold of each accelerated kernel, in elements of its first array: from two runs of
# benchmarks/thresholds.py with two threads on an AMD EPYC (AVX2), no other load: above it both the
# minimum and the median time were below NumPy's for all shapes with three and more channels. Most
# convolutions, poolings and normalizations were faster from 256 elements on; their thresholds are
# higher because creating a primitive costs 0.1 ms. Where the runs differ, and for GEMMs, which are
# faster for most shapes but not for all, the threshold is a judgement. docs/benchmarks.md has the
# figures, also those of kernels that did not get faster.
SMALLEST: dict[str, int] = {}

# A batched matmul is faster in an engine than in NumPy, which calls BLAS once per matrix, if each
# GEMM has this many multiplications and the whole batch at least that many. Smaller GEMMs are as
# fast in NumPy, larger ones are parallelized by BLAS itself.
BATCHED_GEMM, SMALLEST_BATCHED_GEMM = range(1 << 14, 1 << 23), 1 << 24

# From this many multiplications on a single GEMM is parallelized over an engine's threads, if its
# code is faster than BLAS's. Below, the calling thread runs it alone: training steps with smaller
# GEMMs were no faster with two threads (784-100-10, batch 50: 208 us, 198 us on one), and under CPU
# load the threads wait for time-sliced cores, 20 times as long. docs/benchmarks.md has the figures.
# At low synchronization latency (engines/onednn/sync_latency.py) the second threshold holds.
PARALLEL_GEMM, PARALLEL_GEMM_AT_LOW_LATENCY = 1 << 23, 1 << 21


# Seconds between two samples of the CPU load.
_SAMPLING_INTERVAL = 0.25


def find(name: str) -> Kernel | None:
    """The engine's function for a kernel; `runnel.engines` installs its own."""
    return None


def compiled(
    name: str, operations: Sequence[Any], feeds: Sequence[Any], fetches: Sequence[Any]
) -> Kernel | None:
    """A traced function compiled as a whole; `runnel.engines` installs its own."""
    return None


def outruns_blas() -> bool:
    """Whether one thread of an engine runs GEMMs faster than two threads of NumPy's BLAS.

    `runnel.engines` installs its own.
    """
    return False


class Choice:
    """The engine's function for a kernel, looked up at the first call; None if NumPy runs it."""

    __slots__ = ("fast", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fast: Kernel | None = self._first

    def _first(self, *arguments: Any) -> Any:
        self.fast = find(self.name)
        return None if self.fast is None else self.fast(*arguments)

    def forget(self) -> None:
        """Look it up again at the next call."""
        self.fast = self._first


_choices: list[Choice] = []


def accelerated(name: str, smallest: int) -> Callable[[Kernel], Kernel]:
    """A kernel that an engine may run from `smallest` elements of its first array on.

    What the engine gives None for, NumPy computes.
    """
    SMALLEST[name] = smallest

    def decorate(kernel: Kernel) -> Kernel:
        choice = Choice(name)
        _choices.append(choice)

        def chosen(array: Any, *rest: Any) -> Any:
            if array.size >= smallest and choice.fast is not None:
                result = choice.fast(array, *rest)
                if result is not None:
                    return result
            return kernel(array, *rest)

        chosen.__name__ = kernel.__name__
        chosen.__doc__ = kernel.__doc__
        return chosen

    return decorate


class ThreadState(threading.local):
    """State of the calling thread."""

    # It is one of several threads of a parallel region: engines run its kernels on it alone.
    in_parallel_region = False


here = ThreadState()


def enter_parallel_region() -> None:
    """Let the calling thread run kernels on its own, without claiming a thread pool."""
    here.in_parallel_region = True


class Pool:
    """Which thread pool owns the cores: that of NumPy's BLAS, or that of an engine.

    Two pools that spin on the same cores are many times slower than one, so the heavy kernels of a
    step run in one pool: the engine's if the step has convolutions, else BLAS's. Threads in a
    parallel region leave the ownership as it is.
    """

    __slots__ = ("owned_by_engine", "_next_sample", "_sample_load", "_set_owner")

    def __init__(self) -> None:
        self.owned_by_engine = False
        self._set_owner: Callable[[bool], None] | None = None
        self._sample_load: Callable[[bool], None] | None = None
        # The time of the next sample of the CPU load.
        self._next_sample = math.inf

    def connect(
        self,
        set_owner: Callable[[bool], None] | None,
        sample_load: Callable[[bool], None] | None = None,
    ) -> None:
        """Install what resizes the pools; without it BLAS owns the cores.

        `sample_load` is called several times a second, to adapt the pools to the CPU load.
        """
        if set_owner is not self._set_owner:
            self.give_to_blas()
            self._set_owner = set_owner
            self._sample_load = sample_load
            self._next_sample = math.inf if sample_load is None else 0.0

    def give_to_engine(self) -> None:
        """Let the engine's thread pool own the cores."""
        if not self.owned_by_engine and self._set_owner is not None and not here.in_parallel_region:
            self._set_owner(True)
            self.owned_by_engine = True
        if monotonic() > self._next_sample:
            self._sample()

    def give_to_blas(self) -> None:
        """Let the thread pool of NumPy's BLAS own the cores."""
        if self.owned_by_engine and self._set_owner is not None and not here.in_parallel_region:
            self._set_owner(False)
            self.owned_by_engine = False
        if monotonic() > self._next_sample:
            self._sample()

    def _sample(self) -> None:
        if self._sample_load is not None and not here.in_parallel_region:
            self._next_sample = monotonic() + _SAMPLING_INTERVAL
            self._sample_load(self.owned_by_engine)


pool = Pool()


def reset_choices() -> None:
    """Look up every kernel's engine function again, after the engine was changed."""
    for choice in _choices:
        choice.forget()

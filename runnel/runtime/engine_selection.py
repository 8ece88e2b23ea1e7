"""Engines: other ways to compute what a NumPy kernel computes, where they are faster.

A kernel says by `@accelerated(name)` that an engine may do its work. Engines are packages beside
`ops`; which function of theirs does what, `find` knows, which `runnel.engines` puts here. Nothing
of an engine is loaded before the first call that is large enough for it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

Kernel = Callable[..., Any]

# From how many elements of its first array on a kernel is an engine's. Measured in two runs of
# benchmarks/thresholds.py, two threads each, on an AMD EPYC (AVX2) with other programs stopped: the
# size from which on both the least and the middle time were below NumPy's for all shapes of three
# channels and more. Most convolutions, poolings and normalizations were so from 256 on; they begin
# later, for a difference of microseconds is not worth the 0.1 ms that making a primitive takes.
# Where the runs differ, and for products, which win for most shapes but not for all, it is a
# judgement. docs/benchmarks.md has the figures, and those of kernels that did not get faster.
SMALLEST: dict[str, int] = {}

# The multiplications of each product of a batch, and the least of all of them, for which the
# threads of an engine are faster than NumPy, which has BLAS do one after the other: with smaller
# products it is as fast, and BLAS's threads share larger ones.
BATCHED, LEAST_OF_BATCH = range(1 << 14, 1 << 23), 1 << 24

# The multiplications of a single product from which on the threads of an engine that outruns BLAS
# share it. Below, unless its threads meet quickly (engines/onednn/sharing.py), the calling thread
# does it alone: steps of smaller products were no faster with two threads (784-100-10 with a batch
# of 50: 208 microseconds, 198 alone), and where another program has a processor they wait for it,
# 20 times as long. docs/benchmarks.md has the figures. Threads that meet quickly share from the
# smaller number on.
WORTH_SHARING, WORTH_TRYING = 1 << 23, 1 << 21


# Seconds between two looks at what other programs do.
_BETWEEN_LOOKS = 0.25


def find(name: str) -> Kernel | None:
    """The engine's function for a kernel; `runnel.engines` puts its own in this place."""
    return None


def compiled(
    name: str, operations: Sequence[Any], feeds: Sequence[Any], fetches: Sequence[Any]
) -> Kernel | None:
    """A function's operations as one program; `runnel.engines` puts its own in this place."""
    return None


def outruns_blas() -> bool:
    """Whether an engine's thread multiplies matrices faster than two of NumPy's BLAS.

    `runnel.engines` puts its own in this place.
    """
    return False


class Choice:
    """The engine's function for a kernel, looked for at the first use; None where NumPy does it."""

    __slots__ = ("fast", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.fast: Kernel | None = self._first

    def _first(self, *arguments: Any) -> Any:
        self.fast = find(self.name)
        return None if self.fast is None else self.fast(*arguments)

    def forget(self) -> None:
        """Look again at the next use."""
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


class Here(threading.local):
    """What holds for the calling thread alone."""

    # One of several that work side by side: an engine it calls starts no further threads.
    beside_others = False


here = Here()


def work_beside_others() -> None:
    """Have the calling thread do its work alone, and leave the processors to whom they are."""
    here.beside_others = True


class Pool:
    """Who has the processors: the threads of NumPy's BLAS, or those of an engine.

    Two pools whose threads wait for each other's cores are many times slower than one, so the
    heavy work of a step is done by one: the engine's where a step has convolutions, else BLAS's.
    Threads that work beside others take what they find, for the steps are not theirs.
    """

    __slots__ = ("of_engine", "_due", "_hand_over", "_look_around")

    def __init__(self) -> None:
        self.of_engine = False
        self._hand_over: Callable[[bool], None] | None = None
        self._look_around: Callable[[bool], None] | None = None
        # When to look around again.
        self._due = math.inf

    def connect(
        self,
        hand_over: Callable[[bool], None] | None,
        look_around: Callable[[bool], None] | None = None,
    ) -> None:
        """Say who tells the threads; without anybody BLAS has the processors.

        `look_around` is called now and then: other programs may want processors, too.
        """
        if hand_over is not self._hand_over:
            self.to_blas()
            self._hand_over = hand_over
            self._look_around = look_around
            self._due = math.inf if look_around is None else 0.0

    def to_engine(self) -> None:
        """Heavy work goes to the engine from now on."""
        if not self.of_engine and self._hand_over is not None and not here.beside_others:
            self._hand_over(True)
            self.of_engine = True
        if monotonic() > self._due:
            self._look()

    def to_blas(self) -> None:
        """Heavy work goes to NumPy's BLAS from now on."""
        if self.of_engine and self._hand_over is not None and not here.beside_others:
            self._hand_over(False)
            self.of_engine = False
        if monotonic() > self._due:
            self._look()

    def _look(self) -> None:
        if self._look_around is not None and not here.beside_others:
            self._due = monotonic() + _BETWEEN_LOOKS
            self._look_around(self.of_engine)


pool = Pool()


def choose_again() -> None:
    """Have every kernel look for its engine anew, after another one was chosen."""
    for choice in _choices:
        choice.forget()

"""Workers: threads that take a share of a piece of work, each on a processor of its own.

For work that lets go of the interpreter lock: NumPy's loops and an engine's primitives do.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from .engine import here, work_beside_others

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_of(count: int) -> Iterator[None]:
    """Meanwhile the calling thread is one of so many that work side by side.

    Engines start no further threads for it then.
    """
    before = here.beside_others
    here.beside_others = before or count > 1
    try:
        yield
    finally:
        here.beside_others = before


def side_by_side(work: Callable[[int], Result], count: int) -> list[Result]:
    """What `work(0)`, `work(1)` and so on give, at once; the calling thread does the first."""
    with one_of(count):
        others = [_pool().submit(work, place) for place in range(1, count)]
        try:
            first = work(0)
        finally:
            # Nobody goes on while they still read and write.
            results = [other.result() for other in others]
        return [first, *results]


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(processors() - 1, 1), "runnel-worker", work_beside_others)


if hasattr(os, "register_at_fork"):
    # The threads stay behind in the parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)

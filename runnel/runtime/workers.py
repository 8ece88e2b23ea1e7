"""Workers: threads for parallel loops and for background tasks, and how many there may be.

For work that releases the GIL: NumPy's loops and an engine's primitives do.
"""

from __future__ import annotations

import functools
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from .engine_selection import enter_parallel_region, here

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")

_NAME = "runnel-worker"
# An idle thread waits this many seconds for another task before it ends.
_IDLE_SECONDS = 1.0


# The number of threads that the user has set; 0: one per core.
_configured = 0
# The limit that the CPU load sets; 0: none.
_limit = 0


def configured_threads() -> int:
    """The number of threads that the user has set; 0 if none."""
    return _configured


def num_threads(most: int) -> int:
    """The number of threads for a parallel loop, out of `most`."""
    return _configured or min(_limit or most, most)


def limit_threads(count: int) -> None:
    """Use at most this many threads from now on: other programs load the other cores."""
    global _limit
    _limit = count


def configure_threads(count: int) -> None:
    """Set the number of threads; 0: one per core."""
    global _configured
    _configured = count


def available_cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def parallel_region(count: int) -> Iterator[None]:
    """Mark the calling thread as one of `count` threads of a parallel region.

    Engines run its kernels on it alone.
    """
    before = here.in_parallel_region
    here.in_parallel_region = before or count > 1
    try:
        yield
    finally:
        here.in_parallel_region = before


def run_parallel(work: Callable[[int], Result], count: int) -> list[Result]:
    """The results of `work(0)` to `work(count - 1)`, run in parallel; the caller runs the first."""
    if count == 1:
        return [work(0)]
    with parallel_region(count):
        others = [_pool().submit(work, index) for index in range(1, count)]
        try:
            first = work(0)
        finally:
            # The buffers stay in use until every thread has ended.
            results = [other.result() for other in others]
        return [first, *results]


def parallel_for(work: Callable[[int, int], None], total: int, per_thread: int) -> None:
    """Call `work(start, limit)` on chunks of `range(total)`, in parallel above `per_thread`."""
    count = (
        1 if here.in_parallel_region else min(total // per_thread, num_threads(_default_threads()))
    )
    if count < 2:
        work(0, total)
        return
    edges = [total * index // count for index in range(count + 1)]
    run_parallel(lambda index: work(edges[index], edges[index + 1]), count)


def _default_threads() -> int:
    """`OMP_NUM_THREADS`, which holds for us as well; else one thread per core."""
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(told) if told.isdecimal() and int(told) else available_cores()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(available_cores() - 1, 1), _NAME, enter_parallel_region)


_Tasks = queue.SimpleQueue[tuple[Callable[[], None], str]]
# The task queues of idle threads.
_idle: deque[_Tasks] = deque()


def start_task(work: Callable[[], None], name: str) -> None:
    """Run a task on an idle worker thread, or on a new one.

    A new thread often starts on a busy core, and takes milliseconds to migrate to an idle one; a
    thread that has run before has a core of its own.
    """
    try:
        tasks = _idle.popleft()
    except IndexError:
        tasks = queue.SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), daemon=True, name=_NAME).start()
    tasks.put((work, name))


def _work(tasks: _Tasks) -> None:
    thread = threading.current_thread()
    while True:
        try:
            work, thread.name = tasks.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            if _may_end(tasks):
                return
            work, thread.name = tasks.get()
        work()
        # Do not keep its objects alive while waiting.
        del work
        _idle.append(tasks)
        thread.name = _NAME


def _may_end(tasks: _Tasks) -> bool:
    """Whether the queue is off the list, so that no task can arrive any more."""
    try:
        _idle.remove(tasks)
    except ValueError:
        return False
    return True


if hasattr(os, "register_at_fork"):
    # The threads stay behind in the parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_idle.clear)

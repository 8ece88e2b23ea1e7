"""Workers: threads that take a share of a piece of work, or do one beside everybody else.

For work that lets go of the interpreter lock: NumPy's loops and an engine's primitives do.
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

from .engine_selection import here, work_beside_others

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")

_NAME = "runnel-worker"
# For so many seconds a thread that has ended its work waits for more.
_REST = 1.0


# The threads that one piece of work has; 0: as many as there are.
_chosen = 0
# The most of them that other programs leave; 0: they leave all.
_left = 0


def threads_chosen() -> int:
    """The threads that one piece of work shall have; 0: as many as there are."""
    return _chosen


def threads_at_most(most: int) -> int:
    """The threads that one piece of work shall have where there are so many."""
    return _chosen or min(_left or most, most)


def leave_threads(count: int) -> None:
    """Use so many at the most from now on, for other programs have the other processors."""
    global _left
    _left = count


def choose_threads(count: int) -> None:
    """Choose that number from now on."""
    global _chosen
    _chosen = count


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
    if count == 1:
        return [work(0)]
    with one_of(count):
        others = [_pool().submit(work, place) for place in range(1, count)]
        try:
            first = work(0)
        finally:
            # Nobody goes on while they still read and write.
            results = [other.result() for other in others]
        return [first, *results]


def in_stretches(work: Callable[[int, int], None], total: int, per_thread: int) -> None:
    """Call `work(start, limit)` on stretches of `range(total)`, in threads where it pays."""
    count = 1 if here.beside_others else min(total // per_thread, threads_at_most(_most()))
    if count < 2:
        work(0, total)
        return
    edges = [total * place // count for place in range(count + 1)]
    side_by_side(lambda place: work(edges[place], edges[place + 1]), count)


def _most() -> int:
    """The threads that the environment tells OpenMP, and so us, to have; else the processors."""
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(told) if told.isdecimal() and int(told) else processors()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max(processors() - 1, 1), _NAME, work_beside_others)


_Tasks = queue.SimpleQueue[tuple[Callable[[], None], str]]
# Those that threads wait at which have just ended their work.
_resting: deque[_Tasks] = deque()


def begin(work: Callable[[], None], name: str) -> None:
    """Have a thread do a piece of work: one that has just ended another, or a new one.

    Where a new thread begins there is often another one at work, and it takes milliseconds until it
    is moved to a processor that has nothing to do. One that worked before has its own.
    """
    try:
        tasks = _resting.popleft()
    except IndexError:
        tasks = queue.SimpleQueue()
        threading.Thread(target=_work, args=(tasks,), daemon=True, name=_NAME).start()
    tasks.put((work, name))


def _work(tasks: _Tasks) -> None:
    thread = threading.current_thread()
    while True:
        try:
            work, thread.name = tasks.get(timeout=_REST)
        except queue.Empty:
            if _is_left(tasks):
                return
            work, thread.name = tasks.get()
        work()
        # Nothing of it is held meanwhile.
        del work
        _resting.append(tasks)
        thread.name = _NAME


def _is_left(tasks: _Tasks) -> bool:
    """Whether nobody is about to put work there, nor will."""
    try:
        _resting.remove(tasks)
    except ValueError:
        return False
    return True


if hasattr(os, "register_at_fork"):
    # The threads stay behind in the parent.
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_resting.clear)

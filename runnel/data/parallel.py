"""Threads: elements prepared ahead, and functions of elements called side by side.

Threads belong to one iteration and end with it: at the end of the data, at an error that nobody
catches, or when the iterator is dropped. What they hold is bounded. An exception in a thread is
raised where the element it belongs to is asked for.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from ..core.engine import work_beside_others
from .dataset import Dataset, invalid, number, scalar
from .functions import Debugging
from .selecting import _Same
from .structure import Leaves

# The elements kept ready where the size is left to us.
_READY = 4
# Calls shorter than this many seconds cost less than handing them to another thread.
_SHORT = 2e-4
_TRIED = 4
# So many calls for each thread are under way, and at most so many where results go into groups.
_CALLS = 2
_MOST_CALLS = 8


class _Shared:
    """What a preparing thread and its consumer share; neither keeps the other alive."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.ready: deque[tuple[bool, Any]] = deque()
        self.changed = threading.Condition()
        self.closed = False

    def close(self) -> None:
        with self.changed:
            self.closed = True
            self.ready.clear()
            self.changed.notify_all()


def _prepare(elements: Iterator[Any], shared: _Shared) -> None:
    work_beside_others()
    while True:
        try:
            entry: tuple[bool, Any] = True, next(elements)
        except BaseException as failure:
            entry = False, failure
        ended = not entry[0] and isinstance(entry[1], StopIteration)
        with shared.changed:
            while len(shared.ready) >= shared.size and not shared.closed:
                shared.changed.wait()
            if shared.closed:
                return
            shared.ready.append(entry)
            shared.changed.notify_all()
        if ended:
            return


class Prefetched:
    """Elements that a thread prepares while earlier ones are in use."""

    def __init__(self, elements: Iterator[Any], size: int) -> None:
        self._elements: Iterator[Any] | None = elements
        self._shared = _Shared(size)
        self._ended = False
        # The thread knows the shared part only, so that dropping this object ends it.
        self._finalizer = weakref.finalize(self, self._shared.close)

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        shared = self._shared
        if self._elements is not None:
            thread = threading.Thread(
                target=_prepare, args=(self._elements, shared), daemon=True, name="runnel-prefetch"
            )
            self._elements = None
            thread.start()
        with shared.changed:
            while not shared.ready:
                shared.changed.wait()
            good, value = shared.ready.popleft()
            shared.changed.notify_all()
        if good:
            return value
        if isinstance(value, StopIteration):
            self._ended = True
            raise StopIteration
        raise value


class _PrefetchDataset(_Same):
    """The same elements, prepared ahead."""

    def __init__(self, dataset: Dataset, buffer_size: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(-1 if buffer_size is None else buffer_size),)
        size = number(self._tensors[0])
        if size is not None and size < -1:
            raise invalid(
                f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, got {size}",
                "PrefetchDataset",
            )

    def _elements(self) -> Iterator[Leaves]:
        return self.ahead(self._inputs[0]._elements())

    def ahead(self, elements: Iterator[Leaves]) -> Iterator[Leaves]:
        """The elements, prepared by a thread."""
        size = self._value(0)
        if size == 0 or Debugging.on:
            return elements
        return Prefetched(elements, _READY if size < 0 else size)


def in_threads(
    call: Callable[[int, Any], Any], elements: Iterator[Any], threads: int, ordered: bool,
    group: int = 1, finish: Callable[[int, Any], Any] | None = None,
) -> Iterator[Any]:  # fmt: skip
    """The results of a function of the number of an element and the element itself.

    The consumer can do nothing with less than `group` results. What `finish` makes of the number
    and a result takes its place; only threads do that.
    """
    return _Calls(call, elements, threads, ordered, group, finish)


class _Calls:
    """Calls under way, at most so many at once; where they are short, made one by one."""

    def __init__(
        self, call: Callable[[int, Any], Any], elements: Iterator[Any], threads: int, ordered: bool,
        group: int, finish: Callable[[int, Any], Any] | None,
    ) -> None:  # fmt: skip
        self._call = call
        self._in_thread = call if finish is None else _both(call, finish)
        self._group = group
        # A thread that ends a call finds the next one there.
        self._enough = threads * _CALLS
        self._most = max(self._enough, min(threads * _MOST_CALLS, group))
        self._elements = elements
        self._threads = threads
        self._ordered = ordered
        self._index = 0
        self._tried = 0
        self._spent = 0.0
        self._pool: ThreadPoolExecutor | None = None
        self._running: deque[Future[Any]] = deque()
        self._end = False

    def __iter__(self) -> _Calls:
        return self

    def __next__(self) -> Any:
        if self._pool is None:
            # The first call also plans the function and says nothing of the others.
            if self._tried <= _TRIED or self._spent / _TRIED < _SHORT or self._threads < 2:
                return self._alone()
            self._pool = ThreadPoolExecutor(self._threads, "runnel-map", work_beside_others)
            weakref.finalize(self, _stop, self._pool, self._running)
        self._fill()
        if not self._running:
            self._pool.shutdown(wait=False)
            raise StopIteration
        return self._finished().result()

    def _alone(self) -> Any:
        element = next(self._elements)
        index = self._index
        self._index += 1
        if self._tried > _TRIED:
            return self._call(index, element)
        start = time.perf_counter()
        try:
            return self._call(index, element)
        finally:
            if self._tried:
                self._spent += time.perf_counter() - start
            self._tried += 1

    def _fill(self) -> None:
        pool = self._pool
        assert pool is not None
        while not self._end and len(self._running) < self._most:
            try:
                element = next(self._elements)
            except StopIteration:
                self._end = True
                return
            except Exception as failure:
                # It comes when its turn comes, after the results of the elements before it.
                failed: Future[Any] = Future()
                failed.set_exception(failure)
                self._running.append(failed)
                return
            self._running.append(pool.submit(self._in_thread, self._index, element))
            self._index += 1

    def _finished(self) -> Future[Any]:
        running = self._running
        if self._ordered:
            first = running.popleft()
            self._wait_for_several(first)
            return first
        done = next(iter(wait(running, return_when=FIRST_COMPLETED).done))
        running.remove(done)
        return done

    def _wait_for_several(self, first: Future[Any]) -> None:
        """Wake up once for several results of a group, and while the threads have enough to do.

        Waking up for each takes a processor from the threads each time.
        """
        if not first.done():
            place = (self._index - len(self._running) - 1) % self._group
            later = min(self._group - 1 - place, len(self._running) - self._enough)
            if later > 0:
                self._running[later - 1].exception()


def _both(first: Callable[[int, Any], Any], then: Callable[[int, Any], Any]) -> Any:
    # No method: what waits for a thread must not keep the iteration alive.
    return lambda index, element: then(index, first(index, element))


def _stop(pool: ThreadPoolExecutor, running: deque[Future[Any]]) -> None:
    for each in running:
        each.cancel()
    pool.shutdown(wait=False)

"""Threads: prefetching, and parallel calls of functions on elements.

Threads belong to one iteration and exit with it: at the end of the data, at an unhandled error, or
when the iterator is dropped. Their buffers are bounded. An exception in a thread is raised when its
element is requested.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..runtime import workers
from ..runtime.engine_selection import enter_parallel_region
from .dataset import Dataset, invalid, number, scalar
from .failures import Failed
from .functions import Debugging
from .selecting import _Same
from .structure import Leaves

# The number of prefetched elements with AUTOTUNE.
_READY = 4
# The number of seconds that an iteration waits for readers ahead in the same random orders.
_PATIENCE = 1.0
# Calls shorter than this many seconds cost less than passing them to another thread.
_SHORT = 2e-4
_TRIED = 4
# The number of calls in flight per thread, and the maximum if results are grouped.
_CALLS = 2
_MOST_CALLS = 16


class _Shared:
    """State common to a prefetching thread and its consumer; neither keeps the other alive."""

    def __init__(self, size: int, lingers: bool) -> None:
        self.size = size
        self.ready: deque[tuple[bool, Any]] = deque()
        self.changed = threading.Condition()
        self.closed = False
        # Whether it shows how far the thread gets: it prepares `size` elements then and not one
        # more, even when the consumer has left it.
        self.lingers = lingers
        self._begun = self._finished = False

    def begin(self, elements: Iterator[Any]) -> None:
        """Start a thread that prefetches elements."""
        self._begun = True
        workers.start_task(functools.partial(_prepare, elements, self), "runnel-prefetch")

    def wait_for_room(self) -> bool:
        """Wait for space for one more element; False if the consumer has left."""
        with self.changed:
            while self._is_full() and not self.closed:
                self.changed.wait()
            wanted = not self.closed or (self.lingers and not self._is_full())
            if not wanted:
                self._finished = True
                self.changed.notify_all()
            return wanted

    def _is_full(self) -> bool:
        return len(self.ready) >= self.size

    def put(self, entry: tuple[bool, Any], last: bool) -> None:
        """Add a prefetched element."""
        with self.changed:
            self.ready.append(entry)
            self._finished = last
            self.changed.notify_all()

    def settle(self) -> None:
        """Wait until the thread has prefetched as much as it can for now."""
        with self.changed:
            self.changed.wait_for(
                lambda: not self._begun or self._finished or self._is_full(), _PATIENCE
            )

    def close(self) -> None:
        """Notify the thread that the consumer has left."""
        with self.changed:
            self.closed = True
            if not self.lingers:
                self.ready.clear()
            self.changed.notify_all()


def _prepare(elements: Iterator[Any], shared: _Shared) -> None:
    enter_parallel_region()
    while not shared.lingers or shared.wait_for_room():
        try:
            entry: tuple[bool, Any] = True, next(elements)
        except BaseException as failure:
            entry = False, failure
        ended = not entry[0] and isinstance(entry[1], StopIteration)
        if not shared.lingers and not shared.wait_for_room():
            return
        shared.put(entry, ended)
        del entry
        if ended:
            return


class Prefetched:
    """Elements prefetched by a thread.

    `orders` are seeds that it may draw from: later iterations wait until it has.
    """

    def __init__(self, elements: Iterator[Any], size: int, orders: Sequence[Any] = ()) -> None:
        self._elements: Iterator[Any] | None = elements
        self._shared = _Shared(size, bool(orders))
        for seeds in orders:
            seeds.readers.add(self._shared)
        self._ended = False
        # The thread references the common state only, so that dropping this object ends it.
        self._finalizer = weakref.finalize(self, self._shared.close)

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> Any:
        if self._ended:
            raise StopIteration
        shared = self._shared
        if self._elements is not None:
            shared.begin(self._elements)
            self._elements = None
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
    """The same elements, prefetched."""

    def __init__(self, dataset: Dataset, buffer_size: Any) -> None:
        super().__init__(dataset)
        self._tensors = (scalar(-1 if buffer_size is None else buffer_size, name="buffer_size"),)
        size = number(self._tensors[0])
        if size is not None and size < -1:
            raise invalid(
                f"buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning, got {size}",
                "PrefetchDataset",
            )

    def _elements(self) -> Iterator[Leaves]:
        return self.ahead(self._inputs[0]._elements())

    def ahead(self, elements: Iterator[Leaves]) -> Iterator[Leaves]:
        """The elements, prefetched by a thread."""
        if self._value(0) == 0 or Debugging.on:
            return elements
        return Prefetched(elements, self.size(self.orders), self.orders)

    # The seeds that an iteration draws from while it runs, once they were determined.
    orders: Sequence[Any] = ()

    def size(self, orders: Sequence[Any]) -> int:
        """The number of prefetched elements."""
        size = self._value(0)
        if size >= 0:
            return size
        # The original begins with one, and shuffled epochs begin as early as there.
        return 1 if orders else _READY


class Pace:
    """The duration of a function's calls, measured by one iteration for the later ones."""

    def __init__(self) -> None:
        self._calls = 0
        self._seconds = 0.0

    @property
    def is_known(self) -> bool:
        return self._calls > _TRIED

    @property
    def is_slow(self) -> bool:
        """Whether calls are slow enough to run in other threads."""
        return self.is_known and self._seconds >= _SHORT * _TRIED

    def note(self, seconds: float) -> None:
        """Record the duration of one more call."""
        # The first call includes planning the function and is not representative.
        if self._calls:
            self._seconds += seconds
        self._calls += 1


def in_threads(
    call: Callable[[int, Any], Any], elements: Iterator[Any], threads: int, ordered: bool,
    pace: Pace, group: int = 1, finish: Callable[[int, Any], Any] | None = None,
) -> Iterator[Any]:  # fmt: skip
    """The results of a function of an element's index and the element.

    The consumer needs results in groups of `group`. `finish` maps the index and a result to its
    replacement; only threads call it.
    """
    return _Calls(call, elements, threads, ordered, pace, group, finish)


class _Turns:
    """The state that worker threads and the consumer have in common; none keeps another alive.

    Threads fetch elements themselves, one at a time, and number them in order; results are keyed by
    that number. So the consumer, which competes with them for cores, has little to do.
    """

    def __init__(
        self, call: Callable[[int, Any], Any], elements: Iterator[Any], index: int, most: int
    ) -> None:
        self._call = call
        self._elements = elements
        # The index of the next element; failed elements advance the turn only.
        self._index = index
        self._most = most
        # The first lock is held while fetching an element; the second only briefly, possibly by a
        # thread that drops the iteration.
        self._source, lock = threading.Lock(), threading.RLock()
        self._room, self._arrived = threading.Condition(lock), threading.Condition(lock)
        self._results: dict[int, Any] = {}
        self._taken = self._given = 0
        # The turn that the consumer waits for; -1: any.
        self._awaited: int | None = None
        self._ended = self._closed = False

    def work(self) -> None:
        """Make calls until there is nothing left to do, as one of several threads."""
        enter_parallel_region()
        while True:
            with self._source:
                if not self._has_room():
                    return
                turn, index, element = self._taken, self._index, None
                try:
                    element = next(self._elements)
                    self._index += 1
                except StopIteration:
                    self._end()
                    return
                except BaseException as failure:
                    element = Failed(failure)
                self._taken += 1
            if type(element) is not Failed:
                try:
                    element = self._call(index, element)
                except BaseException as failure:
                    element = Failed(failure)
            self._put(turn, element)
            # While waiting for the next element, the thread holds no reference to this one.
            del element

    def _has_room(self) -> bool:
        """Wait for space for one more result; False if the consumer has left."""
        with self._room:
            while not (self._closed or self._ended):
                if self._taken - self._given < self._most:
                    return True
                self._room.wait()
            return False

    def _put(self, turn: int, result: Any) -> None:
        with self._arrived:
            if not self._closed:
                self._results[turn] = result
                if self._awaited == turn or self._awaited == -1:
                    self._arrived.notify()

    def _end(self) -> None:
        with self._arrived:
            self._ended = True
            self._arrived.notify()

    def close(self) -> None:
        """Notify the threads that the consumer has left."""
        with self._room:
            self._closed = True
            self._results.clear()
            self._room.notify_all()

    def next(self, ahead: int) -> Any:
        """The next result; may sleep until the one `ahead` turns later is available, too.

        StopIteration at the end.
        """
        with self._arrived:
            turn = self._given
            if turn not in self._results:
                later = turn + ahead
                self._awaited = turn if later in self._results or self._ended else later
                while turn not in self._results:
                    if self._ended and turn >= self._taken:
                        raise StopIteration
                    self._arrived.wait()
                    self._awaited = turn
                self._awaited = None
            return self._handed_out(turn)

    def any(self) -> Any:
        """The first available result; StopIteration at the end."""
        with self._arrived:
            self._awaited = -1
            while not self._results:
                if self._ended and self._given >= self._taken:
                    raise StopIteration
                self._arrived.wait()
            self._awaited = None
            return self._handed_out(next(iter(self._results)))

    def _handed_out(self, turn: int) -> Any:
        self._given += 1
        self._room.notify()
        return self._results.pop(turn)


class _Calls:
    """Parallel calls, up to a maximum; short calls are made sequentially."""

    def __init__(
        self, call: Callable[[int, Any], Any], elements: Iterator[Any], threads: int, ordered: bool,
        pace: Pace, group: int, finish: Callable[[int, Any], Any] | None,
    ) -> None:  # fmt: skip
        self._call = call
        self._in_thread = call if finish is None else _both(call, finish)
        self._group = group
        # A thread that completes a call finds the next one queued.
        self._enough = threads * _CALLS
        self._most = max(self._enough, min(threads * _MOST_CALLS, group + self._enough))
        self._elements = elements
        self._threads = threads
        self._ordered = ordered
        # The number of elements requested.
        self._index = 0
        self._pace = pace
        self._turns: _Turns | None = None

    def __iter__(self) -> _Calls:
        return self

    def __next__(self) -> Any:
        turns = self._turns
        if turns is None:
            if self._threads < 2 or not self._pace.is_slow:
                return self._alone()
            turns = self._begin_threads()
        if self._ordered:
            # The consumer wakes up once for several results of a group, while threads have enough
            # queued.
            left = self._group - 1 - self._index % self._group
            result = turns.next(min(left, self._most - self._enough))
        else:
            result = turns.any()
        self._index += 1
        if type(result) is Failed:
            raise result.error
        return result

    def _begin_threads(self) -> _Turns:
        turns = _Turns(self._in_thread, self._elements, self._index, self._most)
        # The threads reference nothing else, so that dropping this object ends them.
        weakref.finalize(self, turns.close)
        for place in range(self._threads):
            workers.start_task(turns.work, f"runnel-map_{place}")
        self._turns = turns
        return turns

    def _alone(self) -> Any:
        element = next(self._elements)
        index = self._index
        self._index += 1
        if self._pace.is_known:
            return self._call(index, element)
        start = time.perf_counter()
        try:
            return self._call(index, element)
        finally:
            self._pace.note(time.perf_counter() - start)


def _both(first: Callable[[int, Any], Any], then: Callable[[int, Any], Any]) -> Any:
    # No method: a reference from a thread must not keep the iteration alive.
    return lambda index, element: then(index, first(index, element))

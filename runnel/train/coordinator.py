"""Coordinator: coordinated termination of several threads."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ..core.errors import OutOfRangeError
from ..core.logger import get_logger


class Coordinator:
    """Requests threads to stop when one of them has finished or failed, and joins them.

    >>> import threading
    >>> coordinator = tf.train.Coordinator()
    >>> steps = []
    >>> def work():
    ...     while not coordinator.should_stop():
    ...         steps.append(1)
    ...         if len(steps) == 3:
    ...             coordinator.request_stop()
    >>> thread = threading.Thread(target=work)
    >>> thread.start()
    >>> coordinator.join([thread])
    >>> len(steps)
    3
    """

    def __init__(self, clean_stop_exception_types: tuple[type, ...] | None = None) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has joined all threads."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Request all threads to stop; an exception is re-raised by `join`."""
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if self._joined:
                if isinstance(error, self._clean_stop_exception_types):
                    error = None
                if error is not None:
                    raise error
                return
            if self._stop.is_set():
                return
            if error is not None and not isinstance(error, self._clean_stop_exception_types):
                get_logger().info(
                    "Error reported to Coordinator: %s, %s", type(error).__name__, error
                )
                self._error = error
            self._stop.set()

    def clear_stop(self) -> None:
        """Clear the stop request, so that the coordinator can be reused."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context manager that turns an exception into a stop request."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested; False on timeout."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Register a thread to be joined."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for the threads; raise the exception that one of them reported.

        Once a stop is requested they have `stop_grace_period_secs` to terminate.
        """
        with self._lock:
            waiting = self._threads | set(threads or ())
        for thread in waiting:
            while thread.is_alive() and not self.should_stop():
                thread.join(0.1)
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.monotonic()))
        late = [thread.name for thread in waiting if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._threads = set()
            if self._error is not None:
                raise self._error
        if late and not ignore_live_threads:
            raise RuntimeError(
                f"Coordinator stopped with threads still running: {' '.join(sorted(late))}"
            )
        if late:
            get_logger().info("Coordinator stopped with threads still running: %s", " ".join(late))

    def raise_requested_exception(self) -> None:
        """Re-raise the exception passed to `request_stop`, if any."""
        with self._lock:
            if self._error is not None:
                raise self._error

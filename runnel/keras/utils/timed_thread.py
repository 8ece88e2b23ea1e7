"""A thread with a periodic callback."""

from __future__ import annotations

import threading
from typing import Any


class TimedThread:
    """Calls `on_interval` every `interval` seconds in its own thread.

    Use `start` and `stop`, or `with`. Further arguments go to `threading.Thread`; the thread is a
    daemon unless they say otherwise.
    """

    def __init__(self, interval: float, **kwargs: Any) -> None:
        self.interval = interval
        self.daemon = kwargs.pop("daemon", True)
        self.thread_kwargs = kwargs
        self.thread: threading.Thread | None = None
        self.thread_stop_event: threading.Event | None = None

    def start(self) -> None:
        """Start the thread, unless it is running."""
        if self.is_alive() and not self._stopping():
            return
        self.thread_stop_event = threading.Event()
        self.thread = threading.Thread(
            target=self._call_at_intervals,
            args=(self.thread_stop_event,),
            daemon=self.daemon,
            **self.thread_kwargs,
        )
        self.thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        if self.thread_stop_event is not None:
            self.thread_stop_event.set()

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self.thread is not None and self.thread.is_alive()

    def on_interval(self) -> None:
        """The periodic callback; subclasses implement it."""
        raise NotImplementedError(f"{type(self).__name__} must define on_interval(self)")

    def _stopping(self) -> bool:
        return self.thread_stop_event is not None and self.thread_stop_event.is_set()

    def _call_at_intervals(self, stop: threading.Event) -> None:
        while not stop.wait(self.interval):
            self.on_interval()

    def __enter__(self) -> TimedThread:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

"""A thread that writes a checkpoint while the program goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable


class WriteThread(threading.Thread):
    """Runs a function; `finish` waits for its end and raises what it raised."""

    def __init__(self, work: Callable[[], None]) -> None:
        # No daemon: a program that ends waits for its checkpoint.
        super().__init__(name="checkpoint writer")
        self._work = work
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Write."""
        try:
            self._work()
        except BaseException as error:
            self._error = error

    def finish(self) -> None:
        """Wait for the end; raise the error if there was one."""
        self.join()
        if self._error is not None:
            raise self._error

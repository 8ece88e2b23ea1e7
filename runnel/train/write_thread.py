"""A background thread that writes a checkpoint."""

from __future__ import annotations

import threading
from collections.abc import Callable


class WriteThread(threading.Thread):
    """Runs a function; `finish` joins the thread and re-raises its exception."""

    def __init__(self, work: Callable[[], None]) -> None:
        # Not a daemon: at exit the interpreter waits for the checkpoint.
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
        """Join the thread; raise its error, if any."""
        self.join()
        if self._error is not None:
            raise self._error

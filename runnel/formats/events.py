"""TensorBoard event files: TFRecords of Event messages, written in the background.

`EventFile.add` puts a record into a queue, which costs less than a microsecond. One thread for all
files frames the records and writes them to the operating system: when a queue has more than
`max_queue` records, when `flush_millis` have passed, and at exit. `flush` does so at once. Flushed
records stay readable if the process is killed afterwards.

The messages are encoded by hand: importing protobuf takes longer than a short training.

    Event:   1 wall_time (double), 2 step (int64), 3 file_version (string), 4 graph_def (bytes),
             5 summary, 10 source_metadata
"""

from __future__ import annotations

import atexit
import itertools
import os
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..core import errors
from ..core.logger import get_logger
from .tfrecord import framed, read_records
from .wire import field, varint

MAX_QUEUE = 10
FLUSH_MILLIS = 2 * 60 * 1000

# The maximum number of queued bytes; a thread that adds more writes them out first.
_MOST_WAITING = 4 << 20
# The number of bytes per write call.
_CHUNK = 1 << 20
# The thread pauses between two rounds, so that many small records cause few wake-ups.
_PAUSE = 0.02

_TIME = struct.Struct("<Bd")

_FAILURES = {
    FileNotFoundError: errors.NotFoundError,
    FileExistsError: errors.FailedPreconditionError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
    PermissionError: errors.PermissionDeniedError,
}
_numbers = itertools.count()


# Hand-written protobuf encoding.


def event(kind: int, content: bytes, step: int = 0, wall_time: float | None = None) -> bytes:
    """An Event message with one payload field."""
    when = _TIME.pack(9, time.time() if wall_time is None else wall_time)
    if step:
        return when + b"\x10" + varint(step) + field(kind, content)
    return when + field(kind, content)


FILE_VERSION, GRAPH_DEF, SUMMARY, SESSION_LOG, RUN_METADATA, META_GRAPH = 3, 4, 5, 7, 8, 9
# The original's writer name in its files; readers recognize old files by it.
_SOURCE = field(10, field(1, b"tensorflow.core.util.events_writer"))


class EventFile:
    """A new event file in a folder; thread-safe."""

    def __init__(
        self,
        logdir: str,
        max_queue: int = MAX_QUEUE,
        flush_millis: int = FLUSH_MILLIS,
        filename_suffix: str = ".v2",
        numbered: bool = True,
    ) -> None:
        now = time.time()
        host = socket.gethostname()
        if numbered:
            host += f".{os.getpid()}.{next(_numbers)}"
        self._max_queue = max_queue
        self._flush_seconds = max(flush_millis, 0) / 1000
        self._waiting: deque[bytes] = deque()
        self._bytes_waiting = 0
        self._last_flush = time.monotonic()
        self._lock = threading.Lock()
        self._has_warned = False
        self._abandoned = False
        self._file: Any = _created(logdir, int(now), host + filename_suffix)
        self.path: str = self._file.name
        self._size = 0
        self.closed = False
        self.add(_TIME.pack(9, float(int(now))) + field(FILE_VERSION, b"brain.Event:2") + _SOURCE)
        self.flush()
        _background.watch(self)

    def add(self, record: bytes) -> None:
        """Put an Event message into the queue."""
        waiting = self._waiting
        waiting.append(record)
        # A race between threads may lose an update of the sum. That only delays a write slightly:
        # the next flush resets the sum to zero.
        size = self._bytes_waiting = self._bytes_waiting + len(record)
        if size > _MOST_WAITING:
            self.flush()
        elif len(waiting) > self._max_queue:
            _background.wake()

    def flush(self) -> None:
        """Write the queue to the operating system."""
        with self._lock:
            self._write_waiting()

    def close(self) -> None:
        """Flush and close the file."""
        with self._lock:
            self._end()

    def abandon(self) -> None:
        """Close the file after its writer was garbage-collected; never blocks.

        The garbage collector may call this anywhere, even within the methods of this file.
        """
        self._abandoned = True
        if self._lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self._lock.release()

    def _end(self) -> None:
        if not self.closed:
            self._write_waiting()
            self.closed = True
            self._file.close()
        _background.forget(self)

    def tend(self, now: float) -> None:
        """Write the queue if it is long or old enough."""
        waiting = len(self._waiting)
        if self._abandoned:
            self.close()
        elif waiting > self._max_queue or (
            waiting and now - self._last_flush >= self._flush_seconds
        ):
            self.flush()

    @property
    def seconds_to_flush(self) -> float:
        return max(self._flush_seconds, _PAUSE)

    def forget_waiting(self) -> None:
        """Leave the queued records to the process that this one was forked from."""
        self._lock = threading.Lock()
        self._waiting.clear()

    def _write_waiting(self) -> None:
        waiting = self._waiting
        self._last_flush = time.monotonic()
        self._bytes_waiting = 0
        if self.closed:
            waiting.clear()
            return
        # Only the records queued now, so that writing terminates while others add.
        count = len(waiting)
        while count:
            parts, size = [], 0
            while count and size < _CHUNK:
                part = framed(waiting.popleft())
                parts.append(part)
                size += len(part)
                count -= 1
            self._write(b"".join(parts))

    def _write(self, data: bytes) -> None:
        """Write complete records; if that fails, none of them, with one warning per file."""
        try:
            written = self._file.write(data)
            while written < len(data):
                written += self._file.write(data[written:])
            self._size += written
        except OSError as failure:
            try:
                # A partial record would hide all later ones once there is space again.
                self._file.truncate(self._size)
                self._file.seek(self._size)
            except OSError:
                self.closed = True
            if not self._has_warned:
                self._has_warned = True
                get_logger().warning(
                    "Summaries are lost: %s cannot be written (%s). The program goes on without "
                    "them; make room on the disk to have those that follow.",
                    self.path, failure.strerror or failure,
                )  # fmt: skip


def _created(logdir: str, second: int, ending: str) -> Any:
    """A new file, named after the time and the host."""
    try:
        os.makedirs(logdir, exist_ok=True)
        while True:
            path = os.path.join(logdir, f"events.out.tfevents.{second}.{ending}")
            # Files created in the same second must not overwrite each other.
            try:
                return open(path, "xb", buffering=0)
            except FileExistsError:
                if os.path.isdir(logdir):
                    second += 1
                else:
                    raise
    except OSError as failure:
        kind = _FAILURES.get(type(failure), errors.UnknownError)
        reason = failure.strerror or str(failure)
        raise kind(
            None, None,
            f"No event file can be made in {logdir}: {reason} ({failure.filename}). The log "
            "folder must be a folder that this program may write to.",
        ) from None  # fmt: skip


class _Background:
    """The thread that writes the queues of all open event files."""

    def __init__(self) -> None:
        # Modified and copied without a lock: finalizers do so at any time.
        self._files: dict[int, EventFile] = {}
        self._signal = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        # An event that is set need not be set again: testing it is ten times cheaper.
        self._is_set = self._signal.is_set

    def watch(self, file: EventFile) -> None:
        self._files[id(file)] = file
        self._start()
        self._signal.set()

    def forget(self, file: EventFile) -> None:
        self._files.pop(id(file), None)

    def wake(self) -> None:
        if not self._is_set():
            self._signal.set()
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="event files", daemon=True)
                self._thread.start()

    def flush_all(self) -> None:
        for file in self._files.copy().values():
            file.flush()

    def after_fork(self) -> None:
        """In a forked child: the thread does not exist, and the records are the parent's."""
        for file in self._files.values():
            file.forget_waiting()
        self._signal = threading.Event()
        self._is_set = self._signal.is_set
        self._lock = threading.Lock()
        self._thread = None

    def _run(self) -> None:
        signal = self._signal
        while True:
            waits = [file.seconds_to_flush for file in self._files.copy().values()]
            signal.wait(min(waits, default=None))
            signal.clear()
            now = time.monotonic()
            for file in self._files.copy().values():
                file.tend(now)
            time.sleep(_PAUSE)


_background = _Background()
atexit.register(_background.flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_background.after_fork)


def read_events(path: Any) -> Iterator[Any]:
    """The Event messages of a file, up to its end or to a truncated record.

    DataLossError if a record is corrupt.
    """
    from tensorboard.compat.proto.event_pb2 import Event

    for record in read_records(path):
        yield Event.FromString(record)

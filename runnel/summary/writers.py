"""Summary writers, and the thread-local default writer, step and condition."""

from __future__ import annotations

import abc
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..core import dtypes
from ..core.context import state
from ..core.convert import convert_to_tensor
from ..core.op import REGISTRY
from ..core.tensor import Tensor
from ..formats.events import FLUSH_MILLIS, MAX_QUEUE, EventFile
from ..formats.paths import local
from . import ops
from .ops import Resource

_NO_STEP = (
    "No step set. Please specify one either through the `step` argument or through "
    "tf.summary.experimental.set_step()"
)
_STEPS = 2**63


class Defaults(threading.local):
    """The defaults of the summaries of a thread."""

    writer: SummaryWriter | None = None
    step: Any = None
    # True, False, a tensor, or a function that returns one of them.
    condition: Any = True


defaults = Defaults()


class SummaryWriter(abc.ABC):
    """A destination of summaries, created by `tf.summary.create_file_writer`.

    >>> import tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default(step=1):
    ...     wrote = tf.summary.scalar("loss", 0.5)
    >>> bool(wrote)
    True
    """

    # The event file's resource, for operations.
    _resource: Tensor

    @abc.abstractmethod
    def set_as_default(self, step: Any = None) -> None:
        """Make this the default writer of the thread; optionally set the default step."""

    @abc.abstractmethod
    def as_default(self, step: Any = None) -> AbstractContextManager[SummaryWriter]:
        """Make this the default writer of a block."""

    @abc.abstractmethod
    def init(self) -> Any:
        """Initialize the writer."""

    @abc.abstractmethod
    def flush(self) -> Any:
        """Write the queued events."""

    @abc.abstractmethod
    def close(self) -> Any:
        """Flush, and refuse further summaries."""


class _NoopSummaryWriter(SummaryWriter):
    """A writer without effect: as in the original, the default writer stays unchanged."""

    def init(self) -> Any:
        return None

    def flush(self) -> Any:
        return None

    def close(self) -> Any:
        return None

    def set_as_default(self, step: Any = None) -> None:
        return None

    def as_default(self, step: Any = None) -> AbstractContextManager[SummaryWriter]:
        return nullcontext(self)


class _ResourceSummaryWriter(SummaryWriter):
    """Writes an event file."""

    def __init__(self, file: EventFile) -> None:
        held = Resource(file)
        # At exit the queues are written out anyway.
        weakref.finalize(held, file.abandon).atexit = False
        self._resource = Tensor(held, dtypes.resource)
        self._closed = False

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def set_as_default(self, step: Any = None) -> None:
        self._require_open()
        defaults.writer = self
        if step is not None:
            defaults.step = step

    def as_default(self, step: Any = None) -> AbstractContextManager[SummaryWriter]:
        """Make this the default writer of a block, with a flush at its end."""
        self._require_open()
        return _Block(self, step)

    def init(self) -> Any:
        """Initialize the writer, which eager writers do not need."""
        self._require_open()
        return _no_op()

    def flush(self) -> Any:
        """Write the queued events."""
        if self._closed:
            return None
        return _ran(ops.FlushSummaryWriter(self._resource))

    def close(self) -> Any:
        """Write the queued events, close the file, and refuse further summaries."""
        if self._closed:
            return None
        if state.graph is None:
            self._closed = True
        return _ran(ops.CloseSummaryWriter(self._resource))


class _Block:
    """The context manager of a writer's `as_default`; a class, as training loops enter it at each
    step.
    """

    __slots__ = ("_outer", "_outer_step", "_step", "_writer")

    def __init__(self, writer: _ResourceSummaryWriter, step: Any) -> None:
        self._writer = writer
        self._step = step

    def __enter__(self) -> SummaryWriter:
        self._outer, defaults.writer = defaults.writer, self._writer
        self._outer_step = defaults.step
        if self._step is not None:
            defaults.step = self._step
        return self._writer

    def __exit__(self, *exception: object) -> None:
        if state.graph is None:
            self._writer._resource._array.flush()
        else:
            self._writer.flush()
        defaults.writer = self._outer
        if self._step is not None:
            defaults.step = self._outer_step


class _TrackableResourceSummaryWriter(_ResourceSummaryWriter):
    """A writer that models and modules can track."""


def _ran(result: Any) -> Any:
    """The return value of an operation without results: in graph mode, an operation to run."""
    return result or None


def _no_op() -> Any:
    return None if state.home is None else REGISTRY["NoOp"]()


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of an event file in a folder, which is created if needed.

    Args:
      logdir: The folder.
      max_queue: The maximum number of queued summaries (10).
      flush_millis: The maximum time that they stay queued (2 minutes).
      filename_suffix: The suffix of the file name (".v2").
      name: Not used.
      experimental_trackable: Whether models may track the writer.
      experimental_mesh: Not used.
    """
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    folder = local(_text(logdir))
    waiting = MAX_QUEUE if max_queue is None else _number(max_queue)
    millis = FLUSH_MILLIS if flush_millis is None else _number(flush_millis)
    suffix = ".v2" if filename_suffix is None else f".{_text(filename_suffix).removeprefix('.')}"
    kind = _TrackableResourceSummaryWriter if experimental_trackable else _ResourceSummaryWriter
    return kind(EventFile(folder, waiting, millis, suffix))


def _text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bytes | str):
        return os.fsdecode(value)
    return os.fsdecode(bytes(convert_to_tensor(value, dtypes.string).numpy()))


def _number(value: Any) -> int:
    return int(convert_to_tensor(value, dtypes.int32).numpy())


def create_noop_writer() -> SummaryWriter:
    """A writer without effect.

    >>> with tf.summary.create_noop_writer().as_default():
    ...     bool(tf.summary.scalar("loss", 0.5, step=1))
    False
    """
    return _NoopSummaryWriter()


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Write the queued events of the writer, by default the default one."""
    del name
    writer = defaults.writer if writer is None else writer
    return None if writer is None else writer.flush()


# The condition.


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Write the summaries of a block only if a condition is true: a bool, or a function.

    A function is called for every summary; in a `tf.function`, at trace time, so that it should
    return a tensor.

    >>> with tf.summary.record_if(False):
    ...     bool(tf.summary.should_record_summaries())
    False
    """
    outer, defaults.condition = defaults.condition, condition
    try:
        yield
    finally:
        defaults.condition = outer


def recording() -> Any:
    """Whether summaries are currently recorded: a bool, or in a graph possibly a tensor."""
    if defaults.writer is None:
        return False
    condition = defaults.condition
    if condition is True or condition is None:
        return True
    if callable(condition):
        condition = condition()
    condition = convert_to_tensor(condition, dtypes.bool)
    return bool(condition) if type(condition) is Tensor else condition


def should_record_summaries() -> Tensor:
    """Whether there is a default writer and the condition of `record_if` is true.

    >>> tf.summary.should_record_summaries()
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    return convert_to_tensor(recording(), dtypes.bool)


# The step.


def get_step() -> Any:
    """The default step of the thread's summaries, or None.

    >>> tf.summary.experimental.get_step()
    """
    return defaults.step


def set_step(step: Any) -> None:
    """Set the default step of the thread's summaries; a variable is read at each summary.

    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    defaults.step = step


def step_tensor(step: Any) -> Tensor:
    """The step of a summary as a tensor; ValueError if there is none."""
    if step is None:
        step = defaults.step
        if step is None:
            raise ValueError(_NO_STEP)
    tensor = convert_to_tensor(step, dtypes.int64)
    if tensor.shape.rank not in (0, None):
        raise ValueError(
            f"Argument `step` must be a scalar. Received step with shape {tensor.shape}. A summary "
            "belongs to one step."
        )
    return tensor


def step_number(step: Any) -> int:
    """The step of an eager summary."""
    if step is None:
        step = defaults.step
    if type(step) is int and -_STEPS <= step < _STEPS:
        return step
    return int(step_tensor(step)._array)

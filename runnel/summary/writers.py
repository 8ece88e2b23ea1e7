"""Summary writers, and what a thread writes with: its default writer, step and condition."""

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
    """What the summaries of a thread use unless they are told otherwise."""

    writer: SummaryWriter | None = None
    step: Any = None
    # True, False, a tensor, or a function that gives one of them.
    condition: Any = True


defaults = Defaults()


class SummaryWriter(abc.ABC):
    """Where summaries go; `tf.summary.create_file_writer` makes one.

    >>> import tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default(step=1):
    ...     wrote = tf.summary.scalar("loss", 0.5)
    >>> bool(wrote)
    True
    """

    # The event file, for operations.
    _resource: Tensor

    @abc.abstractmethod
    def set_as_default(self, step: Any = None) -> None:
        """Let this thread's summaries go here from now on; and their step, if one is given."""

    @abc.abstractmethod
    def as_default(self, step: Any = None) -> AbstractContextManager[SummaryWriter]:
        """Let the summaries of a block go here."""

    @abc.abstractmethod
    def init(self) -> Any:
        """Prepare the writer."""

    @abc.abstractmethod
    def flush(self) -> Any:
        """Write out what is queued."""

    @abc.abstractmethod
    def close(self) -> Any:
        """Flush, and refuse further summaries."""


class _NoopSummaryWriter(SummaryWriter):
    """A writer that is never at work: as in the original, the default writer stays what it was."""

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
        # At the end of the program the queues are written out anyway.
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
        """Let the summaries of a block go here; at its end they are written out."""
        self._require_open()
        return _Block(self, step)

    def init(self) -> Any:
        """Prepare the writer; it is ready when it is made."""
        self._require_open()
        return _no_op()

    def flush(self) -> Any:
        """Write out what is queued."""
        if self._closed:
            return None
        return _ran(ops.FlushSummaryWriter(self._resource))

    def close(self) -> Any:
        """Write out what is queued, end the file, and refuse further summaries."""
        if self._closed:
            return None
        if state.graph is None:
            self._closed = True
        return _ran(ops.CloseSummaryWriter(self._resource))


class _Block:
    """The block of a writer's `as_default`; a class, since training loops enter it at each step."""

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
    """A writer that models and modules may hold."""


def _ran(result: Any) -> Any:
    """What an operation without results gives: something to run in a whole program's graph."""
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
    """A writer of an event file in a folder, which is made if need be.

    Args:
      logdir: The folder.
      max_queue: More summaries than these (10) do not wait to be written out.
      flush_millis: Nor do they wait for longer (2 minutes).
      filename_suffix: The end of the file's name (".v2").
      name: Not used.
      experimental_trackable: Whether models may hold the writer as a part of theirs.
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
    """A writer that is never at work, in place of one that is.

    >>> with tf.summary.create_noop_writer().as_default():
    ...     bool(tf.summary.scalar("loss", 0.5, step=1))
    False
    """
    return _NoopSummaryWriter()


def flush(writer: Any = None, name: str | None = None) -> Any:
    """Write out what the writer, by default the default one, has queued."""
    del name
    writer = defaults.writer if writer is None else writer
    return None if writer is None else writer.flush()


# The condition.


@contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Write the summaries of a block only if a condition holds: a bool, or a function for one.

    A function is called for every summary; in a `tf.function`, when it is traced, so that it
    should give a tensor.

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
    """Whether summaries are written here and now: a bool, or in a graph perhaps a tensor."""
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
    """Whether there is a default writer and the condition of `record_if` holds.

    >>> tf.summary.should_record_summaries()
    <tf.Tensor: shape=(), dtype=bool, numpy=False>
    """
    return convert_to_tensor(recording(), dtypes.bool)


# The step.


def get_step() -> Any:
    """The default step of this thread's summaries, or None.

    >>> tf.summary.experimental.get_step()
    """
    return defaults.step


def set_step(step: Any) -> None:
    """Set the default step of this thread's summaries; a variable counts on by itself.

    >>> tf.summary.experimental.set_step(3)
    >>> tf.summary.experimental.get_step()
    3
    >>> tf.summary.experimental.set_step(None)
    """
    defaults.step = step


def step_tensor(step: Any) -> Tensor:
    """The step of a summary as a tensor; ValueError where there is none."""
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

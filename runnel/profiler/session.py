"""Profiling sessions: `start` and `stop`, `Profile` and `Trace`."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

from ..core import errors
from ..formats.paths import local
from .files import write_profile
from .recording import Recorder, clock


class ProfilerOptions(NamedTuple):
    """The level of detail of a profile.

    >>> tf.profiler.experimental.ProfilerOptions(python_tracer_level=1).host_tracer_level
    2

    Args:
        host_tracer_level: 1: function calls and `Trace`s; 2 and higher: every operation.
        python_tracer_level: 1: the calls of Python functions too, which slows the program down.
        device_tracer_level: For accelerators; there are none.
        delay_ms: The delay of a remote profile's start.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session:
    """The active profile, and its output folder."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.recorder: Recorder | None = None
        self.logdir = ""


_session = _Session()


def recorder_with(options: ProfilerOptions | None) -> Recorder:
    """A recorder configured by the options."""
    try:
        chosen = {**ProfilerOptions()._asdict(), **(options._asdict() if options else {})}
    except AttributeError:
        raise AttributeError(
            f"options is a {type(options).__name__}, which has no attribute '_asdict'; pass a "
            "tf.profiler.experimental.ProfilerOptions."
        ) from None
    return Recorder(
        operations=chosen["host_tracer_level"] > 1, python=chosen["python_tracer_level"] > 0
    )


def start(logdir: str, options: ProfilerOptions | None = None) -> None:
    """Start a profile; `stop` ends it and writes it below `logdir/plugins/profile`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as logdir:
    ...     tf.profiler.experimental.start(logdir)
    ...     product = tf.ones([8, 8]) @ tf.ones([8, 8])
    ...     tf.profiler.experimental.stop()
    ...     files = [path.name for path in pathlib.Path(logdir).glob("plugins/profile/*/*")]
    >>> sorted(name.split(".", 1)[1] for name in files)
    ['trace.json.gz', 'xplane.pb']

    Args:
        logdir: TensorBoard's log folder.
        options: `ProfilerOptions`, the level of detail.

    Raises:
        AlreadyExistsError: Another profile is active.
    """
    folder = local(logdir)
    recorder = recorder_with(options)
    with _session.lock:
        recorder.start()
        _session.recorder, _session.logdir = recorder, folder


def stop(save: bool = True) -> None:
    """End the profile started by `start`.

    Args:
        save: Whether to write the profile.

    Raises:
        UnavailableError: No profile is active.
    """
    with _session.lock:
        recorder, _session.recorder = _session.recorder, None
        if recorder is None:
            raise errors.UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )
        recorder.stop()
        if save:
            write_profile(recorder, _session.logdir)


class Profile:
    """Profile a block.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as logdir, tf.profiler.experimental.Profile(logdir):
    ...     total = tf.reduce_sum(tf.ones([8, 8]))
    """

    def __init__(self, logdir: str, options: ProfilerOptions | None = None) -> None:
        self._logdir = logdir
        self._options = options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, *exception: object) -> None:
        stop()


class Trace:
    """Name a block on the timeline of a profile; without an active profile, a no-op.

    With `_r=1` the block is a step, and `step_num` its number: TensorBoard then shows a step
    analysis.

    >>> with tf.profiler.experimental.Trace("train", step_num=3, _r=1):
    ...     total = tf.reduce_sum(tf.ones([8, 8]))
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name
        self._details = kwargs
        self._recorder: Recorder | None = None
        self._begin = 0

    def __enter__(self) -> Trace:
        self._recorder = Recorder.active
        if self._recorder is not None:
            self._begin = clock()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Add metadata to the block's event."""
        self._details.update(kwargs)

    def __exit__(self, *exception: object) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            details = dict(self._details)
            recorder.notes.append(
                (str(self._name), self._begin, clock(), recorder.thread(), details)
            )

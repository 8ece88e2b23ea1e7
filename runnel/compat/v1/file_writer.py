"""FileWriter: the event files of TensorFlow 1."""

from __future__ import annotations

import os
import warnings
import weakref
from typing import Any, ClassVar

from ...core.context import state
from ...core.graph.graph import Graph
from ...core.logger import get_logger
from ...formats.events import (
    GRAPH_DEF,
    META_GRAPH,
    RUN_METADATA,
    SESSION_LOG,
    SUMMARY,
    EventFile,
    event,
    field,
)

_CLOSED = (
    "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is "
    "explicitly reopened."
)
_EAGER = (
    "v1.summary.FileWriter is not compatible with eager execution. Use "
    "`tf.summary.create_file_writer`,or a `with v1.Graph().as_default():` context"
)
# The files that writers with the same session and folder share.
_of_sessions: weakref.WeakKeyDictionary[Any, dict[str, EventFile]] = weakref.WeakKeyDictionary()


class FileWriter:
    """Writes summaries, graphs and events to an event file.

    Args:
      logdir: The folder.
      graph: A graph to begin with, such as `sess.graph`.
      max_queue: More events than these do not wait to be written out.
      flush_secs: Nor do they wait for longer.
      graph_def: A GraphDef to begin with.
      filename_suffix: The end of the file's name.
      session: Writers with the same session and folder share one file.

    >>> import tempfile
    >>> with tf.Graph().as_default() as graph:
    ...     with tf.compat.v1.summary.FileWriter(tempfile.mkdtemp(), graph) as writer:
    ...         writer.add_summary(tf.compat.v1.Summary(), global_step=1)
    """

    def __init__(
        self,
        logdir: Any,
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        if state.graph is None:
            raise RuntimeError(_EAGER)
        self._logdir = os.fsdecode(os.fspath(logdir))
        self._settings = max_queue, int(flush_secs * 1000), filename_suffix
        self._session = session
        self._file = self._opened()
        self._tags_of_runs: set[str] = set()
        self._seen_plugins: set[str] = set()
        if graph is not None or graph_def is not None:
            self.add_graph(graph=graph, graph_def=graph_def)
            self._add_program(graph_def if graph is None else graph)

    def _opened(self) -> EventFile:
        max_queue, flush_millis, suffix = self._settings
        if self._session is None:
            file = EventFile(self._logdir, max_queue, flush_millis, suffix or "", numbered=False)
            weakref.finalize(self, file.abandon).atexit = False
            return file
        shared = _of_sessions.setdefault(self._session, {})
        known = shared.get(self._logdir)
        if known is None or known.closed:
            ending = ".v2" if suffix is None else suffix
            known = shared[self._logdir] = EventFile(self._logdir, max_queue, flush_millis, ending)
        return known

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def _add(self, kind: int, message: bytes, step: Any) -> None:
        self._queue(event(kind, message, 0 if step is None else int(step)))

    def _queue(self, record: bytes) -> None:
        if self._file.closed:
            warnings.warn(_CLOSED, stacklevel=4)
            return
        self._file.add(record)

    def add_event(self, event: Any) -> None:
        """Write an Event message unchanged."""
        self._queue(event.SerializeToString())

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Write a Summary message, or the bytes of one that a session computed."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        for value in summary.value:
            if not value.HasField("metadata"):
                continue
            # Readers keep the first metadata of a tag.
            if value.tag in self._seen_plugins:
                value.ClearField("metadata")
            else:
                self._seen_plugins.add(value.tag)
        self._add(SUMMARY, summary.SerializeToString(), global_step)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Write a SessionLog message: start, stop or checkpoint of a training."""
        self._add(SESSION_LOG, session_log.SerializeToString(), global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Write a graph, for TensorBoard's page Graphs."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph_def if graph is None else graph
        if isinstance(given, Graph):
            message = _graph_def(given)
        elif getattr(getattr(given, "DESCRIPTOR", None), "name", None) == "GraphDef":
            get_logger().warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object "
                "instead, such as `sess.graph`."
            )
            message = given
        else:
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`, "
                f"got {given!r}."
            )
        self._add(GRAPH_DEF, message.SerializeToString(), global_step)

    def _add_program(self, graph: Any) -> None:
        """Write the graph again, as a MetaGraphDef."""
        from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

        from ...release import VERSION

        meta_graph = MetaGraphDef(graph_def=_graph_def(graph))
        meta_graph.meta_info_def.tensorflow_version = VERSION
        self.add_meta_graph(meta_graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Write a MetaGraphDef message."""
        if getattr(getattr(meta_graph_def, "DESCRIPTOR", None), "name", None) != "MetaGraphDef":
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add(META_GRAPH, meta_graph_def.SerializeToString(), global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Write the metadata of a run, under a tag that was not used before."""
        if tag in self._tags_of_runs:
            raise ValueError(f"The provided tag was already used for this event type: {tag!r}")
        self._tags_of_runs.add(tag)
        serialize = getattr(run_metadata, "SerializeToString", bytes)
        message = field(1, tag.encode()) + field(2, serialize())
        self._add(RUN_METADATA, message, global_step)

    def flush(self) -> None:
        """Flush the queue."""
        if self._file.closed:
            warnings.warn(_CLOSED, stacklevel=2)
        else:
            self._file.flush()

    def close(self) -> None:
        """Flush the queue and close the file."""
        if not self._file.closed:
            self._file.close()

    def reopen(self) -> None:
        """Continue in a new file, if this one was closed."""
        if self._file.closed:
            self._file = self._opened()


def _graph_def(graph: Any) -> Any:
    if not isinstance(graph, Graph):
        return graph
    from ...saved_model.graph_export import as_graph_def

    return as_graph_def(graph, None, add_shapes=True, strict=False)


class FileWriterCache:
    """One FileWriter per folder."""

    _cache: ClassVar[dict[str, FileWriter]] = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The writer of a folder, created on first use."""
        known = FileWriterCache._cache.get(logdir)
        if known is None:
            known = FileWriterCache._cache[logdir] = FileWriter(logdir, graph=state.graph)
        return known

    @staticmethod
    def clear() -> None:
        """Close and remove all writers."""
        for writer in FileWriterCache._cache.values():
            writer.close()
        FileWriterCache._cache.clear()


class _SummaryIterator:
    """Iterator over the events of a file."""

    def __init__(self, path: Any) -> None:
        from ...formats.events import read_events
        from ...formats.tfrecord import opened

        # A missing file raises now, not at the first event.
        opened(path, "rb").close()
        self._events = read_events(path)

    def __iter__(self) -> _SummaryIterator:
        return self

    def __next__(self) -> Any:
        return next(self._events)


def summary_iterator(path: Any) -> Any:
    """The Event messages of an event file.

    >>> import glob, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with tf.summary.create_file_writer(folder).as_default():
    ...     wrote = tf.summary.scalar("loss", 0.5, step=3)
    >>> path = glob.glob(folder + "/*")[0]
    >>> [(e.step, v.tag) for e in tf.compat.v1.train.summary_iterator(path)
    ...  for v in e.summary.value]
    [(3, 'loss')]
    """
    return _SummaryIterator(path)

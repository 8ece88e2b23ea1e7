"""The operations that write summaries, with TensorFlow's names. They run in program order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import errors
from ..core.op import op
from ..core.shape_rules import nothing
from ..formats.events import GRAPH_DEF, SUMMARY, EventFile, event
from .encoding import tensor_event

_CLOSED = (
    "The summary writer for {} is closed. Make a new one with tf.summary.create_file_writer, or "
    "close this one after its last summary."
)


class Resource:
    """The resource of an event file, used by writers and graphs; closed with its last reference.

    Without a file, nothing is written.
    """

    __slots__ = ("__weakref__", "file")
    shape = ()
    ndim = 0

    def __init__(self, file: EventFile | None) -> None:
        self.file = file

    def add(self, record: bytes) -> None:
        """Queue an Event message."""
        file = self.file
        if file is None:
            return
        if file.closed:
            raise errors.NotFoundError(None, None, _CLOSED.format(file.path))
        file.add(record)

    def flush(self) -> None:
        """Write the queued events."""
        if self.file is not None:
            self.file.flush()

    def close(self) -> None:
        """Write the queued events, and close the file."""
        if self.file is not None:
            self.file.close()

    def __repr__(self) -> str:
        return f"<summary writer for {self.file.path if self.file else 'nothing'}>"


def _bytes(value: Any) -> bytes:
    element = value[()] if isinstance(value, np.ndarray) else value
    return element if isinstance(element, bytes) else bytes(str(element), "utf-8")


@op(
    "WriteSummary",
    "writer: resource, step: int64, tensor: T, tag: string, summary_metadata: string",
    shape=nothing,
    gradient=None,
    stateful=True,
)
def WriteSummary(writer, step, tensor, tag, summary_metadata):
    writer.add(tensor_event(_bytes(tag), tensor, _bytes(summary_metadata), int(step)))
    return []


@op(
    "WriteRawProtoSummary",
    "writer: resource, step: int64, tensor: string",
    shape=nothing,
    gradient=None,
    stateful=True,
)
def WriteRawProtoSummary(writer, step, tensor):
    writer.add(raw_event(tensor, int(step)))
    return []


def raw_event(messages: Any, step: int) -> bytes:
    """An Event with the values of Summary messages; DataLossError for malformed bytes."""
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.summary_pb2 import Summary

    parts = np.ravel(messages).tolist()
    for place, message in enumerate(parts):
        try:
            Summary.FromString(message)
        except DecodeError:
            raise errors.DataLossError(
                None, None,
                f"Bad tf.compat.v1.Summary binary proto tensor string at index {place}: expected "
                f"the result of summary.SerializeToString(), got {message[:20]!r}",
            ) from None  # fmt: skip
    return event(SUMMARY, b"".join(parts), step)


@op(
    "WriteGraphSummary",
    "writer: resource, step: int64, tensor: string",
    shape=nothing,
    gradient=None,
    stateful=True,
)
def WriteGraphSummary(writer, step, tensor):
    writer.add(event(GRAPH_DEF, _bytes(tensor), int(step)))
    return []


@op("FlushSummaryWriter", "writer: resource", shape=nothing, gradient=None, stateful=True)
def FlushSummaryWriter(writer):
    writer.flush()
    return []


@op("CloseSummaryWriter", "writer: resource", shape=nothing, gradient=None, stateful=True)
def CloseSummaryWriter(writer):
    writer.close()
    return []

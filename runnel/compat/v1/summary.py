"""tf.compat.v1.summary: summaries of graphs, which sessions compute and FileWriters write."""

from __future__ import annotations

import importlib as _importlib
import re as _re
import warnings as _warnings
from collections.abc import Callable as _Callable, Iterator as _Iterator
from contextlib import contextmanager as _contextmanager
from typing import Any as _Any

import runnel as _tf

from ...core.context import name_scope as _name_scope, state as _state
from ...summary import encoding as _encoding
from ...summary.recording import COLLECTION as _COLLECTION, _name_last
from ...summary.writers import defaults as _defaults
from . import summary_ops as _ops
from .file_writer import FileWriter as FileWriter, FileWriterCache as FileWriterCache
from .train.steps import get_global_step as _get_global_step

_MESSAGES = {
    "Event": "event_pb2",
    "SessionLog": "event_pb2",
    "Summary": "summary_pb2",
    "SummaryDescription": "summary_pb2",
    "TaggedRunMetadata": "event_pb2",
}
_NO_WRITER = (
    "Cannot activate TF2 compatibility support for TF1 summary ops: default summary writer not "
    "found."
)


def __getattr__(name: str) -> _Any:
    if name in _MESSAGES:
        return getattr(
            _importlib.import_module(f"tensorboard.compat.proto.{_MESSAGES[name]}"), name
        )
    raise AttributeError(f"module 'runnel.compat.v1.summary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MESSAGES})


@_contextmanager
def _summary_scope(name: _Any, family: str | None, default: str) -> _Iterator[tuple[str, str]]:
    """The tag of a summary and the name of its operation, in the enclosing scopes."""
    clean = _cleaned(name)
    if family is not None:
        family = _cleaned(family)
        clean = f"{family}/{clean}"
    if not clean:
        yield "", default
        return
    with _name_scope(clean) as scope:
        full = scope.rstrip("/")
        yield full if family is None else f"{family}/{full}", full


def _cleaned(name: _Any) -> str:
    return _re.sub(r"[^-/\w.]", "_", str(name or "")).lstrip("/")


def _summarized(
    name: _Any, family: str | None, collections: _Any, default: str,
    build: _Callable[[_Any], _Any], modern: _Callable[[str], _Any] | None,
) -> _Any:  # fmt: skip
    """A summary as bytes; outside of session graphs, one of TensorFlow 2 where possible."""
    if _state.home is None and modern is not None:
        if _defaults.writer is not None:
            modern(name if family is None else f"{family}/{family}/{name}")
            return _tf.constant(b"")
        _warnings.warn(_NO_WRITER, stacklevel=3)
    with _summary_scope(name, family, default) as (tag, operation):
        result = build(_tf.constant(tag))
        if _state.graph is not None and operation:
            _name_last(operation)
    if _state.graph is not None:
        keys = [_tf.compat.v1.GraphKeys.SUMMARIES] if collections is None else collections
        _state.graph.add_to_collections(keys, result)
    return result


def scalar(name: _Any, tensor: _Any, collections: _Any = None, family: str | None = None) -> _Any:
    """A summary of a scalar.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     loss = tf.compat.v1.summary.scalar("loss", tf.constant(0.5))
    ...     print(tf.compat.v1.Summary.FromString(session.run(loss)).value[0].simple_value)
    0.5
    """
    given, name = name, None
    return _summarized(
        given, family, collections, "ScalarSummary",
        lambda tag: _ops.ScalarSummary(tag, _tf.convert_to_tensor(tensor)),
        lambda tag: _tf.summary.scalar(tag, tensor, step=_step()),
    )  # fmt: skip


def histogram(
    name: _Any, values: _Any, collections: _Any = None, family: str | None = None
) -> _Any:
    """A summary of a distribution of values."""
    given, name = name, None
    return _summarized(
        given, family, collections, "HistogramSummary",
        lambda tag: _ops.HistogramSummary(tag, _tf.convert_to_tensor(values)),
        lambda tag: _tf.summary.histogram(tag, values, step=_step()),
    )  # fmt: skip


def image(
    name: _Any,
    tensor: _Any,
    max_outputs: int = 3,
    collections: _Any = None,
    family: str | None = None,
) -> _Any:
    """A summary of images: [count, height, width, 1, 3 or 4 channels].

    Floats are scaled to the full range [0, 255], around 128 where some are negative.
    """
    given, name = name, None
    return _summarized(
        given, family, collections, "ImageSummary",
        lambda tag: _ops.ImageSummary(tag, _tf.convert_to_tensor(tensor), max_images=max_outputs),
        lambda tag: _tf.summary.image(tag, tensor, step=_step(), max_outputs=max_outputs),
    )  # fmt: skip


def audio(
    name: _Any,
    tensor: _Any,
    sample_rate: _Any,
    max_outputs: int = 3,
    collections: _Any = None,
    family: str | None = None,
) -> _Any:
    """A summary of sounds: [count, samples] or [count, samples, channels], in [-1, 1]."""
    given, name = name, None
    return _summarized(
        given, family, collections, "AudioSummaryV2",
        lambda tag: _ops.AudioSummaryV2(
            tag, _tf.convert_to_tensor(tensor, _tf.float32), _tf.cast(sample_rate, _tf.float32),
            max_outputs=max_outputs,
        ),
        lambda tag: _tf.summary.audio(tag, tensor, sample_rate, _step(), max_outputs),
    )  # fmt: skip


def tensor_summary(
    name: _Any,
    tensor: _Any,
    summary_description: str | None = None,
    collections: _Any = None,
    summary_metadata: _Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> _Any:
    """A summary of any tensor, for the TensorBoard plugin named in `summary_metadata`."""
    given, name = name, None
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    about = SummaryMetadata()
    if summary_metadata is not None:
        about.CopyFrom(summary_metadata)
    if display_name is not None:
        about.display_name = display_name
    if summary_description is not None:
        about.summary_description = summary_description
    message = about.SerializeToString()
    return _summarized(
        given, family, collections, "TensorSummaryV2",
        lambda tag: _ops.TensorSummaryV2(
            tag, _tf.convert_to_tensor(tensor), _tf.constant(message)
        ),
        None,
    )  # fmt: skip


def text(name: _Any, tensor: _Any, collections: _Any = None) -> _Any:
    """A summary of texts, shown as Markdown."""
    given, name = name, None
    values = _tf.convert_to_tensor(tensor)
    if values.dtype is not _tf.string:
        raise ValueError(f"Expected tensor {values} to have dtype string, got {values.dtype!r}")
    about = _tf.constant(_encoding.metadata("text"))
    return _summarized(
        given, None, collections, "TensorSummaryV2",
        lambda tag: _ops.TensorSummaryV2(tag, values, about),
        lambda tag: _tf.summary.text(tag, values, step=_step()),
    )  # fmt: skip


def _step() -> _Any:
    """The default step of summaries, or the global step."""
    step = _tf.summary.experimental.get_step()
    return _get_global_step() if step is None else step


def merge(inputs: _Any, collections: _Any = None, name: str | None = None) -> _Any:
    """One summary with the values of several.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     parts = [tf.compat.v1.summary.scalar(name, 1.0) for name in ("a", "b")]
    ...     both = session.run(tf.compat.v1.summary.merge(parts))
    >>> [value.tag for value in tf.compat.v1.Summary.FromString(both).value]
    ['a', 'b']
    """
    given, name = name, None
    if _state.graph is None:
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.summary with "
            "a writer instead."
        )
    if not isinstance(inputs, list | tuple):
        raise TypeError(
            f"Expected list for 'inputs' argument to 'merge_summary' Op, not {inputs!r}."
        )
    tensors = [_tf.convert_to_tensor(each) for each in inputs]
    if any(each.dtype is not _tf.string for each in tensors):
        raise TypeError(
            "Tensors in list passed to 'inputs' of 'MergeSummary' Op have types "
            f"{[each.dtype.name for each in tensors]} that do not match expected type string."
        )
    with _name_scope(given or "Merge") as scope:
        merged = _ops.MergeSummary(tensors)
        if given:
            _name_last(scope + given)
    for key in collections or []:
        _state.graph.add_to_collection(key, merged)
    return merged


def merge_all(key: _Any = "summaries", scope: str | None = None, name: str | None = None) -> _Any:
    """One summary with the values of all summaries of the graph, or None where it has none."""
    if _state.graph is None:
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.summary with "
            "a writer instead."
        )
    found = _state.graph.get_collection(key, scope)
    return merge(found, name=name) if found else None


def all_v2_summary_ops() -> list[_Any] | None:
    """The summaries of TensorFlow 2 in the default graph, for a session to run."""
    return None if _state.graph is None else _state.graph.get_collection(_COLLECTION)


def initialize(graph: _Any = None, session: _Any = None) -> None:
    """Prepare the default writer of TensorFlow 2, and write a graph to it if given."""
    if _state.home is None:
        return
    if _defaults.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if graph is not None:
        from ...formats.events import GRAPH_DEF, event
        from ...saved_model.graph_export import as_graph_def

        message = as_graph_def(graph, None, add_shapes=True, strict=False)
        resource: _Any = _defaults.writer._resource._array
        resource.add(event(GRAPH_DEF, message.SerializeToString()))


def get_summary_description(node_def: _Any) -> _Any:
    """The SummaryDescription of a "TensorSummary" node."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format
    from tensorboard.compat.proto.summary_pb2 import SummaryDescription

    description = SummaryDescription()
    json_format.Parse(node_def.attr["description"].s.decode(), description)
    return description

"""The summaries: scalars, histograms, images, audio, text, and generic tensors.

Each is written if there is a default writer and the condition of `record_if` is true, and returns
whether it was. Eager ones go directly to the writer's queue; in a graph they are operations with
side effects, for the default writer at trace time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import runnel as tf

from ..core import dtypes
from ..core.context import name_scope, state
from ..core.convert import convert_to_tensor
from ..core.tensor import Tensor
from . import encoding, ops
from .histograms import BUCKETS, buckets_of, traced_buckets
from .writers import defaults, recording, step_number, step_tensor

# Eager, even if this module is imported while a graph is built.
_TRUE, _FALSE = Tensor(np.True_, dtypes.bool), Tensor(np.False_, dtypes.bool)
# The collection of a graph's summaries, for sessions to run.
COLLECTION = "_SUMMARY_V2"
_WAV = b"\x10\x0b"
_INTEGERS = 2**63


@contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Iterator[tuple[str, str]]:
    """A name scope for a summary; yields its tag, prefixed with the outer scopes, and the scope.

    >>> with tf.name_scope("layer"), tf.summary.experimental.summary_scope("loss") as (tag, scope):
    ...     print(tag, scope)
    layer/loss layer/loss/
    """
    del values
    if name is not None and not isinstance(name, str):
        raise TypeError(f"The name of a summary must be a string, received name={name!r}.")
    name = name or default_name
    tag = state.name_scope + name
    with name_scope(re.sub(r"[^-/\w.]", "", name) or default_name) as scope:
        yield tag, scope


def _tag(name: str | None, default_name: str) -> bytes:
    return (state.name_scope + (name or default_name)).encode()


def _traced(
    given: str | None, default_name: str, data: Callable[[], Any], step: Any, about: bytes
) -> Any:
    """A summary in a graph, in the scope of `summary_scope`."""
    with summary_scope(given, default_name) as (tag, _):
        return _operation(tag, data, step, about)


def _operation(tag: Any, data: Callable[[], Any], step: Any, about: Any) -> Any:
    def write(resource: Tensor, step: Tensor) -> Any:
        label = convert_to_tensor(tag, dtypes.string)
        plugin = convert_to_tensor(about, dtypes.string)
        return ops.WriteSummary(resource, step, convert_to_tensor(data()), label, plugin)

    return conditionally(write, step, "write_summary")


def conditionally(build: Callable[[Tensor, Tensor], Any], step: Any, name: str) -> Any:
    """Add a conditional write operation of this name; returns whether it is written."""
    given, name = name, ""
    condition = recording()
    if condition is False:
        return _FALSE
    writer: Any = defaults.writer
    resource = writer._resource
    steps = step_tensor(step)

    def write() -> Any:
        with name_scope(given) as scope:
            operation = build(resource, steps)
            _name_last(scope.rstrip("/"))
        return operation

    def record() -> Any:
        operation = write()
        if not isinstance(operation, tf.Operation):
            return tf.identity(_TRUE)
        with tf.control_dependencies([operation]):
            return tf.identity(_TRUE)

    if condition is True and state.home is None:
        write()
        return _TRUE
    done = record() if condition is True else tf.cond(
        condition, record, lambda: tf.identity(_FALSE)
    )  # fmt: skip
    if state.home is not None and state.graph is not None:
        state.graph.add_to_collection(COLLECTION, done)
    return done


def _name_last(name: str) -> None:
    """Name the last operation after its scope, as the original does."""
    graph = state.graph
    assert graph is not None
    operation = graph.operations[-1]
    graph._by_name.pop(operation.name, None)
    operation.name = name
    graph._by_name[name] = operation


def queued(record: bytes) -> Any:
    """Queue an Event message in the default writer."""
    defaults.writer._resource._array.add(record)  # type: ignore[union-attr]
    return _TRUE


def scalar(name: Any, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write a scalar, shown as a point of a curve.

    Args:
      name: The curve's name, prefixed with enclosing name scopes.
      data: A scalar, written as float32.
      step: The position on the x axis, by default that of `as_default` or `set_step`.
      description: A description for TensorBoard, in Markdown.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     for step in range(3):
    ...         wrote = tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
    """
    # In graphs, a `name` argument would name every operation of the call.
    given, name = name, None
    about = encoding.metadata("scalars", description)
    if state.graph is not None:
        return _traced(given, "scalar_summary", lambda: _scalar_tensor(data), step, about)
    if not recording():
        return _FALSE
    kind = type(data)
    if kind is Tensor and data.dtype is dtypes.float32 and not data._array.shape:
        number = float(data._array)
    elif kind is float or (kind is int and -_INTEGERS <= data < _INTEGERS):
        number = data
    else:
        number = float(_scalar_tensor(data)._array)
    tag = _tag(given, "scalar_summary")
    record = encoding.scalar_event(tag, about, number, step_number(step))
    return queued(record)


def _scalar_tensor(data: Any) -> Tensor:
    value = convert_to_tensor(data)
    if value.shape.rank != 0:
        raise ValueError(
            f"Expected scalar shape, saw shape: {value.shape}. A curve has one number per step: "
            "reduce the tensor first (tf.reduce_mean), or write it with tf.summary.histogram."
        )
    return value if value.dtype is dtypes.float32 else tf.cast(value, tf.float32)


def _eager(name: Any, default_name: str, data: Callable[[], Any], step: Any, about: bytes) -> Any:
    if not recording():
        return _FALSE
    number = step_number(step)
    record = encoding.tensor_event(_tag(name, default_name), data(), about, number)
    return queued(record)


def histogram(
    name: Any, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Any:
    """Write a histogram of values, with (by default 30) buckets of equal width.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     wrote = tf.summary.histogram("weights", tf.linspace(-1.0, 1.0, 100))
    """
    given, name = name, None
    count = BUCKETS if buckets is None else buckets
    about = encoding.metadata("histograms", description)
    if state.graph is not None:
        values = tf.stop_gradient(convert_to_tensor(data))
        return _traced(
            given, "histogram_summary", lambda: traced_buckets(values, count), step, about
        )

    def rows() -> np.ndarray:
        array = tf.cast(data, tf.float64)._array
        return buckets_of(np.ravel(array), int(convert_to_tensor(count, tf.int32)))

    return _eager(given, "histogram_summary", rows, step, about)


def image(
    name: Any, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Any:
    """Write images: [count, height, width, channels], floats in [0, 1] or uint8.

    With 1 channel they are grayscale, with 2 grayscale and alpha, with 3 RGB, with 4 RGBA. The
    first `max_outputs` of them are written.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     wrote = tf.summary.image("black", tf.zeros([1, 8, 8, 3]))
    """
    given, name = name, None

    def pictures() -> Any:
        values = _of_rank(4, convert_to_tensor(data), "[count, height, width, channels]")
        most = _outputs(max_outputs)
        encoded = tf.io.encode_png(tf.image.convert_image_dtype(values, tf.uint8, True)[:most])
        sizes = tf.shape(values)
        return tf.concat([tf.as_string(tf.stack([sizes[2], sizes[1]])), encoded], axis=0)

    return _written(given, "image_summary", pictures, step, "images", description)


def _written(
    given: Any, default_name: str, data: Callable[[], Any], step: Any, plugin: str,
    description: str | None, content: bytes = b"",
) -> Any:  # fmt: skip
    about = encoding.metadata(plugin, description, content)
    if state.graph is not None:
        return _traced(given, default_name, data, step, about)
    return _eager(given, default_name, lambda: data()._array, step, about)


def _of_rank(rank: int, values: Tensor, meaning: str) -> Tensor:
    seen = values.shape.rank
    if seen not in (rank, None):
        raise ValueError(
            f"Tensor must have rank {rank}.  Received rank {seen}, shape {values.shape}. "
            f"Expected {meaning}; tf.expand_dims adds a missing axis."
        )
    return values


def _outputs(most: Any) -> Any:
    number = tf.get_static_value(convert_to_tensor(most, tf.int32))
    if number is not None and number < 0:
        raise tf.errors.InvalidArgumentError(
            None, None, f"max_outputs must be at least 0. Condition x >= 0 did not hold: {number}"
        )
    return most


def audio(
    name: Any,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Write audio: [count, samples, channels] of float32 in [-1, 1], as 16-bit WAV files.

    >>> import tempfile
    >>> tone = tf.sin(tf.linspace(0.0, 440.0 * 6.28, 8000))[None, :, None]
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     wrote = tf.summary.audio("tone", tone, sample_rate=8000)
    """
    given, name = name, None
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}. It must be 'wav' or None.")

    def sounds() -> Any:
        from ..ops.audio import EncodeWav

        values = _of_rank(3, convert_to_tensor(data), "[count, samples, channels]")
        values = values[: _outputs(max_outputs)]
        is_tensor = isinstance(sample_rate, Tensor)
        rate = tf.cast(sample_rate, tf.int32) if is_tensor else tf.constant(sample_rate, tf.int32)
        clips = tf.map_fn(lambda clip: EncodeWav(clip, rate), values, fn_output_signature=tf.string)
        return tf.stack([clips, tf.fill(tf.shape(clips), b"")], axis=1)

    return _written(given, "audio_summary", sounds, step, "audio", description, _WAV)


def text(name: Any, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write a text, or a table of texts, shown as Markdown.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=0):
    ...     wrote = tf.summary.text("notes", "a **good** run")
    """
    given, name = name, None
    values = convert_to_tensor(data)
    if values.dtype is not dtypes.string:
        raise TypeError(f"tensor must be of type tf.string; got {values.dtype!r}: {values}")
    return _written(given, "text_summary", lambda: values, step, "text", description)


def write(
    tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: str | None = None
) -> Any:
    """Write a tensor, for the TensorBoard plugin that `metadata` (a SummaryMetadata) names.

    `tensor` may be a function that returns one, which is only called if the summary is written.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     wrote = tf.summary.write("matrix", tf.eye(2), step=1)
    """
    del name
    about = _metadata_bytes(metadata)

    def data() -> Any:
        return convert_to_tensor(tensor() if callable(tensor) else tensor)

    if state.graph is not None:
        return _operation(tag, data, step, about)
    if not recording():
        return _FALSE
    label = convert_to_tensor(tag, dtypes.string).numpy()
    record = encoding.tensor_event(label, data()._array, about, step_number(step))
    return queued(record)


def _metadata_bytes(metadata: Any) -> bytes:
    if metadata is None:
        return b""
    if hasattr(metadata, "SerializeToString"):
        return bytes(metadata.SerializeToString())
    from google.protobuf.message import DecodeError
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    message = metadata.encode() if isinstance(metadata, str) else metadata
    try:
        SummaryMetadata.FromString(message)
    except DecodeError:
        return b""
    return bytes(message)


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a serialized Summary message.

    >>> import tempfile
    >>> message = tf.compat.v1.Summary(
    ...     value=[tf.compat.v1.Summary.Value(tag="loss", simple_value=0.5)]
    ... ).SerializeToString()
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default(step=1):
    ...     wrote = tf.summary.experimental.write_raw_pb(message)
    """
    given, name = name or "write_raw_pb", None
    if state.graph is not None:

        def add(resource: Tensor, steps: Tensor) -> Any:
            message = convert_to_tensor(tensor, dtypes.string)
            return ops.WriteRawProtoSummary(resource, steps, message)

        return conditionally(add, step, given)
    if not recording():
        return _FALSE
    messages = convert_to_tensor(tensor, dtypes.string)._array
    return queued(ops.raw_event(messages, step_number(step)))

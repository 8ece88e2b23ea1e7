"""Summaries in graphs: operations whose result is a serialized Summary message."""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

from ...core import errors
from ...core.dtypes import NUMERIC, float16, float32, float64, uint8
from ...core.op import op
from ...core.shape_rules import scalar as scalar_shape
from ...formats import wav
from ...formats.wire import field, varint
from ...ops.image import png
from ...summary.encoding import tensor as tensor_proto

_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_BAD_COLOR = (255, 0, 0, 255)
_GREATEST = float(np.finfo(np.float64).max)


def _text(value: Any) -> bytes:
    element = value[()] if isinstance(value, np.ndarray) else value
    return bytes(element)


def _result(message: bytes) -> np.ndarray:
    return np.array(message, dtype=object)


def _value(tag: bytes, content: bytes) -> bytes:
    """A Summary message with one value."""
    return field(1, field(1, tag) + content)


@op(
    "ScalarSummary",
    "tags: string, values: T -> summary: string",
    T=NUMERIC,
    shape=scalar_shape,
    gradient=None,
)
def ScalarSummary(tags, values):
    if np.shape(tags) != np.shape(values):
        raise errors.InvalidArgumentError(
            None, None,
            f"tags and values are not the same shape: {list(np.shape(tags))} != "
            f"{list(np.shape(values))} (tag {_first(tags)!r})",
        )  # fmt: skip
    labels = np.ravel(tags).tolist()
    numbers = np.ravel(np.asarray(values)).astype(np.float32).tolist()
    pairs = zip(labels, numbers, strict=True)
    return _result(b"".join(_value(t, b"\x15" + _FLOAT.pack(number)) for t, number in pairs))


def _first(tags: Any) -> str:
    labels = np.ravel(tags).tolist()
    return labels[0].decode(errors="replace") if labels else ""


@op(
    "HistogramSummary",
    "tag: string, values: T -> summary: string",
    T=NUMERIC,
    shape=scalar_shape,
    gradient=None,
)
def HistogramSummary(tag, values):
    label = _text(tag)
    data = np.ravel(np.asarray(values)).astype(np.float64)
    if np.isnan(data).any():
        raise errors.InvalidArgumentError(
            None, None, f"Nan in summary histogram for: {label.decode(errors='replace')}"
        )
    if np.isinf(data).any():
        raise errors.InvalidArgumentError(
            None, None, f"Infinity in Histogram for: {label.decode(errors='replace')}"
        )
    return _result(_value(label, field(5, _histogram(data))))


@functools.cache
def _limits() -> np.ndarray:
    """The right edges of the buckets: each a tenth further from zero than the one before."""
    positive, edge = [], 1e-12
    while edge < 1e20:
        positive.append(edge)
        edge *= 1.1
    positive.append(_GREATEST)
    return np.array([*(-each for each in reversed(positive)), 0.0, *positive])


def _histogram(data: np.ndarray) -> bytes:
    """A HistogramProto message; of adjacent empty buckets it has the last."""
    limits = _limits()
    places = np.minimum(np.searchsorted(limits, data, side="right"), limits.size - 1)
    counts = np.bincount(places, minlength=limits.size)
    kept = (counts > 0) | np.append(counts[1:] > 0, True)
    least = data.min(initial=_GREATEST)
    greatest = data.max(initial=-_GREATEST)
    numbers = [least, greatest, data.size, data.sum(), np.square(data).sum()]
    message = b"".join(
        varint(place << 3 | 1) + _DOUBLE.pack(number)
        for place, number in enumerate(numbers, 1)
        if number
    )
    edges = limits[kept].astype("<f8").tobytes()
    return message + field(6, edges) + field(7, counts[kept].astype("<f8").tobytes())


@op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    T={uint8, float16, float32, float64},
    shape=scalar_shape,
    gradient=None,
)
def ImageSummary(tag, tensor, *, max_images=3):
    if np.ndim(tensor) != 4 or tensor.shape[3] not in (1, 3, 4):
        raise errors.InvalidArgumentError(
            None, None,
            f"Tensor must be 4-D with last dim 1, 3, or 4, not {list(np.shape(tensor))}",
        )  # fmt: skip
    message = b""
    for index, picture in enumerate(tensor[:max_images]):
        ending = b"/image" if max_images == 1 else b"/image/%d" % index
        height, width, channels = picture.shape
        pixels = picture if picture.dtype == np.uint8 else _normalized(picture)
        parts = (b"\x08", varint(height), b"\x10", varint(width), b"\x18", varint(channels))
        image = b"".join(parts) + field(4, png.encode(pixels, -1))
        message += _value(_text(tag) + ending, field(4, image))
    return _result(message)


def _normalized(picture: np.ndarray) -> np.ndarray:
    """An image of floats as 8-bit pixels: from zero, or around 128 if some are negative."""
    picture = picture.astype(np.float32)
    finite = np.isfinite(picture).all(axis=2)
    seen = picture[finite]
    least, greatest = seen.min(initial=np.inf), seen.max(initial=-np.inf)
    if least < 0:
        reach = max(abs(least), abs(greatest))
        scale, offset = np.float32(0 if reach < 1e-6 else 127 / reach), np.float32(128)
    else:
        scale, offset = np.float32(0 if greatest < 1e-6 else 255 / greatest), np.float32(0)
    pixels = np.empty(picture.shape, np.uint8)
    pixels[finite] = (seen * scale + offset).astype(np.uint8)
    pixels[~finite] = _BAD_COLOR[: picture.shape[2]]
    return pixels


@op(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    shape=scalar_shape,
    gradient=None,
)
def AudioSummaryV2(tag, tensor, sample_rate, *, max_outputs=3):
    if np.ndim(tensor) not in (2, 3):
        raise errors.InvalidArgumentError(
            None, None, f"Tensor must be 3-D or 2-D, got: {list(np.shape(tensor))}"
        )
    message = b""
    for index, sound in enumerate(tensor[:max_outputs]):
        ending = b"/audio" if max_outputs == 1 else b"/audio/%d" % index
        clip = sound.reshape(len(sound), -1)
        frames, channels = clip.shape
        audio = b"\r" + _FLOAT.pack(float(sample_rate)) + b"\x10" + varint(channels)
        audio += b"\x18" + varint(frames) + field(4, wav.encode(clip, int(sample_rate)))
        message += _value(_text(tag) + ending, field(6, audio + field(5, b"audio/wav")))
    return _result(message)


@op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    shape=scalar_shape,
    gradient=None,
)
def TensorSummaryV2(tag, tensor, serialized_summary_metadata):
    content = field(8, tensor_proto(tensor)) + field(9, _text(serialized_summary_metadata))
    return _result(_value(_text(tag), content))


@op(
    "MergeSummary",
    "inputs: N*string -> summary: string",
    shape=scalar_shape,
    gradient=None,
)
def MergeSummary(inputs):
    from tensorboard.compat.proto.summary_pb2 import Summary

    messages = [each for array in inputs for each in np.ravel(array).tolist()]
    tags: set[str] = set()
    for message in messages:
        for value in Summary.FromString(message).value:
            if value.tag in tags:
                raise errors.InvalidArgumentError(
                    None, None, f"Duplicate tag {value.tag} found in summary inputs"
                )
            tags.add(value.tag)
    return _result(b"".join(messages))

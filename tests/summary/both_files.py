"""Event files of the same program on TensorFlow and on Runnel, read and compared."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.util import tensor_util

from runnel.formats.tfrecord import read_records

LIBRARIES = ("tensorflow", "runnel")


def messages(folder):
    """The Event messages below a folder by run, without their times."""
    found = {}
    for path in sorted(Path(folder).rglob("*tfevents*")):
        for record in read_records(path):
            event = Event.FromString(record)
            event.ClearField("wall_time")
            found.setdefault(path.parent.relative_to(folder).as_posix(), []).append(event)
    return found


def values(folder):
    """What the files of each run tell: (step, tag, plugin, content, description, data)."""
    return {
        run: [row for e in events for row in _rows(e)] for run, events in messages(folder).items()
    }


def _rows(event):
    kind = event.WhichOneof("what")
    if kind != "summary":
        yield event.step, kind, event.source_metadata.writer
        return
    if not event.summary.value:
        yield event.step, "empty summary"
    for value in event.summary.value:
        about = value.metadata
        plugin = about.plugin_data
        yield (
            event.step, value.tag, plugin.plugin_name, plugin.content, about.summary_description,
            about.display_name, value.HasField("metadata"), _data(value),
        )  # fmt: skip


def _data(value):
    kind = value.WhichOneof("value")
    if kind == "tensor":
        array = tensor_util.make_ndarray(value.tensor)
        if array.dtype != object:
            return kind, array
        return kind, array.shape, [pixels(each) for each in array.ravel().tolist()]
    if kind == "image":
        image = value.image
        return kind, image.height, image.width, image.colorspace, pixels(image.encoded_image_string)
    return kind, getattr(value, kind)


def pixels(data):
    """The pixels of a PNG file; other bytes as they are."""
    if not data.startswith(b"\x89PNG"):
        return data
    return np.asarray(Image.open(io.BytesIO(data)))


def assert_same(expected, actual, tolerance=1e-6):
    """The same structure and numbers, but for rounding."""
    if isinstance(expected, np.ndarray):
        assert expected.dtype == actual.dtype and expected.shape == actual.shape
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
    elif isinstance(expected, dict):
        assert list(expected) == list(actual)
        for name in expected:
            assert_same(expected[name], actual[name], tolerance)
    elif isinstance(expected, list | tuple):
        assert len(expected) == len(actual), f"{actual} instead of {expected}"
        for one, other in zip(expected, actual, strict=True):
            assert_same(one, other, tolerance)
    else:
        assert expected == actual, f"{actual!r} instead of {expected!r}"


def check(program, folder, tolerance=1e-6):
    """Run `program(tf, folder)` on both; the files say the same. Gives what ours say."""
    tensorflow = pytest.importorskip("tensorflow")

    import runnel

    results = []
    for name, library in zip(LIBRARIES, (tensorflow, runnel), strict=True):
        place = Path(folder) / name
        results.append((_outcome(program, library, str(place)), values(place)))
    (expected, theirs), (actual, ours) = results
    assert expected == actual, f"{actual} instead of {expected}"
    assert_same(theirs, ours, tolerance)
    return ours


def _outcome(program, library, place):
    """The result, or the name of the exception; in a thread with default writers of its own."""
    with ThreadPoolExecutor(1) as thread:
        try:
            result = thread.submit(program, library, place).result()
        except Exception as failure:
            return type(failure).__name__
    return result if isinstance(result, list | str | int | bool) else None

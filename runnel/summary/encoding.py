"""Summary messages, encoded by hand.

Summary: 1 value (repeated)
Value:   1 tag, 2 simple_value (float), 4 image, 5 histo, 6 audio, 8 tensor, 9 metadata
Tensor:  1 dtype, 2 tensor_shape, 4 tensor_content, 8 string_val (repeated)
SummaryMetadata: 1 plugin_data (1 plugin_name, 2 content), 2 display_name, 3 description
"""

from __future__ import annotations

import functools
import math
import struct
import time
from typing import Any

import numpy as np

from ..core.dtypes import DType, float32, from_numpy
from ..formats.events import SUMMARY, event
from ..formats.wire import field, varint

_FLOAT = struct.Struct("<f")
_TIME = struct.Struct("<Bd")
_SCALAR_TENSOR = b"\x08" + varint(float32.as_datatype_enum) + field(2, b"")


@functools.lru_cache(maxsize=4096)
def metadata(
    plugin: str, description: str | None = None, content: bytes = b"", display: str = ""
) -> bytes:
    """A SummaryMetadata message, which names the TensorBoard plugin for the data."""
    data = field(1, plugin.encode()) + (field(2, content) if content else b"")
    message = field(1, data)
    if display:
        message += field(2, display.encode())
    if description:
        message += field(3, description.encode())
    return message


def tensor(array: Any, dtype: DType | None = None) -> bytes:
    """A TensorProto message."""
    array = np.asarray(array)
    kind = dtype or from_numpy(array.dtype)
    sizes = b"".join(field(2, b"\x08" + varint(n) if n else b"") for n in array.shape)
    message = b"\x08" + varint(kind.as_datatype_enum) + field(2, sizes)
    if array.dtype == object:
        return message + b"".join(field(8, each) for each in array.ravel().tolist())
    content = np.ascontiguousarray(array).tobytes()
    return message + field(4, content) if content else message


def tensor_event(tag: bytes, array: Any, about: bytes, step: int) -> bytes:
    """An Event with a tensor; `about` is its SummaryMetadata, if any."""
    array = np.asarray(array)
    if array.dtype == np.float32 and not array.shape:
        return scalar_event(tag, about, float(array), step)
    value = field(1, tag) + field(8, tensor(array))
    if about:
        value += field(9, about)
    return event(SUMMARY, field(1, value), step)


@functools.lru_cache(maxsize=65536)
def _around(tag: bytes, about: bytes) -> tuple[bytes, bytes]:
    """The bytes before and after the number in an Event with a scalar."""
    end = field(9, about) if about else b""
    proto = _SCALAR_TENSOR + field(4, bytes(4))
    value = field(1, tag) + field(8, proto) + end
    whole = field(SUMMARY, field(1, value))
    cut = len(whole) - len(end)
    return whole[: cut - 4], whole[cut:]


def scalar_event(tag: bytes, about: bytes, number: float, step: int) -> bytes:
    """An Event with a float32 scalar; cached per tag except for the value and the step."""
    before, after = _around(tag, about)
    try:
        content = _FLOAT.pack(number)
    except OverflowError:
        content = _FLOAT.pack(math.copysign(math.inf, number))
    when = _TIME.pack(9, time.time())
    if step:
        return b"".join((when, b"\x10", varint(step), before, content, after))
    return b"".join((when, before, content, after))

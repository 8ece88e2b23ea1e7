"""Reading and writing TensorFlow's TensorProto message.

The message: 1 dtype, 2 shape (repeated 2 dim, with 1 size), 4 the raw bytes of the elements; or the
elements in a repeated field of their type (5 float, 6 double, 7 int, 8 string, ...), of which the
last value repeats for all that follow.
"""

from __future__ import annotations

import math

import numpy as np

from ..core import dtypes
from ..core.dtypes import DType, from_numpy
from ..formats.wire import Reader, field, varint

# Field number -> the dtype of its elements if they are packed; None for varints.
_FIELDS = {
    5: np.dtype("<f4"),
    6: np.dtype("<f8"),
    7: None,
    9: np.dtype("<f4"),
    10: None,
    11: None,
    12: np.dtype("<f8"),
    13: None,
    16: None,
    17: None,
}
_STRINGS = 8


def dump(array) -> bytes:
    """Serialize an array."""
    dtype = dtypes.string if array.dtype == object else from_numpy(array.dtype)
    sizes = [field(2, b"\x08" + varint(size) if size else b"") for size in array.shape]
    head = b"\x08" + varint(dtype.as_datatype_enum) + field(2, b"".join(sizes))
    if dtype is dtypes.string:
        return head + b"".join(field(_STRINGS, text) for text in array.reshape(-1))
    return head + (field(4, array.tobytes()) if array.size else b"")


def _sizes(data):
    sizes = []
    for number, dim in Reader(data):
        if number == 2 and isinstance(dim, bytes):
            size = dict(Reader(dim)).get(1, 0)
            sizes.append(size if isinstance(size, int) else 0)
    return sizes


def _elements(number, data):
    """Parse the elements in one occurrence of a field."""
    if isinstance(data, int):
        return [data]
    packed = _FIELDS[number]
    if packed is not None:
        if len(data) % packed.itemsize:
            raise ValueError("a field's length does not fit its elements")
        return np.frombuffer(data, packed).tolist()
    reader = Reader(data)
    elements = []
    while reader._place < len(data):
        elements.append(reader.varint())
    return elements


def load(data: bytes) -> tuple[DType, np.ndarray]:
    """The dtype and the array of a serialized message; ValueError if it is no TensorProto."""
    dtype, sizes, content, strings, values = None, [], None, [], []
    try:
        for number, value in Reader(data):
            if number == 1 and isinstance(value, int):
                dtype = dtypes.as_dtype(value)
            elif number == 2 and isinstance(value, bytes):
                sizes = _sizes(value)
            elif number == 4 and isinstance(value, bytes):
                content = value
            elif number == _STRINGS:
                strings.append(value)
            elif number in _FIELDS:
                values += _elements(number, value)
    except (ValueError, TypeError) as failure:
        raise ValueError(f"Could not parse `serialized` as TensorProto: {failure}") from None
    if dtype is None:
        raise ValueError("Cannot parse tensor from proto: it names no dtype")
    count = math.prod(sizes)
    if dtype is dtypes.string:
        return dtype, _filled(strings, count, np.dtype(object)).reshape(sizes)
    if content is not None:
        if len(content) != count * dtype.size:
            raise ValueError(
                f"Cannot parse tensor from proto: {len(content)} bytes for {count} elements of "
                f"{dtype.name}"
            )
        return dtype, np.frombuffer(content, dtype.numpy).reshape(sizes)
    return dtype, _typed(values, count, dtype).reshape(sizes)


def _typed(values, count, dtype):
    if dtype.is_complex:
        pairs = np.array(values, np.float64).reshape(-1, 2)
        return _filled(pairs[:, 0] + 1j * pairs[:, 1], count, dtype.numpy)
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return _filled(np.array(values, np.uint16).view(dtype.numpy), count, dtype.numpy)
    if dtype.is_integer:
        wide = np.array(values, np.uint64).astype(np.int64)
        return _filled(wide.astype(dtype.numpy), count, dtype.numpy)
    return _filled(np.array(values), count, dtype.numpy)


def _filled(values, count, dtype):
    """`count` values, the last of those given repeated; zeros where there is none."""
    if count > len(values) and count > 1 << 24:
        raise ValueError(f"Cannot parse tensor from proto: it declares {count} elements")
    result = np.zeros(count, dtype)
    if dtype.kind == "O":
        result[:] = b""
    given = min(len(values), count)
    result[:given] = values[:given]
    if given:
        result[given:] = values[given - 1]
    return result

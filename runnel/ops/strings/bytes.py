"""Strings as bytes: length, case, white space, substrings, and joining."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int32, int64
from ...core.errors import OutOfRangeError, UnimplementedError
from ...core.op import execute, op
from ...core.shape_rules import SCALAR, UNKNOWN, broadcast, dimensions_text, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import SymbolicTensor, Tensor
from ..array.arguments import INDEX, require_choice
from ..array.joining import unstack
from .elements import as_bytes, each, filled, measured, scalar_text, text

_UNITS = ("BYTE", "UTF8_CHAR")
# UTF-8 continuation bytes.
_CONTINUATIONS = bytes(range(0x80, 0xC0))


def _characters(string):
    return len(string) if string.isascii() else len(string.translate(None, _CONTINUATIONS))


@op("StringLength", "input: string -> output: int32", shape=unchanged, gradient=None)
def StringLength(input, *, unit="BYTE"):
    return measured(len if unit == "BYTE" else _characters, input, np.int32)


def length(input, unit="BYTE", name=None):
    """The number of bytes, or of UTF-8 characters, in each string.

    >>> tf.strings.length(["Hello", "é"], unit="UTF8_CHAR").numpy().tolist()
    [5, 1]
    """
    require_choice("StringLength", "unit", unit, _UNITS)
    return execute(StringLength, (text(input),), {"unit": unit})


def _case(name, of_bytes, of_text):
    def kernel(input, *, encoding=""):
        if encoding not in ("", "utf-8"):
            raise ValueError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
        if not encoding:
            return each(of_bytes, input)

        def change(string):
            if string.isascii():
                return of_bytes(string)
            return of_text(string.decode(errors="replace")).encode()

        return each(change, input)

    return op(
        name, "input: string -> output: string", shape=unchanged, kernel=kernel, gradient=None
    )


StringLower = _case("StringLower", bytes.lower, str.lower)
StringUpper = _case("StringUpper", bytes.upper, str.upper)


def lower(input, encoding="", name=None):
    """The strings in lower case: ASCII letters only, or all with encoding="utf-8".

    >>> tf.strings.lower("CamelCase").numpy()
    b'camelcase'
    """
    return execute(StringLower, (text(input),), {"encoding": encoding} if encoding else {})


def upper(input, encoding="", name=None):
    """The strings in upper case: ASCII letters only, or all with encoding="utf-8".

    >>> tf.strings.upper("CamelCase").numpy()
    b'CAMELCASE'
    """
    return execute(StringUpper, (text(input),), {"encoding": encoding} if encoding else {})


@op("StringStrip", "input: string -> output: string", shape=unchanged, gradient=None)
def StringStrip(input):
    return each(bytes.strip, input)


def strip(input, name=None):
    """White space removed from both ends of each string.

    >>> tf.strings.strip(["  a b ", "c\\n"]).numpy().tolist()
    [b'a b', b'c']
    """
    return execute(StringStrip, (text(input),))


def _substr_shape(inputs, attrs):
    string, pos, len = inputs
    if not pos.shape.is_compatible_with(len.shape):
        raise ValueError(
            f"pos and len should have the same shape, got: {dimensions_text(pos.shape)} vs. "
            f"{dimensions_text(len.shape)}"
        )
    return broadcast((string, pos), attrs)


@op(
    "Substr",
    "input: string, pos: T, len: T -> output: string",
    T=INDEX,
    shape=_substr_shape,
    gradient=None,
)
def Substr(input, pos, len, *, unit="BYTE"):
    pos, len = np.asarray(pos), np.asarray(len)
    if pos.shape != len.shape:
        raise ValueError("pos and len should have the same shape")
    shape = np.broadcast_shapes(input.shape, pos.shape)
    if pos.ndim and input.shape != pos.shape and max(input.ndim, pos.ndim) > 2:
        dimensions = max(input.ndim, pos.ndim)
        raise UnimplementedError(
            None, None, f"Substr broadcast not implemented for {dimensions} dimensions"
        )
    part = _bytes_part if unit == "BYTE" else _characters_part
    triples = zip(
        np.broadcast_to(input, shape).flat,
        np.broadcast_to(pos, shape).ravel().tolist(),
        np.broadcast_to(len, shape).ravel().tolist(),
        strict=True,
    )
    parts = [part(string, start, count, i) for i, (string, start, count) in enumerate(triples)]
    return filled(parts, shape)


def _bytes_part(string, start, count, index):
    size = len(string)
    if not -size <= start <= size:
        raise ValueError(f"pos {start} out of range for string {string!r} at index {index}")
    start = start if start >= 0 else start + size
    # As an unsigned number, a negative count extends to the end of every string.
    return string[start : start + count] if count >= 0 else string[start:]


def _characters_part(string, start, count, index):
    starts = [i for i, byte in enumerate(string) if not i or byte & 0xC0 != 0x80]
    size = len(starts)
    # A negative count selects nothing here, unlike for bytes; from the end it is refused.
    if not -size <= start <= size or (start < 0 and count < 0):
        raise ValueError(f"pos {start} out of range for string at index {index}")
    start = start if start >= 0 else start + size
    starts.append(len(string))
    return string[starts[start] : starts[min(start + max(count, 0), size)]]


def substr(input, pos, len, unit="BYTE", name=None):
    """The part of each string from `pos` on (from the end if negative), `len` units long.

    >>> tf.strings.substr("Hello", 1, 3).numpy()
    b'ell'
    """
    wide = any(getattr(value, "dtype", None) in (int64, np.int64) for value in (pos, len))
    wide = wide or any(type(value) is int and abs(value) >= 2**31 for value in (pos, len))
    hint = int64 if wide else int32
    pos = convert_to_tensor(pos, dtype_hint=hint)
    len = convert_to_tensor(len, dtype_hint=hint)
    require_choice("Substr", "unit", unit, _UNITS)
    return execute(Substr, (text(input), pos, len), {"unit": unit})


def _joined_shape(inputs, attrs):
    shape = SCALAR
    for tensor in inputs[0]:
        other = tensor.shape
        if other.rank is None:
            return UNKNOWN
        if not other.rank:
            continue
        if not shape.rank:
            shape = other
        elif not shape.is_compatible_with(other):
            raise ValueError(
                f"Input shapes do not match: {dimensions_text(shape)} vs. {dimensions_text(other)}"
            )
        else:
            shape = shape.merge_with(other)
    return shape


@op("StringJoin", "inputs: N*string -> output: string", shape=_joined_shape, gradient=None)
def StringJoin(inputs, *, separator=b""):
    shapes = {array.shape for array in inputs if array.ndim}
    if len(shapes) > 1:
        raise ValueError("Input shapes do not match")
    if not shapes:
        return scalar_text(separator.join([array[()] for array in inputs]))
    shape = shapes.pop()
    columns = [np.broadcast_to(array, shape).ravel().tolist() for array in inputs]
    return filled(list(map(separator.join, zip(*columns, strict=True))), shape)


def join(inputs, separator="", name=None):
    """Strings of several tensors put together, element-wise.

    >>> tf.strings.join(["data", ["1", "2"]], separator="-").numpy().tolist()
    [b'data-1', b'data-2']
    """
    if isinstance(inputs, str | bytes):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    separator = as_bytes(separator, "separator")
    values = unstack(inputs) if isinstance(inputs, SymbolicTensor) else list(inputs)
    tensors = tuple([text(value) for value in values])
    return execute(StringJoin, tensors, {"separator": separator})


def _reduced_axes(axes, rank):
    """Non-negative axes, each once."""
    found = []
    for axis in np.atleast_1d(axes).tolist():
        if not -rank <= axis < rank:
            raise OutOfRangeError(
                None, None, f"Invalid reduction dimension {axis} for input with {rank} dimension(s)"
            )
        if axis % rank in found:
            raise ValueError(f"Duplicate reduction dimension {axis}")
        found.append(axis % rank)
    return found


def _reduce_join_shape(inputs, attrs):
    strings, indices = inputs
    axes = constant_value(indices)
    rank = strings.shape.rank
    if rank is None or axes is None:
        known = attrs["keep_dims"] and rank is not None
        return TensorShape([None] * rank) if known else UNKNOWN
    try:
        reduced = _reduced_axes(axes, rank)
    except OutOfRangeError as failure:
        raise ValueError(failure.message) from None
    if attrs["keep_dims"]:
        return TensorShape([1 if i in reduced else n for i, n in enumerate(strings.shape)])
    return TensorShape([n for i, n in enumerate(strings.shape) if i not in reduced])


@op(
    "ReduceJoin",
    "inputs: string, reduction_indices: int32 -> output: string",
    shape=_reduce_join_shape,
    gradient=None,
)
def ReduceJoin(inputs, reduction_indices, *, keep_dims=False, separator=b""):
    axes = _reduced_axes(reduction_indices, inputs.ndim)
    if not axes:
        return inputs
    kept = [i for i in range(inputs.ndim) if i not in axes]
    shape = tuple(inputs.shape[i] for i in kept)
    # The first axis given varies fastest.
    moved = inputs.transpose(*kept, *reversed(axes))
    rows = moved.reshape(int(np.prod(shape)), int(np.prod([inputs.shape[i] for i in axes])))
    if keep_dims:
        shape = tuple(1 if i in axes else n for i, n in enumerate(inputs.shape))
    return filled([separator.join(row) for row in rows.tolist()], shape)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """All strings along the axes (all axes if None) joined into one.

    >>> tf.strings.reduce_join([["abc", "123"], ["def", "456"]], axis=-1, separator=" ").numpy()
    array([b'abc 123', b'def 456'], dtype=object)
    """
    tensor = convert_to_tensor(inputs)
    attrs = {"keep_dims": bool(keepdims), "separator": as_bytes(separator, "separator")}
    return execute(ReduceJoin, (tensor, _axes_to_reduce(tensor, axis)), attrs)


def _axes_to_reduce(tensor, axis):
    if axis is not None:
        return convert_to_tensor(axis, int32) if not isinstance(axis, Tensor) else axis
    if tensor.shape.rank is not None:
        return convert_to_tensor(np.arange(tensor.shape.rank - 1, -1, -1, dtype=np.int32))
    from ..array.creation import range
    from ..array.shaping import rank

    return range(rank(tensor) - 1, -1, -1)


def _segments_shape(inputs, attrs):
    strings, ids, count = inputs
    if ids.shape.rank == 0:
        raise ValueError("Segment_id cannot have rank 0")
    if strings.shape.rank is None or ids.shape.rank is None:
        return UNKNOWN
    if not strings.shape[: ids.shape.rank].is_compatible_with(ids.shape):
        raise ValueError(
            f"The shape of segment_ids {dimensions_text(ids.shape)} must begin the shape of the "
            f"inputs {dimensions_text(strings.shape)}"
        )
    number = constant_value(count)
    if number is not None and number < 0:
        raise ValueError(f"Number of segments must be non-negative but got {number}")
    rows = None if number is None else int(number)
    return TensorShape([rows, *strings.shape[ids.shape.rank :]])


@op(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    Tindices=INDEX,
    Tnumsegments=INDEX,
    shape=_segments_shape,
    gradient=None,
)
def UnsortedSegmentJoin(inputs, segment_ids, num_segments, *, separator=b""):
    ids = np.asarray(segment_ids)
    if not ids.ndim or inputs.shape[: ids.ndim] != ids.shape or num_segments < 0:
        raise ValueError("segment_ids must number the first dimensions of the inputs")
    if ids.size and not 0 <= ids.min() <= ids.max() < num_segments:
        raise ValueError(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    inner = inputs.shape[ids.ndim :]
    width = int(np.prod(inner))
    groups: list[list[list[bytes]]] = [[[] for _ in range(width)] for _ in range(int(num_segments))]
    for segment, row in zip(ids.ravel().tolist(), inputs.reshape(ids.size, width), strict=True):
        for cell, string in zip(groups[segment], row, strict=True):
            cell.append(string)
    joined = [separator.join(cell) for group in groups for cell in group]
    return filled(joined, (int(num_segments), *inner))


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """The strings of each segment joined in their order; a segment without any is empty.

    >>> tf.strings.unsorted_segment_join(["a", "b", "c"], [0, 1, 0], 2, separator=":").numpy()
    array([b'a:c', b'b'], dtype=object)
    """
    return execute(
        UnsortedSegmentJoin,
        (text(inputs), convert_to_tensor(segment_ids), convert_to_tensor(num_segments)),
        {"separator": as_bytes(separator, "separator")},
    )

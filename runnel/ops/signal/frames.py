"""Framing of a signal into overlapping frames, and overlap-and-add."""

from __future__ import annotations

import math

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import int32
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..array import creation, gathering, joining, ordering, padding, shaping, slicing
from ..math import arithmetic, casting, reduction
from .fourier import size_of


def scalar_size(value, what):
    """A size as a Python integer where it is static, else as an int32 scalar."""
    tensor = convert_to_tensor(value)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(
            f"Shape {tensor.shape} must have rank 0: {what} is one number, got {value!r}"
        )
    if not tensor.dtype.is_integer:
        raise ValueError(f"{what} must be an integer. Got {tensor.dtype!r}")
    known = constant_value(tensor)
    if known is not None:
        return int(known)
    return casting.cast(tensor if tensor.shape.rank == 0 else shaping.reshape(tensor, []), int32)


def _greater(a, b):
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return arithmetic.maximum(a, b)
    return max(a, b)


def sizes(*parts):
    """A shape from integers, scalar tensors and lists or vectors of them."""
    if not any(isinstance(part, Tensor) for part in parts):
        return [size for part in parts for size in (part if isinstance(part, list) else [part])]
    vectors = []
    for part in parts:
        part = convert_to_tensor(part, int32)
        vectors.append(shaping.reshape(part, [1]) if part.shape.rank == 0 else part)
    return joining.concat(vectors, 0)


def _around(value, axis):
    """The sizes before and after an axis."""
    shape = value.shape
    if shape.is_fully_defined():
        return list(shape[:axis]), list(shape[axis + 1 :]) if axis != -1 else []
    known = shaping.sizes_of(value)
    return known[:axis], known[axis + 1 :] if axis != -1 else known[:0]


def _frame_axis(axis, rank):
    known = constant_value(convert_to_tensor(axis))
    if known is None:
        raise ValueError(f"The axis of frames must be known when the graph is built, got {axis!r}")
    position = int(known)
    if rank is None:
        return position
    if not -rank <= position < rank:
        raise IndexError(f"axis {position} is out of range for a signal of rank {rank}")
    return position % rank - rank


def _require_frames(length, step, pad_end):
    if isinstance(step, int) and (step == 0 or (step < 0 and pad_end)):
        raise InvalidArgumentError(None, None, f"frame_step must be positive, got {step}")
    if isinstance(length, int) and length < 0:
        raise InvalidArgumentError(None, None, f"frame_length must not be negative, got {length}")


def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """The axis divided into frames of `frame_length`, one every `frame_step` elements.

    The axis becomes two: frames, and elements of a frame. Elements that do not fill a frame are
    dropped, or the signal is padded with `pad_value` (`pad_end=True`) so that a frame starts at
    every multiple of `frame_step`.

    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy().tolist()
    [[1, 2, 3], [3, 4, 5]]
    """
    signal = convert_to_tensor(signal)
    rank = signal.shape.rank
    if rank == 0:
        raise ValueError(f"Shape () must have rank at least 1: a signal has an axis, got {signal}")
    axis = _frame_axis(axis, rank)
    length = scalar_size(frame_length, "frame_length")
    step = scalar_size(frame_step, "frame_step")
    _require_frames(length, step, pad_end)
    before, after = _around(signal, axis)
    count = size_of(signal, axis)
    if pad_end:
        frames = -(-count // step)
        missing = _greater(0, (frames - 1) * step + length - count)
        signal = _continued(signal, axis, missing, pad_value)
        count = count + missing
    else:
        frames = _greater(0, 1 + (count - length) // step)
    # Frames consist of whole pieces: fewer, longer rows are gathered (and accumulated in the
    # gradient).
    known = isinstance(length, int) and isinstance(step, int)
    piece = (math.gcd(length, step) or 1) if known else 1
    pieces = count // piece
    signal = slicing.slice(
        signal,
        sizes(_zeros(before), 0, _zeros(after)),
        sizes(before, pieces * piece, after),
    )
    signal = shaping.reshape(signal, sizes(before, pieces, piece, after))
    starts = creation.range(frames) * (step // piece)
    rows = shaping.expand_dims(starts, 1) + creation.range(length // piece)
    if rank is None and axis < 0:
        # Counted from the end, the pieces now precede their own elements.
        framed = gathering.gather(signal, rows, axis=shaping.rank(signal) + (axis - 1))
    else:
        framed = gathering.gather(signal, rows, axis=axis if rank is None else axis + rank)
    return shaping.reshape(framed, sizes(before, frames, length, after))


def _zeros(part):
    return part * 0 if isinstance(part, Tensor) else [0] * len(part)


def _continued(signal, axis, missing, pad_value):
    value = convert_to_tensor(pad_value, signal.dtype) if pad_value != 0 else 0
    if isinstance(value, Tensor) and value.shape.rank not in (None, 0):
        raise ValueError(f"Shape {value.shape} must have rank 0: pad_value is one number")
    before, after = _around(signal, axis)
    added = convert_to_tensor(sizes(_zeros(before), missing, _zeros(after)), int32)
    return padding.pad(signal, joining.stack([added * 0, added], 1), constant_values=value)


def overlap_and_add(signal, frame_step, name=None):
    """The signal from frames that start every `frame_step` elements; overlaps are summed.

    The last two axes, frames and elements, become one of (frames - 1) * frame_step + elements.

    >>> tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], frame_step=2).numpy().tolist()
    [1, 2, 13, 20, 30]
    """
    signal = convert_to_tensor(signal)
    rank = signal.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(
            f"Shape {signal.shape} must have rank at least 2: frames and their elements"
        )
    step = scalar_size(frame_step, "frame_step")
    if isinstance(step, int) and step < 1:
        raise InvalidArgumentError(None, None, f"frame_step must be positive, got {step}")
    frames, length = size_of(signal, -2), size_of(signal, -1)
    outer = _outer(signal)
    # Each frame is padded to whole steps: part p of frame f is added to step f + p of the result.
    # Rows of parts, each padded with as many zero steps as there are parts, reshaped to one step
    # less per row: that shifts every row by its own index.
    parts = -(-length // step)
    signal = _padded_inner(signal, outer, 0, parts * step - length)
    signal = shaping.reshape(signal, sizes(outer, frames, parts, step))
    signal = _swapped_inner(signal)
    signal = _padded_inner(signal, sizes(outer, parts), parts, 0)
    signal = shaping.reshape(signal, sizes(outer, parts * (frames + parts), step))
    total = _greater(0, frames + parts - 1)
    signal = slicing.slice(signal, sizes(_zeros(outer), 0, 0), sizes(outer, parts * total, step))
    signal = shaping.reshape(signal, sizes(outer, parts, total, step))
    signal = reduction.reduce_sum(signal, -3)
    signal = shaping.reshape(signal, sizes(outer, total * step))
    kept = _greater(0, (frames - 1) * step + length)
    return slicing.slice(signal, sizes(_zeros(outer), 0), sizes(outer, kept))


def _outer(signal):
    if signal.shape.is_fully_defined():
        return list(signal.shape[:-2])
    return shaping.sizes_of(signal)[:-2]


def _padded_inner(signal, outer, rows, columns):
    """The last two axes zero-padded at the end."""
    added = convert_to_tensor(sizes(_zeros(outer), rows, columns), int32)
    return padding.pad(signal, joining.stack([added * 0, added], 1))


def _swapped_inner(signal):
    """[..., frames, parts, step] as [..., parts, frames, step]."""
    rank = signal.shape.rank
    if rank is not None:
        return ordering.transpose(signal, [*range(rank - 3), rank - 2, rank - 3, rank - 1])
    last = shaping.rank(signal)
    outer = creation.range(last - 3)
    return ordering.transpose(signal, sizes(outer, last - 2, last - 3, last - 1))

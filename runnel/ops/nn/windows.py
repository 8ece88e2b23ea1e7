"""The geometry of sliding windows, for convolutions, pooling and patches.

A window of `kernel` taps with `dilation` slides by `stride` over `size` positions with `low` zeros
before and `high` after them. All sizes may be None (unknown), as shape rules need.
"""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import ml_dtypes
import numpy as np

WIDER = {
    np.dtype(np.float16): np.dtype(np.float32),
    np.dtype(ml_dtypes.bfloat16): np.dtype(np.float32),
}


class Axis(NamedTuple):
    """One spatial axis of a window; None where unknown."""

    size: int | None
    kernel: int | None
    stride: int
    dilation: int
    low: int
    high: int
    output: int | None


def place_axis(size, kernel, stride, dilation, padding, explicit=(0, 0)):
    """The `Axis` of one dimension; `padding` is SAME, VALID or EXPLICIT.

    SAME gives ceil(size / stride) outputs and puts the odd zero at the end; VALID and EXPLICIT give
    (size + low + high - reach) / stride + 1, where reach = (kernel - 1) * dilation + 1.
    """
    if kernel is not None and kernel < 1:
        raise ValueError(
            f"filter must not have zero elements (i.e. all dimensions must be non-zero); "
            f"got a window of size {kernel}"
        )
    low, high = explicit if padding == "EXPLICIT" else (0, 0)
    if size is None or (kernel is None and padding != "SAME"):
        return Axis(size, kernel, stride, dilation, low, high, None)
    if padding == "SAME":
        output = -(-size // stride)
        if kernel is None:
            return Axis(size, kernel, stride, dilation, 0, 0, output)
        missing = max((output - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
        low = missing // 2
        return Axis(size, kernel, stride, dilation, low, missing - low, output)
    reach = (kernel - 1) * dilation + 1
    room = size + low + high - reach + stride
    if room < 0 and -room >= stride:
        raise ValueError(
            f"Computed output size would be negative: {-(-room // stride)} [input_size: {size}, "
            f"effective_filter_size: {reach}, stride: {stride}]. Use padding='SAME', a smaller "
            f"window or a larger input."
        )
    return Axis(size, kernel, stride, dilation, low, high, max(room, 0) // stride)


@lru_cache(maxsize=1024)
def place_window(sizes, kernel, strides, dilations, padding, explicit=()):
    """Return one `Axis` per spatial dimension; all arguments are tuples over those dimensions.

    >>> [axis.output for axis in place_window((5, 6), (3, 3), (2, 2), (1, 1), "SAME")]
    [3, 3]
    """
    return tuple(
        place_axis(size, taps, stride, dilation, padding, explicit[i] if explicit else (0, 0))
        for i, (size, taps, stride, dilation) in enumerate(
            zip(sizes, kernel, strides, dilations, strict=True)
        )
    )


@lru_cache(maxsize=64)
def channels_first(data_format):
    """Whether a data format is channels-first, such as NCHW or NCDHW."""
    return data_format.startswith("NC")


def spatial_part(values, first):
    """Pick the spatial entries of a list with one entry per dimension of the tensor."""
    return tuple(values[2:] if first else values[1:-1])


def to_channels_last(array):
    """View an array of channels-first layout as channels-last."""
    return array.transpose(0, *range(2, array.ndim), 1)


def to_channels_first(array):
    """View an array of channels-last layout as channels-first."""
    return array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1))


def pad_axes(images, axes, buffer=None):
    """Copy images into a buffer with the axes' zero padding; negative paddings crop.

    The `buffer` of an earlier call with the same axes has its zeros: only the interior is copied.
    """
    padded_sizes, source, target = _padding_slices(axes)
    if buffer is None:
        shape = (images.shape[0], *padded_sizes, *images.shape[1 + len(axes) :])
        buffer = np.zeros(shape, images.dtype)
    buffer[target] = images[source]
    return buffer


@lru_cache(maxsize=1024)
def _padding_slices(axes):
    """The padded sizes, and the slices of the interior in the images and in the copy."""
    source, target = [slice(None)], [slice(None)]
    for axis in axes:
        skipped, start = max(-axis.low, 0), max(axis.low, 0)
        kept = max(axis.size - skipped - max(-axis.high, 0), 0)
        source.append(slice(skipped, skipped + kept))
        target.append(slice(start, start + kept))
    padded_sizes = tuple(axis.size + axis.low + axis.high for axis in axes)
    return padded_sizes, tuple(source), tuple(target)


def is_padded(axes):
    """Whether any axis has padding (or cropping)."""
    return any(axis.low or axis.high for axis in axes)


def window_view(padded, axes):
    """View contiguous images [batch, *space, ...] as [batch, *output, *kernel, ...]; no copy."""
    rank = len(axes)
    steps = padded.strides
    outer = [steps[1 + i] * axis.stride for i, axis in enumerate(axes)]
    inner = [steps[1 + i] * axis.dilation for i, axis in enumerate(axes)]
    shape = (
        padded.shape[0],
        *[axis.output for axis in axes],
        *[axis.kernel for axis in axes],
        *padded.shape[1 + rank :],
    )
    strides = (steps[0], *outer, *inner, *steps[1 + rank :])
    # The ndarray constructor takes a microsecond, as_strided ten; as bytes, since not every dtype
    # supports the buffer protocol.
    return np.ndarray(shape, padded.dtype, padded.view(np.uint8), 0, strides)


def computing_dtype(dtype):
    """The accumulation dtype: float32 for half precision, else the dtype itself."""
    return WIDER.get(dtype, dtype)


@lru_cache(maxsize=1024)
def tap_slices(axes):
    """For each tap, the index into padded [batch, *space] of the inputs that each output reads."""
    per_axis = [
        [
            slice(
                tap * axis.dilation,
                tap * axis.dilation + (axis.output - 1) * axis.stride + 1,
                axis.stride,
            )
            for tap in range(axis.kernel)
        ]
        for axis in axes
    ]
    return tuple((slice(None), *index) for index in product(*per_axis))


class Tap(NamedTuple):
    """One position in the window: the outputs that read an input there, and those inputs."""

    position: tuple[int, ...]
    outputs: tuple[slice, ...]
    inputs: tuple[slice, ...]


@lru_cache(maxsize=1024)
def inner_taps(axes):
    """List the taps in row-major order, each with the outputs whose input is not padding."""
    per_axis = []
    for axis in axes:
        cuts = []
        for tap in range(axis.kernel):
            offset = tap * axis.dilation - axis.low
            first = max(0, -(offset // axis.stride))
            count = min(axis.output, (axis.size - 1 - offset) // axis.stride + 1) - first
            if count > 0:
                start = first * axis.stride + offset
                stop = start + (count - 1) * axis.stride + 1
                cuts.append((tap, slice(first, first + count), slice(start, stop, axis.stride)))
        per_axis.append(cuts)
    taps = []
    for combination in product(*per_axis):
        position, outputs, inputs = zip(*combination, strict=True)
        taps.append(Tap(position, (slice(None), *outputs), (slice(None), *inputs)))
    return tuple(taps)

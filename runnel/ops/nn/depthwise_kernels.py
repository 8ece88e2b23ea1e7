"""Depthwise convolution in NumPy: every channel has its own filters, so there is no GEMM.

It computes one multiply-add per tap over whole blocks; the channels are first repeated by the
multiplier, so that all three functions work on arrays of one layout.
"""

import math

import numpy as np

from ...runtime.engine_selection import accelerated
from .windows import computing_dtype, is_padded, pad_axes, tap_slices

# Three arrays of this size fit an L2 cache of 1 MB.
BLOCK_BYTES = 300_000


@accelerated("convolve_depthwise", 2048)
def convolve_depthwise(images, filters, axes, finish=None):
    """Correlate images [batch, *space, depth] with filters [*kernel, depth, multiplier].

        output[n, o, c * multiplier + m] = sum over k of
            images[n, o * stride + k * dilation - low, c] * filters[k, c, m]

    followed by the epilogue `finish`.
    """
    dtype = computing_dtype(images.dtype)
    batch, multiplier = images.shape[0], filters.shape[-1]
    channels = images.shape[-1] * multiplier
    output = np.empty((batch, *(axis.output for axis in axes), channels), dtype)
    if output.size == 0:
        return output.astype(images.dtype, copy=False)
    rows = _row_filters(filters, axes, dtype)
    scratch = padded = None
    for chosen in _batch_blocks(output):
        padded = _pad_and_repeat(images[chosen], axes, multiplier, dtype, padded)
        block = output[chosen]
        if scratch is None:
            scratch = np.empty_like(block)
        held = scratch[: block.shape[0]]
        for number, tap in enumerate(tap_slices(axes)):
            if number:
                np.multiply(padded[tap], rows[number], out=held)
                np.add(block, held, out=block)
            else:
                np.multiply(padded[tap], rows[0], out=block)
    output = output.astype(images.dtype, copy=False)
    return output if finish is None else finish.apply(output)


@accelerated("backprop_depthwise_images", 1024)
def backprop_depthwise_images(gradients, filters, image_shape, axes):
    """The gradient of `convolve_depthwise` with respect to its images."""
    dtype = computing_dtype(gradients.dtype)
    multiplier = filters.shape[-1]
    result = np.zeros(image_shape, gradients.dtype)
    if result.size == 0 or gradients.size == 0:
        return result
    gradients = gradients.astype(dtype, copy=False)
    rows = _row_filters(filters, axes, dtype)
    padded_sizes = [axis.size + axis.low + axis.high for axis in axes]
    inside = tuple(slice(axis.low, axis.low + axis.size) for axis in axes)
    # The original multiplies taps by zeros where they have no gradient: an infinite tap gives NaN.
    lost = 0 * rows[:, 0]
    scratch = None
    for chosen in _batch_blocks(gradients):
        block = gradients[chosen]
        if scratch is None:
            scratch = np.empty_like(block)
        held = scratch[: block.shape[0]]
        total = np.zeros((block.shape[0], *padded_sizes, gradients.shape[-1]), dtype)
        for number, tap in enumerate(tap_slices(axes)):
            np.multiply(block, rows[number], out=held)
            total[tap] += held
            if np.isnan(lost[number]).any():
                unseen = np.ones(padded_sizes, bool)
                unseen[tap[1:]] = False
                total[:, unseen] += lost[number]
        kept = total[(slice(None), *inside)]
        # Accumulated slice by slice: a reduction over so short an axis is several times slower.
        result[chosen] = sum(
            (kept[..., number::multiplier] for number in range(1, multiplier)),
            start=kept[..., ::multiplier],
        )
    return result


@accelerated("backprop_depthwise_filters", 1024)
def backprop_depthwise_filters(images, gradients, filter_shape, axes):
    """The gradient of `convolve_depthwise` with respect to its filters."""
    dtype = computing_dtype(images.dtype)
    channels = gradients.shape[-1]
    total = np.zeros((math.prod(axis.kernel for axis in axes), channels), dtype)
    if images.size and gradients.size:
        gradients = gradients.astype(dtype, copy=False)
        scratch = ones = padded = None
        for chosen in _batch_blocks(gradients):
            padded = _pad_and_repeat(images[chosen], axes, filter_shape[-1], dtype, padded)
            block = gradients[chosen]
            if scratch is None:
                scratch = np.empty(block.shape, dtype)
                ones = np.ones(block.size // channels, dtype)
            held = scratch[: block.shape[0]]
            flat = held.reshape(-1, channels)
            for number, tap in enumerate(tap_slices(axes)):
                np.multiply(padded[tap], block, out=held)
                # A matmul with ones sums over pixels in BLAS, faster than a reduction.
                total[number] += ones[: flat.shape[0]] @ flat
    return total.reshape(filter_shape).astype(images.dtype, copy=False)


def _row_filters(filters, axes, dtype):
    """Repeat each tap's channels along the last axis, so that inner loops cover whole rows."""
    taps = filters.astype(dtype, copy=False).reshape(math.prod(filters.shape[:-2]), 1, -1)
    return np.repeat(taps, axes[-1].output, axis=1)


def _pad_and_repeat(images, axes, multiplier, dtype, buffer):
    """Pad a block of images, reusing the last block's buffer if any, and repeat its channels."""
    images = images.astype(dtype, copy=False)
    if multiplier > 1:
        images = np.repeat(images, multiplier, axis=-1)
    if not is_padded(axes):
        return images
    return pad_axes(images, axes, buffer=None if buffer is None else buffer[: images.shape[0]])


def _batch_blocks(array):
    """Yield slices over the batch such that a block of `array` has about BLOCK_BYTES."""
    batch = array.shape[0]
    count = max(1, BLOCK_BYTES * batch // max(1, array.nbytes))
    for start in range(0, batch, count):
        yield slice(start, min(start + count, batch))

"""Convolution in NumPy for any number of spatial dimensions, channels last.

It is im2col, block by block, and a GEMM with the filters. A block is small enough to stay in the
cache: that is faster, and bounds the memory.
"""

import math
from functools import lru_cache
from itertools import product

import numpy as np

from ...runtime.engine_selection import accelerated
from .depthwise_kernels import backprop_depthwise_filters, convolve_depthwise
from .windows import Axis, computing_dtype, is_padded, pad_axes, tap_slices, window_view

# Measured best between 1 and 4 MB on machines with 0.5 to 2 MB of L2 cache per core.
BLOCK_BYTES = 2_500_000
# Below this many contiguous elements, patches are laid out by tap instead of by pixel.
SHORT_RUN = 16
# With at least this many filters per channel, accumulating per tap beats im2col of gradients.
FEW_CHANNELS = 4


@accelerated("convolve", 2048)
def convolve(images, filters, axes, finish=None):
    """Correlate images [batch, *space, depth] with filters [*kernel, depth / groups, count].

        output[n, o, f] = sum over k, c of
            images[n, o * stride + k * dilation - low, c] * filters[k, c, f]

    followed by the epilogue `finish`.
    """
    dtype = computing_dtype(images.dtype)
    output = _convolve(images.astype(dtype, copy=False), filters.astype(dtype, copy=False), axes)
    output = output.astype(images.dtype, copy=False)
    return output if finish is None else finish.apply(output)


def _convolve(images, filters, axes):
    """Correlate in the dtype of the images, group by group."""
    count = filters.shape[-1]
    output = np.empty((images.shape[0], *(axis.output for axis in axes), count), images.dtype)
    if output.size == 0:
        return output
    depth = filters.shape[-2]
    groups = images.shape[-1] // depth
    if images.shape[-1] == 0:
        output.fill(0)
    elif groups == 1:
        _convolve_into(output, images, filters, axes)
    elif depth == 1:
        by_channel = filters.reshape(*filters.shape[:-2], groups, count // groups)
        output = convolve_depthwise(images, by_channel, axes)
    else:
        share = count // groups
        for group in range(groups):
            kept = slice(group * share, (group + 1) * share)
            part = np.empty((*output.shape[:-1], share), output.dtype)
            piece = images[..., group * depth : (group + 1) * depth]
            _convolve_into(part, piece, filters[..., kept], axes)
            output[..., kept] = part
    return output


def _convolve_into(output, images, filters, axes):
    """Correlate one group into a contiguous output."""
    matrix = np.ascontiguousarray(filters).reshape(-1, filters.shape[-1])
    if _is_pointwise(axes):
        flat = images.reshape(-1, images.shape[-1])
        np.matmul(flat, matrix, out=output.reshape(-1, output.shape[-1]))
        return
    for batch, rows, patches in patch_blocks(images, axes):
        block = output[batch, rows].reshape(-1, output.shape[-1])
        np.matmul(patches, matrix, out=block)


@accelerated("convolve_backprop_filters", 4096)
def convolve_backprop_filters(images, gradients, filter_shape, axes):
    """The gradient of `convolve` with respect to its filters, from the upstream gradient."""
    dtype = computing_dtype(images.dtype)
    wide_images = images.astype(dtype, copy=False)
    wide_gradients = gradients.astype(dtype, copy=False)
    depth, count = filter_shape[-2:]
    groups = images.shape[-1] // depth if depth else 1
    if images.size == 0 or gradients.size == 0 or math.prod(filter_shape) == 0:
        return np.zeros(filter_shape, images.dtype)
    if groups == 1:
        result = _backprop_filters(wide_images, wide_gradients, filter_shape, axes)
    elif depth == 1:
        by_channel = (*filter_shape[:-2], groups, count // groups)
        result = backprop_depthwise_filters(wide_images, wide_gradients, by_channel, axes)
        result = result.reshape(filter_shape)
    else:
        result = np.empty(filter_shape, dtype)
        share = count // groups
        for group in range(groups):
            kept = slice(group * share, (group + 1) * share)
            piece = wide_images[..., group * depth : (group + 1) * depth]
            shape = (*filter_shape[:-1], share)
            result[..., kept] = _backprop_filters(piece, wide_gradients[..., kept], shape, axes)
    return result.astype(images.dtype, copy=False)


def _backprop_filters(images, gradients, filter_shape, axes):
    """Accumulate patches^T gradients over the blocks of one group."""
    gradients = np.ascontiguousarray(gradients)
    if _is_pointwise(axes):
        flat = images.reshape(-1, images.shape[-1])
        return np.matmul(flat.T, gradients.reshape(-1, filter_shape[-1])).reshape(filter_shape)
    result = np.zeros((math.prod(filter_shape[:-1]), filter_shape[-1]), images.dtype)
    for batch, rows, patches in patch_blocks(images, axes):
        result += patches.T @ gradients[batch, rows].reshape(-1, filter_shape[-1])
    return result.reshape(filter_shape)


@accelerated("convolve_backprop_images", 1024)
def convolve_backprop_images(gradients, filters, image_shape, axes):
    """The gradient of `convolve` with respect to its images, from the upstream gradient.

    With few channels, the matmuls of all taps are accumulated at the positions they read. Else the
    input positions are split by their remainder modulo the stride: each phase is a convolution of
    the gradients, with stride 1, with the flipped taps that reach it.
    """
    dtype = computing_dtype(gradients.dtype)
    depth, count = filters.shape[-2:]
    if math.prod(image_shape) == 0 or gradients.size == 0:
        return np.zeros(image_shape, gradients.dtype)
    wide_gradients = gradients.astype(dtype, copy=False)
    filters = filters.astype(dtype, copy=False)
    # Infinities and NaNs must not be multiplied with the zeros that pad the gradients: the original
    # has no such padding.
    few_or_infinite = depth * FEW_CHANNELS <= count or not np.isfinite(np.add.reduce(filters, None))
    if depth == image_shape[-1] and few_or_infinite:
        result = _add_up_taps(wide_gradients, filters, image_shape, axes)
        return result.astype(gradients.dtype, copy=False)
    flipped = _swap_depths(filters, image_shape[-1] // depth)
    if all(axis.stride == 1 for axis in axes):
        phases = [_stride_phases(axis)[0] for axis in axes]
        taps, _, mirrored = zip(*phases, strict=True)
        result = _convolve(wide_gradients, flipped[_reverse(taps)], mirrored)
        return result.astype(gradients.dtype, copy=False)
    result = np.zeros(image_shape, gradients.dtype)
    for combination in product(*(_stride_phases(axis) for axis in axes)):
        taps, positions, mirrored = zip(*combination, strict=True)
        result[(slice(None), *positions)] = _convolve(
            wide_gradients, flipped[_reverse(taps)], mirrored
        )
    return result


def _add_up_taps(gradients, filters, image_shape, axes):
    """Add the matmul of every tap with the gradients to the input positions that the tap read."""
    depth, count = filters.shape[-2:]
    result = np.empty(image_shape, gradients.dtype)
    matrix = filters.reshape(-1, count)
    taps = math.prod(filters.shape[:-2])
    padded_sizes = [axis.size + axis.low + axis.high for axis in axes]
    inside = tuple(slice(axis.low, axis.low + axis.size) for axis in axes)
    image_bytes = matrix.shape[0] * math.prod(gradients.shape[1:-1]) * gradients.itemsize
    step = max(1, BLOCK_BYTES // image_bytes)
    for start in range(0, image_shape[0], step):
        block = gradients[start : start + step]
        products = matrix @ block.reshape(-1, count).T
        products = products.reshape(taps, depth, *block.shape[:-1])
        total = np.zeros((depth, block.shape[0], *padded_sizes), gradients.dtype)
        for product_of_tap, tap in zip(products, tap_slices(axes), strict=True):
            total[(slice(None), *tap)] += product_of_tap
        kept = total[(slice(None), slice(None), *inside)]
        result[start : start + step] = np.moveaxis(kept, 0, -1)
    return result


def _swap_depths(filters, groups):
    """Swap the input and output depth of [*kernel, depth, count] filters."""
    if groups == 1:
        return np.swapaxes(filters, -1, -2)
    *kernel, depth, count = filters.shape
    split = filters.reshape(*kernel, depth, groups, count // groups)
    last = split.ndim - 1
    swapped = split.transpose(*range(last - 2), last, last - 1, last - 2)
    return swapped.reshape(*kernel, count // groups, groups * depth)


def _reverse(taps):
    """Convert forward slices of taps, each (start, step, count), to an index of reversed taps."""
    index = []
    for start, step, count in taps:
        stop = start - step
        index.append(slice(start + (count - 1) * step, None if stop < 0 else stop, -step))
    return tuple(index)


def _stride_phases(axis):
    """List (taps, positions, axis) for every remainder of the input position that taps reach.

    Input position i is read by tap k of output o where i + low = o * stride + k * dilation. With i
    = first + stride * j, the matching taps are k = start + step * t, and then o = j + base - t *
    (dilation / common): a convolution over o with reversed taps.
    """
    size, kernel, stride, dilation, low, _, output = axis
    common = math.gcd(stride, dilation)
    step, spread = stride // common, dilation // common
    phases = []
    for first in range(min(stride, size)):
        quotient, remainder = divmod(first + low, stride)
        fitting = (k for k in range(min(step, kernel)) if k * dilation % stride == remainder)
        start = next(fitting, None)
        if start is None:
            continue
        taps = -(-(kernel - start) // step)
        base = quotient - (start * dilation - remainder) // stride
        positions = -(-(size - first) // stride)
        before = (taps - 1) * spread - base
        after = positions + base - output
        mirrored = Axis(output, taps, 1, spread, before, after, positions)
        phases.append(((start, step, taps), slice(first, None, stride), mirrored))
    return phases


@lru_cache(maxsize=1024)
def _is_pointwise(axes):
    return all(axis.kernel == axis.stride == 1 and not axis.low and not axis.high for axis in axes)


def patch_blocks(images, axes):
    """Yield (batch slice, row slice, patches) over cache-sized blocks of the output.

    `patches` is a matrix [pixels of the block, kernel taps * depth], whose buffer the next block
    reuses. Rows are those of the first spatial dimension of the output; blocks hold whole images
    unless a single image is too large for a block.
    """
    batch, depth = images.shape[0], images.shape[-1]
    outputs = [axis.output for axis in axes]
    width = math.prod(axis.kernel for axis in axes) * depth
    row_bytes = math.prod(outputs[1:]) * width * images.itemsize
    count = max(1, min(batch, BLOCK_BYTES // max(1, row_bytes * outputs[0])))
    rows = outputs[0] if count > 1 else max(1, min(outputs[0], BLOCK_BYTES // max(1, row_bytes)))
    direct = not is_padded(axes) and images.flags.c_contiguous
    last = axes[-1]
    run = depth * (last.kernel if last.dilation == 1 else 1)
    by_tap = run < SHORT_RUN and last.output > run
    storage = np.empty(count * rows * math.prod(outputs[1:]) * width, images.dtype)
    padded = None
    for start in range(0, batch, count):
        chosen = slice(start, min(start + count, batch))
        block = images[chosen]
        if direct:
            source = block
        else:
            reused = None if padded is None else padded[: block.shape[0]]
            source = pad_axes(block, axes, buffer=reused)
            padded = source if padded is None else padded
        windows = window_view(source, axes)
        for top in range(0, outputs[0], rows):
            part = slice(top, min(top + rows, outputs[0]))
            yield chosen, part, _copy_patches(windows[:, part], len(axes), storage, by_tap)


def _copy_patches(windows, rank, storage, by_tap):
    """Copy windows [batch, *output, *kernel, depth] into a matrix in the buffer `storage`."""
    pixels = math.prod(windows.shape[: 1 + rank])
    width = math.prod(windows.shape[1 + rank :])
    held = storage[: pixels * width]
    if by_tap:
        order = (*range(1 + rank, windows.ndim), *range(1 + rank))
        turned = windows.transpose(order)
        np.copyto(held.reshape(turned.shape), turned)
        return held.reshape(width, pixels).T
    np.copyto(held.reshape(windows.shape), windows)
    return held.reshape(pixels, width)

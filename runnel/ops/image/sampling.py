"""The source pixels of each pixel of a resized axis, and their weights.

A resized image is the image multiplied, along its rows and along its columns, by a sparse matrix
with few entries per row. All positions are computed in float32, as in TensorFlow: the rounding
decides which pixel is the nearest.
"""

from __future__ import annotations

import functools
import math

import numpy as np

_HALF = np.float32(0.5)
_ONE = np.float32(1.0)
_TABLE_SIZE = 1024
# The elements of a block, which fits into the cache; smaller ones release the GIL too often.
_BLOCK = 1 << 19
_FEW_CHANNELS = 8
# Below this a sum of weights is treated as zero.
_TINY = 1000 * np.finfo(np.float32).tiny


def axis_scale(size: int, output: int, align_corners: bool) -> np.float32:
    """How many pixels of the axis correspond to one pixel of the resized axis."""
    if align_corners and output > 1:
        return np.float32(size - 1) / np.float32(output - 1)
    return np.float32(size) / np.float32(output)


def _positions(size, output, align_corners, half_pixel_centers):
    places = np.arange(output, dtype=np.float32)
    scale = axis_scale(size, output, align_corners)
    if half_pixel_centers:
        return (places + _HALF) * scale - _HALF
    return places * scale


@functools.lru_cache(256)
def nearest_indices(size: int, output: int, align_corners: bool, half_pixel_centers: bool):
    """The index of the nearest pixel for each pixel of the resized axis."""
    places = np.arange(output, dtype=np.float32)
    if half_pixel_centers:
        places += _HALF
    places *= axis_scale(size, output, align_corners)
    # Halves round away from zero, unlike np.round.
    places = np.floor(places + _HALF) if align_corners else np.floor(places)
    return np.clip(places.astype(np.intp), 0, size - 1)


@functools.lru_cache(256)
def linear_taps(
    size: int, output: int, align_corners: bool, half_pixel_centers: bool, channels: int = 1
):
    """The two neighbours of each position and its fraction from the lower to the upper.

    For the values of all channels, where these are innermost.
    """
    positions = _positions(size, output, align_corners, half_pixel_centers)
    floor = np.floor(positions)
    lower = np.clip(floor.astype(np.intp), 0, size - 1)
    upper = np.clip(np.ceil(positions).astype(np.intp), 0, size - 1)
    each = np.arange(channels)
    lower, upper = ((side[:, None] * channels + each).reshape(-1) for side in (lower, upper))
    return lower, upper, np.repeat(positions - floor, channels)


def matrix_of(rows, columns, weights, shape):
    """A sparse matrix from entries given row by row."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    return csr_array((weights.astype(np.float32), columns, starts), shape=shape)


@functools.lru_cache(256)
def linear_matrix(size: int, output: int, align_corners: bool, half_pixel_centers: bool):
    """The matrix of linear interpolation."""
    lower, upper, fraction = linear_taps(size, output, align_corners, half_pixel_centers)
    rows = np.repeat(np.arange(output), 2)
    columns = np.stack([lower, upper], 1).reshape(-1)
    weights = np.stack([_ONE - fraction, fraction], 1).reshape(-1)
    return matrix_of(rows, columns, weights, (output, size))


@functools.lru_cache(2)
def _cubic_table(sharpness: float):
    """Weights of the nearer and the farther neighbour at 1025 distances in [0, 1]."""
    distance = np.arange(_TABLE_SIZE + 1, dtype=np.float32) / np.float32(_TABLE_SIZE)
    a = np.float32(sharpness)
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    distance = distance + _ONE
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return near, far


@functools.lru_cache(256)
def cubic_matrix(size: int, output: int, align_corners: bool, half_pixel_centers: bool):
    """The matrix of cubic interpolation.

    With half-pixel centers it is Keys' kernel, without the neighbours outside of the image; without
    them a sharper one, the border repeated.
    """
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    positions = _positions(size, output, align_corners, half_pixel_centers)
    floor = np.floor(positions)
    offset = np.rint((positions - floor) * np.float32(_TABLE_SIZE)).astype(np.intp)
    rest = _TABLE_SIZE - offset
    weights = np.stack([far[offset], near[offset], near[rest], far[rest]], 1)
    columns = floor.astype(np.intp)[:, None] + np.arange(-1, 3)
    bounded = np.clip(columns, 0, size - 1)
    if half_pixel_centers:
        weights = np.where(bounded == columns, weights, np.float32(0))
        weights = _normalized(weights)
    rows = np.repeat(np.arange(output), 4)
    return matrix_of(rows, bounded.reshape(-1), weights.reshape(-1), (output, size))


def _normalized(weights):
    total = weights.sum(1, keepdims=True, dtype=np.float32)
    return np.where(np.abs(total) >= _TINY, weights / total, weights)


@functools.lru_cache(256)
def area_matrix(size: int, output: int, align_corners: bool):
    """The matrix of averages over the interval that each pixel of the resized axis covers."""
    scale = axis_scale(size, output, align_corners)
    places = np.arange(output + 1, dtype=np.float32) * scale
    first, last = places[:-1, None], places[1:, None]
    start = np.floor(first).astype(np.intp)
    count = np.ceil(last).astype(np.intp) - start
    columns = start + np.arange(count.max(initial=0))
    left = columns.astype(np.float32)
    covered = np.minimum(left + _ONE, last) - np.maximum(left, first)
    inside = columns - start < count
    rows = np.nonzero(inside)[0]
    weights = covered[inside] / scale
    return matrix_of(rows, np.clip(columns[inside], 0, size - 1), weights, (output, size))


def _lanczos(radius):
    def weigh(x):
        near = np.where(x == 0, _ONE, x)
        angle = np.float32(math.pi) * near
        value = radius * np.sin(angle) * np.sin(angle / np.float32(radius)) / (angle * angle)
        # The limit where the denominator vanishes is 1.
        value = np.where(np.abs(x) <= np.float32(1e-3), _ONE, value)
        return np.where(np.abs(x) > radius, np.float32(0), value)

    return radius, weigh


def _gaussian(x):
    sigma = np.float32(0.5)
    return np.where(np.abs(x) >= 1.5, np.float32(0), np.exp(-x * x / (2 * sigma * sigma)))


def _box(x):
    x = np.abs(x)
    return np.where(x < 0.5, _ONE, np.where(x == 0.5, _HALF, np.float32(0)))


def _triangle(x):
    return np.maximum(_ONE - np.abs(x), np.float32(0))


def _keys_cubic(x):
    x = np.abs(x)
    far = ((-_HALF * x + np.float32(2.5)) * x - np.float32(4)) * x + np.float32(2)
    near = ((np.float32(1.5) * x - np.float32(2.5)) * x) * x + _ONE
    return np.where(x >= 2, np.float32(0), np.where(x >= 1, far, near))


def _mitchell_cubic(x):
    x = np.abs(x)
    far = ((-7 * x / 18 + 2) * x - np.float32(10 / 3)) * x + np.float32(16 / 9)
    near = ((7 * x / 6 - 2) * x) * x + np.float32(8 / 9)
    return np.where(x >= 2, np.float32(0), np.where(x >= 1, far, near))


# The radius of each kernel and its weights by distance.
KERNELS = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": (1.5, _gaussian),
    "box": (1, _box),
    "triangle": (1, _triangle),
    "keyscubic": (2, _keys_cubic),
    "mitchellcubic": (2, _mitchell_cubic),
}


@functools.lru_cache(256)
def kernel_matrix(
    size: int, output: int, scale: float, translation: float, kernel: str, antialias: bool
):
    """The matrix of sampling with a kernel, widened when downscaling with `antialias`."""
    radius, weigh = KERNELS[kernel]
    inverse = _ONE / np.float32(scale)
    moved = -inverse * np.float32(translation)
    width = max(inverse, _ONE) if antialias else _ONE
    reach = np.float32(radius) * width
    span = min(2 * math.ceil(reach) + 1, size)
    samples = (np.arange(output, dtype=np.float32) + _HALF) * inverse + moved
    start = np.clip(np.ceil(samples - reach - _HALF), 0, size - 1).astype(np.intp)
    end = np.clip(np.floor(samples + reach - _HALF), 0, size - 1).astype(np.intp)
    count = np.minimum(end - start + 1, span)
    # A sample outside of the image has no weights.
    count[(samples < 0) | (samples > size)] = 0
    columns = start[:, None] + np.arange(span)
    inside = columns - start[:, None] < count[:, None]
    distance = columns.astype(np.float32) + _HALF - samples[:, None]
    weights = np.where(inside, weigh(distance / width), np.float32(0)).astype(np.float32)
    weights = _normalized(weights)
    rows = np.nonzero(inside)[0]
    return matrix_of(rows, columns[inside], weights[inside], (output, size))


def interpolate(images, rows, columns):
    """Linear interpolation of images [batch, height, width, channels] between neighbours.

    The neighbours along the columns are those of all channels.
    """
    (top, bottom, down), (left, right, along) = rows, columns
    batch, height, width, channels = images.shape
    target = np.empty((batch, len(top), len(left)), np.float32)
    result = target.reshape(batch, len(top), len(left) // channels, channels)
    lines = images.reshape(batch, height, width * channels)
    # Integers have no infinities, for which the order of the two axes would matter.
    if images.dtype.kind in "iu" and len(top) <= height:
        for image, output in zip(lines, target, strict=True):
            _shrink(image, output, rows, columns)
        return result
    # Rows that no output needs are dropped before anything is computed.
    if height > 2 * len(top):
        used = np.unique(np.concatenate([top, bottom]))
        top, bottom = np.searchsorted(used, top), np.searchsorted(used, bottom)
        lines = lines[:, used]
    # One image at a time: it stays in the CPU cache.
    for image, output in zip(lines, target, strict=True):
        wide = _lerp(image.astype(np.float32, copy=False), left, right, along, 1)
        output[...] = _lerp(wide, top, bottom, down[:, None], 0)
    return result


def _shrink(image, output, rows, columns):
    """Linear interpolation, the rows first: far fewer columns then remain to be gathered."""
    top, bottom, down = rows
    left, right, along = columns
    step = max(_BLOCK // image.shape[1], 1)
    for start in range(0, len(top), step):
        part = slice(start, start + step)
        low, high = (image.take(side[part], 0, mode="clip") for side in (top, bottom))
        low, high = low.astype(np.float32), high.astype(np.float32)
        high -= low
        high *= down[part, None]
        high += low
        low = high.take(left, 1, mode="clip")
        high = high.take(right, 1, mode="clip")
        high -= low
        high *= along
        np.add(low, high, out=output[part])


def _lerp(values, lower, upper, fraction, axis):
    if not fraction.any() and len(lower) == values.shape[axis]:
        return values
    low = np.take(values, lower, axis, mode="clip")
    high = np.take(values, upper, axis, mode="clip")
    high -= low
    high *= fraction
    high += low
    return high


@functools.lru_cache(256)
def adjoint(matrix, *arguments):
    """The transpose of the matrix that one of the functions above returns for these arguments."""
    return matrix(*arguments).T.tocsr()


def multiply(images, rows, columns):
    """Multiply images by sparse matrices along their rows and columns."""
    batch, high, wide, channels = images.shape
    height, width = rows.shape[0], columns.shape[0]
    result = np.empty((batch, height, width, channels), np.float32)
    rows_first = height * wide <= high * width
    for image, output in zip(images, result, strict=True):
        if rows_first:
            image = (rows @ image.reshape(high, -1)).reshape(height, wide, channels)
        turned = np.empty((wide, len(image), channels), np.float32)
        _turn(image, turned)
        turned = (columns @ turned.reshape(wide, -1)).reshape(width, len(image), channels)
        if rows_first:
            _turn(turned, output)
            continue
        image = np.empty((high, width, channels), np.float32)
        _turn(turned, image)
        output[...] = (rows @ image.reshape(high, -1)).reshape(height, width, channels)
    return result


def _turn(image, output):
    """Write the columns of an image as the rows of another (a transposition)."""
    if image.shape[2] > _FEW_CHANNELS:
        output[...] = image.transpose(1, 0, 2)
        return
    # Loops over few channels are short: one pass over the image per channel is faster.
    for channel in range(image.shape[2]):
        output[:, :, channel] = image[:, :, channel].T

"""Colours: the range of a pixel's dtype, and colour spaces."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, bfloat16, float16, float32, float64
from ...core.errors import FailedPreconditionError
from ...core.op import op
from ...core.shape_rules import dimensions_text
from ..array.creation import ones_like, zeros_like
from ..array.joining import concat, stack
from ..array.repeating import tile
from ..array.selection import where
from ..array.shaping import ensure_shape, expand_dims, identity, shape
from ..linalg.matmul import tensordot
from ..math.arithmetic import maximum, minimum
from ..math.casting import cast, saturate_cast
from ..math.comparison import logical_and, logical_not, logical_or
from ..math.division import floordiv

_COLOURS = frozenset({float16, bfloat16, float32, float64})
# The weight of each colour in the luma (ITU-R 601).
_LUMA = (0.2989, 0.587, 0.114)


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Convert pixels to another dtype and its range: [0, 1] for floats, [0, max] for integers.

    >>> tf.image.convert_image_dtype(tf.constant([0.0, 0.5, 1.0]), tf.uint8).numpy().tolist()
    [0, 127, 255]
    """
    image = convert_to_tensor(image)
    dtype = as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError(f"dtype must be either floating point or integer, got {dtype.name}")
    if not image.dtype.is_floating and not image.dtype.is_integer:
        raise AttributeError(
            f"image dtype must be either floating point or integer, got {image.dtype.name}"
        )
    if dtype is image.dtype:
        return identity(image)
    change = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        return _between_integers(image, dtype, change)
    if image.dtype.is_floating and dtype.is_floating:
        return cast(image, dtype)
    if image.dtype.is_integer:
        return cast(image, dtype) * (1.0 / image.dtype.max)
    # The added half distributes the floats evenly over the integers.
    return change(image * (dtype.max + 0.5), dtype)


def _between_integers(image, dtype, change):
    here, there = int(image.dtype.max), int(dtype.max)
    if here > there:
        return change(floordiv(image, (here + 1) // (there + 1)), dtype)
    return change(image, dtype) * ((there + 1) // (here + 1))


def _coloured(inputs, attrs):
    size = inputs[0].shape
    if size.rank is not None and size.rank < 1:
        raise ValueError(f"input must be at least 1D, got the shape {dimensions_text(size)}")
    if size.rank and size[-1] not in (None, 3):
        raise ValueError(f"input must have 3 channels but has the shape {dimensions_text(size)}")
    return size if size.rank is None else size[:-1].concatenate([3])


def _require_colours(images):
    if images.ndim < 1:
        raise ValueError("input must be at least 1D")
    if images.shape[-1] != 3:
        raise FailedPreconditionError(
            None,
            None,
            f"input must have 3 channels but input only has {images.shape[-1]} channels.",
        )


# The pixels of a block, which fits into the cache.
_PIXELS = 1 << 15


def changed_planes(images, change, kind):
    """Images with `change` applied to their channels as separate planes of dtype `kind`.

    An innermost dimension of three channels is too short for vectorized loops.
    """
    pixels = images.reshape(-1, 3)
    result = np.empty(pixels.shape, images.dtype)
    for start in range(0, len(pixels), _PIXELS):
        part, output = pixels[start : start + _PIXELS], result[start : start + _PIXELS]
        planes = change(*(part[:, i].astype(kind) for i in range(3)))
        for i, plane in enumerate(planes):
            output[:, i] = plane
    return result.reshape(images.shape)


@op("RGBToHSV", "images: T -> output: T", T=_COLOURS, shape=_coloured)
def RGBToHSV(images):
    _require_colours(images)
    return changed_planes(images, hsv_planes, images.dtype)


def hsv_planes(red, green, blue):
    """Hue, saturation and value of planes of colours."""
    kind = red.dtype.type
    value, least, hue, is_green, is_blue = parts_of_hue(red, green, blue)
    extent = value - least
    hue *= kind(1) / (kind(6) * extent)
    hue += is_green * kind(2 / 6)
    hue += is_blue * kind(4 / 6)
    # Written so that NaN becomes 0.
    np.copyto(hue, kind(0), where=~(extent > 0))
    hue += (hue < 0) * kind(1)
    saturation = extent
    saturation /= value
    np.copyto(saturation, kind(0), where=~(value > 0))
    return hue, saturation, value


def parts_of_hue(red, green, blue):
    """The maximum and minimum of the colours, and the terms of the hue.

    These are the difference of the two colours after the maximum, in the order red, green, blue,
    red, and the masks where green and where blue is the maximum; of equal ones the first is.
    """
    value = np.maximum(np.maximum(red, green), blue)
    least = np.minimum(np.minimum(red, green), blue)
    is_red = red == value
    is_green = (green == value) & ~is_red
    difference = red - green
    _replace(difference, is_green, blue - red)
    _replace(difference, is_red, green - blue)
    return value, least, difference, is_green, ~(is_red | is_green)


def _replace(target, where, source):
    """Copy elements of `source` to `target` where an irregular mask is set.

    On the bits: loops that branch on each flag take many times as long.
    """
    bits = np.dtype(f"i{target.itemsize}")
    target, source = target.view(bits), source.view(bits)
    source ^= target
    source &= -where.astype(bits)
    target ^= source


@RGBToHSV.gradient
def _(op, grad):
    images = op.inputs[0]
    red, green, blue = (images[..., i] for i in range(3))
    by_hue, by_saturation, by_value = (grad[..., i] for i in range(3))
    zero, one = zeros_like(red), ones_like(red)
    # Of equal colours red is the maximum first, and blue the minimum.
    most = [logical_and(red >= green, red >= blue)]
    most.append(logical_and(logical_not(most[0]), green >= blue))
    most.append(logical_not(logical_or(most[0], most[1])))
    least = [logical_and(red < green, red < blue)]
    least.append(logical_and(logical_not(least[0]), green < blue))
    least.append(logical_not(logical_or(least[0], least[1])))
    value = maximum(maximum(red, green), blue)
    smallest = minimum(minimum(red, green), blue)
    extent = value - smallest
    lively, bright = extent > 0, value > 0
    safe_value = where(bright, value, one)
    safe_extent = where(lively, extent, one)
    colours = [red, green, blue]
    results = []
    for index in range(3):
        biggest = where(most[index], one, zero)
        lowest = where(least[index], one, zero)
        by_ratio = biggest * smallest / (safe_value * safe_value) - lowest / safe_value
        counted = logical_and(bright, colours[index] > 0)
        result = by_value * biggest + by_saturation * where(counted, by_ratio, zero)
        slope = _hue_slope(index, colours, most, least, safe_extent)
        results.append(result + by_hue * where(lively, slope, zero))
    return stack(results, -1)


def _hue_slope(index, colours, most, least, extent):
    """The derivative of the hue with respect to one colour.

    With the maximum at colour b the hue is (next - last) / (6 extent) + b / 3, where the colours
    are cyclic: red, green, blue, red.
    """
    slope = zeros_like(extent)
    for biggest in range(3):
        after, before = colours[(biggest + 1) % 3], colours[(biggest + 2) % 3]
        direct = {(biggest + 1) % 3: 1.0, (biggest + 2) % 3: -1.0}.get(index, 0.0)
        grows = float(index == biggest) - cast(least[index], extent.dtype)
        here = direct / (6 * extent) - (after - before) * grows / (6 * extent * extent)
        slope = where(most[biggest], here, slope)
    return slope


@op("HSVToRGB", "images: T -> output: T", T=_COLOURS, shape=_coloured, gradient=None)
def HSVToRGB(images):
    _require_colours(images)
    return changed_planes(images, rgb_planes, images.dtype)


def rgb_planes(hue, saturation, value):
    """Red, green and blue of planes of hue, saturation and value."""
    kind = hue.dtype.type
    gray = kind(1) - saturation
    return [
        (gray + saturation * part) * value for part in pure_colours(hue * kind(6), hue.dtype.type)
    ]


def pure_colours(hue, kind):
    """The red, green and blue components of a hue in [0, 6]."""
    parts = (
        np.abs(hue - kind(3)) - kind(1),
        kind(2) - np.abs(hue - kind(2)),
        kind(2) - np.abs(hue - kind(4)),
    )
    return [np.clip(part, kind(0), kind(1)) for part in parts]


def rgb_to_hsv(images, name=None):
    """Red, green and blue in [0, 1] to hue, saturation and value in [0, 1].

    >>> tf.image.rgb_to_hsv([[[1.0, 0.0, 0.0]]]).numpy().tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    return RGBToHSV(convert_to_tensor(images, dtype_hint=float32))


def hsv_to_rgb(images, name=None):
    """Hue, saturation and value in [0, 1] to red, green and blue.

    >>> tf.image.hsv_to_rgb([[[0.0, 1.0, 1.0]]]).numpy().tolist()
    [[[1.0, 0.0, 0.0]]]
    """
    return HSVToRGB(convert_to_tensor(images, dtype_hint=float32))


_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_FROM_YIQ = (
    (1, 1, 1),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_FROM_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))


def _mixed(images, matrix):
    images = convert_to_tensor(images)
    mixture = convert_to_tensor(matrix, images.dtype)
    return tensordot(images, mixture, [[images.shape.rank - 1], [0]])


def rgb_to_yiq(images):
    """Red, green and blue to luma (Y) and the two chroma components I and Q of NTSC."""
    return _mixed(images, _YIQ)


def yiq_to_rgb(images):
    """Y, I and Q of NTSC to red, green and blue."""
    return _mixed(images, _FROM_YIQ)


def rgb_to_yuv(images):
    """Red, green and blue to luma (Y) and the two chroma components U and V of PAL."""
    return _mixed(images, _YUV)


def yuv_to_rgb(images):
    """Y, U and V of PAL to red, green and blue."""
    return _mixed(images, _FROM_YUV)


def rgb_to_grayscale(images, name=None):
    """The luma of colours: 0.2989 red + 0.587 green + 0.114 blue, in one channel.

    >>> tf.image.rgb_to_grayscale(tf.constant([[[100, 100, 0]]], tf.uint8)).numpy().tolist()
    [[[88]]]
    """
    images = convert_to_tensor(images)
    floats = convert_image_dtype(images, images.dtype if images.dtype.is_floating else float32)
    weights = convert_to_tensor(_LUMA, floats.dtype)
    grey = tensordot(floats, weights, [-1, -1])
    return convert_image_dtype(expand_dims(grey, -1), images.dtype)


def grayscale_to_rgb(images, name=None):
    """The one channel of grayscale images, repeated three times.

    >>> tf.image.grayscale_to_rgb(tf.constant([[[5]]])).numpy().tolist()
    [[[5, 5, 5]]]
    """
    images = convert_to_tensor(images)
    known = images.shape.rank
    if known is not None and known and images.shape[-1] not in (None, 1):
        raise ValueError(
            f"Last dimension of a grayscale image should be size 1, got {images.shape}."
        )
    if known is None:
        once = ones_like(shape(images))
        return tile(images, concat([once[:-1], [3]], 0))
    if known < 2:
        raise ValueError(f"A grayscale image must be at least two-dimensional, got {images.shape}.")
    if images.shape[-1] is None:
        images = ensure_shape(images, [*images.shape[:-1], 1])
    return tile(images, [1] * (known - 1) + [3])

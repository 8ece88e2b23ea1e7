"""Brightness, contrast, hue, saturation and gamma of images."""

from __future__ import annotations

import numpy as np

from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32
from ...core.op import op
from ...core.shape_rules import dimensions_text
from ...core.tensor import Tensor
from ..array.shaping import shape
from ..debugging import Assert
from ..math.arithmetic import maximum
from ..math.casting import cast
from ..math.elementwise import rsqrt
from ..math.reduction import reduce_mean, reduce_prod
from ..math.statistics import reduce_std
from .colour import (
    changed_planes,
    convert_image_dtype,
    hsv_planes,
    parts_of_hue,
    pure_colours,
    rgb_planes,
)
from .orientation import images_of

_ADJUSTED = frozenset({float16, float32})


def _as_floats(image):
    """The image in the floating dtype that colours are adjusted in."""
    return convert_image_dtype(image, image.dtype if image.dtype in _ADJUSTED else float32)


def _image_like(what, channels):
    """A shape rule: the shape of the images, at least 3-D, next to a scalar."""

    def rule(inputs, attrs):
        images, number = inputs
        size = images.shape
        if size.rank is not None and size.rank < 3:
            raise ValueError(f"input must be at least 3-D, got shape{dimensions_text(size)}")
        if channels and size.rank and size[-1] not in (None, channels):
            raise ValueError(
                f"input must have {channels} channels but instead has {size[-1]} channels."
            )
        if number.shape.rank not in (None, 0):
            raise ValueError(f"{what} must be scalar: {dimensions_text(number.shape)}")
        return size

    return rule


def _check(images, number, what, channels=None):
    if images.ndim < 3:
        raise ValueError(f"input must be at least 3-D, got shape {list(images.shape)}")
    if channels and images.shape[-1] != channels:
        raise ValueError(
            f"input must have {channels} channels but instead has {images.shape[-1]} channels."
        )
    if np.ndim(number):
        raise ValueError(f"{what} must be scalar: {list(np.shape(number))}")


def _refuse_gradient(op, grad):
    raise LookupError(f"gradient registry has no entry for: {op.type}")


@op(
    "AdjustContrastv2",
    "images: T, contrast_factor: float32 -> output: T",
    T=_ADJUSTED,
    shape=_image_like("contrast_factor", None),
    gradient=_refuse_gradient,
)
def AdjustContrastv2(images, contrast_factor):
    _check(images, contrast_factor, "contrast_factor")
    if not images.size:
        return images
    height, width, channels = images.shape[-3:]
    count = np.float32(height * width)
    pixels = images.reshape(-1, height, width * channels).astype(np.float32, copy=False)
    result = np.empty_like(pixels)
    for image, output in zip(pixels, result, strict=True):
        # The mean is repeated to the length of a row: loops over channels alone are too short.
        rows = np.add.reduce(image, 0, dtype=np.float32).reshape(width, channels)
        mean = np.tile(np.add.reduce(rows, 0, dtype=np.float32) / count, width)
        np.subtract(image, mean, out=output)
        output *= contrast_factor
        output += mean
    return result.reshape(images.shape).astype(images.dtype, copy=False)


@op(
    "AdjustHue",
    "images: T, delta: float32 -> output: T",
    T=_ADJUSTED,
    shape=_image_like("delta", 3),
    gradient=_refuse_gradient,
)
def AdjustHue(images, delta):
    _check(images, delta, "delta", 3)

    def change(red, green, blue):
        value, least, hue, is_green, is_blue = parts_of_hue(red, green, blue)
        extent = value - least
        divisor = extent.copy()
        np.copyto(divisor, np.float32(1), where=~(extent > 0))
        hue /= divisor
        hue += is_green * np.float32(2)
        hue += is_blue * np.float32(4)
        hue += np.float32(6) * delta
        # Far cheaper than np.mod, which is exact for numbers of any magnitude.
        hue -= np.float32(6) * np.floor(hue * np.float32(1 / 6))
        return [part * extent + least for part in pure_colours(hue, np.float32)]

    return changed_planes(images, change, np.float32)


@op(
    "AdjustSaturation",
    "images: T, scale: float32 -> output: T",
    T=_ADJUSTED,
    shape=_image_like("scale", 3),
    gradient=_refuse_gradient,
)
def AdjustSaturation(images, scale):
    _check(images, scale, "scale", 3)

    def change(red, green, blue):
        hue, saturation, value = hsv_planes(red, green, blue)
        saturation = np.fmin(np.fmax(saturation * scale, np.float32(0)), np.float32(1))
        return rgb_planes(hue, saturation, value)

    return changed_planes(images, change, np.float32)


def adjust_brightness(image, delta):
    """Add `delta`, a part of the range of the dtype, to every pixel.

    >>> tf.image.adjust_brightness([[[1.0, 2.0]]], 0.5).numpy().tolist()
    [[[1.5, 2.5]]]
    """
    image = convert_to_tensor(image)
    floats = _as_floats(image)
    return convert_image_dtype(floats + cast(delta, floats.dtype), image.dtype, saturate=True)


def adjust_contrast(images, contrast_factor):
    """Scale every pixel's distance to its channel's mean: (x - mean) * contrast_factor + mean.

    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().ravel().tolist()
    [0.0, 4.0]
    """
    images = convert_to_tensor(images)
    factor = convert_to_tensor(contrast_factor, float32)
    adjusted = AdjustContrastv2(_as_floats(images), factor)
    return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_hue(image, delta, name=None):
    """Rotate the hue of colours by `delta`, a fraction of the colour circle in [-1, 1].

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    if state.graph is None and (delta < -1 or delta > 1):
        raise ValueError(f"delta must be in the interval [-1, 1], got {delta}")
    image = convert_to_tensor(image)
    adjusted = AdjustHue(_as_floats(image), convert_to_tensor(delta, float32))
    return convert_image_dtype(adjusted, image.dtype)


def adjust_saturation(image, saturation_factor, name=None):
    """Multiply the saturation of colours.

    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0).numpy().tolist()
    [[[1.0, 0.0, 0.0]]]
    """
    image = convert_to_tensor(image)
    factor = convert_to_tensor(saturation_factor, float32)
    return convert_image_dtype(AdjustSaturation(_as_floats(image), factor), image.dtype)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma, on pixels in [0, 1].

    >>> tf.image.adjust_gamma([[[0.25]]], gamma=0.5).numpy().tolist()
    [[[0.5]]]
    """
    image = convert_to_tensor(image)
    floats = _as_floats(image)
    message = "Gamma should be a non-negative real number."
    if isinstance(gamma, Tensor):
        Assert(gamma >= 0, [message])
    elif not gamma >= 0:
        raise ValueError(f"{message} Got {gamma}.")
    return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


def per_image_standardization(image):
    """Every image normalized to mean 0 and variance 1: (x - mean) / max(stddev, 1 / sqrt(count)).

    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel().tolist()
    [-1.0, 1.0]
    """
    image = cast(images_of(image), float32)
    axes = [-1, -2, -3]
    count = reduce_prod(shape(image)[-3:])
    # An image of one colour must not lead to a division by zero.
    least = rsqrt(cast(count, float32))
    deviation = maximum(reduce_std(image, axes, keepdims=True), least)
    return (image - reduce_mean(image, axes, keepdims=True)) / deviation

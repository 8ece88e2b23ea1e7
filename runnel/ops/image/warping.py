"""Projective transforms of images."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, convert_to_tensor
from ...core.dtypes import bfloat16, float16, float32, float64, int32, int64, uint8
from ...core.op import op
from ...core.shapes import TensorShape
from ..array.creation import ones
from ..array.joining import concat
from ..array.shaping import reshape, shape
from ..linalg.solve import inv

_WARPED = frozenset({uint8, int32, int64, float16, bfloat16, float32, float64})
_INTERPOLATIONS = ("NEAREST", "BILINEAR")
_FILL_MODES = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
# The pixels of a block, which fits into the cache.
_PIXELS = 1 << 15
# A margin of two pixels on each side: positions outside of the image have their neighbours there.
_MARGIN = 2


def _warped(inputs, attrs):
    images, transforms, output_shape, _ = inputs
    if images.shape.rank not in (None, 4):
        raise ValueError(f"images must be 4-dimensional, got the shape {images.shape}")
    if not transforms.shape.is_compatible_with([None, 8]):
        raise ValueError(f"transforms must have the shape [count, 8], got {transforms.shape}")
    batch, channels = (images.shape[0], images.shape[3]) if images.shape.rank else (None, None)
    new = TensorShape([None, None])
    if output_shape.shape.rank == 1 and output_shape.shape[0] == 2:
        new = constant_shape(output_shape)
    return TensorShape([batch, *new, channels])


@op(
    "ImageProjectiveTransformV3",
    "images: dtype, transforms: float32, output_shape: int32, fill_value: float32"
    " -> transformed_images: dtype",
    dtype=_WARPED,
    shape=_warped,
)
def ImageProjectiveTransformV3(
    images, transforms, output_shape, fill_value, *, interpolation, fill_mode="CONSTANT"
):
    _check(images, transforms, output_shape, interpolation, fill_mode)
    height, width = output_shape.tolist()
    count, channels = len(images), images.shape[3]
    result = np.empty((count, height, width, channels), images.dtype)
    warp = _nearest if interpolation == "NEAREST" else _bilinear
    fill = images.dtype.type(np.float32(fill_value))
    step = max(_PIXELS // (height * width), 1)
    for first in range(0, count, step):
        some = slice(first, first + step)
        shared = transforms if len(transforms) == 1 else transforms[some]
        planes = _Planes(images[some], fill, images.dtype if warp is _nearest else np.float32)
        high = max(_PIXELS // (planes.count * width), 1)
        for top in range(0, height, high):
            y = np.arange(top, min(top + high, height), dtype=np.float32)
            rows, columns, nowhere = _sources(shared, y, width, images.shape[1:3], fill_mode)
            part = warp(planes, rows, columns)
            if nowhere is not None and nowhere.any():
                part[np.broadcast_to(nowhere, part.shape)] = 0
            result[some, top : top + high] = part.transpose(1, 2, 3, 0)
    return result


def _check(images, transforms, output_shape, interpolation, fill_mode):
    if images.ndim != 4:
        raise ValueError(f"Input images must have rank 4, got the shape {list(images.shape)}")
    if transforms.ndim != 2 or transforms.shape[1] != 8:
        raise ValueError(
            "Input transform should be num_images x 8 or 1 x 8, got the shape "
            f"{list(transforms.shape)}"
        )
    if len(transforms) not in (1, len(images)):
        raise ValueError(
            f"Input transform should be num_images x 8 or 1 x 8: there are {len(images)} images "
            f"and {len(transforms)} transforms"
        )
    if output_shape.shape != (2,):
        raise ValueError("output shape must be 1-dimensional with two elements (height, width)")
    if min(output_shape.tolist()) <= 0:
        raise ValueError(f"new dimensions must be positive, got {output_shape.tolist()}")
    if interpolation not in _INTERPOLATIONS:
        raise ValueError(f"Invalid interpolation {interpolation}: expected NEAREST or BILINEAR")
    if fill_mode not in _FILL_MODES:
        raise ValueError(f"Invalid mode {fill_mode}. Supported types: {', '.join(_FILL_MODES)}")


def _sources(transforms, y, width, image_size, fill_mode):
    """The source position of each pixel of rows `y`, and which have none."""
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.T[:, :, None, None]
    y, x = y[:, None], np.arange(width, dtype=np.float32)
    columns = a0 * x + a1 * y
    columns += a2
    rows = b0 * x + b1 * y
    rows += b2
    nowhere = None
    if c0.any() or c1.any():
        projection = c0 * x + c1 * y + np.float32(1)
        nowhere = projection == 0
        columns /= projection
        rows /= projection
    rows = _mapped(rows, image_size[0], fill_mode)
    return rows, _mapped(columns, image_size[1], fill_mode), nowhere


def _mapped(place, size, fill_mode):
    """Positions outside of the image mapped into it, in place; unchanged for CONSTANT."""
    if fill_mode == "CONSTANT":
        return place
    length = np.float32(size)
    last = length - np.float32(1)
    if fill_mode != "NEAREST" and size > 1:
        flat = place.reshape(-1)
        outside = np.flatnonzero((flat < 0) | (flat > last))
        # Few positions are outside, as a rule.
        flat[outside] = _brought_back(flat[outside], length, last, fill_mode)
    return np.clip(place, np.float32(0), last)


def _brought_back(place, length, last, fill_mode):
    """Positions outside of [0, last], mapped into it by reflection or by wrapping."""
    if fill_mode == "REFLECT":
        period = 2 * length
        left = period * np.trunc(-place / period) + place
        left = np.where(left < -length, left + period, -left - np.float32(1))
        right = place - period * np.trunc(place / period)
        right = np.where(right >= length, period - right - np.float32(1), right)
    else:
        left = place + length * (np.trunc(-place / last) + np.float32(1))
        right = place - length * np.trunc(place / last)
    return np.where(place < 0, left, right)


def _away(values):
    """Rounding with halves away from zero."""
    return np.trunc(values + np.copysign(np.float32(0.5), values))


class _Planes:
    """The channels of images as separate planes, with a margin of the fill value."""

    def __init__(self, images, fill, dtype):
        self.count, *self.size, channels = images.shape
        high, self.wide = (size + 2 * _MARGIN for size in self.size)
        planes = np.full((channels, self.count, high, self.wide), fill, dtype)
        inner = slice(_MARGIN, -_MARGIN)
        planes[:, :, inner, inner] = images.transpose(3, 0, 1, 2)
        self.flat = planes.reshape(channels, -1)
        self.starts = np.arange(self.count)[:, None, None] * (high * self.wide)

    def index(self, rows, columns):
        """The flat indices of pixels at integer positions, those far outside in the margin."""
        rows, columns = (
            # A NaN position counts as outside.
            np.fmin(np.fmax(places, np.float32(-_MARGIN)), np.float32(size)).astype(np.intp)
            for places, size in zip((rows, columns), self.size, strict=True)
        )
        rows *= self.wide
        rows += columns
        rows += _MARGIN * self.wide + _MARGIN
        return rows + self.starts


def _nearest(planes, rows, columns):
    index = planes.index(_away(rows), _away(columns))
    return planes.flat.take(index, 1, mode="clip")


def _bilinear(planes, rows, columns):
    top, left = np.floor(rows), np.floor(columns)
    down, along = rows - top, columns - left
    one = np.float32(1)
    up, back = (top + one) - rows, (left + one) - columns
    index = planes.index(top, left)
    result = np.empty((len(planes.flat), *index.shape), np.float32)
    lower, other = np.empty(index.shape, np.float32), np.empty(index.shape, np.float32)
    for plane, upper in zip(planes.flat, result, strict=True):
        for line, start in ((upper, 0), (lower, planes.wide)):
            plane[start:].take(index, out=line, mode="clip")
            plane[start + 1 :].take(index, out=other, mode="clip")
            line *= back
            other *= along
            line += other
        upper *= up
        lower *= down
        upper += lower
    return result


@ImageProjectiveTransformV3.gradient
def _(op, grad):
    images, transforms = op.inputs[:2]
    if not images.dtype.is_floating:
        return None, None, None, None
    size = shape(images)[1:3]
    backwards = ImageProjectiveTransformV3(
        grad, _inverted(transforms), size, convert_to_tensor(0.0), **op.attrs
    )
    return backwards, None, None, None


def _inverted(transforms):
    """The inverse transforms."""
    count = shape(transforms)[0]
    matrices = inv(reshape(concat([transforms, ones([count, 1])], 1), [-1, 3, 3]))
    flat = reshape(matrices, [-1, 9])
    return (flat / flat[:, 8:9])[:, :8]

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
    result = np.empty((len(images), height, width, images.shape[3]), images.dtype)
    fill = np.float32(fill_value)
    warp = _nearest if interpolation == "NEAREST" else _bilinear
    shared = None
    for index, image in enumerate(images):
        if index < len(transforms):
            shared = _sources(transforms[index], (height, width), image.shape[:2], fill_mode)
        result[index] = warp(image, *shared, fill)
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


def _sources(transform, size, image_size, fill_mode):
    """Where in the image each pixel comes from: rows, columns, and which come from nowhere."""
    a0, a1, a2, b0, b1, b2, c0, c1 = transform
    y = np.arange(size[0], dtype=np.float32)[:, None]
    x = np.arange(size[1], dtype=np.float32)
    projection = c0 * x + c1 * y + np.float32(1)
    nowhere = projection == 0 if c0 or c1 else None
    columns = (a0 * x + a1 * y + a2) / projection
    rows = (b0 * x + b1 * y + b2) / projection
    rows = _mapped(rows, image_size[0], fill_mode)
    return rows, _mapped(columns, image_size[1], fill_mode), nowhere


def _mapped(place, size, fill_mode):
    """Places outside the image brought into it; for CONSTANT they stay where they are."""
    if fill_mode == "CONSTANT":
        return place
    length = np.float32(size)
    last = length - np.float32(1)
    if fill_mode != "NEAREST" and size > 1:
        below, above = place < 0, place > last
        if fill_mode == "REFLECT":
            period = 2 * length
            left = period * np.trunc(-place / period) + place
            left = np.where(left < -length, left + period, -left - np.float32(1))
            right = place - period * np.trunc(place / period)
            right = np.where(right >= length, period - right - np.float32(1), right)
        else:
            left = place + length * (np.trunc(-place / last) + np.float32(1))
            right = place - length * np.trunc(place / last)
        place = np.where(below, left, np.where(above, right, place))
    return np.clip(place, np.float32(0), last)


def _away(values):
    """Rounding with halves away from zero."""
    return np.trunc(values + np.copysign(np.float32(0.5), values))


def _nearest(image, rows, columns, nowhere, fill):
    result = _read(image, _away(rows), _away(columns), image.dtype.type(fill))
    if nowhere is not None and nowhere.any():
        result[nowhere] = 0
    return result


def _bilinear(image, rows, columns, nowhere, fill):
    top, left = np.floor(rows), np.floor(columns)
    down, along = (rows - top)[..., None], (columns - left)[..., None]
    one = np.float32(1)
    bottom, right = top + one, left + one
    up, back = (bottom - rows)[..., None], (right - columns)[..., None]
    values = image if image.dtype == np.float32 else image.astype(np.float32)
    fill = np.float32(image.dtype.type(fill))
    upper = back * _read(values, top, left, fill)
    upper += along * _read(values, top, right, fill)
    lower = back * _read(values, bottom, left, fill)
    lower += along * _read(values, bottom, right, fill)
    upper *= up
    lower *= down
    upper += lower
    if nowhere is not None and nowhere.any():
        upper[nowhere] = 0
    return upper.astype(image.dtype)


def _read(image, rows, columns, fill):
    """The pixels at whole places; `fill` outside the image."""
    height, width, channels = image.shape
    # Written so that a place which is not a number counts as outside.
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    rows = np.where(inside, rows, 0).astype(np.intp)
    rows *= width
    rows += np.where(inside, columns, 0).astype(np.intp)
    result = np.take(image.reshape(-1, channels), rows, 0, mode="clip")
    if not inside.all():
        result[~inside] = fill
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
    """The transforms that lead back."""
    count = shape(transforms)[0]
    matrices = inv(reshape(concat([transforms, ones([count, 1])], 1), [-1, 3, 3]))
    flat = reshape(matrices, [-1, 9])
    return (flat / flat[:, 8:9])[:, :8]

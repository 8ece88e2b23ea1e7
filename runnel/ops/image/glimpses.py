"""Glimpses: windows of images around given positions."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, convert_to_tensor
from ...core.dtypes import float32, int32
from ...core.op import op
from ...core.shapes import TensorShape


def _glimpsed(inputs, attrs):
    images, size, offsets = inputs
    if images.shape.rank not in (None, 4):
        raise ValueError(f"input must be 4-dimensional, got the shape {images.shape}")
    if offsets.shape.rank not in (None, 2):
        raise ValueError(f"offsets must be a matrix, got the shape {offsets.shape}")
    batch, channels = (images.shape[0], images.shape[3]) if images.shape.rank else (None, None)
    if batch is None and offsets.shape.rank:
        batch = offsets.shape[0]
    new = constant_shape(size) if size.shape.rank == 1 else TensorShape([None, None])
    new = new if new.rank == 2 else TensorShape([None, None])
    return TensorShape([batch, *new, channels])


def _refuse_gradient(op, grad):
    raise LookupError(f"gradient registry has no entry for: {op.type}")


@op(
    "ExtractGlimpseV2",
    "input: float32, size: int32, offsets: float32 -> glimpse: float32",
    shape=_glimpsed,
    gradient=_refuse_gradient,
)
def ExtractGlimpseV2(
    input, size, offsets, *, centered=True, normalized=True, uniform_noise=True, noise="uniform"
):
    _check(input, size, offsets, noise)
    height, width = size.tolist()
    high, wide = input.shape[1:3]
    result = np.empty((len(input), height, width, input.shape[3]), np.float32)
    places = offsets * np.array([high, wide], np.float32) if normalized else offsets
    if centered:
        middle = np.array([high, wide], np.float32) / np.float32(2)
        places = (places / np.float32(2) if normalized else places) + middle
        if normalized:
            places = places - np.array([height, width], np.float32) / np.float32(2)
    starts = np.trunc(places).astype(np.int64).tolist()
    for image, output, (top, left) in zip(input, result, starts, strict=True):
        rows = slice(max(top, 0), max(min(top + height, high), 0))
        columns = slice(max(left, 0), max(min(left + width, wide), 0))
        seen = image[rows, columns]
        if seen.shape[:2] != (height, width):
            _fill(output, image, noise)
        if seen.size:
            down, along = rows.start - top, columns.start - left
            output[down : down + seen.shape[0], along : along + seen.shape[1]] = seen
    return result


def _check(input, size, offsets, noise):
    if input.ndim != 4:
        raise ValueError(f"input must be 4-dimensional, got the shape {list(input.shape)}")
    if size.shape != (2,):
        raise ValueError(f"input must be a vector of size 2 (height, width), got {size.shape}")
    if offsets.ndim != 2:
        raise ValueError(f"input must be a matrix, got the shape {list(offsets.shape)}")
    if len(offsets) != len(input):
        raise ValueError(f"first dimension should be batch, got the shape {list(offsets.shape)}")
    if offsets.shape[1] != 2:
        raise ValueError(f"second dimension should be of size 2 (y,x), got {list(offsets.shape)}")
    if noise not in ("uniform", "gaussian", "zero"):
        raise ValueError(f"The noise could only be uniform, gaussian, or zero, got {noise!r}")


def _fill(output, image, noise):
    """The fill value outside an image: zeros, or noise between its smallest and largest value."""
    if noise == "zero":
        output[...] = 0
        return
    low, high = image.min(), image.max()
    generator = np.random.default_rng()
    if noise == "uniform":
        output[...] = generator.random(output.shape, np.float32) * (high - low) + low
    else:
        drawn = generator.standard_normal(output.shape, np.float32) * image.std() + image.mean()
        output[...] = np.clip(drawn, low, high)


def extract_glimpse(
    input, size, offsets, centered=True, normalized=True, noise="uniform", name=None
):
    """A window of `size` from each image at its offset; noise outside of the image.

    Offsets are in [-1, 1] around the center: `normalized` as fractions of the image's size,
    `centered` as distances from its center.

    >>> images = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.extract_glimpse(images, [2, 2], [[1, 1]], centered=False, normalized=False,
    ...                          noise="zero").numpy().ravel().tolist()
    [4.0, 5.0, 7.0, 8.0]
    """
    return ExtractGlimpseV2(
        convert_to_tensor(input, float32),
        convert_to_tensor(size, int32),
        convert_to_tensor(offsets, float32),
        centered=bool(centered),
        normalized=bool(normalized),
        uniform_noise=False,
        noise=noise,
    )

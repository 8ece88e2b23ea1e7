"""Image sizes: cropping and resizing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf

METHODS = (
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
)


def method_of(interpolation: str) -> str:
    """The interpolation name in the spelling of tf.image.resize."""
    method = str(interpolation).lower()
    if method not in METHODS:
        raise NotImplementedError(
            f"Value not recognized for `interpolation`: {interpolation}. Supported values are: "
            f"{list(METHODS)}"
        )
    return method


def height_and_width(images: Any) -> tuple[Any, Any]:
    """Height and width of an image or a batch: integers, or tensors where unknown."""
    rank = images.shape.rank
    if rank is not None and rank < 3:
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            "Expected an image of shape (height, width, channels) or a batch of them. Received "
            f"the shape {tuple(images.shape)}.",
        )
    actual = None
    sizes = []
    for axis in (-3, -2):
        size = images.shape[axis] if rank is not None else None
        if size is None:
            actual = tf.shape(images) if actual is None else actual
            size = actual[axis]
        sizes.append(size)
    return sizes[0], sizes[1]


def cut(images: Any, top: Any, left: Any, height: Any, width: Any) -> Any:
    """A crop of images."""
    part = images[..., top : top + height, left : left + width, :]
    known = [size if isinstance(size, int) else None for size in (height, width)]
    part.set_shape([*images.shape[:-3], *known, images.shape[-1]])
    return part


def resize_without_distortion(images: Any, height: int, width: int, interpolation: str) -> Any:
    """The largest center crop with the aspect ratio of height and width, resized."""
    part = cut(images, *_middle(images, height, width))
    return tf.image.resize(part, (height, width), method=method_of(interpolation))


def _middle(images: Any, height: int, width: int) -> tuple[Any, Any, Any, Any]:
    old_height, old_width = height_and_width(images)
    cut_height = _least(old_height, _share(old_width * height, width))
    cut_width = _least(old_width, _share(old_height * width, height))
    top, left = (old_height - cut_height) // 2, (old_width - cut_width) // 2
    return top, left, cut_height, cut_width


def _share(number: Any, divisor: int) -> Any:
    # In float32 whether the sizes are static or not, so that both give the same.
    if isinstance(number, int):
        return int(np.float32(number) / np.float32(divisor))
    return tf.cast(tf.cast(number, tf.float32) / divisor, tf.int32)


def _least(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    return tf.minimum(one, other)


def cut_or_resize(
    images: Any, height: int, width: int, place: Callable[[Any, Any], tuple[Any, Any]]
) -> Any:
    """A crop of images of some size; smaller images are resized at their aspect ratio.

    `place` returns the top and left of the crop from the excess height and width of the images.
    """
    old_height, old_width = height_and_width(images)
    tall, wide = old_height - height, old_width - width
    if isinstance(tall, int) and isinstance(wide, int):
        if tall >= 0 and wide >= 0:
            return cut(images, *place(tall, wide), height, width)
        resized = resize_without_distortion(images, height, width, "bilinear")
        return tf.cast(resized, images.dtype)
    # With unknown sizes either crop is resized: resizing a crop of the right size is a no-op.
    enough = tf.logical_and(tall >= 0, wide >= 0)
    wanted = (*place(tf.maximum(tall, 0), tf.maximum(wide, 0)), height, width)
    box = [
        tf.where(enough, one, other)
        for one, other in zip(wanted, _middle(images, height, width), strict=True)
    ]
    resized = tf.image.resize(cut(images, *box), (height, width))
    return tf.cast(resized, images.dtype)


def sized_shape(input_shape: Any, height: int | None, width: int | None) -> tf.TensorShape:
    """The shape of images with their height and width replaced."""
    sizes = tf.TensorShape(input_shape).as_list()
    sizes[-3:-1] = [height, width]
    return tf.TensorShape(sizes)

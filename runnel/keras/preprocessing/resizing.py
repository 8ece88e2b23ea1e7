"""Resizing of images at their aspect ratio."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf


def smart_resize(x: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """Take the largest center crop with the aspect ratio of `size`, and resize it.

    >>> tf.keras.preprocessing.image.smart_resize(tf.ones([40, 20, 3]), (10, 10)).shape
    TensorShape([10, 10, 3])

    Args:
      x: Channels-last images, an array or a tensor; a batch or one image.
      size: Target height and width.
      interpolation: A method of `tf.image.resize`.
    """
    if len(size) != 2:
        raise ValueError(f"Expected `size` to be a tuple of 2 integers, but got: {size}.")
    images = tf.convert_to_tensor(x)
    if images.shape.rank not in (3, 4):
        raise ValueError(
            "Expected an image array with shape `(height, width, channels)`, or `(batch_size, "
            f"height, width, channels)`, but got input with incorrect rank, of shape "
            f"{images.shape}."
        )
    start, part = _middle(images, size)
    if images.shape.rank == 4:
        images = images[:, start[0] : start[0] + part[0], start[1] : start[1] + part[1]]
    else:
        images = images[start[0] : start[0] + part[0], start[1] : start[1] + part[1]]
    resized = tf.image.resize(images, size=size, method=interpolation)
    return resized.numpy() if isinstance(x, np.ndarray) else resized


def _middle(images: Any, size: Any) -> tuple[list[Any], list[Any]]:
    """The offset and size of the center crop: numbers, or tensors."""
    shape = tf.shape(images)
    sizes = [shape[axis] if images.shape[axis] is None else images.shape[axis] for axis in (-3, -2)]
    known = all(isinstance(each, int) for each in sizes)
    part = []
    for index in (0, 1):
        fitting = sizes[1 - index] * size[index] / size[1 - index]
        if known:
            part.append(min(sizes[index], int(fitting)))
        else:
            part.append(tf.minimum(sizes[index], tf.cast(fitting, tf.int32)))
    start = [(whole - each) // 2 for whole, each in zip(sizes, part, strict=True)]
    return start, part

"""Values between pixels, for images made larger by whole factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import runnel as tf


def interpolated(inputs: Any, factor: int, axis: int, kind: str) -> Any:
    """`factor` values for each along an axis; a pixel's value is that of its centre, at ½."""
    if factor == 1 and kind not in _BLURRING:
        return inputs
    length = inputs.shape[axis]
    count = tf.shape(inputs)[axis] if length is None else length
    steps = tf.cast(tf.range(count * factor), tf.float32)
    places = (steps + 0.5) / factor - 0.5
    if kind == "bilinear":
        return _between_neighbours(inputs, places, count, axis)
    return _weighted(inputs, places, count, axis, _KERNELS[kind])


def _between_neighbours(inputs: Any, places: Any, count: Any, axis: int) -> Any:
    below = tf.floor(places)
    share = tf.reshape(
        tf.cast(places - below, inputs.dtype), [-1] + [1] * (inputs.shape.rank - axis - 1)
    )
    below = tf.cast(below, tf.int32)
    lower = tf.gather(inputs, tf.maximum(below, 0), axis=axis)
    upper = tf.gather(inputs, tf.minimum(below + 1, count - 1), axis=axis)
    return lower + (upper - lower) * share


def _weighted(inputs: Any, places: Any, count: Any, axis: int, kernel: Callable) -> Any:
    """Sums of all pixels, weighted by a function of their distance; the weights add up to 1."""
    pixels = tf.cast(tf.range(count), tf.float32)
    weights = kernel(tf.abs(places[:, tf.newaxis] - pixels))
    weights = tf.cast(weights / tf.reduce_sum(weights, axis=1, keepdims=True), inputs.dtype)
    letters = "abcdefgh"[: inputs.shape.rank]
    result = letters.replace(letters[axis], "z")
    return tf.einsum(f"{letters},z{letters[axis]}->{result}", inputs, weights)


def _cubic(distance: Any, b: float, c: float) -> Any:
    """The cubic filters of Mitchell and Netravali."""
    squared = distance * distance
    cubed = squared * distance
    near = (12 - 9 * b - 6 * c) * cubed + (-18 + 12 * b + 6 * c) * squared + (6 - 2 * b)
    far = (
        (-b - 6 * c) * cubed
        + (6 * b + 30 * c) * squared
        + (-12 * b - 48 * c) * distance
        + (8 * b + 24 * c)
    )
    outside = tf.zeros_like(distance)
    return tf.where(distance < 1, near, tf.where(distance < 2, far, outside)) / 6


def _bicubic(distance: Any) -> Any:
    # The original looks the weights up in a table of 1024 places between two pixels.
    return _cubic(tf.round(distance * 1024) / 1024, 0.0, 0.5)


def _mitchell(distance: Any) -> Any:
    return _cubic(distance, 1 / 3, 1 / 3)


def _lanczos(radius: int) -> Callable:
    def kernel(distance: Any) -> Any:
        angle = math.pi * tf.maximum(distance, 1e-3)
        value = radius * tf.sin(angle) * tf.sin(angle / radius) / (angle * angle)
        value = tf.where(distance <= 1e-3, tf.ones_like(value), value)
        return tf.where(distance > radius, tf.zeros_like(value), value)

    return kernel


def _gaussian(distance: Any) -> Any:
    value = tf.exp(-2.0 * distance * distance)
    return tf.where(distance < 1.5, value, tf.zeros_like(value))


# Kernels that change pixels even at their own places.
_BLURRING = ("gaussian", "mitchellcubic")
_KERNELS: dict[str, Callable] = {
    "bicubic": _bicubic,
    "gaussian": _gaussian,
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "mitchellcubic": _mitchell,
}

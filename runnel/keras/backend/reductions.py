"""Reductions along axes."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .settings import floatx


def sum(x, axis=None, keepdims=False):
    """The sum along axes.

    >>> tf.keras.backend.sum(tf.constant([[1.0, 2.0], [3.0, 4.0]]), axis=0).numpy()
    array([4., 6.], dtype=float32)
    """
    return tf.reduce_sum(x, axis, keepdims)


def prod(x, axis=None, keepdims=False):
    """The product along axes."""
    return tf.reduce_prod(x, axis, keepdims)


def max(x, axis=None, keepdims=False):
    """The maximum along axes."""
    return tf.reduce_max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    """The minimum along axes."""
    return tf.reduce_min(x, axis, keepdims)


def _numbers(x: Any) -> tf.Tensor:
    x = tf.convert_to_tensor(x)
    return tf.cast(x, floatx()) if x.dtype is tf.bool else x


def mean(x, axis=None, keepdims=False):
    """The mean along axes; for booleans the fraction that is true.

    >>> tf.keras.backend.mean(tf.constant([True, False])).numpy().item()
    0.5
    """
    return tf.reduce_mean(_numbers(x), axis, keepdims)


def var(x, axis=None, keepdims=False):
    """The variance along axes."""
    return tf.math.reduce_variance(_numbers(x), axis, keepdims)


def std(x, axis=None, keepdims=False):
    """The standard deviation along axes."""
    return tf.math.reduce_std(_numbers(x), axis, keepdims)


def any(x, axis=None, keepdims=False):
    """Logical or along axes; nonzero is true."""
    return tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims)


def all(x, axis=None, keepdims=False):
    """Logical and along axes; nonzero is true."""
    return tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims)


def argmax(x, axis=-1):
    """The index of the maximum along an axis."""
    return tf.argmax(x, axis)


def argmin(x, axis=-1):
    """The index of the minimum along an axis."""
    return tf.argmin(x, axis)


def cumsum(x, axis=0):
    """The cumulative sum along an axis."""
    return tf.cumsum(x, axis)


def cumprod(x, axis=0):
    """The cumulative product along an axis."""
    return tf.math.cumprod(x, axis)


def l2_normalize(x, axis=None):
    """x divided by its L2 norm along axes.

    >>> tf.keras.backend.l2_normalize(tf.constant([3.0, 4.0])).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    return tf.math.l2_normalize(x, axis)


def in_top_k(predictions, targets, k):
    """Whether the target of each row is among its `k` highest predictions."""
    return tf.math.in_top_k(targets, predictions, k)

"""Element-wise functions: roots, powers, comparisons, activations."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.convert import convert_to_tensor


def with_logits(probabilities: Any, logits: Any) -> Any:
    """Attach the logits to a result of sigmoid or softmax.

    Cross-entropies are computed from the logits where available: for probabilities rounded to 0 or
    1 the logarithm and its gradient are lost.
    """
    probabilities._keras_logits = logits
    return probabilities


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """max(x, 0), or more generally

        max_value               for x >= max_value
        x                       for threshold <= x < max_value
        alpha * (x - threshold) otherwise

    >>> tf.keras.activations.relu(tf.constant([-2.0, 1.0, 9.0]), alpha=0.5, max_value=6).numpy()
    array([-1.,  1.,  6.], dtype=float32)
    """
    if max_value is None and threshold == 0:
        return tf.nn.leaky_relu(x, alpha) if alpha != 0.0 else tf.nn.relu(x)
    x = convert_to_tensor(x)
    below = tf.nn.relu(threshold - x if threshold != 0 else -x) if alpha != 0.0 else None
    if threshold != 0:
        x = x * tf.cast(x > threshold, x.dtype)
    elif max_value == 6:
        x, max_value = tf.nn.relu6(x), None
    else:
        x = tf.nn.relu(x)
    if max_value is not None:
        x = tf.clip_by_value(x, tf.cast(0, x.dtype), tf.cast(max_value, x.dtype))
    return x if below is None else x - alpha * below


def elu(x, alpha=1.0):
    """x for x > 0, alpha * (exp(x) - 1) otherwise.

    >>> tf.keras.activations.elu(tf.constant([-20.0, 3.0]), alpha=2.0).numpy()
    array([-2.,  3.], dtype=float32)
    """
    x = convert_to_tensor(x)
    result = tf.nn.elu(x)
    return result if alpha == 1 else tf.where(x > 0, result, alpha * result)


def sigmoid(x):
    """1 / (1 + exp(-x))

    >>> tf.keras.activations.sigmoid(tf.constant([0.0])).numpy()
    array([0.5], dtype=float32)
    """
    return with_logits(tf.sigmoid(x), x)


def hard_sigmoid(x):
    """0.2 * x + 0.5, clipped to [0, 1]: a piecewise linear approximation of sigmoid.

    >>> tf.keras.activations.hard_sigmoid(tf.constant([-3.0, 0.0, 1.0])).numpy()
    array([0. , 0.5, 0.7], dtype=float32)
    """
    x = convert_to_tensor(x)
    return tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def softplus(x):
    """log(1 + exp(x))

    >>> tf.keras.activations.softplus(tf.constant([0.0])).numpy()
    array([0.6931472], dtype=float32)
    """
    return tf.nn.softplus(x)


def softsign(x):
    """x / (1 + |x|)

    >>> tf.keras.activations.softsign(tf.constant([1.0])).numpy()
    array([0.5], dtype=float32)
    """
    return tf.nn.softsign(x)


def tanh(x):
    """The hyperbolic tangent.

    >>> tf.keras.activations.tanh(tf.constant([0.0])).numpy()
    array([0.], dtype=float32)
    """
    return tf.tanh(x)


def softmax(x, axis=-1):
    """exp(x) / sum(exp(x)) along `axis`: probabilities that sum to 1.

    >>> tf.keras.activations.softmax(tf.constant([[0.0, 0.0]])).numpy().tolist()
    [[0.5, 0.5]]
    """
    x = convert_to_tensor(x)
    rank = x.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(
            f"Cannot apply softmax to a tensor that is {rank}D: the first axis holds the batch. "
            f"Received input: {x}"
        )
    if isinstance(axis, int):
        return with_logits(tf.nn.softmax(x, axis), x)
    exponentials = tf.exp(x - tf.reduce_max(x, axis, keepdims=True))
    return with_logits(exponentials / tf.reduce_sum(exponentials, axis, keepdims=True), x)


def abs(x):
    """|x|"""
    return tf.abs(x)


def square(x):
    """x²"""
    return tf.square(x)


def sqrt(x):
    """The square root; 0 for negative numbers.

    >>> tf.keras.backend.sqrt(tf.constant([4.0, -1.0])).numpy()
    array([2., 0.], dtype=float32)
    """
    x = convert_to_tensor(x)
    return tf.sqrt(tf.maximum(x, tf.constant(0, x.dtype)))


def exp(x):
    """The exponential function."""
    return tf.exp(x)


def log(x):
    """The natural logarithm."""
    return tf.math.log(x)


def round(x):
    """The nearest integer; ties round to even."""
    return tf.round(x)


def sign(x):
    """-1, 0 or 1."""
    return tf.sign(x)


def pow(x, a):
    """x to the power of a, element-wise."""
    return tf.pow(x, a)


def sin(x):
    """The sine."""
    return tf.sin(x)


def cos(x):
    """The cosine."""
    return tf.cos(x)


def clip(x, min_value, max_value):
    """x clipped to two bounds; None means no bound.

    >>> tf.keras.backend.clip(tf.constant([-2.0, 0.5, 2.0]), 0.0, 1.0).numpy()
    array([0. , 0.5, 1. ], dtype=float32)
    """
    numbers = isinstance(min_value, int | float) and isinstance(max_value, int | float)
    if numbers and max_value < min_value:
        max_value = min_value
    low = float("-inf") if min_value is None else min_value
    high = float("inf") if max_value is None else max_value
    return tf.clip_by_value(x, low, high)


def equal(x, y):
    """x == y, element-wise."""
    return tf.equal(x, y)


def not_equal(x, y):
    """x != y, element-wise."""
    return tf.not_equal(x, y)


def greater(x, y):
    """x > y, element-wise."""
    return tf.greater(x, y)


def greater_equal(x, y):
    """x >= y, element-wise."""
    return tf.greater_equal(x, y)


def less(x, y):
    """x < y, element-wise."""
    return tf.less(x, y)


def less_equal(x, y):
    """x <= y, element-wise."""
    return tf.less_equal(x, y)


def maximum(x, y):
    """The element-wise maximum."""
    return tf.maximum(x, y)


def minimum(x, y):
    """The element-wise minimum."""
    return tf.minimum(x, y)

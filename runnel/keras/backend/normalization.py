"""Batch normalization and moving averages."""

from __future__ import annotations

import runnel as tf


def normalize_batch_in_training(x, gamma, beta, reduction_axes, epsilon=1e-3):
    """A batch standardized to mean 0 and variance 1 along axes, with its mean and variance.

    `gamma` and `beta`, if not None, scale and shift the result.

    >>> normed, mean, var = tf.keras.backend.normalize_batch_in_training(
    ...     tf.constant([[1.0], [3.0]]), None, None, [0], epsilon=0.0)
    >>> normed.numpy().tolist(), mean.numpy().tolist(), var.numpy().tolist()
    ([[-1.0], [1.0]], [2.0], [1.0])
    """
    x = tf.convert_to_tensor(x)
    mean, variance = tf.nn.moments(x, reduction_axes)
    sizes = tf.shape(x)
    reduced = {axis % x.shape.rank for axis in reduction_axes}
    shape = [1 if axis in reduced else sizes[axis] for axis in range(x.shape.rank)]

    def spread(values):
        return None if values is None else tf.reshape(values, shape)

    normed = tf.nn.batch_normalization(
        x, spread(mean), spread(variance), spread(beta), spread(gamma), epsilon
    )
    if x.shape.rank == 4 and list(reduction_axes) == [0, 1, 2]:
        # For images the original returns the unbiased variance: divided by n - 1.
        count = tf.cast(tf.reduce_prod(sizes[:3]), x.dtype)
        variance *= count / tf.maximum(count - 1.0, 1.0)
    return normed, mean, variance


def batch_normalization(x, mean, var, beta, gamma, axis=-1, epsilon=1e-3):
    """gamma * (x - mean) / sqrt(var + epsilon) + beta; the channel axis of images is `axis`."""
    x = tf.convert_to_tensor(x)
    if x.shape.rank == 4 and axis in (1, -3):
        mean, var, beta, gamma = (
            None if value is None else tf.reshape(value, [1, -1, 1, 1])
            for value in (mean, var, beta, gamma)
        )
    elif x.shape.rank == 4:
        mean, var, beta, gamma = (
            None if value is None else tf.reshape(value, [-1]) for value in (mean, var, beta, gamma)
        )
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


def moving_average_update(x, value, momentum):
    """Update a variable to momentum * x + (1 - momentum) * value.

    >>> average = tf.Variable(0.0)
    >>> tf.keras.backend.moving_average_update(average, 10.0, momentum=0.75).numpy().item()
    2.5
    """
    momentum = tf.cast(momentum, x.dtype)
    return x.assign_sub((x - tf.cast(value, x.dtype)) * (1.0 - momentum))

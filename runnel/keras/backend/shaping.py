"""Data movement: reshaping, concatenation, padding, gather."""

from __future__ import annotations

import math

import runnel as tf

from .settings import checked_data_format, resolved_data_format


def reshape(x, shape):
    """Reshape without changing the order of elements."""
    return tf.reshape(x, shape)


def flatten(x):
    """Flatten to a vector."""
    return tf.reshape(x, [-1])


def batch_flatten(x):
    """Flatten each sample to a vector.

    >>> tf.keras.backend.batch_flatten(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """
    x = tf.convert_to_tensor(x)
    sizes = x.shape[1:].as_list() if x.shape.rank is not None else [None]
    if None in sizes:
        return tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])])
    return tf.reshape(x, [-1, math.prod(sizes)])


def transpose(x):
    """The axes in reverse order."""
    return tf.transpose(x)


def permute_dimensions(x, pattern):
    """Transpose to another order of axes."""
    return tf.transpose(x, pattern)


def expand_dims(x, axis=-1):
    """Insert an axis of size 1."""
    return tf.expand_dims(x, axis)


def squeeze(x, axis):
    """Remove an axis of size 1."""
    return tf.squeeze(x, [axis])


def concatenate(tensors, axis=-1):
    """Concatenate tensors along an axis.

    >>> tf.keras.backend.concatenate([tf.ones([2, 1]), tf.zeros([2, 2])]).shape
    TensorShape([2, 3])
    """
    return tf.concat(tensors, axis)


def stack(x, axis=0):
    """Stack tensors along a new axis."""
    return tf.stack(x, axis)


def reverse(x, axes):
    """The elements in reverse order along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def tile(x, n):
    """x repeated n times along each axis."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def repeat(x, n):
    """Repeat each row n times along a new second axis.

    >>> tf.keras.backend.repeat(tf.ones([2, 3]), 4).shape
    TensorShape([2, 4, 3])
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank not in (2, None):
        raise ValueError(f"`repeat` takes a tensor of 2 axes, got one of shape {x.shape}.")
    return tf.tile(tf.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x, rep, axis):
    """Repeat each element `rep` times along an axis.

    >>> tf.keras.backend.repeat_elements(tf.constant([1, 2]), 2, axis=0).numpy().tolist()
    [1, 1, 2, 2]
    """
    return tf.repeat(x, rep, axis)


def arange(start, stop=None, step=1, dtype="int32"):
    """Integers from `start` up to `stop`, or from 0 up to `start`.

    >>> tf.keras.backend.arange(1, 7, 2).numpy().tolist()
    [1, 3, 5]
    """
    if stop is None and start < 0:
        start = 0
    numbers = tf.range(start, delta=step) if stop is None else tf.range(start, stop, step)
    return numbers if dtype == "int32" else tf.cast(numbers, dtype)


def one_hot(indices, num_classes):
    """A 1 at the index of each class, zeros elsewhere.

    >>> tf.keras.backend.one_hot([1, 0], 3).numpy().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    return tf.one_hot(indices, num_classes, axis=-1)


def gather(reference, indices):
    """Gather the rows at given indices."""
    return tf.gather(reference, indices)


def temporal_padding(x, padding=(1, 1)):
    """Zero-pad the time steps of a sequence.

    >>> tf.keras.backend.temporal_padding(tf.ones([2, 3, 4]), (0, 5)).shape
    TensorShape([2, 8, 4])
    """
    _require_pairs([padding], 1)
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Zero-pad the height and width of images.

    >>> tf.keras.backend.spatial_2d_padding(tf.ones([1, 2, 3, 4])).shape
    TensorShape([1, 4, 5, 4])
    """
    return _spatial_padding(x, padding, data_format, 2)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """Zero-pad the three spatial axes of volumes."""
    return _spatial_padding(x, padding, data_format, 3)


def _spatial_padding(x, padding, data_format, axes):
    _require_pairs(padding, axes)
    pairs = [list(pair) for pair in padding]
    whole = [[0, 0]]
    if resolved_data_format(data_format) == "channels_first":
        return tf.pad(x, whole + whole + pairs)
    return tf.pad(x, whole + pairs + whole)


def _require_pairs(padding, count):
    if len(padding) != count or any(len(pair) != 2 for pair in padding):
        raise ValueError(
            f"`padding` should have {count} pair(s) of sizes (before, after). Received: {padding}"
        )


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Upsample images by integer factors.

    >>> tf.keras.backend.resize_images(tf.ones([1, 2, 3, 4]), 2, 3, "channels_last").shape
    TensorShape([1, 4, 9, 4])
    """
    x = tf.convert_to_tensor(x)
    rows, columns = (2, 3) if checked_data_format(data_format) == "channels_first" else (1, 2)
    if interpolation == "nearest":
        return tf.repeat(tf.repeat(x, height_factor, rows), width_factor, columns)
    sizes = tf.shape(x)[rows : columns + 1] * tf.constant([height_factor, width_factor])
    if rows == 1:
        return tf.image.resize(x, sizes, method=interpolation)
    last = tf.image.resize(tf.transpose(x, [0, 2, 3, 1]), sizes, method=interpolation)
    return tf.transpose(last, [0, 3, 1, 2])


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Upsample volumes by integer factors, repeating each element.

    >>> tf.keras.backend.resize_volumes(tf.ones([1, 2, 2, 2, 3]), 1, 2, 3, "channels_last").shape
    TensorShape([1, 2, 4, 6, 3])
    """
    first = 2 if checked_data_format(data_format) == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), first):
        x = tf.repeat(x, factor, axis)
    return x

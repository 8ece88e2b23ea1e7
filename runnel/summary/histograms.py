"""The buckets of `tf.summary.histogram`: of equal width, from the minimum to the maximum.

Each is a row (left edge, right edge, count) of float64. Values that are all equal are counted in
the last bucket; NaNs in none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

BUCKETS = 30


def buckets_of(data: np.ndarray, count: int) -> np.ndarray:
    """The buckets of a float64 array."""
    if data.size == 0 or count <= 0:
        return np.zeros((max(count, 0), 3))
    low, high = data.min(), data.max()
    if high == low:
        rows = np.full((count, 3), low)
        rows[:, 2] = 0.0
        rows[-1, 2] = data.size
        return rows
    with np.errstate(all="ignore"):
        width = (high - low) / count
        places = np.minimum(np.floor((data - low) / width), count - 1)
        places = places[places >= 0].astype(np.int64)
        edges = low + width * np.arange(count + 1)
    # Computed exactly, even if the width is infinite.
    edges[0], edges[-1] = low, high
    return np.stack([edges[:-1], edges[1:], np.bincount(places, minlength=count)], axis=1)


def traced_buckets(data: Any, count: Any) -> Any:
    """The same in a graph."""
    data = tf.reshape(tf.cast(data, tf.float64), [-1])
    count = tf.maximum(0, count)
    number = tf.cast(count, tf.float64)
    # Empty input is treated as zeros: all counts are zero then, too.
    is_empty = tf.equal(tf.size(data), 0)
    low = tf.where(is_empty, tf.zeros([], tf.float64), tf.reduce_min(data))
    high = tf.where(is_empty, tf.zeros([], tf.float64), tf.reduce_max(data))
    width = (high - low) / number
    places = tf.minimum(tf.floor((data - low) / width), number - 1.0)
    places = tf.where(tf.equal(low, high), number - 1.0, places)
    places = tf.cast(tf.boolean_mask(places, places >= 0.0), tf.int32)
    counts = tf.math.bincount(places, minlength=count, maxlength=count, dtype=tf.float64)
    places = tf.cast(tf.range(count), tf.float64)
    lefts = tf.where(tf.equal(places, 0.0), low, low + width * places)
    rights = tf.concat([lefts[1:], [high]], 0)[:count]
    return tf.stack([lefts, rights, counts], axis=1)

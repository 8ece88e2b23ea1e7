"""One-hot and ordinal encoding, and normalization."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_categorical(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """One-hot vectors for class indices.

    >>> tf.keras.utils.to_categorical([0, 2, 1])
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    classes, shape, count = _classes(y, num_classes)
    encoded = np.zeros((classes.size, count), dtype)
    try:
        encoded[np.arange(classes.size), classes] = 1
    except IndexError:
        raise IndexError(
            f"index {classes.max() if classes.max() >= count else classes.min()} is out of bounds "
            f"for {count} classes: `y` must hold integers from 0 to num_classes - 1."
        ) from None
    return encoded.reshape((*shape, count))


def to_ordinal(y: Any, num_classes: int | None = None, dtype: Any = "float32") -> np.ndarray:
    """Ordinal encoding: class index k as k ones followed by zeros, num_classes - 1 in all.

    >>> tf.keras.utils.to_ordinal([0, 1, 2])
    array([[0., 0.],
           [1., 0.],
           [1., 1.]], dtype=float32)
    """
    classes, shape, count = _classes(y, num_classes)
    encoded = (np.arange(count - 1) < classes[:, None]).astype(dtype)
    return encoded.reshape((*shape, count - 1))


def _classes(y: Any, num_classes: int | None) -> tuple[np.ndarray, tuple[int, ...], int]:
    try:
        classes = np.array(y, dtype="int")
    except ValueError as failure:
        raise ValueError(
            f"`y` must hold class numbers, integers from 0 on: {failure}. "
            "tf.keras.layers.StringLookup and np.unique(y, return_inverse=True) number texts."
        ) from None
    shape = classes.shape
    # A column of class indices is flattened.
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    classes = classes.reshape(-1)
    if not num_classes:
        if not classes.size:
            raise ValueError("`y` is empty: give `num_classes`, since no class tells their number.")
        num_classes = int(classes.max()) + 1
    return classes, shape, num_classes


def normalize(x: Any, axis: int = -1, order: float = 2) -> np.ndarray:
    """Scale vectors along an axis to unit norm of the given order.

    >>> tf.keras.utils.normalize([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    lengths = np.atleast_1d(np.linalg.norm(x, order, axis))
    lengths[lengths == 0] = 1
    return x / np.expand_dims(lengths, axis)

"""Tensor contractions: `dot` and `batch_dot`."""

from __future__ import annotations

from typing import Any

import runnel as tf


def dot(x, y):
    """The contraction of the last axis of x with the second to last of y.

    >>> tf.keras.backend.dot(tf.ones([2, 3]), tf.ones([4, 3, 5])).shape
    TensorShape([2, 4, 5])
    """
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    if x.shape.rank == 2 and y.shape.rank == 2:
        return tf.matmul(x, y)
    return tf.tensordot(x, y, [[x.shape.rank - 1], [y.shape.rank - 2]])


def batch_dot(x, y, axes=None):
    """A batched contraction of x and y along one axis of each.

    `axes` is that axis, or a pair of them; by default the last of x and the second to last of y.

    >>> tf.keras.backend.batch_dot(tf.ones([8, 1, 20]), tf.ones([8, 30, 20]), axes=(2, 2)).shape
    TensorShape([8, 1, 30])
    """
    x, y = tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    x_rank, y_rank = _samples_rank(x, y), _samples_rank(y, x)
    x_axis, y_axis = _contracted_axes(axes, x_rank, y_rank)
    _require_fit(x, y, x_axis, y_axis)
    letters = "abcdefghijklmnopqrstuvwxyz"
    x_letters = letters[:x_rank]
    y_letters = list(letters[x_rank : x_rank + y_rank])
    y_letters[0], y_letters[y_axis] = x_letters[0], x_letters[x_axis]
    free = x_letters[:x_axis] + x_letters[x_axis + 1 :]
    free += "".join(y_letters[1:y_axis] + y_letters[y_axis + 1 :])
    product = tf.einsum(f"{x_letters},{''.join(y_letters)}->{free}", x, y)
    return tf.expand_dims(product, 1) if len(free) == 1 else product


def _samples_rank(tensor: tf.Tensor, other: tf.Tensor) -> int:
    rank = tensor.shape.rank
    if rank is None or rank < 2:
        raise ValueError(
            "Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes "
            f"{tensor.shape} and {other.shape}."
        )
    return rank


def _contracted_axes(axes: Any, x_rank: int, y_rank: int) -> tuple[int, int]:
    if axes is None:
        return x_rank - 1, y_rank - 1 if y_rank == 2 else y_rank - 2
    pair = (axes, axes) if isinstance(axes, int) else tuple(axes)
    if len(pair) != 2 or any(not isinstance(axis, int) for axis in pair):
        raise ValueError(
            "Multiple target dimensions are not supported. Expected: None, int, (int, int). "
            f"Provided: {axes}"
        )
    resolved = []
    for axis, rank in zip(pair, (x_rank, y_rank), strict=True):
        if not -rank <= axis < rank:
            raise ValueError(
                f"`axes` {axes} is out of range for inputs of {x_rank} and {y_rank} axes."
            )
        resolved.append(axis % rank)
    if 0 in resolved:
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy "
            "batch dimension to your inputs using K.expand_dims(x, 0)"
        )
    return resolved[0], resolved[1]


def _require_fit(x: tf.Tensor, y: tf.Tensor, x_axis: int, y_axis: int) -> None:
    for what, a, b in (("", x.shape[x_axis], y.shape[y_axis]), ("batch ", x.shape[0], y.shape[0])):
        if a is not None and b is not None and a != b:
            raise ValueError(
                f"Cannot do batch_dot on inputs with different {what}sizes {a} != {b}: shapes "
                f"{x.shape} and {y.shape} with axes=[{x_axis}, {y_axis}]."
            )

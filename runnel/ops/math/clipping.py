"""Clipping of values and norms."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.indexed_slices import IndexedSlices
from ...core.op import REGISTRY
from ...core.tensor import Tensor
from . import reduction
from .arithmetic import add_n, maximum, minimum, multiply
from .casting import cast
from .division import divide
from .elementwise import number_like, reciprocal, sqrt, square
from .rounding import is_finite


def _values(t):
    return t.values if isinstance(t, IndexedSlices) else convert_to_tensor(t)


def _like(t, values):
    """The clipped values as what was clipped: a tensor, or IndexedSlices."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(values, t.indices, t.dense_shape)
    return values


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Clamp the elements between a minimum and a maximum.

    >>> tf.clip_by_value([-5, 3, 9], 0, 5)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 3, 5], dtype=int32)>
    """
    values = _values(t)
    for bound, keep in ((clip_value_max, minimum), (clip_value_min, maximum)):
        clipped = keep(values, bound)
        if not values.shape.is_compatible_with(clipped.shape):
            raise ValueError(
                f"Shapes {values.shape} and {clipped.shape} are incompatible: the bounds of "
                "tf.clip_by_value must broadcast to the shape of `t`, not the other way round."
            )
        values = clipped
    return _like(t, values)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scale the tensor down so that its L2 norm over `axes` is at most `clip_norm`.

    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy().round(2))
    [0.6 0.8]
    """
    values = _values(t)
    squares = reduction.reduce_sum(multiply(values, values), axes, keepdims=True)
    select, positive = REGISTRY["SelectV2"], REGISTRY["Greater"](squares, number_like(0, squares))
    # sqrt(1) instead of sqrt(0) keeps the gradient of the branch not taken finite.
    safe = select(positive, squares, number_like(1, squares))
    norm = select(positive, sqrt(safe), squares)
    return _like(t, divide(multiply(values, clip_norm), maximum(norm, clip_norm)))


def global_norm(t_list, name=None):
    """The L2 norm of all tensors' elements together; None entries count as zero.

    >>> tf.linalg.global_norm([tf.constant([3.0]), None, tf.constant([4.0])]).numpy().item()
    5.0
    """
    tensors = [_values(each) for each in _sequence(t_list) if each is not None]
    if not tensors:
        return convert_to_tensor(0.0)
    return sqrt(add_n([reduction.reduce_sum(square(each)) for each in tensors]))


def _sequence(t_list):
    if isinstance(t_list, Tensor) or not isinstance(t_list, list | tuple):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return t_list


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Scale the tensors down by one factor so that their global norm is at most `clip_norm`.

    Returns the list of tensors and the norm before clipping. All become NaN if it is not finite.

    >>> clipped, norm = tf.clip_by_global_norm([tf.constant([3.0]), tf.constant([4.0])], 1.0)
    >>> print(norm.numpy(), clipped[1].numpy().round(2))
    5.0 [0.8]
    """
    _sequence(t_list)
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    _, limit = operands(norm, clip_norm)
    scale = multiply(limit, minimum(reciprocal(norm), reciprocal(limit)))
    scale = REGISTRY["SelectV2"](is_finite(norm), scale, number_like(np.nan, norm))
    return [None if each is None else _scaled(each, scale) for each in t_list], norm


def _scaled(t, scale: Tensor):
    values = _values(t)
    return _like(t, multiply(values, cast(scale, values.dtype)))

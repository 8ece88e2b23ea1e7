"""Concatenating, stacking and splitting arrays."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from .conversion import joined, known, promoted, to_array
from .promotion import behaviour
from .shaping import atleast_1d, atleast_2d, atleast_3d


def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """The arrays concatenated along an axis, or flattened where it is None.

    >>> tf.experimental.numpy.concatenate([[1, 2], [3.5]])
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([1. , 2. , 3.5])>
    """
    if not isinstance(arys, list | tuple):
        arys = [arys]
    if not arys:
        raise ValueError("concatenate: at least one array is needed, got none.")
    parts = joined(*arys) if behaviour.is_lattice else promoted(*arys)
    if axis is None:
        parts, axis = [tf.reshape(part, [-1]) for part in parts], 0
    return tf.concat(parts, axis)


def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """The array with values appended along an axis, or both flattened."""
    arr, values = to_array(arr), to_array(values)
    if axis is None:
        arr, values = tf.reshape(arr, [-1]), tf.reshape(values, [-1])
    return concatenate([arr, values], axis or 0)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Arrays of equal shape stacked along a new axis."""
    if isinstance(arrays, Tensor):
        arrays = to_array(arrays)
        if axis == 0:
            return arrays
    if isinstance(arrays, Tensor):
        arrays = tf.unstack(arrays)
    return tf.stack(joined(*arrays), axis)


def hstack(tup: Any) -> Tensor:
    """The arrays concatenated along the second axis, vectors along the first."""
    parts = _several(atleast_1d, tup)
    rank = parts[0].shape.rank
    if rank is None:
        return tf.concat(parts, tf.minimum(tf.rank(parts[0]) - 1, 1))
    return tf.concat(parts, 0 if rank == 1 else 1)


def vstack(tup: Any) -> Tensor:
    """The arrays concatenated along the first axis, vectors as rows."""
    return tf.concat(_several(atleast_2d, tup), 0)


def dstack(tup: Any) -> Tensor:
    """The arrays concatenated along the third axis."""
    return tf.concat(_several(atleast_3d, tup), 2)


def _several(widen: Callable[..., Any], arrays: Any) -> list[Tensor]:
    if isinstance(arrays, Tensor):
        arrays = tf.unstack(arrays)
    return promoted(*[widen(array) for array in arrays])


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """The array split along an axis: into a number of equal parts, or at indices.

    >>> parts = tf.experimental.numpy.split([1, 2, 3, 4], [1, 3])
    >>> [part.numpy().tolist() for part in parts]
    [[1], [2, 3], [4]]
    """
    ary = to_array(ary)
    cuts = known(indices_or_sections, "indices_or_sections")
    if isinstance(cuts, int | np.integer):
        return tf.split(ary, int(cuts), axis)
    length = ary.shape[axis]
    if length is None:
        length = tf.shape(ary)[axis]
    edges = [0, *cuts, length]
    sizes = [end - start for start, end in pairwise(edges)]
    return tf.split(ary, sizes, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """The array split along the second axis, a vector along its only one."""
    ary = to_array(ary)
    return split(ary, indices_or_sections, 0 if ary.shape.rank == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """The array split along the first axis."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """The array split along the third axis."""
    ary = to_array(ary)
    if ary.shape.rank is not None and ary.shape.rank < 3:
        raise IndexError(f"dsplit takes arrays of at least 3 dimensions, got {ary.shape}.")
    return split(ary, indices_or_sections, 2)

"""Indexing by arrays and masks, selection and sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from ...ops.array.indexing import getitem as plain_getitem
from .conversion import blended, joined, rank_of, to_array
from .promotion import default_integer
from .shaping import axes_of, moveaxis

_NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices, got {!r}"
)


def getitem(tensor: Any, key: Any) -> Tensor:
    """`tensor[key]` as in NumPy: integer arrays among the keys gather, booleans mask."""
    keys = key if isinstance(key, tuple) else (key,)
    if not any(_is_array(each) for each in keys):
        for each in keys:
            _require_index(each)
        return plain_getitem(tensor, key)
    expanded: list[Any] = []
    for each in keys:
        index = _index_array(each) if _is_array(each) else each
        if isinstance(index, Tensor) and index.dtype is tf.bool:
            if len(keys) == 1:
                return tf.boolean_mask(tensor, index)
            expanded.extend(nonzero(index))
        else:
            expanded.append(index)
    return _gathered(tensor, expanded)


def _is_array(key: Any) -> bool:
    if isinstance(key, Tensor | np.ndarray):
        return key.shape.rank != 0 if isinstance(key, Tensor) else key.ndim != 0
    return isinstance(key, list | tuple)


def _index_array(key: Any) -> Tensor:
    index = to_array(key)
    if not (index.dtype.is_integer or index.dtype is tf.bool):
        raise IndexError(_NOT_AN_INDEX.format(key))
    return index


def _require_index(key: Any) -> None:
    if isinstance(key, bool | slice) or key is None or key is Ellipsis:
        return
    dtype = getattr(key, "dtype", None)
    is_float = isinstance(key, float | str | complex) or (
        dtype is not None and not tf.as_dtype(dtype).is_integer and tf.as_dtype(dtype) != tf.bool
    )
    if is_float:
        raise IndexError(_NOT_AN_INDEX.format(key))


def _gathered(tensor: Tensor, keys: list[Any]) -> Tensor:
    """Integers, slices and new axes are applied first; then the arrays index the result."""
    used = sum(each is not None and each is not Ellipsis for each in keys)
    if keys[-1] is Ellipsis:
        keys = keys[:-1]
    if tensor.shape.rank is None and keys[0] is Ellipsis and len(keys) == 2:
        return tf.gather(tensor, _from_zero(keys[1], tf.shape(tensor)[-1]), axis=-1)
    if any(each is Ellipsis for each in keys):
        at = next(i for i, each in enumerate(keys) if each is Ellipsis)
        rest = rank_of(tensor, "ndarray.__getitem__") - used
        keys = [*keys[:at], *[slice(None)] * rest, *keys[at + 1 :]]
    plain: list[Any] = []
    chosen: dict[int, Tensor] = {}
    axis = 0
    for each in keys:
        if isinstance(each, Tensor) and each.shape.rank != 0:
            chosen[axis] = each
            plain.append(slice(None))
        else:
            _require_index(each)
            plain.append(each)
            if not (each is None or isinstance(each, slice)):
                continue
        axis += 1
    tensor = plain_getitem(tensor, tuple(plain))
    axes = list(chosen)
    indices = [_from_zero(index, tf.shape(tensor)[at]) for at, index in chosen.items()]
    if len(axes) == 1:
        return tf.gather(tensor, indices[0], axis=axes[0])
    indices = [tf.cast(index, tf.int64) for index in indices]
    shape = tf.shape(indices[0])
    for index in indices[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(index))
    coordinates = tf.stack([tf.broadcast_to(index, shape) for index in indices], -1)
    result = tf.gather_nd(moveaxis(tensor, axes, list(range(len(axes)))), coordinates)
    if axes[0] and axes == list(range(axes[0], axes[0] + len(axes))):
        # Adjacent arrays leave their axes in position; others move them to the front.
        rank = rank_of(coordinates, "ndarray.__getitem__") - 1
        result = moveaxis(result, list(range(rank)), list(range(axes[0], axes[0] + rank)))
    return result


def _from_zero(index: Tensor, size: Tensor) -> Tensor:
    zero = tf.zeros([], index.dtype)
    return tf.where(tf.less(index, zero), index + tf.cast(size, index.dtype), index)


def nonzero(a: Any) -> list[Tensor]:
    """The indices of the elements that are not zero, one vector for each axis.

    >>> tf.experimental.numpy.nonzero([3, 0, 5])
    [<tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 2])>]
    """
    a = to_array(a, tf.bool)
    if a.shape.rank == 0:
        a = tf.reshape(a, [1])
    rank_of(a, "nonzero")
    return tf.unstack(tf.where(a), a.shape.rank, axis=1)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """x where the condition holds, else y; with the condition alone, the indices where it does.

    >>> tf.experimental.numpy.where([True, False], 1, 2.5)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1. , 2.5])>
    """
    condition = to_array(condition, tf.bool)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError(f"where: either both or neither of x and y must be given, got {x}, {y}.")
    x, y = joined(x, y)
    return tf.where(condition, x, y)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """For each element the choice of the first condition that holds, else the default.

    >>> tf.experimental.numpy.select([[True, False], [True, True]], [[1, 2], [3, 4]])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 4])>
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"select: as many conditions as choices are needed, got {len(condlist)} and "
            f"{len(choicelist)}."
        )
    if not condlist:
        raise ValueError("select: at least one condition is needed, got none.")
    *choices, result = blended(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        result = tf.where(to_array(condition, tf.bool), choice, result)
    return result


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Tensor:
    """The elements at indices along an axis, or in the flattened array.

    `mode` handles an index out of range: "clip" it or "wrap" it around.

    >>> tf.experimental.numpy.take([5, 6, 7], [0, 9])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([5, 7])>
    """
    if out is not None:
        raise ValueError(f"take: tensors do not change, so there is no `out`, got {out!r}.")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"take: mode must be 'clip' or 'wrap', got {mode!r}.")
    a, indices = to_array(a), to_array(indices)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    size = tf.cast(tf.shape(a)[axis], indices.dtype)
    if mode == "clip":
        indices = tf.clip_by_value(indices, tf.zeros([], indices.dtype), size - 1)
    else:
        indices = tf.math.floormod(indices, size)
    return tf.gather(a, indices, axis=axis)


def take_along_axis(arr: Any, indices: Any, axis: Any) -> Tensor:
    """The elements at an array of indices along an axis, for each position of the others.

    >>> tf.experimental.numpy.take_along_axis([[5, 6], [7, 8]], [[1], [0]], 1)
    <tf.Tensor: shape=(2, 1), dtype=int64, numpy=
    array([[6],
           [7]])>
    """
    arr, indices = to_array(arr), to_array(indices)
    if axis is None:
        return take_along_axis(tf.reshape(arr, [-1]), indices, 0)
    rank = arr.shape.rank if arr.shape.rank is not None else indices.shape.rank
    if indices.shape.rank not in (rank, None):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"take_along_axis: the array and the indices must have the same rank, got shapes "
            f"{arr.shape} and {indices.shape}.",
        )
    if rank is None:
        return _taken_of_unknown(arr, indices, axis)
    arr, indices = (tf.ensure_shape(x, [None] * rank) for x in (arr, indices))
    (axis,) = axes_of(axis, rank)
    indices = _from_zero(indices, tf.shape(arr)[axis])
    arr, indices = moveaxis(arr, axis, -1), moveaxis(indices, axis, -1)
    others = tf.broadcast_dynamic_shape(tf.shape(arr)[:-1], tf.shape(indices)[:-1])
    arr = tf.broadcast_to(arr, tf.concat([others, tf.shape(arr)[-1:]], 0))
    indices = tf.broadcast_to(indices, tf.concat([others, tf.shape(indices)[-1:]], 0))
    return moveaxis(tf.gather(arr, indices, batch_dims=rank - 1), -1, axis)


def _taken_of_unknown(arr: Tensor, indices: Tensor, axis: int) -> Tensor:
    """take_along_axis by way of matrices, for unknown ranks."""
    indices = _from_zero(indices, tf.shape(arr)[axis])
    arr, indices = moveaxis(arr, axis, -1), moveaxis(indices, axis, -1)
    others = tf.broadcast_dynamic_shape(tf.shape(arr)[:-1], tf.shape(indices)[:-1])
    sizes = [tf.concat([others, tf.shape(x)[-1:]], 0) for x in (arr, indices)]
    rows, chosen = (
        tf.reshape(tf.broadcast_to(x, size), [-1, size[-1]])
        for x, size in zip((arr, indices), sizes, strict=True)
    )
    taken = tf.gather(rows, chosen, batch_dims=1)
    return moveaxis(tf.reshape(taken, sizes[1]), -1, axis)


def compress(condition: Any, a: Any, axis: Any = None) -> Tensor:
    """The slices along an axis, or the elements, where a vector of conditions holds.

    >>> tf.experimental.numpy.compress([False, True], [[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[3, 4]])>
    """
    condition, a = to_array(condition, tf.bool), to_array(a)
    if condition.shape.rank not in (1, None):
        raise ValueError(f"compress: the condition must be a vector, got {condition.shape}.")
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    if axis < 0:
        axis += rank_of(a, "compress")
    # The condition may be shorter than the axis: the remaining elements are dropped.
    chosen = tf.reshape(tf.where(condition), [-1])
    return tf.gather(a, chosen, axis=axis)


def ix_(*args: Any) -> list[Tensor]:
    """An open mesh of vectors of indices or booleans: each along an axis of its own.

    >>> [index.shape.as_list() for index in tf.experimental.numpy.ix_([0, 1], [2, 3, 4])]
    [[2, 1], [1, 3]]
    """
    count = len(args)
    mesh = []
    for position, vector in enumerate(to_array(each) for each in args):
        if vector.shape.rank not in (1, None):
            raise ValueError(f"ix_ takes vectors, got argument {position} of {vector.shape}.")
        if vector.dtype is tf.bool:
            (vector,) = nonzero(vector)
        mesh.append(tf.reshape(vector, [1] * position + [-1] + [1] * (count - position - 1)))
    return mesh


def _check_sort(kind: str, order: Any, function: str, kinds: tuple[str, ...]) -> None:
    if kind not in kinds:
        raise ValueError(f"{function}: kind must be {' or '.join(kinds)}, got {kind!r}.")
    if order is not None:
        raise ValueError(f"{function}: `order` is not supported, got {order!r}.")


def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """The array sorted in ascending order along an axis, or flattened."""
    _check_sort(kind, order, "sort", ("quicksort",))
    a = to_array(a)
    if axis is None:
        return tf.sort(tf.reshape(a, [-1]), 0)
    return tf.sort(a, axis)


def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Tensor:
    """The indices that would sort the elements along an axis, or of the flattened array.

    >>> tf.experimental.numpy.argsort([3, 1, 2])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 2, 0])>
    """
    _check_sort(kind, order, "argsort", ("quicksort", "stable"))
    a = to_array(a)
    if a.dtype.is_complex:
        raise TypeError(f"argsort: complex numbers have no order, got {a.dtype.name}.")
    if axis is None or a.shape.rank == 0:
        a, axis = tf.reshape(a, [-1]), 0
    return tf.cast(tf.argsort(a, axis, stable=kind == "stable"), default_integer())

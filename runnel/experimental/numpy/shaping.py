"""Shape manipulation: reshaping, permuting, repeating, padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from .conversion import known, sizes_of, to_array


def axes_of(axes: Any, rank: int) -> list[int]:
    """Non-negative axes; ValueError where one is out of range."""
    listed = known(axes, "axis")
    listed = [listed] if isinstance(listed, int | np.integer) else list(listed)
    for axis in listed:
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range for an array of rank {rank}.")
    return [int(axis) % rank for axis in listed]


def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """The array reshaped; order "F" is column-major.

    >>> tf.experimental.numpy.reshape([[1, 2], [3, 4]], -1, order="F").numpy().tolist()
    [1, 3, 2, 4]
    """
    if order not in ("C", "F"):
        raise ValueError(f"reshape: order must be 'C' or 'F', got {order!r}.")
    a = to_array(a)
    sizes = sizes_of(newshape)
    if order == "F":
        backwards = tf.reverse(tf.convert_to_tensor(sizes), [0])
        return tf.transpose(tf.reshape(tf.transpose(a), backwards))
    return tf.reshape(a, sizes)


def ravel(a: Any) -> Tensor:
    """The array flattened to one dimension."""
    return tf.reshape(to_array(a), [-1])


def flatten(a: Any, order: str = "C") -> Tensor:
    """The array flattened to one dimension; order "F" is column-major."""
    a = to_array(a)
    if order in ("C", "A", "K"):
        return tf.reshape(a, [-1])
    if order == "F":
        return tf.reshape(tf.transpose(a), [-1])
    raise ValueError(f"flatten: order can only be 'C', 'A', 'K' or 'F', got {order!r}.")


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The array with its axes permuted, reversed by default."""
    a = to_array(a)
    return tf.transpose(a) if axes is None else tf.transpose(a, to_array(axes))


def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """The array with two axes swapped."""
    a = to_array(a)
    rank = a.shape.rank
    if rank is None:
        return moveaxis(a, (axis1, axis2), (axis2, axis1))
    order = list(range(rank))
    try:
        first, second = axes_of([axis1, axis2], rank)
    except ValueError as failure:
        raise IndexError(f"swapaxes: {failure}") from None
    order[first], order[second] = second, first
    return tf.transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """The array with some axes moved to other positions, the rest in their order.

    >>> tf.experimental.numpy.moveaxis(tf.zeros([2, 3, 4]), 0, -1).shape
    TensorShape([3, 4, 2])
    """
    if not source and source != 0:
        return to_array(a)
    a = to_array(a)
    rank = a.shape.rank
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    if len(sources) != len(targets):
        raise ValueError(
            f"moveaxis: as many sources as destinations are needed, got {source} and {destination}."
        )
    if rank is None:
        return tf.transpose(a, _unknown_order(tf.rank(a), sources, targets))
    sources, targets = axes_of(sources, rank), axes_of(targets, rank)
    order = [axis for axis in range(rank) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return tf.transpose(a, order)


def _unknown_order(rank: Tensor, sources: list[int], targets: list[int]) -> Tensor:
    """The permutation of axes that moves the sources to the targets, where the rank is a tensor."""
    origins, places = (tf.math.floormod(tf.constant(axes), rank) for axes in (sources, targets))
    everything = tf.range(rank)

    def others(axes: Tensor) -> Tensor:
        taken = tf.reduce_any(tf.equal(everything[:, None], axes[None, :]), 1)
        return tf.boolean_mask(everything, tf.logical_not(taken))

    order = tf.tensor_scatter_nd_update(everything, others(places)[:, None], others(origins))
    return tf.tensor_scatter_nd_update(order, places[:, None], origins)


def expand_dims(a: Any, axis: int) -> Tensor:
    """The array with a new axis of size 1."""
    return tf.expand_dims(to_array(a), axis)


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """The array without its axes of size 1, or without those given."""
    return tf.squeeze(to_array(a), axis)


def at_least(array: Tensor, rank: int, behind: int = 0) -> Tensor:
    """The array with axes of size 1 added up to `rank`, `behind` of them at its end."""
    if array.shape.rank is not None and array.shape.rank >= rank:
        return array
    missing = tf.maximum(rank - tf.rank(array), 0)
    after = tf.minimum(missing, behind)
    ones = [tf.ones([missing - after], tf.int32), tf.ones([after], tf.int32)]
    result = tf.reshape(array, tf.concat([ones[0], tf.shape(array), ones[1]], 0))
    if array.shape.rank is not None:
        result = tf.ensure_shape(result, [None] * rank)
    return result


def _declare_at_least(rank: int, behind: int) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        results = [at_least(to_array(array), rank, behind) for array in arys]
        return results[0] if len(results) == 1 else results

    function.__name__ = function.__qualname__ = f"atleast_{rank}d"
    function.__doc__ = f"The arrays with at least {rank} dimension{'s' if rank > 1 else ''}."
    return function


atleast_1d = _declare_at_least(1, 0)
atleast_2d = _declare_at_least(2, 0)
# A vector becomes the middle of the three dimensions, a matrix the first two.
atleast_3d = _declare_at_least(3, 1)


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """The array broadcast to a larger shape."""
    return tf.broadcast_to(to_array(array), sizes_of(shape))


def broadcast_arrays(*args: Any, **kwargs: Any) -> Any:
    """The arrays broadcast to their common shape."""
    if kwargs.get("subok"):
        raise ValueError("broadcast_arrays: subok=True is not supported; use subok=False.")
    if not args:
        return ()
    arrays = [to_array(array) for array in args]
    shape = tf.shape(arrays[0])
    for array in arrays[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(array))
    return [tf.broadcast_to(array, shape) for array in arrays]


def flip(m: Any, axis: Any = None) -> Tensor:
    """The array reversed along an axis, or along all."""
    m = to_array(m)
    if axis is None:
        return tf.reverse(m, tf.range(tf.rank(m)))
    return tf.reverse(m, [axis] if isinstance(axis, int) else list(axis))


def flipud(m: Any) -> Tensor:
    """The array with its rows reversed."""
    return flip(m, 0)


def fliplr(m: Any) -> Tensor:
    """The array with its columns reversed."""
    return flip(m, 1)


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """The array rotated by k times 90 degrees, from the first of two axes towards the second.

    >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy().tolist()
    [[2, 4], [1, 3]]
    """
    m = to_array(m)
    rank = m.shape.rank
    if rank is not None and rank < 2:
        raise tf.errors.InvalidArgumentError(
            None, None, f"rot90 takes arrays of at least two dimensions, got shape {m.shape}."
        )
    first, second = axes if rank is None else axes_of(axes, rank)
    turns = known(k, "k") % 4
    if turns == 0:
        return m
    if turns == 2:
        return flip(m, (first, second))
    if turns == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """The elements shifted along an axis with wrap-around."""
    a = to_array(a)
    if axis is not None:
        return tf.roll(a, shift, axis)
    return tf.reshape(tf.roll(tf.reshape(a, [-1]), shift, 0), tf.shape(a))


def repeat(a: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Every element repeated, along an axis or in the flattened array.

    >>> tf.experimental.numpy.repeat([3, 4], [2, 1])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([3, 3, 4])>
    """
    a = to_array(a)
    shape = a.shape
    result = tf.repeat(a, repeats, axis)
    if isinstance(repeats, int) and shape.is_fully_defined():
        sizes = [shape.num_elements()] if axis is None else shape.as_list()
        sizes[axis or 0] *= repeats
        result.set_shape(sizes)
    return result


def tile(a: Any, reps: Any) -> Tensor:
    """The array repeated along each axis; new axes come first.

    >>> tf.experimental.numpy.tile([1, 2], (2, 2)).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    a = to_array(a)
    times = tf.reshape(to_array(reps, tf.int32), [-1])
    rank, wanted = tf.rank(a), tf.size(times)
    count = tf.maximum(rank, wanted)
    sizes = tf.pad(tf.shape(a), [[count - rank, 0]], constant_values=1)
    times = tf.pad(times, [[count - wanted, 0]], constant_values=1)
    return tf.tile(tf.reshape(a, sizes), times)


def tril(m: Any, k: int = 0) -> Tensor:
    """The matrix with zeros above its k-th diagonal."""
    return _triangle(m, k, "tril", lambda rows, columns: columns <= rows + k)


def triu(m: Any, k: int = 0) -> Tensor:
    """The matrix with zeros below its k-th diagonal."""
    return _triangle(m, k, "triu", lambda rows, columns: columns >= rows + k)


def _triangle(m: Any, k: int, name: str, keeps: Callable[[Any, Any], Any]) -> Tensor:
    m = to_array(m)
    if m.shape.rank is not None and m.shape.rank < 2:
        raise ValueError(f"{name} takes arrays of at least two dimensions, got shape {m.shape}.")
    shape = tf.shape(m)
    rows, columns = tf.range(shape[-2])[:, None], tf.range(shape[-1])[None, :]
    return tf.where(keeps(rows, columns), m, tf.zeros([], m.dtype))


def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """The array padded: "constant", "reflect" or "symmetric".

    >>> tf.experimental.numpy.pad([1, 2], [[1, 1]], "constant", constant_values=9)
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([9, 1, 2, 9])>
    """
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"pad: mode must be 'constant', 'reflect' or 'symmetric', got {mode!r}.")
    array = to_array(array)
    filler = to_array(kwargs.get("constant_values", 0), array.dtype)
    return tf.pad(array, to_array(pad_width, tf.int32), mode.upper(), filler)


def shape(a: Any) -> Any:
    """The static shape, a TensorShape."""
    return to_array(a).shape


def ndim(a: Any) -> int | None:
    """The number of dimensions; None if unknown."""
    return to_array(a).shape.rank


def size(x: Any, axis: Any = None) -> Any:
    """The number of elements; a tensor if not static.

    >>> int(tf.experimental.numpy.size([[1, 2], [3, 4]]))
    4
    """
    if axis is not None:
        raise NotImplementedError(
            f"size: `axis` is not supported, got {axis!r}. Use tf.shape(x)[axis]."
        )
    if isinstance(x, int | float):
        return 1
    x = to_array(x)
    count = x.shape.num_elements()
    return tf.size(x) if count is None else np.int64(count)

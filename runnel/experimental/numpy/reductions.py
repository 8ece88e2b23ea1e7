"""Reductions: sums, means, extrema; cumulative sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.dtypes import DType
from ...core.tensor import Tensor
from .conversion import inexact, promoted, to_array
from .promotion import as_dtype, default_float, default_integer

_UNSIGNED = {tf.int32: tf.uint32, tf.int64: tf.uint64}


def _wide(dtype: DType) -> DType:
    """The accumulation dtype: integers have at least the default's width."""
    least = default_integer()
    if dtype is tf.bool or (dtype.is_integer and dtype.size < least.size):
        return _UNSIGNED[least] if dtype.is_unsigned else least
    return dtype


def _float(dtype: DType) -> DType:
    return dtype if dtype.is_floating or dtype.is_complex else default_float()


def _reduced(
    a: Any,
    compute: Callable[..., Tensor],
    axis: Any,
    keepdims: Any,
    dtype: Any = None,
    natural: Callable[[DType], DType] | None = None,
) -> Tensor:
    a = to_array(a)
    if dtype is not None:
        a = tf.cast(a, as_dtype(dtype))
    elif natural is not None:
        a = tf.cast(a, natural(a.dtype))
    return compute(a, axis=axis, keepdims=bool(keepdims))


def _no_out(out: Any, name: str) -> None:
    if out is not None:
        raise ValueError(
            f"tf.experimental.numpy.{name}: tensors do not change, so there is no `out`; "
            f"got {out!r}. Use the result instead."
        )


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The sum of the elements along some axes; small integers are summed as int64.

    >>> tf.experimental.numpy.sum([[1, 2], [3, 4]], axis=0)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([4, 6])>
    """
    return _reduced(a, tf.reduce_sum, axis, keepdims, dtype, _wide)


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The product of the elements along some axes."""
    return _reduced(a, tf.reduce_prod, axis, keepdims, dtype, _wide)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """The mean of the elements along some axes; of integers, as a float.

    >>> tf.experimental.numpy.mean([1, 2])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    _no_out(out, "mean")
    return _reduced(a, tf.reduce_mean, axis, keepdims, dtype, _float)


def _no_nan(a: Any, filler: Callable[..., Tensor]) -> Tensor:
    a = to_array(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return a
    return tf.where(tf.math.is_nan(a), filler([], a.dtype), a)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The sum of the elements that are not NaN."""
    return sum(_no_nan(a, tf.zeros), axis, dtype, keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """The product of the elements that are not NaN."""
    return prod(_no_nan(a, tf.ones), axis, dtype, keepdims)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Tensor:
    """The mean of the elements that are not NaN.

    >>> tf.experimental.numpy.nanmean([1.0, float("nan"), 3.0])
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    a = to_array(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return mean(a, axis, dtype, None, keepdims)
    present = tf.cast(tf.logical_not(tf.math.is_nan(a)), a.dtype)
    total = nansum(a, axis, dtype, keepdims)
    count = tf.reduce_sum(present, axis, bool(keepdims))
    return total / tf.cast(count, total.dtype)


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: Any = None,
) -> Tensor:
    """The variance, sum(|x - mean|**2) / (n - ddof), along some axes.

    >>> tf.experimental.numpy.var([1.0, 3.0], ddof=1)
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    _no_out(out, "var")
    a = to_array(a)
    working = _float(a.dtype)
    result_dtype = working.real_dtype
    if dtype is not None:
        working = result_dtype = as_dtype(dtype)
        if not (working.is_floating or working.is_complex):
            working = default_float()
    a = tf.cast(a, working)
    deviation = a - tf.reduce_mean(a, axis, keepdims=True)
    if working.is_complex:
        squares = tf.math.real(deviation * tf.math.conj(deviation))
    else:
        squares = tf.square(deviation)
    if ddof == 0:
        result = tf.reduce_mean(squares, axis, bool(keepdims))
    else:
        count = tf.reduce_sum(tf.ones_like(squares), axis, bool(keepdims))
        total = tf.reduce_sum(squares, axis, bool(keepdims))
        result = total / (count - tf.cast(ddof, count.dtype))
    return tf.cast(result, result_dtype)


def std(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The standard deviation, the root of the variance, along some axes.

    >>> tf.experimental.numpy.std([1, 3])
    <tf.Tensor: shape=(), dtype=float64, numpy=1.0>
    """
    return _reduced(a, tf.math.reduce_std, axis, keepdims, None, _float)


def _extreme(a: Any, axis: Any, keepdims: Any, compute: Any, booleans: Any) -> Tensor:
    a = to_array(a)
    return _reduced(a, booleans if a.dtype is tf.bool else compute, axis, keepdims)


def max(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The maximum along some axes."""
    return _extreme(a, axis, keepdims, tf.reduce_max, tf.reduce_any)


def min(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The minimum along some axes."""
    return _extreme(a, axis, keepdims, tf.reduce_min, tf.reduce_all)


def amax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """The maximum along some axes."""
    _no_out(out, "amax")
    return max(a, axis, keepdims)


def amin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Tensor:
    """The minimum along some axes."""
    _no_out(out, "amin")
    return min(a, axis, keepdims)


def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The maximum minus the minimum along some axes.

    >>> tf.experimental.numpy.ptp([3, 9, 4])
    <tf.Tensor: shape=(), dtype=int64, numpy=6>
    """
    a = to_array(a)
    return tf.subtract(max(a, axis, keepdims), min(a, axis, keepdims))


def all(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether all elements along some axes are true."""
    return tf.reduce_all(to_array(a, tf.bool), axis, bool(keepdims))


def any(a: Any, axis: Any = None, keepdims: Any = None) -> Tensor:
    """Whether some element along some axes is true."""
    return tf.reduce_any(to_array(a, tf.bool), axis, bool(keepdims))


def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """How many elements are not zero along some axes."""
    return tf.math.count_nonzero(to_array(a), axis)


def _position(a: Any, axis: Any, compute: Callable[..., Tensor]) -> Tensor:
    a = to_array(a)
    if axis is None or a.shape.rank == 0:
        # A scalar has its extremum at 0, for any axis.
        a, axis = tf.reshape(a, [-1]), 0
    return compute(a, axis)


def argmax(a: Any, axis: Any = None) -> Tensor:
    """The index of the maximum along an axis, or in the flattened array."""
    return _position(a, axis, tf.argmax)


def argmin(a: Any, axis: Any = None) -> Tensor:
    """The index of the minimum along an axis, or in the flattened array."""
    return _position(a, axis, tf.argmin)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The weighted mean along an axis.

    >>> tf.experimental.numpy.average([1.0, 4.0], weights=[2.0, 1.0])
    <tf.Tensor: shape=(), dtype=float64, numpy=2.0>
    """
    if axis is not None and not isinstance(axis, int):
        raise ValueError(f"The `axis` argument must be None or an integer, got {axis!r}.")
    a = inexact(a)
    if weights is None:
        result = tf.reduce_mean(a, axis)
        if not returned:
            return result
        count = tf.cast(tf.size(a) if axis is None else tf.shape(a)[axis], result.dtype)
        return result, tf.fill(tf.shape(result), count)
    a, weights = promoted(a, inexact(weights))
    if axis is not None and (None in (a.shape.rank, weights.shape.rank)):
        weights = _along(weights, axis, a)
    elif axis is not None and weights.shape.rank == 1 and a.shape.rank != 1:
        others = [1] * (a.shape.rank or 1)
        others[axis] = -1
        weights = tf.reshape(weights, others)
        weights = tf.broadcast_to(weights, tf.shape(a))
    elif not a.shape.is_compatible_with(weights.shape):
        raise tf.errors.InvalidArgumentError(
            None,
            None,
            f"average: weights of shape {weights.shape} do not fit an array of shape {a.shape}. "
            "Give weights of the same shape, or a vector together with `axis`.",
        )
    total = tf.reduce_sum(weights, axis)
    result = tf.reduce_sum(a * weights, axis) / total
    return (result, total) if returned else result


def _along(weights: Tensor, axis: int, a: Tensor) -> Tensor:
    """Weights of an axis, or of all elements, broadcastable to an array of unknown rank."""
    rank = tf.rank(a)
    place = tf.math.floormod(axis, rank)[None, None]
    column = tf.tensor_scatter_nd_update(tf.ones([rank], tf.int32), place, [-1])
    shape = tf.cond(tf.equal(tf.rank(weights), rank), lambda: tf.shape(weights), lambda: column)
    return tf.broadcast_to(tf.reshape(weights, shape), tf.shape(a))


def _accumulated(a: Any, axis: Any, dtype: Any, compute: Callable[..., Tensor]) -> Tensor:
    a = to_array(a)
    if dtype is not None:
        a = tf.cast(a, as_dtype(dtype))
    elif a.dtype.is_integer and a.dtype is not tf.int64:
        a = tf.cast(a, default_float() if a.dtype is tf.uint64 else default_integer())
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    return compute(a, axis)


def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """The cumulative sum along an axis or of the flattened array.

    >>> tf.experimental.numpy.cumsum([1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([1, 3, 6])>
    """
    return _accumulated(a, axis, dtype, tf.cumsum)


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    """The cumulative product along an axis or of the flattened array."""
    return _accumulated(a, axis, dtype, tf.math.cumprod)

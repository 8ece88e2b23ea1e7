"""Fast reductions in NumPy: short rows are first accumulated into long ones."""

from __future__ import annotations

import functools
import math

import numpy as np

from ...core.shape_rules import normalized_axis

# Below this many elements NumPy's own reduction is the fastest.
_LARGE = 4096
# Rows of this length amortize NumPy's inner-loop overhead and still fit the L1 cache.
_ROW = 2048


@functools.lru_cache(maxsize=64)
def ones(count, kind):
    """A vector of ones: a matmul with it sums a small matrix faster than a reduction."""
    made = np.ones(count, kind)
    made.flags.writeable = False
    return made


def numbers_of(indices):
    """The axes in an index array of any shape, as a sequence of ints."""
    axes = indices.tolist()
    if type(axes) is int:
        return (axes,)
    return indices.ravel().tolist() if axes and type(axes[0]) is list else axes


def checked_axes(axes, rank):
    """Normalize negative axes; ValueError for one that is out of range or duplicate."""
    found = tuple([normalized_axis(axis, rank, "reduction axis") for axis in axes])
    if len(set(found)) != len(found):
        raise ValueError(
            f"Invalid reduction arguments: the axes {list(axes)} name a dimension twice. "
            "Name each only once."
        )
    return found


def lowest(kind):
    """The identity element of a maximum: minus infinity, or the smallest integer."""
    return np.iinfo(kind).min if kind.kind in "iu" else -np.inf


def highest(kind):
    """The identity element of a minimum: infinity, or the largest integer."""
    return np.iinfo(kind).max if kind.kind in "iu" else np.inf


def truncated_quotient(total, count):
    """Integer division towards zero."""
    quotient = total // count
    return quotient + ((quotient < 0) & (quotient * count != total))


def reduce(ufunc, array, indices, keep_dims, dtype=None):
    """`ufunc.reduce` over the axes that an array of indices names, computed in `dtype`."""
    axes = tuple(indices.tolist() if indices.ndim == 1 else numbers_of(indices))
    if array.size >= _LARGE:
        axes = checked_axes(axes, array.ndim)
        if axes and len(axes) < array.ndim and array.flags.c_contiguous:
            return _reduce_large(ufunc, array, axes, keep_dims, dtype)
    elif not array.ndim:
        # NumPy treats a scalar as a vector of one element; TensorFlow does not.
        checked_axes(axes, 0)
        return array
    try:
        return ufunc.reduce(array, axes, dtype, None, keep_dims)
    except ValueError:
        checked_axes(axes, array.ndim)
        raise


def _reduce_large(ufunc, array, axes, keep_dims, dtype):
    first, last = min(axes), max(axes)
    if last - first + 1 != len(axes):
        return ufunc.reduce(array, axes, dtype, None, keep_dims)
    sizes = array.shape
    before, after = math.prod(sizes[:first]), math.prod(sizes[last + 1 :])
    length = math.prod(sizes[first : last + 1])
    if after == 1:
        result = _reduce_rows(ufunc, array.reshape(before, length), dtype)
    else:
        result = _reduce_columns(ufunc, array.reshape(before, length, after), dtype)
    middle = (1,) * len(axes) if keep_dims else ()
    return result.reshape(sizes[:first] + middle + sizes[last + 1 :])


def _reduce_rows(ufunc, array, dtype):
    """Reduce the last axis of a matrix; many short rows are faster as a few long columns."""
    if array.shape[1] > 16 or array.shape[0] < 64:
        return ufunc.reduce(array, 1, dtype)
    return ufunc.reduce(np.ascontiguousarray(array.T), 0, dtype)


def _reduce_columns(ufunc, array, dtype):
    """Reduce the middle axis of three.

    Several rows are treated as one long row, and the long rows folded in halves at the end. For
    sums this pairwise summation is also more precise: no total adds more than a few thousand
    numbers.
    """
    before, length, after = array.shape
    together = 1 << max(0, (min(_ROW // after, length // 4)).bit_length() - 1)
    if together == 1:
        return ufunc.reduce(array, 1, dtype)
    rows = length // together
    total = ufunc.reduce(
        array[:, : rows * together].reshape(before, rows, together * after), 1, dtype
    )
    count = together
    while count > 1:
        count //= 2
        total = ufunc(total[:, : count * after], total[:, count * after :])
    if rows * together < length:
        total = ufunc(total, ufunc.reduce(array[:, rows * together :], 1, dtype))
    return total

"""The unique values of a vector, or slices of a tensor, in order of first appearance."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...core import dtypes
from ...core.convert import convert_to_tensor
from ...core.dtypes import REAL, as_dtype, int32
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, normalized_axis
from ...core.shapes import TensorShape
from ..array.arguments import INDEX, require_type

# The ops have the names that TensorFlow prints for its results.
UniqueResult = namedtuple("Unique", ["y", "idx"])  # type: ignore[name-match]
UniqueWithCountsResult = namedtuple("UniqueWithCounts", ["y", "idx", "count"])  # type: ignore[name-match]


# From how many integers on, and up to which range of them, a lookup table is faster than sorting.
_WORTH_A_TABLE, _SPAN = 256, 8


def _in_order_of_appearance(first, inverse):
    """Reorder NumPy's sorted unique values by first appearance."""
    order = np.argsort(first, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return first[order], position[np.reshape(inverse, -1)]


def _distinct(values):
    """The index of each unique value's first occurrence, and every value's unique index."""
    if values.dtype.kind == "O":
        return _distinct_objects(values.tolist())
    if values.dtype.kind in "iu" and len(values) >= _WORTH_A_TABLE:
        low = int(values.min())
        span = int(values.max()) - low + 1
        if span <= _SPAN * len(values):
            return _distinct_by_table(np.subtract(values, low, dtype=np.int64), span)
    if values.dtype.kind == "V":
        values = values.astype(np.float32)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True, equal_nan=False)
    return _in_order_of_appearance(first, inverse)


def _distinct_by_table(keys, span):
    """The same for integers below `span`, with a lookup table instead of sorting."""
    table = np.full(span, -1)
    # Of duplicate indices the last assignment wins: reversed, the first occurrence.
    table[keys[::-1]] = np.arange(len(keys) - 1, -1, -1)
    first = np.sort(table[table >= 0])
    table[keys[first]] = np.arange(len(first))
    return first, table[keys]


def _distinct_objects(values):
    places: dict[object, int] = {}
    first: list[int] = []
    which = []
    for index, value in enumerate(values):
        place = places.setdefault(value, len(first))
        if place == len(first):
            first.append(index)
        which.append(place)
    return np.array(first, np.int64), np.array(which, np.int64)


def _distinct_along(x, axis):
    axis = np.asarray(axis)
    if axis.ndim != 1:
        raise ValueError("axis expects a 1D vector.")
    if len(axis) > 1:
        raise ValueError("axis does not support input tensors larger than 1 elements")
    if not len(axis):
        if x.ndim != 1:
            raise ValueError("unique expects a 1D vector.")
        return 0, _distinct(x)
    place = normalized_axis(int(axis[0]), x.ndim)
    if x.ndim == 1:
        return place, _distinct(x)
    rows = np.moveaxis(x, place, 0).reshape(x.shape[place], -1)
    if rows.dtype.kind == "O":
        return place, _distinct_objects(map(tuple, rows.tolist()))
    if rows.dtype.kind == "V":
        rows = rows.astype(np.float32)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True, axis=0)
    return place, _in_order_of_appearance(first, inverse)


def _vector_of_unknown(inputs, attrs):
    x = inputs[0]
    if x.shape.rank not in (None, 1):
        raise ValueError(f"unique expects a 1D vector, got shape {x.shape}.")
    vector = TensorShape([None])
    return [vector, vector.merge_with(x.shape), vector]


def _slices_of_unknown(inputs, attrs):
    return [UNKNOWN, TensorShape([None]), TensorShape([None])]


def _first_two(rule):
    return lambda inputs, attrs: rule(inputs, attrs)[:2]


_UNIQUE_TYPES = REAL | {dtypes.bool, dtypes.string}


def _unique(name, inputs, counted):
    """One of the four Unique ops: with or without an axis, with or without counts."""
    with_axis = "axis" in inputs
    rule = _slices_of_unknown if with_axis else _vector_of_unknown

    def compute(x, axis, out_idx):
        if not with_axis and x.ndim != 1:
            raise ValueError("unique expects a 1D vector.")
        place, (first, which) = _distinct_along(x, axis)
        results = [np.take(x, first, place), which.astype(out_idx.numpy)]
        if counted:
            counts = np.bincount(which, minlength=len(first))
            results.append(counts.astype(out_idx.numpy))
        return results

    def of_slices(x, axis, *, out_idx=int32):
        return compute(x, axis, out_idx)

    def of_elements(x, *, out_idx=int32):
        return compute(x, (), out_idx)

    outputs = "y: T, idx: out_idx" + (", count: out_idx" if counted else "")
    return op(
        name,
        f"{inputs} -> {outputs}",
        T=_UNIQUE_TYPES,
        Taxis=INDEX,
        shape=rule if counted else _first_two(rule),
        kernel=of_slices if with_axis else of_elements,
        gradient=None,
    )


Unique = _unique("Unique", "x: T", counted=False)
UniqueWithCounts = _unique("UniqueWithCounts", "x: T", counted=True)
UniqueV2 = _unique("UniqueV2", "x: T, axis: Taxis", counted=False)
UniqueWithCountsV2 = _unique("UniqueWithCountsV2", "x: T, axis: Taxis", counted=True)


def _unique_call(op, x, out_idx):
    out_idx = as_dtype(out_idx or int32)
    require_type(op.name, "out_idx", out_idx, INDEX)
    return execute(op, (convert_to_tensor(x),), {"out_idx": out_idx})


def unique(x, out_idx=int32, name=None):
    """The unique values of a vector in order of first appearance, and each value's index there.

    >>> y, idx = tf.unique([3, 1, 3, 2])
    >>> y.numpy().tolist(), idx.numpy().tolist()
    ([3, 1, 2], [0, 1, 0, 2])
    """
    return UniqueResult(*_unique_call(Unique, x, out_idx))


def unique_with_counts(x, out_idx=int32, name=None):
    """The unique values of a vector, each value's index among them, and their counts.

    >>> y, idx, count = tf.unique_with_counts([3, 1, 3])
    >>> y.numpy().tolist(), count.numpy().tolist()
    ([3, 1], [2, 1])
    """
    return UniqueWithCountsResult(*_unique_call(UniqueWithCounts, x, out_idx))

"""Scatter kernels: combining updates with rows of an array, where row indices may repeat."""

from __future__ import annotations

import math

import numpy as np

from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape

# The reduction of several updates to one row, keyed by the operation on the row.
_TOGETHER = {
    "add": np.add,
    "sub": np.add,
    "mul": np.multiply,
    "max": np.fmax,
    "min": np.fmin,
}
# From this many elements on, a matmul with a sparse matrix is profitable, its construction
# included.
_LARGE = 32768
_POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


def shape_text(sizes) -> str:
    """Format sizes as TensorFlow's runtime does."""
    return dimensions_text(TensorShape.of(tuple(sizes)))


def combined(rows, updates, operation):
    """The new rows: the old ones combined with their updates (add, multiply, ...)."""
    if operation == "add":
        return rows + updates
    if operation == "sub":
        return rows - updates
    if operation == "mul":
        return rows * updates
    if operation == "div":
        if rows.dtype.kind in "iu":
            # Integer division truncates.
            quotient = np.abs(rows) // np.abs(updates)
            return (np.sign(rows) * np.sign(updates) * quotient).astype(rows.dtype)
        return rows / updates
    if operation == "max":
        return np.where(rows < updates, updates, rows)
    if operation == "min":
        return np.where(updates < rows, updates, rows)
    return np.broadcast_to(updates, rows.shape)


def sparse_sum(data, rows, count):
    """A segment sum: a matrix of `count` rows, each the sum of the rows of `data` with its index.

    None where other methods are as fast.
    """
    if data.size < _LARGE or data.dtype.kind not in "iufc" or data.dtype == np.float16:
        return None
    from scipy.sparse import csr_array

    number = len(rows)
    chosen = csr_array((np.ones(number, data.dtype), rows, np.arange(number + 1)), (number, count))
    return chosen.T @ data


def combine_rows(ufunc, flat, rows, data):
    """Combine rows of a matrix sequentially with those of a flat array."""
    width = data.shape[1]
    places = rows
    if width != 1:
        places = (rows.astype(np.int64)[:, np.newaxis] * width + np.arange(width)).reshape(-1)
    # ufunc.at has a fast path for flat arrays, not for rows.
    ufunc.at(flat, places, data.reshape(-1))


def scatter_rows(array, rows, updates, operation) -> None:
    """Update rows of a contiguous array in place; duplicate rows are updated sequentially.

    `rows` is a vector of indices along the first axis, all in range; `updates` has a row for each
    of them, or is one scalar for all. "sum" adds to zeros.
    """
    if not rows.size or not array.size:
        return
    if operation == "sum":
        data = updates.reshape(len(rows), -1)
        sums = sparse_sum(data, rows, len(array))
        if sums is not None:
            array[...] = sums.reshape(array.shape)
            return
        if array.dtype.kind in "iufc":
            combine_rows(np.add, array.reshape(-1), rows, data)
            return
        operation = "add"
    if operation == "update":
        array[rows] = updates
        return
    if rows.size > 1:
        order = rows.argsort(kind="stable")
        places = rows[order]
        starts = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
        if len(starts) < len(rows):
            _scatter_groups(array, rows, updates, operation, order, places, starts)
            return
    array[rows] = combined(array[rows], updates, operation)


def _scatter_groups(array, rows, updates, operation, order, places, starts):
    together = _TOGETHER.get(operation)
    if together is None or array.dtype == object:
        updates = np.broadcast_to(updates, (len(rows), *array.shape[1:]))
        for row, update in zip(rows.tolist(), updates, strict=True):
            array[row] = combined(array[row], update, operation)
        return
    updates = np.broadcast_to(updates, (len(rows), *array.shape[1:]))[order]
    unique = places[starts]
    sums = together.reduceat(updates, starts, axis=0, dtype=array.dtype)
    array[unique] = combined(array[unique], sums, operation)


def positions(indices, sizes, policy=""):
    """The flat row index of each index vector, and a mask of updates to apply (None: all).

    ValueError names the first vector out of range, unless the policy is to ignore it.
    """
    if policy not in _POLICIES:
        raise ValueError(f"Unknown bad indices handling attribute: {policy}")
    depth = indices.shape[-1]
    vectors = np.asarray(indices).reshape(math.prod(indices.shape[:-1]), depth).astype(np.int64)
    limits = np.array(sizes[:depth], np.int64)
    bad = ((vectors < 0) | (vectors >= limits)).any(1)
    keep = None
    if bad.any():
        if policy != "IGNORE":
            raise ValueError(outside(indices, bad, f"shape {shape_text(sizes)}"))
        keep = ~bad
        vectors = vectors[keep]
    strides = np.array([math.prod(sizes[i + 1 : depth]) for i in range(depth)], np.int64)
    return vectors @ strides, keep


def outside(indices, bad, what) -> str:
    """The message for the first of the invalid index vectors (in a flat mask)."""
    outer = indices.shape[:-1]
    position = np.unravel_index(bad.argmax(), outer)
    where = f"[{','.join(str(i) for i in position)}]" if position else ""
    vector = ", ".join(str(i) for i in np.asarray(indices)[position].tolist())
    return f"indices{where} = [{vector}] does not index into {what}"


def require_fit(sizes, indices, updates) -> None:
    """ValueError unless `updates` has one slice of an array of these sizes per index vector.

    All three are shapes; unknown dimensions are compatible with any.
    """
    if len(indices) == 0:
        raise ValueError(f"Indices shape must have rank at least one. Found:{shape_text(indices)}")
    outer, depth = len(indices) - 1, indices[-1]
    if len(updates) < outer or not _alike(indices[:-1], updates[:outer]):
        raise ValueError(
            f"Dimensions [0,{outer}) of indices[shape={shape_text(indices)}] must match "
            f"dimensions [0,{outer}) of updates[shape={shape_text(updates)}]"
        )
    if depth is None:
        return
    if depth > len(sizes) or not _alike(sizes[depth:], updates[outer:]):
        raise ValueError(
            f"Dimensions [{depth},{len(sizes)}) of input[shape={shape_text(sizes)}] must match "
            f"dimensions [{outer},{len(updates)}) of updates[shape={shape_text(updates)}]"
        )


def _alike(a, b):
    return len(a) == len(b) and all(
        x == y or x is None or y is None for x, y in zip(a, b, strict=True)
    )


def scatter_nd_into(array, indices, updates, operation, policy="") -> None:
    """Update slices of a contiguous array in place; on an error nothing is changed."""
    sizes = array.shape
    require_fit(sizes, indices.shape, updates.shape)
    depth = indices.shape[-1]
    if not array.size and math.prod(indices.shape[:-1]):
        raise ValueError("Indices and updates specified for empty output shape")
    rows, keep = positions(indices, sizes, policy)
    inner = sizes[depth:]
    updates = np.asarray(updates).reshape(math.prod(indices.shape[:-1]), *inner)
    table = array.reshape(math.prod(sizes[:depth]), *inner)
    scatter_rows(table, rows, updates if keep is None else updates[keep], operation)

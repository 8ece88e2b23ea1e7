"""Products of matrices and of batches of them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.buffers import empty
from ...core.engine import BATCHED, LEAST_OF_BATCH, pool
from .. import blas
from .library import Library, load
from .primitive import (
    DST,
    FLOAT32,
    SRC,
    WEIGHTS,
    Primitive,
    address,
    attributes,
    cached,
    described,
    prepared_library,
    type_of,
)
from .sharing import sharing

# Products of less work than this are not worth a second thread.
_LEAST_WORK = 1 << 18
# Rows that are multiples of this many elements apart meet in the same few places of the caches.
# With as few rows or columns on the other side oneDNN goes through them as they are, half as fast;
# to copy them costs less, unless there are fewer still.
_ALIASED, _FEW = 1024, range(96, 257)
# So many elements more are between the rows of a copy.
_GAP = 16
# One more dimension and oneDNN has no descriptor for it.
_MOST_DIMENSIONS = 12


@lru_cache(maxsize=1)
def outruns_blas() -> bool:
    """Whether oneDNN works with wider registers than NumPy's BLAS does, twice as fast."""
    return _is_wide() and blas.is_narrow()


def matmul(a: Any, b: Any) -> Any:
    """a @ b for matrices of float32 whose rows or columns are contiguous."""
    if a.dtype != np.float32 or b.dtype != np.float32:
        return None
    if not pool.of_engine and not outruns_blas():
        return None
    rows, inner = a.shape
    columns = b.shape[1]
    work = rows * inner * columns
    if work < _LEAST_WORK or b.shape[0] != inner:
        return None
    first, second = _order(a), _order(b)
    if first is None or second is None:
        return None
    alone = outruns_blas() and not sharing.is_worth_it(work)
    if second[0] == b"T" and _is_wide():
        return _by_transposed(a, b, alone)
    if first[0] == b"T" and _is_slow(first[1], columns):
        a = _further_apart(a.T).T
        first = b"T", a.strides[1] // a.itemsize
    if second[0] == b"N" and _is_slow(second[1], rows):
        b = _further_apart(b)
        second = b"N", b.strides[0] // b.itemsize
    output = empty((rows, columns), a.dtype)
    arguments = (
        first[0], second[0], rows, columns, inner, 1.0, address(a), first[1], address(b),
        second[1], 0.0, address(output), columns,
    )  # fmt: skip
    if not alone:
        pool.to_engine()
    return None if prepared_library(alone).multiply(*arguments) else output


@lru_cache(maxsize=1)
def _is_wide() -> bool:
    library = load()
    return library is not None and library.is_wide


def _by_transposed(a: Any, b: Any, alone: bool) -> Any:
    """a @ b for the transposed rows of b.

    With AVX-512 a primitive takes 0.65 of the time that oneDNN's function of BLAS takes for them,
    0.15 where rows are a multiple of 1024 elements apart.
    """
    output = empty((a.shape[0], b.shape[1]), a.dtype)
    return _by_primitive("product", a, b, output, alone=alone)


def _order(array: Any) -> tuple[bytes, int] | None:
    """Whether a matrix lies there transposed, and how far apart its rows are."""
    by_row, by_column = array.strides
    size = array.itemsize
    if by_column == size and by_row >= array.shape[1] * size:
        return b"N", by_row // size
    if by_row == size and by_column >= array.shape[0] * size:
        return b"T", by_column // size
    return None


def _is_slow(distance: int, others: int) -> bool:
    """Whether rows so far apart are slow to multiply by so many rows or columns."""
    return distance % _ALIASED == 0 and others in _FEW


def _further_apart(array: Any) -> Any:
    """A copy of contiguous rows with a gap between them."""
    rows, columns = array.shape
    copy = empty((rows, columns + _GAP), array.dtype)[:, :columns]
    copy[...] = array
    return copy


def batch_matmul(a: Any, b: Any, out: Any = None) -> Any:
    """a @ b for as many matrices of float32 on either side, whose rows or columns are contiguous.

    NumPy calls BLAS for one after the other, and that takes one thread for a small one; a thread
    of oneDNN's alone is no faster.
    """
    if not pool.of_engine or a.dtype != np.float32 or b.dtype != np.float32:
        return None
    *batch, rows, inner = a.shape
    *other, depth, columns = b.shape
    work = rows * inner * columns
    if batch != other or depth != inner or work not in BATCHED:
        return None
    if math.prod(batch) * work < LEAST_OF_BATCH:
        return None
    if out is None:
        out = empty((*batch, rows, columns), a.dtype)
    return None if a.ndim > _MOST_DIMENSIONS else _by_primitive("batch", a, b, out)


def half_matmul(a: Any, b: Any) -> Any:
    """a @ b for matrices of bfloat16, or as many of them on either side."""
    kind = type_of(a)
    *batch, rows, inner = a.shape
    *other, depth, columns = b.shape
    if kind is None or batch != other or depth != inner or a.dtype != b.dtype:
        return None
    if math.prod(batch) * rows * inner * columns < _LEAST_WORK or a.ndim > _MOST_DIMENSIONS:
        return None
    out = empty((*batch, rows, columns), a.dtype)
    # What lies otherwise is copied: float32 would be a copy, too.
    a, b = (each if _layout(each) else np.ascontiguousarray(each) for each in (a, b))
    return _by_primitive("halves", a, b, out, kind)


Layout = tuple[tuple[int, ...], tuple[int, ...]]


def _layout(array: Any) -> Layout | None:
    """The shape and strides, in elements, of matrices with contiguous rows or columns."""
    if not array.flags.aligned or min(array.strides) <= 0:
        return None
    size = array.itemsize
    strides = tuple([stride // size for stride in array.strides])
    *_, by_row, by_column = strides
    rows, columns = array.shape[-2:]
    if (by_column == 1 and by_row >= columns) or (by_row == 1 and by_column >= rows):
        return array.shape, strides
    return None


def _by_primitive(
    name: str, a: Any, b: Any, out: Any, kind: int = FLOAT32, alone: bool = False
) -> Any:
    """a @ b, written to `out`; None where oneDNN cannot take them as they lie."""
    layouts = _layout(a), _layout(b), _layout(out)
    if None in layouts:
        return None

    def make(library: Library) -> Primitive:
        return _batched(library, *layouts, kind=kind)

    primitive = cached((name, *layouts), make, alone)
    if primitive is None:
        return None
    if alone:
        primitive.run_beside(a, b, out)
    else:
        primitive.run(a, b, out)
    return out


def _batched(library: Library, *layouts: Any, kind: int = FLOAT32) -> Primitive:
    """The primitive for matrices that lie so on the left, on the right, and in the result."""
    a, b, result = (described(library, *each, kind) for each in layouts)
    descriptor = library.made(
        "dnnl_matmul_primitive_desc_create",
        library.engine, a, b, None, result, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: a, WEIGHTS: b, DST: result})

"""Matmuls and batched matmuls."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...runtime import blas_threads
from ...runtime.buffers import aligned, empty, is_large, read_address
from ...runtime.engine_selection import BATCHED_GEMM, SMALLEST_BATCHED_GEMM, pool
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
from .sync_latency import sharing

# In multiplications. Below, a second thread is not profitable.
_LEAST_WORK = 1 << 18
# Rows whose stride is a multiple of this many elements alias in the cache. With as few rows or
# columns on the other side oneDNN reads them in place, at half the speed; a copy with a padded
# leading dimension costs less, unless there are fewer still.
_ALIASED, _FEW = 1024, range(96, 257)
# The padding of the leading dimension of such a copy, in elements.
_GAP = 16
# oneDNN's descriptors have no more dimensions.
_MOST_DIMENSIONS = 12
_FLOATS = np.dtype(np.float32)
_ZERO = ctypes.c_float(0)

Pair = tuple[int, int]


@lru_cache(maxsize=1)
def outruns_blas() -> bool:
    """Whether oneDNN has AVX-512 kernels where NumPy's BLAS has none: it is twice as fast."""
    return _is_wide() and blas_threads.lacks_avx512()


def matmul(a: Any, b: Any) -> Any:
    """a @ b for float32 matrices that are contiguous along rows or columns."""
    if a.dtype != _FLOATS or b.dtype != _FLOATS:
        return None
    product = _gemm(a.shape, a.strides, b.shape, b.strides)
    if product is None or not (pool.owned_by_engine or outruns_blas()):
        return None
    alone = outruns_blas() and not sharing.is_profitable(product.work)
    if product.is_by_transposed:
        return _by_transposed(a, b, alone)
    if product.copies_a:
        a = _padded_copy(a.T).T
    if product.copies_b:
        b = _padded_copy(b)
    output = product.empty(product.shape, _FLOATS)
    if not alone:
        pool.give_to_engine()
    failed = prepared_library(alone).multiply(
        *product.sizes, address(a), product.between_a, address(b), product.between_b, _ZERO,
        read_address(output), product.between_columns,
    )  # fmt: skip
    return None if failed else output


class _Gemm(NamedTuple):
    """GEMM parameters cached by shape and strides, as C arguments."""

    # Multiplications.
    work: int
    shape: tuple[int, int]
    empty: Callable[..., Any]
    # The arguments before the addresses, and the leading dimensions.
    sizes: tuple[Any, ...]
    between_a: Any
    between_b: Any
    between_columns: Any
    # The operands to be copied with a padded leading dimension.
    copies_a: bool
    copies_b: bool
    is_by_transposed: bool


@lru_cache(maxsize=4096)
def _gemm(a_shape: Pair, a_strides: Pair, b_shape: Pair, b_strides: Pair) -> _Gemm | None:
    """The parameters of a float32 GEMM, by its operands' layouts; None where BLAS runs it."""
    (rows, inner), (depth, columns) = a_shape, b_shape
    work = rows * inner * columns
    first, second = _order(a_shape, a_strides), _order(b_shape, b_strides)
    if work < _LEAST_WORK or depth != inner or first is None or second is None:
        return None
    (a_order, a_between), (b_order, b_between) = first, second
    copies_a = a_order == b"T" and _aliases(a_between, columns)
    copies_b = b_order == b"N" and _aliases(b_between, rows)
    letters = map(ctypes.c_char, (a_order, b_order))
    numbers = map(ctypes.c_int64, (rows, columns, inner))
    return _Gemm(
        work,
        (rows, columns),
        aligned if is_large((rows, columns), _FLOATS) else np.empty,
        (*letters, *numbers, ctypes.c_float(1)),
        ctypes.c_int64(rows + _GAP if copies_a else a_between),
        ctypes.c_int64(columns + _GAP if copies_b else b_between),
        ctypes.c_int64(columns),
        copies_a,
        copies_b,
        b_order == b"T" and _is_wide(),
    )


@lru_cache(maxsize=1)
def _is_wide() -> bool:
    library = load()
    return library is not None and library.is_wide


def _by_transposed(a: Any, b: Any, alone: bool) -> Any:
    """a @ b for a transposed b.

    With AVX-512 a primitive takes 0.65 of the time of oneDNN's `sgemm`, 0.15 where the row stride
    is a multiple of 1024 elements.
    """
    output = empty((a.shape[0], b.shape[1]), a.dtype)
    return _by_primitive("product", a, b, output, alone=alone)


def _order(shape: Pair, strides: Pair) -> tuple[bytes, int] | None:
    """Whether a float32 matrix is transposed in memory, and its leading dimension."""
    (rows, columns), (by_row, by_column), size = shape, strides, _FLOATS.itemsize
    if by_row % size or by_column % size:
        return None
    if by_column == size and by_row >= columns * size:
        return b"N", by_row // size
    if by_row == size and by_column >= rows * size:
        return b"T", by_column // size
    return None


def _aliases(distance: int, others: int) -> bool:
    """Whether rows of this leading dimension alias in the cache, for so many rows or columns."""
    return distance % _ALIASED == 0 and others in _FEW


def _padded_copy(array: Any) -> Any:
    """A copy of contiguous rows with a padded leading dimension."""
    rows, columns = array.shape
    copy = empty((rows, columns + _GAP), array.dtype)[:, :columns]
    copy[...] = array
    return copy


def batch_matmul(a: Any, b: Any, out: Any = None) -> Any:
    """a @ b for batches of float32 matrices that are contiguous along rows or columns.

    NumPy calls BLAS for one matrix after the other, which runs small ones on one thread; a single
    thread of oneDNN is not faster.
    """
    if not pool.owned_by_engine or a.dtype != np.float32 or b.dtype != np.float32:
        return None
    *batch, rows, inner = a.shape
    *other, depth, columns = b.shape
    work = rows * inner * columns
    if batch != other or depth != inner or work not in BATCHED_GEMM:
        return None
    if math.prod(batch) * work < SMALLEST_BATCHED_GEMM:
        return None
    if out is None:
        out = empty((*batch, rows, columns), a.dtype)
    return None if a.ndim > _MOST_DIMENSIONS else _by_primitive("batch", a, b, out)


def half_matmul(a: Any, b: Any) -> Any:
    """a @ b for bfloat16 matrices, or batches of them."""
    kind = type_of(a)
    *batch, rows, inner = a.shape
    *other, depth, columns = b.shape
    if kind is None or batch != other or depth != inner or a.dtype != b.dtype:
        return None
    if math.prod(batch) * rows * inner * columns < _LEAST_WORK or a.ndim > _MOST_DIMENSIONS:
        return None
    out = empty((*batch, rows, columns), a.dtype)
    # Other memory layouts are copied, as a conversion to float32 would be.
    a, b = (each if _layout(each) else np.ascontiguousarray(each) for each in (a, b))
    return _by_primitive("halves", a, b, out, kind)


Layout = tuple[tuple[int, ...], tuple[int, ...]]


def _layout(array: Any) -> Layout | None:
    """The shape and strides, in elements, of matrices that are contiguous along rows or columns."""
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
    """a @ b, written to `out`; None where oneDNN has no primitive for these memory layouts."""
    layouts = _layout(a), _layout(b), _layout(out)
    if None in layouts:
        return None

    def make(library: Library) -> Primitive:
        return _batched(library, *layouts, kind=kind)

    primitive = cached((name, *layouts), make, alone)
    if primitive is None:
        return None
    if alone:
        primitive.run_unclaimed(a, b, out)
    else:
        primitive.run(a, b, out)
    return out


def _batched(library: Library, *layouts: Any, kind: int = FLOAT32) -> Primitive:
    """The primitive for these memory layouts of the operands and of the result."""
    a, b, result = (described(library, *each, kind) for each in layouts)
    descriptor = library.made(
        "dnnl_matmul_primitive_desc_create",
        library.engine, a, b, None, result, attributes(library),
    )  # fmt: skip
    return Primitive(library, descriptor, {SRC: a, WEIGHTS: b, DST: result})

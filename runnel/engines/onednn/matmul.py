"""Products of matrices, where oneDNN has the processors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.engine import pool
from .primitive import address, prepared_library

# Products of less work than this are not worth a second thread.
_LEAST_WORK = 1 << 18


def matmul(a: Any, b: Any) -> Any:
    """a @ b for matrices of float32 whose rows or columns are contiguous."""
    if not pool.of_engine or a.dtype != np.float32 or b.dtype != np.float32:
        return None
    rows, inner = a.shape
    columns = b.shape[1]
    if rows * inner * columns < _LEAST_WORK or b.shape[0] != inner:
        return None
    first, second = _order(a), _order(b)
    if first is None or second is None:
        return None
    output = np.empty((rows, columns), np.float32)
    status = prepared_library().multiply(
        first[0], second[0], rows, columns, inner, 1.0, address(a), first[1], address(b),
        second[1], 0.0, address(output), columns,
    )  # fmt: skip
    return None if status else output


def _order(array: Any) -> tuple[bytes, int] | None:
    """Whether a matrix lies there transposed, and how far apart its rows are."""
    by_row, by_column = array.strides
    size = array.itemsize
    if by_column == size and by_row >= array.shape[1] * size:
        return b"N", by_row // size
    if by_row == size and by_column >= array.shape[0] * size:
        return b"T", by_column // size
    return None

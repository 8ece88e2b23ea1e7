"""Buffers: cache-line aligned arrays.

An AVX-512 load is 64 bytes: one cache line if it is aligned and two if not. `malloc` aligns to 16
bytes only.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# In bytes.
CACHE_LINE = 64
# In bytes. Below, aligning costs three times the allocation and gains next to nothing.
_LEAST = 1 << 15


def _by_header(array: Any) -> int:
    # The data pointer is the first field of PyArrayObject after the object header.
    return _word_at(id(array) + _HEADER).value


def _by_interface(array: Any) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


_word_at = ctypes.c_size_t.from_address
_HEADER = object.__basicsize__
_sample = np.empty(3)[1:]
# `__array_interface__` takes ten times as long, and a step asks a thousand times.
read_address = _by_header if _by_header(_sample) == _by_interface(_sample) else _by_interface


def aligned(shape: Sequence[int], dtype: np.dtype[Any], make: Any = np.empty) -> Any:
    """A new cache-line aligned array."""
    room = make(math.prod(shape) * dtype.itemsize + CACHE_LINE, np.uint8)
    return np.ndarray(shape, dtype, room, -read_address(room) % CACHE_LINE)


def is_large(shape: Sequence[int], dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this size are aligned."""
    return math.prod(shape) * dtype.itemsize >= _LEAST


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """A new array, cache-line aligned if it is large."""
    return aligned(shape, dtype) if is_large(shape, dtype) else np.empty(shape, dtype)


def zeros(shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """A new array of zeros, cache-line aligned if it is large."""
    return aligned(shape, dtype, np.zeros) if is_large(shape, dtype) else np.zeros(shape, dtype)


def is_aligned(array: Any) -> bool:
    """Whether an array is cache-line aligned, or small."""
    return array.nbytes < _LEAST or not read_address(array) % CACHE_LINE


def aligned_copy(array: Any) -> Any:
    """A C-contiguous copy, cache-line aligned if it is large."""
    copy = empty(array.shape, array.dtype)
    copy[...] = array
    return copy

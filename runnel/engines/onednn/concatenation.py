"""Concatenation of large arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime.buffers import empty
from ...runtime.engine_selection import pool
from .library import Library
from .primitive import DST, Described, Primitive, attributes, compute, described

# The argument index of the first source.
_SOURCES = 1024
_FEWEST_ELEMENTS = 1 << 19


def concatenate(first: Any, arrays: Sequence[Any], axis: int) -> Any:
    """Concatenate float32 arrays, `first` and others, along an axis."""
    # It is bound by memory bandwidth: one thread is not faster than NumPy's.
    if not pool.owned_by_engine:
        return None
    rank = first.ndim
    axis = axis + rank if axis < 0 else axis
    shapes = [each.shape for each in arrays]
    before, after = first.shape[:axis], first.shape[axis + 1 :]
    if not all(
        each.dtype == np.float32
        and each.flags.c_contiguous
        and each.ndim == rank
        and each.shape[:axis] == before
        and each.shape[axis + 1 :] == after
        for each in arrays
    ):
        return None
    lengths = tuple(shape[axis] for shape in shapes)
    rows, columns = math.prod(before), math.prod(after)
    result = empty((*before, sum(lengths), *after), first.dtype)
    if result.size < _FEWEST_ELEMENTS or not all(lengths):
        return None
    found = compute(
        ("concatenate", rows, lengths, columns),
        lambda library: _made(library, rows, lengths, columns),
        result.size, *arrays, result,
    )  # fmt: skip
    return result if found else None


def _made(library: Library, rows: int, lengths: Sequence[int], columns: int) -> Primitive:
    def data(length: int) -> Described:
        return described(library, (rows, length, columns), (length * columns, columns, 1))

    sources = [data(length) for length in lengths]
    listed = (ctypes.c_void_p * len(sources))(*(each._as_parameter_.value for each in sources))
    together = data(sum(lengths))
    axis = 1
    descriptor = library.made(
        "dnnl_concat_primitive_desc_create",
        library.engine, together, len(sources), axis, listed, attributes(library),
    )  # fmt: skip
    arguments: dict[int, Any] = {_SOURCES + place: each for place, each in enumerate(sources)}
    return Primitive(library, descriptor, {**arguments, DST: together})

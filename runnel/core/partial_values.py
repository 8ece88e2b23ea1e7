"""Partially known size vectors, such as `[tf.shape(x)[0], 3]` while a graph is built."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .op import KERNEL_FAILURES
from .tensor import SymbolicTensor, Tensor

# The inputs of an op whose elements it passes on; the others are indices and axes.
_MOVING: dict[str, slice] = {
    **dict.fromkeys(("Identity", "Cast", "Reshape", "ExpandDims", "Squeeze"), slice(1)),
    **dict.fromkeys(("StridedSlice", "Slice", "GatherV2", "ReverseV2", "Tile"), slice(1)),
    "Pack": slice(None),
    "ConcatV2": slice(-1),
}
# An element of the result is known if those of both operands are.
_COMPUTING = frozenset({"AddV2", "Sub", "Mul", "FloorDiv", "Maximum", "Minimum"})
_LARGEST = 64
_LONGEST_HISTORY = 100


class Partial(NamedTuple):
    """Integers with a mask of the known ones; unknown elements are 0."""

    values: np.ndarray[Any, Any]
    known: np.ndarray[Any, Any]


def partial_value(tensor: Tensor, seen: dict[int, Any] | None = None) -> Partial | None:
    """The known elements of a small integer tensor; None if none is known."""
    if not tensor.dtype.is_integer:
        return None
    if not isinstance(tensor, SymbolicTensor):
        array = np.asarray(tensor._array)
        return Partial(array, np.ones(array.shape, np.int32)) if array.size <= _LARGEST else None
    seen = {} if seen is None else seen
    key = id(tensor)
    if key not in seen and len(seen) < _LONGEST_HISTORY:
        seen[key] = None
        seen[key] = _found(tensor, seen)
    found: Partial | None = seen.get(key)
    return found


def _found(tensor: SymbolicTensor, seen: dict[int, Any]) -> Partial | None:
    operation = tensor.op
    name = operation.op.name
    if name == "Const":
        value = np.asarray(operation.given["value"])
        return Partial(value, np.ones(value.shape, np.int32)) if value.size <= _LARGEST else None
    if name == "Shape":
        sizes = operation.inputs[0].shape._dims
        if sizes is None:
            return None
        values = np.array([size or 0 for size in sizes], np.int64)
        return Partial(values, np.array([size is not None for size in sizes], np.int32))
    elements = tensor.shape.num_elements()
    if elements is None or elements > _LARGEST:
        return None
    if name in _MOVING:
        return _moved(operation, _MOVING[name], seen)
    if name in _COMPUTING:
        return _computed(operation, seen)
    return None


def _part(tensor: Tensor, seen: dict[int, Any]) -> Partial | None:
    """The known elements of an input; if only its size is known, all are unknown."""
    found = partial_value(tensor, seen)
    elements = tensor.shape.num_elements()
    if found is not None or elements is None or elements > _LARGEST:
        return found
    nothing = np.zeros([size or 0 for size in tensor.shape.as_list()], np.int32)
    return Partial(nothing, nothing)


def _moved(operation: Any, sources: slice, seen: dict[int, Any]) -> Partial | None:
    inputs = list(operation.inputs)
    parts = [_part(each, seen) for each in inputs]
    if any(part is None or not _is_integer(each) for part, each in zip(parts, inputs, strict=True)):
        return None
    moving = set(range(*sources.indices(len(inputs))))
    if any(not parts[i].known.all() for i in range(len(inputs)) if i not in moving):  # type: ignore[union-attr]
        return None
    results = []
    for field in ("values", "known"):
        arrays = [getattr(part, field if i in moving else "values") for i, part in enumerate(parts)]
        try:
            results.append(np.asarray(operation.op.run(arrays, operation.given)))
        except KERNEL_FAILURES:
            return None
    return Partial(*results)


def _computed(operation: Any, seen: dict[int, Any]) -> Partial | None:
    parts = [_part(each, seen) for each in operation.inputs]
    if any(part is None for part in parts) or not all(map(_is_integer, operation.inputs)):
        return None
    known = np.multiply(*[part.known for part in parts if part is not None])
    values = [np.where(part.known, part.values, 1) for part in parts if part is not None]
    try:
        computed = np.asarray(operation.op.run(values, operation.given))
    except KERNEL_FAILURES:
        return None
    return Partial(np.where(known, computed, 0), known)


def _is_integer(tensor: Tensor) -> bool:
    return tensor.dtype.is_integer

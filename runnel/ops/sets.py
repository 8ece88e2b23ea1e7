"""Sets along the last axis: their sizes, intersections, differences and unions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int8, int16, int32, int64, string, uint8, uint16
from ..core.op import execute, op
from ..core.shape_rules import UNKNOWN
from ..core.shapes import TensorShape
from .sparse.positions import require_inside, require_sorted
from .sparse.sparse_tensor import SparseTensor

_VALUES = frozenset({int8, int16, int32, int64, uint8, uint16, string})
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"

# The rows of a collection: the indices of each set, and its elements.
_Sets = dict[tuple[int, ...], set[Any]]


def _dense_sets(array: Any) -> tuple[tuple[int, ...], _Sets]:
    if array.ndim < 2:
        raise ValueError(f"Shape {list(array.shape)} has rank {array.ndim} < 2")
    outer = array.shape[:-1]
    rows = array.reshape(math.prod(outer), array.shape[-1]).tolist()
    return outer, {place: set(row) for place, row in zip(np.ndindex(*outer), rows, strict=True)}


def _sparse_sets(indices: Any, values: Any, shape: Any, validate: bool) -> Any:
    sizes = shape.tolist()
    if len(sizes) < 2:
        raise ValueError(f"Invalid rank {len(sizes)}.")
    if indices.shape != (len(values), len(sizes)):
        raise ValueError(
            f"indices of shape {list(indices.shape)} do not fit {len(values)} values of a sparse "
            f"tensor of rank {len(sizes)}"
        )
    if validate:
        require_inside(indices, shape)
        require_sorted(indices, shape)
    sets: _Sets = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        sets.setdefault(tuple(place), set()).add(value)
    return tuple(sizes[:-1]), sets


_OPERATIONS = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}
_NOTHING: frozenset[Any] = frozenset()


def _combined(first: Any, second: Any, operation: str, dtype: Any) -> Any:
    """The sparse result of a set operation between two collections at the same indices (NumPy)."""
    (outer, a), (other, b) = first, second
    if outer != other:
        raise ValueError(f"Mismatched shapes {list(outer)} vs {list(other)}")
    combine = _OPERATIONS[operation]
    indices, values, width = [], [], 0
    for place in sorted({*a, *b}):
        found = sorted(combine(a.get(place, _NOTHING), b.get(place, _NOTHING)))
        indices.extend([(*place, column) for column in range(len(found))])
        values.extend(found)
        width = max(width, len(found))
    array = np.empty(len(values), dtype)
    array[:] = values
    rank = len(outer) + 1
    places = np.array(indices, np.int64).reshape(-1, rank)
    return places, array, np.array([*outer, width], np.int64)


def _result_shapes(rank):
    return [TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])]


def _rank_of_dense(value):
    if value.shape.rank is not None and value.shape.rank < 2:
        raise ValueError(f"Shape {value.shape} has rank {value.shape.rank} < 2")
    return value.shape.rank


def _rank_of_sparse(dense_shape):
    return dense_shape.shape[0] if dense_shape.shape.rank == 1 else None


@op(
    "DenseToDenseSetOperation",
    f"set1: T, set2: T -> {_RESULT}",
    T=_VALUES,
    shape=lambda inputs, attrs: _result_shapes(
        _rank_of_dense(inputs[0]) or _rank_of_dense(inputs[1])
    ),
    gradient=None,
)
def DenseToDenseSetOperation(set1, set2, *, set_operation, validate_indices=True):
    return _combined(_dense_sets(set1), _dense_sets(set2), set_operation, set1.dtype)


@op(
    "DenseToSparseSetOperation",
    f"set1: T, set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    T=_VALUES,
    shape=lambda inputs, attrs: _result_shapes(
        _rank_of_dense(inputs[0]) or _rank_of_sparse(inputs[3])
    ),
    gradient=None,
)
def DenseToSparseSetOperation(
    set1, set2_indices, set2_values, set2_shape, *, set_operation, validate_indices=True
):
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_dense_sets(set1), second, set_operation, set1.dtype)


@op(
    "SparseToSparseSetOperation",
    "set1_indices: int64, set1_values: T, set1_shape: int64, "
    f"set2_indices: int64, set2_values: T, set2_shape: int64 -> {_RESULT}",
    T=_VALUES,
    shape=lambda inputs, attrs: _result_shapes(
        _rank_of_sparse(inputs[2]) or _rank_of_sparse(inputs[5])
    ),
    gradient=None,
)
def SparseToSparseSetOperation(
    set1_indices,
    set1_values,
    set1_shape,
    set2_indices,
    set2_values,
    set2_shape,
    *,
    set_operation,
    validate_indices=True,
):
    first = _sparse_sets(set1_indices, set1_values, set1_shape, validate_indices)
    second = _sparse_sets(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(first, second, set_operation, set1_values.dtype)


@op(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    T=_VALUES,
    shape=lambda inputs, attrs: UNKNOWN,
    gradient=None,
)
def SetSize(set_indices, set_values, set_shape, *, validate_indices=True):
    outer, sets = _sparse_sets(set_indices, set_values, set_shape, validate_indices)
    sizes = np.zeros(outer, np.int32)
    for place, elements in sets.items():
        sizes[place] = len(elements)
    return sizes


def _as_set(value, name):
    if not isinstance(value, SparseTensor):
        value = convert_to_tensor(value)
    if value.dtype not in _VALUES:
        known = ", ".join(sorted(dtype.name for dtype in _VALUES))
        raise TypeError(
            f"'{name}' has invalid dtype {value.dtype.name}; sets are of these: {known}"
        )
    return value


def _operate(a, b, operation, validate_indices):
    a, b = _as_set(a, "a"), _as_set(b, "b")
    if a.dtype is not b.dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        # The op of mixed operands takes the dense one first.
        turned = {"a-b": "b-a", "b-a": "a-b"}
        a, b, operation = b, a, turned.get(operation, operation)
    attrs = {"set_operation": operation, "validate_indices": validate_indices}
    parts = []
    for each in (a, b):
        sparse = isinstance(each, SparseTensor)
        parts.extend([each.indices, each.values, each.dense_shape] if sparse else [each])
    kinds = {2: DenseToDenseSetOperation, 4: DenseToSparseSetOperation}
    kind = kinds.get(len(parts), SparseToSparseSetOperation)
    return SparseTensor(*execute(kind, tuple(parts), attrs))


def size(a, validate_indices=True):
    """The number of unique elements in each set along the last axis of a sparse tensor.

    >>> a = tf.sparse.from_dense([[1, 2, 2], [3, 0, 0]])
    >>> tf.sets.size(a).numpy().tolist()
    [2, 1]
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    if a.dtype not in _VALUES:
        raise TypeError(f"Invalid dtype {a.dtype!r}.")
    inputs = (a.indices, a.values, a.dense_shape)
    return execute(SetSize, inputs, {"validate_indices": validate_indices})


def intersection(a, b, validate_indices=True):
    """The elements, along the last axis, that are in both sets: a sparse tensor.

    >>> found = tf.sets.intersection([[1, 2], [3, 4]], [[2, 9], [3, 4]])
    >>> tf.sparse.to_dense(found).numpy().tolist()
    [[2, 0], [3, 4]]
    """
    return _operate(a, b, "intersection", validate_indices)


def difference(a, b, aminusb=True, validate_indices=True):
    """The elements, along the last axis, of `a` that are not in `b`, or the reverse.

    >>> tf.sets.difference([[1, 2, 3]], [[2]]).values.numpy().tolist()
    [1, 3]
    """
    return _operate(a, b, "a-b" if aminusb else "b-a", validate_indices)


def union(a, b, validate_indices=True):
    """The elements, along the last axis, that are in one of the sets: a sparse tensor.

    >>> tf.sets.union([[1, 2]], [[2, 9]]).values.numpy().tolist()
    [1, 2, 9]
    """
    return _operate(a, b, "union", validate_indices)

"""Structured tensors from and to nested lists and dictionaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.convert import constant
from ..core.dtypes import int64
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec
from ..ops.ragged import constructors
from ..ops.ragged.dynamic_shape import DynamicRaggedShape
from ..ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorSpec
from ..ops.ragged.row_partition import RowPartition
from .structured_fields import is_structured

Path = tuple[str, ...]


class Reader:
    """Converts Python values to tensors; `make(fields, shape)` creates a structured tensor."""

    def __init__(self, make: Callable[[dict[str, Any], Any], Any], spec_type: Any) -> None:
        self._make = make
        self._spec_type = spec_type

    def read(self, value: Any, spec: Any, path: Path = ()) -> Any:
        """The tensor, ragged tensor or structured tensor of a value."""
        if isinstance(value, dict):
            return self._structure(value, spec, path)
        if isinstance(value, list | tuple):
            depth = _depth_of_dictionaries(value)
            if depth is not None or isinstance(spec, self._spec_type):
                return self._structures(value, depth, spec, path)
            return _of_list(value, spec, path)
        if isinstance(spec, self._spec_type):
            raise _misfit(value, spec, path)
        return _of_scalar(value, spec, path)

    def _structure(self, value: dict[Any, Any], spec: Any, path: Path) -> Any:
        specs = self._specs(value, list(value), spec, 0, path)
        fields = {name: self.read(value[name], specs.get(name), (*path, name)) for name in value}
        return self._make(fields, DynamicRaggedShape([], constant([], int64), int64))

    def _structures(self, values: Any, depth: int | None, spec: Any, path: Path) -> Any:
        if depth is None:
            depth = spec.rank
        dictionaries = _flat(values, depth)
        if isinstance(spec, self._spec_type):
            names = list(spec._fields)
        else:
            names = list(dictionaries[0])
        specs = self._specs(values, names, spec, depth, path)
        for each in dictionaries:
            if spec is not None:
                self._specs(each, list(each), spec, depth, path)
            for name in each:
                if name not in names:
                    raise KeyError(name)
        fields = {
            name: self.read(_column(values, name, depth), specs.get(name), (*path, name))
            for name in names
        }
        return self._make(fields, _shape(values, depth))

    def _specs(self, value: Any, names: list[str], spec: Any, rank: int, path: Path) -> Any:
        """The specs of fields by name; ValueError for a spec of another type."""
        if spec is None:
            return {}
        if not isinstance(spec, self._spec_type) or spec.rank != rank:
            raise _misfit(value, spec, path)
        if set(spec._fields) != set(names):
            raise ValueError(
                f"Error parsing path {path}: it has the fields {sorted(names)}, but the typespec "
                f"has {sorted(spec._fields)}."
            )
        return dict(spec._fields)


def _misfit(value: Any, spec: Any, path: Path) -> ValueError:
    return ValueError(f"Value at {path} does not match typespec: {value!r} vs {spec!r}")


def _depth_of_dictionaries(values: Any) -> int | None:
    """The nesting depth of the first dictionary in lists; None where there are none."""
    for each in values:
        if isinstance(each, dict):
            return 1
        if isinstance(each, list | tuple):
            depth = _depth_of_dictionaries(each)
            if depth is not None:
                return depth + 1
    return None


def _flat(values: Any, depth: int) -> list[dict[str, Any]]:
    """All dictionaries in lists of this depth; ValueError for other values."""
    if depth == 0:
        if isinstance(values, dict):
            return [values]
        if isinstance(values, list | tuple):
            raise ValueError("Inconsistent depth of dictionaries")
        raise ValueError(f"Expected dict or nested list/tuple of dict, got {values!r}")
    if isinstance(values, dict):
        raise ValueError("Inconsistent depth of dictionaries")
    if not isinstance(values, list | tuple):
        raise ValueError(f"Expected dict or nested list/tuple of dict, got {values!r}")
    return [found for each in values for found in _flat(each, depth - 1)]


def _column(values: Any, name: str, depth: int) -> Any:
    """The values of a field, nested like their dictionaries."""
    if depth == 0:
        return values[name]
    return [_column(each, name, depth - 1) for each in values]


def _shape(values: Any, depth: int) -> Any:
    """The ragged shape of nested lists."""
    partitions, level = [], list(values)
    count = len(level)
    for _ in range(depth - 1):
        lengths = [len(each) for each in level]
        partitions.append(RowPartition.from_row_lengths(constant(lengths, int64), validate=False))
        level = [inner for each in level for inner in each]
        count = len(level)
    return DynamicRaggedShape(partitions, constant([count], int64), int64)


def _of_scalar(value: Any, spec: Any, path: Path) -> Any:
    if isinstance(value, np.ndarray) and value.ndim > 1 and spec is None:
        return _of_list(value.tolist(), spec, path)
    try:
        tensor = constant(value, None if spec is None else spec.dtype)
    except (TypeError, ValueError) as failure:
        raise ValueError(f"Error parsing path {path}: {failure}") from None
    if spec is not None and not spec.shape.is_compatible_with(tensor.shape):
        raise _misfit(value, spec, path)
    return tensor


def _rank(values: Any) -> int:
    if isinstance(values, np.ndarray | Tensor):
        return len(values.shape)
    if not isinstance(values, list | tuple):
        return 0
    return 1 + max(map(_rank, values), default=0)


def _of_list(values: Any, spec: Any, path: Path) -> Any:
    """A vector, or a ragged tensor of higher rank, unless a spec requests another type."""
    try:
        if isinstance(spec, RaggedTensorSpec):
            inner = spec.shape[spec.ragged_rank + 1 :] if spec.shape.rank is not None else None
            result = constructors.constant(
                values, spec.dtype, spec.ragged_rank,
                inner if inner is None else tuple(inner), row_splits_dtype=spec.row_splits_dtype,
            )  # fmt: skip
        elif isinstance(spec, TensorSpec) or _rank(values) < 2:
            result = constant(values, None if spec is None else spec.dtype)
        else:
            result = constructors.constant(values)
    except (TypeError, ValueError) as failure:
        raise ValueError(f"Error parsing path {path}: {failure}") from None
    if spec is not None and not TensorShape(spec.shape).is_compatible_with(result.shape):
        raise _misfit(values, spec, path)
    return result


def to_python(structured: Any) -> Any:
    """A dictionary, or dictionaries in nested lists, of Python's values."""
    fields = {name: _plain(value) for name, value in structured._fields.items()}
    rank = structured.rank
    return _rows(fields, _plain(structured._ragged_shape._ones()), rank)


def _plain(value: Any) -> Any:
    if is_structured(value):
        return to_python(value)
    if isinstance(value, RaggedTensor):
        if isinstance(value.flat_values, SymbolicTensor):
            raise _not_eager()
        return value.to_list()
    if isinstance(value, SymbolicTensor) or not isinstance(value, Tensor):
        raise _not_eager()
    return value.numpy().tolist() if value.shape.rank else _scalar(value.numpy())


def _scalar(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _not_eager() -> ValueError:
    return ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")


def _rows(fields: dict[str, Any], like: Any, rank: int) -> Any:
    if rank == 0:
        return fields
    return [
        _rows({name: value[i] for name, value in fields.items()}, like[i], rank - 1)
        for i in range(len(like))
    ]

"""The fields of structured tensors: their outer dimensions, and operations along them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.convert import convert_to_tensor
from ..core.dtypes import DType, int64
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..ops.array.gathering import gather
from ..ops.array.shaping import reshape
from ..ops.math.comparison import equal
from ..ops.math.reduction import reduce_all
from ..ops.ragged.conversion import merge_dims
from ..ops.ragged.dynamic_shape import DynamicRaggedShape
from ..ops.ragged.ragged_tensor import RaggedTensor
from ..ops.ragged.row_partition import RowPartition, count_of, partition_of, require
from .extensions import ExtensionType

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def is_structured(value: Any) -> bool:
    """Whether a value is a structured tensor."""
    return isinstance(value, ExtensionType) and hasattr(value, "_ragged_shape")


def checked_fields(fields: Any) -> dict[str, Any]:
    """Fields by name, as tensors or composites."""
    if not isinstance(fields, Mapping):
        raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
    for name in fields:
        if not isinstance(name, str):
            raise TypeError(f"Unexpected type for key in `fields`: {name}")
        if not _NAME.match(name) or not name.isidentifier():
            raise ValueError(f"Field name {name!r} is not currently allowed.")
    return {name: as_field(value) for name, value in fields.items()}


def as_field(value: Any) -> Any:
    """A value converted to a field."""
    if isinstance(value, Tensor | RaggedTensor | ExtensionType):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(f"Unexpected type for value in `fields`: {value!r}") from None


def static_shape(shape: Any) -> TensorShape:
    """The static part of a ragged shape; None where rows have different lengths."""
    return shape._type_spec.static_shape()


def divided(shape: Any) -> Any:
    """A ragged shape with a row partition for every dimension but the first."""
    if shape.rank is None:
        raise ValueError("The rank of a StructuredTensor must be known.")
    wanted = max(shape.rank - 1, 0)
    return shape if shape.num_row_partitions == wanted else shape._with_num_row_partitions(wanted)


def outer_shape(value: Any, rank: int, dtype: DType) -> Any:
    """The shape of the first dimensions of a field."""
    if is_structured(value):
        shape = value._ragged_shape
    elif isinstance(value, Tensor | RaggedTensor):
        shape = DynamicRaggedShape.from_tensor(value, dtype)
    else:
        shape = DynamicRaggedShape([], value.shape, dtype)
    if shape.rank is None or shape.rank < rank:
        raise ValueError(
            f"Shapes {TensorShape([None] * rank)} and {static_shape(shape)} are not compatible: "
            f"every field of a StructuredTensor of rank {rank} has at least that rank."
        )
    shape = shape if shape.rank == rank else shape[:rank]
    return divided(shape.with_dtype(dtype))


def shape_dtype(fields: dict[str, Any]) -> DType | None:
    """The dtype of the row splits in fields: int64 if they differ, None if there are none."""
    found = {
        value._ragged_shape.dtype if is_structured(value) else value.row_splits.dtype
        for value in fields.values()
        if is_structured(value) or isinstance(value, RaggedTensor)
    }
    return int64 if int64 in found else next(iter(found), None)


def common_shape(shapes: Sequence[tuple[str, Any]], validate: bool) -> Any:
    """The common ragged shape of all named fields; ValueError if two are known to differ."""
    _, chosen = shapes[0]
    for name, shape in shapes[1:]:
        _require_same(chosen, shape, name, validate)
        if sum(map(_is_uniform, shape.row_partitions)) > sum(
            map(_is_uniform, chosen.row_partitions)
        ):
            chosen = shape
    return chosen


def _is_uniform(partition: RowPartition) -> bool:
    return partition.is_uniform()


def _require_same(first: Any, second: Any, name: str, validate: bool) -> None:
    message = f"Error in shape of {name}"
    if not static_shape(first).is_compatible_with(static_shape(second)):
        raise ValueError(
            f"{message}: {static_shape(second)} is not {static_shape(first)}, which others have."
        )
    pairs = zip(first.row_partitions, second.row_partitions, strict=True)
    checks = [one.same_as(other.with_dtype(one.dtype)) for one, other in pairs]
    if any(check is False for check in checks):
        raise ValueError(f"{message}: its rows have other lengths than those of the others.")
    if validate:
        checks.append(reduce_all(equal(first.inner_shape, second.inner_shape)))
        for check in checks:
            if isinstance(check, Tensor):
                require(check, message)


def shape_of(value: Any, dtype: DType) -> Any:
    """The ragged shape of a tensor or ragged tensor."""
    return divided(DynamicRaggedShape.from_tensor(value, dtype))


def partitioned(value: Any, partition: RowPartition) -> Any:
    """A field with its first dimension partitioned into rows."""
    if is_structured(value):
        return value.partition_outer_dimension(partition)
    length = partition.static_uniform_row_length
    if isinstance(value, Tensor) and length is not None:
        rest = value.shape[1:]
        if rest.is_fully_defined():
            rows = partition.static_nrows
            return reshape(value, [-1 if rows is None else rows, length, *rest])
    if isinstance(value, RaggedTensor):
        partition = partition.with_dtype(value.row_splits.dtype)
    found = count_of(value, partition.dtype)
    require(
        equal(partition.nvals(), found),
        "Arguments to _from_row_partition do not form a valid RaggedTensor: the partition has "
        "another number of values than there are:",
        partition.nvals(),
        found,
    )
    return RaggedTensor(value, partition, internal=True)


def merged_shape(shape: Any, outer: int, inner: int) -> Any:
    """A ragged shape with the dimensions from `outer` to `inner` merged."""
    if outer == inner:
        return shape
    parts = list(shape.row_partitions)
    if outer:
        rows = parts[outer - 1]
        splits, length = rows.row_splits(), rows.uniform_row_length()
        for each in parts[outer:inner]:
            splits = gather(each.row_splits(), splits)
            step = each.uniform_row_length()
            length = None if length is None or step is None else length * step
        kept = [*parts[: outer - 1], partition_of(splits, length), *parts[inner:]]
    else:
        kept = parts[inner:]
    return DynamicRaggedShape(
        kept, shape.inner_shape, shape.dtype, static_inner_shape=shape._static_inner_shape
    )


def merged(value: Any, outer: int, inner: int) -> Any:
    """A field with the dimensions from `outer` to `inner` merged."""
    if is_structured(value):
        return value.merge_dims(outer, inner)
    return merge_dims(value, outer, inner)

"""StructuredTensor: structures with the same fields in any number of dimensions."""

from __future__ import annotations

import typing
from typing import Any

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, int64
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..ops.array.shaping import reshape
from ..ops.ragged.dynamic_shape import DynamicRaggedShape
from ..ops.ragged.ragged_tensor import RaggedTensor
from ..ops.ragged.row_partition import RowPartition, integer
from .batchable import BatchableExtensionType
from .extensions import ExtensionType
from .structured_fields import (
    checked_fields,
    common_shape,
    divided,
    is_structured,
    merged,
    merged_shape,
    outer_shape,
    partitioned,
    shape_dtype,
    shape_of,
    static_shape,
)
from .structured_python import Reader, to_python
from .structured_updates import by_path, updated


class StructuredTensor(BatchableExtensionType):
    """A tensor of structures: every field is a tensor with its values for all structures.

    >>> people = tf.experimental.StructuredTensor.from_pyval(
    ...     [{"age": 12, "names": ["Jo"]}, {"age": 82, "names": ["Bob", "Bobby"]}])
    >>> people
    <StructuredTensor(
        fields={
            "age": tf.Tensor([12 82], shape=(2,), dtype=int32),
            "names": <tf.RaggedTensor [[b'Jo'], [b'Bob', b'Bobby']]>},
        shape=(2,))>
    >>> people[1]["age"]
    <tf.Tensor: shape=(), dtype=int32, numpy=82>
    """

    FieldName = typing.Union[str, typing.Sequence[str]]  # noqa: UP007 - programs print it

    _fields: typing.Mapping[
        str,
        typing.Union[Tensor, RaggedTensor, StructuredTensor, ExtensionType],  # noqa: UP007
    ]
    _ragged_shape: DynamicRaggedShape

    def __init__(self, fields: Any, ragged_shape: Any) -> None:
        self._fields = fields
        is_shape = isinstance(ragged_shape, DynamicRaggedShape)
        self._ragged_shape = divided(ragged_shape) if is_shape else ragged_shape

    class Spec:
        """The type of a StructuredTensor: the specs of its fields, and that of its shape."""

        def __init__(self, _fields: Any, _ragged_shape: Any) -> None:
            self._fields = _fields
            self._ragged_shape = _ragged_shape

        @property
        def shape(self) -> TensorShape:
            """The static shape."""
            return self._ragged_shape.static_shape()

        @property
        def rank(self) -> int:
            """The number of dimensions."""
            return self._ragged_shape.rank

    @classmethod
    def from_fields(
        cls,
        fields: Any,
        shape: Any = (),
        nrows: Any = None,
        row_partitions: Any = None,
        validate: Any = False,
    ) -> Any:
        """The tensor of structures with these fields, whose first dimensions are `shape`.

        >>> tf.experimental.StructuredTensor.from_fields({"a": [1, 2]}, shape=[2]).to_pyval()
        [{'a': 1}, {'a': 2}]
        """
        shape = TensorShape(shape)
        rank = shape.rank
        if rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        fields = checked_fields(fields)
        if nrows is not None and rank == 0:
            raise ValueError("nrows must be None if shape.rank==0")
        if nrows is not None and convert_to_tensor(nrows).shape.rank != 0:
            raise ValueError(f"nrows must be a scalar, got {nrows!r}.")
        if row_partitions and rank < 2:
            raise ValueError("row_partitions must be None or [] if shape.rank<2")
        if row_partitions and len(row_partitions) != rank - 1:
            raise ValueError(
                f"row_partitions must have {rank - 1} items, one less than shape.rank={rank}; got "
                f"{len(row_partitions)}."
            )
        dtype = int64
        if row_partitions:
            dtype = row_partitions[0].dtype
        elif rank > 1:
            dtype = shape_dtype(fields) or int64
        shapes = [(name, outer_shape(each, rank, dtype)) for name, each in fields.items()]
        if row_partitions:
            found = DynamicRaggedShape.from_row_partitions(row_partitions, dtype)
            shapes.insert(0, ("row_partitions", found))
        if not shapes and rank == 1 and nrows is not None:
            sizes = reshape(integer(convert_to_tensor(nrows), dtype), [1])
            shapes.append(("nrows", DynamicRaggedShape([], sizes, dtype)))
        if not shapes and shape.is_fully_defined():
            sizes = convert_to_tensor(shape.as_list(), dtype)
            shapes.append(("shape", divided(DynamicRaggedShape([], sizes, dtype))))
        if not shapes:
            what = "`nrows`" if rank == 1 else "`row_partitions`"
            raise ValueError(
                f"Must specify {what}, a fully specified `shape`, or have `fields` if `rank={rank}`"
            )
        whole = common_shape(shapes, bool(validate))
        known = static_shape(whole)
        rows = None if nrows is None else TensorShape([_static(nrows)])
        if rows is not None and not known[:1].is_compatible_with(rows):
            raise ValueError(f"Shapes {known[:1]} and {rows} are not compatible")
        if not shape.is_compatible_with(known):
            raise ValueError(f"Shapes {shape} and {known} are not compatible")
        if rank == 1 and not known.is_fully_defined():
            whole = DynamicRaggedShape([], whole.inner_shape, dtype, static_inner_shape=shape)
        return cls(fields, whole)

    @classmethod
    def from_fields_and_rank(
        cls, fields: Any, rank: Any, validate: Any = False, dtype: Any = None
    ) -> Any:
        """The tensor of structures with these fields, at least one, and this rank.

        >>> tf.experimental.StructuredTensor.from_fields_and_rank({"a": [1, 2]}, 1).shape
        TensorShape([2])
        """
        if not fields:
            raise ValueError("Must provide at least one field")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        fields = checked_fields(fields)
        kind = (shape_dtype(fields) or int64) if dtype is None else as_dtype(dtype)
        if dtype is not None:
            fields = {name: _with_dtype(value, kind) for name, value in fields.items()}
        shapes = [(name, outer_shape(value, rank, kind)) for name, value in fields.items()]
        return cls(fields, common_shape(shapes, bool(validate)))

    @classmethod
    def from_pyval(cls, pyval: Any, typespec: Any = None) -> Any:
        """The tensor of structures for nested dictionaries and lists.

        Dictionaries become structures; lists of numbers or strings become vectors, or ragged
        tensors where they are nested.

        >>> tf.experimental.StructuredTensor.from_pyval({"a": [[1], [2, 3]]}).field_value("a")
        <tf.RaggedTensor [[1], [2, 3]]>
        """

        def make(fields: dict[str, Any], shape: Any) -> Any:
            return cls(checked_fields(fields), shape)

        return Reader(make, cls.Spec).read(pyval, typespec)

    @classmethod
    def from_shape(cls, ragged_shape: Any) -> Any:
        """The tensor of structures without fields that has this ragged shape."""
        return cls({}, ragged_shape)

    @property
    def shape(self) -> TensorShape:
        """The static shape; its rank is always known."""
        return static_shape(self._ragged_shape)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self._ragged_shape.rank

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The row partitions of the dimensions after the first."""
        return self._ragged_shape.row_partitions

    def nrows(self) -> Any:
        """The size of the first dimension, as a tensor; None for a single structure."""
        return None if self.rank == 0 else self._ragged_shape[0]

    def field_names(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._fields)

    def field_value(self, field_name: Any) -> Any:
        """The values of a field, or of a nested field for a path of names."""
        if not isinstance(field_name, list | tuple):
            return self._fields[field_name]
        value: Any = self
        for name in field_name:
            if not is_structured(value):
                raise KeyError(f"Field path {field_name} not found in {self}")
            value = value.field_value(name)
        return value

    def with_updates(self, updates: Any, validate: Any = False) -> Any:
        """A copy with new values for some fields; None removes a field, functions map it.

        >>> point = tf.experimental.StructuredTensor.from_pyval({"x": 1, "y": 2})
        >>> point.with_updates({"x": lambda x: x * 10, "y": None}).to_pyval()
        {'x': 10}
        """
        return updated(self, by_path(updates), (), bool(validate))

    def _with_fields(self, fields: dict[str, Any], validate: bool) -> Any:
        fields = checked_fields(fields)
        dtype = self._ragged_shape.dtype
        try:
            shapes = [(name, outer_shape(each, self.rank, dtype)) for name, each in fields.items()]
            common_shape([("", self._ragged_shape), *shapes], validate)
        except ValueError as failure:
            raise ValueError(f"`StructuredTensor.with_updates` failed: {failure}") from None
        return type(self)(fields, self._ragged_shape)

    def promote(self, source_path: Any, new_name: Any) -> Any:
        """A copy with a nested field promoted to a new field, one level up.

        >>> books = tf.experimental.StructuredTensor.from_pyval(
        ...     [{"docs": [{"words": [1, 2]}, {"words": [3]}]}])
        >>> books.promote(("docs", "words"), "words").field_value("words")
        <tf.RaggedTensor [[1, 2, 3]]>
        """
        if not isinstance(new_name, str):
            raise ValueError("new_name is not a string")
        if not isinstance(source_path, list | tuple):
            raise ValueError("source_path must be a list or tuple")
        if len(source_path) < 2:
            raise ValueError("source_path must have length at least two")
        path = tuple(source_path)
        above = self.field_value(path[:-2])
        parent = above.field_value(path[-2])
        value = parent.field_value(path[-1])
        rank = value.rank if is_structured(value) else value.shape.rank
        last = min(parent.rank, rank - 1)
        if last > above.rank and parent.rank > above.rank:
            value = merged(value, above.rank, last)
        return self.with_updates({(*path[:-2], new_name): value})

    def partition_outer_dimension(self, row_partition: Any) -> Any:
        """Partition the first dimension into rows.

        >>> flat = tf.experimental.StructuredTensor.from_pyval([{"a": 1}, {"a": 2}, {"a": 3}])
        >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 1])
        >>> flat.partition_outer_dimension(rows).to_pyval()
        [[{'a': 1}, {'a': 2}], [], [{'a': 3}]]
        """
        if not isinstance(row_partition, RowPartition):
            raise TypeError("row_partition must be a RowPartition.")
        if self.rank == 0:
            raise ValueError("Shape () must have rank at least 1")
        dtype = self._ragged_shape.dtype
        rows = row_partition.with_dtype(dtype)
        fields = {name: partitioned(value, rows) for name, value in self._fields.items()}
        parts = [rows, *self.row_partitions]
        return type(self)(fields, DynamicRaggedShape(parts, self._ragged_shape.inner_shape, dtype))

    def merge_dims(self, outer_axis: Any, inner_axis: Any) -> Any:
        """The dimensions from `outer_axis` to `inner_axis` merged.

        >>> rows = tf.experimental.StructuredTensor.from_pyval([[{"a": 1}, {"a": 2}], [{"a": 3}]])
        >>> rows.merge_dims(0, 1).to_pyval()
        [{'a': 1}, {'a': 2}, {'a': 3}]
        """
        outer, inner = self._axis(outer_axis, "outer_axis"), self._axis(inner_axis, "inner_axis")
        if outer > inner:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
                f"({inner_axis})"
            )
        fields = {name: merged(value, outer, inner) for name, value in self._fields.items()}
        return type(self)(fields, merged_shape(self._ragged_shape, outer, inner))

    def _axis(self, axis: int, name: str) -> int:
        rank = self.rank
        if not -rank <= axis < rank:
            raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
        return axis % rank

    def with_shape_dtype(self, dtype: Any) -> Any:
        """The same structures with row splits of this dtype, int32 or int64."""
        dtype = as_dtype(dtype)
        if dtype is self._ragged_shape.dtype:
            return self
        fields = {name: _with_dtype(value, dtype) for name, value in self._fields.items()}
        return type(self)(fields, self._ragged_shape.with_dtype(dtype))

    def to_pyval(self) -> Any:
        """Nested lists of dictionaries of Python's values; eager structures only."""
        return to_python(self)

    def __getitem__(self, key: Any) -> Any:
        """A slice: the first dimensions as for tensors, then a field by its name."""
        keys = key if isinstance(key, tuple) else (key,)
        rank = self.rank
        outer, inner = keys[:rank], keys[rank:]
        for each in outer:
            if each is Ellipsis or each is None:
                raise ValueError(f"Slicing not supported for {each!r}")
        if inner:
            if not isinstance(inner[0], str):
                raise ValueError("Key for indexing a StructuredTensor must be a string")
            value = self.field_value(inner[0])
            rest = (*outer, *inner[1:])
            return value[rest] if rest else value
        if not outer:
            return self
        given: dict[str, Any] = dict(self._fields)
        fields = {name: value[outer] for name, value in given.items()}
        part = self._ragged_shape._ones()[outer]
        return type(self)(fields, shape_of(part, self._ragged_shape.dtype))

    def __repr__(self) -> str:
        fields = ",\n        ".join(
            f'"{name}": {_text(value)}' for name, value in sorted(self._fields.items())
        )
        return f"<StructuredTensor(\n    fields={{\n        {fields}}},\n    shape={self.shape})>"


def _text(value: Any) -> str:
    text = str(value) if isinstance(value, Tensor) else repr(value)
    return text.replace("\n", "\n" + " " * 12)


def _static(value: Any) -> int | None:
    from ..core.convert import constant_value

    known = constant_value(convert_to_tensor(value))
    return None if known is None else int(known)


def _with_dtype(value: Any, dtype: Any) -> Any:
    """A field with row splits of a dtype."""
    if is_structured(value):
        return value.with_shape_dtype(dtype)
    return value.with_row_splits_dtype(dtype) if isinstance(value, RaggedTensor) else value

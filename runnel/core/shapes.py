"""Static shapes: `TensorShape` with unknown dimensions or unknown rank, and broadcasting."""

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, overload

from . import hooks
from .dtypes import TensorlessType

Dims: TypeAlias = tuple[int | None, ...]


class TensorShape(TensorlessType):
    """The shape of a tensor: fully known, with unknown dimensions, or of unknown rank.

    >>> tf.TensorShape([None, 256])
    TensorShape([None, 256])
    >>> tf.TensorShape([2, None]).merge_with([None, 3])
    TensorShape([2, 3])
    """

    __slots__ = ("_dims",)

    _dims: Dims | None

    def __init__(self, dims: Any) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            self._dims = _as_dims(dims)

    @staticmethod
    def of(dims: Dims | None) -> "TensorShape":
        """Wrap a tuple of valid dimensions without checking it."""
        shape = _new(TensorShape)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """The number of dimensions, or None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def dims(self) -> list[int | None] | None:
        """The list of dimensions, or None if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> tuple[Any, tuple[Dims | None]]:
        return TensorShape, (self._dims,)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == TensorShape(other)._dims
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    @overload
    def __getitem__(self, key: slice) -> "TensorShape": ...
    @overload
    def __getitem__(self, key: int) -> int | None: ...
    def __getitem__(self, key: int | slice) -> "TensorShape | int | None":
        if self._dims is not None:
            if isinstance(key, slice):
                return TensorShape.of(self._dims[key])
            return self._dims[key]
        if not isinstance(key, slice):
            return None
        start = 0 if key.start is None else key.start
        if key.step is not None:
            raise ValueError("Cannot slice a shape of unknown rank with a step; index it instead.")
        # With an index counted from the end, the length of the slice is unknown, too.
        if key.stop is None or start < 0 or key.stop < 0:
            return UNKNOWN
        return unknown_shape(key.stop - start)

    def __add__(self, other: Any) -> "TensorShape":
        return self.concatenate(other)

    def __radd__(self, other: Any) -> "TensorShape":
        return as_shape(other).concatenate(self)

    def concatenate(self, other: Any) -> "TensorShape":
        """The dimensions of this shape followed by those of `other`.

        >>> tf.TensorShape([2]).concatenate([None, 3])
        TensorShape([2, None, 3])
        """
        other_dims = as_shape(other)._dims
        if self._dims is None or other_dims is None:
            return UNKNOWN
        return TensorShape.of(self._dims + other_dims)

    def as_list(self) -> list[int | None]:
        """The dimensions as a list, None for each unknown one."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto message."""
        return hooks.shape_proto(self)

    def num_elements(self) -> int | None:
        """The number of elements, or None if a dimension is unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(self._dims)  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """True if the rank and every dimension are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other: Any) -> bool:
        """True if some tensor could have both shapes.

        >>> tf.TensorShape([None, 3]).is_compatible_with([2, None])
        True
        """
        other_dims = as_shape(other)._dims
        if self._dims is None or other_dims is None:
            return True
        return len(self._dims) == len(other_dims) and all(
            ours == theirs or ours is None or theirs is None
            for ours, theirs in zip(self._dims, other_dims, strict=True)
        )

    def is_subtype_of(self, other: Any) -> bool:
        """True if every tensor of this shape is also one of the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(other._dims)
            and all(
                theirs is None or ours == theirs
                for ours, theirs in zip(self._dims, other._dims, strict=True)
            )
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> "TensorShape | None":
        """The narrowest shape that this one and all `others` satisfy; None if one is no shape."""
        if not all(isinstance(other, TensorShape) for other in others):
            return None
        result = self
        for other in others:
            result = result.most_specific_compatible_shape(other)
        return result

    def most_specific_compatible_shape(self, other: Any) -> "TensorShape":
        """The narrowest shape that both this one and `other` satisfy.

        >>> tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])
        TensorShape([2, None])
        """
        other_dims = as_shape(other)._dims
        if self._dims is None or other_dims is None or len(self._dims) != len(other_dims):
            return UNKNOWN
        return TensorShape.of(
            tuple(
                ours if ours == theirs else None
                for ours, theirs in zip(self._dims, other_dims, strict=True)
            )
        )

    def merge_with(self, other: Any) -> "TensorShape":
        """This shape with what `other` knows filled in; ValueError if they contradict."""
        shape = as_shape(other)
        if self._dims is None:
            return shape
        if shape._dims is None:
            return self
        if not self.is_compatible_with(shape):
            raise ValueError(f"Shapes {self} and {shape} are not compatible")
        return TensorShape.of(
            tuple(
                theirs if ours is None else ours
                for ours, theirs in zip(self._dims, shape._dims, strict=True)
            )
        )

    def with_rank(self, rank: int | None) -> "TensorShape":
        """This shape, known to have the given rank; ValueError if it has another."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> "TensorShape":
        """This shape; ValueError if its rank is known to be smaller."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> "TensorShape":
        """This shape; ValueError if its rank is known to be greater."""
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raises ValueError if the rank is known and another."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_same_rank(self, other: Any) -> None:
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return
        if len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError if no tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raises ValueError if the rank or a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")


_new = object.__new__

UNKNOWN = TensorShape(None)
SCALAR = TensorShape.of(())


def _as_dims(value: Any) -> Dims:
    if not isinstance(value, (list, tuple)):
        try:
            value = list(value)
        except TypeError:
            value = [value]
    dims: list[int | None] = []
    for item in value:
        if item is None:
            dims.append(None)
            continue
        try:
            dim = operator.index(item)
        except TypeError:
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, "
                f"got value {item!r} with type {type(item)}. A shape is one dimension (10) "
                "or an iterable of dimensions ([1, 10, None])."
            ) from None
        if dim < 0:
            raise ValueError(f"Dimension {dim} must be >= 0")
        dims.append(dim)
    return tuple(dims)


def as_shape(shape: Any) -> TensorShape:
    """The `TensorShape` of a shape, a sequence of dimensions, one dimension or None."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of which at most the rank is known."""
    return UNKNOWN if rank is None else TensorShape.of((None,) * rank)


def row_shape(shape: TensorShape) -> TensorShape:
    """The shape of an element along the first dimension; ValueError if there is no dimension."""
    if shape.rank is None:
        return shape
    if shape.rank == 0:
        raise ValueError("Unbatching a tensor is only supported for rank >= 1")
    return shape[1:]


def broadcast_shapes(shape_x: TensorShape, shape_y: TensorShape) -> TensorShape:
    """The broadcast shape of two shapes; ValueError if they are incompatible."""
    x, y = shape_x._dims, shape_y._dims
    if x == y:
        return shape_x
    if x is None or y is None:
        return UNKNOWN
    if len(x) < len(y):
        x, y = y, x
    lead = len(x) - len(y)
    dims = list(x)
    for i, theirs in enumerate(y, lead):
        ours = dims[i]
        if ours == theirs or theirs == 1:
            continue
        if ours == 1:
            dims[i] = theirs
        elif ours is None or theirs is None:
            # An unknown dimension must be 1 or equal to a known one that is greater than 1; with 0
            # it may be 0 or 1, which the original leaves unknown.
            known = theirs if ours is None else ours
            dims[i] = known or None
        else:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                "dimension pair they are either equal or one of them is 1. "
                f"Received: {shape_x} and {shape_y}."
            )
    return TensorShape.of(tuple(dims))


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The static broadcast shape of two shapes.

    >>> tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3]))
    TensorShape([2, 3])
    """
    return broadcast_shapes(as_shape(shape_x), as_shape(shape_y))

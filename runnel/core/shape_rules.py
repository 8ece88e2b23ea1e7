"""Shared shape rules: `rule(inputs, attrs)` gives the shape of each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .shapes import TensorShape, broadcast_shapes
from .tensor import Tensor

Attrs = dict[str, Any]
Rule = Callable[[Sequence[Tensor], Attrs], Any]

SCALAR = TensorShape([])
UNKNOWN = TensorShape(None)


def unchanged(inputs: Sequence[Tensor], attrs: Attrs) -> TensorShape:
    """The shape of the first input."""
    return inputs[0].shape


def scalar(inputs: Sequence[Tensor], attrs: Attrs) -> TensorShape:
    """Rank 0."""
    return SCALAR


def unknown(inputs: Sequence[Tensor], attrs: Attrs) -> TensorShape:
    """Unknown before the kernel runs."""
    return UNKNOWN


def nothing(inputs: Sequence[Tensor], attrs: Attrs) -> list[TensorShape]:
    """No outputs."""
    return []


def broadcast(inputs: Sequence[Tensor], attrs: Attrs) -> TensorShape:
    """The broadcast shape of all inputs."""
    shape = inputs[0].shape
    for other in inputs[1:]:
        try:
            shape = broadcast_shapes(shape, other.shape)
        except ValueError:
            raise ValueError(
                "Incompatible shapes: "
                + " vs. ".join(dimensions_text(each.shape) for each in inputs)
                + ". Sizes fit, counted from the last, if they are equal or one of them is 1."
            ) from None
    return shape


def same_as_input(index: int) -> Rule:
    """The shape of the input with this index."""
    return lambda inputs, attrs: inputs[index].shape


def unknown_of_rank(rank: int) -> Rule:
    """Known rank, data-dependent dimensions."""
    return lambda inputs, attrs: TensorShape([None] * rank)


def require_rank(value: Tensor, rank: int, what: str) -> None:
    """Raise ValueError unless the tensor has this rank (or an unknown one)."""
    if value.shape.rank not in (None, rank):
        raise ValueError(f"{what} must have rank {rank}, got shape {value.shape}.")


def normalized_axis(axis: int, rank: int, what: str = "axis") -> int:
    """The axis as a non-negative number; ValueError unless -rank <= axis < rank."""
    if not -rank <= axis < rank:
        fitting = f"expected a value in [{-rank}, {rank}) for a tensor of rank {rank}."
        if not rank:
            fitting = "a scalar (rank 0) has no axes. Leave the axis out, or give it tensors."
        raise ValueError(f"{what} = {axis} is out of range: {fitting}")
    return axis % rank


def dimensions_text(shape: TensorShape) -> str:
    """A shape as TensorFlow's runtime prints it: [2,3], ? for an unknown dimension."""
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in shape) + "]"

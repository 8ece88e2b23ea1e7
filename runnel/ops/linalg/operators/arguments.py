"""Checking and converting the arguments of linear operators' constructors and methods."""

from __future__ import annotations

from typing import Any

from ....core.convert import convert_to_tensor
from ....core.shapes import TensorShape, broadcast_shapes
from ....core.tensor import Tensor
from ....core.variable import Variable
from ...array.joining import concat
from ...array.shaping import broadcast_dynamic_shape, broadcast_to, sizes_of


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor, from its `locals()`."""
    return {key: value for key, value in arguments.items() if key not in ("self", "__class__")}


def parameter(value: Any, dtype: Any = None) -> Any:
    """A variable itself, so that the operator sees its assignments; else a tensor."""
    return value if isinstance(value, Variable) else convert_to_tensor(value, dtype)


def require_rank(value: Any, rank: int, what: str) -> None:
    """ValueError if a parameter is statically known to have fewer dimensions."""
    if value.shape.rank is not None and value.shape.rank < rank:
        noun = "dimension" if rank == 1 else "dimensions"
        raise ValueError(
            f"Argument `{what}` must have at least {rank} {noun}. Received: {value!r}, which has "
            f"{value.shape.rank}."
        )


def size_at(shape: TensorShape, axis: int) -> int | None:
    """The size of a dimension counted from the end, if statically known."""
    if shape.rank is None:
        return None
    if shape.rank < -axis:
        raise IndexError(
            f"The argument has the shape {shape}, but it needs at least {-axis} dimensions."
        )
    return shape[axis]


def require_size(operator_size: int | None, argument_size: int | None) -> None:
    """ValueError if two sizes that must be equal are statically known to differ."""
    if operator_size is not None and argument_size is not None and operator_size != argument_size:
        raise ValueError(
            f"Dimensions {operator_size} and {argument_size} are not compatible: the operator has "
            f"the first where the argument has the second."
        )


def common_batch(shapes: Any) -> TensorShape:
    """The broadcast shape of several batch shapes."""
    result = TensorShape([])
    for shape in shapes:
        result = broadcast_shapes(result, shape)
    return result


def common_batch_tensor(shapes: Any) -> Tensor:
    """The broadcast shape of several batch shapes, as a tensor."""
    shapes = list(shapes)
    result = shapes[0]
    for shape in shapes[1:]:
        result = broadcast_dynamic_shape(result, shape)
    return result


def with_common_batch(tensors: list[Any], event_rank: int = 2) -> list[Any]:
    """Broadcast the batch dimensions of tensors, all but their last `event_rank`."""
    batches = [tensor.shape[:-event_rank] for tensor in tensors]
    if all(batch.is_fully_defined() for batch in batches):
        common = common_batch(batches)
        if all(batch == common for batch in batches):
            return tensors
    sizes = [sizes_of(tensor) for tensor in tensors]
    batch = common_batch_tensor([size[:-event_rank] for size in sizes])
    results = []
    for tensor, size in zip(tensors, sizes, strict=True):
        result = broadcast_to(tensor, concat([batch, size[-event_rank:]], 0))
        static = tensor.shape[-event_rank:]
        if static.rank is not None:
            result.set_shape(common_batch(batches).concatenate(static))
        results.append(result)
    return results

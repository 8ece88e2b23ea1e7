"""The rows of jacobians: a gradient for each element of a target."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .. import hooks
from ..convert import convert_to_tensor
from ..op import REGISTRY
from ..shapes import TensorShape
from ..tensor import SymbolicTensor, Tensor
from .backward import zeros_like

Gradients = Callable[[Tensor], list[Any]]


def rows_of(
    target: Tensor, sources: Sequence[Any], examples: int, gradients: Gradients
) -> list[Any]:
    """For each source the derivatives of all target elements, stacked; None where unconnected.

    `gradients` maps a weight of the target to the gradients with respect to all sources. With
    `examples` 1 the elements are those of each example, whose derivatives are independent of the
    others.
    """
    count = target.shape[examples:].num_elements()
    if count is None:
        return _in_a_loop(target, examples, gradients)
    rows = [gradients(weight) for weight in _unit_weights(target, examples, count)]
    columns = zip(*rows, strict=True) if rows else [()] * len(sources)
    return [
        _stacked(column, target, source) for column, source in zip(columns, sources, strict=True)
    ]


def reshaped(rows: Tensor, *parts: tuple[Any, int]) -> Tensor:
    """The rows in the concatenated shape of several tensors, each from a given dimension on."""
    shapes = [tensor.shape[start:] for tensor, start in parts]
    if all(shape.is_fully_defined() for shape in shapes):
        known = [size for shape in shapes for size in shape.as_list()]
        sizes: Any = convert_to_tensor(np.array(known, np.int32))
    else:
        sizes = hooks.concat([hooks.shape_of(tensor)[start:] for tensor, start in parts], 0)
    made: Tensor = REGISTRY["Reshape"](rows, sizes)
    if isinstance(made, SymbolicTensor):
        made.set_shape(functools.reduce(TensorShape.concatenate, shapes))
    return made


def _stacked(column: Sequence[Any], target: Tensor, source: Any) -> Tensor | None:
    if not column:
        # Without rows there are no elements, connected or not.
        return convert_to_tensor(np.zeros(0, target.dtype.numpy))
    if all(row is None for row in column):
        return None
    dense = [zeros_like(source) if row is None else convert_to_tensor(row) for row in column]
    stacked: Tensor = REGISTRY["Pack"](dense, axis=0)
    return stacked


def _unit_weights(target: Tensor, examples: int, count: int) -> Iterator[Tensor]:
    """One one-hot weight per element (of an example)."""
    for index in range(count):
        unit = np.zeros(count, target.dtype.numpy)
        unit[index] = 1
        if target.shape.is_fully_defined():
            sizes: list[Any] = target.shape.as_list()
            rows = np.broadcast_to(unit, (*sizes[:examples], count))
            yield convert_to_tensor(np.ascontiguousarray(rows).reshape(sizes))
        else:
            yield _spread(convert_to_tensor(unit), target, examples)


def _spread(unit: Tensor, target: Tensor, examples: int) -> Tensor:
    """The weight of one element, broadcast to the shape of the target over all examples."""
    sizes = hooks.shape_of(target)
    rows = hooks.concat([sizes[:examples], hooks.shape_of(unit)], 0)
    made: Tensor = hooks.reshape(hooks.broadcast_to(unit, rows), sizes)
    made.set_shape(target.shape)
    return made


def _in_a_loop(target: Tensor, examples: int, gradients: Gradients) -> list[Any]:
    """The rows, if the number of elements is known at run time only."""
    sizes = hooks.shape_of(target)[examples:]
    count = REGISTRY["Prod"](sizes, convert_to_tensor([0]))
    connected: list[bool] = []

    def row(index: Tensor) -> list[Tensor]:
        unit = hooks.one_hot(index, count, dtype=target.dtype)
        found = gradients(_spread(unit, target, examples))
        connected[:] = [each is not None for each in found]
        return [convert_to_tensor(each) for each in found if each is not None]

    rows = iter(hooks.vectorized_map(row, hooks.number_range(count)))
    return [next(rows) if each else None for each in connected]

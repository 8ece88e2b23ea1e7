"""Computation: the operations of a graph with feeds and fetches, which passes rewrite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.convert import Const
from ...core.dtypes import DType
from ...core.graph.graph import Graph, Operation, Placeholder
from ...core.op import REGISTRY, Op
from ...core.shapes import TensorShape
from ...core.tensor import SymbolicTensor, Tensor


class Computation:
    """Operations in execution order, the tensors that are fed, and those that are fetched."""

    def __init__(
        self,
        graph: Graph,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        operations: Sequence[Operation],
    ) -> None:
        self.graph = graph
        self.feeds = list(feeds)
        self.fetches = list(fetches)
        self.operations = list(operations)

    @classmethod
    def of(cls, graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Computation:
        return cls(graph, feeds, fetches, graph.operations)

    def rewritten(self, rewrite: Callable[[Operation], Any]) -> Computation:
        """The computation with each operation replaced by what `rewrite` returns for it.

        `rewrite` sees the operation with its inputs already replaced. It returns None to keep it, a
        tensor that replaces its only output, or another operation.
        """
        replaced: dict[int, Tensor] = {}
        operations = []
        for operation in self.operations:
            current = _with_inputs(operation, replaced)
            result = rewrite(current)
            if isinstance(result, Tensor):
                replaced[id(operation.outputs[0])] = result
                if isinstance(result, SymbolicTensor) and result.op.op is Const:
                    operations.append(result.op)
                continue
            result = current if result is None else result
            operations.append(result)
            if result is not operation:
                for old, new in zip(operation.outputs, result.outputs, strict=True):
                    replaced[id(old)] = new
        fetches = [replaced.get(id(tensor), tensor) for tensor in self.fetches]
        return Computation(self.graph, self.feeds, fetches, operations)

    def with_operations(self, operations: Sequence[Operation]) -> Computation:
        """Other operations with the same feeds and fetches."""
        return Computation(self.graph, self.feeds, self.fetches, operations)

    def substituted(self, replaced: dict[int, Tensor]) -> Computation:
        """The computation with tensors replaced by others, which must be computed before their
        uses.
        """

        def current(tensor: Tensor) -> Tensor:
            while id(tensor) in replaced:
                tensor = replaced[id(tensor)]
            return tensor

        operations = []
        for operation in self.operations:
            inputs = [current(tensor) for tensor in operation.inputs]
            made = operation
            if any(a is not b for a, b in zip(inputs, operation.inputs, strict=True)):
                made = operation_like(operation, operation.op, inputs, operation.given)
                for old, new in zip(operation.outputs, made.outputs, strict=True):
                    replaced[id(old)] = new
            operations.append(made)
        fetches = [current(tensor) for tensor in self.fetches]
        return Computation(self.graph, self.feeds, fetches, operations)

    def with_placeholders(self) -> Computation:
        """The computation with placeholders for all feeds, so that no pass looks behind them.

        A session may feed any tensor.
        """
        fed: dict[int, Tensor] = {}
        for feed in self.feeds:
            if isinstance(feed, SymbolicTensor) and feed.op.op is not Placeholder:
                attrs = {"dtype": feed.dtype, "shape": feed.shape}
                made = operation_like(feed.op, Placeholder, (), attrs)
                made.outputs = [SymbolicTensor(made, 0, feed.dtype, feed.shape)]
                fed[id(feed)] = made.outputs[0]
        if not fed:
            return self
        feeds = [fed.get(id(feed), feed) for feed in self.feeds]
        needed = [
            operation
            for operation in self.operations
            if not any(id(output) in fed for output in operation.outputs)
        ]
        computation = self.with_operations(needed).substituted(fed)
        return Computation(self.graph, feeds, computation.fetches, computation.operations)

    def uses(self) -> dict[int, list[Operation]]:
        """The operations that use each tensor, by the tensor's id."""
        found: dict[int, list[Operation]] = {}
        for operation in self.operations:
            for tensor in operation.inputs:
                found.setdefault(id(tensor), []).append(operation)
        return found


def _with_inputs(operation: Operation, replaced: dict[int, Tensor]) -> Operation:
    """The operation with its inputs replaced: a copy, if any is."""
    if not any(id(tensor) in replaced for tensor in operation.inputs):
        return operation
    inputs = [replaced.get(id(tensor), tensor) for tensor in operation.inputs]
    return operation_like(operation, operation.op, inputs, operation.given)


def operation_like(
    operation: Operation, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> Operation:
    """An operation with the name, location and output types of another."""
    types = [(output.dtype, output.shape) for output in operation.outputs]
    made = Operation(operation.graph, op, operation.name, inputs, attrs)
    made.location = operation.location
    made.outputs = [
        SymbolicTensor(made, index, dtype, shape) for index, (dtype, shape) in enumerate(types)
    ]
    return made


def made_by(tensor: Tensor, *types: str) -> Operation | None:
    """The operation that produces a tensor, if it is of one of these types."""
    if isinstance(tensor, SymbolicTensor) and tensor.op.type in types:
        return tensor.op
    return None


def made_like(
    model: Operation,
    name: str,
    inputs: Sequence[Tensor],
    shapes: Sequence[tuple[int | None, ...]],
    **attrs: Any,
) -> Operation:
    """An operation at the location of another, with outputs of its dtype and the given shapes."""
    made = operation_like(model, REGISTRY[name], inputs, attrs)
    dtype = model.outputs[0].dtype
    made.outputs = [
        SymbolicTensor(made, place, dtype, TensorShape(shape)) for place, shape in enumerate(shapes)
    ]
    return made


def constant(operation: Operation, array: Any, dtype: DType) -> SymbolicTensor:
    """A constant at the location of an operation."""
    value = np.asarray(array)
    made = Operation(operation.graph, Const, operation.name, (), {"value": value, "dtype": dtype})
    made.location = operation.location
    made.outputs = [SymbolicTensor(made, 0, dtype, TensorShape.of(value.shape))]
    return made.outputs[0]


def constant_of(tensor: Tensor) -> Any:
    """The array of a constant, or None."""
    if isinstance(tensor, SymbolicTensor) and tensor.op.op is Const:
        return tensor.op.given["value"]
    return None

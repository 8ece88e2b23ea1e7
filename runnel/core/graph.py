"""Graph: operations under construction, in program order; Operation: one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .context import state
from .dtypes import DType
from .op import Op, op
from .shapes import TensorShape
from .tensor import SymbolicTensor, Tensor


@op("Placeholder", "-> output: dtype", shape=lambda inputs, attrs: attrs["shape"], gradient=None)
def Placeholder(*, dtype: DType, shape: TensorShape) -> Any:
    raise ValueError("A placeholder has no value of its own: it must be fed.")


class Operation:
    """An op with its inputs, attributes and outputs in a graph.

    It shows gradient rules the same face as a tape's `Record`.
    """

    __slots__ = ("given", "graph", "inputs", "name", "op", "outputs")

    def __init__(
        self, graph: Graph, op: Op, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> None:
        self.graph = graph
        self.op = op
        self.name = name
        self.inputs = tuple(inputs)
        self.given = attrs
        self.outputs: list[SymbolicTensor] = []

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def attrs(self) -> dict[str, Any]:
        return {**self.op.defaults, **self.given}

    def get_attr(self, name: str) -> Any:
        return self.attrs[name]

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Graph:
    """Operations in the order of the program, which is the order of their execution."""

    # Whether operations on this graph's tensors may be added while no graph is being built.
    open = False
    tensor_type: type[SymbolicTensor] = SymbolicTensor

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._names: dict[str, int] = {}

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, `name_2`, ... where it is taken."""
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return self.unique_name(f"{name}_{count}") if count else name

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Append an operation; its output, or the list of its outputs."""
        types = op.types_of_results(inputs, attrs)
        shapes = op.infer_shapes(inputs, attrs)
        name = self.unique_name(state.name_scope + op.name)
        operation = Operation(self, op, name, inputs, attrs)
        kinds = [types] if op.single else types
        operation.outputs = [
            self.tensor_type(operation, index, dtype, shape)
            for index, (dtype, shape) in enumerate(zip(kinds, shapes, strict=True))
        ]
        self.operations.append(operation)
        for tape in state.tapes:
            tape.record(op, operation.inputs, operation.outputs, attrs)
        return operation.outputs[0] if op.single else list(operation.outputs)

    def placeholder(self, dtype: DType, shape: TensorShape) -> SymbolicTensor:
        """A value to be fed when the graph runs."""
        with self.as_default():
            fed: SymbolicTensor = self.add(Placeholder, (), {"dtype": dtype, "shape": shape})
        return fed

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Add the operations of a block to this graph."""
        outer, state.graph = state.graph, self
        try:
            yield self
        finally:
            state.graph = outer

    def compute(
        self, fetches: Sequence[Tensor], feeds: dict[Tensor, Any] | Sequence[tuple[Tensor, Any]]
    ) -> list[Any]:
        """Run the operations in order on the arrays fed; the arrays of the fetches."""
        pairs = feeds.items() if isinstance(feeds, dict) else feeds
        values = {id(tensor): array for tensor, array in pairs}

        def value(tensor: Tensor) -> Any:
            return values[id(tensor)] if isinstance(tensor, SymbolicTensor) else tensor._array

        for operation in self.operations:
            if any(id(output) in values for output in operation.outputs):
                continue
            arrays = [value(tensor) for tensor in operation.inputs]
            result = operation.op.run(arrays, operation.given)
            results = [result] if operation.op.single else result
            for output, array in zip(operation.outputs, results, strict=True):
                values[id(output)] = array
        return [value(tensor) for tensor in fetches]

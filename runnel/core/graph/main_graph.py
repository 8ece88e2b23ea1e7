"""MainGraph, the public `tf.Graph`: a whole program that sessions run in parts.

Variables made in it are cells of the graph: each session keeps values of its own for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import hooks
from ..context import state
from ..op import Op
from ..tensor import SymbolicTensor, Tensor
from ..type_spec import register_type_spec
from .graph import Graph


class GraphTensor(SymbolicTensor):
    """A tensor of a program's graph; equal to itself only, so that it can be a key of dicts."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The value that a session computes, by default the default one."""
        return hooks.session_for(session, self.graph, "eval()").run(self, feed_dict)

    def consumers(self) -> list[Any]:
        """The operations that use this tensor."""
        return [
            each for each in self.graph.operations if any(tensor is self for tensor in each.inputs)
        ]

    @property
    def value_index(self) -> int:
        return self.index


class _AnyGraph(type):
    """Takes graphs of functions for instances of `tf.Graph`, as they are in the original."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Graph)


class MainGraph(Graph, metaclass=_AnyGraph):
    """Operations in the order of the program, for sessions to run parts of.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     total = tf.constant(1.0) + 2.0
    >>> with tf.compat.v1.Session(graph=graph) as session:
    ...     print(session.run(total))
    3.0
    """

    has_own_seed = True

    tensor_type = GraphTensor

    def __init__(self) -> None:
        super().__init__()
        # Its variables by name, and the session that Keras uses: they end with the graph.
        self.variable_store: Any = None
        self.keras_session: Any = None

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        for tensor in inputs:
            if isinstance(tensor, SymbolicTensor) and tensor.op.graph is not self:
                owner = tensor.op.graph
                if owner.open:
                    return owner.add(op, inputs, attrs)
                raise ValueError(f"{tensor!r} must be from the same graph as {op.name}.")
        result = super().add(op, inputs, attrs)
        # What has no outputs is known by its operation.
        return result if op.outputs else self.operations[-1]

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Build the operations and variables of a block in this graph."""
        home, state.home = state.home, self
        try:
            with super().as_default():
                yield self
        finally:
            state.home = home

    def make_variable(self, **arguments: Any) -> Any:
        """A variable of this graph."""
        return hooks.graph_variable(**arguments)


register_type_spec(GraphTensor, lambda tensor: tensor._type_spec)

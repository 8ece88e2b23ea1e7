"""MainGraph, the public `tf.Graph`: a whole program that sessions run in parts.

Variables created in it belong to the graph: each session holds its own values of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import hooks
from ..context import state
from ..dtypes import resource
from ..op import Op
from ..tensor import SymbolicTensor, Tensor
from ..type_spec import register_type_spec
from .graph import Graph, Operation
from .reachability import has_effects


class GraphTensor(SymbolicTensor):
    """A tensor of a program's graph; compared by identity, so that it can be a dict key."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Evaluate the tensor in a session, by default the default one."""
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
    """Makes function graphs instances of `tf.Graph`, as they are in the original."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Graph)


class MainGraph(Graph, metaclass=_AnyGraph):
    """Operations in program order, of which sessions run subsets.

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
        # Its variables by name, and Keras's session and learning phase: they live as long as the
        # graph.
        self.variable_store: Any = None
        # The variables of each saver by their keys, by the scope of its nodes in exported graphs.
        self.savers: dict[str, dict[str, Any]] = {}
        self.keras_session: Any = None
        self.keras_learning_phase: Any = None

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        for tensor in inputs:
            if isinstance(tensor, SymbolicTensor) and tensor.op.graph is not self:
                owner = tensor.op.graph
                if owner.open:
                    return owner.add(op, inputs, attrs)
                raise ValueError(f"{tensor!r} must be from the same graph as {op.name}.")
        result = super().add(op, inputs, attrs)
        operation = self.operations[-1]
        self._come_after_what_is_inside(operation)
        return result

    def _come_after_what_is_inside(self, operation: Operation) -> None:
        """Add control dependencies on the updates that the operation's variables and branches
        imply.
        """
        for tensor in operation.inputs:
            if not isinstance(tensor, SymbolicTensor) and tensor.dtype is resource:
                update = getattr(tensor._array, "update", None)
                if update is not None and update not in operation.control_inputs:
                    operation.control_inputs.append(update)
        for value in operation.given.values():
            for branch in value if isinstance(value, list | tuple) else (value,):
                for before in getattr(getattr(branch, "graph", None), "outer_controls", ()):
                    if before.graph is self and before not in operation.control_inputs:
                        operation.control_inputs.append(before)

    def effects_since(self, start: int) -> list[Operation]:
        """The operations with side effects added since, except for initializers.

        `start` is the number of operations at that time. The results of a call depend on all of
        them, as a session runs only what a fetch depends on.
        """
        added = self.operations[start:]
        return [each for each in added if has_effects(each) and not _is_preparation(each)]

    def one_for_all_since(self, start: int, name: str) -> Operation:
        """One operation that runs after all side effects added since `start`."""
        operation: Operation = hooks.operation_after(self.effects_since(start), name)
        return operation

    def updated_since(self, start: int, variable: Any) -> Any:
        """A variable's value after all side effects added since `start`."""
        update = self.one_for_all_since(start, "updates")
        return hooks.assigned_variable(variable, update)

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


def _is_preparation(operation: Operation) -> bool:
    """Whether an operation only initializes a variable for a session, or is fed by it."""
    if operation.type in ("VarHandleOp", "VarIsInitializedOp", "Placeholder"):
        return True
    if operation.type != "AssignVariableOp":
        return False
    handle = operation.inputs[0]
    if isinstance(handle, SymbolicTensor):
        return False
    return getattr(handle._array, "initializer", None) is operation


def main_graph_being_built() -> MainGraph | None:
    """The program's graph, if it is the current graph and not a function's."""
    graph = state.graph
    return graph if type(graph) is MainGraph else None


def depends(value: Any, tensors: Sequence[Any]) -> bool:
    """Whether a tensor or an operation of a graph is computed from any of these tensors."""
    wanted = {id(tensor) for tensor in tensors}
    found = [value] if isinstance(value, Operation | SymbolicTensor) else []
    seen: set[int] = set()
    while found:
        each = found.pop()
        if id(each) in wanted:
            return True
        operation = each if isinstance(each, Operation) else each.op
        if id(operation) not in seen:
            seen.add(id(operation))
            found += [each for each in operation.inputs if isinstance(each, SymbolicTensor)]
            found += operation.control_inputs
    return False


register_type_spec(GraphTensor, lambda tensor: tensor._type_spec)

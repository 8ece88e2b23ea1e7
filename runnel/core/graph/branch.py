"""Branches: the graphs of conditions and loops, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import dtypes, hooks
from ..autodiff.backward import backward, graph_records, is_differentiable, zeros_like
from ..context import name_scope, next_key, state
from ..convert import convert_to_tensor
from ..op import Op, execute
from ..tensor import SymbolicTensor, Tensor
from .graph import FuncGraph, Operation

if TYPE_CHECKING:
    from ...compiler.plan import Plan

_NO_GRAPH = (
    "tf.cond, tf.while_loop, tf.map_fn and the like take no symbolic inputs or outputs of a Keras "
    "model: put them into the `call` of a layer of your own, and call that layer on the values."
)


class BranchGraph(FuncGraph):
    """The graph of a branch or loop body, nested in the graph being built."""

    scope = ""

    @property
    def keeps_effects(self) -> bool:
        """As in the enclosing graph: in a program's own graph, side effects run only if results
        depend on them.
        """
        outer = self.outer_graph
        return True if outer is None else outer.keeps_effects

    def function_graph(self) -> FuncGraph:
        outer = self.outer_graph
        return outer.function_graph() if isinstance(outer, FuncGraph) else self

    def own(self, tensor: Tensor) -> Tensor:
        owned = super().own(tensor)
        from_outside = owned is not tensor and owned.dtype is dtypes.resource
        if from_outside and isinstance(self.outer_graph, FuncGraph):
            self.outer_graph.own(tensor)
        return owned

    @classmethod
    def inside(cls, name: str, scope: str = "") -> BranchGraph:
        """An empty graph nested in the one being built, with this scope as name prefix."""
        if state.graph is None:
            raise TypeError(_NO_GRAPH)
        graph = cls(state.graph.unique_name(name))
        graph.scope = scope
        return graph

    @classmethod
    def part(cls, operation: str, part: str) -> BranchGraph:
        """An empty graph for a part of the operation of this name."""
        return cls.inside(f"{operation.replace('/', '_')}_{part}", f"{operation}/")

    @contextmanager
    def building(self) -> Iterator[FuncGraph]:
        """Build the graph in the name scope it belongs to."""
        with super().building(), name_scope(self.scope):
            yield self


def scope_of(name: str) -> str:
    """The full name of a condition or loop that is about to be added here."""
    if state.graph is None:
        raise TypeError(_NO_GRAPH)
    return state.graph.unique_name(state.name_scope + name)


def add_named(name: str, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Add a condition or loop under the name that its branches use."""
    graph = state.graph
    assert graph is not None
    graph.reserved = op, name
    try:
        return execute(op, inputs, attrs)
    finally:
        graph.reserved = None


class Branch:
    """A graph with an order of inputs and outputs; calling it with arrays runs its plan.

    None among the feeds is an unused argument.
    """

    def __init__(
        self, graph: FuncGraph, feeds: Sequence[Tensor | None], outputs: Sequence[Tensor]
    ) -> None:
        self.graph = graph
        self.feeds = list(feeds)
        self.outputs = list(outputs)
        self._plan: Plan | None = None

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        return (self._plan or self.plan).run(*arrays)

    @property
    def plan(self) -> Plan:
        """The plan of the branch, compiled on first use."""
        if self._plan is None:
            feeds = [Tensor(None, dtypes.variant) if feed is None else feed for feed in self.feeds]
            self._plan = hooks.optimized_plan(self.graph, feeds, self.outputs, self.graph.name)
        return self._plan

    def with_outputs(self, more: Sequence[Tensor]) -> Branch:
        """The same branch with additional outputs."""
        return Branch(self.graph, self.feeds, [*self.outputs, *more])

    def aligned(self, captured: Sequence[Tensor]) -> Branch:
        """The branch with inputs for these outer tensors, after its own."""
        known = self.graph.captured
        inside = [known[id(t)][1] if id(t) in known else None for t in captured]
        return Branch(self.graph, [*self.feeds, *inside], self.outputs)

    def source(self, place: int, outside: Tensor) -> Any:
        """The inner tensor of the input with this index: a feed, or a variable read there."""
        feed = self.feeds[place]
        if feed is None:
            variable = self.graph.variables.get(outside._key)
            if variable is not None:
                return variable
            feed = self.feeds[place] = self.graph.add_input(outside.dtype, outside.shape)
        return feed

    def __repr__(self) -> str:
        return f"<Branch {self.graph.name}>"

    @property
    def name(self) -> str:
        return self.graph.name


def captured_by(graphs: Sequence[FuncGraph]) -> list[Tensor]:
    """The captures of branches: outer tensors, and the values of trainable variables.

    Branches read variables themselves; the values here connect their gradients to the variables.
    """
    tensors = {id(t): t for graph in graphs for t in graph.external_captures}
    variables = {key: v for graph in graphs for key, v in graph.variables.items() if v.trainable}
    return [
        *tensors.values(),
        *(v._as_tensor() for v in variables.values() if is_differentiable(v)),
    ]


class BranchGradient:
    """The gradients of some inputs of a branch, given those of some of its outputs.

    `extra` are additional inputs after the upstream gradients; `finish(gradients, extra, sources)`
    makes the outputs of the gradients found (None where a source has no gradient).
    """

    def __init__(
        self,
        branch: Branch,
        targets: Sequence[Tensor],
        sources: Sequence[Any],
        extra: Sequence[Tensor],
        finish: Callable[[list[Any], list[Tensor], Sequence[Any]], list[Tensor]],
    ) -> None:
        self.graph = BranchGraph(f"{branch.name}_grad", branch.graph)
        with self.graph.building():
            weights = [self.graph.add_input(t.dtype, t.shape, "gradient") for t in targets]
            inputs: list[Tensor] = [self.graph.add_input(t.dtype, t.shape) for t in extra]
            for tensor in (*targets, *sources):
                tensor._key = tensor._key or next_key()
            keys = [source._key for source in sources]
            records, needed = graph_records(branch.graph, keys)
            found = backward(records, targets, weights, keys, needed)
            gradients = [found.get(key) for key in keys]
            results = finish(gradients, inputs, sources)
            outputs = [self.graph.own(convert_to_tensor(each)) for each in results]
        self.outputs = outputs
        self.weights: list[Tensor] = [*weights, *inputs]
        # The tensors of the branch that the gradients depend on.
        self.uses = [outside for outside, _ in self.graph.captures]

    def branch(self, feeds: Sequence[Tensor | None]) -> Branch:
        """The gradient as a branch."""
        return Branch(self.graph, feeds, self.outputs)

    def inside(self, tensor: Tensor) -> SymbolicTensor:
        """The input that corresponds to a tensor of the branch."""
        return self.graph.captured[id(tensor)][1]


def dense_or_zeros(gradients: list[Any], sources: Sequence[Any]) -> list[Tensor]:
    """A dense tensor for each source: its gradient, or zeros if it has none."""
    return [
        zeros_like(source) if gradient is None else convert_to_tensor(gradient)
        for gradient, source in zip(gradients, sources, strict=True)
    ]


def extend(node: Operation, tensors: Sequence[tuple[Any, Any]]) -> list[SymbolicTensor]:
    """Give a node additional outputs of these dtypes and shapes; tapes that watch it watch them."""
    first = len(node.outputs)
    fresh = [
        SymbolicTensor(node, first + i, dtype, shape) for i, (dtype, shape) in enumerate(tensors)
    ]
    watched = {output._key for output in node.outputs if output._key}
    for output in fresh:
        output._key = next_key()
    for tape in state.tapes:
        known = getattr(tape, "_watched", None)
        if known is not None and known & watched:
            known.update(output._key for output in fresh if is_differentiable(output))
    node.outputs.extend(fresh)
    return fresh

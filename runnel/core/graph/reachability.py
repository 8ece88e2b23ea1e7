"""Reachability: the operations of a graph that the fetches need, or that have side effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..tensor import SymbolicTensor, Tensor

if TYPE_CHECKING:
    from .graph import Graph, Operation


def needed_operations(
    graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]
) -> list[Operation]:
    """The operations, in program order, that the fetches need or that have side effects."""
    return needed_of(graph.operations, feeds, fetches, graph.keeps_effects)


def needed_of(
    operations: Sequence[Operation],
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    with_effects: bool,
) -> list[Operation]:
    """The operations, in order, that the fetches need, and optionally those with side effects."""
    fed = {id(tensor) for tensor in feeds}
    wanted = {id(tensor.op) for tensor in fetches if _is_computed(tensor, fed)}
    kept = []
    for operation in reversed(operations):
        if id(operation) not in wanted and not (with_effects and has_effects(operation)):
            continue
        kept.append(operation)
        for tensor in operation.inputs:
            if _is_computed(tensor, fed):
                wanted.add(id(tensor.op))
        wanted.update(id(before) for before in operation.control_inputs)
    kept.reverse()
    return kept


def _is_computed(tensor: Tensor, fed: set[int]) -> bool:
    return isinstance(tensor, SymbolicTensor) and id(tensor) not in fed


def has_effects(operation: Operation) -> bool:
    """Whether an operation must run even if its outputs are unused."""
    op = operation.op
    return op.stateful and op.name != "ReadVariableOp"

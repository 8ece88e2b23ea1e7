"""Graph rewrites between tracing and planning; each works on a list of operations."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Graph, Operation
from ..plan import needed_operations
from ..tensor import Tensor


def optimize(
    graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]
) -> list[Operation]:
    """The operations to run for the fetches."""
    return needed_operations(graph, feeds, fetches)

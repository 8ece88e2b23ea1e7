"""Passes: rewrites of a computation between tracing and planning.

A pass takes a `Computation` and returns an equivalent one. It never changes the graph's own
operations: rewritten ones are copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.graph.graph import Graph
from ...core.tensor import Tensor
from . import (
    accumulated_matmuls,
    algebraic_simplification,
    common_subexpressions,
    constant_folding,
    dead_code,
    epilogue_fusion,
    horizontal_fusion,
    padding_fusion,
    recurrent_rerolling,
    unused_outputs,
)
from .computation import Computation

# The passes in their order, each with its name in `tf.config.optimizer.set_experimental_options`.
PASSES: tuple[tuple[str, Callable[[Computation], Computation]], ...] = (
    ("constant_folding", constant_folding.run),
    ("arithmetic_optimization", algebraic_simplification.run),
    ("loop_optimization", recurrent_rerolling.run),
    ("loop_optimization", accumulated_matmuls.run),
    ("common_subgraph_elimination", common_subexpressions.run),
    ("loop_optimization", horizontal_fusion.run),
    ("remapping", padding_fusion.run),
    ("remapping", epilogue_fusion.run),
    ("remapping", unused_outputs.run),
)


# The names of the passes that are switched off.
disabled: set[str] = set()


def optimize(graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Computation:
    """The operations to run for the fetches, after all passes."""
    return rewritten(dead_code.run(Computation.of(graph, feeds, fetches)))


def rewritten(computation: Computation) -> Computation:
    """A computation after all passes."""
    if "disable_meta_optimizer" in disabled:
        return computation
    computation = computation.with_placeholders()
    for name, run in PASSES:
        if name not in disabled:
            computation = run(computation)
    return dead_code.run(computation)

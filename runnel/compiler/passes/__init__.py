"""Graph rewrites between tracing and planning.

A pass takes a `Program` and gives one that computes the same. It never changes the graph's own
operations: rewritten ones are copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.graph.graph import Graph
from ...core.tensor import Tensor
from . import discard, fold, fuse, pad, products, prune, roll, share, stack, tidy
from .program import Program

# What `tf.config.optimizer.set_experimental_options` calls each pass.
PASSES: tuple[tuple[str, Callable[[Program], Program]], ...] = (
    ("constant_folding", fold.run),
    ("arithmetic_optimization", tidy.run),
    ("loop_optimization", roll.run),
    ("loop_optimization", products.run),
    ("common_subgraph_elimination", share.run),
    ("loop_optimization", stack.run),
    ("remapping", pad.run),
    ("remapping", fuse.run),
    ("remapping", discard.run),
)


# The passes that are switched off, by name.
disabled: set[str] = set()


def optimize(graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor]) -> Program:
    """The operations to run for the fetches, rewritten to run faster."""
    return rewritten(prune.run(Program.of(graph, feeds, fetches)))


def rewritten(program: Program) -> Program:
    """A program without dead code, after all passes."""
    if "disable_meta_optimizer" in disabled:
        return program
    program = program.with_placeholders()
    for name, run in PASSES:
        if name not in disabled:
            program = run(program)
    return prune.run(program)

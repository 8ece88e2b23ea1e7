"""Dead-code elimination: operations that no fetch needs are dropped."""

from __future__ import annotations

from ...core.graph.reachability import needed_of
from .computation import Computation


def run(computation: Computation) -> Computation:
    """Keep what the fetches need and what has effects."""
    with_effects = computation.graph.keeps_effects
    return computation.with_operations(
        needed_of(computation.operations, computation.feeds, computation.fetches, with_effects)
    )

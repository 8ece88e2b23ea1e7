"""Dead code: drop the operations that nobody needs."""

from __future__ import annotations

from ...core.graph.reachability import needed_of
from .computation import Program


def run(program: Program) -> Program:
    """Keep what the fetches need and what has effects."""
    with_effects = program.graph.building_function
    return program.with_operations(
        needed_of(program.operations, program.feeds, program.fetches, with_effects)
    )

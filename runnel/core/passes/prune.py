"""Dead code: drop the operations that nobody needs."""

from __future__ import annotations

from ..plan import has_effects
from ..tensor import SymbolicTensor
from .program import Program


def run(program: Program) -> Program:
    """Keep what the fetches need and what has effects."""
    fed = {id(tensor) for tensor in program.feeds}
    wanted = {
        id(tensor.op)
        for tensor in program.fetches
        if isinstance(tensor, SymbolicTensor) and id(tensor) not in fed
    }
    effects = program.graph.building_function
    kept = []
    for operation in reversed(program.operations):
        if id(operation) not in wanted and not (effects and has_effects(operation)):
            continue
        kept.append(operation)
        for tensor in operation.inputs:
            if isinstance(tensor, SymbolicTensor) and id(tensor) not in fed:
                wanted.add(id(tensor.op))
        wanted.update(id(before) for before in operation.control_inputs)
    kept.reverse()
    return program.with_operations(kept)

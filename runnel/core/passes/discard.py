"""What operations keep for their gradients is discarded where nobody computes these."""

from __future__ import annotations

from ..graph import Operation
from .program import Program, operation_like


def run(program: Program) -> Program:
    """Tell operations with an attribute `keep` not to, where nobody uses their last output."""
    keeping = [operation for operation in program.operations if operation.given.get("keep")]
    if not keeping:
        return program
    uses = program.uses()
    fetched = {id(tensor) for tensor in program.fetches}
    idle = {
        operation.name
        for operation in keeping
        if id(operation.outputs[-1]) not in uses and id(operation.outputs[-1]) not in fetched
    }

    def discarding(operation: Operation) -> Operation | None:
        if operation.name not in idle or not operation.given.get("keep"):
            return None
        attrs = {**operation.given, "keep": False}
        return operation_like(operation, operation.op, operation.inputs, attrs)

    return program.rewritten(discarding)

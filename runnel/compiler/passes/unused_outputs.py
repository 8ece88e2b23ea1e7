"""Unused outputs: values saved for the backward pass are not computed if there is none."""

from __future__ import annotations

import copy
from typing import Any

from ...core.graph.graph import Operation
from ...core.op import Op
from .computation import Computation, operation_like

_ALONE: dict[str, Op] = {}


def run(computation: Computation) -> Computation:
    """Switch off the last output of operations that compute it on demand, if it has no use."""
    keeping = [operation for operation in computation.operations if _is_keeping(operation)]
    if not keeping:
        return computation
    uses = computation.uses()
    fetched = {id(tensor) for tensor in computation.fetches}
    idle = {
        operation.name
        for operation in keeping
        if id(operation.outputs[-1]) not in uses and id(operation.outputs[-1]) not in fetched
    }

    def discarding(operation: Operation) -> Operation | None:
        if operation.name not in idle or not _is_keeping(operation):
            return None
        op, attrs = operation.op, operation.given
        if op.last_on_demand:
            op = _alone(op)
        else:
            attrs = {**attrs, "keep": False}
        return operation_like(operation, op, operation.inputs, attrs)

    return computation.rewritten(discarding)


def _is_keeping(operation: Operation) -> bool:
    if operation.op.last_on_demand:
        return operation.outputs[0].dtype.name in ("float32", "float64")
    return bool(operation.given.get("keep"))


def _alone(op: Op) -> Op:
    """A loss op without its gradient, which is None."""
    if op.name not in _ALONE:
        kernel = op.kernel

        def loss(features: Any, labels: Any) -> Any:
            return kernel(features, labels, False)

        made = copy.copy(op)
        made.kernel = loss
        _ALONE[op.name] = made
    return _ALONE[op.name]

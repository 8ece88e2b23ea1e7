"""Common-subexpression elimination: equal operations on equal inputs are computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.graph.graph import Operation
from ...core.tensor import SymbolicTensor, Tensor
from .computation import Computation

# Constants up to this many bytes are compared by value.
_SMALL = 1024


def run(computation: Computation) -> Computation:
    """Replace an operation by an earlier one with the same op, inputs and attributes.

    Reads of a variable are merged between two operations that may change it.
    """
    known: dict[Any, Operation] = {}
    reads: dict[int, Tensor] = {}

    def shared(operation: Operation) -> Any:
        op = operation.op
        if op.name == "ReadVariableOp":
            variable = _identity(operation.inputs[0])
            return reads.setdefault(variable, operation.outputs[0])
        if op.stateful:
            _forget(operation, reads)
            return None
        # Between two reads of a file it may be written.
        key = None if op.effect else _key(operation)
        if key is None:
            return None
        earlier = known.setdefault(key, operation)
        if earlier is operation:
            return None
        return earlier.outputs[0] if op.single else _Earlier(earlier)

    def rewrite(operation: Operation) -> Any:
        result = shared(operation)
        if isinstance(result, Tensor) and result is operation.outputs[0]:
            return None
        return result

    computation = computation.rewritten(rewrite)
    computation.operations = list(
        {id(op): op for op in computation.operations if not isinstance(op, _Earlier)}.values()
    )
    return computation


class _Earlier:
    """Stands for an earlier operation with the same results."""

    def __init__(self, operation: Operation) -> None:
        self.outputs = operation.outputs
        self.op = operation.op


def _forget(operation: Operation, reads: dict[int, Tensor]) -> None:
    """An operation with effects may change the variables that it gets, and those of functions it
    calls.
    """
    if operation.op.runs_code:
        reads.clear()
    for tensor in operation.inputs:
        if tensor.dtype.name == "resource":
            identity = _identity(tensor)
            reads.pop(identity, None)
            if identity > 0:
                # It is no variable: the functions of a dataset or an iterator may change any.
                reads.clear()


def _key(operation: Operation) -> Any:
    op = operation.op
    if op.name == "Const":
        value = operation.given["value"]
        if value.nbytes > _SMALL or value.dtype == object:
            return None
        return "Const", value.dtype.str, operation.given["dtype"], value.shape, value.tobytes()
    if not operation.inputs:
        return None
    try:
        attrs = tuple([(name, _hashable(value)) for name, value in operation.given.items()])
        hash(attrs)
    except TypeError:
        return None
    return id(op), tuple([_identity(tensor) for tensor in operation.inputs]), attrs


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple([_hashable(each) for each in value])
    if isinstance(value, np.ndarray):
        raise TypeError
    return type(value), value


def _identity(tensor: Tensor) -> int:
    if tensor.dtype.name != "resource" or isinstance(tensor, SymbolicTensor):
        return id(tensor)
    # The result of an assignment is another object than the variable, with the same key.
    key: int = getattr(tensor._array, "_key", 0)
    return -key or id(tensor._array)

"""XLA through JAX, where that is installed: what `tf.function(jit_compile=True)` runs on.

The operations of a graph are handed to JAX one by one while it traces; what they come to is
compiled once for each combination of shapes. Variables go in with their values and come out with
new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ...core.graph.graph import Operation
from ...core.tensor import Tensor
from .lowerings import LOWERINGS, UPDATES

_VARIABLES = ("ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")
_FREE = ("Const", "Placeholder", "NoOp")


def missing(operations: Sequence[Operation]) -> list[str]:
    """The types of operations that there is no way to hand to XLA for."""
    known = {*LOWERINGS, *UPDATES, *_VARIABLES, *_FREE}
    return sorted({each.type for each in operations} - known)


def compiled(
    operations: Sequence[Operation], feeds: Sequence[Tensor], fetches: Sequence[Tensor]
) -> Callable[..., tuple[Any, ...]]:
    """A program from the arrays of the feeds to those of the fetches, compiled by XLA."""
    jax: Any = import_module("jax")
    variables = _variables(operations)

    def traced(arrays: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        run = _Run(dict(zip(map(id, variables), values, strict=True)))
        run.known.update(zip(map(id, feeds), arrays, strict=True))
        for operation in operations:
            run.step(operation)
        return [run.value(tensor) for tensor in fetches], [
            run.variables[id(variable)] for variable in variables
        ]

    program = jax.jit(traced)
    # Where JAX keeps it has changed over its versions.
    home = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    changed = {id(v) for op in operations if op.type != "ReadVariableOp" for v in _cells(op)}

    def run(*arrays: Any) -> tuple[Any, ...]:
        with home.enable_x64(True):
            results, values = program(arrays, [each._tensor._array for each in variables])
        for variable, value in zip(variables, values, strict=True):
            if id(variable) in changed:
                # A copy: what XLA gives back cannot be written to.
                variable._replace(np.array(value))
        return tuple(np.asarray(result) for result in results)

    return run


class _Run:
    """One walk over the operations: with JAX's tracers, or with arrays where all is known."""

    def __init__(self, variables: dict[int, Any]) -> None:
        self.variables = variables
        self.known: dict[int, Any] = {}

    def value(self, tensor: Tensor) -> Any:
        found = self.known.get(id(tensor))
        return tensor._array if found is None else found

    def step(self, operation: Operation) -> None:
        if operation.type == "Placeholder" or operation.type == "NoOp":
            return
        if operation.type == "Const":
            self.known[id(operation.outputs[0])] = operation.given["value"]
            return
        if operation.type in _VARIABLES or operation.type in UPDATES:
            self._on_variables(operation)
            return
        values = [self.value(tensor) for tensor in operation.inputs]
        op = operation.op
        static = all(isinstance(value, np.ndarray | np.generic) for value in values)
        compute = op.kernel if static and not op.stateful else LOWERINGS[operation.type]
        attrs = {**op.defaults, **operation.given}
        result = compute(*op.grouped(values), **attrs)
        results = [result] if op.single else result
        for tensor, each in zip(operation.outputs, results, strict=True):
            self.known[id(tensor)] = each

    def _on_variables(self, operation: Operation) -> None:
        cells = [id(cell) for cell in _cells(operation)]
        now = [self.variables[cell] for cell in cells]
        if operation.type == "ReadVariableOp":
            self.known[id(operation.outputs[0])] = now[0]
            return
        values = [self.value(t) for t in operation.inputs if t.dtype.name != "resource"]
        if operation.type in UPDATES:
            attrs = {**operation.op.defaults, **operation.given}
            attrs.pop("use_locking", None)
            changed = UPDATES[operation.type](*now, *values, **attrs)
        elif operation.type == "AssignVariableOp":
            changed = values
        else:
            sign = 1 if operation.type == "AssignAddVariableOp" else -1
            changed = [now[0] + sign * values[0]]
        self.variables.update(zip(cells, changed, strict=True))


def _cells(operation: Operation) -> list[Any]:
    """The variables that an operation reads or changes."""
    return [t._array for t in operation.inputs if t.dtype.name == "resource"]


def _variables(operations: Sequence[Operation]) -> list[Any]:
    return list({id(cell): cell for each in operations for cell in _cells(each)}.values())

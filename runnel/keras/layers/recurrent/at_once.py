"""Fused fast paths of recurrent layers: one op for the gates, a step, or the whole sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ....core.context import state
from ....core.op import execute
from ....core.tensor import Tensor
from ....ops.nn.gated_step import GATED_STEP
from ....ops.nn.recurrent_step import STEP, stacked
from ...engine.layer_weights import set_plainly
from ..at_once import are_plain_weights, known_activation, tapes_are_plain


def is_compiled() -> bool:
    """Whether the trace is compiled by XLA: it gets unfused ops, which it fuses itself."""
    graph: Any = state.graph
    while graph is not None and not getattr(graph, "jit_compile", False):
        graph = getattr(graph, "outer_graph", None)
    return graph is not None


def has_usual_gates(cell: Any) -> bool:
    """Whether the activations of a cell or layer are those of the fused ops."""
    return (
        known_activation(cell.activation) == "tanh"
        and known_activation(cell.recurrent_activation) == "sigmoid"
    )


class _Together:
    """The weights of a cell concatenated into one matrix, cached while they are unchanged.

    A reference to a variable's array prevents in-place updates: they allocate a new one. So arrays
    are held only after a second step with the same weights.
    """

    __slots__ = ("_known", "_last")

    def __init__(self) -> None:
        # Read and replaced as one tuple: other threads may call the cell as well.
        self._known: tuple[tuple[Any, ...], Any] = ((), None)
        self._last: tuple[int, ...] = ()

    def of(self, weights: tuple[Tensor, ...]) -> Tensor:
        """The matrix, or an empty one where building it is not profitable."""
        arrays = tuple([each._array for each in weights])
        held, matrix = self._known
        if held and all([a is b for a, b in zip(arrays, held, strict=True)]):
            found: Tensor = matrix
            return found
        last, self._last = self._last, tuple(map(id, arrays))
        if last != self._last:
            self._known = ((), None)
            return _NOTHING
        made = Tensor(stacked(*arrays), tf.float32)
        self._known = (arrays, made)
        return made


_NOTHING = Tensor(np.zeros(0, np.float32), tf.float32)


def step_at_once(cell: Any, inputs: Any, states: Any) -> Any:
    """The output and states of an eager LSTM step by one fused op; None if it does not apply."""
    h, c = states
    variables = (cell.kernel, cell.recurrent_kernel, cell.bias)
    if not _is_done_at_once(cell, variables, inputs, (h, c)):
        return None
    together = cell.__dict__.get("_together")
    if together is None:
        together = _Together()
        set_plainly(cell, "_together", together)
    weights = tuple([each._as_tensor() for each in variables])
    output, carry, *_ = execute(STEP, (inputs, h, c, *weights, together.of(weights)))
    return output, [output, carry]


def gated_step_at_once(cell: Any, inputs: Any, h: Any) -> Any:
    """The output of an eager GRU step by one fused op; None if it does not apply."""
    variables = (cell.kernel, cell.recurrent_kernel, cell.bias)
    if not cell.reset_after or not _is_done_at_once(cell, variables, inputs, (h,)):
        return None
    weights = [each._as_tensor() for each in variables]
    return execute(GATED_STEP, (inputs, h, *weights))[0]


def _is_done_at_once(
    cell: Any, variables: tuple[Any, ...], inputs: Any, states: tuple[Any, ...]
) -> bool:
    return (
        state.graph is None
        and are_plain_weights(*variables)
        and _fit(inputs, states, cell.kernel.shape[0], cell.units)
        and has_usual_gates(cell)
        and tapes_are_plain()
    )


def _fit(inputs: Any, states: tuple[Any, ...], columns: int | None, units: int) -> bool:
    """Whether all are eager float32 matrices with the shapes of a step."""
    for each in (inputs, *states):
        if type(each) is not Tensor or each.dtype is not tf.float32:
            return False
    rows = inputs._array.shape[:1]
    if inputs._array.shape != (*rows, columns):
        return False
    state_shape = (*rows, units)
    return all([each._array.shape == state_shape for each in states])

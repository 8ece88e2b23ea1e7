"""Execution order: groups of operations, control dependencies, timestamps.

Eager operations run at once, and a graph runs its operations in program order. Control dependencies
matter for a graph that is run in parts, as a session does.
"""

from __future__ import annotations

import contextlib
import time

import numpy as np

from ..core import nest
from ..core.context import state
from ..core.op import execute, op
from ..core.shape_rules import nothing, scalar
from ..core.tensor import SymbolicTensor
from .array.shaping import identity

NoOp = op("NoOp", "", shape=nothing, kernel=lambda: [], stateful=True, gradient=None)

Timestamp = op(
    "Timestamp", "-> ts: float64", shape=scalar, kernel=lambda: np.float64(time.time()),
    stateful=True, gradient=None,
)  # fmt: skip


def no_op(name=None):
    """Does nothing; in a graph, an operation that does nothing."""
    if state.graph is None:
        return None
    execute(NoOp, ())
    return state.graph.operations[-1]


def group(*inputs, **kwargs):
    """An operation that is done when all inputs are; None in eager mode, where they already are."""
    if state.graph is None:
        return None
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    with state.graph.control_dependencies(
        [each for each in nest.flatten(inputs) if each is not None]
    ):
        return no_op()


def tuple(tensors, control_inputs=None, name=None):
    """The tensors, returned once all of them and the control inputs are computed."""
    if state.graph is None:
        return tensors
    after = [each for each in (*tensors, *(control_inputs or ())) if each is not None]
    with state.graph.control_dependencies(after):
        given = [identity(each) if isinstance(each, SymbolicTensor) else each for each in tensors]
    if not any(each is not None for each in given):
        raise ValueError(f"Must have at least one Tensor. Received: {tensors}")
    return nest.pack_sequence_as(tensors, given)


def control_dependencies(control_inputs):
    """A context whose operations run after the control inputs; callables among these are called.

    >>> v = tf.Variable(1.0)
    >>> with tf.control_dependencies([v.assign_add(1.0)]):
    ...     print(tf.identity(v).numpy())
    2.0
    """
    if state.graph is not None:
        return state.graph.control_dependencies(control_inputs)
    for each in control_inputs or ():
        if callable(each):
            each()
    return contextlib.nullcontext()


def timestamp(name=None):
    """The current time in seconds since the epoch, as a float64."""
    return execute(Timestamp, ())

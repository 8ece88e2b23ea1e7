"""Metrics in a program's graph: a call returns an operation that runs all its updates."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.graph.graph import Operation
from ...core.graph.main_graph import main_graph_being_built
from ...core.graph.session_calls import in_session
from ...core.tensor import SymbolicTensor


def prepare(metric: Any) -> None:
    """Make a metric in a graph return the operation that a session runs for an update."""
    own = vars(metric)
    own["update_state"] = _as_operation(metric, metric.update_state)
    own["reset_state"] = _at_once(metric.reset_state)


def result_after(metric: Any, update: Operation) -> Any:
    """The result after an update has run."""
    with tf.control_dependencies([update]):
        return tf.nest.map_structure(_computed_here, metric.result())


def _computed_here(value: Any) -> Any:
    return tf.identity(value) if isinstance(value, SymbolicTensor) else value


def _as_operation(metric: Any, update_state: Callable[..., Any]) -> Callable[..., Any]:
    """`update_state` for graphs: returns one operation for all its updates."""

    @functools.wraps(update_state)
    def update(*args: Any, **kwargs: Any) -> Any:
        graph = main_graph_being_built()
        if graph is None:
            return update_state(*args, **kwargs)
        start = len(graph.operations)
        _in_graph(update_state)(*args, **kwargs)
        operation = graph.one_for_all_since(start, "update_state")
        metric.add_update(operation)
        return operation

    return update


def _in_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method for graphs: user code wrapped in a function, so that all its effects run."""
    is_own = function.__module__.partition(".")[0] == "runnel"
    return function if is_own else tf.function(function)


def _at_once(reset_state: Callable[..., Any]) -> Callable[..., Any]:
    """`reset_state`, which resets the values in the session immediately."""
    now = in_session(reset_state)

    @functools.wraps(reset_state)
    def reset(*args: Any, **kwargs: Any) -> Any:
        from ...core.context import state

        in_function = state.graph is not None and main_graph_being_built() is None
        return (reset_state if in_function else now)(*args, **kwargs)

    return reset

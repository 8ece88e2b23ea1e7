"""The context that nested layer calls inherit."""

from __future__ import annotations

import threading
from typing import Any

from ...core import hooks
from ...core.graph.main_graph import main_graph_being_built


class CallContext(threading.local):
    """The innermost call in progress: its `training` value and the nesting depth."""

    training: Any = None
    depth: int = 0
    scope: str = ""
    # The dtype that mixed-precision variables are cast to when read; None: no cast.
    compute_dtype: Any = None
    # Whether this is shape inference: only shapes and dtypes of outputs are used.
    trial: bool = False
    # The outer graph that a layer is built for.
    building: Any = None
    # The value of tf.keras.backend.set_learning_phase; None: never set.
    learning_phase: Any = None
    # Whether any layer in any thread ever added a loss in its call: usually none does.
    losses_made: bool = False


context = CallContext()


def phase_of_graph(graph: Any) -> Any:
    """The learning phase of a program's graph: a tensor, fed with 1 or True in training."""
    if graph.keras_learning_phase is None:
        with graph.as_default(), graph.control_dependencies(None), graph.name_scope(None):
            name = "keras_learning_phase"
            graph.keras_learning_phase = hooks.placeholder_with_default(graph, name, False)
    return graph.keras_learning_phase


def phase_in_graph(layer: Any) -> Any:
    """The default `training` of built-in layers in a program's graph."""
    graph = main_graph_being_built()
    if graph is None or not type(layer).__module__.startswith("runnel.keras.layers"):
        return None
    return phase_of_graph(graph)

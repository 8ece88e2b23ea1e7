"""What a layer called inside another layer's call inherits from it."""

from __future__ import annotations

import threading
from typing import Any

from ...core import hooks
from ...core.graph.main_graph import main_graph_being_built


class CallContext(threading.local):
    """The innermost call in progress: the value of `training`, and how deep we are."""

    training: Any = None
    depth: int = 0
    scope: str = ""
    # The float type that variables of mixed precision are read in; None: their own.
    compute_dtype: Any = None
    # Whether only the shapes and dtypes of the outputs are wanted, not their values.
    trial: bool = False
    # The graph that a layer is built for, outside of it.
    building: Any = None
    # The value set with tf.keras.backend.set_learning_phase; None: never set.
    learning_phase: Any = None
    # Whether any layer, in any thread, ever added a loss in its call: most never do.
    losses_made: bool = False


context = CallContext()


def phase_of_graph(graph: Any) -> Any:
    """The learning phase of a program's graph: a tensor to feed 1 or True for, while training."""
    if graph.keras_learning_phase is None:
        with graph.as_default(), graph.control_dependencies(None), graph.name_scope(None):
            name = "keras_learning_phase"
            graph.keras_learning_phase = hooks.placeholder_with_default(graph, name, False)
    return graph.keras_learning_phase


def phase_in_graph(layer: Any) -> Any:
    """What a layer of Keras itself takes for `training` in a program's graph, if nobody says."""
    graph = main_graph_being_built()
    if graph is None or not type(layer).__module__.startswith("runnel.keras.layers"):
        return None
    return phase_of_graph(graph)

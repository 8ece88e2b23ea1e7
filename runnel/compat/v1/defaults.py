"""The default graph and the default session."""

from __future__ import annotations

import threading
from contextlib import contextmanager

from ...core.context import ThreadState, state
from ...core.graph.main_graph import MainGraph


class _Defaults:
    """The program's default graph, and whether operations are added to it or run eagerly."""

    def __init__(self):
        self.graph = None
        self.eager = True
        self.equality = True
        self.control_flow_v2 = True
        self.resource_variables = True


defaults = _Defaults()


class _Sessions(threading.local):
    """The stack of default sessions of this thread, innermost last."""

    def __init__(self):
        self._stack = []

    def innermost(self):
        return self._stack[-1] if self._stack else None

    def push(self, session):
        self._stack.append(session)

    def remove(self, session):
        self._stack = [each for each in self._stack if each is not session]

    @contextmanager
    def entered(self, session):
        self._stack.append(session)
        try:
            yield session
        finally:
            self._stack.pop()


sessions = _Sessions()


def get_default_graph():
    """The graph that operations are added to."""
    return home_graph() if state.graph is None else state.graph


def home_graph():
    """The graph that variables belong to; where they are eager, the one for collections."""
    if state.home is not None:
        return state.home
    if defaults.graph is None:
        defaults.graph = MainGraph()
    return defaults.graph


def reset_default_graph():
    """Replace the default graph by a new one."""
    if state.graph is not None and state.graph is not defaults.graph:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    defaults.graph = MainGraph()
    if not defaults.eager:
        _build_in(defaults.graph)


def _build_in(graph):
    """Make this thread, and new ones, build a graph; None: run eagerly."""
    ThreadState.graph = ThreadState.home = graph
    state.graph = state.home = graph


def disable_eager_execution():
    """Make the program build a graph, to be run in sessions, as in TensorFlow 1."""
    if not defaults.eager:
        return
    if state.graph is not None:
        raise ValueError("tf.disable_eager_execution must be called at program startup.")
    defaults.eager = False
    _build_in(get_default_graph())


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Make operations run eagerly, as they do unless eager execution was disabled."""
    if defaults.eager:
        return
    if state.graph is not defaults.graph or defaults.graph.operations:
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    defaults.eager = True
    _build_in(None)


def executing_eagerly_outside_functions():
    """Whether operations outside of functions run eagerly."""
    return state.home is None


def disable_v2_behavior():
    """Behave as TensorFlow 1: build graphs."""
    disable_eager_execution()
    disable_v2_tensorshape()
    defaults.equality = defaults.control_flow_v2 = defaults.resource_variables = False


def enable_v2_behavior():
    """Behave as TensorFlow 2: run eagerly."""
    enable_eager_execution()
    enable_v2_tensorshape()
    defaults.equality = defaults.control_flow_v2 = defaults.resource_variables = True


def _switch(name, field, value, summary):
    def function():
        setattr(defaults, field, value)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _shown(name, field, summary):
    def function():
        return getattr(defaults, field)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


# There is one kind of variables and of control flow: the switches are only stored.
enable_resource_variables = _switch(
    "enable_resource_variables", "resource_variables", True, "Variables are resource variables."
)
disable_resource_variables = _switch(
    "disable_resource_variables", "resource_variables", False, "Variables may be reference ones."
)
enable_control_flow_v2 = _switch(
    "enable_control_flow_v2", "control_flow_v2", True, "Conditions and loops are functions."
)
disable_control_flow_v2 = _switch(
    "disable_control_flow_v2", "control_flow_v2", False, "Conditions and loops may be inlined."
)
resource_variables_enabled = _shown(
    "resource_variables_enabled", "resource_variables", "Whether variables are resource variables."
)
control_flow_v2_enabled = _shown(
    "control_flow_v2_enabled", "control_flow_v2", "Whether conditions and loops are functions."
)


def enable_tensor_equality():
    """Make `==` compare tensors by value, as in TensorFlow 2 outside of graphs."""
    defaults.equality = True


def enable_v2_tensorshape():
    """Make the dimensions of shapes integers and None, as in TensorFlow 2."""
    from .shapes import use_dimensions

    use_dimensions(False)


def disable_v2_tensorshape():
    """Make the dimensions of shapes Dimension objects, as in TensorFlow 1."""
    from .shapes import use_dimensions

    use_dimensions(True)

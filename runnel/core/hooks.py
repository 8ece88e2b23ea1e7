"""Hooks: functions of upper layers that the core calls.

A hook is declared here by name and called like a function. `runnel/wiring.py`, or the upper layer
when it is imported, connects it to an implementation, whose module is imported at the first call.
So no module imports a layer above its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from operator import attrgetter
from typing import Any


class Hook:
    """A function of an upper layer, which the core knows only by name."""

    __slots__ = ("_function", "_target", "name")

    def __init__(self, name: str, default: Callable[..., Any] | None = None) -> None:
        self.name = name
        self._target: tuple[str, str] | None = None
        # The value of a hook that is not connected.
        self._function = default

    def connect(self, module: str, function: str) -> None:
        """Connect the hook to a function of a module that is not imported yet."""
        self._target = module, function
        self._function = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._function
        if function is None:
            if self._target is None:
                raise RuntimeError(f"The hook {self.name!r} of the core is connected to nothing.")
            module, name = self._target
            function = self._function = attrgetter(name)(import_module(module))
        return function(*args, **kwargs)


# The compiler.
plan = Hook("plan")
optimized_plan = Hook("optimized_plan")
specialized = Hook("specialized")

# AutoGraph, and composite operations.
converted = Hook("converted")
shape_of = Hook("shape_of")
concat = Hook("concat")
reshape = Hook("reshape")
broadcast_to = Hook("broadcast_to")
one_hot = Hook("one_hot")
number_range = Hook("number_range")
vectorized_map = Hook("vectorized_map")
seed_of_graph = Hook("seed_of_graph")
set_seed = Hook("set_seed")

# Messages of graphs and shapes.
shape_proto = Hook("shape_proto")
node_def = Hook("node_def")
op_def = Hook("op_def")
op_def_for = Hook("op_def_for")
graph_def = Hook("graph_def")
graph_def_versions = Hook("graph_def_versions")
attribute_value = Hook("attribute_value")
given_attributes = Hook("given_attributes")

# Sessions.
session_for = Hook("session_for")
session_at_work = Hook("session_at_work")
default_graph = Hook("default_graph")
new_session = Hook("new_session")
innermost_session = Hook("innermost_session")
placeholder_with_default = Hook("placeholder_with_default")
operation_after = Hook("operation_after")
assigned_variable = Hook("assigned_variable")
moving_averages_of_graphs = Hook("moving_averages_of_graphs")
complete_saved_model = Hook("complete_saved_model")
graph_variable = Hook("graph_variable")
imported_variable = Hook("imported_variable")
variable_is_initialized = Hook("variable_is_initialized")


def _nothing(*_: Any) -> Any:
    return None


# Objects of layer libraries: their children in checkpoints and SavedModels. The library connects
# these hooks when it is imported; unless it is, the process has no such objects.
children_function = Hook("children_function", _nothing)
watched_methods = Hook("watched_methods", tuple)
exporting = Hook("exporting", nullcontext)
exported_parts = Hook("exported_parts", _nothing)
exported_identifier = Hook("exported_identifier", _nothing)

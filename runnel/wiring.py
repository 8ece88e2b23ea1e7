"""Wiring: which function of which upper module each hook of the core is.

The core declares its hooks (`core/hooks.py`) and imports nothing above it. Here they are connected;
a module is imported when its hook is first called.
"""

from .core import hooks

_FUNCTIONS = {
    hooks.plan: "compiler.plan:Plan",
    hooks.optimized_plan: "compiler.plan:Plan.optimized",
    hooks.specialized: "compiler.shape_specialization:specialized",
    hooks.converted: "autograph:convert",
    hooks.shape_of: "ops.array.shaping:shape",
    hooks.concat: "ops.array.joining:concat",
    hooks.reshape: "ops.array.shaping:reshape",
    hooks.broadcast_to: "ops.array.shaping:broadcast_to",
    hooks.one_hot: "ops.array.selection:one_hot",
    hooks.number_range: "ops.array.creation:range",
    hooks.vectorized_map: "ops.mapping:vectorized_map",
    hooks.seed_of_graph: "ops.random_streams:seed_of_graph",
    hooks.set_seed: "ops.random_streams:set_seed",
    hooks.shape_proto: "saved_model.tensors:shape_proto",
    hooks.node_def: "saved_model.graph_export:node_def",
    hooks.op_def: "saved_model.op_defs:op_def",
    hooks.op_def_for: "saved_model.op_defs:op_def_for",
    hooks.graph_def: "saved_model.graph_export:as_graph_def",
    hooks.graph_def_versions: "saved_model.graph_export:graph_def_versions",
    hooks.attribute_value: "saved_model.attributes:value_of",
    hooks.given_attributes: "saved_model.attributes:given_attributes",
    hooks.session_for: "compat.v1.session:session_for",
    hooks.session_at_work: "compat.v1.keras_session:at_work",
    hooks.graph_variable: "compat.v1.variables:GraphVariable.made",
    hooks.new_session: "compat.v1.session:Session",
    hooks.innermost_session: "compat.v1.defaults:sessions.innermost",
    hooks.placeholder_with_default: "compat.v1.building:named_placeholder_with_default",
    hooks.operation_after: "compat.v1.building:done",
    hooks.assigned_variable: "compat.v1.variables:AssignedVariable",
    hooks.moving_averages_of_graphs: "compat.v1.train.averages:graph_class",
    hooks.complete_saved_model: "saved_model.folders:complete",
    hooks.default_graph: "compat.v1.defaults:get_default_graph",
    hooks.imported_variable: "compat.v1.imported_variables:ImportedVariable",
    hooks.variable_is_initialized: "compat.v1.imported_variables:whether_initialized",
}


def connect() -> None:
    """Connect every hook of the core."""
    for hook, where in _FUNCTIONS.items():
        module, _, function = where.partition(":")
        hook.connect(f"{__package__}.{module}", function)


connect()

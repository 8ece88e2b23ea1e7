"""TensorFlow 1's reference variables, converted to resource variables."""

from __future__ import annotations

from typing import Any

from ....core import dtypes
from ....saved_model.main_graph_export import node_def

_VARIABLES = frozenset(["Variable", "VariableV2"])
_UPDATES = {
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
    "ScatterAdd": "ResourceScatterAdd",
    "ScatterSub": "ResourceScatterSub",
    "ScatterUpdate": "ResourceScatterUpdate",
}
# The updates of optimizers, with how many variables each has: the first of its inputs.
_TRAINING = {
    "ApplyAdadelta": 3, "ApplyAdagrad": 2, "ApplyAdagradV2": 2, "ApplyAdam": 3,
    "ApplyCenteredRMSProp": 4, "ApplyFtrl": 3, "ApplyFtrlV2": 3, "ApplyGradientDescent": 1,
    "ApplyMomentum": 2, "ApplyRMSProp": 3,
}  # fmt: skip


def use_resources(nodes: Any) -> None:
    """Rewrite the nodes of variables, and those that read and assign them, in place."""
    kinds = {node.name: node.attr["dtype"].type for node in nodes if node.op in _VARIABLES}
    if not kinds:
        return
    updated = {
        node.name: _name(node.input[0])
        for node in nodes
        if (node.op in _UPDATES or node.op in _TRAINING) and _name(node.input[0]) in kinds
    }
    reads: dict[str, Any] = {}
    for node in nodes:
        if node.name in kinds:
            _become(node, "VarHandleOp", dtype=kinds[node.name])
        elif node.name in updated:
            count = _TRAINING.get(node.op, 1)
            _read_inputs(node, count, kinds, updated, reads)
            if node.op in _TRAINING:
                node.op = f"Resource{node.op}"
            else:
                _become(node, _UPDATES[node.op], dtype=kinds[updated[node.name]])
        elif node.op == "Identity" and _name(node.input[0]) in kinds:
            _become(node, "ReadVariableOp", dtype=kinds[_name(node.input[0])])
        elif node.op == "IsVariableInitialized":
            _become(node, "VarIsInitializedOp")
        else:
            _read_inputs(node, 0, kinds, updated, reads)
    nodes.extend(reads.values())


def _read_inputs(
    node: Any, first: int, kinds: dict[str, int], updated: dict[str, str], reads: dict[str, Any]
) -> None:
    """Let the inputs of a node from the n-th on be the values of variables, not their handles."""
    for place, source in enumerate(node.input):
        if place < first or source.startswith("^"):
            continue
        if _name(source) in kinds or _name(source) in updated:
            node.input[place] = _read(source, kinds, updated, reads)


def _name(source: str) -> str:
    return source.removeprefix("^").partition(":")[0]


def _read(
    source: str, kinds: dict[str, int], updated: dict[str, str], reads: dict[str, Any]
) -> str:
    """The node that reads a variable, after its update where the update's output is used."""
    user = _name(source)
    variable = updated.get(user, user)
    name = f"{user}/ReadVariableOp"
    after = [f"^{user}"] if user in updated else []
    dtype = dtypes.as_dtype(kinds[variable])
    reads[name] = node_def(name, "ReadVariableOp", [variable, *after], dtype=dtype)
    return name


def _become(node: Any, op: str, dtype: int | None = None) -> None:
    """Change the op of a node; of its attributes only the shape is retained."""
    node.op = op
    for key in [key for key in node.attr if key != "shape"]:
        del node.attr[key]
    if dtype is not None:
        node.attr["dtype"].type = dtype

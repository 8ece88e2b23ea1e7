"""What MetaGraphDefs hold beside a graph: the nodes of savers, collections and variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.saver_pb2 import SaverDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from ...core import dtypes
from ...core.shapes import TensorShape
from ...core.variable import Variable
from ...saved_model.main_graph_export import constant_node, node_def
from . import logging
from .keys import GraphKeys

_SCALAR = TensorShape([])
# What holds variables, each described by a VariableDef.
OF_VARIABLES = frozenset({
    GraphKeys.GLOBAL_STEP, GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES,
    GraphKeys.METRIC_VARIABLES, GraphKeys.MODEL_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
})  # fmt: skip
# Objects of the program that have no description in a graph.
_LEFT_OUT = frozenset({
    GraphKeys.COND_CONTEXT, GraphKeys.QUEUE_RUNNERS, GraphKeys.SAVERS, GraphKeys.WHILE_CONTEXT,
})  # fmt: skip


def saver_def(scope: str, max_to_keep: int = 5, hours: float = 10000.0) -> Any:
    """The description of a saver: which nodes of a graph save and restore."""
    return SaverDef(
        filename_tensor_name=f"{scope}/Const:0",
        save_tensor_name=f"{scope}/control_dependency:0",
        restore_op_name=f"{scope}/restore_all",
        max_to_keep=max_to_keep or 0,
        keep_checkpoint_every_n_hours=hours,
        version=SaverDef.V2,
    )


def add_saver(nodes: Any, scope: str, variables: Mapping[str, Any]) -> None:
    """Add the nodes with which a session of TensorFlow saves and restores variables."""
    names = sorted(variables)
    keys = np.array([*(name.encode() for name in names), None], dtype=object)[:-1]
    kinds = [variables[name].dtype for name in names]
    parts = np.full(len(keys), b"", object)
    prefix, string = f"{scope}/Const", dtypes.string
    nodes.append(constant_node(f"{scope}/filename/input", np.array(b"model", object), string))
    for name, source in ((f"{scope}/filename", f"{scope}/filename/input"),
                         (prefix, f"{scope}/filename")):  # fmt: skip
        nodes.append(
            node_def(name, "PlaceholderWithDefault", [source], dtype=string, shape=_SCALAR)
        )
    for op in ("SaveV2", "RestoreV2"):
        nodes.append(constant_node(f"{scope}/{op}/tensor_names", keys, string))
        nodes.append(constant_node(f"{scope}/{op}/shape_and_slices", parts, string))
    reads, writes = [], []
    for place, name in enumerate(names):
        handle, number = variables[name].op.name, f"_{place}" if place else ""
        kind = variables[name].dtype
        reads.append(f"{scope}/ReadVariableOp{number}")
        writes.append(f"{scope}/AssignVariableOp{number}")
        nodes.append(node_def(reads[-1], "ReadVariableOp", [handle], dtype=kind))
    inputs = [f"{scope}/SaveV2/tensor_names", f"{scope}/SaveV2/shape_and_slices"]
    nodes.append(node_def(f"{scope}/SaveV2", "SaveV2", [prefix, *inputs, *reads], dtypes=kinds))
    saved = [prefix, f"^{scope}/SaveV2"]
    nodes.append(node_def(f"{scope}/control_dependency", "Identity", saved, T=string))
    inputs = [f"{scope}/RestoreV2/tensor_names", f"{scope}/RestoreV2/shape_and_slices"]
    if names:
        nodes.append(node_def(f"{scope}/RestoreV2", "RestoreV2", [prefix, *inputs], dtypes=kinds))
    for place, (name, write) in enumerate(zip(names, writes, strict=True)):
        variable = variables[name]
        restored = [variable.op.name, f"{scope}/RestoreV2:{place}"]
        nodes.append(
            node_def(write, "AssignVariableOp", restored, dtype=variable.dtype,
                     validate_shape=False)
        )  # fmt: skip
    nodes.append(node_def(f"{scope}/restore_all", "NoOp", [f"^{name}" for name in writes]))


def variable_def(variable: Any) -> Any:
    """The description of a variable, by the names of its nodes."""
    message = VariableDef(
        variable_name=variable.op.name + ":0", is_resource=True, trainable=variable.trainable
    )
    snapshot = getattr(variable, "_snapshot", None)
    if snapshot is not None:
        message.snapshot_name = snapshot.name
    # A variable that was itself loaded may have no initializer but what restores it.
    initializer = getattr(variable, "initializer", None)
    if initializer is not None:
        message.initializer_name = initializer.name
        message.initial_value_name = initializer.inputs[1].name
    return message


def add_collections(meta_graph: Any, graph: Any, keys: Iterable[str] | None = None) -> None:
    """Put collections into a MetaGraphDef: variables, tensors, operations, numbers and strings."""
    for key in sorted(graph.get_all_collection_keys() if keys is None else keys):
        items = list(graph.get_collection(key))
        if not items or key in _LEFT_OUT or not isinstance(key, str):
            continue
        try:
            _put(meta_graph.collection_def[key], key, items)
        except (AttributeError, TypeError, ValueError) as failure:
            del meta_graph.collection_def[key]
            logging.warning(
                "The collection %r is left out of the MetaGraphDef, where only variables, "
                "tensors, operations, numbers and strings have a place: %s", key, failure,
            )  # fmt: skip


def _put(definition: Any, key: str, items: Sequence[Any]) -> None:
    first = items[0]
    if key in OF_VARIABLES:
        found = [each for each in items if isinstance(each, Variable)]
        definition.bytes_list.value.extend(variable_def(v).SerializeToString() for v in found)
    elif isinstance(first, str | bytes):
        definition.bytes_list.value.extend(
            each.encode() if isinstance(each, str) else each for each in items
        )
    elif isinstance(first, bool):
        raise TypeError(f"it holds {first}, a bool")
    elif isinstance(first, int):
        definition.int64_list.value.extend(items)
    elif isinstance(first, float):
        definition.float_list.value.extend(items)
    else:
        definition.node_list.value.extend(each.name for each in items)

"""MetaGraphDefs, the .meta files beside checkpoints: graphs with savers and collections.

The nodes that save and restore are not imported: a saver reads and writes checkpoints itself, by
the keys that these nodes name.
"""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from ....core.context import state
from ....formats.paths import local
from ....release import GIT_VERSION, VERSION
from ....saved_model.graph_export import as_graph_def
from ....saved_model.graph_import import import_graph_def
from ....saved_model.limits import (
    MOST_BYTES,
    MOST_BYTES_OF_TEXT,
    clean_errors,
    require_size,
)
from ..keys import GraphKeys
from ..meta_graphs import OF_VARIABLES, add_collections, add_saver
from ..saved_model.loader import (
    _connect,
    _keep_names_of_calls,
    _node_name,
    _of_savers,
    _restored,
)
from ..saved_model.reference_variables import use_resources
from .saver import Saver

_OF_LOADED = frozenset(["AssignVariableOp", "Identity", "ReadVariableOp", "VarHandleOp"])


def export_meta_graph(
    filename=None,
    meta_info_def=None,
    graph_def=None,
    saver_def=None,
    collection_list=None,
    as_text=False,
    graph=None,
    export_scope=None,
    clear_devices=False,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
    save_debug_info=False,
    **kwargs,
):
    """A graph with its collections as a MetaGraphDef, also written to a file if one is named.

    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, name="x")
    ...     y = tf.square(x, name="y")
    ...     tf.compat.v1.add_to_collection("results", y)
    ...     meta_graph = tf.compat.v1.train.export_meta_graph()
    >>> with tf.Graph().as_default():
    ...     tf.compat.v1.train.import_meta_graph(meta_graph)
    ...     (y,) = tf.compat.v1.get_collection("results")
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(y, {"x:0": 3.0}))
    9.0
    """
    if export_scope:
        raise ValueError(
            f"export_scope={export_scope!r}: a graph is exported as a whole here. Build the part "
            "in a graph of its own, and export that."
        )
    graph = _graph("Exporting", graph)
    meta_graph = MetaGraphDef()
    if graph_def is None:
        # Operations that TensorFlow lacks must not keep a checkpoint from being written.
        graph_def = as_graph_def(graph, add_shapes=True, strict=False)
    meta_graph.graph_def.ParseFromString(graph_def.SerializeToString())
    info = meta_graph.meta_info_def
    if meta_info_def is not None:
        info.ParseFromString(meta_info_def.SerializeToString())
    info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION
    info.stripped_default_attrs = False
    add_collections(meta_graph, graph, collection_list)
    if saver_def is not None:
        meta_graph.saver_def.ParseFromString(saver_def.SerializeToString())
        scope = _scope(saver_def)
        present = {node.name for node in meta_graph.graph_def.node}
        if scope in graph.savers and saver_def.restore_op_name not in present:
            add_saver(meta_graph.graph_def.node, scope, graph.savers[scope])
    if clear_devices:
        _clear_devices(meta_graph.graph_def)
    if filename:
        _write(meta_graph, os.fspath(filename), as_text)
    return meta_graph


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Add a MetaGraphDef, or that of a file, to the graph being built; its saver.

    There is None instead of a saver where the graph has no variables.
    """
    graph = _graph("Importing", None)
    unknown = set(kwargs) - {
        "input_map", "restore_collections_predicate", "unbound_inputs_col_name"
    }  # fmt: skip
    if unknown:
        raise TypeError(f"import_meta_graph() got unexpected keyword arguments {sorted(unknown)}")
    meta_graph = _read(meta_graph_or_file)
    with clean_errors("The MetaGraphDef", ValueError):
        return _imported(
            graph, meta_graph, clear_devices, import_scope, kwargs.get("input_map"),
            kwargs.get("restore_collections_predicate") or (lambda key: True),
        )  # fmt: skip


def _imported(graph, meta_graph, clear_devices, import_scope, input_map, is_wanted):
    graph_def = meta_graph.graph_def
    if clear_devices:
        _clear_devices(graph_def)
    scope = (import_scope or "").rstrip("/")
    prefix = f"{graph.unique_name(state.name_scope + scope, mark_as_used=False)}/" if scope else ""
    functions = {each.signature.name: each for each in graph_def.library.function}
    message = meta_graph.saver_def if meta_graph.HasField("saver_def") else None
    dropped = _of_savers(graph_def.node, functions)
    restoring = _Restoring(graph_def.node, message)
    kept = GraphDef(versions=graph_def.versions, library=graph_def.library)
    kept.node.extend(
        node for node in graph_def.node
        if node.name not in dropped and node.name not in restoring.own
    )  # fmt: skip
    use_resources(kept.node)
    _keep_names_of_calls(kept.node)
    names = [node.name for node in kept.node if node.op in _OF_LOADED]
    with graph.as_default():
        made = import_graph_def(kept, input_map, names, scope) or []
    operations = dict(zip(names, made, strict=True))
    variables = {
        node.name: operations[node.name].attrs["variable"]
        for node in kept.node
        if node.op == "VarHandleOp"
    }
    _fill_collections(graph, meta_graph, variables, operations, prefix, is_wanted)
    if message is None:
        return Saver() if graph.get_collection(GraphKeys.GLOBAL_VARIABLES) else None
    keyed = {
        key: variables[name]
        for name, key in _restored(restoring.nodes, functions)
        if name in variables
    }
    return Saver._described(message, keyed, prefix + _scope(message))


class _Restoring:
    """The nodes that a saver runs to restore, and those that are for it alone."""

    own: set[str]

    def __init__(self, nodes: Any, message: Any) -> None:
        if message is None:
            self.nodes, self.own = list(nodes), set()
            return
        scope = _scope(message)
        named = {node.name: node for node in nodes}
        found, waiting = {}, [_node_name(message.restore_op_name)]
        while waiting:
            name = waiting.pop()
            if name in named and name not in found:
                found[name] = named[name]
                waiting += [_node_name(each) for each in named[name].input]
        self.nodes = list(found.values())
        inside = {name for name in named if scope and name.startswith(f"{scope}/")}
        used = {
            _node_name(each) for node in nodes if node.name not in inside for each in node.input
        }
        # A program may keep nodes of its own under this name.
        self.own = set() if inside & used else inside


def _fill_collections(graph, meta_graph, variables, operations, prefix, is_wanted):
    for key, definition in sorted(meta_graph.collection_def.items()):
        if not is_wanted(key):
            continue
        kind = definition.WhichOneof("kind")
        if key in OF_VARIABLES:
            for content in definition.bytes_list.value:
                saved = VariableDef.FromString(content)
                variable = variables.get(_node_name(saved.variable_name))
                if variable is not None:
                    variable.trainable = saved.trainable
                    _connect(variable, saved, operations)
                    graph.add_to_collection(key, variable)
        elif kind == "node_list":
            for name in definition.node_list.value:
                _add_element(graph, key, prefix + name)
        elif kind == "bytes_list":
            if key not in (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT,
                           GraphKeys.QUEUE_RUNNERS, GraphKeys.SAVERS):  # fmt: skip
                for value in definition.bytes_list.value:
                    graph.add_to_collection(key, prefix + value.decode() if prefix else value)
        elif kind is not None and kind != "any_list":
            for value in getattr(definition, kind).value:
                graph.add_to_collection(key, value)


def _add_element(graph, key, name):
    """Put a tensor or an operation into a collection; what belonged to a saver is not there."""
    try:
        element = graph.as_graph_element(name)
    except (KeyError, ValueError):
        return
    graph.add_to_collection(key, element)


def _scope(message):
    return _node_name(message.restore_op_name).rpartition("/")[0]


def _graph(what, graph):
    from ..defaults import get_default_graph

    if graph is not None:
        return graph
    if state.home is None and state.graph is None:
        raise RuntimeError(
            f"{what} a MetaGraphDef is not supported when eager execution is enabled. Do it in "
            "`with tf.Graph().as_default():`."
        )
    return get_default_graph()


def _clear_devices(graph_def):
    for node in graph_def.node:
        node.device = ""


def _write(meta_graph, path, as_text):
    from google.protobuf import text_format

    from ....io.gfile import makedirs, rename

    if os.path.dirname(path):
        makedirs(os.path.dirname(path))
    data = meta_graph.SerializeToString(deterministic=True)
    if as_text:
        data = text_format.MessageToString(meta_graph).encode()
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "wb") as file:
        file.write(data)
    rename(temporary, path, overwrite=True)


def _read(meta_graph_or_file):
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    descriptor = getattr(meta_graph_or_file, "DESCRIPTOR", None)
    if getattr(descriptor, "name", None) == "MetaGraphDef":
        return MetaGraphDef.FromString(meta_graph_or_file.SerializeToString())
    if not isinstance(meta_graph_or_file, str | bytes | os.PathLike):
        raise TypeError(f"Expected a MetaGraphDef or the path of one, got {meta_graph_or_file!r}")
    path = local(meta_graph_or_file)
    if not os.path.exists(path):
        raise OSError(f"File does not exist. Received: {path}.")
    require_size(path, MOST_BYTES)
    with open(path, "rb") as file:
        data = file.read()
    try:
        return MetaGraphDef.FromString(data)
    except (DecodeError, RecursionError):
        pass
    require_size(path, MOST_BYTES_OF_TEXT)
    try:
        return text_format.Parse(data.decode(), MetaGraphDef())
    except (text_format.ParseError, UnicodeDecodeError, RecursionError) as failure:
        raise OSError(f"Cannot parse file {path}: {failure}.") from None

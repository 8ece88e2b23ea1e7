"""SavedModels in sessions: the graph is imported, the variables get the saved values.

The nodes that save and restore in a session are dropped: their values are read from the checkpoint
directly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef
from tensorboard.compat.proto.variable_pb2 import VariableDef

from ....core.errors import NotFoundError
from ....core.tensor import SymbolicTensor
from ....formats import saved_model_names
from ....formats.tensor_bundle import BundleReader
from ....saved_model.folders import of_one_version
from ....saved_model.graph_import import import_graph_def
from ....saved_model.limits import clean_errors
from ....saved_model.permissions import path_inside, require_files_inside, require_initializers
from ....saved_model.reading import contains_saved_model, read_saved_model, tagged_meta_graph
from ....saved_model.tensors import make_ndarray
from ..keys import GraphKeys
from ..train.saver import _give
from .reference_variables import use_resources

_OF_SAVERS = frozenset(["MergeV2Checkpoints", "RestoreV2", "SaveV2", "ShardedFilename"])
_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
# Savers restore in a function that the graph calls, or in a nested one.
_DEEPEST = 2
_INITIAL = (saved_model_names.MAIN_OP_KEY, saved_model_names.LEGACY_INIT_OP_KEY)


def load(
    sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:  # fmt: skip
    """Import the graph with these tags into a session, with its values; returns its MetaGraphDef.

    >>> import tempfile
    >>> v1 = tf.compat.v1
    >>> folder = tempfile.mkdtemp() + "/model"
    >>> with tf.Graph().as_default(), v1.Session() as session:
    ...     x = v1.placeholder(tf.float32, name="x")
    ...     y = tf.multiply(x, 2.0, name="y")
    ...     v1.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    >>> with tf.Graph().as_default(), v1.Session() as session:
    ...     meta_graph = v1.saved_model.load(session, ["serve"], folder)
    ...     session.run("y:0", {"x:0": 4.0})
    np.float32(8.0)
    """
    path = os.fsdecode(os.fspath(export_dir))
    tags = [tags] if isinstance(tags, str) else list(tags)
    with clean_errors(f"The SavedModel at {path}", OSError):
        return _loaded(sess, tags, path, import_scope)


def _loaded(sess: Any, tags: list[str], path: str, import_scope: str | None) -> Any:
    meta_graph, bundle = of_one_version(path, lambda: _opened(path, tags))
    graph_def = meta_graph.graph_def
    functions = {each.signature.name: each for each in graph_def.library.function}
    dropped = _of_savers(graph_def.node, functions)
    kept = GraphDef(versions=graph_def.versions, library=graph_def.library)
    kept.node.extend(node for node in graph_def.node if node.name not in dropped)
    use_resources(kept.node)
    _keep_names_of_calls(kept.node)
    wanted = frozenset(["AssignVariableOp", "ReadVariableOp", "VarHandleOp"])
    names = [node.name for node in kept.node if node.op in wanted]
    with sess.graph.as_default():
        made = import_graph_def(kept, return_elements=names, name=import_scope or "") or []
    operations = dict(zip(names, made, strict=True))
    variables = {
        node.name: operations[node.name].attrs["variable"]
        for node in kept.node
        if node.op == "VarHandleOp"
    }
    _fill_collections(sess.graph, meta_graph, variables, operations)
    keys = dict(_restored(graph_def.node, functions))
    try:
        _restore(
            sess, bundle, {name: key for name, key in keys.items() if name in variables}, variables
        )
    finally:
        if isinstance(bundle, BundleReader):
            bundle.release()
    _initialize(sess, meta_graph, path, f"{import_scope}/" if import_scope else "")
    return meta_graph


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether there is a SavedModel in a folder."""
    return contains_saved_model(export_dir)


def _of_savers(nodes: Any, functions: dict[str, Any]) -> set[str]:
    """The names of the nodes that save or restore, and of those that depend on their results."""
    saving = {
        name
        for name, function in functions.items()
        if any(node.op in _OF_SAVERS for node in function.node_def)
    }
    found = {
        node.name
        for node in nodes
        if node.op in _OF_SAVERS or (node.op in _CALLS and node.attr["f"].func.name in saving)
    }
    users: dict[str, list[str]] = {}
    for node in nodes:
        for each in node.input:
            users.setdefault(_node_name(each), []).append(node.name)
    waiting = list(found)
    while waiting:
        more = [name for name in users.get(waiting.pop(), ()) if name not in found]
        found.update(more)
        waiting += more
    return found


def _keep_names_of_calls(nodes: Any) -> None:
    """Give the results of function calls to nodes of the calls' names: the calls are inlined."""
    for node in [each for each in nodes if each.op in _CALLS and each.attr["Tout"].list.type]:
        types = node.attr["Tout"]
        named = nodes.add(name=node.name, op="IdentityN")
        node.name += "/call"
        named.input.extend(f"{node.name}:{place}" for place in range(len(types.list.type)))
        named.attr["T"].CopyFrom(types)


def _node_name(source: str) -> str:
    return source.removeprefix("^").partition(":")[0]


def _restored(
    nodes: Any, functions: dict[str, Any], inside: tuple[str, ...] = ()
) -> Iterator[tuple[str, str]]:
    """The nodes of restored variables, each with its key in the checkpoint."""
    named = {node.name: node for node in nodes}
    for node in nodes:
        if node.op in ("Assign", "AssignVariableOp"):
            key = _key(node.input[1], named)
            if key is not None:
                yield _node_name(node.input[0]), key
        elif node.op in _CALLS:
            name = node.attr["f"].func.name
            function = functions.get(name)
            if function is None or len(inside) >= _DEEPEST:
                continue
            arguments = [each.name for each in function.signature.input_arg]
            given = dict(zip(arguments, node.input, strict=False))
            for argument, key in _restored(function.node_def, functions, (*inside, name)):
                if argument in given:
                    yield _node_name(given[argument]), key


def _key(source: str, named: dict[str, Any]) -> str | None:
    """The checkpoint key of a restored tensor; None for one that is not restored."""
    node = named.get(_node_name(source))
    passed = set()
    while node is not None and node.op == "Identity" and node.name not in passed:
        passed.add(node.name)
        source = node.input[0]
        node = named.get(_node_name(source))
    if node is None or node.op != "RestoreV2":
        return None
    place = source.rpartition(":")[2]
    names = named.get(_node_name(node.input[1]))
    if names is None or names.op != "Const":
        return None
    keys = make_ndarray(names.attr["value"].tensor)
    return bytes(keys[int(place) if place.isdigit() else 0]).decode()


def _opened(path: str, tags: Any) -> tuple[Any, BundleReader | NotFoundError]:
    """The MetaGraph of tags, and the values of the same SavedModel."""
    meta_graph = tagged_meta_graph(read_saved_model(path), tags, path)
    prefix = os.path.join(
        path, saved_model_names.VARIABLES_DIRECTORY, saved_model_names.VARIABLES_FILENAME
    )
    require_files_inside(path, saved_model_names.VARIABLES_DIRECTORY)
    try:
        return meta_graph, BundleReader(prefix)
    except NotFoundError as failure:
        # An error only where there are variables to restore.
        return meta_graph, failure


def _restore(
    session: Any,
    bundle: BundleReader | NotFoundError,
    keys: dict[str, str],
    variables: dict[str, Any],
) -> None:
    if not keys:
        return
    if isinstance(bundle, NotFoundError):
        raise bundle
    values = {name: bundle.read(key) for name, key in keys.items()}
    for name, value in values.items():
        _give(session, variables[name], value)


def _fill_collections(
    graph: Any, meta_graph: Any, variables: dict[str, Any], operations: dict[str, Any]
) -> None:
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES):
        saved_ones = meta_graph.collection_def.get(key)
        for content in [] if saved_ones is None else saved_ones.bytes_list.value:
            saved = VariableDef.FromString(content)
            variable = variables.get(_node_name(saved.variable_name))
            if variable is not None:
                variable.trainable = saved.trainable
                _connect(variable, saved, operations)
                graph.add_to_collection(key, variable)


def _connect(variable: Any, saved: Any, operations: dict[str, Any]) -> None:
    """Connect a variable with the operations that read and initialize it."""
    read = operations.get(_node_name(saved.snapshot_name))
    if read is not None:
        variable._snapshot = read.outputs[0]
    first = operations.get(_node_name(saved.initializer_name))
    if first is not None:
        variable.initializer = first


def _initialize(session: Any, meta_graph: Any, path: str, scope: str) -> None:
    """Run the initializer operations, with the paths of assets."""
    graph = session.graph
    fed = {
        scope + each.tensor_info.name: path_inside(
            path, saved_model_names.ASSETS_DIRECTORY, each.filename
        )
        for each in _assets(meta_graph)
    }
    assets = [graph.get_tensor_by_name(each) for each in fed]
    signature = meta_graph.signature_def.get(saved_model_names.INIT_OP_SIGNATURE_KEY)
    if signature is not None:
        names = [signature.outputs[saved_model_names.INIT_OP_SIGNATURE_KEY].name]
    else:
        names = [
            name for key in _INITIAL if key in meta_graph.collection_def
            for name in meta_graph.collection_def[key].node_list.value
        ][:1]  # fmt: skip
    for name in names:
        operation = graph.get_operation_by_name(scope + _node_name(name))
        require_initializers(_needed_by(operation), assets)
        session.run(operation, fed)


def _assets(meta_graph: Any) -> list[Any]:
    """The assets of a graph, which TensorFlow 1 stores in a collection."""
    if meta_graph.asset_file_def or saved_model_names.ASSETS_KEY not in meta_graph.collection_def:
        return list(meta_graph.asset_file_def)
    packed = meta_graph.collection_def[saved_model_names.ASSETS_KEY].any_list.value
    return [AssetFileDef.FromString(each.value) for each in packed]


def _needed_by(operation: Any) -> list[Any]:
    """An operation and all its dependencies."""
    found: dict[int, Any] = {}
    waiting = [operation]
    while waiting:
        each = waiting.pop()
        if id(each) not in found:
            found[id(each)] = each
            waiting += [t.op for t in each.inputs if isinstance(t, SymbolicTensor)]
            waiting += each.control_inputs
    return list(found.values())

"""tf.compat.v1.graph_util: parts of GraphDefs, and variables frozen into constants."""

from __future__ import annotations

import numpy as _np

from ...core.dtypes import int32 as _int32
from ...graph_util import import_graph_def as import_graph_def
from ...saved_model.graph_export import GraphDef as _GraphDef
from ...saved_model.main_graph_export import constant_node as _constant_node, node_def as _node_def
from .train.saver import _value


def _node_name(source):
    return source.removeprefix("^").partition(":")[0]


def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that some nodes need, themselves included."""
    if isinstance(dest_nodes, str):
        raise TypeError("`dest_nodes` must be a list of names, not a string.")
    if type(graph_def).__name__ != "GraphDef":
        raise TypeError(f"`graph_def` must be a graph_pb2.GraphDef proto, not {type(graph_def)}.")
    named = {node.name: node for node in graph_def.node}
    wanted, waiting = set(), [_node_name(each) for each in dest_nodes]
    for name in waiting:
        if name not in named:
            raise AssertionError(f"{name} is not in graph")
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [_node_name(each) for each in named[name].input]
    part = _GraphDef()
    part.ParseFromString(graph_def.SerializeToString())
    kept = [_copied(node) for node in part.node if node.name in wanted]
    del part.node[:]
    part.node.extend(kept)
    return part


def convert_variables_to_constants(
    sess,
    input_graph_def,
    output_node_names,
    variable_names_whitelist=None,
    variable_names_blacklist=None,
):
    """The part of a GraphDef that some nodes need, with the session's values of the variables.

    >>> v1 = tf.compat.v1
    >>> with tf.Graph().as_default() as graph, v1.Session() as session:
    ...     x = v1.placeholder(tf.float32, name="x")
    ...     y = tf.multiply(x, v1.Variable(3.0, name="v"), name="y")
    ...     session.run(v1.global_variables_initializer())
    ...     frozen = v1.graph_util.convert_variables_to_constants(
    ...         session, graph.as_graph_def(), ["y"]
    ...     )
    >>> sorted(node.op for node in frozen.node)
    ['Const', 'Identity', 'Mul', 'Placeholder']
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    frozen = {}
    for node in part.node:
        if node.op != "VarHandleOp":
            continue
        if variable_names_whitelist is not None and node.name not in variable_names_whitelist:
            continue
        if variable_names_blacklist is not None and node.name in variable_names_blacklist:
            continue
        variable = sess.graph.get_operation_by_name(node.name).attrs["variable"]
        frozen[node.name] = variable.dtype
        value = _np.asarray(_value(sess, variable))
        node.CopyFrom(_constant_node(node.name, value, variable.dtype))
    for node in list(part.node):
        values = [each for each in node.input if not each.startswith("^")]
        used = [each for each in values if _node_name(each) in frozen]
        if not used:
            continue
        dtype = frozen[_node_name(used[0])]
        if node.op == "ReadVariableOp":
            node.CopyFrom(_node_def(node.name, "Identity", list(node.input), T=dtype))
        elif node.op == "ResourceGather":
            indices = node.attr["Tindices"].type
            axis = f"{node.name}/axis"
            part.node.append(_constant_node(axis, _np.int32(0), _int32))
            changed = _node_def(
                node.name, "GatherV2", [*node.input, axis], Tparams=dtype, batch_dims=0
            )
            changed.attr["Tindices"].type = indices
            changed.attr["Taxis"].type = 3
            node.CopyFrom(changed)
        elif node.op != "Identity":
            raise ValueError(
                f"The node {node.name} ({node.op}) uses the variable {_node_name(used[0])} itself, "
                "not only its value, so that it cannot become a constant. Leave it out with "
                "variable_names_blacklist, or ask for other output nodes."
            )
    return part


def remove_training_nodes(input_graph, protected_nodes=None):
    """A GraphDef without the nodes that only pass their input on."""
    protected = set(protected_nodes or ())
    for node in input_graph.node:
        if any(each.startswith("^") for each in node.input):
            protected.add(node.name)
        protected.update(_node_name(each) for each in node.input if each.startswith("^"))
    passing = {
        node.name: node.input[0]
        for node in input_graph.node
        if node.op in ("CheckNumerics", "Identity") and node.name not in protected
    }
    result = _GraphDef()
    result.ParseFromString(input_graph.SerializeToString())
    kept = [node for node in result.node if node.name not in passing]
    for node in kept:
        for place, source in enumerate(node.input):
            while _node_name(source) in passing:
                source = passing[_node_name(source)]
            node.input[place] = source
    copies = [_copied(node) for node in kept]
    del result.node[:]
    result.node.extend(copies)
    return result


def _copied(node):
    copy = type(node)()
    copy.CopyFrom(node)
    return copy

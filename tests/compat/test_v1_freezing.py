"""Graphs whose variables become constants: written by one library, run by the other."""

import numpy as np
import pytest
import tensorflow

import runnel

LIBRARIES = {"tensorflow": tensorflow, "runnel": runnel}


def frozen(tf):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.int32, [None], name="x")
        table = v1.get_variable(
            "table", initializer=tf.reshape(tf.range(6.0), [3, 2]), use_resource=True
        )
        scale = v1.get_variable("scale", initializer=tf.constant(2.0), use_resource=True)
        rows = tf.nn.embedding_lookup(table, x)
        y = tf.multiply(rows, scale, name="y")
        v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
        session.run(v1.global_variables_initializer())
        session.run(scale.assign(3.0))
        return v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["y"])


@pytest.mark.parametrize("writer", LIBRARIES)
@pytest.mark.parametrize("reader", LIBRARIES)
def test_frozen_graphs(writer, reader):
    graph_def = frozen(LIBRARIES[writer])
    ops = {node.op for node in graph_def.node}
    assert not ops & {"VarHandleOp", "ReadVariableOp", "ResourceGather", "AssignVariableOp"}
    tf = LIBRARIES[reader]
    v1 = tf.compat.v1
    kind = v1.GraphDef()
    kind.ParseFromString(graph_def.SerializeToString())
    for changed in (kind, v1.graph_util.remove_training_nodes(kind, ["y"])):
        with tf.Graph().as_default(), v1.Session() as session:
            v1.import_graph_def(changed, name="")
            found = session.run("y:0", {"x:0": [2, 0]})
        np.testing.assert_array_equal(found, [[12.0, 15.0], [0.0, 3.0]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_parts_of_graphs(library):
    tf = LIBRARIES[library]
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        tf.square(a, name="b")
        tf.identity(a, name="c")
    part = v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["c"])
    assert [node.name for node in part.node] == ["a", "c"]
    with pytest.raises(AssertionError):
        v1.graph_util.extract_sub_graph(graph.as_graph_def(), ["d"])
    with pytest.raises(TypeError):
        v1.graph_util.extract_sub_graph(graph.as_graph_def(), "c")
    bare = v1.graph_util.remove_training_nodes(graph.as_graph_def())
    assert [node.name for node in bare.node] == ["a", "b"]

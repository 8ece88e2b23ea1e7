"""GraphDefs read in: names, substitutes, errors, variables and tables of sessions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import tensorflow
from google.protobuf import message
from graph_programs import PROGRAMS, as_theirs, assert_equal, negation, run_here, run_there, traced

import runnel
from runnel.core.graph.graph import Graph
from runnel.saved_model.graph_export import GraphDef


def test_ops_that_only_exist_there_are_named_at_once():
    graph_def = runnel.Graph().as_graph_def()
    graph_def.node.add(name="a", op="NoSuchOp")
    graph_def.node.add(name="b", op="NorThisOne")
    with pytest.raises(runnel.errors.NotFoundError, match="'NoSuchOp', 'NorThisOne'"):
        runnel.graph_util.import_graph_def(graph_def)


@pytest.mark.parametrize(
    "options",
    [
        {"return_elements": ["z:0"]},
        {"return_elements": ["y:1"]},
        {"return_elements": ["y:a"]},
        {"input_map": {"z": 1.0}},
        {"input_map": [1]},
        {"graph_def": "nothing"},
        {"return_elements": ["y:0", "y"]},
        {"return_elements": ["y:0"], "name": "some/where"},
        {"return_elements": ["y:0"], "name": ""},
        {"return_elements": ["y:0"], "input_map": {"x": [2.0, 3.0]}},
        {"return_elements": ["y:0"], "input_map": {"x:0": [2.0, 3.0]}, "name": "there"},
    ],
)
def test_importing(options):
    def outcome(tf):
        with tf.Graph().as_default() as graph:
            given = {"graph_def": negation(tf), **options}
            try:
                found = [tf.import_graph_def(**given) for _ in range(2)]
            except Exception as error:
                return type(error).__name__
        kinds = ("Placeholder", "Neg")
        names = [each.name for each in graph.get_operations() if each.type in kinds]
        return names, [each.name for row in found for each in row]

    assert outcome(runnel) == outcome(tensorflow)


def test_a_cycle_and_an_unknown_input_are_refused():
    for inputs in (["b"], ["nowhere"]):
        graph_def = negation(runnel)
        node = graph_def.node.add(name="b", op="Neg", input=inputs)
        node.attr["T"].type = runnel.float32.as_datatype_enum
        with runnel.Graph().as_default(), pytest.raises(ValueError, match="b"):
            runnel.import_graph_def(graph_def)


def test_damaged_messages_give_clean_errors():
    random = np.random.default_rng(1)
    refused = 0
    for name in ("condition", "loop with a condition", "lists", "strings"):
        program, *arrays = PROGRAMS[name]
        whole = traced(runnel, program, arrays).graph.as_graph_def().SerializeToString()
        for _ in range(400):
            damaged = bytearray(whole)
            damaged[random.integers(len(damaged))] = random.integers(256)
            try:
                graph_def = GraphDef.FromString(bytes(damaged))
            except message.DecodeError:
                continue
            try:
                with Graph().as_default():
                    runnel.import_graph_def(graph_def)
            except (ValueError, TypeError, runnel.errors.OpError):
                refused += 1
    assert refused > 50


def test_a_function_that_calls_itself_or_is_not_there_is_refused():
    graph_def = GraphDef()
    function = graph_def.library.function.add()
    function.signature.name = "again"
    function.node_def.add(name="inner", op="again")
    graph_def.node.add(name="outer", op="again")
    with runnel.Graph().as_default(), pytest.raises(ValueError, match="calls itself"):
        runnel.import_graph_def(graph_def)
    graph_def = GraphDef()
    graph_def.node.add(name="call", op="PartitionedCall").attr["f"].func.name = "nowhere"
    with (
        runnel.Graph().as_default(),
        pytest.raises(runnel.errors.NotFoundError, match="Function nowhere is not defined"),
    ):
        runnel.import_graph_def(graph_def)


def test_variables_of_a_session():
    graph = runnel.Graph()
    with graph.as_default():
        variable = runnel.compat.v1.get_variable("w", initializer=runnel.constant([1.0, 2.0]))
        update = variable.assign_add([10.0, 20.0])
        start = runnel.compat.v1.global_variables_initializer()
        value = variable.read_value()
    graph_def = graph.as_graph_def()
    with tensorflow.Graph().as_default(), tensorflow.compat.v1.Session() as session:
        tensorflow.graph_util.import_graph_def(as_theirs(graph_def), name="")
        session.run(start.name)
        session.run(update.op.name)
        np.testing.assert_allclose(session.run(value.name), [11.0, 22.0])


def test_variables_of_a_session_there():
    graph = tensorflow.Graph()
    with graph.as_default():
        variable = tensorflow.compat.v1.get_variable(
            "w", initializer=tensorflow.constant([1.0, 2.0]), use_resource=True
        )
        variable.assign_add([10.0, 20.0], name="update")
        tensorflow.identity(variable, name="value")
    with runnel.Graph().as_default(), runnel.compat.v1.Session() as session:
        runnel.import_graph_def(graph.as_graph_def(), name="")
        assert not session.run("w/IsInitialized/VarIsInitializedOp:0")
        with pytest.raises(runnel.errors.FailedPreconditionError):
            session.run("value:0")
        session.run("w/Assign")
        session.run("update")
        np.testing.assert_allclose(session.run("value:0"), [11.0, 22.0])


def test_tables_of_a_session_there():
    graph = tensorflow.Graph()
    with graph.as_default():
        words = tensorflow.compat.v1.placeholder(tensorflow.string, [None], name="words")
        table = tensorflow.lookup.StaticHashTable(
            tensorflow.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1
        )
        tensorflow.identity(table.lookup(words), name="ids")
        tensorflow.compat.v1.tables_initializer(name="start")
    with runnel.Graph().as_default(), runnel.compat.v1.Session() as session:
        runnel.import_graph_def(graph.as_graph_def(), name="")
        session.run("start")
        found = session.run("ids:0", {"words:0": np.array([b"b", b"z"], object)})
    assert found.tolist() == [2, -1]


def _drawn(tf):
    tf.random.set_seed(5)

    @tf.function(autograph=False)
    def draw(x):
        shuffled = tf.random.shuffle(tf.range(5), seed=2)
        return x + tf.random.uniform([3], seed=7), tf.random.normal([2], seed=3), shuffled

    concrete = draw.get_concrete_function(tf.TensorSpec([3]))
    wanted = [t.numpy() for t in concrete(tf.zeros([3]))]
    names = [t.name for t in concrete.outputs], {concrete.inputs[0].name: np.zeros(3, np.float32)}
    return wanted, concrete.graph.as_graph_def(), names


def test_random_numbers_are_the_same_on_both_sides():
    wanted, graph_def, names = _drawn(runnel)
    assert_equal(wanted, run_there(graph_def, *names))
    assert_equal(wanted, run_here(graph_def, *names))
    wanted, graph_def, names = _drawn(tensorflow)
    assert_equal(wanted, run_here(graph_def, *names))


_TABLE = np.array([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]], np.float32)
_CONDITION = np.array([True, False, True])


@pytest.mark.parametrize(
    ("op", "inputs", "attrs"),
    [
        ("Select", [_CONDITION, _TABLE, -_TABLE], {}),
        ("Select", [_TABLE > 0, _TABLE, -_TABLE], {}),
        ("ClipByValue", [_TABLE, np.float32(-1), np.float32(2)], {}),
        ("Div", [np.array([-7, 7], np.int32), np.array([2, 2], np.int32)], {}),
        ("Div", [_TABLE, _TABLE + 10], {}),
        ("Mod", [np.array([-7, 7], np.int32), np.array([3, 3], np.int32)], {}),
        ("Inv", [_TABLE], {}),
        ("Concat", [np.int32(1), _TABLE, _TABLE], {"N": 2}),
        ("Gather", [_TABLE, np.array([2, 0], np.int32)], {}),
        ("BatchMatMul", [_TABLE[None], _TABLE[None]], {"adj_y": True}),
        ("SparseMatMul", [_TABLE, _TABLE], {"transpose_b": True}),
        ("PlaceholderWithDefault", [_TABLE], {"shape": [3, 2]}),
        ("PreventGradient", [_TABLE], {"message": ""}),
        ("Snapshot", [_TABLE], {}),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_ops_put_together_from_others(op, inputs, attrs, known):
    graph = tensorflow.Graph()
    with graph.as_default():
        shapes = [array.shape if known else None for array in map(np.asarray, inputs)]
        fed = [
            tensorflow.compat.v1.placeholder(array.dtype, shape)
            for array, shape in zip(map(np.asarray, inputs), shapes, strict=True)
        ]
        parameters = list(inspect.signature(getattr(tensorflow.raw_ops, op)).parameters)
        given = [fed[0], fed[1:]] if op == "Concat" else fed
        named = dict(zip(parameters, given, strict=False))
        kept = {key: value for key, value in attrs.items() if key in parameters}
        output = getattr(tensorflow.raw_ops, op)(**named, **kept)
        with tensorflow.compat.v1.Session() as session:
            wanted = session.run(output, dict(zip(fed, inputs, strict=True)))
    feeds = {t.name: np.asarray(a) for t, a in zip(fed, inputs, strict=True)}
    assert_equal([wanted], run_here(graph.as_graph_def(), [output.name], feeds))

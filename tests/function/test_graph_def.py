"""Graphs as GraphDefs: what Runnel writes runs in TensorFlow, what TensorFlow writes runs here."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tensorflow
from google.protobuf import text_format
from graph_programs import (
    IMAGES,
    PROGRAMS,
    X,
    as_theirs,
    assert_equal,
    negation,
    run_here,
    run_there,
    traced,
)

import runnel
from runnel.core.graph.graph import Graph
from runnel.core.op import REGISTRY
from runnel.saved_model.attributes import FIXED, LEFT_OUT, OURS_ALONE, kernel_attributes
from runnel.saved_model.graph_export import Library, as_graph_def
from runnel.saved_model.graph_import import function_graph


@pytest.mark.parametrize("name", PROGRAMS)
def test_written_here_runs_there(name):
    program, *arrays = PROGRAMS[name]
    concrete = traced(runnel, program, arrays)
    wanted = [
        t.numpy() for t in runnel.nest.flatten(concrete(*[runnel.constant(a) for a in arrays]))
    ]
    feeds = {t.name: a for t, a in zip(concrete.inputs, arrays, strict=True)}
    graph_def = concrete.graph.as_graph_def()
    got = run_there(graph_def, [t.name for t in concrete.outputs], feeds)
    assert_equal(wanted, got)


@pytest.mark.parametrize("name", PROGRAMS)
def test_written_there_runs_here(name):
    program, *arrays = PROGRAMS[name]
    concrete = traced(tensorflow, program, arrays)
    tensors = [tensorflow.constant(a) for a in arrays]
    wanted = [t.numpy() for t in tensorflow.nest.flatten(concrete(*tensors))]
    feeds = {t.name: a for t, a in zip(concrete.inputs, arrays, strict=True)}
    graph_def = concrete.graph.as_graph_def()
    got = run_here(graph_def, [t.name for t in concrete.outputs], feeds)
    assert_equal(wanted, got)


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(name):
    program, *arrays = PROGRAMS[name]
    concrete = traced(runnel, program, arrays)
    feeds = {t.name: np.asarray(a) for t, a in zip(concrete.inputs, arrays, strict=True)}
    wanted = concrete.plan.run(*feeds.values())
    got = run_here(concrete.graph.as_graph_def(), [t.name for t in concrete.outputs], feeds)
    assert_equal(wanted, got)


# Every op, by what TensorFlow tells of it.


def _described(name):
    """The outputs and attributes that TensorFlow declares for an op; None where it has none such.

    A node without what its op requires is refused with a summary of the op.
    """
    graph_def = tensorflow.compat.v1.GraphDef()
    graph_def.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    for inputs in ([], ["x"] * 12):
        node = graph_def.node.add(name=f"node{len(inputs)}", op=name, input=inputs)
        try:
            with tensorflow.Graph().as_default():
                tensorflow.graph_util.import_graph_def(graph_def, name="")
        except tensorflow.errors.NotFoundError:
            return None
        except ValueError as error:
            found = re.search(r"Op<name=\w+; signature=.*? ?-> ?(.*?)(; attr=.*)?>; ", str(error))
            if found:
                return _parsed(found)
        graph_def.node.remove(node)
    raise AssertionError(f"TensorFlow does not tell about {name}")


def _parsed(found):
    outputs = [part.partition(":")[0] for part in found.group(1).split("; ")[0].split(", ")]
    attrs = re.findall(r"; attr=(\w+):([\w()]+)", found.group(0))
    return [name for name in outputs if name], dict(attrs)


def _attributes_here(op):
    found = set(kernel_attributes(op)) | set(FIXED.get(op.name, {}))
    for argument in (*op.inputs, *op.outputs):
        found.update({argument.type} - set(op.fixed))
        found.update({argument.count} - {None, "*"})
    if "func" in found:
        found = found - {"func"} | {"token"}
    if op.name == "While":
        found -= {"Tout", "carried", "invariants", "reverse"}
    return {name for name in found if name[0] != "_"} - LEFT_OUT.get(op.name, set())


def test_every_op_has_the_attributes_and_outputs_of_the_original():
    REGISTRY.get("") or (REGISTRY.load_rest and REGISTRY.load_rest())
    alone, wrong = set(), {}
    for name, op in REGISTRY.items():
        described = _described(name)
        if described is None:
            alone.add(name)
            continue
        outputs, attrs = described
        if [argument.name for argument in op.outputs] != outputs:
            wrong[name, "outputs"] = outputs
        if _attributes_here(op) != set(attrs):
            wrong[name, "attributes"] = set(attrs) ^ _attributes_here(op)
    assert not wrong
    assert alone == set(OURS_ALONE)


# Variables, effects and their order.


def _counting(tf, variable, x):
    before = variable.read_value()
    variable.assign_add(x)
    between = variable * 2.0

    def double():
        variable.assign(variable * 2.0)
        return variable.read_value()

    after = tf.cond(tf.reduce_sum(x) > 0, double, variable.read_value)
    loop = tf.while_loop(
        lambda i: i < 3, lambda i: [i + tf.cast(variable[0] > -100.0, tf.int32)], [0]
    )
    return before, between, after, loop, variable.read_value()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_effects_written_here_come_in_order_there(sign):
    x = np.array([1.0, 2.0], np.float32) * sign
    ours = runnel.Variable([1.0, 5.0])
    function = runnel.function(lambda x: _counting(runnel, ours, x), autograph=False)
    concrete = function.get_concrete_function(runnel.TensorSpec([2]))
    graph_def = concrete.graph.as_graph_def()
    handles = [
        node.name for node in graph_def.node
        if node.op == "Placeholder" and node.attr["dtype"].type == runnel.resource.as_datatype_enum
    ]  # fmt: skip
    assert len(handles) == 1

    with tensorflow.Graph().as_default(), tensorflow.compat.v1.Session() as session:
        theirs = tensorflow.compat.v1.get_variable(
            "v", initializer=np.float32([1.0, 5.0]), use_resource=True
        )
        found = tensorflow.graph_util.import_graph_def(
            as_theirs(graph_def),
            input_map={handles[0]: theirs.handle, concrete.inputs[0].name: tensorflow.constant(x)},
            return_elements=[t.name for t in concrete.outputs],
        )
        session.run(theirs.initializer)
        got = session.run(found)
        there = session.run(theirs)
    assert_equal([t.numpy() for t in runnel.nest.flatten(concrete(runnel.constant(x)))], got)
    np.testing.assert_allclose(there, ours.numpy())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_effects_written_there_come_in_order_here(sign):
    x = np.array([1.0, 2.0], np.float32) * sign
    ours, theirs = runnel.Variable([1.0, 5.0]), tensorflow.Variable([1.0, 5.0])
    function = tensorflow.function(lambda x: _counting(tensorflow, theirs, x), autograph=False)
    concrete = function.get_concrete_function(tensorflow.TensorSpec([2]))
    graph_def = concrete.graph.as_graph_def()
    argument, handle = [t.name for t in concrete.inputs]

    @runnel.function(autograph=False)
    def imported(x):
        return runnel.graph_util.import_graph_def(
            graph_def,
            input_map={handle: ours.handle, argument: x},
            return_elements=[t.name for t in concrete.outputs],
        )

    wanted = [t.numpy() for t in tensorflow.nest.flatten(concrete(tensorflow.constant(x)))]
    assert_equal(wanted, [t.numpy() for t in imported(runnel.constant(x))])
    np.testing.assert_allclose(ours.numpy(), theirs.numpy())


def test_a_function_of_a_library_is_differentiable_and_reads_its_variables():
    weights = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0], [1.0, 1.0]], np.float32)
    theirs, ours = tensorflow.Variable(weights), runnel.Variable(weights)

    @tensorflow.function
    def inner(x):
        return tensorflow.nn.tanh(x @ theirs)

    @tensorflow.function
    def outer(x):
        return inner(x) * inner(x + 1.0)

    concrete = outer.get_concrete_function(tensorflow.TensorSpec([None, 4]))
    library = {f.signature.name: f for f in concrete.graph.as_graph_def().library.function}
    definition = concrete.function_def
    captured = [ours.handle for _ in concrete.captured_inputs]
    graph = function_graph(definition, library, captured)
    assert graph.inputs[0].shape.as_list() == [None, 4]
    read = runnel.core.graph.concrete.ConcreteFunction(graph, [runnel.core.graph.concrete._ONE])
    with runnel.GradientTape() as tape:
        (y,) = read.call([runnel.constant(X)])
    with tensorflow.GradientTape() as their_tape:
        wanted = outer(tensorflow.constant(X))
    assert_equal([wanted.numpy()], [y.numpy()])
    assert_equal([their_tape.gradient(wanted, theirs).numpy()], [tape.gradient(y, ours).numpy()])


def _layers(keras):
    return {
        "images": (
            [
                keras.layers.Conv2D(4, 3, activation="relu"),
                keras.layers.BatchNormalization(),
                keras.layers.MaxPooling2D(),
                keras.layers.DepthwiseConv2D(2),
                keras.layers.Flatten(),
                keras.layers.Dropout(0.5),
                keras.layers.Dense(3, "softmax"),
            ],
            IMAGES,
        ),
        "words": (
            [
                keras.layers.Embedding(10, 4, mask_zero=True),
                keras.layers.Bidirectional(keras.layers.LSTM(3, return_sequences=True)),
                keras.layers.GRU(2),
                keras.layers.Dense(1),
            ],
            np.array([[1, 2, 3, 0], [4, 0, 0, 0]], np.int32),
        ),
    }


def _model(keras, name):
    layers, array = _layers(keras)[name]
    model = keras.Sequential(layers)
    model(array[:1])
    random = np.random.default_rng(0)
    model.set_weights([random.uniform(0.1, 1, w.shape) for w in model.get_weights()])
    return model, array


@pytest.mark.parametrize("name", ["images", "words"])
def test_a_model_written_here_runs_there(name):
    model, array = _model(runnel.keras, name)
    function = runnel.function(lambda x: model(x, training=False), autograph=False)
    concrete = function.get_concrete_function(runnel.TensorSpec([None, *array.shape[1:]],
                                                                array.dtype))  # fmt: skip
    library = Library()
    called, handles = library.add_function(concrete.graph, concrete.inputs)
    library.require_complete()
    assert {id(handle._array) for handle in handles} <= {id(w) for w in model.weights}
    with tensorflow.Graph().as_default(), tensorflow.compat.v1.Session() as session:
        variables = [
            tensorflow.compat.v1.get_variable(
                f"v{i}", initializer=handle._array.numpy(), use_resource=True
            )
            for i, handle in enumerate(handles)
        ]
        graph_def = tensorflow.compat.v1.get_default_graph().as_graph_def()
        for definition in library.functions:
            graph_def.library.function.add().ParseFromString(definition.SerializeToString())
        x = graph_def.node.add(name="x", op="Placeholder")
        x.attr["dtype"].type = runnel.as_dtype(array.dtype).as_datatype_enum
        call = graph_def.node.add(name="y", op="StatefulPartitionedCall", input=["x"])
        call.input.extend(v.handle.op.name for v in variables)
        call.attr["f"].func.name = called
        call.attr["Tin"].list.type.extend([x.attr["dtype"].type] + [20] * len(variables))
        call.attr["Tout"].list.type.append(1)
        tensorflow.graph_util.import_graph_def(graph_def, name="again")
        session.run([f"again/{v.op.name}/Assign" for v in variables])
        got = session.run("again/y:0", {"again/x:0": array})
    assert_equal([model(array).numpy()], [got])


@pytest.mark.parametrize("name", ["images", "words"])
def test_a_model_written_there_runs_here(name):
    theirs, array = _model(tensorflow.keras, name)
    ours, _ = _model(runnel.keras, name)
    function = tensorflow.function(lambda x: theirs(x, training=False))
    concrete = function.get_concrete_function(
        tensorflow.TensorSpec([None, *array.shape[1:]], array.dtype)
    )
    library = {f.signature.name: f for f in concrete.graph.as_graph_def().library.function}
    by_handle = {id(w.handle): mine for w, mine in zip(theirs.weights, ours.weights, strict=True)}
    captured = [by_handle[id(handle)].handle for handle in concrete.captured_inputs]
    graph = function_graph(concrete.function_def, library, captured)
    read = runnel.core.graph.concrete.ConcreteFunction(graph, [runnel.core.graph.concrete._ONE])
    (got,) = read.call([runnel.constant(array)])
    assert_equal([theirs(array).numpy()], [got.numpy()])


# Tensors, files, single nodes.


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (1.5, {}),
        ([1, 2], {}),
        (np.zeros((0, 2)), {}),
        ("text", {}),
        (["a", b"b"], {}),
        (True, {}),
        (np.float16(2), {}),
        (np.array([1, 2], np.uint8), {}),
        (1 + 2j, {}),
        (np.int64(-3), {}),
        (np.uint64(2**63), {}),
        ([[1.0, 2.0], [3.0, 4.0]], {}),
        ([1, 2], {"dtype": "float32", "shape": [2, 1]}),
        (7, {"dtype": "int64", "shape": [2, 2]}),
        ([1], {"shape": [3], "allow_broadcast": True}),
        ([1, 2], {"shape": [3], "verify_shape": True}),
        ([1, 2], {"shape": [3], "allow_broadcast": True}),
        ([1.5], {"dtype": "int32"}),
        (None, {}),
    ],
)
def test_tensor_protos(values, options):
    def outcome(tf):
        try:
            proto = tf.make_tensor_proto(values, **options)
        except Exception as error:
            return type(error).__name__
        return proto.SerializeToString(), repr(tf.make_ndarray(proto))

    assert outcome(runnel) == outcome(tensorflow)


def test_write_graph(tmp_path):
    graph_def = negation(runnel)
    path = runnel.io.write_graph(graph_def, tmp_path / "new", "graph.pbtxt")
    with open(path, encoding="utf-8") as file:
        read = text_format.Parse(file.read(), tensorflow.compat.v1.GraphDef())
    assert [node.name for node in read.node] == ["x", "y"]
    path = runnel.io.write_graph(graph_def, str(tmp_path), "graph.pb", as_text=False)
    with open(path, "rb") as file:
        assert tensorflow.compat.v1.GraphDef.FromString(file.read()) == read
    assert sorted(each.name for each in tmp_path.iterdir()) == ["graph.pb", "new"]


def test_shapes_and_versions():
    def described(tf):
        graph = tf.Graph()
        with graph.as_default():
            x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
            y = tf.nn.relu(x, name="y")
        full = graph.as_graph_def(add_shapes=True)
        shapes = [str(node.attr["_output_shapes"]) for node in full.node]
        node = y.op.node_def
        return (
            shapes,
            str(as_theirs(full).versions),
            [node.name, node.op, list(node.input), node.attr["T"].type],
            y.op.get_attr("T").name,
        )

    assert described(runnel) == described(tensorflow)


def test_graphs_to_look_at_hold_what_only_exists_here():
    graph = Graph()
    with graph.as_default():
        REGISTRY["TensorListUnstack"](runnel.constant(X))
    nodes = as_graph_def(graph, strict=False).node
    assert [node.op for node in nodes] == ["Const", "TensorListUnstack"]
    function = runnel.function(
        lambda x: runnel.gradients(runnel.while_loop(lambda y: y < 9.0, lambda y: [y * x], [x]), x)
    )
    looped = function.get_concrete_function(runnel.TensorSpec([]))
    with pytest.raises(ValueError, match="While"):
        looped.graph.as_graph_def()
    loops = [node for node in as_graph_def(looped.graph, strict=False).node if node.op == "While"]
    assert len(loops) == 2


def test_only_what_came_later():
    graph = runnel.Graph()
    with graph.as_default():
        x = runnel.constant(1.0, name="x")
        version = graph.version
        runnel.negative(x, name="y")
    assert [node.name for node in graph.as_graph_def(from_version=version).node] == ["y"]


def test_ops_that_only_exist_here_are_named_at_once():
    graph = Graph()
    with graph.as_default():
        handle = REGISTRY["TensorListUnstack"](runnel.constant(X))
        REGISTRY["TensorListZeros"](handle)
    with pytest.raises(ValueError, match=r"TensorListUnstack \('.*'\), TensorListZeros \('.*'\)"):
        graph.as_graph_def()


def test_python_functions_come_back_in_the_same_process():
    function = runnel.function(
        lambda x: runnel.numpy_function(lambda a: a * 2, [x], runnel.float32)
    )
    concrete = function.get_concrete_function(runnel.TensorSpec([3, 4]))
    graph_def = concrete.graph.as_graph_def()
    (name,) = [t.name for t in concrete.outputs]
    assert_equal([X * 2], run_here(graph_def, [name], {concrete.inputs[0].name: X}))

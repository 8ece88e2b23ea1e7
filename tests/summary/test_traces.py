"""Graphs of functions in event files, and profiles with them."""

import glob
import logging
import os
import warnings

import pytest
from both_files import check, messages
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.compat.proto.config_pb2 import RunMetadata
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext

import runnel as tf

with warnings.catch_warnings():
    # Of a library inside of TensorBoard.
    warnings.simplefilter("ignore", DeprecationWarning)
    from tensorboard.plugins.graph.graphs_plugin import GraphsPlugin


def graphs_page(folder):
    """What the page Graphs of TensorBoard knows of a folder."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(folder))
    return GraphsPlugin(TBContext(data_provider=provider, logdir=str(folder)))


@tf.function
def grad(x):
    with tf.name_scope("layer"), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x + 2.0
    return tape.gradient(y, x)


def traced(folder, **options):
    with tf.summary.create_file_writer(folder).as_default():
        tf.summary.trace_on(**options)
        grad(tf.constant(3.0))
        tf.summary.trace_export("grad", step=4)
    return messages(folder)["."][1:]


def test_a_trace_has_the_graph_of_the_function(tmp_path):
    (event,) = traced(str(tmp_path), graph=True)
    (value,) = event.summary.value
    assert (event.step, value.tag) == (4, "grad")
    assert value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    assert value.metadata.plugin_data.content == b"1"
    metadata = RunMetadata.FromString(value.tensor.string_val[0])
    (function,) = metadata.function_graphs
    nodes = {node.name: node for node in function.pre_optimization_graph.node}
    assert nodes["x"].op == "_Arg" and nodes["x"].attr["index"].i == 0
    assert any(name.startswith("layer/") and node.op == "Mul" for name, node in nodes.items())
    assert [node.op for node in nodes.values()].count("_Retval") == 1
    known = set(nodes)
    for node in nodes.values():
        assert {each.lstrip("^").partition(":")[0] for each in node.input} <= known


def test_tensorboard_draws_a_trace(tmp_path):
    traced(str(tmp_path), graph=True)
    page = graphs_page(tmp_path)
    info = page.info_impl(RequestContext(), "")["."]
    assert info["tags"]["grad"]["op_graph"] and not info["run_graph"]
    body, kind = page.graph_impl(RequestContext(), ".", "grad", False, "")
    assert kind == "text/x-protobuf" and 'op: "Mul"' in body


def test_tensorboard_draws_a_graph(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        concrete = grad.get_concrete_function(tf.TensorSpec([], tf.float32))
        assert bool(tf.summary.graph(concrete.graph))
    assert not bool(tf.summary.graph(concrete.graph))
    page = graphs_page(tmp_path)
    assert page.info_impl(RequestContext(), "")["."]["run_graph"]
    body, _ = page.graph_impl(RequestContext(), ".", None, False, "")
    assert 'name: "x"' in body and "_output_shapes" in body


def test_a_message_is_written_as_it_is(tmp_path):
    definition = grad.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert bool(tf.summary.graph(definition))
    (event,) = messages(tmp_path)["."][1:]
    assert GraphDef.FromString(event.graph_def) == definition


def test_tensorboard_draws_a_keras_model(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=[2], name="first")])
    model.compile("sgd", "mse")
    callback = tf.keras.callbacks.TensorBoard(str(tmp_path))
    model.fit(tf.ones([4, 2]), tf.ones([4, 3]), verbose=0, callbacks=[callback])
    page = graphs_page(tmp_path)
    assert page.info_impl(RequestContext(), "")["train"]["tags"]["keras"]["conceptual_graph"]
    body, _ = page.graph_impl(RequestContext(), "train", "keras", True, "")
    assert "first" in body


def test_a_function_of_the_original_reads_our_graph(tmp_path):
    tensorflow = pytest.importorskip("tensorflow")

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        square = tf.function(lambda x: tf.square(x, name="square") + 1.0)
        tf.summary.graph(square.get_concrete_function(tf.TensorSpec([2], tf.float32)).graph)
    (event,) = messages(tmp_path)["."][1:]
    definition = tensorflow.compat.v1.GraphDef.FromString(event.graph_def)
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(definition, name="")
    assert graph.get_operation_by_name("square").type == "Square"


def test_forward_and_backward_functions_are_traced(tmp_path):
    square = tf.function(lambda x: x * x)
    x = tf.Variable(3.0)
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
        tf.summary.trace_on(graph=True)
        with tf.GradientTape() as tape:
            y = square(x)
        tape.gradient(y, x)
        square(tf.constant(1.0))
        square(tf.constant(2.0))
        tf.summary.trace_export("square")
        square(x)
    (event,) = messages(tmp_path)["."][1:]
    metadata = RunMetadata.FromString(event.summary.value[0].tensor.string_val[0])
    # With a variable, its gradient, and with a tensor.
    assert len(metadata.function_graphs) == 3


def test_rules_of_traces(tmp_path):
    def program(tf, folder):
        seen = []

        def refused(action):
            try:
                action()
            except Exception as failure:
                seen.append(type(failure).__name__)

        refused(lambda: tf.summary.trace_export("nothing", step=0))
        tf.summary.trace_off()
        tf.summary.trace_on(graph=True)
        tf.summary.trace_on(graph=True)
        tf.summary.trace_off()
        refused(lambda: tf.summary.trace_export("off", step=0))
        tf.summary.trace_on(graph=True)
        tf.summary.trace_export("nobody writes", step=0)
        refused(lambda: tf.summary.trace_export("again", step=0))
        with tf.summary.create_file_writer(folder).as_default():
            tf.summary.trace_on(graph=True)
            refused(lambda: tf.summary.trace_export("no step"))
            tf.summary.trace_off()

        @tf.function
        def inside(x):
            tf.summary.trace_on()
            return x

        inside(tf.constant(1.0))
        refused(lambda: tf.summary.trace_export("not on", step=0))
        return seen

    check(program, tmp_path)


def test_nothing_is_replaced_after_a_trace(tmp_path):
    from runnel.core.graph.concrete import BackwardFunction, ConcreteFunction

    before = ConcreteFunction.call, BackwardFunction.call_with
    traced(str(tmp_path), graph=True)
    tf.summary.trace_on(graph=True)
    tf.summary.trace_off()
    assert (ConcreteFunction.call, BackwardFunction.call_with) == before


@pytest.mark.parametrize("early", [True, False])
def test_a_profile_with_a_trace(early, tmp_path, caplog):
    """TensorFlow 2.21 takes the folder of the profile at the start, earlier versions at the end."""
    folder = str(tmp_path / "logs")
    outdir = {"profiler_outdir": folder}
    with tf.summary.create_file_writer(folder).as_default():
        tf.summary.trace_on(graph=True, profiler=True, **(outdir if early else {}))
        grad(tf.constant(3.0))
        tf.summary.trace_export("grad", step=0, **({} if early else outdir))
    (event,) = messages(folder)["."][1:]
    assert event.summary.value[0].metadata.plugin_data.plugin_name == "graph_run_metadata"
    (run,) = glob.glob(f"{folder}/plugins/profile/*")
    assert any(name.endswith(".xplane.pb") for name in os.listdir(run))
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


def test_a_profile_without_a_folder_is_dropped(tmp_path, caplog):
    tf.get_logger().propagate = True
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_on(profiler=True)
        tf.summary.trace_export("grad", step=0)
    assert "The profile is lost" in caplog.text
    assert not glob.glob(f"{tmp_path}/plugins")
    tf.summary.trace_on(profiler=True)
    tf.summary.trace_off()
    tf.profiler.experimental.start(str(tmp_path))
    tf.profiler.experimental.stop(save=False)


def test_graph_def_names_are_those_of_scopes(tmp_path):
    @tf.function
    def two(x):
        with tf.name_scope("outer"):
            y = x + 1.0
            with tf.name_scope("inner"):
                return y * 2.0

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.graph(two.get_concrete_function(tf.TensorSpec([], tf.float32)).graph)
    (event,) = messages(tmp_path)["."][1:]
    names = {node.op: node.name for node in GraphDef.FromString(event.graph_def).node}
    assert names["AddV2"].startswith("outer/") and names["Mul"].startswith("outer/inner/")

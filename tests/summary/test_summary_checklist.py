"""Names of graphs as TensorBoard folds them, and arguments at the edges of what is allowed."""

import os

import numpy as np
import pytest
from both_files import check
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.graph_pb2 import GraphDef

import runnel as tf
from runnel.formats.tfrecord import read_records

SCALAR = np.float32(3.0)


def control_flow(tf, noted):
    """A function with every kind of branch, which notes the name scope that it is in."""

    def note(value):
        noted.append(tf.get_current_name_scope())
        return value

    @tf.function
    def run(x):
        with tf.name_scope("outer"):
            y = tf.cond(x > 0.0, lambda: note(x), lambda: note(-x))
            y = tf.cond(x > 0.0, lambda: note(y), lambda: note(-y), name="choice")
        loop = [0, y]
        loop = tf.while_loop(lambda i, y: note(i < 3), lambda i, y: (i + 1, note(y) * x), loop)
        loop = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, note(y)), loop, maximum_iterations=2, name="w"
        )
        y = loop[1]
        for _ in tf.range(3):
            with tf.name_scope("inner"):
                y = note(y) * 2.0
            if y > 10.0:
                y = note(y) - 1.0
        y = tf.switch_case(tf.cast(x, tf.int32), [lambda: note(y), lambda: note(2.0 * y)])
        y = tf.case([(x > 1.0, lambda: note(y)), (x > 2.0, lambda: note(x))], lambda: note(0.0 * x))
        rows = tf.stack([x, y])
        return (
            tf.map_fn(note, rows), tf.scan(lambda a, e: note(a) + e, rows),
            tf.foldl(lambda a, e: note(a) + e, rows), tf.foldr(lambda a, e: note(a) + e, rows),
        )  # fmt: skip

    return run


def test_names_in_branches_and_loops():
    tensorflow = pytest.importorskip("tensorflow")

    found = []
    for library in (tensorflow, tf):
        noted = []
        results = control_flow(library, noted)(library.constant(SCALAR))
        found.append((noted, [each.numpy().tolist() for each in results]))
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]


def test_conditions_and_loops_have_the_names_of_their_scopes():
    @tf.function
    def run(x):
        with tf.name_scope("a"):
            y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x)
            y = tf.cond(x > 0.0, lambda: y * 2.0, lambda: y)
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, y])

    graph = run.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    kinds = {
        each.name: each.type for each in graph.get_operations() if each.type in ("If", "While")
    }
    assert kinds == {"a/cond": "If", "a/cond_1": "If", "while": "While"}
    library = graph.as_graph_def().library.function
    nodes = {node.name for function in library for node in function.node_def}
    assert {"a/cond/mul", "a/cond_1/mul", "while/mul", "while/Less"} <= nodes


def gradients(tf, by_tape):
    """The names of the operations of a gradient."""

    @tf.function
    def run(x):
        with tf.name_scope("layer"), tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        with tf.name_scope("back"):
            return tape.gradient(y, x) if by_tape else tf.gradients(y, x)

    graph = run.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    names = [operation.name for operation in graph.get_operations()]
    return {name.rpartition("/")[0] for name in names}


@pytest.mark.parametrize("by_tape", [True, False])
def test_gradients_are_named_after_what_they_are_of(by_tape):
    tensorflow = pytest.importorskip("tensorflow")

    expected = gradients(tensorflow, by_tape)
    actual = gradients(tf, by_tape)
    kept = {name for name in expected if "layer/" in name}
    assert kept and kept <= actual


def training_graph(library, keras, folder):
    model = keras.Sequential(
        [
            keras.layers.Input([6], name="inp"),
            keras.layers.Dense(4, activation="relu", name="first"),
            keras.layers.Dense(1, name="second"),
        ],
        name="model",
    )
    model.compile("adam", "mse", metrics=["mae"])
    callback = keras.callbacks.TensorBoard(str(folder), write_steps_per_second=True)
    model.fit(np.ones([4, 6]), np.ones([4, 1]), verbose=0, callbacks=[callback])
    events = [
        Event.FromString(r) for path in folder.rglob("*tfevents*") for r in read_records(path)
    ]
    (graph,) = [GraphDef.FromString(e.graph_def) for e in events if e.graph_def]
    return graph


def boxes(graph):
    """The boxes that TensorBoard draws first, and those of layers; not single nodes with inputs."""
    operations = {node.name for node in graph.node}
    scopes = {"/".join(node.name.split("/")[:n]) for node in graph.node for n in (1, 2, 3)}
    inner = {name for name in scopes if any(each.startswith(f"{name}/") for each in operations)}
    return {name for name in inner if name not in operations}


def test_a_step_of_training_folds_as_in_the_original(tmp_path):
    tensorflow = pytest.importorskip("tensorflow")
    tf_keras = pytest.importorskip("tf_keras")

    wanted = boxes(training_graph(tensorflow, tf_keras, tmp_path / "theirs"))
    graph = training_graph(tf, tf.keras, tmp_path / "ours")
    found = boxes(graph)
    outermost = {name for name in wanted if "/" not in name}
    assert outermost == {"Adam", "gradient_tape", "mean_squared_error", "model"}
    assert {name for name in found if "/" not in name} == outermost
    layers = {name for name in wanted if name.startswith(("model/", "gradient_tape/model"))}
    assert {name for name in layers if name.count("/") < 2} <= found


def test_an_inlined_function_keeps_its_scopes():
    @tf.function
    def inner(x):
        with tf.name_scope("deep"):
            return tf.exp(x)

    graph = tf.function(inner).get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    assert any(op.name.endswith("deep/Exp") for op in graph.get_operations())
    nested = tf.function(lambda x: inner(x) + 1.0)
    graph = nested.get_concrete_function(tf.TensorSpec([], tf.float32)).graph
    assert any(op.name.endswith("deep/Exp") for op in graph.get_operations())


def test_steps_that_are_none(tmp_path):
    for step in (2**63, -(2**63) - 1, 2**70):

        def program(tf, folder, step=step):
            with tf.summary.create_file_writer(folder).as_default():
                tf.summary.scalar("x", 1.0, step=step)

        check(program, tmp_path / str(step))
        with pytest.raises(ValueError, match="out-of-range"):
            program(tf, str(tmp_path / "again"))


def test_a_step_is_a_scalar(tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default():
            tf.summary.scalar("x", 1.0, step=tf.constant([1, 2], tf.int64))

    check(program, tmp_path)
    with pytest.raises(ValueError, match="must be a scalar"):
        program(tf, str(tmp_path / "again"))


@pytest.mark.parametrize("name", [3, b"bytes"])
def test_a_name_is_a_text(name, tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            tf.summary.scalar(name, 1.0)

    check(program, tmp_path)
    with pytest.raises(TypeError):
        program(tf, str(tmp_path / "again"))


@pytest.mark.parametrize("number", [2**80, -(2**64)])
def test_an_integer_that_is_no_tensor(number, tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            tf.summary.scalar("x", number)

    check(program, tmp_path)
    with pytest.raises(ValueError, match="out-of-range"):
        program(tf, str(tmp_path / "again"))


@pytest.mark.parametrize("rate", [8000.0, "8000"])
def test_a_sample_rate_is_an_integer(rate, tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            tf.summary.audio("x", tf.zeros([1, 4, 1]), rate)

    check(program, tmp_path)
    with pytest.raises(TypeError):
        program(tf, str(tmp_path / "again"))


def test_infinite_values_in_a_histogram(tmp_path):
    def program(tf, folder):
        with tf.summary.create_file_writer(folder).as_default(step=1):
            for data in ([np.inf, 1.0], [-np.inf, np.inf], [-np.inf, 2.0]):
                tf.summary.histogram("h", data)
                tf.function(lambda x: tf.summary.histogram("t", x))(tf.constant(data))

    check(program, tmp_path)


@pytest.mark.parametrize("suffix", ["", ".v3", "part"])
def test_the_end_of_a_file_name(suffix, tmp_path):
    def program(tf, folder):
        tf.summary.create_file_writer(folder, filename_suffix=suffix).close()
        (name,) = os.listdir(folder)
        return name.split(".")[-1] + str(name.count("."))

    check(program, tmp_path)

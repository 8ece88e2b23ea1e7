"""Whole programs of TensorFlow 1, each in a process of its own, and names of the namespace."""

import subprocess
import sys

import pytest
import tensorflow

import runnel

PROGRAM = """
import numpy as np
import LIBRARY.compat.v1 as tf
tf.disable_v2_behavior()
flags = tf.app.flags
flags.DEFINE_integer("steps", 3, "how many")
flags.DEFINE_string("title", "none", "what")
flags.DEFINE_boolean("quiet", False, "whether")
flags.DEFINE_float("rate", 0.5, "how fast")
FLAGS = flags.FLAGS

def main(_):
    print(FLAGS.steps, FLAGS.title, FLAGS.quiet, FLAGS.rate, tf.executing_eagerly())
    x = tf.placeholder(tf.float32, [None], name="x")
    w = tf.Variable(2.0, name="w")
    loss = tf.reduce_sum(tf.square(w * x - 1.0))
    train = tf.train.GradientDescentOptimizer(FLAGS.rate).minimize(loss)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
            session.run(train, {x: [0.5, 0.25]})
        print("%.5f" % session.run(w))
    print(len(tf.global_variables()), w.name, x)
    z = tf.zeros([4, 3])
    size = z.get_shape()[1]
    print(size.value, repr(z.shape), x.shape[0].value, [each.value for each in z.shape], size * 2)
    print(tf.ones([size, 2]).shape.as_list(), tf.get_variable("v", [size]).shape)
    tf.reset_default_graph()
    print(len(tf.global_variables()), tf.get_default_graph().get_operations())
    y = tf.placeholder(tf.float32, [2])
    with tf.Session() as session:
        print(session.run(y * 2, {y: [1, 2]}))

if __name__ == "__main__":
    tf.app.run()
"""


def output_of(library, prefix=""):
    source = prefix + PROGRAM.replace("LIBRARY", library)
    run = subprocess.run(
        [sys.executable, "-c", source, "--steps=5", "--title", "test", "--quiet"],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


def test_a_program_with_options():
    expected = output_of("tensorflow")
    assert output_of("runnel") == expected
    assert output_of("runnel", "import sys; sys.modules['absl'] = None\n") == expected


def test_logging(capsys):
    log = runnel.compat.v1.logging
    before = log.get_verbosity()
    try:
        log.set_verbosity(log.WARN)
        assert log.get_verbosity() == tensorflow.compat.v1.logging.WARN
        log.info("hidden")
        log.warn("seen %d", 1)
        for _ in range(4):
            log.log_every_n(log.ERROR, "again", 2)
    finally:
        log.set_verbosity(before)
    shown = capsys.readouterr().err
    assert "hidden" not in shown


def test_strings_and_dimensions():
    for theirs, ours in [(tensorflow.compat, runnel.compat)]:
        for value in (b"a", "é", bytearray(b"z"), 3):
            for name in ("as_bytes", "as_text", "as_str", "as_str_any"):
                results = []
                for library in (theirs, ours):
                    try:
                        results.append(getattr(library, name)(value))
                    except TypeError:
                        results.append(TypeError)
                assert results[0] == results[1], (name, value)
        assert ours.v2 is runnel
        assert ours.forward_compatible(2019, 1, 1)
        with ours.forward_compatibility_horizon(2018, 1, 1):
            assert not ours.forward_compatible(2019, 1, 1)
    shape = runnel.TensorShape([2, None])
    assert runnel.compat.dimension_value(shape[0]) == 2
    assert runnel.compat.dimension_at_index(shape, 1).value is None
    assert (runnel.compat.v1.Dimension(3) * 2).value == 6


def test_names_that_exist_work_and_mean_something_to_the_original():
    ours, theirs = runnel.compat.v1, tensorflow.compat.v1
    strangers = []
    for name in dir(ours):
        if name.startswith("_") or name in ("annotations",):
            continue
        getattr(ours, name)
        if not hasattr(theirs, name):
            strangers.append(name)
    modules = {
        "assertions", "building", "defaults", "fetching", "file_writer", "imported_variables",
        "keras_session", "keys",
        "meta_graphs", "older_nn", "older_sparse", "partial_runs", "layer_objects", "metrics_at_k",
        "metrics_at_thresholds",
        "older", "parsing", "protos", "rnn", "rnn_cell", "sampling", "scopes", "server", "session",
        "shapes", "small_flags", "summary_ops", "values", "variables", "wrapping",
    }  # fmt: skip
    assert set(strangers) <= modules


@pytest.mark.parametrize(
    "space", ["losses", "layers", "train", "nn", "initializers", "image", "math", "metrics", ""]
)
def test_functions_take_the_originals_arguments(space):
    import inspect

    ours, theirs = runnel.compat.v1, tensorflow.compat.v1
    if space:
        ours, theirs = getattr(ours, space), getattr(theirs, space)
    compared = 0
    for name in dir(ours):
        function = None if name.startswith("_") else getattr(ours, name)
        known = getattr(theirs, name, None)
        if known is None or not inspect.isfunction(function):
            continue
        assert function.__doc__, f"{name} has no docstring"
        if not inspect.isfunction(inspect.unwrap(known)):
            continue
        expected = _names(known)
        assert _names(function)[: len(expected)] == expected, name
        compared += 1
    assert compared > 5 or space == "initializers"


def _names(function):
    import inspect

    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind not in kinds]

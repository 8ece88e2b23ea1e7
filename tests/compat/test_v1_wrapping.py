"""wrap_function, and parts of its graph as functions, on both sides."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "function"))
from both import same


def two_inputs(tf):
    def function(x, y):
        return tf.add(tf.multiply(x, 2.0, name="m"), y, name="s")

    specs = [tf.TensorSpec([None], name="x"), tf.TensorSpec([], name="y")]
    return tf.compat.v1.wrap_function(function, specs)


def with_variables(tf):
    v1 = tf.compat.v1

    def function(x):
        a = v1.get_variable("a", [2], initializer=v1.ones_initializer())
        b = v1.get_variable("b", [2], initializer=v1.zeros_initializer(), trainable=False)
        v1.assign_add(b, a)
        return x * a + b

    return v1.wrap_function(function, [tf.TensorSpec([2], name="x")])


@pytest.mark.parametrize("feeds, fetches, values", [
    ("x:0", "m:0", [[1.0, 2.0]]),
    (["m:0", "y:0"], ["s:0"], [[1.0, 2.0], 7.0]),
    (["x:0", "y:0"], ["s:0", "m:0"], [[1.0, 2.0], 7.0]),
    ({"a": "x:0", "b": "y:0"}, {"sum": "s:0"}, [[1.0], 2.0]),
    ("x:0", "m", [[1.0]]),
])  # fmt: skip
def test_prune(feeds, fetches, values):
    def program(tf, note):
        pruned = two_inputs(tf).prune(feeds, fetches)
        note([each.name for each in pruned.inputs])
        result = pruned(*[tf.constant(value) for value in values])
        note(isinstance(result, list), isinstance(result, dict))
        return result

    same(program)


def test_inputs_by_name():
    def program(tf, note):
        pruned = two_inputs(tf).prune({"a": "x:0", "b": "y:0"}, "s:0")
        note(pruned(x=tf.constant([1.0]), y=tf.constant(2.0)))
        return pruned(a=tf.constant([1.0]), b=tf.constant(2.0))

    assert same(program)[-1] == "raised TypeError"


def test_what_is_needed_must_be_fed():
    import runnel as tf

    with pytest.raises(ValueError, match="placeholder 'y'"):
        two_inputs(tf).prune("x:0", "s:0")


def test_a_frozen_graph():
    def program(tf, note):
        v1 = tf.compat.v1
        graph = tf.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.float32, [None, 2], name="inputs")
            tf.identity(tf.matmul(x, tf.constant([[1.0], [2.0]])), name="out")
        frozen = graph.as_graph_def()
        wrapped = v1.wrap_function(lambda: v1.import_graph_def(frozen, name=""), [])
        element = wrapped.graph.as_graph_element
        pruned = wrapped.prune(
            tf.nest.map_structure(element, ["inputs:0"]), tf.nest.map_structure(element, "out:0")
        )
        return pruned(tf.constant([[1.0, 1.0]]))

    same(program)


def test_variables():
    """What no result needs does not happen, as in a session."""

    def program(tf, note):
        function = with_variables(tf)
        note([each.name for each in function.variables])
        note([each.name for each in function.trainable_variables])
        x = tf.constant([3.0, 4.0])
        note(function(x), function(x))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(function(x))
        note(*tape.gradient(loss, function.trainable_variables))
        pruned = function.prune(function.inputs[0], function.outputs[0])
        note([each.name for each in pruned.variables])
        note(pruned(x))
        operations = function.graph.get_operations()
        (added,) = [each for each in operations if each.type == "AssignAddVariableOp"]
        function.prune([], added)()
        return pruned(x)

    same(program)


@pytest.mark.filterwarnings("ignore")
def test_layers():
    def program(tf, note):
        v1 = tf.compat.v1

        def function(x):
            return v1.layers.dense(x, 3, kernel_initializer=v1.ones_initializer())

        wrapped = v1.wrap_function(function, [tf.TensorSpec([1, 2])])
        note([each.name for each in wrapped.variables])
        return wrapped(tf.ones([1, 2]))

    same(program)

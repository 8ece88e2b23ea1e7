"""SimpleRNN does all steps as one operation where it can, and gives what the original gives."""

import numpy as np
import pytest
from layer_check import random_weights
from side_by_side import compare

import runnel

VALUES = np.random.default_rng(5).normal(size=(2, 4, 3)).astype(np.float32)
STATE = np.random.default_rng(6).normal(size=(2, 5)).astype(np.float32)
MASK = np.array([[True, False, True, False], [False, True, True, True]])


def kinds(layer, **call):
    traced = runnel.function(lambda x: layer(x, **call))
    graph = traced.get_concrete_function(runnel.TensorSpec([None, None, 3])).graph
    return {operation.type for operation in graph.get_operations()}


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_it_is_one_operation(activation):
    layer = runnel.keras.layers.SimpleRNN(5, activation, return_sequences=True)
    found = kinds(layer)
    assert "SimpleRNNLayer" in found
    assert not {"While", "StatelessWhile"} & found


@pytest.mark.parametrize(
    "options",
    [
        {"activation": "sigmoid"},
        {"activation": lambda x: x * 0.5},
        {"use_bias": False},
        {"dropout": 0.5},
        {"recurrent_dropout": 0.5},
        {"dtype": "mixed_float16"},
    ],
)
def test_what_is_done_step_by_step(options):
    assert "SimpleRNNLayer" not in kinds(runnel.keras.layers.SimpleRNN(5, **options))


def test_masks_and_activations_without_bounds():
    mask = runnel.constant(MASK)
    layers = [runnel.keras.layers.SimpleRNN(5, name) for name in ("tanh", "relu")]
    assert ["SimpleRNNLayer" in kinds(layer, mask=mask) for layer in layers] == [True, False]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_function_in_one_that_is_compiled(compiled):
    layer, found = runnel.keras.layers.SimpleRNN(5), []
    layer.build((None, None, 3))

    @runnel.function
    def inner(x):
        result = layer(x)
        graph = runnel.compat.v1.get_default_graph()
        found.append({operation.type for operation in graph.get_operations()})
        return result

    outer = runnel.function(lambda x: inner(x), jit_compile=compiled)
    outer.get_concrete_function(runnel.TensorSpec([2, 4, 3]))
    assert ["SimpleRNNLayer" in each for each in found] == [not compiled]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "options",
    [
        {"return_sequences": True, "return_state": True},
        {"go_backwards": True, "activation": "relu"},
        {"go_backwards": True, "return_sequences": True},
    ],
)
def test_layers_of_any_length(options, dtype):
    def program(tf, keras, x, state):
        layer = keras.layers.SimpleRNN(5, dtype=dtype, **options)
        layer(x)
        layer.set_weights(random_weights(layer))

        def function(x, state):
            with tf.GradientTape() as tape:
                tape.watch([x, state])
                results = tf.nest.flatten(layer(x, initial_state=state))
                total = tf.add_n([tf.reduce_sum(each**2) for each in results])
            return results, tape.gradient(total, [x, state, *layer.trainable_weights])

        sizes = [[None, None, 3], [None, 5]]
        signature = [tf.TensorSpec(size, dtype) for size in sizes]
        return tf.function(function, input_signature=signature)(x, state)

    compare(program, VALUES.astype(dtype), STATE.astype(dtype), tolerance=1e-5)


def test_second_derivatives():
    def program(tf, keras, x):
        layer = keras.layers.SimpleRNN(5, return_sequences=True)
        layer(x)
        layer.set_weights(random_weights(layer))
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                total = tf.reduce_sum(layer(x) ** 2)
            slope = inner.gradient(total, x)
        return outer.gradient(slope, [x, *layer.trainable_weights])

    compare(program, VALUES, tolerance=1e-4)

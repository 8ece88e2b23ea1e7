"""Layers that draw random numbers: from the same seed, the same ones as the original's.

Layers with a seed of their own take another one for each call in Python, so that it matters how
often the original traces: twice where variables are made, and once for the graph of a Sequential.
"""

import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel

FRAMEWORKS = [(tensorflow, tf_keras), (runnel, runnel.keras)]
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(48, 8)).astype(np.float32)
IMAGES = RANDOM.uniform(size=(8, 12, 12, 3)).astype(np.float32)
TARGETS = (ROWS[:, :1] > 0).astype(np.float32)


VECTORS = {
    "Dropout": lambda layers, **seed: layers.Dropout(0.4, **seed),
    "Dropout with a shape": lambda layers, **seed: layers.Dropout(0.4, (None, 1), **seed),
    "GaussianNoise": lambda layers, **seed: layers.GaussianNoise(0.3, **seed),
    "GaussianDropout": lambda layers, **seed: layers.GaussianDropout(0.3, **seed),
    "AlphaDropout": lambda layers, **seed: layers.AlphaDropout(0.3, **seed),
}
SEQUENCES = {
    "SpatialDropout1D": lambda layers, **seed: layers.SpatialDropout1D(0.5, **seed),
    "LSTM": lambda layers, **seed: layers.LSTM(3, dropout=0.5),
    "GRU": lambda layers, **seed: layers.GRU(3, dropout=0.5),
    "Bidirectional": lambda layers, **seed: layers.Bidirectional(layers.LSTM(3, dropout=0.5)),
}
PICTURES = {
    "SpatialDropout2D": lambda layers, **seed: layers.SpatialDropout2D(0.5, **seed),
    "RandomFlip": lambda layers, **seed: layers.RandomFlip(**seed),
    "RandomRotation": lambda layers, **seed: layers.RandomRotation(0.2, **seed),
    "RandomZoom": lambda layers, **seed: layers.RandomZoom(0.3, **seed),
    "RandomTranslation": lambda layers, **seed: layers.RandomTranslation(0.2, 0.3, **seed),
    "RandomContrast": lambda layers, **seed: layers.RandomContrast(0.4, **seed),
    "RandomBrightness": lambda layers, **seed: layers.RandomBrightness(0.3, (0, 1), **seed),
    "RandomCrop": lambda layers, **seed: layers.RandomCrop(7, 8, **seed),
    "RandomHeight": lambda layers, **seed: layers.RandomHeight(0.3, **seed),
}


def both(program):
    """What a program gives on both libraries, from the same seed; the original's first."""
    results = []
    for tf, keras in FRAMEWORKS:
        keras.backend.clear_session()
        keras.utils.set_random_seed(11)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append([np.asarray(each) for each in program(tf, keras)])
    return results


def assert_same(program, tolerance=1e-4):
    wanted, got = both(program)
    assert len(wanted) == len(got) and wanted
    for number, (value, original) in enumerate(zip(got, wanted, strict=True)):
        np.testing.assert_allclose(
            value, original, rtol=tolerance, atol=tolerance / 10, err_msg=f"number {number}"
        )


def layer_and_data(name):
    if name in VECTORS:
        return VECTORS[name], ROWS
    return (
        (PICTURES[name], IMAGES) if name in PICTURES else (SEQUENCES[name], ROWS.reshape(-1, 4, 2))
    )


@pytest.mark.parametrize("seed", [{}, {"seed": 3}], ids=["no seed", "seed"])
@pytest.mark.parametrize("name", [*VECTORS, *PICTURES, *SEQUENCES])
def test_calls(name, seed):
    make, data = layer_and_data(name)

    def program(tf, keras):
        layer = make(keras.layers, **seed)
        step = tf.function(lambda x: layer(x, training=True))
        # A smaller batch is another trace.
        batches = [data, data, data[:3], data]
        return [step(tf.constant(each)) for each in batches] + [
            layer(each, training=True) for each in batches
        ]

    assert_same(program)


@pytest.mark.parametrize("seed", [{}, {"seed": 3}], ids=["no seed", "seed"])
@pytest.mark.parametrize("name", ["Dropout", "GaussianNoise", "AlphaDropout"])
@pytest.mark.parametrize("kind", ["sequential", "with input", "functional", "subclassed"])
def test_training(kind, name, seed):
    def model_of(keras):
        layers = keras.layers
        random, last = VECTORS[name](layers, **seed), layers.Dense(1)
        if kind == "sequential":
            return keras.Sequential([random, last])
        if kind == "with input":
            return keras.Sequential([layers.InputLayer((8,)), random, last])
        if kind == "functional":
            inputs = layers.Input((8,))
            return keras.Model(inputs, last(random(inputs)))

        class Model(keras.Model):
            def __init__(self):
                super().__init__()
                self.random, self.last = random, last

            def call(self, inputs):
                return self.last(self.random(inputs))

        return Model()

    def program(tf, keras):
        model = model_of(keras)
        model.compile(keras.optimizers.SGD(0.05), "mse")
        options = {"epochs": 2, "batch_size": 16, "verbose": 0}
        first = model.fit(ROWS, TARGETS, validation_data=(ROWS, TARGETS), **options).history
        second = model.fit(ROWS, TARGETS, **options).history
        tf.random.set_seed(2)
        third = model.fit(ROWS, TARGETS, **options).history
        keras.backend.clear_session()
        fourth = model.fit(ROWS, TARGETS, **options).history
        return [history[key] for history in (first, second, third, fourth) for key in history]

    assert_same(program)


RECURRENT = {
    "SimpleRNN": lambda layers: layers.SimpleRNN(3, recurrent_dropout=0.4),
    "GRU": lambda layers: layers.GRU(3, recurrent_dropout=0.4),
    "LSTM": lambda layers: layers.LSTM(3, recurrent_dropout=0.4),
    "two gates at once": lambda layers: layers.GRU(3, recurrent_dropout=0.4, reset_after=False),
    "unrolled": lambda layers: layers.LSTM(3, dropout=0.3, recurrent_dropout=0.4, unroll=True),
    "both directions": lambda layers: layers.Bidirectional(layers.GRU(3, recurrent_dropout=0.4)),
    "cells": lambda layers: layers.RNN(
        [layers.LSTMCell(3, recurrent_dropout=0.4), layers.GRUCell(2, recurrent_dropout=0.3)]
    ),
}


@pytest.mark.parametrize("steps", [4, None])
@pytest.mark.parametrize("name", RECURRENT)
def test_dropout_in_recurrent_layers(name, steps):
    """Of states: the masks of inputs, which need no earlier step, have no fixed order there."""
    if name == "unrolled" and steps is None:
        pytest.skip("Loops without a known end are not unrolled.")

    def program(tf, keras):
        layers = keras.layers
        stack = [RECURRENT[name](layers), layers.Dropout(0.3), layers.Dense(1)]
        model = keras.Sequential([layers.InputLayer((steps, 2)), *stack])
        model.compile(keras.optimizers.SGD(0.05), "mse")
        rows = ROWS.reshape(-1, 4, 2)
        run = model.fit(rows, TARGETS, batch_size=13, epochs=3, verbose=0)
        training = tf.function(
            lambda x: model(x, training=True), input_signature=[tf.TensorSpec([None, 4, 2])]
        )
        # A function that is called twice in another one begins twice.
        twice = tf.function(
            lambda x: (training(x), training(x)), input_signature=[tf.TensorSpec([None, 4, 2])]
        )
        rows = tf.constant(rows)
        eager = [model.layers[0](rows, training=True) for _ in range(2)]
        return [*run.history["loss"], training(rows), *twice(rows), *twice(rows), *eager]

    assert_same(program)


def test_random_numbers_of_the_steps_of_rnn():
    def program(tf, keras):
        def step(inputs, states):
            output = inputs + states[0] * tf.random.uniform(tf.shape(states[0]))
            return output, [output]

        def run(rows):
            return keras.backend.rnn(step, rows, [tf.zeros([tf.shape(rows)[0], 2])])[1]

        rows = tf.constant(ROWS.reshape(-1, 4, 2))
        traced = tf.function(run, input_signature=[tf.TensorSpec([None, 4, 2])])
        return [traced(rows), traced(rows), run(rows), run(rows)]

    assert_same(program)


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("makes_variables", [False, True])
def test_steps_by_hand(makes_variables, seed):
    """The step makes weights, or slots of the optimizer, or nothing."""

    def program(tf, keras):
        layers = keras.layers
        model = keras.Sequential([layers.Dense(4), layers.Dropout(0.5, seed=seed), layers.Dense(1)])
        optimizer = keras.optimizers.Adam(0.01)
        if not makes_variables:
            model.build((None, 8))
            optimizer.build(model.trainable_variables)

        @tf.function
        def step(rows, targets):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(rows, training=True) - targets) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        return [step(tf.constant(ROWS), tf.constant(TARGETS)) for _ in range(4)]

    assert_same(program)


def test_numbers_of_keras_backend_in_a_function_that_makes_variables():
    """Their seeds come from NumPy, for each trace another one."""

    def program(tf, keras):
        dense = keras.layers.Dense(2)

        @tf.function
        def noisy(rows):
            return dense(rows) + keras.backend.random_normal((2,))

        return [noisy(tf.constant(ROWS)), noisy(tf.constant(ROWS)), np.random.rand()]

    assert_same(program)


def test_clear_session_begins_streams_anew():
    def program(tf, keras):
        generator = tf.random.Generator.from_seed(3)
        draw = tf.function(lambda: tf.random.uniform([2]))
        seeded = tf.function(lambda: tf.random.uniform([2], seed=4))

        def drawn():
            return [
                draw(), seeded(), tf.random.uniform([2], seed=4), tf.random.uniform([2]),
                generator.normal([2]),
            ]  # fmt: skip

        before = drawn() + drawn()
        keras.backend.clear_session()
        return before + drawn() + drawn()

    assert_same(program)


FITTED = {
    "arrays": lambda tf: {"x": ROWS, "y": TARGETS},
    "in order": lambda tf: {"x": ROWS, "y": TARGETS, "shuffle": False},
    "uneven batches": lambda tf: {"x": ROWS, "y": TARGETS, "batch_size": 7},
    "lists": lambda tf: {"x": ROWS.tolist(), "y": TARGETS.tolist(), "batch_size": 8},
    "steps": lambda tf: {"x": ROWS, "y": TARGETS, "batch_size": 8, "steps_per_epoch": 2},
    "a part for validation": lambda tf: {"x": ROWS, "y": TARGETS, "validation_split": 0.25},
    "shuffled dataset": lambda tf: {"x": rows_and_targets(tf).shuffle(48).batch(8)},
    "cached dataset": lambda tf: {
        "x": rows_and_targets(tf).cache().shuffle(20).batch(8).prefetch(2),
        "validation_data": rows_and_targets(tf).batch(6),
    },
    "endless dataset": lambda tf: {
        "x": rows_and_targets(tf).shuffle(48).repeat().batch(8),
        "steps_per_epoch": 6,
    },
}


def rows_and_targets(tf):
    return tf.data.Dataset.from_tensor_slices((ROWS, TARGETS))


@pytest.mark.parametrize("kind", FITTED)
def test_orders_of_fit(kind):
    def program(tf, keras):
        layers = keras.layers
        model = keras.Sequential([layers.Dense(6, "relu"), layers.Dropout(0.3), layers.Dense(1)])
        model.compile("adam", "mse")
        arguments = FITTED[kind](tf)
        shown = []
        for _ in range(2):
            shown += model.fit(**arguments, epochs=2, verbose=0).history.values()
            model.evaluate(ROWS, TARGETS, verbose=0)
        return [*shown, tf.random.normal([3])]

    assert_same(program)


def test_series_of_pandas_with_a_part_for_validation():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(ROWS[:, 0])

    def program(tf, keras):
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        run = model.fit(series, series, validation_split=0.25, epochs=2, verbose=0)
        return list(run.history.values())

    assert_same(program)

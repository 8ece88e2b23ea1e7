"""`jit_compile=True` gives the same numbers, through XLA where it is installed."""

import logging

import numpy as np
import pytest

import runnel as tf
from runnel import engines

RANDOM = np.random.default_rng(0)


def test_without_xla_it_says_so(monkeypatch, caplog):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    double = tf.function(lambda x: x * 2.0, jit_compile=True)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        results = [float(double(tf.constant(3.0))) for _ in range(2)]
    assert results == [6.0, 6.0]
    assert [record.getMessage() for record in caplog.records] == [
        "jit_compile=True: XLA is not installed (pip install 'runnel[xla]'); '<lambda>' runs on "
        "Runnel's own plan, with equal results."
    ]


def agree(function, *arguments, tolerance=1e-5):
    """The function compiled and not, whose results must be alike."""
    pytest.importorskip("jax")
    wanted = tf.nest.flatten(function(*arguments))
    got = tf.nest.flatten(tf.function(function, jit_compile=True)(*arguments))
    for a, b in zip(wanted, got, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def numbers(*shape):
    return tf.constant(RANDOM.normal(size=shape).astype("float32"))


def test_operations():
    def f(x, y):
        a = tf.reshape(tf.transpose(x) @ y, [-1, 2])
        b = tf.concat([a[:, :1], tf.nn.softmax(a)], 1) * tf.reduce_mean(x, keepdims=True)
        c = tf.one_hot(tf.argmax(b, -1), 3) + tf.gather(b, [0, 1, 2, 0, 1, 2, 0, 1])
        return b, c, tf.where(b > 0, b, -b), tf.cast(c, tf.int64), tf.stack(tf.split(a, 2)[:1])

    agree(f, numbers(3, 4), numbers(3, 4))


def test_convolutions_and_gradients():
    x, w = numbers(2, 9, 8, 3), numbers(3, 3, 3, 4)

    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, w, 2, "SAME")), 2, 2, "SAME")
            loss = tf.reduce_sum(tf.nn.avg_pool2d(y, 2, 1, "VALID") ** 2)
        return loss, *tape.gradient(loss, [x, w])

    agree(f, x, w, tolerance=1e-4)


def test_training():
    pytest.importorskip("jax")
    losses = []
    for compiled in (False, True):
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential(
            [tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)]
        )
        optimizer = tf.keras.optimizers.Adam(0.01)
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        x, y = tf.constant(np.linspace(0, 1, 40, dtype="f").reshape(10, 4)), tf.range(10) % 3
        model(x)
        optimizer.build(model.trainable_variables)

        @tf.function(jit_compile=compiled)
        def step(x, y):
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        losses.append([float(step(x, y)) for _ in range(5)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert losses[1][-1] < losses[1][0]


def test_gradients_from_outside():
    pytest.importorskip("jax")
    square = tf.function(lambda x: tf.tanh(x) * x, jit_compile=True)
    x = tf.constant([0.5, -1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    slope = np.tanh(x) + x * (1 - np.tanh(x) ** 2)
    np.testing.assert_allclose(tape.gradient(y, x), slope, rtol=1e-5)


def test_what_xla_cannot_do_runs_on_the_plan(caplog):
    pytest.importorskip("jax")

    @tf.function(jit_compile=True)
    def f(x):
        return tf.strings.length(x)

    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        assert int(f(tf.constant("four"))) == 4
    assert "StringLength" in caplog.text

"""Results that are the same tensor, and tapes that are used again."""

import numpy as np

import runnel as tf


def test_gradients_of_a_tensor_that_is_given_back_twice():
    twice = tf.function(lambda x: (x * 2.0,) * 2)
    itself = tf.function(lambda x: (x, x))
    for function, expected in ((twice, 8.0), (itself, 4.0)):
        x = tf.Variable(5.0)
        with tf.GradientTape() as tape:
            a, b = function(x)
            loss = a + 3.0 * b
        assert tape.gradient(loss, x).numpy() == expected


def test_a_traced_cell_in_an_eager_loop():
    cell = tf.keras.layers.LSTMCell(4)
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3)).astype("float32"))
    states = [tf.zeros([2, 4]), tf.zeros([2, 4])]
    cell(x, states)

    def gradients(step):
        with tf.GradientTape() as tape:
            output, after = step(x, states)
            output, _ = step(x, after)
            loss = tf.reduce_sum(output**2)
        return tape.gradient(loss, cell.trainable_variables)

    for a, b in zip(gradients(cell), gradients(tf.function(cell)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_tape_that_is_used_again_inside_of_another():
    cell = tf.keras.layers.LSTMCell(4)
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3)).astype("float32"))
    with tf.GradientTape(persistent=True) as tape:
        states = [tf.zeros([2, 4]), tf.zeros([2, 4])]
        for _ in range(40):
            output, states = cell(x, states)
        loss = tf.reduce_sum(output)
    first = tape.gradient(loss, cell.trainable_variables)
    with tf.GradientTape():
        second = tape.gradient(loss, cell.trainable_variables)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_sums_of_terms_that_are_spread():
    generator = np.random.default_rng(1)
    a, b, c = (
        tf.constant(generator.normal(size=s).astype("float32")) for s in ((5, 3), (5, 4), (5, 1))
    )

    def function(a, b, c):
        total = tf.matmul(c, b, transpose_a=True)
        for factor in (1.0, 2.0, 3.0, 4.0):
            total = tf.matmul(factor * a, b, transpose_a=True) + total
        return total

    np.testing.assert_allclose(tf.function(function)(a, b, c), function(a, b, c), rtol=1e-5)

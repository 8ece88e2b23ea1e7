"""Weights that many products share get the gradient that TensorFlow gives them."""

import numpy as np
import pytest
import tensorflow

import runnel
from runnel.core.autodiff import joined_products

RANDOM = np.random.default_rng(5)
STARTS = RANDOM.normal(size=(2, 6)).astype("float32")
WEIGHTS = (RANDOM.normal(size=(6, 6)) / 3).astype("float32")
STEPS = 20


def variables(tf):
    return tf.Variable(WEIGHTS), tf.Variable(2 * WEIGHTS)


def variable(tf, weights, others):
    """The gradient by a variable, which is a factor of each step and is used once more."""
    with tf.GradientTape() as tape:
        x = tf.constant(STARTS)
        for _ in range(STEPS):
            x = tf.tanh(x @ weights)
        loss = tf.reduce_sum(x) + tf.reduce_sum(weights**2)
    return tape.gradient(loss, weights)


def watched(tf, weights, others):
    start, weights = tf.constant(STARTS), tf.constant(WEIGHTS)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([start, weights])
        x = start
        for _ in range(STEPS):
            x = tf.nn.softplus(tf.matmul(x, weights))
    return tape.gradient(x, [start, weights]), tape.gradient(x, weights)


def computed(tf, weights, others):
    """A source that is computed from another one."""
    with tf.GradientTape() as tape:
        product = tf.sin(weights)
        x = tf.constant(STARTS)
        for _ in range(STEPS):
            x = tf.tanh(x @ product)
    return tape.gradient(x, [weights, product])


def second_order(tf, weights, others):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            x = tf.constant(STARTS)
            for _ in range(STEPS):
                x = tf.tanh(x @ weights)
        gradient = inner.gradient(x, weights)
    return gradient, outer.gradient(gradient, weights)


def several_kinds(tf, weights, others):
    """Transposed, by itself, in two places with the same rows."""
    with tf.GradientTape() as tape:
        x = tf.constant(STARTS)
        for _ in range(STEPS):
            x = tf.tanh(x @ weights + x @ others + tf.matmul(x, weights, transpose_b=True))
        loss = tf.reduce_sum(x) + tf.reduce_sum(weights @ weights)
    return tape.gradient(loss, [weights, others])


@pytest.mark.parametrize("program", [variable, watched, computed, second_order, several_kinds])
def test_gradients(program):
    wanted = tensorflow.nest.flatten(program(tensorflow, *variables(tensorflow)))
    given = variables(runnel)
    eager = runnel.nest.flatten(program(runnel, *given))
    traced = runnel.function(lambda: program(runnel, *given), autograph=False)
    for a, b, c in zip(wanted, eager, runnel.nest.flatten(traced()), strict=True):
        np.testing.assert_allclose(b, a, rtol=2e-4, atol=2e-5)
        np.testing.assert_allclose(c, a, rtol=2e-4, atol=2e-5)


def test_products_are_joined(monkeypatch):
    joined = []
    results = joined_products.JoinedProducts.results

    def counted(self):
        joined.extend(len(factors) for factors in self._factors.values())
        return results(self)

    monkeypatch.setattr(joined_products.JoinedProducts, "results", counted)
    variable(runnel, *variables(runnel))
    assert joined == [STEPS]
    joined.clear()
    several_kinds(runnel, *variables(runnel))
    assert joined == [STEPS, STEPS]
    joined.clear()
    with runnel.GradientTape():
        variable(runnel, *variables(runnel))
    assert not joined, "a tape around hears of every product"

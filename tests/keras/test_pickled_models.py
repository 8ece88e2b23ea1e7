"""Models in pickles and copies: the same weights, optimizer and results, and nothing shared."""

import copy
import pickle

import numpy as np
import pytest

import runnel as tf

X = np.arange(12.0).reshape(4, 3).astype("float32")
Y = X.sum(1, keepdims=True)


def sequential():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(2, input_shape=(3,)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(1),
        ]
    )


def functional():
    inputs = tf.keras.Input([3])
    inner = tf.keras.layers.Dense(2, activation="relu")(inputs)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.sqrt(inner)), name="rooted")


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy, copy.copy])
@pytest.mark.parametrize("make", [sequential, functional])
def test_trained_models(make, copied):
    model = make()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, verbose=0)
    other = copied(model)
    assert type(other) is type(model) and other.name == model.name
    for a, b in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(model.optimizer.variables, other.optimizer.variables, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    before = model.evaluate(X, Y, verbose=0)
    np.testing.assert_allclose(other.evaluate(X, Y, verbose=0), before)
    other.fit(X, Y, verbose=0)
    np.testing.assert_allclose(model.evaluate(X, Y, verbose=0), before)


def test_models_that_are_not_built():
    model = by_pickle(tf.keras.Sequential([tf.keras.layers.Dense(2)]))
    assert model(X).shape == (4, 2)


class Shifted(tf.keras.layers.Layer):
    def call(self, inputs):
        return inputs + 1.0


def test_functions_and_layers_of_the_users():
    inner = tf.keras.Sequential([tf.keras.Input([3]), Shifted()])
    model = tf.keras.Sequential(
        [inner, tf.keras.layers.Lambda(lambda x: x * 2.0), tf.keras.layers.Dense(1)]
    )
    for copied in (by_pickle, copy.deepcopy):
        np.testing.assert_array_equal(copied(model)(X), model(X))

"""LinearModel and WideDeepModel: the ready-made models of tf_keras."""

import numpy as np
import pytest
from layer_check import plain, random_weights
from side_by_side import assert_alike, compare, tensorflow, tf_keras

import runnel

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
Y = X.sum(axis=1, keepdims=True) * 2


def inputs(tf, kind):
    one, two = tf.constant(X[:, :1]), tf.constant(X[:, 1:])
    return {"tensor": tf.constant(X), "list": [one, two], "dict": {"b": one, "a": two}}[kind]


@pytest.mark.parametrize("kind", ["tensor", "list", "dict"])
@pytest.mark.parametrize("kwargs", [{}, {"units": 2, "activation": "tanh"}, {"use_bias": False}])
def test_linear_model(kind, kwargs):
    def results(tf, keras):
        model = keras.experimental.LinearModel(name="line", kernel_regularizer="l2", **kwargs)
        data = inputs(tf, kind)
        first = model(data)
        model.set_weights(random_weights(model))
        weights = [(w.name, tuple(w.shape)) for w in model.weights]
        return first, model(data), sum(model.losses), weights, plain(model.get_config())

    compare(results, tolerance=1e-5)


def test_linear_model_learns():
    def course(tf, keras):
        model = keras.experimental.LinearModel()
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(X, Y, epochs=3, batch_size=4, shuffle=False, verbose=0)
        return [np.array(each) for each in history.history.values()]

    compare(course, tolerance=1e-5)


def wide_and_deep(keras):
    linear = keras.experimental.LinearModel(name="line")
    deep = keras.Sequential(
        [keras.layers.Dense(1, kernel_initializer="ones", name="top")], name="deep"
    )
    return keras.experimental.WideDeepModel(linear, deep, activation="softplus", name="both")


@pytest.mark.parametrize("optimizer", ["sgd", ["sgd", "adam"]])
@pytest.mark.parametrize("several", [False, True])
def test_wide_deep_model(optimizer, several):
    def course(tf, keras):
        model = wide_and_deep(keras)
        model.compile(optimizer, "mse", metrics=["mae"])
        data = [X, X * 2] if several else X
        history = model.fit(data, Y, epochs=3, batch_size=4, shuffle=False, verbose=0)
        found = [np.array(each) for each in history.history.values()]
        return found, model.predict(data, verbose=0), model.get_weights()

    compare(course, tolerance=1e-4)


def test_config_of_the_wide_deep_model():
    def config(tf, keras):
        model = wide_and_deep(keras)
        model(tf.constant(X))
        return plain(model.get_config())

    wanted, got = config(tensorflow, tf_keras), config(runnel, runnel.keras)
    assert list(got) == list(wanted)
    assert_alike(wanted["linear_model"]["config"], got["linear_model"]["config"])
    assert got["activation"] == wanted["activation"]
    again = runnel.keras.experimental.WideDeepModel.from_config(got)
    assert again(X).shape == (8, 1)


def test_older_names_of_schedules():
    schedules = runnel.keras.optimizers.schedules
    assert runnel.keras.experimental.CosineDecay is schedules.CosineDecay
    assert runnel.keras.experimental.CosineDecayRestarts is schedules.CosineDecayRestarts

"""Dropout and noise: the same numbers as the original for the same seeds."""

import numpy as np
import pytest
from layer_check import layer_check
from side_by_side import compare, compare_failure, tf_keras

import runnel

X = np.random.default_rng(0).normal(size=(4, 6)).astype("float32")
IMAGES = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype("float32")

CASES = [
    ("Dropout", {"rate": 0.5}, X),
    ("Dropout", {"rate": 0.3, "noise_shape": (None, 1)}, X),
    ("Dropout", {"rate": 0.3, "noise_shape": (4, 1)}, X),
    ("Dropout", {"rate": 0}, X),
    ("Dropout", {"rate": 0.4, "dtype": "float64"}, X),
    ("Dropout", {"rate": 0.4, "dtype": "float16"}, X),
    ("SpatialDropout1D", {"rate": 0.5}, IMAGES[0]),
    ("SpatialDropout2D", {"rate": 0.5}, IMAGES),
    ("SpatialDropout2D", {"rate": 0.5, "data_format": "channels_first"}, IMAGES),
    ("SpatialDropout3D", {"rate": 0.5}, IMAGES[None]),
    ("SpatialDropout3D", {"rate": 0.5, "data_format": "channels_first"}, IMAGES[None]),
    ("GaussianNoise", {"stddev": 0.5}, X),
    ("GaussianDropout", {"rate": 0.3}, X),
    ("GaussianDropout", {"rate": 0}, X),
    ("AlphaDropout", {"rate": 0.3}, X),
    ("AlphaDropout", {"rate": 0.3, "noise_shape": (4, 1)}, X),
    ("AlphaDropout", {"rate": 0}, X),
]


@pytest.mark.parametrize(("name", "kwargs", "array"), CASES)
def test_outside_of_training(name, kwargs, array):
    layer = layer_check(name, kwargs, array, training=(None, False))
    dtype = kwargs.get("dtype", "float32")
    np.testing.assert_array_equal(layer(array, training=False), array.astype(dtype))


@pytest.mark.parametrize(("name", "kwargs", "array"), CASES)
def test_in_training_with_a_seed(name, kwargs, array):
    given = {} if name.startswith("Spatial") else {"seed": 1}

    def results(tf, keras, x):
        tf.random.set_seed(5)
        layer = getattr(keras.layers, name)(**kwargs, **given)
        with tf.GradientTape() as tape:
            tape.watch(x)
            first = layer(x, training=True)
            total = tf.reduce_sum(first)
        return first, tape.gradient(total, x), layer(x, training=True)

    compare(results, array, tolerance=1e-3 if kwargs.get("dtype") == "float16" else 1e-5)


def test_without_a_seed():
    def results(tf, keras, x):
        tf.random.set_seed(7)
        layer = keras.layers.Dropout(0.5)
        return layer(x, training=True), layer(x, training=True)

    compare(results, X)


def test_training_as_a_tensor():
    def results(tf, keras, x):
        tf.random.set_seed(7)
        layer = keras.layers.Dropout(0.5, seed=3)
        return layer(x, training=tf.constant(True)), layer(x, training=tf.constant(False))

    compare(results, X)


FAILURES = [
    lambda L: L.Dropout(-1),
    lambda L: L.Dropout(1.5),
    lambda L: L.SpatialDropout2D(0.5, data_format="x"),
    lambda L: L.SpatialDropout1D(0.5, name="s")(np.zeros((2, 3), "float32")),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError) as caught:
            FAILURES[index](keras.layers)
        texts.append(str(caught.value))
    assert texts[1].startswith(texts[0])  # and maybe advice


def test_rate_of_one():
    compare_failure(lambda tf, keras, x: keras.layers.Dropout(1.0)(x, training=True), X)


def test_integers_cannot_be_dropped():
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError, match="floating point"):
            keras.layers.Dropout(0.5)(np.ones((2, 3), "int32"), training=True)

"""Models of what layers inside of other models give, as class activation maps take them."""

import numpy as np
import pytest
import tensorflow

import runnel

IMAGES = np.random.default_rng(0).normal(size=(2, 12, 10, 3)).astype("float32")


def stack(tf, known):
    layers = tf.keras.layers
    start = [tf.keras.Input(IMAGES.shape[1:])] if known else []
    first = layers.Conv2D(4, 3, activation="relu", name="inner", kernel_initializer="ones")
    model = tf.keras.Sequential([*start, first, layers.MaxPooling2D(), layers.Flatten()])
    model.add(layers.Dense(2, kernel_initializer="ones"))
    if not known:
        model(IMAGES)
    return model


@pytest.mark.parametrize("known", [True, False])
def test_gradients_by_what_a_layer_inside_gives(known):
    def maps(tf):
        model = stack(tf, known)
        both = tf.keras.Model(model.inputs, [model.get_layer("inner").output, model.output])
        with tf.GradientTape() as tape:
            inner, outputs = both(tf.constant(IMAGES))
            score = outputs[:, 0]
        return tape.gradient(score, inner).numpy()

    np.testing.assert_allclose(maps(runnel), maps(tensorflow), rtol=1e-5, atol=1e-5)


def test_layers_of_a_stack_are_called_once():
    model = stack(runnel, True)
    assert [len(layer.inbound_nodes) for layer in model.layers] == [1] * 4
    model.pop()
    assert model.output is model.layers[-1].output

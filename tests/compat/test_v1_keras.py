"""Keras models in graphs: called on placeholders, trained by TensorFlow 1's optimizers."""

import numpy as np
import pytest
from both_v1 import agree, run_both

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(16, 4).astype(np.float32)
Y = RANDOM.randint(0, 3, 16).astype(np.int32)
IMAGES = RANDOM.rand(8, 8, 8, 1).astype(np.float32)


def weights_of(shape):
    """The same weights for both."""
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) / 2).reshape(shape).astype(np.float32)


class Weights:
    """An initializer of weights that do not depend on any seed."""

    def __call__(self, shape, dtype=None, **kwargs):
        return weights_of([int(size) for size in shape])

    def get_config(self):
        return {}


def trained(v1, tf, model, inputs, batch, labels):
    x = v1.placeholder(tf.float32, [None, *inputs])
    y = v1.placeholder(tf.int32, [None])
    logits = model(x)
    loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = v1.train.AdamOptimizer(0.01).minimize(loss)
    losses = []
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(20):
            losses.append(session.run([train, loss], {x: batch, y: labels})[1])
        return [losses, session.run(model.trainable_weights), len(v1.trainable_variables())]


def test_sequential_model():
    def program(v1, tf):
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [
                layers.Dense(8, "relu", kernel_initializer=Weights()),
                layers.Dense(3, kernel_initializer=Weights()),
            ]
        )
        return trained(v1, tf, model, [4], X, Y)

    agree(program, rtol=1e-3, atol=1e-4)


def test_convolutional_model():
    def program(v1, tf):
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [
                layers.Conv2D(4, 3, activation="relu", kernel_initializer=Weights()),
                layers.MaxPooling2D(),
                layers.Flatten(),
                layers.Dense(3, kernel_initializer=Weights()),
            ]
        )
        return trained(v1, tf, model, [8, 8, 1], IMAGES, Y[:8])

    agree(program, rtol=1e-3, atol=1e-4)


def test_subclassed_model():
    def program(v1, tf):
        class Model(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.hidden = tf.keras.layers.Dense(5, "tanh", kernel_initializer=Weights())
                self.out = tf.keras.layers.Dense(3, kernel_initializer=Weights())

            def call(self, inputs):
                return self.out(self.hidden(inputs))

        return trained(v1, tf, Model(), [4], X, Y)

    agree(program, rtol=1e-3, atol=1e-4)


def test_functional_model_has_its_weights_in_the_graph():
    def program(v1, tf):
        layers = tf.keras.layers
        inputs = tf.keras.Input([4])
        hidden = layers.Dense(6, "relu", kernel_initializer=Weights(), name="hidden")(inputs)
        outputs = layers.Dense(3, kernel_initializer=Weights(), name="out")(hidden)
        model = tf.keras.Model(inputs, outputs)
        names = [v.name for v in v1.trainable_variables()]
        return [names, *trained(v1, tf, model, [4], X, Y)]

    agree(program, rtol=1e-3, atol=1e-4)


def test_recurrent_layer():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None, 5, 2])
        layer = tf.keras.layers.SimpleRNN(
            3, kernel_initializer=Weights(), recurrent_initializer=Weights()
        )
        y = layer(x)
        slopes = v1.gradients(tf.reduce_sum(y * y), layer.trainable_weights)
        batch = RANDOM.__class__(5).rand(2, 5, 2).astype(np.float32)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return session.run([y, slopes], {x: batch})

    agree(program, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_fitting_while_a_graph_is_built():
    def program(v1, tf):
        layers = tf.keras.layers
        model = tf.keras.Sequential(
            [
                layers.Dense(5, "tanh", kernel_initializer=Weights(), input_shape=(4,)),
                layers.Dense(3, "softmax", kernel_initializer=Weights()),
            ]
        )
        model.compile(
            tf.keras.optimizers.legacy.SGD(0.1), "sparse_categorical_crossentropy", ["accuracy"]
        )
        fitted = model.fit(X, Y, batch_size=4, epochs=3, verbose=0, shuffle=False)
        weights = model.get_weights()
        model.set_weights([each * 0.5 for each in weights])
        return [
            fitted.history["loss"], weights, model.predict(X[:2], verbose=0),
            model.evaluate(X, Y, verbose=0), model.get_weights(),
        ]  # fmt: skip

    theirs, ours = run_both(program)
    for their, our in zip(theirs, ours, strict=True):
        for expected, found in zip(their, our, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)

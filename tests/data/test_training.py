"""fit, evaluate, predict and adapt on datasets, as on TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
from pipelines import same

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(50, 4)).astype(np.float32)
Y = RANDOM.integers(0, 3, 50)
WEIGHTS = [RANDOM.normal(size=(4, 3)).astype(np.float32), np.zeros(3, np.float32)]


def model_of(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(4,))])
    model.set_weights(WEIGHTS)
    model.compile(
        tf.keras.optimizers.SGD(0.1),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def pairs(tf):
    return tf.data.Dataset.from_tensor_slices((X, Y))


def rounded(history):
    return {name: [round(float(v), 4) for v in values] for name, values in history.items()}


def test_fit_evaluate_and_predict():
    def program(tf):
        tf.random.set_seed(3)
        model = model_of(tf)
        train = pairs(tf).take(40).shuffle(20, seed=1).batch(8)
        held_out = pairs(tf).skip(40).batch(4)
        history = model.fit(train, epochs=3, validation_data=held_out, verbose=0)
        scores = [round(v, 4) for v in model.evaluate(held_out, verbose=0)]
        predicted = model.predict(pairs(tf).map(lambda x, y: x).batch(7), verbose=0)
        return rounded(history.history), scores, predicted

    same(program)


def test_steps_of_an_endless_dataset_and_class_weights():
    def program(tf):
        model = model_of(tf)
        history = model.fit(
            pairs(tf).batch(16).repeat(), epochs=2, steps_per_epoch=5, verbose=0,
            class_weight={0: 1.0, 1: 2.0, 2: 0.5}, validation_data=pairs(tf).batch(10),
            validation_steps=2,
        )  # fmt: skip
        return rounded(history.history)

    same(program)


def test_sample_weights_dicts_and_prefetch():
    def program(tf):
        a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((2,), name="b")
        layer = tf.keras.layers.Dense(1)
        model = tf.keras.Model([a, b], layer(tf.keras.layers.Concatenate()([a, b])))
        model.set_weights([WEIGHTS[0][:, :1], np.zeros(1, np.float32)])
        model.compile("sgd", "mse")
        dataset = (
            tf.data.Dataset.from_tensor_slices((X, Y.astype(np.float32)))
            .map(lambda x, y: ({"a": x[:2], "b": x[2:]}, y, y + 1.0), num_parallel_calls=2)
            .batch(16, drop_remainder=True)
            .prefetch(tf.data.AUTOTUNE)
        )
        return rounded(model.fit(dataset, epochs=2, verbose=0).history)

    same(program)


def test_y_beside_a_dataset_is_refused():
    def program(tf):
        model_of(tf).fit(pairs(tf).batch(4), Y, verbose=0)

    assert same(program).startswith("raised")


@pytest.mark.parametrize("kind", ["normalization", "vocabulary", "text"])
def test_adapt(kind):
    def program(tf):
        if kind == "normalization":
            layer = tf.keras.layers.Normalization()
            layer.adapt(tf.data.Dataset.from_tensor_slices(X).batch(8))
            return layer(X[:3])
        words = tf.data.Dataset.from_tensor_slices(["a b a", "c a", "b d"])
        if kind == "vocabulary":
            layer = tf.keras.layers.StringLookup()
            layer.adapt(words.map(lambda s: tf.strings.split([s]).values))
        else:
            layer = tf.keras.layers.TextVectorization()
            layer.adapt(words.batch(2))
        return [str(word) for word in layer.get_vocabulary()]

    same(program)

"""Keras models that are saved by one library and loaded by the other: the same code for both."""

from __future__ import annotations

import numpy as np

FEATURES = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
INPUTS = {
    "sequential": FEATURES,
    "functional": {"a": FEATURES, "b": FEATURES[:, :2]},
    "subclassed": np.linspace(0, 1, 30, dtype=np.float32).reshape(2, 3, 5),
    "text": np.array([["a b"], ["c zebra"]]),
    "image": np.linspace(0, 1, 128, dtype=np.float32).reshape(2, 8, 8, 1),
    "recurrent": np.array([[1, 2, 3, 4, 5], [4, 5, 6, 6, 1]], np.int32),
}


def models(tf):
    """The models by name; the first is compiled and trained a little."""
    keras = tf.keras
    layers = keras.layers
    tf.random.set_seed(3)
    sequential = keras.Sequential(
        [
            layers.Dense(3, activation="relu", input_shape=(4,)),
            layers.Dropout(0.5),
            layers.BatchNormalization(),
            layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l2"),
        ]
    )
    sequential.compile("adam", "mse", metrics=["mae"])
    sequential.fit(np.ones((8, 4), "f"), np.ones((8, 2), "f"), verbose=0)
    a, b = keras.Input((4,), name="a"), keras.Input((2,), name="b")
    joined = layers.Dense(2, name="dense_out")(layers.concatenate([a, b]))
    functional = keras.Model({"a": a, "b": b}, {"out": joined, "sum": layers.add([joined, b])})
    subclassed = subclass(tf)()
    subclassed(tf.constant(INPUTS["subclassed"]))
    words = layers.TextVectorization(max_tokens=10)
    words.adapt(["a b c", "b c"])
    text = keras.Sequential(
        [
            keras.Input((1,), dtype=tf.string),
            words,
            layers.Embedding(10, 3),
            layers.GlobalAveragePooling1D(),
            layers.Dense(1),
        ]
    )
    image = keras.Sequential(
        [
            layers.Conv2D(4, 3, padding="same", activation="swish", input_shape=(8, 8, 1)),
            layers.MaxPooling2D(),
            layers.DepthwiseConv2D(3),
            layers.LayerNormalization(),
            layers.Flatten(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    numbers = keras.Input((5,), dtype="int32")
    embedded = layers.Embedding(7, 4)(numbers)
    states = layers.Bidirectional(layers.SimpleRNN(3, return_sequences=True))(embedded)
    attended = layers.MultiHeadAttention(2, 2)(states, states)
    pooled = layers.GlobalMaxPooling1D()(attended)
    recurrent = keras.Model(numbers, [pooled, layers.Dense(1)(pooled)])
    return {
        "sequential": sequential,
        "functional": functional,
        "subclassed": subclassed,
        "text": text,
        "image": image,
        "recurrent": recurrent,
    }


def subclass(tf):
    """A class of models that neither library knows by itself."""
    layers = tf.keras.layers

    class Summary(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.project = layers.Dense(3)
            self.summarize = layers.GlobalAveragePooling1D()
            self.noise = layers.Dropout(0.5)

        def call(self, x, training=False):
            return self.summarize(self.noise(self.project(x), training=training))

        def get_config(self):
            return {}

    return Summary


def outputs(tf, model, name, **kwargs):
    """What a model makes of its inputs, as a flat list of arrays."""
    inputs = tf.nest.map_structure(tf.constant, INPUTS[name])
    return [each.numpy() for each in tf.nest.flatten(model(inputs, **kwargs))]


def gradients(tf, model, name):
    """The gradients of a number made of all outputs, one for each trainable variable."""
    inputs = tf.nest.map_structure(tf.constant, INPUTS[name])
    with tf.GradientTape() as tape:
        loss = tf.add_n([tf.reduce_sum(each**2) for each in tf.nest.flatten(model(inputs))])
    found = tape.gradient(loss, list(model.trainable_variables))
    return [np.array(tf.convert_to_tensor(each)) for each in found]

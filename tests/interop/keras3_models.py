"""Models for Keras 3 and for Runnel, which between them have most layers and optimizers."""

import os

import numpy as np


def numbers(*shape):
    return np.random.default_rng(0).random((6, *shape)).astype(np.float32)


def dense(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((4,)),
            layers.Dense(3, activation="relu", kernel_regularizer="l2"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.Dense(2, activation="softmax"),
        ]
    )


def shared(tf):
    """Layers that are called several times, and several inputs."""
    layers = tf.keras.layers
    first, second = (tf.keras.Input((4,), name=name) for name in "ab")
    hidden = layers.Dense(3, activation="relu")
    x = layers.Concatenate()([hidden(first), hidden(second)])
    y = layers.LayerNormalization()(layers.Add()([hidden(second), hidden(first)]))
    return tf.keras.Model([first, second], layers.Dense(2)(layers.Concatenate()([x, y])))


def convolution(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((8, 8, 3))
    x = layers.Rescaling(0.5)(inputs)
    x = layers.Conv2D(4, 3, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.MaxPooling2D()(layers.ReLU()(x))
    x = layers.SeparableConv2D(5, 3)(x)
    x = layers.LeakyReLU()(layers.DepthwiseConv2D(2)(x))
    x = layers.PReLU()(layers.Conv2DTranspose(3, 2)(x))
    x = layers.SpatialDropout2D(0.2)(layers.GroupNormalization(3)(x))
    x = layers.GlobalAveragePooling2D()(layers.UpSampling2D()(layers.ZeroPadding2D()(x)))
    return tf.keras.Model(inputs, layers.Dense(2)(x))


def recurrent(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((5,), dtype="int32")
    x = layers.Embedding(10, 4, mask_zero=True)(inputs)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.GRU(3, return_sequences=True)(x)
    x = layers.TimeDistributed(layers.Dense(2))(layers.SimpleRNN(3, return_sequences=True)(x))
    x = layers.RNN([layers.LSTMCell(2), layers.GRUCell(2)])(x)
    return tf.keras.Model(inputs, layers.Dense(2)(x))


def attention(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((5, 4))
    x = layers.MultiHeadAttention(2, 3)(inputs, inputs)
    x = layers.LayerNormalization()(layers.Add()([x, inputs]))
    x = layers.EinsumDense("abc,cd->abd", output_shape=(None, 6), bias_axes="d")(x)
    x = layers.Reshape((5, 6))(layers.Flatten()(layers.Attention()([x, x])))
    x = layers.GlobalMaxPooling1D()(layers.Permute((2, 1))(x))
    return tf.keras.Model(inputs, layers.Dense(2)(x))


def nested(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3), layers.Dense(3)])
    inputs = tf.keras.Input((4,))
    middle = tf.keras.Model(inputs, layers.Dense(4)(inner(inputs)))
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, layers.Dense(2)(middle(middle(inputs))))


def normalized(tf):
    layers = tf.keras.layers
    normalization = layers.Normalization(axis=-1)
    normalization.adapt(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    inputs = tf.keras.Input((4,))
    return tf.keras.Model(inputs, layers.Dense(2)(normalization(inputs)))


def operators(tf):
    """Operators on symbolic tensors are operations of Keras 3 in its files."""
    inputs = tf.keras.Input((5, 4))
    x = abs(-(((2 * (inputs + 1.0) - inputs) / 3.0) ** 2))
    y = x[:, 1:3, 0] * x[:, 0, :2]
    return tf.keras.Model(inputs, tf.keras.layers.Dense(2)(y - x[..., -1][:, 2:4]))


def text(tf):
    layers = tf.keras.layers
    vectorization = layers.TextVectorization(max_tokens=20, output_sequence_length=4)
    vectorization.adapt(["a b c", "b c d d"])
    inputs = tf.keras.Input((), dtype="string")
    x = layers.Embedding(20, 3)(vectorization(inputs))
    return tf.keras.Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling1D()(x)))


WORDS = np.arange(30, dtype=np.int32).reshape(6, 5) % 10
# The model, what it is called on, its optimizer, and the endings of its files.
ALL = (".keras", ".h5", ".weights.h5")
MODELS = {
    "dense": (dense, numbers(4), ("Adam", {"amsgrad": True}), ALL),
    "shared": (shared, [numbers(4), numbers(4) + 1], ("SGD", {"momentum": 0.9}), ALL),
    "convolution": (convolution, numbers(8, 8, 3), ("RMSprop", {"centered": True}), ALL),
    "recurrent": (recurrent, WORDS, ("Adagrad", {}), ALL),
    "attention": (attention, numbers(5, 4), ("AdamW", {}), ALL),
    "nested": (nested, numbers(4), ("SGD", {}), ALL),
    "normalized": (normalized, numbers(4), ("Nadam", {}), ALL),
    "operators": (operators, numbers(5, 4), ("Lion", {}), ALL),
    # HDF5 files have no place for a vocabulary.
    "text": (text, ["a b", "c", "d a a", "x", "b", "c c"], ("Ftrl", {}), (".keras",)),
}  # fmt: skip


def inputs_of(tf, name):
    given = MODELS[name][1]
    return tf.constant(given) if isinstance(given[0], str) else given


def compiled(tf, name):
    make, _, (optimizer, options), _ = MODELS[name]
    model = make(tf)
    model.compile(
        optimizer=getattr(tf.keras.optimizers, optimizer)(0.01, **options),
        loss="mse",
        metrics=["mae"],
    )
    return model


def train(tf, model, name):
    target = np.random.default_rng(1).random((6, 2)).astype(np.float32)
    model.train_on_batch(inputs_of(tf, name), target)


def write(tf, folder):
    """Train and save all models; beside each, its predictions."""
    tf.keras.utils.set_random_seed(3)
    for name, (_, _, _, endings) in MODELS.items():
        model = compiled(tf, name)
        train(tf, model, name)
        train(tf, model, name)
        path = os.path.join(folder, name)
        np.save(f"{path}.npy", model.predict(inputs_of(tf, name), verbose=0))
        for ending in endings:
            (model.save_weights if "weights" in ending else model.save)(f"{path}{ending}")

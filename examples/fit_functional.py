"""A model of the Functional API trained with fit: two digits in, their sum and order out.

A plain TensorFlow 2 program: one network reads both images, so its layers are shared; the model
has two inputs, two outputs, and a loss for each.
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf


def load_pairs(part, count):
    """Pairs of digits, with their sums and whether the first is the larger."""
    path = pathlib.Path(__file__).parent / "data" / "mnist10k.npz"
    with np.load(path) as data:
        images = np.expand_dims(data[f"x_{part}"].astype(np.float32) / 255.0, -1)
        digits = data[f"y_{part}"].astype(np.int32)
    first, second = np.random.default_rng(1).integers(0, len(images), size=(2, count))
    inputs = {"left": images[first], "right": images[second]}
    targets = {
        "sum": digits[first] + digits[second],
        "larger": (digits[first] > digits[second]).astype(np.float32),
    }
    return inputs, targets


def make_reader():
    """The part that both images go through."""
    image = tf.keras.Input(shape=(28, 28, 1))
    x = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(image)
    x = tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu")(x)
    x = tf.keras.layers.Flatten()(x)
    return tf.keras.Model(image, tf.keras.layers.Dense(64, activation="relu")(x), name="reader")


def make_model():
    """Two images to the number of their sum, from 0 to 18, and a probability."""
    left = tf.keras.Input(shape=(28, 28, 1), name="left")
    right = tf.keras.Input(shape=(28, 28, 1), name="right")
    reader = make_reader()
    both = tf.keras.layers.Concatenate()([reader(left), reader(right)])
    x = tf.keras.layers.Dense(128, activation="relu")(both)
    total = tf.keras.layers.Dense(19, activation="softmax", name="sum")(x)
    larger = tf.keras.layers.Dense(1, activation="sigmoid", name="larger")(x)
    return tf.keras.Model(inputs=[left, right], outputs=[total, larger])


def main():
    parser = argparse.ArgumentParser(description="Train a Functional model with fit.")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=20000, help="pairs to train with")
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    model = make_model()
    model.summary()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(learning_rate=2e-3),
        loss={"sum": "sparse_categorical_crossentropy", "larger": "binary_crossentropy"},
        loss_weights={"sum": 1.0, "larger": 0.5},
        metrics={"sum": ["accuracy"], "larger": ["accuracy"]},
    )
    inputs, targets = load_pairs("train", options.pairs)
    model.fit(inputs, targets, epochs=options.epochs, batch_size=100, verbose=2)
    inputs, targets = load_pairs("test", 2000)
    logs = model.evaluate(inputs, targets, verbose=0, return_dict=True)
    print(f"right sums: {logs['sum_accuracy']:.1%}, right order: {logs['larger_accuracy']:.1%}")


if __name__ == "__main__":
    main()

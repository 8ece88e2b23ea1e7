"""Handwritten digits with a small network and a training loop written by hand.

A plain TensorFlow 2 program: a subclassed model, tf.GradientTape and an optimizer.
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf


class MLP(tf.keras.Model):
    """784 pixels, 100 hidden units, 10 digits."""

    def __init__(self):
        super().__init__()
        self.flatten = tf.keras.layers.Flatten()
        self.dense1 = tf.keras.layers.Dense(units=100, activation=tf.nn.relu)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, inputs):
        x = self.flatten(inputs)
        x = self.dense1(x)
        x = self.dense2(x)
        return tf.nn.softmax(x)


class Digits:
    """Images from 0 to 1 and labels, in random batches."""

    def __init__(self):
        path = pathlib.Path(__file__).parent / "data" / "mnist10k.npz"
        with np.load(path) as data:
            self.train_x = np.expand_dims(data["x_train"].astype(np.float32) / 255.0, -1)
            self.test_x = np.expand_dims(data["x_test"].astype(np.float32) / 255.0, -1)
            self.train_y = data["y_train"].astype(np.int32)
            self.test_y = data["y_test"].astype(np.int32)

    def batch(self, size):
        """A random batch for training."""
        index = np.random.randint(0, len(self.train_x), size)
        return self.train_x[index], self.train_y[index]


def main():
    parser = argparse.ArgumentParser(description="Train an MLP with a hand-written loop.")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=50)
    options = parser.parse_args()
    np.random.seed(1)
    tf.random.set_seed(1)
    digits, model = Digits(), MLP()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
    batches = len(digits.train_x) // options.batch_size * options.epochs
    for index in range(batches):
        x, y = digits.batch(options.batch_size)
        with tf.GradientTape() as tape:
            y_pred = model(x)
            loss = tf.keras.losses.sparse_categorical_crossentropy(y_true=y, y_pred=y_pred)
            loss = tf.reduce_mean(loss)
        gradients = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(grads_and_vars=zip(gradients, model.variables, strict=True))
        if index % 100 == 0:
            print(f"batch {index}: loss {loss.numpy():.4f}")
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    for start in range(0, len(digits.test_x), options.batch_size):
        rows = slice(start, start + options.batch_size)
        accuracy.update_state(y_true=digits.test_y[rows], y_pred=model.predict(
            digits.test_x[rows], verbose=0))  # fmt: skip
    print(f"test accuracy: {accuracy.result().numpy():.4f}")


if __name__ == "__main__":
    main()

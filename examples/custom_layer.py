"""A layer, a loss and a metric of one's own, trained with fit.

A plain TensorFlow 2 program: the points of two spirals are told apart.
"""

import argparse

import numpy as np
import tensorflow as tf


class LinearLayer(tf.keras.layers.Layer):
    """y = x w + b, with the weights made when the size of the inputs is known."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            name="w", shape=[input_shape[-1], self.units], initializer="glorot_uniform"
        )
        self.b = self.add_weight(name="b", shape=[self.units], initializer="zeros")

    def call(self, inputs):
        return inputs @ self.w + self.b


class LogisticLoss(tf.keras.losses.Loss):
    """log(1 + exp(-s z)) for the score z of a point that belongs to the side s = -1 or 1."""

    def call(self, y_true, y_pred):
        side = 2.0 * tf.cast(y_true, y_pred.dtype) - 1.0
        return tf.reduce_mean(tf.math.softplus(-side * y_pred), axis=-1)


class ShareOfRightSides(tf.keras.metrics.Metric):
    """How many of the scores lie on the right side of zero."""

    def __init__(self):
        super().__init__(name="right")
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        hits = tf.cast(tf.equal(tf.cast(y_true, tf.bool), y_pred > 0.0), tf.float32)
        self.total.assign_add(tf.reduce_sum(hits))
        self.count.assign_add(tf.cast(tf.size(hits), tf.float32))

    def result(self):
        return self.total / self.count


def spirals(count):
    """Points on two spirals, and the number of the spiral of each."""
    random = np.random.default_rng(1)
    angle = np.sqrt(random.uniform(size=(count, 1))) * 2.5 * np.pi
    side = random.integers(0, 2, size=(count, 1))
    turned = angle + np.pi * side
    points = np.hstack([np.cos(turned), np.sin(turned)]) * angle / 8.0
    return (points + random.normal(scale=0.02, size=(count, 2))).astype(np.float32), side


def main():
    parser = argparse.ArgumentParser(description="Train a layer, a loss and a metric of one's own.")
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    points, sides = spirals(2000)
    model = tf.keras.Sequential(
        [
            LinearLayer(64),
            tf.keras.layers.ReLU(),
            LinearLayer(64),
            tf.keras.layers.ReLU(),
            LinearLayer(1),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(learning_rate=0.01),
        loss=LogisticLoss(),
        metrics=[ShareOfRightSides()],
    )
    model.fit(points[:1500], sides[:1500], epochs=options.epochs, batch_size=50, verbose=2)
    loss, right = model.evaluate(points[1500:], sides[1500:], verbose=0)
    print(f"test loss {loss:.4f}, {right:.1%} of the test points on the right side")


if __name__ == "__main__":
    main()

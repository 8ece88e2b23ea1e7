"""Linear regression: how the price of something rises over the years.

A plain TensorFlow 2 program: the gradients come from tf.GradientTape, the update is written out.
"""

import argparse

import numpy as np
import tensorflow as tf

DATA = {
    "five years": {
        "years": [2013, 2014, 2015, 2016, 2017],
        "prices": [12000, 14000, 15000, 16500, 17500],
        "learning_rate": 5e-4,
    },
    "six years": {
        "years": [2015, 2016, 2017, 2018, 2019, 2020],
        "prices": [12000, 14000, 15000, 16500, 17500, 19000],
        "learning_rate": 1e-3,
    },
}


def scale(values):
    """Bring values to the range from 0 to 1."""
    values = np.array(values, dtype=np.float32)
    return (values - values.min()) / (values.max() - values.min())


def fit(years, prices, learning_rate, epochs):
    """Find a and b of y = a x + b by gradient descent on the sum of squared errors."""
    x = tf.constant(scale(years))
    y = tf.constant(scale(prices))
    a = tf.Variable(initial_value=0.0)
    b = tf.Variable(initial_value=0.0)
    loss = tf.constant(0.0)
    for _ in range(epochs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * x + b - y))
        a_gradient, b_gradient = tape.gradient(loss, (a, b))
        a.assign_sub(learning_rate * a_gradient)
        b.assign_sub(learning_rate * b_gradient)
    return a, b, loss


def main():
    parser = argparse.ArgumentParser(description="Fit a line to prices by gradient descent.")
    parser.add_argument("--epochs", type=int, default=10000, help="steps of gradient descent")
    options = parser.parse_args()
    for name, data in DATA.items():
        a, b, loss = fit(**data, epochs=options.epochs)
        print(f"{name}: a = {a.numpy():.6f}, b = {b.numpy():.6f}, loss = {loss.numpy():.6f}")


if __name__ == "__main__":
    main()

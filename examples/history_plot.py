"""The curves of a training, plotted: with matplotlib where it is installed, else as text.

A plain TensorFlow 2 program: `fit` returns a History with the losses and metrics of each epoch.
"""

import argparse

import numpy as np
import tensorflow as tf


def plotted(values, width=60, height=8):
    """A curve as lines of text, the first epoch on the left."""
    values = np.asarray(values, np.float64)
    columns = np.interp(np.linspace(0, len(values) - 1, width), np.arange(len(values)), values)
    low, high = values.min(), values.max()
    rows = np.round((columns - low) / ((high - low) or 1.0) * (height - 1)).astype(int)
    lines = []
    for row in range(height - 1, -1, -1):
        label = f"{low + (high - low) * row / (height - 1):8.3f}"
        lines.append(f"{label} |" + "".join("*" if each == row else " " for each in rows).rstrip())
    return "\n".join([*lines, " " * 9 + "+" + "-" * width])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--file", help="draw to this file with matplotlib")
    options = parser.parse_args()

    tf.keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(400, 1)).astype(np.float32)
    y = np.sin(3 * x)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    history = model.fit(
        x, y, epochs=options.epochs, batch_size=50, validation_split=0.2, verbose=0
    ).history
    if options.file:
        import matplotlib.pyplot as plt

        for name, values in history.items():
            plt.plot(values, label=name)
        plt.legend()
        plt.savefig(options.file)
    for name, values in history.items():
        print(f"{name}, {len(values)} epochs, from {values[0]:.3f} to {values[-1]:.3f}")
        print(plotted(values))


if __name__ == "__main__":
    main()

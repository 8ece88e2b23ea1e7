"""A training loop that writes its loss at each batch, and a trace of the program at the end.

A plain TensorFlow 2 program, which names the folder of the profile at the end, as was usual before
TensorFlow 2.16. Look at it, while it runs, with `tensorboard --logdir tensorboard`.
"""

import argparse

import numpy as np
import tensorflow as tf


class MLP(tf.keras.Model):
    """Two layers that tell in which of four squares a point lies."""

    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(units=32, activation=tf.nn.relu)
        self.scores = tf.keras.layers.Dense(units=4)

    def call(self, inputs):
        return tf.nn.softmax(self.scores(self.hidden(inputs)))


class Points:
    """Points of the plane, and the number of the quadrant of each."""

    def __init__(self):
        self.random = np.random.default_rng(7)

    def batch(self, size):
        points = self.random.uniform(-1.0, 1.0, size=(size, 2)).astype(np.float32)
        return points, (points[:, 0] > 0) + 2 * (points[:, 1] > 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batches", type=int, default=500)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--log-dir", default="tensorboard")
    options = parser.parse_args()

    model = MLP()
    data = Points()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
    summary_writer = tf.summary.create_file_writer(options.log_dir)
    tf.summary.trace_on(graph=True, profiler=True)
    for batch in range(options.batches):
        points, quadrants = data.batch(options.batch_size)
        with tf.GradientTape() as tape:
            predicted = model(points)
            loss = tf.keras.losses.sparse_categorical_crossentropy(
                y_true=quadrants, y_pred=predicted
            )
            loss = tf.reduce_mean(loss)
            with summary_writer.as_default():
                tf.summary.scalar("loss", loss, step=batch)
        gradients = tape.gradient(loss, model.variables)
        optimizer.apply_gradients(grads_and_vars=zip(gradients, model.variables, strict=True))
        if batch % 100 == 99 or batch == options.batches - 1:
            print(f"batch {batch + 1}: loss {loss.numpy():.4f}")
    with summary_writer.as_default():
        tf.summary.trace_export(name="model_trace", step=0, profiler_outdir=options.log_dir)
    print(f"written to {options.log_dir}")


if __name__ == "__main__":
    main()

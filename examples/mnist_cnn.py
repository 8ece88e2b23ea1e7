"""Handwritten digits: a convolutional network trained on real images, without a network.

A plain TensorFlow 2 program. It takes the full MNIST from Keras's cache if it is there, and
otherwise the 10,000 digits in examples/data.
"""

import argparse
import pathlib
import time

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent


def load_digits():
    """Images from 0 to 1 and labels, for training and for testing."""
    cached = pathlib.Path.home() / ".keras" / "datasets" / "mnist.npz"
    if cached.exists():
        (train_x, train_y), (test_x, test_y) = tf.keras.datasets.mnist.load_data()
    else:
        with np.load(HERE / "data" / "mnist10k.npz") as data:
            train_x, train_y = data["x_train"], data["y_train"]
            test_x, test_y = data["x_test"], data["y_test"]
    train = prepared(train_x), train_y.astype(np.int32)
    return train, (prepared(test_x), test_y.astype(np.int32))


def prepared(images):
    """Images as the network takes them: numbers from 0 to 1, with an axis for the channel."""
    return np.expand_dims(images.astype(np.float32) / 255.0, axis=-1)


def make_model():
    """Two convolutions with pooling, and two dense layers."""
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 5, padding="same", activation="relu"),
            tf.keras.layers.MaxPool2D(2),
            tf.keras.layers.Conv2D(64, 5, padding="same", activation="relu"),
            tf.keras.layers.MaxPool2D(2),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(1024, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description="Train a CNN on handwritten digits.")
    parser.add_argument("--epochs", type=int, help="by default as many as make 35,000 images")
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--limit", type=int, help="use only so many training images")
    options = parser.parse_args()
    (train_x, train_y), (test_x, test_y) = load_digits()
    train_x, train_y = train_x[: options.limit], train_y[: options.limit]
    print(f"{len(train_x)} digits to train with, {len(test_x)} to test with")
    epochs = options.epochs or max(1, round(35000 / len(train_x)))
    tf.keras.utils.set_random_seed(1)
    model = make_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(learning_rate=1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    start = time.time()
    model.fit(train_x, train_y, epochs=epochs, batch_size=options.batch_size)
    loss, accuracy = model.evaluate(test_x, test_y, verbose=0)
    print(f"test loss {loss:.4f}, test accuracy {accuracy:.4f}, {time.time() - start:.0f} s")


if __name__ == "__main__":
    main()

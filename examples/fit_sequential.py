"""A Sequential model trained with fit: the digits, with validation and early stopping.

A plain TensorFlow 2 program.
"""

import argparse
import pathlib

import numpy as np
import tensorflow as tf


def load_digits():
    """Images from 0 to 1 and labels, for training and for testing."""
    path = pathlib.Path(__file__).parent / "data" / "mnist10k.npz"
    with np.load(path) as data:
        return (
            (data["x_train"].astype(np.float32) / 255.0, data["y_train"]),
            (data["x_test"].astype(np.float32) / 255.0, data["y_test"]),
        )


def main():
    parser = argparse.ArgumentParser(description="Train a Sequential model with fit.")
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    (train_x, train_y), (test_x, test_y) = load_digits()
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(28, 28)),
            tf.keras.layers.Dense(100, activation="relu"),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.summary()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        train_x,
        train_y,
        epochs=options.epochs,
        batch_size=50,
        validation_split=0.1,
        callbacks=[tf.keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)],
        verbose=2,
    )
    loss, accuracy = model.evaluate(test_x, test_y, verbose=0)
    print(f"test loss {loss:.4f}, test accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()

"""MobileNetV2 trained for a few steps on small images made by the program itself.

A plain TensorFlow 2 program: the network of tf.keras.applications, with random weights, learns to
tell discs, squares and stripes apart, in a training loop written by hand.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

SIZE = 32
KINDS = ["disc", "square", "stripes"]


def make_images(random, count):
    """Coloured shapes on noise, from -1 to 1, and the number of the kind of each."""
    kinds = random.integers(0, len(KINDS), size=count)
    images = random.normal(scale=0.2, size=(count, SIZE, SIZE, 3))
    rows, columns = np.mgrid[:SIZE, :SIZE]
    for image, kind in zip(images, kinds, strict=True):
        y, x = random.uniform(10, SIZE - 10, size=2)
        radius = random.uniform(6, 10)
        if kind == 0:
            shape = (rows - y) ** 2 + (columns - x) ** 2 < radius**2
        elif kind == 1:
            shape = np.maximum(abs(rows - y), abs(columns - x)) < radius * 0.8
        else:
            shape = (rows + int(y)) % 8 < 4
        image[shape] += random.uniform(-1, 1, size=3)
    return np.clip(images, -1, 1).astype(np.float32), kinds.astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description="Train MobileNetV2 for a few steps.")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()
    tf.keras.utils.set_random_seed(1)
    random = np.random.default_rng(1)
    model = tf.keras.applications.MobileNetV2(
        input_shape=(SIZE, SIZE, 3), alpha=0.35, weights=None, classes=len(KINDS)
    )
    print(f"{len(model.layers)} layers, {model.count_params()} parameters")
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy()
    optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    start = time.time()
    for step in range(1, options.steps + 1):
        images, kinds = make_images(random, options.batch_size)
        with tf.GradientTape() as tape:
            guesses = model(images, training=True)
            loss = loss_of(kinds, guesses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(kinds, guesses)
        if step % 10 == 0 or step == options.steps:
            print(f"step {step}: loss {loss.numpy():.4f}, accuracy {accuracy.result().numpy():.3f}")
            accuracy.reset_state()
    print(f"{(time.time() - start) / options.steps:.2f} s a step")


if __name__ == "__main__":
    main()

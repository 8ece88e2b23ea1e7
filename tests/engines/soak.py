"""A training loop that goes on and on, with batches of changing sizes.

python -m tests.engines.soak --seconds 180
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from typing import NamedTuple

import numpy as np

import runnel as tf
from runnel.engines import in_use

MEGABYTE = 2**20


class Outcome(NamedTuple):
    """What a loop did, and what it left behind."""

    steps: int
    # Resident memory in megabytes, at the end of each of its parts.
    resident: list[float]
    # The most primitives that the thread had.
    primitives: int
    losses: list[float]


def resident() -> float:
    """The process's resident memory in megabytes."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def primitives() -> int:
    """How many primitives the calling thread has."""
    if in_use() != "onednn":
        return 0
    from runnel.engines.onednn import primitive

    return len(primitive._thread.primitives)


def network() -> tf.keras.Model:
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [
            layers.Conv2D(8, 3, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPool2D(2),
            layers.DepthwiseConv2D(3, padding="same", activation="relu"),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dense(10),
        ]
    )


def soak(seconds: float, parts: int = 10, largest: int = 96, fewest: int = 0) -> Outcome:
    """Train for so long, and so many steps at the least.

    Eager and traced steps take turns, each batch has a size of its own.
    """
    generator = np.random.default_rng(0)
    model, optimizer = network(), tf.keras.optimizers.Adam()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def train(images, labels):
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    traced = tf.function(train, reduce_retracing=True)
    sizes, losses, most, steps = [], [], 0, 0
    begin = time.monotonic()
    for part in range(1, parts + 1):
        share = part / parts
        while time.monotonic() < begin + seconds * share or steps < fewest * share:
            batch = int(generator.integers(1, largest + 1))
            images = tf.constant(generator.normal(size=(batch, 16, 16, 3)).astype(np.float32))
            labels = tf.constant(generator.integers(0, 10, batch).astype(np.int32))
            step = train if steps % 2 else traced
            losses.append(float(step(images, labels)))
            most = max(most, primitives())
            steps += 1
        gc.collect()
        sizes.append(resident())
    return Outcome(steps, sizes, most, losses)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train for a long time and watch the memory.")
    parser.add_argument("--seconds", type=float, default=180.0)
    options = parser.parse_args()
    outcome = soak(options.seconds)
    print(f"{outcome.steps} steps, at most {outcome.primitives} primitives")
    print("resident memory in MB:", *(f"{each:.1f}" for each in outcome.resident))
    finite = bool(np.isfinite(outcome.losses).all())
    print("losses finite:", finite, f"first {outcome.losses[0]:.4f}, last {outcome.losses[-1]:.4f}")
    sys.exit(0 if finite else 1)


if __name__ == "__main__":
    main()

"""Convolutions and pooling of random geometries against the original, with and without oneDNN.

Kernels of height 1, explicit padding on every side and kernels larger than the input have short
paths of their own, which sizes drawn one by one do not meet.
"""

import random

import numpy as np
import pytest
import tensorflow

import runnel
from runnel import engines

TOLERANCE = {"rtol": 1e-3, "atol": 1e-3}


def geometry(rng):
    """Sizes, kernel, padding, strides and dilations; None where the original lacks a kernel."""
    height, width = rng.choice([1, 1, 2, 5, 9]), rng.choice([1, 3, 8, 40])
    kernel = [rng.choice([1, 1, 2, 3, 5, 9]) for _ in range(2)]
    sides = [[rng.randint(0, 3), rng.randint(0, 3)] for _ in range(2)]
    padding = rng.choice(["SAME", "VALID", [[0, 0], *sides, [0, 0]]])
    channels, features = rng.choice([1, 3, 16, 32]), rng.choice([1, 4, 17, 32])
    strides = [rng.choice([1, 1, 2, 3]) for _ in range(2)]
    return rng.choice([1, 2, 4]), height, width, channels, features, kernel, padding, strides


def program(kind, seed):
    batch, height, width, channels, features, kernel, padding, strides = geometry(
        random.Random(seed)
    )
    numbers = np.random.default_rng(seed)
    images = numbers.uniform(-1, 1, (batch, height, width, channels)).astype(np.float32)
    count = features if kind == "conv2d" else 2
    filters = numbers.uniform(-1, 1, (*kernel, channels, count)).astype(np.float32)

    def run(tf):
        x, w = tf.constant(images), tf.constant(filters)
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            if kind == "conv2d":
                y = tf.nn.conv2d(x, w, strides, padding)
            elif kind == "depthwise":
                y = tf.nn.depthwise_conv2d(x, w, [1, strides[0], strides[0], 1], padding)
            elif kind == "max":
                y = tf.nn.max_pool2d(x, kernel, strides, padding)
            else:
                # The original without oneDNN has wrong gradients where a window exceeds the input.
                fitting = [min(kernel[0], height), min(kernel[1], width)]
                y = tf.nn.avg_pool2d(x, fitting, strides, "SAME")
            if 0 in y.shape:
                return [y]
            weights = np.random.default_rng(1).uniform(-1, 1, y.shape).astype(np.float32)
            total = tf.reduce_sum(y * weights)
        return [y, *[g for g in tape.gradient(total, [x, w]) if g is not None]]

    return run


def outcome(tf, run):
    try:
        return [each.numpy() for each in run(tf)]
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("engine", ["numpy", "onednn"])
@pytest.mark.parametrize("kind", ["conv2d", "depthwise", "max", "avg"])
def test_windows_as_in_the_original(kind, engine):
    before = engines.in_use()
    engines.use(engine)
    try:
        for seed in range(40):
            run = program(kind, seed)
            wanted, got = outcome(tensorflow, run), outcome(runnel, run)
            if isinstance(wanted, str):
                assert got == wanted, seed
                continue
            assert [each.shape for each in got] == [each.shape for each in wanted], seed
            for a, b in zip(got, wanted, strict=True):
                np.testing.assert_allclose(a, b, **TOLERANCE, err_msg=f"seed {seed}")
    finally:
        engines.use(before)


def test_filters_of_height_one_move_over_explicit_rows():
    """The gradient of filters that reach rows of padding alone."""
    x, w = np.ones([4, 1, 100, 16], np.float32), np.ones([1, 3, 16, 17], np.float32)
    for rows in ([1, 0], [0, 1], [2, 3]):
        for stride in (1, 2):
            found = []
            for tf in (runnel, tensorflow):
                filters = tf.constant(w)
                sides = [[0, 0], rows, [2, 1], [0, 0]]
                with tf.GradientTape() as tape:
                    tape.watch(filters)
                    y = tf.nn.conv2d(tf.constant(x), filters, stride, sides)
                found.append(tape.gradient(y, filters).numpy())
            np.testing.assert_allclose(*found, **TOLERANCE)

"""Gradients that are written into the place of those they come from, with either engine."""

import numpy as np
import pytest

import runnel as tf
from runnel.ops.nn import activation as slopes_of


def random(shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def both_ways(function, *arguments):
    """The lines of a function's plan, after its results were compared with the eager ones."""
    before = [argument.numpy().copy() for argument in arguments]
    traced = tf.function(function)
    pairs = zip(function(*arguments), traced(*arguments), strict=True)
    for eager, found in pairs:
        np.testing.assert_allclose(found, eager, rtol=1e-4, atol=1e-4 * np.abs(eager).max())
    for argument, was in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(argument, was)
    return traced.code().splitlines()


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6])
def test_gradients_of_a_network(activation, is_training, engine):
    channels = 16
    x, filters = random((16, 32, 32, channels)), random((3, 3, channels, channels), 1) / 9
    scale, offset = random((channels,), 2), random((channels,), 3)
    moments = {} if is_training else {"mean": offset, "variance": scale**2}

    def block(x):
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        normalize = tf.compat.v1.nn.fused_batch_norm
        y, *_ = normalize(y, scale, offset, is_training=is_training, **moments)
        return activation(y * 3.0)

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            # The gradient of the sum goes two ways, that of what is pooled one.
            y = block(x)
            loss = tf.reduce_sum(tf.nn.max_pool2d(block(y) + y, 2, 2, "SAME") ** 2)
        return tape.gradient(loss, [x, scale, offset])

    lines = both_ways(gradients, x)
    of_moments = [line for line in lines if "FusedBatchNormGradV3(" in line]
    slopes = [line for line in lines if "ReluGrad" in line or "Relu6Grad" in line]
    assert len(of_moments) == len(slopes) == 2
    assert all("out=" in line for line in of_moments)
    assert sum("out=" in line for line in slopes) == 1


@pytest.mark.parametrize("kind", ["ReluGrad", "Relu6Grad"])
def test_gradients_that_others_need_stay(kind, engine):
    x, features = random((512, 800)), random((512, 800), 1) * 5
    slope = getattr(slopes_of, kind)

    def last(x, features):
        return [slope(tf.exp(x), features)]

    def twice(x, features):
        gradients = tf.exp(x)
        return [slope(gradients, each) for each in (features, -features)]

    def seen(x, features):
        gradients = tf.exp(x)
        return slope(gradients, features), gradients

    def of_the_arguments(x, features):
        return slope(x, features), slope(features, x)

    def into_the_features(x, features):
        return [slope(x, tf.exp(features))]

    def joined(x, features):
        return [tf.concat([slope(x, features), features], 0)]

    for function in (last, twice, seen, of_the_arguments, into_the_features, joined):
        lines = both_ways(function, x, features)
        count = sum("out=" in line for line in lines if kind in line)
        assert count == (function in (last, twice, joined)), function


def test_gradients_of_batches_of_any_size(engine):
    scale, offset = tf.ones([8]), tf.zeros([8])

    @tf.function(input_signature=[tf.TensorSpec([None, None, None, 8])])
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, *_ = tf.compat.v1.nn.fused_batch_norm(x, scale, offset)
            loss = tf.reduce_sum(tf.nn.relu(y) ** 3)
        return tape.gradient(loss, x)

    # Numbers of rows with all kinds of divisors.
    for shape in [(1, 521, 1), (2, 331, 1), (3, 13, 17), (5, 7, 11), (64, 3, 3), (1, 1, 1)]:
        x = random((*shape, 8))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, *_ = tf.compat.v1.nn.fused_batch_norm(x, scale, offset)
            loss = tf.reduce_sum(tf.nn.relu(y) ** 3)
        np.testing.assert_allclose(gradients(x), tape.gradient(loss, x), rtol=1e-3, atol=1e-4)

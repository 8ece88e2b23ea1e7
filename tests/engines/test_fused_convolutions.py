"""Convolutions that finish their results themselves, and filters that are kept in another order."""

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.core.op import REGISTRY
from runnel.engines.onednn import library

RANDOM = np.random.default_rng(7)
ACTIVATIONS = [None, tf.nn.relu, tf.nn.relu6, tf.tanh]


def random(*shape):
    return tf.constant(RANDOM.normal(size=shape).astype("float32"))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("depthwise", [False, True])
def test_a_fused_convolution_is_its_steps(engine, depthwise, normalized, activation):
    images = random(3, 20, 21, 16)
    filters = random(3, 3, 16, 2 if depthwise else 24)
    channels = 32 if depthwise else 24
    bias, scale, offset, mean = (random(channels) for _ in range(4))
    variance = tf.abs(random(channels)) + 0.1
    normalization = REGISTRY["FusedBatchNormV3"]

    def steps(images):
        if depthwise:
            result = tf.nn.depthwise_conv2d(images, filters, [1, 1, 1, 1], "SAME")
        else:
            result = tf.nn.conv2d(images, filters, 1, "SAME")
        if normalized:
            result = normalization(result, scale, offset, mean, variance, is_training=False)[0]
        else:
            result = tf.nn.bias_add(result, bias)
        return result if activation is None else activation(result)

    fused = tf.function(steps)
    wanted = steps(images)
    np.testing.assert_allclose(fused(images), wanted, rtol=1e-5, atol=1e-5)
    code = fused.code()
    assert "_Fused" in code and "BiasAdd" not in code and "FusedBatchNormV3" not in code
    # Nothing hides a number that is none.
    assert np.isnan(fused(tf.fill(images.shape, np.nan))).all()


def test_moments_that_are_used_are_not_fused_away(engine):
    images, filters, vector = random(2, 20, 20, 8), random(3, 3, 8, 8), tf.ones(8)

    @tf.function
    def f(images):
        outputs = REGISTRY["FusedBatchNormV3"](
            tf.nn.conv2d(images, filters, 1, "SAME"), *[vector] * 4, is_training=False
        )
        return outputs[0], outputs[1]

    assert f(images)[1].numpy().tolist() == [1.0] * 8
    assert "FusedBatchNormV3" in f.code()


CHANGES = {
    "assign": lambda filters: filters.assign(2 * filters),
    "assign_add": lambda filters: filters.assign_add(tf.ones_like(filters)),
    "one row": lambda filters: filters[0].assign(tf.zeros_like(filters[0])),
    "optimizer": lambda filters: tf.keras.optimizers.Adam(0.1).apply_gradients(
        [(tf.ones_like(filters), filters)]
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("depthwise", [False, True])
def test_kept_filters_are_those_of_the_variable(engine, depthwise, change):
    """However often filters were used, a change of the variable is seen by the next call."""
    images, filters = random(2, 30, 30, 8), tf.Variable(random(3, 3, 8, 8))

    @tf.function
    def f(images):
        if depthwise:
            return tf.nn.depthwise_conv2d(images, filters, [1, 1, 1, 1], "VALID")
        return tf.nn.conv2d(images, filters, 1, "VALID")

    def wanted():
        # From first principles: the windows by einsum.
        windows = np.lib.stride_tricks.sliding_window_view(images.numpy(), (3, 3), (1, 2))
        if depthwise:
            result = np.einsum("bhwckl,klcm->bhwcm", windows, filters.numpy())
            return result.reshape(*result.shape[:3], -1)
        return np.einsum("bhwckl,klcm->bhwm", windows, filters.numpy())

    for uses in (1, 2, 3, 4, 9, 1):
        for _ in range(uses):
            np.testing.assert_allclose(f(images), wanted(), rtol=1e-4, atol=1e-3)
        CHANGES[change](filters)


def test_filters_computed_and_changed_within_a_function(engine):
    images, first = random(2, 30, 30, 16), random(5, 5, 16, 16)

    @tf.function
    def f(images, first):
        filters = first * 2.0
        one = tf.nn.conv2d(images, filters, 1, "SAME")
        two = tf.nn.conv2d(2.0 * images, filters, 1, "SAME")
        return one, two, tf.nn.conv2d(images, filters + 1.0, 1, "SAME")

    for _ in range(4):
        one, two, other = f(images, first)
        np.testing.assert_allclose(two, 2 * one, rtol=1e-5, atol=1e-3)
        np.testing.assert_allclose(
            other - one, tf.nn.conv2d(images, tf.ones_like(first), 1, "SAME"), atol=2e-3
        )


@pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")
def test_training_holds_no_filters_of_earlier_steps(monkeypatch):
    from runnel.engines.onednn import convolution, reorder

    kept = reorder.Filters()
    monkeypatch.setattr(convolution, "kept", kept)
    images, filters = random(4, 30, 30, 8), tf.Variable(random(3, 3, 8, 8))
    optimizer = tf.keras.optimizers.Adam()

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            tape.watch(images)
            loss = tf.reduce_mean(tf.nn.conv2d(images, filters, 1, "SAME") ** 2)
        to_images, to_filters = tape.gradient(loss, [images, filters])
        optimizer.apply_gradients([(to_filters, filters)])
        return to_images

    held = []
    for _ in range(200):
        step()
        held.append(len(kept))
    # Those of earlier steps are looked for now and then, and let go.
    assert max(held) < 10


@pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")
def test_predictions_hold_their_filters_whatever_was_trained_before(monkeypatch):
    from runnel.engines.onednn import convolution, reorder

    engines.use("onednn")
    kept = reorder.Filters()
    monkeypatch.setattr(convolution, "kept", kept)
    images, optimizer = random(4, 30, 30, 8), tf.keras.optimizers.SGD()
    layers = [tf.Variable(random(3, 3, 8, 8)) for _ in range(6)]

    @tf.function
    def predict(images):
        for filters in layers:
            images = tf.nn.relu(tf.nn.conv2d(images, filters, 1, "SAME"))
        return images

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(predict(images))
        optimizer.apply_gradients(zip(tape.gradient(loss, layers), layers, strict=True))

    def predicted():
        for _ in range(4):
            predict(images[:1])
        held = {id(entry.array) for entry in kept._held.values()}
        return [id(each._tensor._array) in held for each in layers]

    assert all(predicted())
    for _ in range(20):
        step()
    assert all(predicted())

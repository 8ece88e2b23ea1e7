"""Convolutions, pooling, normalization, cross-entropies and CTC of tf.keras.backend."""

from __future__ import annotations

import numpy as np
import pytest
from side_by_side import compare, compare_failure, compare_gradients

import runnel as tf

K = tf.keras.backend
random = np.random.default_rng(1)


def normal(*shape):
    return random.normal(size=shape).astype(np.float32)


def positive(*shape):
    return random.uniform(0.1, 1.0, size=shape).astype(np.float32)


IMAGES = normal(2, 7, 6, 3)
SEQUENCES = normal(2, 7, 3)
VOLUMES = normal(1, 5, 5, 4, 2)

FORMATS = ["channels_last", "channels_first", None]


def in_format(x, data_format):
    """The array with its channels where the format wants them."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if data_format == "channels_first" else x


def check(function, x, *more, gradients=True):
    compare(function, x, *more, tolerance=2e-5)
    if gradients:
        compare_gradients(function, x, *more, tolerance=2e-5)


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(
    ("strides", "padding", "dilation"),
    [
        (1, "valid", 1),
        (2, "same", 1),
        (1, "same", 2),
        (1, "causal", 1),
        (2, "causal", 1),
        (1, "causal", 2),
    ],
)
def test_conv1d(data_format, strides, padding, dilation):
    if padding == "causal" and data_format == "channels_first":
        pytest.skip("the original pads the channels there")
    check(
        lambda tf, keras, x, w: keras.backend.conv1d(x, w, strides, padding, data_format, dilation),
        in_format(SEQUENCES, data_format),
        normal(3, 3, 4),
    )


def test_causal_convolution_with_channels_first():
    kernel = normal(3, 3, 4)
    last = K.conv1d(tf.constant(SEQUENCES), kernel, 1, "causal", "channels_last", 2)
    first = in_format(SEQUENCES, "channels_first")
    first = K.conv1d(tf.constant(first), kernel, 1, "causal", "channels_first", 2)
    np.testing.assert_array_equal(first.numpy(), in_format(last.numpy(), "channels_first"))


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(
    ("strides", "padding", "dilation"),
    [((1, 1), "valid", (1, 1)), ((2, 1), "same", (1, 1)), ((1, 1), "same", (2, 1))],
)
def test_conv2d(data_format, strides, padding, dilation):
    x = in_format(IMAGES, data_format)
    check(
        lambda tf, keras, x, w: keras.backend.conv2d(x, w, strides, padding, data_format, dilation),
        x,
        normal(3, 2, 3, 4),
    )
    if strides[0] == strides[1]:
        check(
            lambda tf, keras, x, w: keras.backend.depthwise_conv2d(
                x, w, strides, padding, data_format, dilation
            ),
            x,
            normal(3, 2, 3, 2),
        )
        check(
            lambda tf, keras, x, w, p: keras.backend.separable_conv2d(
                x, w, p, strides, padding, data_format, dilation
            ),
            x,
            normal(3, 2, 3, 2),
            normal(1, 1, 6, 4),
        )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_conv3d(data_format, padding):
    check(
        lambda tf, keras, x, w: keras.backend.conv3d(x, w, (1, 2, 1), padding, data_format),
        in_format(VOLUMES, data_format),
        normal(2, 3, 2, 2, 3),
    )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize(
    ("shape", "strides", "padding", "dilation"),
    [
        ((2, 14, 12, 4), (2, 2), "same", (1, 1)),
        ((2, 9, 8, 4), (1, 1), "valid", (1, 1)),
        ((None, 14, 12, 4), (2, 2), "same", (1, 1)),
        ((2, 11, 10, 4), (1, 1), "valid", (2, 2)),
    ],
)
def test_conv2d_transpose(data_format, shape, strides, padding, dilation):
    if data_format == "channels_first":
        shape = (shape[0], shape[3], shape[1], shape[2])
    check(
        lambda tf, keras, x, w: keras.backend.conv2d_transpose(
            x, w, shape, strides, padding, data_format, dilation
        ),
        in_format(IMAGES, data_format),
        normal(3, 3, 4, 3),
    )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("mode", ["max", "avg"])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_pooling(data_format, mode, padding):
    check(
        lambda tf, keras, x: keras.backend.pool2d(x, (3, 2), (2, 1), padding, data_format, mode),
        in_format(IMAGES, data_format),
    )
    check(
        lambda tf, keras, x: keras.backend.pool3d(
            x, (2, 3, 2), (2, 1, 2), padding, data_format, mode
        ),
        in_format(VOLUMES, data_format),
    )


@pytest.mark.parametrize("data_format", FORMATS)
def test_local_convolutions(data_format):
    check(
        lambda tf, keras, x, w: keras.backend.local_conv1d(x, w, (3,), (2,), data_format),
        in_format(SEQUENCES, data_format),
        normal(3, 9, 4),
    )
    check(
        lambda tf, keras, x, w: keras.backend.local_conv2d(
            x, w, (3, 2), (2, 1), (3, 5), data_format
        ),
        in_format(IMAGES, data_format),
        normal(15, 18, 4),
    )


@pytest.mark.parametrize("data_format", FORMATS)
@pytest.mark.parametrize("x", [IMAGES, SEQUENCES, VOLUMES], ids=["4D", "3D", "5D"])
def test_biases(data_format, x):
    moved = in_format(x, data_format)
    for bias in (normal(x.shape[-1]), normal(*x.shape[1:])):
        check(lambda tf, keras, x, b: keras.backend.bias_add(x, b, data_format), moved, bias)
    check(lambda tf, keras, x, b: keras.backend.bias_add(x, b), normal(2, 3), normal(3))


def test_bad_arguments():
    cases = [
        lambda k, x, w: k.conv2d(x, w, padding="full"),
        lambda k, x, w: k.conv2d(x, w, data_format="last"),
        lambda k, x, w: k.conv2d(x, w[:, :, :2]),
        lambda k, x, w: k.conv1d(x, w, padding="full"),
        lambda k, x, w: k.pool2d(x, (2, 2, 2)),
        lambda k, x, w: k.pool2d(x, (2, 2), strides=(1,)),
        lambda k, x, w: k.pool2d(x, (2, 2), pool_mode="min"),
        lambda k, x, w: k.pool2d(x, (2, 2), padding="full"),
        lambda k, x, w: k.pool3d(x, (2, 2, 2), pool_mode="min"),
        lambda k, x, w: k.separable_conv2d(x, w, w, strides=(1, 1, 1)),
        lambda k, x, w: k.conv2d_transpose(x, w, (1, 2, 2, 3), dilation_rate=(1, 2)),
        lambda k, x, w: k.bias_add(x, normal(3, 3)),
        lambda k, x, w: k.bias_add(x, normal(4)),
    ]
    for case in cases:
        compare_failure(
            lambda tf, keras, x, w: case(keras.backend, x, w), IMAGES, normal(3, 3, 3, 4)
        )


def test_batch_normalization():
    mean, variance, beta, gamma = normal(3), positive(3), normal(3), normal(3)
    for x in (IMAGES, SEQUENCES, normal(4, 3)):
        compare(
            lambda tf, keras, *t: keras.backend.batch_normalization(*t, epsilon=0.01),
            x, mean, variance, beta, gamma, tolerance=1e-5,
        )  # fmt: skip
        compare(
            lambda tf, keras, x, m, v: keras.backend.batch_normalization(x, m, v, None, None),
            x, mean, variance, tolerance=1e-5,
        )  # fmt: skip
    compare(
        lambda tf, keras, *t: keras.backend.batch_normalization(*t, axis=-1),
        IMAGES, mean.reshape(1, 1, 1, 3), variance.reshape(1, 1, 1, 3),
        beta.reshape(1, 1, 1, 3), gamma.reshape(1, 1, 1, 3), tolerance=1e-5,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("x", "axes", "shape"),
    [
        (IMAGES, [0, 1, 2], (3,)),
        (SEQUENCES, [0, 1], (3,)),
        (normal(6, 3), [0], (3,)),
        (SEQUENCES, [0, 2], (7,)),
    ],
)
def test_normalization_of_a_batch(x, axes, shape):
    compare(
        lambda tf, keras, x, g, b: list(
            keras.backend.normalize_batch_in_training(x, g, b, axes, epsilon=0.01)
        ),
        x,
        normal(*shape),
        normal(*shape),
        tolerance=2e-5,
    )


PROBABILITIES = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]], np.float32)
TARGETS = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], np.float32)
LOGITS = normal(2, 3)

ENTROPIES = {
    "binary": lambda k, t, p, logits: k.binary_crossentropy(t, p, from_logits=logits),
    "focal": lambda k, t, p, logits: k.binary_focal_crossentropy(t, p, from_logits=logits),
    "balanced": lambda k, t, p, logits: k.binary_focal_crossentropy(
        t, p, apply_class_balancing=True, alpha=0.4, gamma=1.5, from_logits=logits
    ),
    "categorical": lambda k, t, p, logits: k.categorical_crossentropy(t, p, from_logits=logits),
    "categorical focal": lambda k, t, p, logits: k.categorical_focal_crossentropy(
        t, p, from_logits=logits
    ),
}


@pytest.mark.parametrize("name", ENTROPIES)
def test_cross_entropies(name):
    function = ENTROPIES[name]
    for logits, outputs in ((False, PROBABILITIES), (True, LOGITS)):
        check(
            lambda tf, keras, p: function(keras.backend, tf.constant(TARGETS), p, logits), outputs
        )
    extreme = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 1e-9]], np.float32)
    compare(lambda tf, keras, t, p: function(keras.backend, t, p, False), TARGETS, extreme)
    # Results of an activation are taken back to their logits.
    activation = "softmax" if name.startswith("categorical") else "sigmoid"
    check(
        lambda tf, keras, x: function(
            keras.backend, tf.constant(TARGETS), getattr(keras.activations, activation)(x), False
        ),
        40 * LOGITS,
    )


def test_sparse_cross_entropy():
    labels = np.array([2, 0])
    for logits, outputs in ((False, PROBABILITIES), (True, LOGITS)):
        check(
            lambda tf, keras, p: keras.backend.sparse_categorical_crossentropy(labels, p, logits),
            outputs,
        )
        compare(
            lambda tf, keras, p: keras.backend.sparse_categorical_crossentropy(
                labels, p, logits, ignore_class=0
            ),
            outputs,
        )
    check(
        lambda tf, keras, x: keras.backend.sparse_categorical_crossentropy(
            labels, keras.activations.softmax(x)
        ),
        40 * LOGITS,
    )


def test_ctc_cost():
    outputs = positive(3, 6, 5)
    outputs /= outputs.sum(-1, keepdims=True)
    labels = np.array([[0, 1, 1], [2, 0, 0], [3, 2, 0]])
    input_length = np.array([[6], [4], [5]])
    label_length = np.array([[3], [1], [2]])
    check(
        lambda tf, keras, y: keras.backend.ctc_batch_cost(
            tf.constant(labels), y, tf.constant(input_length), tf.constant(label_length)
        ),
        outputs,
    )

"""Convolutions: plain, transposed, separable, depthwise."""

import numpy as np
import pytest
from layer_check import channels_first_check, layer_check
from side_by_side import compare, compare_failure, tf_keras

import runnel

EVERYTHING = {
    "kernel_regularizer": "l2",
    "bias_regularizer": "l1",
    "activity_regularizer": "l2",
    "kernel_constraint": "unit_norm",
    "bias_constraint": "non_neg",
    "kernel_initializer": "he_uniform",
    "bias_initializer": "ones",
}

SEPARATE = {
    "depthwise_regularizer": "l2",
    "depthwise_constraint": "unit_norm",
    "depthwise_initializer": "he_uniform",
}

CASES = [
    ("Conv1D", {"filters": 4, "kernel_size": 3}, (2, 7, 3)),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal"}, (2, 7, 3)),
    (
        "Conv1D",
        {"filters": 4, "kernel_size": 3, "padding": "causal", "dilation_rate": 2},
        (2, 7, 3),
    ),
    ("Conv1D", {"filters": 4, "kernel_size": 2, "strides": 2, "padding": "same"}, (2, 7, 3)),
    ("Conv1D", {"filters": 4, "kernel_size": 2, "groups": 2}, (2, 7, 4)),
    ("Conv1D", {"filters": 4, "kernel_size": 3}, (2, 3, 7, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "activation": "relu"}, (2, 6, 5, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": (3, 2), "padding": "SAME"}, (2, 6, 5, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": (2, 1)}, (2, 6, 5, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, (2, 6, 5, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": 2, "groups": 2, "use_bias": False}, (2, 5, 5, 6)),
    ("Conv2D", {"filters": 4, "kernel_size": 1, **EVERYTHING}, (2, 5, 5, 3)),
    ("Conv2D", {"filters": 4, "kernel_size": 2}, (2, 2, 5, 5, 3)),
    ("Conv2D", {"filters": 2, "kernel_size": 2, "dtype": "float64"}, (1, 3, 3, 2)),
    ("Conv2D", {"filters": 2, "kernel_size": 2, "dtype": "mixed_float16"}, (1, 3, 3, 2)),
    ("Conv3D", {"filters": 2, "kernel_size": 2}, (1, 4, 5, 4, 2)),
    ("Conv3D", {"filters": 2, "kernel_size": 2, "strides": 2, "padding": "same"}, (1, 4, 5, 4, 2)),
    ("Conv1DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, (2, 5, 3)),
    (
        "Conv1DTranspose",
        {"filters": 4, "kernel_size": 3, "strides": 2, "padding": "same", "output_padding": 1},
        (2, 5, 3),
    ),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3}, (2, 4, 5, 3)),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, **EVERYTHING}, (1, 4, 5, 3)),
    (
        "Conv2DTranspose",
        {"filters": 4, "kernel_size": (3, 2), "strides": (2, 3), "padding": "same"},
        (2, 4, 5, 3),
    ),
    (
        "Conv2DTranspose",
        {"filters": 4, "kernel_size": 3, "strides": 2, "output_padding": 1},
        (2, 4, 5, 3),
    ),
    ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "dilation_rate": 2}, (1, 4, 5, 3)),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 2, "strides": 2}, (1, 3, 3, 3, 2)),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 3, "dilation_rate": 2}, (1, 3, 3, 3, 2)),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 3}, (2, 7, 3)),
    (
        "SeparableConv1D",
        {"filters": 4, "kernel_size": 3, "padding": "causal", "depth_multiplier": 2},
        (2, 7, 3),
    ),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 2, "strides": 2}, (2, 7, 3)),
    ("SeparableConv1D", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, (2, 7, 3)),
    (
        "SeparableConv2D",
        {
            "filters": 4,
            "kernel_size": 3,
            "activation": "tanh",
            "pointwise_regularizer": "l1",
            **SEPARATE,
        },
        (2, 6, 5, 3),
    ),
    (
        "SeparableConv2D",
        {"filters": 4, "kernel_size": 2, "strides": 2, "padding": "same", "use_bias": False},
        (2, 6, 5, 3),
    ),
    ("SeparableConv2D", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, (2, 6, 5, 3)),
    ("DepthwiseConv1D", {"kernel_size": 3, "depth_multiplier": 2}, (2, 7, 3)),
    ("DepthwiseConv1D", {"kernel_size": 3, "strides": 2, "padding": "same"}, (2, 7, 3)),
    ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2, **SEPARATE}, (2, 6, 5, 3)),
    ("DepthwiseConv2D", {"kernel_size": 2, "strides": 2, "padding": "same"}, (2, 6, 5, 3)),
    ("DepthwiseConv2D", {"kernel_size": (2, 3), "dilation_rate": 2}, (2, 6, 7, 3)),
]


@pytest.mark.parametrize(("name", "kwargs", "shape"), CASES)
def test_layer(name, kwargs, shape):
    layer_check(name, kwargs, shape)


@pytest.mark.parametrize(
    ("name", "kwargs", "shape"),
    [
        ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal"}, (2, 3, 7)),
        ("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2}, (2, 3, 6, 5)),
        ("Conv2D", {"filters": 4, "kernel_size": 2, "groups": 2}, (2, 4, 6, 5)),
        ("Conv3D", {"filters": 2, "kernel_size": 2, "padding": "same"}, (1, 2, 3, 4, 5)),
        ("Conv1DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, (2, 3, 5)),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2}, (2, 3, 4, 5)),
        ("Conv2DTranspose", {"filters": 4, "kernel_size": 2, "dilation_rate": 2}, (2, 3, 4, 5)),
        ("Conv3DTranspose", {"filters": 2, "kernel_size": 2}, (1, 2, 3, 3, 4)),
        ("SeparableConv1D", {"filters": 4, "kernel_size": 3}, (2, 3, 7)),
        ("SeparableConv2D", {"filters": 4, "kernel_size": 3}, (2, 3, 6, 5)),
        ("DepthwiseConv1D", {"kernel_size": 3}, (2, 3, 7)),
        ("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2}, (2, 3, 6, 5)),
    ],
)
def test_channels_first(name, kwargs, shape):
    channels_first_check(name, kwargs, shape)


def test_unknown_space():
    L = runnel.keras.layers
    images = runnel.keras.Input((None, None, 3))
    assert tuple(L.Conv2D(4, 3)(images).shape) == (None, None, None, 4)
    assert tuple(L.Conv2DTranspose(4, 3)(images).shape) == (None, None, None, 4)
    assert tuple(L.SeparableConv2D(4, 3)(images).shape) == (None, None, None, 4)
    assert tuple(L.Conv2D(4, 3).compute_output_shape((None, None, 7, 3))) == (None, None, 5, 4)


FAILURES = [
    lambda L, z: L.Conv2D(-1, 3),
    lambda L, z: L.Conv2D(0, 3),
    lambda L, z: L.Conv2D(4, (3, 3, 3)),
    lambda L, z: L.Conv2D(4, 0),
    lambda L, z: L.Conv2D(4, "a"),
    lambda L, z: L.Conv2D(4, 3, strides=0),
    lambda L, z: L.Conv2D(4, 3, strides=(1, 2, 3)),
    lambda L, z: L.Conv2D(4, 3, strides=2, dilation_rate=2),
    lambda L, z: L.Conv2D(4, 3, padding="foo"),
    lambda L, z: L.Conv2D(4, 3, padding="causal"),
    lambda L, z: L.Conv2D(4, 3, data_format="foo"),
    lambda L, z: L.Conv2D(4, 3, groups=3),
    lambda L, z: L.Conv2D(4, 3, dilation_rate=0),
    lambda L, z: L.Conv2D(4, 3, groups=2)(z(1, 5, 5, 3)),
    lambda L, z: L.Conv2D(4, 3, name="c")(z(1, 5, 5)),
    lambda L, z: L.Conv2D(4, 3, name="c")(z(1, 1, 1, 3)),
    lambda L, z: L.Conv2D(4, 3)(L.Input((5, 5, None))),
    lambda L, z: L.Conv2DTranspose(4, 3, strides=2, output_padding=2),
    lambda L, z: L.Conv2DTranspose(4, 3, strides=2, output_padding=(1, 1, 1)),
    lambda L, z: L.Conv2DTranspose(4, 3, name="c")(z(1, 5, 5)),
    lambda L, z: L.Conv1DTranspose(4, 3)(L.Input((5, None))),
    lambda L, z: L.SeparableConv2D(4, 3, padding="causal"),
    lambda L, z: L.DepthwiseConv2D(3)(L.Input((5, 5, None))),
    lambda L, z: L.DepthwiseConv2D(3, padding="foo"),
    lambda L, z: L.DepthwiseConv1D(3, padding="causal"),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError) as caught:
            FAILURES[index](keras.layers, lambda *shape: np.zeros(shape, "float32"))
        texts.append(str(caught.value))
    assert texts[1].startswith(texts[0])  # and maybe advice


def test_model_with_a_window_larger_than_its_input():
    for make in (
        lambda L: L.Conv2D(4, 3)(L.Input((2, 5, 3))),
        lambda L: L.DepthwiseConv2D(3)(L.Input((5, 2, 3))),
        lambda L: L.SeparableConv1D(4, 3)(L.Input((2, 3))),
    ):
        compare_failure(lambda tf, keras: make(keras.layers), message="Negative dimension")
    with pytest.raises(runnel.errors.InvalidArgumentError, match="smaller `kernel_size`"):
        runnel.keras.layers.Conv2D(4, 3)(np.zeros((1, 2, 5, 3), "float32"))


def test_activation_that_is_none():
    compare_failure(lambda tf, keras: keras.layers.Conv2D(4, 3, activation=3))


def test_aliases():
    L = runnel.keras.layers
    assert L.Convolution2D is L.Conv2D
    assert L.Convolution2DTranspose is L.Conv2DTranspose
    assert L.SeparableConvolution1D is L.SeparableConv1D


def test_own_convolution():
    def results(tf, keras):
        class Standardized(keras.layers.Conv2D):
            def convolution_op(self, inputs, kernel):
                return super().convolution_op(inputs, kernel - tf.reduce_mean(kernel))

        layer = Standardized(2, 2, kernel_initializer="ones", padding="same")
        return layer(tf.ones([1, 3, 3, 1]))

    compare(results)

"""DenseNet: each layer takes all previous features of its block (Huang and others, 2016)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import preprocessing
from .building import (
    channel_axis,
    check_classifier,
    check_weights,
    classified,
    finished,
    image_input,
    image_shape,
    kernels_file,
    pooled,
)
from .preprocessing import decode_predictions as decode_predictions

_EPSILON = 1.001e-5


def DenseNet121(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """DenseNet with 121 weight layers."""
    return _densenet(
        "densenet121",
        (6, 12, 24, 16),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def DenseNet169(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """DenseNet with 169 weight layers."""
    return _densenet(
        "densenet169",
        (6, 12, 32, 32),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def DenseNet201(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """DenseNet with 201 weight layers."""
    return _densenet(
        "densenet201",
        (6, 12, 48, 32),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Standardize images in [0, 255] per channel as for DenseNet."""
    return preprocessing.preprocess_input(x, data_format, mode="torch")


def _densenet(
    name: str,
    depths: tuple[int, ...],
    include_top: bool,
    weights: Any,
    input_tensor: Any,
    input_shape: Any,
    pooling: str | None,
    classes: int,
    classifier_activation: Any,
) -> Any:
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 224, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = tf.keras.layers.ZeroPadding2D(3)(image)
    x = tf.keras.layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = _activated(x, "conv1/bn", "conv1/relu")
    x = tf.keras.layers.ZeroPadding2D(1)(x)
    x = tf.keras.layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, depth in enumerate(depths, start=2):
        for index in range(1, depth + 1):
            x = _block(x, f"conv{stage}_block{index}")
        if stage < 5:
            x = _halved(x, f"pool{stage}")
    x = _activated(x, "bn", "relu")
    if include_top:
        x = classified(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling, named=True)
    return finished(image, x, name, weights, kernels_file("densenet", name, include_top))


def _block(x: Any, name: str) -> Any:
    new = _activated(x, f"{name}_0_bn", f"{name}_0_relu")
    new = tf.keras.layers.Conv2D(128, 1, use_bias=False, name=f"{name}_1_conv")(new)
    new = _activated(new, f"{name}_1_bn", f"{name}_1_relu")
    new = tf.keras.layers.Conv2D(32, 3, padding="same", use_bias=False, name=f"{name}_2_conv")(new)
    return tf.keras.layers.Concatenate(axis=channel_axis(), name=f"{name}_concat")([x, new])


def _halved(x: Any, name: str) -> Any:
    x = _activated(x, f"{name}_bn", f"{name}_relu")
    channels = x.shape[channel_axis()] // 2
    x = tf.keras.layers.Conv2D(channels, 1, use_bias=False, name=f"{name}_conv")(x)
    return tf.keras.layers.AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _activated(x: Any, normalization: str, activation: str) -> Any:
    x = tf.keras.layers.BatchNormalization(
        axis=channel_axis(), epsilon=_EPSILON, name=normalization
    )(x)
    return tf.keras.layers.Activation("relu", name=activation)(x)

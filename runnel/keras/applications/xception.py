"""Xception: depthwise separable convolutions in residual blocks (Chollet, 2016)."""

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


def Xception(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """Xception with 36 convolutions, for images of 299 x 299 pixels."""
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 299, 71, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = tf.keras.layers.Conv2D(32, 3, strides=2, use_bias=False, name="block1_conv1")(image)
    x = _activated(_normalized(x, "block1_conv1_bn"), "block1_conv1_act")
    x = tf.keras.layers.Conv2D(64, 3, use_bias=False, name="block1_conv2")(x)
    x = _activated(_normalized(x, "block1_conv2_bn"), "block1_conv2_act")
    x = _halving_block(x, (128, 128), "block2")
    x = _halving_block(x, (256, 256), "block3")
    x = _halving_block(x, (728, 728), "block4")
    for block in range(5, 13):
        inputs = x
        for index in range(1, 4):
            x = _activated(x, f"block{block}_sepconv{index}_act")
            x = _separable(x, 728, f"block{block}_sepconv{index}")
        x = tf.keras.layers.Add()([x, inputs])
    x = _halving_block(x, (728, 1024), "block13")
    for index, filters in ((1, 1536), (2, 2048)):
        x = _separable(x, filters, f"block14_sepconv{index}")
        x = _activated(x, f"block14_sepconv{index}_act")
    if include_top:
        x = classified(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    file = kernels_file("xception", "xception", include_top)
    return finished(image, x, "xception", weights, file)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _halving_block(x: Any, filters: tuple[int, int], name: str) -> Any:
    residual = tf.keras.layers.Conv2D(filters[1], 1, strides=2, padding="same", use_bias=False)(x)
    residual = tf.keras.layers.BatchNormalization(axis=channel_axis())(residual)
    # The first such block's input is already the output of an activation.
    if name != "block2":
        x = _activated(x, f"{name}_sepconv1_act")
    x = _separable(x, filters[0], f"{name}_sepconv1")
    x = _activated(x, f"{name}_sepconv2_act")
    x = _separable(x, filters[1], f"{name}_sepconv2")
    x = tf.keras.layers.MaxPooling2D(3, strides=2, padding="same", name=f"{name}_pool")(x)
    return tf.keras.layers.Add()([x, residual])


def _separable(x: Any, filters: int, name: str) -> Any:
    x = tf.keras.layers.SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return _normalized(x, f"{name}_bn")


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(axis=channel_axis(), name=name)(x)


def _activated(x: Any, name: str) -> Any:
    return tf.keras.layers.Activation("relu", name=name)(x)

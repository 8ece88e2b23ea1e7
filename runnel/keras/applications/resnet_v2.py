"""ResNet V2: pre-activation residual blocks (He and others, 2016)."""

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


def ResNet50V2(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """ResNet V2 with 50 weight layers."""
    return _resnet(
        "resnet50v2",
        (3, 4, 6, 3),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def ResNet101V2(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """ResNet V2 with 101 weight layers."""
    return _resnet(
        "resnet101v2",
        (3, 4, 23, 3),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def ResNet152V2(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """ResNet V2 with 152 weight layers."""
    return _resnet(
        "resnet152v2",
        (3, 8, 36, 3),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _resnet(
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
    x = tf.keras.layers.ZeroPadding2D(3, name="conv1_pad")(image)
    x = tf.keras.layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    x = tf.keras.layers.ZeroPadding2D(1, name="pool1_pad")(x)
    x = tf.keras.layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    for stage, depth in enumerate(depths, start=2):
        for index in range(1, depth + 1):
            strides = 2 if index == depth and stage < 5 else 1
            x = _block(x, 2 ** (stage + 4), strides, index == 1, f"conv{stage}_block{index}")
    x = _activated(x, "post_bn", "post_relu")
    if include_top:
        x = classified(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling, named=True)
    return finished(image, x, name, weights, kernels_file("resnet", name, include_top))


def _block(x: Any, filters: int, strides: int, project: bool, name: str) -> Any:
    active = _activated(x, f"{name}_preact_bn", f"{name}_preact_relu")
    shortcut = x
    if project:
        shortcut = tf.keras.layers.Conv2D(4 * filters, 1, strides=strides, name=f"{name}_0_conv")(
            active
        )
    elif strides > 1:
        shortcut = tf.keras.layers.MaxPooling2D(1, strides=strides)(x)
    x = tf.keras.layers.Conv2D(filters, 1, use_bias=False, name=f"{name}_1_conv")(active)
    x = _activated(x, f"{name}_1_bn", f"{name}_1_relu")
    x = tf.keras.layers.ZeroPadding2D(1, name=f"{name}_2_pad")(x)
    x = tf.keras.layers.Conv2D(filters, 3, strides=strides, use_bias=False, name=f"{name}_2_conv")(
        x
    )
    x = _activated(x, f"{name}_2_bn", f"{name}_2_relu")
    x = tf.keras.layers.Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    return tf.keras.layers.Add(name=f"{name}_out")([shortcut, x])


def _activated(x: Any, normalization: str, activation: str) -> Any:
    x = tf.keras.layers.BatchNormalization(
        axis=channel_axis(), epsilon=_EPSILON, name=normalization
    )(x)
    return tf.keras.layers.Activation("relu", name=activation)(x)

"""MobileNetV2: inverted residuals with linear bottlenecks (Sandler and others, 2018)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import preprocessing
from .building import (
    channel_axis,
    check_arguments,
    check_classifier,
    check_weights,
    finished,
    image_input,
    image_shape,
    in_eights,
    pooled,
    predicted,
    same_middle,
    trained_size,
)
from .preprocessing import decode_predictions as decode_predictions

_SIZES = (96, 128, 160, 192, 224)
# Repeats, filters and strides of each stage: table 2 of the paper.
_STAGES = ((1, 16, 1), (2, 24, 2), (3, 32, 2), (4, 64, 2), (3, 96, 1), (3, 160, 2), (1, 320, 1))


def MobileNetV2(
    input_shape: Any = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
    **kwargs: Any,
) -> Any:
    """MobileNetV2 with width multiplier `alpha`."""
    check_arguments(kwargs)
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, trained_size(input_shape, _SIZES), 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    if weights == "imagenet" and alpha not in (0.35, 0.5, 0.75, 1.0, 1.3, 1.4):
        raise ValueError(
            "If imagenet weights are being loaded, alpha must be one of `0.35`, `0.50`, `0.75`, "
            f"`1.0`, `1.3` or `1.4` only; Received: alpha={alpha}"
        )
    image = image_input(input_tensor, shape)
    x = tf.keras.layers.Conv2D(
        in_eights(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="Conv1"
    )(image)
    x = _normalized(x, "bn_Conv1")
    x = tf.keras.layers.ReLU(6.0, name="Conv1_relu")(x)
    index = 0
    for depth, filters, first_strides in _STAGES:
        for position in range(depth):
            strides = first_strides if position == 0 else 1
            x = _block(x, in_eights(filters * alpha), strides, index)
            index += 1
    last = in_eights(1280 * alpha) if alpha > 1.0 else 1280
    x = tf.keras.layers.Conv2D(last, 1, use_bias=False, name="Conv_1")(x)
    x = _normalized(x, "Conv_1_bn")
    x = tf.keras.layers.ReLU(6.0, name="out_relu")(x)
    if include_top:
        x = predicted(pooled(x, "avg"), classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    rows = shape[1 if channel_axis() == 1 else 0]
    end = "" if include_top else "_no_top"
    trained = rows if rows in _SIZES else 224
    file = (
        "mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_"
        f"{float(alpha)}_{trained}{end}.h5"
    )
    return finished(image, x, f"mobilenetv2_{alpha:0.2f}_{rows}", weights, file)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _block(inputs: Any, filters: int, strides: int, index: int) -> Any:
    name = f"block_{index}_" if index else "expanded_conv_"
    channels = inputs.shape[channel_axis()]
    x = inputs
    if index:
        x = tf.keras.layers.Conv2D(
            6 * channels, 1, padding="same", use_bias=False, name=f"{name}expand"
        )(x)
        x = _normalized(x, f"{name}expand_BN")
        x = tf.keras.layers.ReLU(6.0, name=f"{name}expand_relu")(x)
    if strides > 1:
        x = tf.keras.layers.ZeroPadding2D(same_middle(x, 3), name=f"{name}pad")(x)
    x = tf.keras.layers.DepthwiseConv2D(
        3,
        strides=strides,
        padding="same" if strides == 1 else "valid",
        use_bias=False,
        name=f"{name}depthwise",
    )(x)
    x = _normalized(x, f"{name}depthwise_BN")
    x = tf.keras.layers.ReLU(6.0, name=f"{name}depthwise_relu")(x)
    x = tf.keras.layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = _normalized(x, f"{name}project_BN")
    if channels == filters and strides == 1:
        return tf.keras.layers.Add(name=f"{name}add")([inputs, x])
    return x


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(
        axis=channel_axis(), epsilon=1e-3, momentum=0.999, name=name
    )(x)

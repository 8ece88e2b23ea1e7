"""MobileNet: depthwise separable convolutions (Howard and others, 2017)."""

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
    pooled,
    trained_size,
)
from .preprocessing import decode_predictions as decode_predictions

_BLOCKS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (512, 1),
    (1024, 2),
    (1024, 1),
)


def MobileNet(
    input_shape: Any = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 0.001,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
    **kwargs: Any,
) -> Any:
    """MobileNet with width multiplier `alpha`."""
    check_arguments(kwargs)
    check_weights(weights, include_top, classes)
    size = trained_size(input_shape, (128, 160, 192, 224))
    shape = image_shape(input_shape, size, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    if weights == "imagenet":
        if depth_multiplier != 1:
            raise ValueError(
                "If imagenet weights are being loaded, depth multiplier must be 1. "
                f"Received: depth_multiplier={depth_multiplier}"
            )
        if alpha not in (0.25, 0.5, 0.75, 1.0):
            raise ValueError(
                "If imagenet weights are being loaded, alpha can be one of `0.25`, `0.50`, "
                f"`0.75` or `1.0` only. Received: alpha={alpha}"
            )
    image = image_input(input_tensor, shape)
    x = tf.keras.layers.Conv2D(
        int(32 * alpha), 3, strides=2, padding="same", use_bias=False, name="conv1"
    )(image)
    x = _activated(x, "conv1")
    for index, (filters, strides) in enumerate(_BLOCKS, start=1):
        x = _block(x, int(filters * alpha), depth_multiplier, strides, index)
    if include_top:
        x = tf.keras.layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = tf.keras.layers.Dropout(dropout, name="dropout")(x)
        x = tf.keras.layers.Conv2D(classes, 1, padding="same", name="conv_preds")(x)
        x = tf.keras.layers.Reshape((classes,), name="reshape_2")(x)
        x = tf.keras.layers.Activation(classifier_activation, name="predictions")(x)
    else:
        x = pooled(x, pooling)
    rows = shape[1 if channel_axis() == 1 else 0]
    width = {1.0: "1_0", 0.75: "7_5", 0.5: "5_0"}.get(alpha, "2_5")
    end = "" if include_top else "_no_top"
    trained = rows if rows in (128, 160, 192, 224) else 224
    file = f"mobilenet/mobilenet_{width}_{trained}_tf{end}.h5"
    return finished(image, x, f"mobilenet_{alpha:0.2f}_{rows}", weights, file)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _block(x: Any, filters: int, depth_multiplier: int, strides: int, index: int) -> Any:
    if strides > 1:
        x = tf.keras.layers.ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{index}")(x)
    x = tf.keras.layers.DepthwiseConv2D(
        3,
        strides=strides,
        padding="same" if strides == 1 else "valid",
        depth_multiplier=depth_multiplier,
        use_bias=False,
        name=f"conv_dw_{index}",
    )(x)
    x = _activated(x, f"conv_dw_{index}")
    x = tf.keras.layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"conv_pw_{index}")(
        x
    )
    return _activated(x, f"conv_pw_{index}")


def _activated(x: Any, name: str) -> Any:
    x = tf.keras.layers.BatchNormalization(axis=channel_axis(), name=f"{name}_bn")(x)
    return tf.keras.layers.ReLU(6.0, name=f"{name}_relu")(x)

"""VGG: 3 x 3 convolutions in five blocks (Simonyan and Zisserman, 2014)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import preprocessing
from .building import (
    check_classifier,
    check_weights,
    finished,
    image_input,
    image_shape,
    kernels_file,
    pooled,
    predicted,
)
from .preprocessing import decode_predictions as decode_predictions


def VGG16(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """VGG with 16 weight layers."""
    return _vgg(
        "vgg16",
        (2, 2, 3, 3, 3),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def VGG19(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """VGG with 19 weight layers."""
    return _vgg(
        "vgg19",
        (2, 2, 4, 4, 4),
        include_top,
        weights,
        input_tensor,
        input_shape,
        pooling,
        classes,
        classifier_activation,
    )


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Convert images in [0, 255] to BGR with the channel means subtracted."""
    return preprocessing.preprocess_input(x, data_format, mode="caffe")


def _vgg(
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
    x = image
    for block, (depth, filters) in enumerate(
        zip(depths, (64, 128, 256, 512, 512), strict=True), start=1
    ):
        for index in range(1, depth + 1):
            x = tf.keras.layers.Conv2D(
                filters, 3, padding="same", activation="relu", name=f"block{block}_conv{index}"
            )(x)
        x = tf.keras.layers.MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if include_top:
        x = tf.keras.layers.Flatten(name="flatten")(x)
        x = tf.keras.layers.Dense(4096, activation="relu", name="fc1")(x)
        x = tf.keras.layers.Dense(4096, activation="relu", name="fc2")(x)
        x = predicted(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    return finished(image, x, name, weights, kernels_file(name, name, include_top))

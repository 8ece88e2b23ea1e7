"""Inception V3: parallel convolutions of several kernel sizes (Szegedy and others, 2015)."""

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


def InceptionV3(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """Inception V3 with eleven mixed blocks, for images of 299 x 299 pixels."""
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 299, 75, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = _convolved(image, 32, (3, 3), strides=2, padding="valid")
    x = _convolved(x, 32, (3, 3), padding="valid")
    x = _convolved(x, 64, (3, 3))
    x = tf.keras.layers.MaxPooling2D(3, strides=2)(x)
    x = _convolved(x, 80, (1, 1), padding="valid")
    x = _convolved(x, 192, (3, 3), padding="valid")
    x = tf.keras.layers.MaxPooling2D(3, strides=2)(x)
    for index, filters in enumerate((32, 64, 64)):
        x = _small_block(x, filters, f"mixed{index}")
    x = _first_halving(x, "mixed3")
    for index, filters in enumerate((128, 160, 160, 192), start=4):
        x = _long_block(x, filters, f"mixed{index}")
    x = _second_halving(x, "mixed8")
    for index in range(2):
        x = _wide_block(x, f"mixed9_{index}", f"mixed{9 + index}")
    if include_top:
        x = classified(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    file = kernels_file("inception_v3", "inception_v3", include_top)
    return finished(image, x, "inception_v3", weights, file)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _small_block(x: Any, pool_filters: int, name: str) -> Any:
    one = _convolved(x, 64, (1, 1))
    five = _convolved(_convolved(x, 48, (1, 1)), 64, (5, 5))
    three = _convolved(x, 64, (1, 1))
    three = _convolved(_convolved(three, 96, (3, 3)), 96, (3, 3))
    return _joined([one, five, three, _averaged(x, pool_filters)], name)


def _first_halving(x: Any, name: str) -> Any:
    three = _convolved(x, 384, (3, 3), strides=2, padding="valid")
    double = _convolved(_convolved(x, 64, (1, 1)), 96, (3, 3))
    double = _convolved(double, 96, (3, 3), strides=2, padding="valid")
    return _joined([three, double, tf.keras.layers.MaxPooling2D(3, strides=2)(x)], name)


def _long_block(x: Any, filters: int, name: str) -> Any:
    one = _convolved(x, 192, (1, 1))
    seven = _convolved(_convolved(x, filters, (1, 1)), filters, (1, 7))
    seven = _convolved(seven, 192, (7, 1))
    double = _convolved(x, filters, (1, 1))
    for kernel in ((7, 1), (1, 7), (7, 1)):
        double = _convolved(double, filters, kernel)
    double = _convolved(double, 192, (1, 7))
    return _joined([one, seven, double, _averaged(x, 192)], name)


def _second_halving(x: Any, name: str) -> Any:
    three = _convolved(x, 192, (1, 1))
    three = _convolved(three, 320, (3, 3), strides=2, padding="valid")
    seven = _convolved(x, 192, (1, 1))
    seven = _convolved(_convolved(seven, 192, (1, 7)), 192, (7, 1))
    seven = _convolved(seven, 192, (3, 3), strides=2, padding="valid")
    return _joined([three, seven, tf.keras.layers.MaxPooling2D(3, strides=2)(x)], name)


def _wide_block(x: Any, inner_name: str, name: str) -> Any:
    one = _convolved(x, 320, (1, 1))
    three = _split(_convolved(x, 384, (1, 1)), inner_name)
    double = _convolved(_convolved(x, 448, (1, 1)), 384, (3, 3))
    return _joined([one, three, _split(double, None), _averaged(x, 192)], name)


def _split(x: Any, name: str | None) -> Any:
    return _joined([_convolved(x, 384, (1, 3)), _convolved(x, 384, (3, 1))], name)


def _averaged(x: Any, filters: int) -> Any:
    x = tf.keras.layers.AveragePooling2D(3, strides=1, padding="same")(x)
    return _convolved(x, filters, (1, 1))


def _joined(branches: list[Any], name: str | None) -> Any:
    return tf.keras.layers.Concatenate(axis=channel_axis(), name=name)(branches)


def _convolved(
    x: Any, filters: int, kernel: tuple[int, int], strides: int = 1, padding: str = "same"
) -> Any:
    x = tf.keras.layers.Conv2D(filters, kernel, strides, padding, use_bias=False)(x)
    x = tf.keras.layers.BatchNormalization(axis=channel_axis(), scale=False)(x)
    return tf.keras.layers.Activation("relu")(x)

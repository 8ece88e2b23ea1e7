"""Inception-ResNet V2: inception blocks with residual connections (Szegedy and others, 2016)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import preprocessing
from .building import (
    channel_axis,
    check_arguments,
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

# For each kind of block: repeats, scale, and the convolutions of each branch.
_BLOCKS = {
    "block35": (
        10,
        0.17,
        (
            ((32, 1),),
            ((32, 1), (32, 3)),
            ((32, 1), (48, 3), (64, 3)),
        ),
    ),
    "block17": (20, 0.1, (((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1))))),
    "block8": (10, 0.2, (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1))))),
}


@tf.keras.utils.register_keras_serializable()
class CustomScaleLayer(tf.keras.layers.Layer):
    """The first input plus `scale` times the second."""

    def __init__(self, scale: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scale = scale

    def call(self, inputs: Any) -> Any:
        """Add the scaled second input."""
        return inputs[0] + inputs[1] * self.scale

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "scale": self.scale}


def InceptionResNetV2(
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    input_shape: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
    **kwargs: Any,
) -> Any:
    """Inception-ResNet V2 with 43 blocks, for images of 299 x 299 pixels."""
    check_arguments(kwargs)
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 299, 75, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = _convolved(image, 32, 3, strides=2, padding="valid")
    x = _convolved(x, 32, 3, padding="valid")
    x = _convolved(x, 64, 3)
    x = tf.keras.layers.MaxPooling2D(3, strides=2)(x)
    x = _convolved(x, 80, 1, padding="valid")
    x = _convolved(x, 192, 3, padding="valid")
    x = tf.keras.layers.MaxPooling2D(3, strides=2)(x)
    branches = [_chained(x, each) for each in (((96, 1),), ((48, 1), (64, 5)))]
    branches.append(_chained(x, ((64, 1), (96, 3), (96, 3))))
    average = tf.keras.layers.AveragePooling2D(3, strides=1, padding="same")(x)
    x = _joined([*branches, _convolved(average, 64, 1)], "mixed_5b")
    x = _blocks(x, "block35")
    branches = [_convolved(x, 384, 3, strides=2, padding="valid")]
    branches.append(_halved(_chained(x, ((256, 1), (256, 3))), 384))
    x = _joined([*branches, tf.keras.layers.MaxPooling2D(3, strides=2)(x)], "mixed_6a")
    x = _blocks(x, "block17")
    branches = [
        _halved(_chained(x, ((256, 1),)), 384),
        _halved(_chained(x, ((256, 1),)), 288),
        _halved(_chained(x, ((256, 1), (288, 3))), 320),
    ]
    x = _joined([*branches, tf.keras.layers.MaxPooling2D(3, strides=2)(x)], "mixed_7a")
    x = _blocks(x, "block8")
    x = _convolved(x, 1536, 1, name="conv_7b")
    if include_top:
        x = classified(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    file = kernels_file("inception_resnet_v2", "inception_resnet_v2", include_top)
    return finished(image, x, "inception_resnet_v2", weights, file)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _blocks(x: Any, kind: str) -> Any:
    count, scale, branches = _BLOCKS[kind]
    channels = x.shape[channel_axis()]
    for index in range(1, count + 1):
        name = f"{kind}_{index}"
        last = kind == "block8" and index == count
        new = _joined([_chained(x, each) for each in branches], f"{name}_mixed")
        new = tf.keras.layers.Conv2D(channels, 1, padding="same", name=f"{name}_conv")(new)
        x = CustomScaleLayer(1.0 if last else scale)([x, new])
        if not last:
            x = tf.keras.layers.Activation("relu", name=f"{name}_ac")(x)
    return x


def _chained(x: Any, convolutions: tuple) -> Any:
    for filters, kernel in convolutions:
        x = _convolved(x, filters, kernel)
    return x


def _halved(x: Any, filters: int) -> Any:
    return _convolved(x, filters, 3, strides=2, padding="valid")


def _joined(branches: list[Any], name: str) -> Any:
    return tf.keras.layers.Concatenate(axis=channel_axis(), name=name)(branches)


def _convolved(
    x: Any,
    filters: int,
    kernel: Any,
    strides: int = 1,
    padding: str = "same",
    name: str | None = None,
) -> Any:
    x = tf.keras.layers.Conv2D(filters, kernel, strides, padding, use_bias=False, name=name)(x)
    x = tf.keras.layers.BatchNormalization(
        axis=channel_axis(), scale=False, name=name and f"{name}_bn"
    )(x)
    return tf.keras.layers.Activation("relu", name=name and f"{name}_ac")(x)

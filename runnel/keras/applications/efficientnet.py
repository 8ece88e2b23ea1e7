"""EfficientNet: compound scaling of depth, width and resolution (Tan and Le, 2019)."""

from __future__ import annotations

import math
from typing import Any

import runnel as tf

from .building import (
    channel_axis,
    check_classifier,
    check_weights,
    excited,
    finished,
    image_input,
    image_shape,
    named_as,
    pooled,
    same_middle,
)
from .preprocessing import decode_predictions as decode_predictions

# The width and depth coefficients, the image size and the dropout rate of each variant.
_VARIANTS = {
    "b0": (1.0, 1.0, 224, 0.2),
    "b1": (1.0, 1.1, 240, 0.2),
    "b2": (1.1, 1.2, 260, 0.3),
    "b3": (1.2, 1.4, 300, 0.3),
    "b4": (1.4, 1.8, 380, 0.4),
    "b5": (1.6, 2.2, 456, 0.4),
    "b6": (1.8, 2.6, 528, 0.5),
    "b7": (2.0, 3.1, 600, 0.5),
}
# Repeats, filters, expansion ratio, kernel size and strides of each stage: table 1 of the paper.
_STAGES = (
    (1, 16, 1, 3, 1),
    (2, 24, 6, 3, 2),
    (2, 40, 6, 5, 2),
    (3, 80, 6, 3, 2),
    (3, 112, 6, 5, 1),
    (4, 192, 6, 5, 2),
    (1, 320, 6, 3, 1),
)
_ORIGIN = "https://storage.googleapis.com/keras-applications/"
_DEVIATION = (0.229, 0.224, 0.225)
KERNEL = {
    "class_name": "VarianceScaling",
    "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"},
}
DENSE = {
    "class_name": "VarianceScaling",
    "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"},
}


def _model(variant: str) -> Any:
    def build(
        include_top: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        classifier_activation: Any = "softmax",
        **kwargs: Any,
    ) -> Any:
        return _efficientnet(
            variant,
            include_top,
            weights,
            input_tensor,
            input_shape,
            pooling,
            classes,
            classifier_activation,
            **kwargs,
        )

    size = _VARIANTS[variant][2]
    summary = (
        f"EfficientNet-{variant.upper()}, for images of {size} x {size} pixels with colours from 0 "
        "to 255.\n\n    `drop_connect_rate`, `depth_divisor` and `activation` may be given too."
    )
    return named_as(build, f"EfficientNet{variant.upper()}", summary)


EfficientNetB0 = _model("b0")
EfficientNetB1 = _model("b1")
EfficientNetB2 = _model("b2")
EfficientNetB3 = _model("b3")
EfficientNetB4 = _model("b4")
EfficientNetB5 = _model("b5")
EfficientNetB6 = _model("b6")
EfficientNetB7 = _model("b7")


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Images unchanged: the model itself rescales inputs in [0, 255]."""
    return x


def _efficientnet(
    variant: str,
    include_top: bool,
    weights: Any,
    input_tensor: Any,
    input_shape: Any,
    pooling: str | None,
    classes: int,
    classifier_activation: Any,
    drop_connect_rate: float = 0.2,
    depth_divisor: int = 8,
    activation: Any = "swish",
) -> Any:
    width, depth, size, dropout = _VARIANTS[variant]
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, size, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    axis = channel_axis()
    x = tf.keras.layers.Rescaling(1.0 / 255.0)(image)
    x = tf.keras.layers.Normalization(axis=axis)(x)
    if weights == "imagenet":
        # The weights were trained with inputs divided by the square roots of the deviations.
        factors = [1.0 / math.sqrt(each) for each in _DEVIATION]
        x = tf.math.multiply(x, tf.reshape(factors, (1, 3, 1, 1) if axis == 1 else (1, 1, 1, 3)))
    x = tf.keras.layers.ZeroPadding2D(same_middle(x, 3), name="stem_conv_pad")(x)
    filters = _rounded(32 * width, depth_divisor)
    x = _convolved(x, filters, 3, "stem_", strides=2, padding="valid")
    x = _activated(x, activation, "stem_")
    depths = [math.ceil(depth * stage[0]) for stage in _STAGES]
    index = 0
    for stage, (_, filters, ratio, kernel, first_strides) in enumerate(_STAGES):
        for position in range(depths[stage]):
            strides = first_strides if position == 0 else 1
            x = _block(
                x,
                _rounded(filters * width, depth_divisor),
                ratio,
                kernel,
                strides,
                drop_connect_rate * index / sum(depths),
                activation,
                f"block{stage + 1}{chr(ord('a') + position)}_",
            )
            index += 1
    x = _convolved(x, _rounded(1280 * width, depth_divisor), 1, "top_")
    x = _activated(x, activation, "top_")
    if include_top:
        x = tf.keras.layers.GlobalAveragePooling2D(name="avg_pool")(x)
        if dropout > 0:
            x = tf.keras.layers.Dropout(dropout, name="top_dropout")(x)
        x = tf.keras.layers.Dense(
            classes, activation=classifier_activation, kernel_initializer=DENSE, name="predictions"
        )(x)
    else:
        x = pooled(x, pooling, named=True)
    name = f"efficientnet{variant}"
    end = ".h5" if include_top else "_notop.h5"
    return finished(image, x, name, weights, name + end, _ORIGIN)


def _block(
    inputs: Any,
    filters: int,
    ratio: int,
    kernel: int,
    strides: int,
    drop_rate: float,
    activation: Any,
    name: str,
) -> Any:
    channels = inputs.shape[channel_axis()]
    x = inputs
    if ratio != 1:
        x = _convolved(x, ratio * channels, 1, f"{name}expand_")
        x = _activated(x, activation, f"{name}expand_")
    if strides == 2:
        x = tf.keras.layers.ZeroPadding2D(same_middle(x, kernel), name=f"{name}dwconv_pad")(x)
    x = tf.keras.layers.DepthwiseConv2D(
        kernel,
        strides=strides,
        padding="valid" if strides == 2 else "same",
        use_bias=False,
        depthwise_initializer=KERNEL,
        name=f"{name}dwconv",
    )(x)
    x = tf.keras.layers.BatchNormalization(axis=channel_axis(), name=f"{name}bn")(x)
    x = _activated(x, activation, name)
    x = excited(x, max(1, channels // 4), activation, KERNEL, f"{name}se_")
    x = _convolved(x, filters, 1, f"{name}project_")
    if strides == 1 and filters == channels:
        x = dropped(x, drop_rate, f"{name}drop")
        x = tf.keras.layers.Add(name=f"{name}add")([x, inputs])
    return x


def dropped(x: Any, rate: float, name: str) -> Any:
    """Stochastic depth: whole images of the features dropped at random in training."""
    if rate == 0:
        return x
    return tf.keras.layers.Dropout(rate, noise_shape=(None, 1, 1, 1), name=name)(x)


def _convolved(
    x: Any, filters: int, kernel: int, name: str, strides: int = 1, padding: str = "same"
) -> Any:
    x = tf.keras.layers.Conv2D(
        filters,
        kernel,
        strides=strides,
        padding=padding,
        use_bias=False,
        kernel_initializer=KERNEL,
        name=f"{name}conv",
    )(x)
    return tf.keras.layers.BatchNormalization(axis=channel_axis(), name=f"{name}bn")(x)


def _activated(x: Any, activation: Any, name: str) -> Any:
    return tf.keras.layers.Activation(activation, name=f"{name}activation")(x)


def _rounded(filters: float, divisor: int) -> int:
    """The nearest multiple of the divisor, at least nine tenths of the number."""
    rounded = max(divisor, int(filters + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * filters else rounded

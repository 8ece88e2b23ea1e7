"""EfficientNetV2: smaller models, faster to train (Tan and Le, 2021)."""

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
)
from .efficientnet import DENSE, KERNEL, dropped
from .preprocessing import decode_predictions as decode_predictions

# The stages of a variant: repeats, filters, expansion ratio, strides, and whether the expansion is
# one full convolution ("fused").
_SMALLEST = (
    (1, 16, 1, 1, True),
    (2, 32, 4, 2, True),
    (2, 48, 4, 2, True),
    (3, 96, 4, 2, False),
    (5, 112, 6, 1, False),
    (8, 192, 6, 2, False),
)
_SMALL = (
    (2, 24, 1, 1, True),
    (4, 48, 4, 2, True),
    (4, 64, 4, 2, True),
    (6, 128, 4, 2, False),
    (9, 160, 6, 1, False),
    (15, 256, 6, 2, False),
)
_MEDIUM = (
    (3, 24, 1, 1, True),
    (5, 48, 4, 2, True),
    (5, 80, 4, 2, True),
    (7, 160, 4, 2, False),
    (14, 176, 6, 1, False),
    (18, 304, 6, 2, False),
    (5, 512, 6, 1, False),
)
_LARGE = (
    (4, 32, 1, 1, True),
    (7, 64, 4, 2, True),
    (7, 96, 4, 2, True),
    (10, 192, 4, 2, False),
    (19, 224, 6, 1, False),
    (25, 384, 6, 2, False),
    (7, 640, 6, 1, False),
)
# The stages, the stem filters, the width and depth coefficients, and the image size.
_VARIANTS = {
    "b0": (_SMALLEST, 32, 1.0, 1.0, 224),
    "b1": (_SMALLEST, 32, 1.0, 1.1, 240),
    "b2": (_SMALLEST, 32, 1.1, 1.2, 260),
    "b3": (_SMALLEST, 32, 1.2, 1.4, 300),
    "s": (_SMALL, 24, 1.0, 1.0, 384),
    "m": (_MEDIUM, 24, 1.0, 1.0, 480),
    "l": (_LARGE, 32, 1.0, 1.0, 480),
}
_DROP_CONNECT = 0.2


def _model(variant: str) -> Any:
    def build(
        include_top: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        classifier_activation: Any = "softmax",
        include_preprocessing: bool = True,
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
            include_preprocessing,
        )

    size = _VARIANTS[variant][4]
    summary = (
        f"EfficientNetV2-{variant.upper()}, for images of {size} x {size} pixels.\n\n"
        "    The model scales colours from 0 to 255 itself, unless `include_preprocessing` is "
        "False."
    )
    return named_as(build, f"EfficientNetV2{variant.upper()}", summary)


EfficientNetV2B0 = _model("b0")
EfficientNetV2B1 = _model("b1")
EfficientNetV2B2 = _model("b2")
EfficientNetV2B3 = _model("b3")
EfficientNetV2S = _model("s")
EfficientNetV2M = _model("m")
EfficientNetV2L = _model("l")


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
    include_preprocessing: bool,
) -> Any:
    stages, first_filters, width, depth, size = _VARIANTS[variant]
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, size, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = _scaled(image, variant) if include_preprocessing else image
    x = _convolved(x, _rounded(first_filters * width), 3, 2, "stem_")
    x = _activated(x, "stem_")
    depths = [math.ceil(depth * stage[0]) for stage in stages]
    # The drop rate grows with the block count of the table, regardless of the depth coefficient.
    blocks = sum(stage[0] for stage in stages)
    index = 0
    for stage, (_, filters, ratio, first_strides, fused) in enumerate(stages):
        for position in range(depths[stage]):
            x = (_fused_block if fused else _block)(
                x,
                _rounded(filters * width),
                ratio,
                first_strides if position == 0 else 1,
                _DROP_CONNECT * index / blocks,
                f"block{stage + 1}{chr(ord('a') + position)}_",
            )
            index += 1
    x = _convolved(x, _rounded(1280 * width), 1, 1, "top_")
    x = _activated(x, "top_")
    if include_top:
        x = tf.keras.layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = tf.keras.layers.Dropout(0.2, name="top_dropout")(x)
        x = tf.keras.layers.Dense(
            classes,
            activation=classifier_activation,
            kernel_initializer=DENSE,
            bias_initializer=tf.keras.initializers.Constant(0),
            name="predictions",
        )(x)
    else:
        x = pooled(x, pooling, named=True)
    name = f"efficientnetv2-{variant}"
    end = ".h5" if include_top else "_notop.h5"
    return finished(image, x, name, weights, f"efficientnet_v2/{name}{end}")


def _scaled(image: Any, variant: str) -> Any:
    if variant in ("s", "m", "l"):
        return tf.keras.layers.Rescaling(scale=1.0 / 128, offset=-1)(image)
    x = tf.keras.layers.Rescaling(scale=1.0 / 255)(image)
    if x.shape[channel_axis()] != 3:
        return x
    return tf.keras.layers.Normalization(
        mean=[0.485, 0.456, 0.406],
        variance=[0.229**2, 0.224**2, 0.225**2],
        axis=channel_axis(),
    )(x)


def _fused_block(
    inputs: Any, filters: int, ratio: int, strides: int, drop_rate: float, name: str
) -> Any:
    if ratio != 1:
        channels = inputs.shape[channel_axis()]
        x = _convolved(inputs, ratio * channels, 3, strides, f"{name}expand_")
        x = _activated(x, f"{name}expand_")
        x = _convolved(x, filters, 1, 1, f"{name}project_")
    else:
        x = _convolved(inputs, filters, 3, strides, f"{name}project_")
        x = _activated(x, f"{name}project_")
    return _added(inputs, x, strides, drop_rate, name)


def _block(inputs: Any, filters: int, ratio: int, strides: int, drop_rate: float, name: str) -> Any:
    channels = inputs.shape[channel_axis()]
    x = _convolved(inputs, ratio * channels, 1, 1, f"{name}expand_")
    x = _activated(x, f"{name}expand_")
    x = tf.keras.layers.DepthwiseConv2D(
        3,
        strides=strides,
        padding="same",
        use_bias=False,
        depthwise_initializer=KERNEL,
        name=f"{name}dwconv2",
    )(x)
    x = _activated(_normalized(x, f"{name}bn"), name)
    x = excited(x, max(1, channels // 4), "swish", KERNEL, f"{name}se_")
    x = _convolved(x, filters, 1, 1, f"{name}project_")
    return _added(inputs, x, strides, drop_rate, name)


def _added(inputs: Any, x: Any, strides: int, drop_rate: float, name: str) -> Any:
    if strides != 1 or inputs.shape[channel_axis()] != x.shape[channel_axis()]:
        return x
    x = dropped(x, drop_rate, f"{name}drop")
    return tf.keras.layers.Add(name=f"{name}add")([x, inputs])


def _convolved(x: Any, filters: int, kernel: int, strides: int, name: str) -> Any:
    x = tf.keras.layers.Conv2D(
        filters,
        kernel,
        strides=strides,
        padding="same",
        use_bias=False,
        kernel_initializer=KERNEL,
        name=f"{name}conv",
    )(x)
    return _normalized(x, f"{name}bn")


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(axis=channel_axis(), momentum=0.9, name=name)(x)


def _activated(x: Any, name: str) -> Any:
    return tf.keras.layers.Activation("swish", name=f"{name}activation")(x)


def _rounded(filters: float) -> int:
    return int(filters + 4) // 8 * 8

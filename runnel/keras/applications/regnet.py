"""RegNet: stage widths that follow a linear rule (Radosavovic and others, 2020)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .building import (
    channel_axis,
    check_classifier,
    check_weights,
    finished,
    image_input,
    image_shape,
    named_as,
    pooled,
)
from .preprocessing import decode_predictions as decode_predictions

# The depths of the four stages, their filters and the group width: figures 16 and 17 of the paper.
# "x" and "y" are the block types, the number is in hundreds of megaflops.
_VARIANTS = {
    "x002": ((1, 1, 4, 7), (24, 56, 152, 368), 8),
    "x004": ((1, 2, 7, 12), (32, 64, 160, 384), 16),
    "x006": ((1, 3, 5, 7), (48, 96, 240, 528), 24),
    "x008": ((1, 3, 7, 5), (64, 128, 288, 672), 16),
    "x016": ((2, 4, 10, 2), (72, 168, 408, 912), 24),
    "x032": ((2, 6, 15, 2), (96, 192, 432, 1008), 48),
    "x040": ((2, 5, 14, 2), (80, 240, 560, 1360), 40),
    "x064": ((2, 4, 10, 1), (168, 392, 784, 1624), 56),
    "x080": ((2, 5, 15, 1), (80, 240, 720, 1920), 120),
    "x120": ((2, 5, 11, 1), (224, 448, 896, 2240), 112),
    "x160": ((2, 6, 13, 1), (256, 512, 896, 2048), 128),
    "x320": ((2, 7, 13, 1), (336, 672, 1344, 2520), 168),
    "y002": ((1, 1, 4, 7), (24, 56, 152, 368), 8),
    "y004": ((1, 3, 6, 6), (48, 104, 208, 440), 8),
    "y006": ((1, 3, 7, 4), (48, 112, 256, 608), 16),
    "y008": ((1, 3, 8, 2), (64, 128, 320, 768), 16),
    "y016": ((2, 6, 17, 2), (48, 120, 336, 888), 24),
    "y032": ((2, 5, 13, 1), (72, 216, 576, 1512), 24),
    "y040": ((2, 6, 12, 2), (128, 192, 512, 1088), 64),
    "y064": ((2, 7, 14, 2), (144, 288, 576, 1296), 72),
    "y080": ((2, 4, 10, 1), (168, 448, 896, 2016), 56),
    "y120": ((2, 5, 11, 1), (224, 448, 896, 2240), 112),
    "y160": ((2, 4, 11, 1), (224, 448, 1232, 3024), 112),
    "y320": ((2, 5, 12, 1), (232, 696, 1392, 3712), 232),
}


def _model(variant: str) -> Any:
    def build(
        model_name: str = f"regnet{variant}",
        include_top: bool = True,
        include_preprocessing: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        classifier_activation: Any = "softmax",
    ) -> Any:
        return _regnet(
            variant,
            model_name,
            include_top,
            include_preprocessing,
            weights,
            input_tensor,
            input_shape,
            pooling,
            classes,
            classifier_activation,
        )

    summary = (
        f"The model of {variant[0].upper()} blocks with {int(variant[1:]) / 10} billion "
        "multiplications.\n\n"
        "    The model scales colours from 0 to 255 itself, unless `include_preprocessing` is "
        "False."
    )
    return named_as(build, f"RegNet{variant.upper()}", summary)


RegNetX002 = _model("x002")
RegNetX004 = _model("x004")
RegNetX006 = _model("x006")
RegNetX008 = _model("x008")
RegNetX016 = _model("x016")
RegNetX032 = _model("x032")
RegNetX040 = _model("x040")
RegNetX064 = _model("x064")
RegNetX080 = _model("x080")
RegNetX120 = _model("x120")
RegNetX160 = _model("x160")
RegNetX320 = _model("x320")
RegNetY002 = _model("y002")
RegNetY004 = _model("y004")
RegNetY006 = _model("y006")
RegNetY008 = _model("y008")
RegNetY016 = _model("y016")
RegNetY032 = _model("y032")
RegNetY040 = _model("y040")
RegNetY064 = _model("y064")
RegNetY080 = _model("y080")
RegNetY120 = _model("y120")
RegNetY160 = _model("y160")
RegNetY320 = _model("y320")


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Images unchanged: the model itself rescales inputs in [0, 255]."""
    return x


def _regnet(
    variant: str,
    name: str,
    include_top: bool,
    include_preprocessing: bool,
    weights: Any,
    input_tensor: Any,
    input_shape: Any,
    pooling: str | None,
    classes: int,
    classifier_activation: Any,
) -> Any:
    depths, widths, group = _VARIANTS[variant]
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 224, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = image
    if include_preprocessing:
        x = tf.keras.layers.Rescaling(scale=1.0 / 255.0, name=f"{name}_prestem_rescaling")(x)
    x = _convolved(x, 32, 3, f"{name}_stem_conv", strides=2, padding="same")
    x = _normalized(x, f"{name}_stem_bn")
    x = tf.keras.layers.ReLU(name=f"{name}_stem_relu")(x)
    kind = variant[0].upper()
    for stage, (depth, filters) in enumerate(zip(depths, widths, strict=True)):
        for index in range(depth):
            block = f"{name}_Stage_{stage}_{kind}Block_{index}"
            strides = 2 if index == 0 else 1
            x = _block(x, filters, max(1, filters // group), strides, kind == "Y", block)
    if include_top:
        number = tf.keras.backend.get_uid("")
        x = tf.keras.layers.GlobalAveragePooling2D(name=f"{number}_head_gap")(x)
        x = tf.keras.layers.Dense(classes, name=f"{number}head_dense")(x)
    else:
        x = pooled(x, pooling)
    end = "" if include_top else "_notop"
    return finished(image, x, name, weights, f"regnet/regnet{variant}{end}.h5")


def _block(inputs: Any, filters: int, groups: int, strides: int, weighed: bool, name: str) -> Any:
    shortcut = inputs
    if strides != 1:
        shortcut = _convolved(inputs, filters, 1, f"{name}_skip_1x1", strides=strides)
        shortcut = _normalized(shortcut, f"{name}_skip_bn")
    x = _convolved(inputs, filters, 1, f"{name}_conv_1x1_1")
    x = _normalized(x, f"{name}_conv_1x1_1_bn")
    x = tf.keras.layers.ReLU(name=f"{name}_conv_1x1_1_relu")(x)
    x = _convolved(x, filters, 3, f"{name}_conv_3x3", strides, "same", groups)
    x = _normalized(x, f"{name}_conv_3x3_bn")
    x = tf.keras.layers.ReLU(name=f"{name}_conv_3x3_relu")(x)
    if weighed:
        x = _weighed(x, inputs.shape[channel_axis()] // 4, f"{name}_squeeze_and_excite")
    x = _convolved(x, filters, 1, f"{name}_conv_1x1_2")
    x = _normalized(x, f"{name}_conv_1x1_2_bn")
    return tf.keras.layers.ReLU(name=f"{name}_exit_relu")(x + shortcut)


def _weighed(x: Any, filters: int, name: str) -> Any:
    """Squeeze-and-excitation: channels scaled by gates in (0, 1) from all channel means."""
    channels = x.shape[channel_axis()]
    weight = tf.keras.layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}_gap")(x)
    weight = tf.keras.layers.Conv2D(
        filters, 1, activation="relu", kernel_initializer="he_normal", name=f"{name}_squeeze"
    )(weight)
    weight = tf.keras.layers.Conv2D(
        channels, 1, activation="sigmoid", kernel_initializer="he_normal", name=f"{name}_excite"
    )(weight)
    return tf.math.multiply(weight, x)


def _convolved(
    x: Any,
    filters: int,
    kernel: int,
    name: str,
    strides: int = 1,
    padding: str = "valid",
    groups: int = 1,
) -> Any:
    return tf.keras.layers.Conv2D(
        filters,
        kernel,
        strides=strides,
        padding=padding,
        groups=groups,
        use_bias=False,
        kernel_initializer="he_normal",
        name=name,
    )(x)


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(
        axis=channel_axis(), momentum=0.9, epsilon=1e-5, name=name
    )(x)

"""MobileNetV3: designed by architecture search (Howard and others, 2019)."""

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
    in_eights,
    pooled,
    same_middle,
)
from .preprocessing import decode_predictions as decode_predictions

# Expansion ratio, filters, kernel size, strides, squeeze-and-excitation and activation ("RE": relu,
# "HS": hard swish) of each block: tables 1 and 2 of the paper.
_LARGE = (
    (1, 16, 3, 1, False, "RE"),
    (4, 24, 3, 2, False, "RE"),
    (3, 24, 3, 1, False, "RE"),
    (3, 40, 5, 2, True, "RE"),
    (3, 40, 5, 1, True, "RE"),
    (3, 40, 5, 1, True, "RE"),
    (6, 80, 3, 2, False, "HS"),
    (2.5, 80, 3, 1, False, "HS"),
    (2.3, 80, 3, 1, False, "HS"),
    (2.3, 80, 3, 1, False, "HS"),
    (6, 112, 3, 1, True, "HS"),
    (6, 112, 3, 1, True, "HS"),
    (6, 160, 5, 2, True, "HS"),
    (6, 160, 5, 1, True, "HS"),
    (6, 160, 5, 1, True, "HS"),
)
_SMALL = (
    (1, 16, 3, 2, True, "RE"),
    (72 / 16, 24, 3, 2, False, "RE"),
    (88 / 24, 24, 3, 1, False, "RE"),
    (4, 40, 5, 2, True, "HS"),
    (6, 40, 5, 1, True, "HS"),
    (6, 40, 5, 1, True, "HS"),
    (3, 48, 5, 1, True, "HS"),
    (3, 48, 5, 1, True, "HS"),
    (6, 96, 5, 2, True, "HS"),
    (6, 96, 5, 1, True, "HS"),
    (6, 96, 5, 1, True, "HS"),
)


def MobileNetV3Small(
    input_shape: Any = None,
    alpha: float = 1.0,
    minimalistic: bool = False,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    classes: int = 1000,
    pooling: str | None = None,
    dropout_rate: float = 0.2,
    classifier_activation: Any = "softmax",
    include_preprocessing: bool = True,
) -> Any:
    """MobileNetV3-Small with width multiplier `alpha`.

    The minimalistic variant has only 3 x 3 kernels and relu, and no squeeze-and-excitation. The
    model rescales inputs in [0, 255] itself, unless `include_preprocessing` is False.
    """
    return _mobilenet(
        "small",
        _SMALL,
        1024,
        input_shape,
        alpha,
        minimalistic,
        include_top,
        weights,
        input_tensor,
        classes,
        pooling,
        dropout_rate,
        classifier_activation,
        include_preprocessing,
    )


def MobileNetV3Large(
    input_shape: Any = None,
    alpha: float = 1.0,
    minimalistic: bool = False,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    classes: int = 1000,
    pooling: str | None = None,
    dropout_rate: float = 0.2,
    classifier_activation: Any = "softmax",
    include_preprocessing: bool = True,
) -> Any:
    """MobileNetV3-Large with width multiplier `alpha`.

    The minimalistic variant has only 3 x 3 kernels and relu, and no squeeze-and-excitation. The
    model rescales inputs in [0, 255] itself, unless `include_preprocessing` is False.
    """
    return _mobilenet(
        "large",
        _LARGE,
        1280,
        input_shape,
        alpha,
        minimalistic,
        include_top,
        weights,
        input_tensor,
        classes,
        pooling,
        dropout_rate,
        classifier_activation,
        include_preprocessing,
    )


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Images unchanged: the model itself rescales inputs in [0, 255]."""
    return x


def _mobilenet(
    kind: str,
    blocks: tuple,
    last_filters: int,
    input_shape: Any,
    alpha: float,
    minimalistic: bool,
    include_top: bool,
    weights: Any,
    input_tensor: Any,
    classes: int,
    pooling: str | None,
    dropout_rate: float,
    classifier_activation: Any,
    include_preprocessing: bool,
) -> Any:
    check_weights(weights, include_top, classes)
    shape = _shape(input_shape, input_tensor)
    check_classifier(classifier_activation, include_top, weights)
    if weights == "imagenet":
        _check_trained(alpha, minimalistic)
    image = image_input(input_tensor, shape)
    x = image
    if include_preprocessing:
        x = tf.keras.layers.Rescaling(scale=1.0 / 127.5, offset=-1.0)(x)
    activation = _relu if minimalistic else _hard_swish
    x = tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", use_bias=False, name="Conv")(x)
    x = activation(_normalized(x, "Conv/BatchNorm"))
    for index, (ratio, filters, kernel, strides, weighed, function) in enumerate(blocks):
        x = _block(
            x,
            ratio,
            in_eights(filters * alpha),
            3 if minimalistic else kernel,
            strides,
            weighed and not minimalistic,
            _relu if minimalistic or function == "RE" else _hard_swish,
            index,
        )
    widest = in_eights(6 * x.shape[channel_axis()])
    x = tf.keras.layers.Conv2D(widest, 1, padding="same", use_bias=False, name="Conv_1")(x)
    x = activation(_normalized(x, "Conv_1/BatchNorm"))
    if include_top:
        if alpha > 1.0:
            last_filters = in_eights(last_filters * alpha)
        x = tf.keras.layers.GlobalAveragePooling2D(keepdims=True)(x)
        x = tf.keras.layers.Conv2D(last_filters, 1, padding="same", name="Conv_2")(x)
        x = activation(x)
        if dropout_rate > 0:
            x = tf.keras.layers.Dropout(dropout_rate)(x)
        x = tf.keras.layers.Conv2D(classes, 1, padding="same", name="Logits")(x)
        x = tf.keras.layers.Flatten()(x)
        x = tf.keras.layers.Activation(classifier_activation, name="Predictions")(x)
    else:
        x = pooled(x, pooling, named=True)
    trained = f"{kind}{'_minimalistic' if minimalistic else ''}_224_{alpha}_float"
    end = ".h5" if include_top else "_no_top_v2.h5"
    file = f"mobilenet_v3/weights_mobilenet_v3_{trained}{end}"
    return finished(image, x, f"MobilenetV3{kind}", weights, file)


def _shape(input_shape: Any, input_tensor: Any) -> tuple:
    if input_tensor is not None:
        given = tuple(input_tensor.shape)[1:]
        sizes = slice(0, 2) if channel_axis() == 3 else slice(1, 3)
        if input_shape is not None and tuple(input_shape)[sizes] != given[sizes]:
            raise ValueError(
                "`input_shape` and `input_tensor` must have the same size when both are given. "
                f"Received: input_shape={tuple(input_shape)}, input_tensor.shape="
                f"{tuple(input_tensor.shape)}"
            )
        input_shape = input_shape or given
    return image_shape(input_shape, 224, 32, include_top=False, weights=None)


def _check_trained(alpha: float, minimalistic: bool) -> None:
    if alpha not in ((1.0,) if minimalistic else (0.75, 1.0)):
        raise ValueError(
            "If imagenet weights are being loaded, alpha can be one of `0.75`, `1.0` for non "
            f"minimalistic or `1.0` for minimalistic only. Received: alpha={alpha}, "
            f"minimalistic={minimalistic}"
        )


def _block(
    inputs: Any,
    ratio: float,
    filters: int,
    kernel: int,
    strides: int,
    weighed: bool,
    activation: Any,
    index: int,
) -> Any:
    name = f"expanded_conv_{index}/" if index else "expanded_conv/"
    channels = inputs.shape[channel_axis()]
    wide = in_eights(channels * ratio)
    x = inputs
    if index:
        x = tf.keras.layers.Conv2D(wide, 1, padding="same", use_bias=False, name=f"{name}expand")(x)
        x = activation(_normalized(x, f"{name}expand/BatchNorm"))
    if strides == 2:
        x = tf.keras.layers.ZeroPadding2D(same_middle(x, kernel), name=f"{name}depthwise/pad")(x)
    x = tf.keras.layers.DepthwiseConv2D(
        kernel,
        strides=strides,
        padding="same" if strides == 1 else "valid",
        use_bias=False,
        name=f"{name}depthwise",
    )(x)
    x = activation(_normalized(x, f"{name}depthwise/BatchNorm"))
    if weighed:
        x = _weighed(x, wide, f"{name}squeeze_excite/")
    x = tf.keras.layers.Conv2D(filters, 1, padding="same", use_bias=False, name=f"{name}project")(x)
    x = _normalized(x, f"{name}project/BatchNorm")
    if strides == 1 and channels == filters:
        x = tf.keras.layers.Add(name=f"{name}Add")([inputs, x])
    return x


def _weighed(x: Any, channels: int, name: str) -> Any:
    """Squeeze-and-excitation: channels scaled by gates computed from all channel means."""
    weight = tf.keras.layers.GlobalAveragePooling2D(keepdims=True, name=f"{name}AvgPool")(x)
    weight = tf.keras.layers.Conv2D(
        in_eights(channels * 0.25), 1, padding="same", name=f"{name}Conv"
    )(weight)
    weight = tf.keras.layers.ReLU(name=f"{name}Relu")(weight)
    weight = tf.keras.layers.Conv2D(channels, 1, padding="same", name=f"{name}Conv_1")(weight)
    return tf.keras.layers.Multiply(name=f"{name}Mul")([x, _hard_sigmoid(weight)])


def _relu(x: Any) -> Any:
    return tf.keras.layers.ReLU()(x)


def _hard_sigmoid(x: Any) -> Any:
    return tf.math.multiply(tf.keras.layers.ReLU(6.0)(x + 3.0), 1.0 / 6.0)


def _hard_swish(x: Any) -> Any:
    return tf.keras.layers.Multiply()([x, _hard_sigmoid(x)])


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(
        axis=channel_axis(), epsilon=1e-3, momentum=0.999, name=name
    )(x)

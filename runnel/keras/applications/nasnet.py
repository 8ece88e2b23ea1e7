"""NASNet: cells found by architecture search, stacked (Zoph and others, 2017)."""

from __future__ import annotations

from typing import Any

import runnel as tf

from . import preprocessing
from .building import (
    channel_axis,
    check_classifier,
    check_weights,
    finished,
    image_input,
    image_shape,
    pooled,
    predicted,
    same_middle,
)
from .preprocessing import decode_predictions as decode_predictions


def NASNetMobile(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """NASNet with 4 cells between reductions, for images of 224 x 224 pixels."""
    return _nasnet(
        "mobile",
        224,
        4,
        44,
        32,
        False,
        input_shape,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        classifier_activation,
    )


def NASNetLarge(
    input_shape: Any = None,
    include_top: bool = True,
    weights: Any = "imagenet",
    input_tensor: Any = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: Any = "softmax",
) -> Any:
    """NASNet with 6 cells between reductions, for images of 331 x 331 pixels."""
    return _nasnet(
        "large",
        331,
        6,
        168,
        96,
        True,
        input_shape,
        include_top,
        weights,
        input_tensor,
        pooling,
        classes,
        classifier_activation,
    )


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Scale images from [0, 255] to [-1, 1]."""
    return preprocessing.preprocess_input(x, data_format, mode="tf")


def _nasnet(
    variant: str,
    size: int,
    cells: int,
    filters: int,
    first_filters: int,
    skip_reduction: bool,
    input_shape: Any,
    include_top: bool,
    weights: Any,
    input_tensor: Any,
    pooling: str | None,
    classes: int,
    classifier_activation: Any,
) -> Any:
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, size, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = tf.keras.layers.Conv2D(
        first_filters,
        3,
        strides=2,
        use_bias=False,
        kernel_initializer="he_normal",
        name="stem_conv1",
    )(image)
    x = _normalized(x, "stem_bn1")
    before: Any = None
    x, before = _reduction_cell(x, before, filters // 4, "stem_1")
    x, before = _reduction_cell(x, before, filters // 2, "stem_2")
    for stage in range(3):
        if stage:
            x, previous = _reduction_cell(x, before, filters * 2**stage, f"reduce_{stage * cells}")
            # The large model's next cell takes its second input from before the reduction.
            before = before if skip_reduction else previous
        for index in range(cells):
            block = stage * cells + index + (stage > 0)
            x, before = _normal_cell(x, before, filters * 2**stage, block)
    x = tf.keras.layers.Activation("relu")(x)
    if include_top:
        x = predicted(pooled(x, "avg"), classes, classifier_activation)
    else:
        x = pooled(x, pooling)
    end = "" if include_top else "-no-top"
    file = f"NASNet-{variant}{end}.h5"
    saved_as = file.lower().replace("-", "_")
    return finished(image, x, "NASNet", weights, f"nasnet/{file}", saved_as=saved_as)


def _normal_cell(x: Any, before: Any, filters: int, block: int) -> tuple[Any, Any]:
    """The normal cell, which preserves the image size; also returns its input."""
    old = _adjusted(before, x, filters, f"{block}")
    new = _squeezed(x, filters, f"normal_conv_1_{block}", f"normal_bn_1_{block}")

    def separated(value: Any, kernel: int, place: str) -> Any:
        return _separated(value, filters, kernel, 1, f"normal_{place}_{block}")

    def averaged(value: Any, place: str) -> Any:
        return tf.keras.layers.AveragePooling2D(
            3, strides=1, padding="same", name=f"normal_{place}_{block}"
        )(value)

    sums = [
        [separated(new, 5, "left1"), separated(old, 3, "right1")],
        [separated(old, 5, "left2"), separated(old, 3, "right2")],
        [averaged(new, "left3"), old],
        [averaged(old, "left4"), averaged(old, "right4")],
        [separated(new, 3, "left5"), new],
    ]
    parts = [
        tf.keras.layers.Add(name=f"normal_add_{index}_{block}")(pair)
        for index, pair in enumerate(sums, start=1)
    ]
    return _joined([old, *parts], f"normal_concat_{block}"), x


def _reduction_cell(x: Any, before: Any, filters: int, block: str) -> tuple[Any, Any]:
    """The reduction cell, which halves the image size; also returns its input."""
    old = _adjusted(before, x, filters, block)
    new = _squeezed(x, filters, f"reduction_conv_1_{block}", f"reduction_bn_1_{block}")
    padded = tf.keras.layers.ZeroPadding2D(same_middle(new, 3), name=f"reduction_pad_1_{block}")(
        new
    )

    def separated(value: Any, kernel: int, strides: int, place: str) -> Any:
        return _separated(value, filters, kernel, strides, f"reduction_{place}_{block}")

    def halved(kind: Any, place: str) -> Any:
        return kind(3, strides=2, name=f"reduction_{place}_{block}")(padded)

    def added(pair: list[Any], name: str | None) -> Any:
        return tf.keras.layers.Add(name=name)(pair)

    largest = tf.keras.layers.MaxPooling2D
    average = tf.keras.layers.AveragePooling2D
    left, right = separated(new, 5, 2, "left1"), separated(old, 7, 2, "right1")
    first = added([left, right], f"reduction_add_1_{block}")
    left, right = halved(largest, "left2"), separated(old, 7, 2, "right2")
    second = added([left, right], f"reduction_add_2_{block}")
    left, right = halved(average, "left3"), separated(old, 5, 2, "right3")
    third = added([left, right], f"reduction_add3_{block}")
    left = average(3, strides=1, padding="same", name=f"reduction_left4_{block}")(first)
    fourth = added([second, left], None)
    left, right = separated(first, 3, 1, "left4"), halved(largest, "right5")
    fifth = added([left, right], f"reduction_add4_{block}")
    return _joined([second, third, fourth, fifth], f"reduction_concat_{block}"), x


def _adjusted(before: Any, x: Any, filters: int, block: str) -> Any:
    """The previous cell's input projected to the current size and number of filters."""
    if before is None:
        return x
    axis = channel_axis()
    size = 2 if axis == 1 else 1
    if before.shape[size] != x.shape[size]:
        before = tf.keras.layers.Activation("relu", name=f"adjust_relu_1_{block}")(before)
        corners = [before]
        shifted = tf.keras.layers.ZeroPadding2D(((0, 1), (0, 1)))(before)
        corners.append(tf.keras.layers.Cropping2D(((1, 0), (1, 0)))(shifted))
        halves = []
        for index, corner in enumerate(corners, start=1):
            half = tf.keras.layers.AveragePooling2D(
                1, strides=2, name=f"adjust_avg_pool_{index}_{block}"
            )(corner)
            halves.append(
                tf.keras.layers.Conv2D(
                    filters // 2,
                    1,
                    padding="same",
                    use_bias=False,
                    kernel_initializer="he_normal",
                    name=f"adjust_conv_{index}_{block}",
                )(half)
            )
        return _normalized(_joined(halves, None), f"adjust_bn_{block}")
    if before.shape[axis] != filters:
        return _squeezed(before, filters, f"adjust_conv_projection_{block}", f"adjust_bn_{block}")
    return before


def _squeezed(x: Any, filters: int, convolution: str, normalization: str) -> Any:
    x = tf.keras.layers.Activation("relu")(x)
    x = tf.keras.layers.Conv2D(
        filters,
        1,
        padding="same",
        use_bias=False,
        kernel_initializer="he_normal",
        name=convolution,
    )(x)
    return _normalized(x, normalization)


def _separated(x: Any, filters: int, kernel: int, strides: int, place: str) -> Any:
    """Two separable convolutions, the first one strided."""
    x = tf.keras.layers.Activation("relu")(x)
    if strides == 2:
        x = tf.keras.layers.ZeroPadding2D(
            same_middle(x, kernel), name=f"separable_conv_1_pad_{place}"
        )(x)
    for index, step in ((1, strides), (2, 1)):
        if index == 2:
            x = tf.keras.layers.Activation("relu")(x)
        x = tf.keras.layers.SeparableConv2D(
            filters,
            kernel,
            strides=step,
            padding="valid" if step == 2 else "same",
            use_bias=False,
            kernel_initializer="he_normal",
            name=f"separable_conv_{index}_{place}",
        )(x)
        x = _normalized(x, f"separable_conv_{index}_bn_{place}")
    return x


def _joined(parts: list[Any], name: str | None) -> Any:
    axis = -1 if channel_axis() == 3 else 1
    return tf.keras.layers.Concatenate(axis=axis, name=name)(parts)


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(
        axis=channel_axis(), momentum=0.9997, epsilon=1e-3, name=name
    )(x)

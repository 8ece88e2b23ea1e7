"""ResNet-RS: ResNet with improved training, scaling and squeeze-and-excitation (Bello and others,
2021).
"""

from __future__ import annotations

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
    predicted,
)
from .preprocessing import decode_predictions as decode_predictions

# The depths of the four stages, the rates of dropout and stochastic depth, and the image sizes with
# pretrained weights.
_VARIANTS = {
    50: ((3, 4, 6, 3), 0.25, 0.0, (160,)),
    101: ((3, 4, 23, 3), 0.25, 0.0, (160, 192)),
    152: ((3, 8, 36, 3), 0.25, 0.0, (192, 224, 256)),
    200: ((3, 24, 36, 3), 0.25, 0.1, (256,)),
    270: ((4, 29, 53, 4), 0.25, 0.1, (256,)),
    350: ((4, 36, 72, 4), 0.4, 0.1, (256, 320)),
    420: ((4, 44, 87, 4), 0.4, 0.1, (320,)),
}
_KERNEL = {
    "class_name": "VarianceScaling",
    "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"},
}


def _model(layers: int) -> Any:
    def build(
        include_top: bool = True,
        weights: Any = "imagenet",
        classes: int = 1000,
        input_shape: Any = None,
        input_tensor: Any = None,
        pooling: str | None = None,
        classifier_activation: Any = "softmax",
        include_preprocessing: bool = True,
    ) -> Any:
        return _resnet_rs(
            layers,
            include_top,
            weights,
            classes,
            input_shape,
            input_tensor,
            pooling,
            classifier_activation,
            include_preprocessing,
        )

    names = " or ".join(f'"imagenet-i{size}"' for size in _VARIANTS[layers][3])
    summary = (
        f"The model with {layers} layers of weights.\n\n"
        "    The model scales colours from 0 to 255 itself, unless `include_preprocessing` is\n"
        f"    False. Its weights may be {names}, for the size of images they were trained on."
    )
    return named_as(build, f"ResNetRS{layers}", summary)


ResNetRS50 = _model(50)
ResNetRS101 = _model(101)
ResNetRS152 = _model(152)
ResNetRS200 = _model(200)
ResNetRS270 = _model(270)
ResNetRS350 = _model(350)
ResNetRS420 = _model(420)


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Images unchanged: the model itself rescales inputs in [0, 255]."""
    return x


def _resnet_rs(
    layers: int,
    include_top: bool,
    weights: Any,
    classes: int,
    input_shape: Any,
    input_tensor: Any,
    pooling: str | None,
    classifier_activation: Any,
    include_preprocessing: bool,
) -> Any:
    depths, dropout, drop_connect, sizes = _VARIANTS[layers]
    trained = f"imagenet-i{sizes[-1]}" if weights == "imagenet" else weights
    if trained in [f"imagenet-i{size}" for size in sizes]:
        weights = "imagenet"
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 224, 32, include_top, weights=None)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = _scaled(image) if include_preprocessing else image
    for index, (filters, strides) in enumerate(((32, 2), (32, 1), (64, 1), (64, 2)), start=1):
        x = _convolved(x, filters, 3, strides, f"stem_1_stem_conv_{index}")
        x = _normalized(x, f"stem_1_stem_batch_norm_{index}")
        x = tf.keras.layers.Activation("relu", name=f"stem_1_stem_act_{index}")(x)
    for group, depth in enumerate(depths, start=2):
        rate = drop_connect * group / (len(depths) + 1)
        for index in range(depth):
            strides = 2 if index == 0 and group > 2 else 1
            name = f"BlockGroup{group}__block_{index}_"
            x = _block(x, 2 ** (group + 4), strides, index == 0, rate, name)
    if include_top:
        x = tf.keras.layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = tf.keras.layers.Dropout(dropout, name="top_dropout")(x)
        x = predicted(x, classes, classifier_activation)
    else:
        x = pooled(x, pooling, named=True)
    name = f"resnet-rs-{layers}"
    size = str(trained).removeprefix("imagenet-")
    end = "" if include_top else "_notop"
    return finished(image, x, name, weights, f"resnet_rs/{name}-{size}{end}.h5")


def _scaled(image: Any) -> Any:
    x = tf.keras.layers.Rescaling(scale=1.0 / 255)(image)
    if x.shape[channel_axis()] != 3:
        return x
    return tf.keras.layers.Normalization(
        mean=[0.485, 0.456, 0.406],
        variance=[0.229**2, 0.224**2, 0.225**2],
        axis=channel_axis(),
    )(x)


def _block(
    inputs: Any, filters: int, strides: int, project: bool, drop_rate: float, name: str
) -> Any:
    shortcut = inputs
    if project:
        if strides == 2:
            shortcut = tf.keras.layers.AveragePooling2D(
                2, strides=2, padding="same", name=f"{name}_projection_pooling"
            )(inputs)
        shortcut = _convolved(shortcut, 4 * filters, 1, 1, f"{name}_projection_conv")
        shortcut = _normalized(shortcut, f"{name}_projection_batch_norm")
    x = _convolved(inputs, filters, 1, 1, f"{name}_conv_1")
    x = _normalized(x, f"{name}batch_norm_1")
    x = tf.keras.layers.Activation("relu", name=f"{name}_act_1")(x)
    x = _convolved(x, filters, 3, strides, f"{name}_conv_2")
    x = _normalized(x, f"{name}_batch_norm_2")
    x = tf.keras.layers.Activation("relu", name=f"{name}_act_2")(x)
    x = _convolved(x, 4 * filters, 1, 1, f"{name}_conv_3")
    x = _normalized(x, f"{name}_batch_norm_3")
    x = excited(x, filters, "relu", _KERNEL, f"{name}_se_se_")
    if drop_rate:
        x = tf.keras.layers.Dropout(drop_rate, noise_shape=(None, 1, 1, 1), name=f"{name}_drop")(x)
    x = tf.keras.layers.Add()([x, shortcut])
    return tf.keras.layers.Activation("relu", name=f"{name}_output_act")(x)


def _convolved(x: Any, filters: int, kernel: int, strides: int, name: str) -> Any:
    if strides > 1:
        x = tf.keras.layers.ZeroPadding2D(kernel // 2)(x)
    return tf.keras.layers.Conv2D(
        filters,
        kernel,
        strides=strides,
        padding="same" if strides == 1 else "valid",
        use_bias=False,
        kernel_initializer=_KERNEL,
        name=name,
    )(x)


def _normalized(x: Any, name: str) -> Any:
    return tf.keras.layers.BatchNormalization(
        axis=channel_axis(), epsilon=1e-5, momentum=0.0, name=name
    )(x)

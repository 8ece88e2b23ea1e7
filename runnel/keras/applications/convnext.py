"""ConvNeXt: a convolutional network modelled on transformers (Liu and others, 2022)."""

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

# The depths of the four stages and their filters.
_VARIANTS = {
    "tiny": ((3, 3, 9, 3), (96, 192, 384, 768)),
    "small": ((3, 3, 27, 3), (96, 192, 384, 768)),
    "base": ((3, 3, 27, 3), (128, 256, 512, 1024)),
    "large": ((3, 3, 27, 3), (192, 384, 768, 1536)),
    "xlarge": ((3, 3, 27, 3), (256, 512, 1024, 2048)),
}
_EPSILON = 1e-6


class LayerScale(tf.keras.layers.Layer):
    """Per-channel scaling by trainable factors, small at first (Touvron and others, 2021)."""

    def __init__(self, init_values: float, projection_dim: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.init_values = init_values
        self.projection_dim = projection_dim

    def build(self, input_shape: Any) -> None:
        """Create the factors."""
        self.gamma = self.add_weight(
            name="gamma",
            shape=(self.projection_dim,),
            initializer=tf.keras.initializers.Constant(self.init_values),
            trainable=True,
        )
        super().build(input_shape)

    def call(self, x: Any) -> Any:
        """Scale the features."""
        return x * self.gamma

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = super().get_config()
        config.update({"init_values": self.init_values, "projection_dim": self.projection_dim})
        return config


def _model(variant: str) -> Any:
    def build(
        model_name: str = f"convnext_{variant}",
        include_top: bool = True,
        include_preprocessing: bool = True,
        weights: Any = "imagenet",
        input_tensor: Any = None,
        input_shape: Any = None,
        pooling: str | None = None,
        classes: int = 1000,
        classifier_activation: Any = "softmax",
    ) -> Any:
        return _convnext(
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

    public = {"xlarge": "XLarge"}.get(variant, variant.capitalize())
    summary = (
        f"The {variant} model, for images of 224 x 224 pixels.\n\n"
        "    The model scales colours from 0 to 255 itself, unless `include_preprocessing` is "
        "False."
    )
    return named_as(build, f"ConvNeXt{public}", summary)


ConvNeXtTiny = _model("tiny")
ConvNeXtSmall = _model("small")
ConvNeXtBase = _model("base")
ConvNeXtLarge = _model("large")
ConvNeXtXLarge = _model("xlarge")


def preprocess_input(x: Any, data_format: str | None = None) -> Any:
    """Images unchanged: the model itself rescales inputs in [0, 255]."""
    return x


def _convnext(
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
    depths, widths = _VARIANTS[variant]
    check_weights(weights, include_top, classes)
    shape = image_shape(input_shape, 224, 32, include_top, weights)
    check_classifier(classifier_activation, include_top, weights)
    image = image_input(input_tensor, shape)
    x = image
    if include_preprocessing and x.shape[channel_axis()] == 3:
        x = _scaled(x, f"{name}_prestem_normalization")
    # The downsampling layers are nested models, all created before the first is called.
    halvings = [
        tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(widths[0], 4, strides=4, name=f"{name}_stem_conv"),
                _normalization(f"{name}_stem_layernorm"),
            ],
            name=f"{name}_stem",
        )
    ]
    for index, filters in enumerate(widths[1:]):
        halvings.append(
            tf.keras.Sequential(
                [
                    _normalization(f"{name}_downsampling_layernorm_{index}"),
                    tf.keras.layers.Conv2D(
                        filters, 2, strides=2, name=f"{name}_downsampling_conv_{index}"
                    ),
                ],
                name=f"{name}_downsampling_block_{index}",
            )
        )
    for stage, (depth, filters) in enumerate(zip(depths, widths, strict=True)):
        x = halvings[stage](x)
        for index in range(depth):
            x = _block(x, filters, f"{name}_stage_{stage}_block_{index}")
    if include_top:
        x = tf.keras.layers.GlobalAveragePooling2D(name=f"{name}_head_gap")(x)
        x = _normalization(f"{name}_head_layernorm")(x)
        x = tf.keras.layers.Dense(
            classes, activation=classifier_activation, name=f"{name}_head_dense"
        )(x)
    else:
        x = _normalization(None)(pooled(x, pooling))
    end = "" if include_top else "_notop"
    return finished(image, x, name, weights, f"convnext/convnext_{variant}{end}.h5")


def _scaled(image: Any, name: str) -> Any:
    return tf.keras.layers.Normalization(
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        variance=[(0.229 * 255) ** 2, (0.224 * 255) ** 2, (0.225 * 255) ** 2],
        name=name,
    )(image)


def _block(inputs: Any, filters: int, name: str) -> Any:
    x = tf.keras.layers.Conv2D(
        filters, 7, padding="same", groups=filters, name=f"{name}_depthwise_conv"
    )(inputs)
    x = _normalization(f"{name}_layernorm")(x)
    x = tf.keras.layers.Dense(4 * filters, name=f"{name}_pointwise_conv_1")(x)
    x = tf.keras.layers.Activation("gelu", name=f"{name}_gelu")(x)
    x = tf.keras.layers.Dense(filters, name=f"{name}_pointwise_conv_2")(x)
    x = LayerScale(1e-6, filters, name=f"{name}_layer_scale")(x)
    return inputs + tf.keras.layers.Activation("linear", name=f"{name}_identity")(x)


def _normalization(name: str | None) -> Any:
    return tf.keras.layers.LayerNormalization(epsilon=_EPSILON, name=name)

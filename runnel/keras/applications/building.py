"""What all model families share: inputs, validation and pretrained weights."""

from __future__ import annotations

import os
import struct
from typing import Any

import runnel as tf

from .hashes import HASHES

_ORIGIN = "https://storage.googleapis.com/tensorflow/keras-applications/"


def channel_axis() -> int:
    """The channel axis of a batch of images."""
    return 3 if tf.keras.backend.image_data_format() == "channels_last" else 1


def check_arguments(unknown: dict[str, Any]) -> None:
    """Raise ValueError for arguments that no model accepts."""
    if unknown:
        raise ValueError(f"Unknown argument(s): {unknown}")


def check_weights(weights: Any, include_top: bool, classes: int) -> None:
    """Raise ValueError unless the weights exist and match the number of classes."""
    if weights not in (None, "imagenet") and not os.path.exists(weights):
        raise ValueError(
            "The `weights` argument should be either `None` (random initialization), `imagenet` "
            "(pre-training on ImageNet), or the path to the weights file to be loaded. "
            f"Received: weights={weights}"
        )
    if weights == "imagenet" and include_top and classes != 1000:
        raise ValueError(
            'If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be '
            f"1000. Received: classes={classes}"
        )


def image_shape(
    input_shape: Any, default_size: int, smallest: int, include_top: bool, weights: Any
) -> tuple:
    """The shape of one image; ValueError if the model does not support it."""
    first = tf.keras.backend.image_data_format() == "channels_first"
    default = (3, default_size, default_size) if first else (default_size, default_size, 3)
    if not input_shape:
        if include_top:
            return default
        return (3, None, None) if first else (None, None, 3)
    input_shape = tuple(input_shape)
    if weights == "imagenet" and include_top:
        if input_shape != default:
            raise ValueError(
                "When setting `include_top=True` and loading `imagenet` weights, `input_shape` "
                f"should be {default}. Received: input_shape={input_shape}"
            )
        return default
    if len(input_shape) != 3:
        raise ValueError(
            f"`input_shape` must be a tuple of three integers. Received: input_shape={input_shape}"
        )
    channels = input_shape[0 if first else 2]
    if weights == "imagenet" and channels != 3:
        raise ValueError(f"The input must have 3 channels; Received `input_shape={input_shape}`")
    sizes = input_shape[1:] if first else input_shape[:2]
    if any(size is not None and size < smallest for size in sizes):
        raise ValueError(
            f"Input size must be at least {smallest}x{smallest}; "
            f"Received: input_shape={input_shape}"
        )
    if include_top and None in input_shape:
        raise ValueError(
            "If `include_top` is True, you should specify a static `input_shape`. "
            f"Received: input_shape={input_shape}"
        )
    return input_shape


def image_input(input_tensor: Any, shape: tuple) -> Any:
    """The input tensor of a model's first layer."""
    if input_tensor is None:
        return tf.keras.Input(shape=shape)
    if tf.keras.backend.is_keras_tensor(input_tensor):
        return input_tensor
    return tf.keras.Input(tensor=input_tensor, shape=shape)


def pooled(x: Any, pooling: str | None, named: bool = False) -> Any:
    """Global pooling of the features if `pooling` is "avg" or "max", else the features."""
    if pooling == "avg":
        name = "avg_pool" if named else None
        return tf.keras.layers.GlobalAveragePooling2D(name=name)(x)
    if pooling == "max":
        name = "max_pool" if named else None
        return tf.keras.layers.GlobalMaxPooling2D(name=name)(x)
    return x


def classified(x: Any, classes: int, activation: Any) -> Any:
    """Global average pooling and the classification layer."""
    x = tf.keras.layers.GlobalAveragePooling2D(name="avg_pool")(x)
    return predicted(x, classes, activation)


def predicted(x: Any, classes: int, activation: Any) -> Any:
    """The classification layer."""
    return tf.keras.layers.Dense(classes, activation=activation, name="predictions")(x)


def excited(x: Any, filters: int, activation: Any, initializer: Any, name: str) -> Any:
    """Squeeze-and-excitation: channels scaled by gates in (0, 1) computed from all channel means.

    Hu and others, "Squeeze-and-Excitation Networks", 2017.
    """
    channels = x.shape[channel_axis()]
    kind = {"padding": "same", "kernel_initializer": initializer}
    weight = tf.keras.layers.GlobalAveragePooling2D(name=f"{name}squeeze")(x)
    shape = (channels, 1, 1) if channel_axis() == 1 else (1, 1, channels)
    weight = tf.keras.layers.Reshape(shape, name=f"{name}reshape")(weight)
    weight = tf.keras.layers.Conv2D(
        filters, 1, activation=activation, name=f"{name}reduce", **kind
    )(weight)
    weight = tf.keras.layers.Conv2D(
        channels, 1, activation="sigmoid", name=f"{name}expand", **kind
    )(weight)
    return tf.keras.layers.Multiply(name=f"{name}excite")([x, weight])


def same_middle(x: Any, kernel: int) -> tuple[tuple[int, int], ...]:
    """The zero padding with which a convolution of stride 2 stays centered."""
    sizes = x.shape[1:3] if channel_axis() == 3 else x.shape[2:4]
    half = kernel // 2
    return tuple((half - 1 if size is None or size % 2 == 0 else half, half) for size in sizes)


def in_eights(filters: float) -> int:
    """The nearest multiple of 8, at least 8 and at least nine tenths of the number."""
    rounded = max(8, int(filters + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * filters else rounded


def named_as(build: Any, name: str, summary: str) -> Any:
    """A function created for one variant of a family, under its public name."""
    build.__name__ = build.__qualname__ = name
    build.__doc__ = summary
    return build


def check_classifier(activation: Any, include_top: bool, weights: Any) -> None:
    """Raise ValueError unless a pretrained classifier's activation is softmax or None."""
    if weights != "imagenet" or not include_top:
        return
    function = tf.keras.activations.get(activation)
    if function not in (tf.keras.activations.get("softmax"), tf.keras.activations.get(None)):
        raise ValueError(
            "Only `None` and `softmax` activations are allowed for the `classifier_activation` "
            "argument when using pretrained weights, with `include_top=True`; "
            f"Received: classifier_activation={activation}"
        )


def finished(
    image: Any,
    x: Any,
    name: str,
    weights: Any,
    file: str,
    origin: str | None = None,
    saved_as: str | None = None,
) -> Any:
    """The model from its image input to its output, with its weights loaded.

    `file` is the ImageNet weights file, at `origin` or the default location; it is downloaded on
    request, and cached under the same name or `saved_as`.
    """
    model = tf.keras.Model(_sources(image), x, name=name)
    if weights == "imagenet":
        saved_as = saved_as or file.rsplit("/", 1)[-1]
        _load_trained(model, (origin or _ORIGIN) + file, saved_as)
    elif weights is not None:
        model.load_weights(weights)
    return model


def _load_trained(model: Any, address: str, saved_as: str) -> None:
    file_hash = HASHES.get(saved_as)
    path = tf.keras.utils.get_file(saved_as, address, cache_subdir="models", file_hash=file_hash)
    try:
        model.load_weights(path)
    except (OSError, ValueError, KeyError, IndexError, TypeError, struct.error) as error:
        if file_hash is not None:
            raise
        # A file without a known hash can only be validated by loading its weights.
        os.remove(path)
        raise ValueError(
            f"The file {path}, downloaded from {address}, does not hold the weights of "
            f"{model.name!r} and has been removed: {error} Call again to download it anew."
        ) from error


def kernels_file(folder: str, name: str, include_top: bool) -> str:
    """The default path of a weights file."""
    end = "" if include_top else "_notop"
    return f"{folder}/{name}_weights_tf_dim_ordering_tf_kernels{end}.h5"


def _sources(tensor: Any) -> Any:
    found: dict[int, Any] = {}
    pending = [tensor]
    while pending:
        current = pending.pop()
        if current.op.keras_inputs:
            pending.extend(reversed(current.op.keras_inputs))
        else:
            found[id(current)] = current
    sources = list(found.values())
    return sources[0] if len(sources) == 1 else sources


def trained_size(input_shape: Any, sizes: tuple[int, ...]) -> int:
    """The default size of square images if there are weights for it, else 224."""
    if input_shape is None:
        return 224
    first = tf.keras.backend.image_data_format() == "channels_first"
    rows, columns = (input_shape[1], input_shape[2]) if first else (input_shape[0], input_shape[1])
    return rows if rows == columns and rows in sizes else 224

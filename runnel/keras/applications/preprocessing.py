"""Preprocessing of images for pretrained models, and decoding of predictions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import runnel as tf

from .hashes import HASHES

_MODES = ("caffe", "tf", "torch")
_CLASS_INDEX = (
    "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
)
_BLUE_GREEN_RED_MEAN = (103.939, 116.779, 123.68)
_TORCH_MEAN = (0.485, 0.456, 0.406)
_TORCH_DEVIATION = (0.229, 0.224, 0.225)


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Preprocess images in [0, 255] as in the models' training.

    "caffe": BGR with the channel means subtracted; "tf": scaled to [-1, 1]; "torch": scaled to [0,
    1] and standardized per channel. Floating-point NumPy arrays are modified in place.

    >>> tf.keras.applications.imagenet_utils.preprocess_input(np.array([[[[0., 255., 0.]]]]),
    ...                                                       mode="tf")
    array([[[[-1.,  1., -1.]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}"
        )
    if data_format is None:
        data_format = tf.keras.backend.image_data_format()
    elif data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            "Expected data_format to be one of `channels_first` or `channels_last`. "
            f"Received: data_format={data_format}"
        )
    if isinstance(x, np.ndarray):
        return _scaled_array(x, data_format, mode)
    return _scaled_tensor(x, data_format, mode)


def _scaled_array(x: np.ndarray, data_format: str, mode: str) -> np.ndarray:
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(tf.keras.backend.floatx())
    if mode == "tf":
        x /= 127.5
        x -= 1.0
        return x
    axis = x.ndim - 3 if data_format == "channels_first" else x.ndim - 1
    shape = [3 if index == axis else 1 for index in range(x.ndim)]
    if mode == "torch":
        x /= 255.0
        x -= np.reshape(_TORCH_MEAN, shape)
        x /= np.reshape(_TORCH_DEVIATION, shape)
        return x
    x = np.flip(x, axis)
    x -= np.reshape(_BLUE_GREEN_RED_MEAN, shape)
    return x


def _scaled_tensor(x: Any, data_format: str, mode: str) -> Any:
    x = tf.convert_to_tensor(x) if not tf.keras.backend.is_keras_tensor(x) else x
    if not x.dtype.is_floating:
        x = tf.cast(x, tf.keras.backend.floatx())
    if mode == "tf":
        return x / 127.5 - 1.0
    rank = len(x.shape)
    axis = rank - 3 if data_format == "channels_first" else rank - 1
    shape = [3 if index == axis else 1 for index in range(rank)]

    def per_channel(values: tuple) -> np.ndarray:
        return np.reshape(values, shape).astype(x.dtype.as_numpy_dtype)

    if mode == "torch":
        return (x / 255.0 - per_channel(_TORCH_MEAN)) / per_channel(_TORCH_DEVIATION)
    return tf.reverse(x, [axis]) - per_channel(_BLUE_GREEN_RED_MEAN)


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """The top ImageNet classes of each row: `(class, description, score)`.

    The class names are downloaded on first use.
    """
    preds = np.asarray(preds)
    if preds.ndim != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape "
            f"(samples, 1000)). Found array with shape: {preds.shape}"
        )
    name = _CLASS_INDEX.rsplit("/", 1)[-1]
    path = tf.keras.utils.get_file(
        name, _CLASS_INDEX, cache_subdir="models", file_hash=HASHES[name]
    )
    with open(path, encoding="utf-8") as file:
        classes = json.load(file)
    results = []
    for row in preds:
        best = row.argsort()[-top:][::-1]
        results.append([(*classes[str(index)], row[index]) for index in best])
    return results

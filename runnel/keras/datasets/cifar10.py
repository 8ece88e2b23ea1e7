"""tf.keras.datasets.cifar10: 60,000 small photographs in 10 classes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..backend.settings import image_data_format
from .origins import fetch, read_pickle


def load_data(cache_dir: Any = None) -> tuple:
    """Photographs of 32 x 32 pixels: `(x_train, y_train), (x_test, y_test)`, uint8."""
    folder = fetch("cifar-10-batches-py", untar=True, cache_dir=cache_dir)
    batches = [read_batch(os.path.join(folder, f"data_batch_{number}")) for number in range(1, 6)]
    train = tuple(np.concatenate(arrays) for arrays in zip(*batches, strict=True))
    test = read_batch(os.path.join(folder, "test_batch"))
    return train, test


def read_batch(path: str, label_key: str = "labels") -> tuple[np.ndarray, np.ndarray]:
    """Images and a column of labels from one file of CIFAR."""
    content = read_pickle(path)
    images = content["data"].reshape(-1, 3, 32, 32)
    if image_data_format() == "channels_last":
        images = images.transpose(0, 2, 3, 1)
    return images, np.array(content[label_key], dtype="uint8").reshape(-1, 1)

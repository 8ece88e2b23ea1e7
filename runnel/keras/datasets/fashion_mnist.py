"""tf.keras.datasets.fashion_mnist: 70,000 pictures of clothes."""

from __future__ import annotations

import gzip
import os
from typing import Any

import numpy as np

from .origins import fetch


def load_data(cache_dir: Any = None) -> tuple:
    """Pictures of 28 x 28 pixels in 10 classes: `(x_train, y_train), (x_test, y_test)`, uint8."""
    parts = []
    for part in ("train", "t10k"):
        labels = _content(f"{part}-labels-idx1-ubyte.gz", 8, cache_dir)
        images = _content(f"{part}-images-idx3-ubyte.gz", 16, cache_dir)
        parts.append((images.reshape(len(labels), 28, 28), labels))
    return tuple(parts)


def _content(name: str, header: int, cache_dir: Any) -> np.ndarray:
    path = fetch(name, cache_dir=cache_dir, cache_subdir=os.path.join("datasets", "fashion-mnist"))
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header).copy()

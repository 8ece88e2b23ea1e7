"""tf.keras.datasets.cifar100: 60,000 small photographs in 100 classes."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .cifar10 import read_batch
from .origins import fetch


def load_data(label_mode: str = "fine", cache_dir: Any = None) -> tuple:
    """Photographs of 32 x 32 pixels: `(x_train, y_train), (x_test, y_test)`.

    Args:
      label_mode: "fine" for 100 classes, "coarse" for the 20 superclasses.
      cache_dir: The cache; by default `~/.keras`.
    """
    if label_mode not in ("fine", "coarse"):
        raise ValueError(
            f'`label_mode` must be one of `"fine"`, `"coarse"`. Received: label_mode={label_mode}.'
        )
    folder = fetch("cifar-100-python", untar=True, cache_dir=cache_dir)
    (x_train, y_train), (x_test, y_test) = (
        read_batch(os.path.join(folder, part), f"{label_mode}_labels") for part in ("train", "test")
    )
    return (x_train, y_train.astype(np.int64)), (x_test, y_test.astype(np.int64))

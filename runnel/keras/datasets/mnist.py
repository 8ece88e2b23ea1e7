"""tf.keras.datasets.mnist: 70,000 handwritten digits."""

from __future__ import annotations

from typing import Any

import numpy as np

from .origins import fetch


def load_data(path: str = "mnist.npz", cache_dir: Any = None) -> tuple:
    """60,000 and 10,000 digits of 28 x 28 pixels: `(x_train, y_train), (x_test, y_test)`, uint8."""
    with np.load(fetch("mnist.npz", path, cache_dir=cache_dir)) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])

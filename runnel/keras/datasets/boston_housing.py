"""tf.keras.datasets.boston_housing: prices of 506 houses in the 1970s."""

from __future__ import annotations

from typing import Any

import numpy as np

from .origins import fetch


def load_data(
    path: str = "boston_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
    cache_dir: Any = None,
) -> tuple:
    """13 features and the price in $1000: `(x_train, y_train), (x_test, y_test)`.

    One of the features is about the colour of people's skin; do not build anything real on it.
    """
    check_test_split(test_split)
    with np.load(fetch("boston_housing.npz", path, cache_dir=cache_dir)) as file:
        return mixed_and_split(file["x"], file["y"], test_split, seed)


def check_test_split(test_split: float) -> None:
    """Raise ValueError unless the fraction is in [0, 1)."""
    if not 0 <= test_split < 1:
        raise ValueError(
            f"Invalid `test_split` argument: {test_split}. It must be between 0 and 1 "
            "(exclusive of 1)."
        )


def mixed_and_split(x: np.ndarray, y: np.ndarray, test_split: float, seed: int) -> tuple:
    """The rows shuffled and split; the last part is the test data."""
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    x, y = x[order], y[order]
    split = int(len(x) * (1 - test_split))
    return (x[:split], y[:split]), (x[split:], y[split:])

"""tf.keras.datasets.california_housing: prices of 20,640 districts in 1990."""

from __future__ import annotations

import numpy as np

from .boston_housing import check_test_split, mixed_and_split
from .origins import fetch


def load_data(
    version: str = "large",
    path: str = "california_housing.npz",
    test_split: float = 0.2,
    seed: int = 113,
) -> tuple:
    """8 features and the median price: `(x_train, y_train), (x_test, y_test)`.

    Args:
      version: "large" for all districts, "small" for the first 600.
      path: Name of the file in the cache.
      test_split: The fraction of test data.
      seed: Seed of the shuffle.
    """
    check_test_split(test_split)
    if version not in ("large", "small"):
        raise ValueError(
            f"Argument `version` must be one of 'small', 'large'. Received: version={version}"
        )
    with np.load(fetch("california_housing.npz", path), allow_pickle=True) as file:
        x, y = file["x"], file["y"]
    if version == "small":
        x, y = x[:600], y[:600]
    return mixed_and_split(x, y, test_split, seed)

"""Means of cross entropies and similar losses."""

from __future__ import annotations

from typing import Any

from ..losses import functions
from .mean import MeanMetricWrapper


class Poisson(MeanMetricWrapper):
    """mean(y_pred - y_true log(y_pred))."""

    def __init__(self, name: str | None = "poisson", dtype: Any = None) -> None:
        super().__init__(functions.poisson, name, dtype=dtype)


class KLDivergence(MeanMetricWrapper):
    """sum(y_true log(y_true / y_pred))."""

    def __init__(self, name: str | None = "kullback_leibler_divergence", dtype: Any = None) -> None:
        super().__init__(functions.kl_divergence, name, dtype=dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The binary cross entropy of labels and probabilities, or logits."""

    def __init__(
        self,
        name: str | None = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        super().__init__(
            functions.binary_crossentropy,
            name,
            dtype=dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
        )


class CategoricalCrossentropy(MeanMetricWrapper):
    """The cross entropy of one-hot labels and probabilities, or logits."""

    def __init__(
        self,
        name: str | None = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
        axis: int = -1,
    ) -> None:
        super().__init__(
            functions.categorical_crossentropy,
            name,
            dtype=dtype,
            from_logits=from_logits,
            label_smoothing=label_smoothing,
            axis=axis,
        )


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The cross entropy of class indices and probabilities, or logits."""

    def __init__(
        self,
        name: str | None = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
    ) -> None:
        super().__init__(
            functions.sparse_categorical_crossentropy,
            name,
            dtype=dtype,
            from_logits=from_logits,
            ignore_class=ignore_class,
            axis=axis,
        )

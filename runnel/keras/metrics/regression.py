"""Regression errors, hinge losses and R²."""

from __future__ import annotations

import warnings
from typing import Any

import runnel as tf

from ..losses import functions
from ..losses.weighting import squeeze_to_match
from .base import Metric
from .mean import Mean, MeanMetricWrapper


class MeanSquaredError(MeanMetricWrapper):
    """mean((y_true - y_pred)²)."""

    def __init__(self, name: str | None = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_squared_error, name, dtype=dtype)


class MeanAbsoluteError(MeanMetricWrapper):
    """mean(|y_true - y_pred|)."""

    def __init__(self, name: str | None = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(functions.mean_absolute_error, name, dtype=dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """100 mean(|y_true - y_pred| / |y_true|)."""

    def __init__(
        self, name: str | None = "mean_absolute_percentage_error", dtype: Any = None
    ) -> None:
        super().__init__(functions.mean_absolute_percentage_error, name, dtype=dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """mean((log(y_true + 1) - log(y_pred + 1))²)."""

    def __init__(
        self, name: str | None = "mean_squared_logarithmic_error", dtype: Any = None
    ) -> None:
        super().__init__(functions.mean_squared_logarithmic_error, name, dtype=dtype)


class Hinge(MeanMetricWrapper):
    """mean(max(1 - y_true y_pred, 0)) for labels -1 and 1 (or 0 and 1)."""

    def __init__(self, name: str | None = "hinge", dtype: Any = None) -> None:
        super().__init__(functions.hinge, name, dtype=dtype)


class SquaredHinge(MeanMetricWrapper):
    """mean(max(1 - y_true y_pred, 0)²) for labels -1 and 1 (or 0 and 1)."""

    def __init__(self, name: str | None = "squared_hinge", dtype: Any = None) -> None:
        super().__init__(functions.squared_hinge, name, dtype=dtype)


class CategoricalHinge(MeanMetricWrapper):
    """max(neg - pos + 1, 0): pos = sum(y_true y_pred), neg = max((1 - y_true) y_pred)."""

    def __init__(self, name: str | None = "categorical_hinge", dtype: Any = None) -> None:
        super().__init__(functions.categorical_hinge, name, dtype=dtype)


class LogCoshError(MeanMetricWrapper):
    """mean(log(cosh(y_pred - y_true)))."""

    def __init__(self, name: str | None = "logcosh", dtype: Any = None) -> None:
        super().__init__(functions.log_cosh, name, dtype=dtype)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> tf.Tensor:
    """The cosine similarity of labels and predictions; 1 for equal directions."""
    return -functions.cosine_similarity(y_true, y_pred, axis)


class CosineSimilarity(MeanMetricWrapper):
    """The cosine similarity of labels and predictions; unlike the loss not negated.

    >>> tf.keras.metrics.CosineSimilarity(axis=1)([[0.0, 2.0]], [[0.0, 5.0]]).numpy().item()
    1.0
    """

    def __init__(
        self, name: str | None = "cosine_similarity", dtype: Any = None, axis: int = -1
    ) -> None:
        super().__init__(cosine_similarity, name, dtype=dtype, axis=axis)


class RootMeanSquaredError(Mean):
    """sqrt(mean((y_true - y_pred)²)).

    >>> tf.keras.metrics.RootMeanSquaredError()([0.0, 0.0], [3.0, 3.0]).numpy().item()
    3.0
    """

    def __init__(self, name: str | None = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype=dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Accumulate labels and predictions."""
        y_true = tf.cast(y_true, self._value_dtype)
        y_pred = tf.cast(y_pred, self._value_dtype)
        y_true, y_pred = squeeze_to_match(y_true, y_pred)
        return super().update_state(tf.math.squared_difference(y_pred, y_true), sample_weight)

    def result(self) -> Any:
        """The root of the accumulated mean."""
        return tf.sqrt(tf.math.divide_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """mean(|y_true - y_pred| / normalizer).

    >>> metric = tf.keras.metrics.MeanRelativeError(normalizer=[1.0, 3.0])
    >>> metric([1.0, 3.0], [2.0, 6.0]).numpy().item()
    1.0
    """

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.normalizer = tf.cast(normalizer, self._value_dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Accumulate labels and predictions."""
        y_true = tf.cast(y_true, self._value_dtype)
        y_pred = tf.cast(y_pred, self._value_dtype)
        y_true, y_pred = squeeze_to_match(y_true, y_pred)
        errors = tf.math.divide_no_nan(tf.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight=sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "normalizer": self.normalizer.numpy()}


_AGGREGATIONS = (None, "uniform_average", "variance_weighted_average")


class R2Score(Metric):
    """1 - sum((y_true - y_pred)²) / sum((y_true - mean(y_true))²), for each output.

    With `num_regressors` p the score of n samples is adjusted: 1 - (1 - r²) (n - 1) / (n - p - 1).

    >>> tf.keras.metrics.R2Score()([[1.0], [4.0], [3.0]], [[2.0], [4.0], [4.0]]).numpy().round(4)
    np.float32(0.5714)
    """

    squared_sum: tf.Variable
    sum: tf.Variable
    residual: tf.Variable
    count: tf.Variable

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = "r2_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if class_aggregation not in _AGGREGATIONS:
            raise ValueError(
                "Invalid value for argument `class_aggregation`. Expected one of "
                f"{_AGGREGATIONS}. Received: class_aggregation={class_aggregation}"
            )
        if num_regressors < 0:
            raise ValueError(
                "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                f"num_regressors={num_regressors}"
            )
        self.class_aggregation = class_aggregation
        self.num_regressors = num_regressors
        self.num_samples = self.add_weight("num_samples", dtype="int32")
        self._outputs: int | None = None

    def _make(self, outputs: int | None) -> None:
        self._outputs = outputs
        for name in ("squared_sum", "sum", "residual", "count"):
            setattr(self, name, self.add_weight(name, shape=[outputs], initializer="zeros"))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Accumulate labels and predictions, both of shape (batch, outputs)."""
        y_true = tf.convert_to_tensor(y_true, dtype=self.dtype)
        y_pred = tf.convert_to_tensor(y_pred, dtype=self.dtype)
        if y_true.shape.rank != 2 or y_pred.shape.rank != 2:
            raise ValueError(
                "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input "
                f"shapes: y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
            )
        if self._outputs is None:
            self._make(y_pred.shape[1])
        weights = tf.cast(1.0 if sample_weight is None else sample_weight, self._value_dtype)
        if weights.shape.rank == 1:
            weights = tf.expand_dims(weights, 1)
        weighted = y_true * weights
        self.sum.assign_add(tf.reduce_sum(weighted, axis=0))
        self.squared_sum.assign_add(tf.reduce_sum(y_true * weighted, axis=0))
        self.residual.assign_add(tf.reduce_sum(tf.square(y_true - y_pred) * weights, axis=0))
        self.count.assign_add(tf.reduce_sum(tf.broadcast_to(weights, tf.shape(y_true)), axis=0))
        self.num_samples.assign_add(tf.size(y_true))

    def result(self) -> Any:
        """The score of the accumulated data."""
        mean = self.sum / self.count
        total = self.squared_sum - self.sum * mean
        raw = 1.0 - self.residual / total
        raw = tf.where(tf.math.is_inf(raw), tf.zeros_like(raw), raw)
        score = self._aggregated(raw, total)
        return score if self.num_regressors == 0 else self._adjusted(score)

    def _aggregated(self, raw: tf.Tensor, total: tf.Tensor) -> tf.Tensor:
        if self.class_aggregation == "uniform_average":
            return tf.reduce_mean(raw)
        if self.class_aggregation == "variance_weighted_average":
            return tf.reduce_sum(total * raw) / tf.reduce_sum(total)
        return raw

    def _adjusted(self, score: tf.Tensor) -> tf.Tensor:
        free = tf.cast(self.num_samples - self.num_regressors - 1, score.dtype)
        if tf.executing_eagerly() and free <= 0:
            warnings.warn(
                ("More independent predictors than datapoints" if free < 0 else "Division by zero")
                + " in adjusted R2 score. Falling back to standard R2 score.",
                stacklevel=4,
            )
        factor = tf.cast(self.num_samples - 1, score.dtype) / tf.maximum(free, 1)
        return tf.where(free > 0, 1.0 - (1.0 - score) * factor, score)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "class_aggregation": self.class_aggregation,
            "num_regressors": self.num_regressors,
        }

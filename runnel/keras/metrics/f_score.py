"""F-scores: harmonic means of precision and recall."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .base import Metric

_AVERAGES = (None, "micro", "macro", "weighted")


class FBetaScore(Metric):
    """(1 + beta²) precision recall / (beta² precision + recall), per class.

    `average` reduces the classes: over all samples ("micro"), the mean ("macro"), or the mean
    weighted by the support of each class ("weighted"). Without a `threshold` the argmax is
    predicted.

    >>> metric = tf.keras.metrics.FBetaScore(beta=2.0, threshold=0.5)
    >>> metric([[1, 1, 1], [1, 0, 0]], [[0.2, 0.6, 0.7], [0.2, 0.6, 0.6]]).numpy().round(4)
    array([0.    , 0.8333, 0.8333], dtype=float32)
    """

    true_positives: tf.Variable
    false_positives: tf.Variable
    false_negatives: tf.Variable

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = "fbeta_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if average not in _AVERAGES:
            raise ValueError(
                "Invalid `average` argument value. Expected one of: "
                f"{{{', '.join(map(repr, _AVERAGES))}}}. Received: average={average}"
            )
        _require_float("beta", beta)
        if beta <= 0.0:
            raise ValueError(
                f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}"
            )
        if threshold is not None:
            _require_float("threshold", threshold)
            if not 0.0 < threshold <= 1.0:
                raise ValueError(
                    "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. "
                    f"Received: threshold={threshold}"
                )
        self.average = average
        self.beta = beta
        self.threshold = threshold
        self.axis = None if average == "micro" else 0
        self._made = False

    def _make(self, classes: int) -> None:
        shape = [] if self.average == "micro" else [classes]
        for name in ("true_positives", "false_positives", "false_negatives"):
            setattr(self, name, self.add_weight(name, shape=shape, initializer="zeros"))
        self.intermediate_weights = self.add_weight(
            "intermediate_weights", shape=shape, initializer="zeros"
        )
        self._made = True

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Accumulate labels and predictions, both of shape (batch, classes)."""
        y_true = tf.convert_to_tensor(y_true, dtype=self.dtype)
        y_pred = tf.convert_to_tensor(y_pred, dtype=self.dtype)
        if y_true.shape.rank != 2 or y_pred.shape.rank != 2:
            raise ValueError(
                "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received input "
                f"shapes: y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
            )
        if not self._made:
            self._make(y_true.shape[-1])
        guesses = tf.cast(self._is_predicted(y_pred), self._value_dtype)
        weights = None
        if sample_weight is not None:
            weights = tf.expand_dims(tf.cast(sample_weight, self._value_dtype), 1)

        def weighted_sum(values: tf.Tensor) -> tf.Tensor:
            return tf.reduce_sum(values if weights is None else values * weights, axis=self.axis)

        self.true_positives.assign_add(weighted_sum(guesses * y_true))
        self.false_positives.assign_add(weighted_sum(guesses * (1 - y_true)))
        self.false_negatives.assign_add(weighted_sum((1 - guesses) * y_true))
        self.intermediate_weights.assign_add(weighted_sum(y_true))

    def _is_predicted(self, y_pred: tf.Tensor) -> tf.Tensor:
        if self.threshold is not None:
            return y_pred > tf.cast(self.threshold, y_pred.dtype)
        highest = tf.equal(y_pred, tf.reduce_max(y_pred, axis=-1, keepdims=True))
        # If all predictions are 0, no class is predicted.
        return tf.logical_and(highest, tf.abs(y_pred) > 1e-9)

    def result(self) -> Any:
        """The score of the accumulated data."""
        divide = tf.math.divide_no_nan
        precision = divide(self.true_positives, self.true_positives + self.false_positives)
        recall = divide(self.true_positives, self.true_positives + self.false_negatives)
        square = self.beta**2
        scores = divide((1 + square) * precision * recall, square * precision + recall)
        if self.average == "weighted":
            total = tf.reduce_sum(self.intermediate_weights)
            return tf.reduce_sum(scores * divide(self.intermediate_weights, total))
        return scores if self.average is None else tf.reduce_mean(scores)

    def reset_state(self) -> None:
        """Reset the accumulated state."""
        if self._made:
            super().reset_state()

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = {"average": self.average, "beta": self.beta, "threshold": self.threshold}
        return {**super().get_config(), **config}


class F1Score(FBetaScore):
    """2 precision recall / (precision + recall), per class."""

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = "f1_score",
        dtype: Any = None,
    ) -> None:
        super().__init__(average=average, beta=1.0, threshold=threshold, name=name, dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = super().get_config()
        del config["beta"]
        return config


def _require_float(name: str, value: Any) -> None:
    if not isinstance(value, float):
        raise ValueError(
            f"Invalid `{name}` argument value. It should be a Python float. Received: "
            f"{name}={value} of type '{type(value)}'"
        )

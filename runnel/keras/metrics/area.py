"""AUC: the area under a curve of two rates of the confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from .base import Metric
from .thresholds import KINDS, count, is_evenly_spread, spread_thresholds

_CURVES = {"roc": "ROC", "pr": "PR", "prgain": "PR_GAIN", "pr_gain": "PR_GAIN"}
_SUMMATIONS = ("interpolation", "majoring", "minoring")


class AUC(Metric):
    """The area under the ROC, precision-recall or precision-recall-gain curve.

    The curve is sampled at `num_thresholds` thresholds; between them it is interpolated, or bounded
    by the lower ("minoring") or higher ("majoring") neighbour.

    >>> tf.keras.metrics.AUC(num_thresholds=3)([0, 0, 1, 1], [0, 0.5, 0.3, 0.9]).numpy().item()
    0.75
    """

    true_positives: tf.Variable
    true_negatives: tf.Variable
    false_positives: tf.Variable
    false_negatives: tf.Variable

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        dtype: Any = None,
        thresholds: Any = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Any = None,
        from_logits: bool = False,
    ) -> None:
        self.curve = _checked_curve(curve)
        self.summation_method = _checked_summation(summation_method)
        self._given_thresholds = thresholds is not None
        if thresholds is None:
            if num_thresholds <= 1:
                raise ValueError(
                    "Argument `num_thresholds` must be an integer > 1. Received: "
                    f"num_thresholds={num_thresholds}"
                )
            limits, self._evenly_spread = spread_thresholds(num_thresholds), True
        else:
            inner = sorted(thresholds)
            limits = [spread_thresholds(2)[0], *inner, spread_thresholds(2)[1]]
            self._evenly_spread = is_evenly_spread([0.0, *inner, 1.0])
        self._limits = np.array(limits)
        self.num_thresholds = len(limits)
        if num_labels is not None and not multi_label:
            raise ValueError("`num_labels` is needed only when `multi_label` is True.")
        super().__init__(name=name, dtype=dtype)
        self.multi_label = multi_label
        self.num_labels = num_labels
        self.label_weights = _checked_label_weights(label_weights, self._value_dtype)
        self._from_logits = from_logits
        self._made = False
        if not multi_label:
            self._make(())
        elif num_labels:
            self._make((num_labels,))

    def _make(self, labels: tuple[int | None, ...]) -> None:
        for kind in KINDS:
            shape = (self.num_thresholds, *labels)
            setattr(self, kind, self.add_weight(kind, shape=shape, initializer="zeros"))
        self._made = True

    @property
    def thresholds(self) -> list[float]:
        return list(self._limits)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Accumulate labels and predictions."""
        y_pred = tf.cast(y_pred, self._value_dtype)
        if self.multi_label:
            self._check_labels(y_pred)
        if self._from_logits:
            y_pred = tf.sigmoid(y_pred)
        counts = count(
            *(y_true, y_pred, self.thresholds),
            dtype=self._value_dtype,
            sample_weight=sample_weight,
            evenly_spread=self._evenly_spread,
            multi_label=self.multi_label,
            label_weights=self.label_weights,
        )
        for kind in KINDS:
            getattr(self, kind).assign_add(getattr(counts, kind))

    def _check_labels(self, y_pred: tf.Tensor) -> None:
        if y_pred.shape.rank != 2:
            raise ValueError(
                f"`y_pred` must have rank 2 when `multi_label=True`. Found rank "
                f"{y_pred.shape.rank}. Full shape received for `y_pred`: {y_pred.shape}"
            )
        labels = y_pred.shape[1]
        if self.label_weights is not None and self.label_weights.shape[0] != labels:
            raise ValueError(
                f"There must be one label weight for each label: {self.label_weights.shape[0]} "
                f"weights were given for the {labels} labels of `y_pred`."
            )
        if not self._made:
            self._make((labels,))
        elif self.true_positives.shape[1] != labels:
            raise ValueError(
                f"The number of labels is not consistent: `y_pred` of shape {y_pred.shape} has "
                f"{labels}, the metric counts {self.true_positives.shape[1]}."
            )

    def result(self) -> Any:
        """The area of the accumulated data."""
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self.interpolate_pr_auc()
        x, y = self._points()
        if self.summation_method == "interpolation":
            heights = (y[:-1] + y[1:]) / 2.0
        elif self.summation_method == "minoring":
            heights = tf.minimum(y[:-1], y[1:])
        else:
            heights = tf.maximum(y[:-1], y[1:])
        return self._total((x[:-1] - x[1:]) * heights)

    def _points(self) -> tuple[tf.Tensor, tf.Tensor]:
        hits, alarms, misses = self.true_positives, self.false_positives, self.false_negatives
        divide = tf.math.divide_no_nan
        recall = divide(hits, hits + misses)
        if self.curve == "ROC":
            return divide(alarms, alarms + self.true_negatives), recall
        if self.curve == "PR":
            return recall, divide(hits, hits + alarms)
        # Gains are rates on a scale where predicting all positive has value 0.
        odds = divide(hits + misses, alarms + self.true_negatives)
        recall_gain = tf.maximum(1 - odds * divide(misses, hits), 0)
        recall_gain = tf.where(hits > 0, recall_gain, tf.zeros_like(recall_gain))
        return recall_gain, 1 - odds * divide(alarms, hits)

    def _total(self, areas: tf.Tensor) -> tf.Tensor:
        if not self.multi_label:
            return tf.reduce_sum(areas)
        by_label = tf.reduce_sum(areas, axis=0)
        if self.label_weights is None:
            return tf.reduce_mean(by_label)
        return tf.math.divide_no_nan(
            tf.reduce_sum(by_label * self.label_weights), tf.reduce_sum(self.label_weights)
        )

    def interpolate_pr_auc(self) -> tf.Tensor:
        """The area under the precision-recall curve, interpolated as Davis and Goadrich do.

        Between two thresholds the true positives TP grow linearly with all predicted positives P,
        so that the precision TP / P is a curve: with slope = dTP / dP and intercept =
        TP - slope P its area is (dTP + intercept log(P1 / P2)) slope / (TP + FN).
        """
        divide = tf.math.divide_no_nan
        hits, predicted = self.true_positives, self.true_positives + self.false_positives
        gained = hits[:-1] - hits[1:]
        slope = divide(gained, tf.maximum(predicted[:-1] - predicted[1:], 0))
        intercept = hits[1:] - slope * predicted[1:]
        both = tf.logical_and(predicted[:-1] > 0, predicted[1:] > 0)
        ratio = tf.where(
            both, divide(predicted[:-1], tf.maximum(predicted[1:], 0)), tf.ones_like(predicted[1:])
        )
        total = tf.maximum(hits[1:] + self.false_negatives[1:], 0)
        return self._total(divide(slope * (gained + intercept * tf.math.log(ratio)), total))

    def reset_state(self) -> None:
        """Reset the accumulated state."""
        if self._made:
            super().reset_state()

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        weights = self.label_weights
        config = {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "multi_label": self.multi_label,
            "num_labels": self.num_labels,
            "label_weights": None if weights is None else weights.numpy(),
            "from_logits": self._from_logits,
        }
        if self._given_thresholds:
            config["thresholds"] = self.thresholds[1:-1]
        return config


def _checked_curve(curve: str) -> str:
    known = _CURVES.get(str(curve).lower())
    if known is None:
        raise ValueError(
            f'Invalid AUC curve value: "{curve}". Expected values are ["PR", "ROC", "PR_GAIN"]'
        )
    return known


def _checked_summation(method: str) -> str:
    if str(method).lower() not in _SUMMATIONS:
        raise ValueError(
            f'Invalid AUC summation method value: "{method}". Expected values are '
            f"{list(_SUMMATIONS)}"
        )
    return method.lower()


def _checked_label_weights(weights: Any, dtype: Any) -> Any:
    if weights is None:
        return None
    weights = tf.constant(weights, dtype=dtype)
    tf.debugging.assert_non_negative(
        weights, message="All values of `label_weights` must be non-negative."
    )
    return weights

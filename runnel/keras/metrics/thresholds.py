"""Counts of true and false positives and negatives at one or many thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...core.arguments import require_number
from .. import loading_limits
from ..backend.settings import epsilon
from ..engine.kinds import flat_rows
from ..losses.weighting import fit_weights, squeeze_to_match

KINDS = ("true_positives", "true_negatives", "false_positives", "false_negatives")

# The value for predictions outside of the top k: below every threshold.
NEVER = -1e10


def checked_thresholds(thresholds: Any, default: float = 0.5) -> list[float]:
    """The thresholds as a list; ValueError unless all are in [0, 1]."""
    if thresholds is None:
        return [default]
    values = list(thresholds) if isinstance(thresholds, list | tuple | np.ndarray) else [thresholds]
    for value in values:
        if value is not None:
            require_number(value, "thresholds", "the metric")
    wrong = [value for value in values if value is None or value < 0 or value > 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {wrong}")
    return values


def spread_thresholds(count: int) -> list[float]:
    """Evenly spaced thresholds from just below 0 to just above 1."""
    return [0.0 - epsilon(), *inner_thresholds(count), 1.0 + epsilon()]


def inner_thresholds(count: int) -> list[float]:
    """Evenly spaced thresholds without the first and the last."""
    loading_limits.claim("metric", (count,), 32, "a list of thresholds")
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


def is_evenly_spread(thresholds: Any) -> bool:
    """Whether thresholds equal those of `spread_thresholds`, up to rounding."""
    if len(thresholds) < 3:
        return False
    even = np.linspace(0, 1, len(thresholds), dtype=np.float32)
    return bool(np.allclose(np.asarray(thresholds, np.float32), even, atol=epsilon()))


def top_k_only(predictions: tf.Tensor, k: int) -> tf.Tensor:
    """The predictions with all but the `k` highest set below every threshold."""
    _, places = tf.math.top_k(predictions, k, sorted=False)
    chosen = tf.reduce_sum(tf.one_hot(places, tf.shape(predictions)[-1], axis=-1), axis=-2)
    return predictions * chosen + NEVER * (1 - chosen)


class Counts:
    """The weighted true and false positives and negatives of a batch, per threshold."""

    def __init__(self, positives: tf.Tensor, negatives: tf.Tensor, hits: Any, alarms: Any) -> None:
        self.true_positives = hits
        self.false_positives = alarms
        self._positives = positives
        self._negatives = negatives

    @property
    def false_negatives(self) -> tf.Tensor:
        return self._positives - self.true_positives

    @property
    def true_negatives(self) -> tf.Tensor:
        return self._negatives - self.false_positives


def count(
    y_true: Any,
    y_pred: Any,
    thresholds: list[float],
    *,
    dtype: Any,
    sample_weight: Any = None,
    top_k: int | None = None,
    class_id: int | None = None,
    evenly_spread: bool = False,
    multi_label: bool = False,
    label_weights: Any = None,
) -> Counts:
    """Compare predictions with every threshold; nonzero labels are positive.

    The counts have one row per threshold; with `multi_label` also one column per label.
    """
    y_true, y_pred = flat_rows(tf.cast(y_true, dtype), tf.cast(y_pred, dtype))
    y_true, y_pred = squeeze_to_match(y_true, y_pred)
    if top_k is not None:
        y_pred = top_k_only(y_pred, top_k)
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    weights = tf.cast(1.0 if sample_weight is None else sample_weight, dtype)
    weights = tf.broadcast_to(fit_weights(weights, y_pred), tf.shape(y_pred))
    if label_weights is not None and not multi_label:
        weights *= tf.broadcast_to(tf.cast(label_weights, dtype), tf.shape(y_pred))
    columns = y_pred.shape[-1] if multi_label else 1
    shape = [-1, columns]
    y_pred, weights = tf.reshape(y_pred, shape), tf.reshape(weights, shape)
    is_positive = tf.cast(tf.cast(tf.reshape(y_true, shape), tf.bool), dtype)
    positive, negative = is_positive * weights, (1 - is_positive) * weights
    tally = _in_buckets if evenly_spread else _one_by_one
    hits, alarms = tally(y_pred, positive, negative, thresholds)
    counts = [tf.reduce_sum(positive, axis=0), tf.reduce_sum(negative, axis=0), hits, alarms]
    if not multi_label:
        counts = [tf.squeeze(each, [-1]) for each in counts]
    return Counts(*counts)


def _one_by_one(
    predictions: tf.Tensor, positive: tf.Tensor, negative: tf.Tensor, thresholds: list[float]
) -> tuple[tf.Tensor, tf.Tensor]:
    limits = tf.reshape(tf.constant(np.asarray(thresholds), predictions.dtype), [-1, 1, 1])
    above = tf.cast(predictions[tf.newaxis] > limits, predictions.dtype)
    return tf.reduce_sum(above * positive, axis=1), tf.reduce_sum(above * negative, axis=1)


def _in_buckets(
    predictions: tf.Tensor, positive: tf.Tensor, negative: tf.Tensor, thresholds: list[float]
) -> tuple[tf.Tensor, tf.Tensor]:
    """The same for evenly spaced thresholds, in one pass over the predictions.

    A prediction exceeds all thresholds up to the start of its bucket, so the count above a
    threshold is the total of that threshold's bucket and the later ones.
    """
    steps = len(thresholds) - 1
    places = tf.cast(tf.math.ceil(predictions * steps), tf.int32) - 1
    places = tf.clip_by_value(places, 0, steps - 1)
    columns = predictions.shape[-1] or 0
    # One range of buckets per column, so that one segment sum serves all columns.
    places += (steps + 1) * tf.range(columns)
    flat = tf.reshape(places, [-1])

    def above(weights: tf.Tensor) -> tf.Tensor:
        sums = tf.math.unsorted_segment_sum(tf.reshape(weights, [-1]), flat, (steps + 1) * columns)
        sums = tf.reshape(sums, [columns, steps + 1])
        return tf.transpose(tf.cumsum(sums, axis=1, reverse=True))

    return above(positive), above(negative)

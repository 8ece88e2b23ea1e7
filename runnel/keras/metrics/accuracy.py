"""Accuracy metrics."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..backend.settings import floatx
from ..losses.weighting import squeeze_to_match
from .mean import MeanMetricWrapper


def accuracy(y_true: Any, y_pred: Any) -> tf.Tensor:
    """1 where predictions equal labels, else 0."""
    y_true, y_pred = squeeze_to_match(tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred))
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    return tf.cast(tf.equal(tf.cast(y_true, y_pred.dtype), y_pred), floatx())


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> tf.Tensor:
    """mean(y_true == (y_pred > threshold)).

    >>> tf.keras.metrics.binary_accuracy([[1, 1, 0, 0]], [[0.9, 0.2, 0.1, 0.3]]).numpy().tolist()
    [0.75]
    """
    return tf.reduce_mean(_binary_matches(y_true, y_pred, threshold), axis=-1)


def _binary_matches(y_true: Any, y_pred: Any, threshold: float) -> tf.Tensor:
    y_pred = tf.convert_to_tensor(y_pred)
    guesses = tf.cast(y_pred > tf.cast(threshold, y_pred.dtype), y_pred.dtype)
    return tf.cast(tf.equal(tf.cast(y_true, y_pred.dtype), guesses), floatx())


def categorical_accuracy(y_true: Any, y_pred: Any) -> tf.Tensor:
    """1 where the argmax of the predictions is that of the labels, else 0.

    >>> tf.keras.metrics.categorical_accuracy([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]]).numpy()
    array([1., 0.], dtype=float32)
    """
    matches = tf.equal(tf.argmax(y_true, axis=-1), tf.argmax(y_pred, axis=-1))
    return tf.cast(matches, floatx())


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> tf.Tensor:
    """1 where the argmax of the predictions is the labelled class index, else 0.

    >>> tf.keras.metrics.sparse_categorical_accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]]).numpy()
    array([1., 0.], dtype=float32)
    """
    y_pred = tf.convert_to_tensor(y_pred)
    y_true = tf.convert_to_tensor(y_true)
    labels, guesses = y_true._sizes, y_pred._sizes
    in_a_column = bool(labels) and bool(guesses) and len(labels) == len(guesses) and labels[-1] == 1
    if in_a_column:
        y_true = tf.squeeze(y_true, [-1])
    best = tf.cast(tf.argmax(y_pred, axis=-1), y_true.dtype)
    matches = tf.cast(tf.equal(y_true, best), floatx())
    return tf.expand_dims(matches, -1) if in_a_column and len(labels) > 2 else matches


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> tf.Tensor:
    """1 where the argmax of the labels is among the `k` highest predictions, else 0."""
    return sparse_top_k_categorical_accuracy(tf.argmax(y_true, axis=-1), y_pred, k)


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> tf.Tensor:
    """1 where the labelled class index is among the `k` highest predictions, else 0."""
    y_true, y_pred = tf.convert_to_tensor(y_true), tf.convert_to_tensor(y_pred)
    ranks = y_true.shape.rank, y_pred.shape.rank
    flat = None in ranks or ranks == (1, 2)
    labels = y_true if flat else tf.reshape(y_true, [-1])
    guesses = y_pred if flat else tf.reshape(y_pred, [-1, tf.shape(y_pred)[-1]])
    hits = tf.math.in_top_k(tf.cast(labels, tf.int32), tf.cast(guesses, tf.float32), k)
    hits = tf.cast(hits, floatx())
    return hits if flat else tf.reshape(hits, tf.shape(y_true))


class Accuracy(MeanMetricWrapper):
    """How often predictions equal labels.

    >>> tf.keras.metrics.Accuracy()([1, 2, 3, 4], [0, 2, 3, 4]).numpy().item()
    0.75
    """

    def __init__(self, name: str | None = "accuracy", dtype: Any = None) -> None:
        super().__init__(accuracy, name, dtype=dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often y_pred > threshold agrees with the label."""

    def __init__(
        self, name: str | None = "binary_accuracy", dtype: Any = None, threshold: float = 0.5
    ) -> None:
        super().__init__(_binary_matches, name, dtype=dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the argmax of the predictions is the true class; one-hot labels."""

    def __init__(self, name: str | None = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(categorical_accuracy, name, dtype=dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the argmax of the predictions is the true class; class indices as labels.

    >>> metric = tf.keras.metrics.SparseCategoricalAccuracy()
    >>> metric([[2], [1]], [[0.1, 0.6, 0.3], [0.05, 0.95, 0.0]]).numpy().item()
    0.5
    """

    def __init__(self, name: str | None = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(sparse_categorical_accuracy, name, dtype=dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the true class is among the `k` highest predictions; one-hot labels."""

    def __init__(
        self, k: int = 5, name: str | None = "top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(top_k_categorical_accuracy, name, dtype=dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the true class is among the `k` highest predictions; class indices as labels."""

    def __init__(
        self, k: int = 5, name: str | None = "sparse_top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)

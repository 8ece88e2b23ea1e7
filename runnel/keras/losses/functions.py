"""Losses as functions of labels and predictions, with one value per sample.

All but the cross entropies and the cosine reduce the last axis only.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import runnel as tf

from ...core.convert import convert_to_tensor
from ..backend.settings import epsilon, floatx
from ..engine.kinds import is_ragged
from .masks import logits_of, with_mask

_CLASS_NUMBERS = (tf.int32, tf.int64)


def _converted(y_true: Any, y_pred: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Both as tensors, the labels cast to the predictions' dtype."""
    y_pred = convert_to_tensor(y_pred)
    return tf.cast(y_true, y_pred.dtype), y_pred


def mean_squared_error(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean((y_true - y_pred)²).

    >>> tf.keras.losses.mean_squared_error([[0.0, 1.0]], [[1.0, 3.0]]).numpy().tolist()
    [2.5]
    """
    y_true, y_pred = _converted(y_true, y_pred)
    return tf.reduce_mean(tf.math.squared_difference(y_pred, y_true), axis=-1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean(|y_true - y_pred|).

    >>> tf.keras.losses.mean_absolute_error([[0.0, 1.0]], [[1.0, 3.0]]).numpy().tolist()
    [1.5]
    """
    y_true, y_pred = _converted(y_true, y_pred)
    return tf.reduce_mean(tf.abs(y_pred - y_true), axis=-1)


def mean_absolute_percentage_error(y_true: Any, y_pred: Any) -> tf.Tensor:
    """100 mean(|y_true - y_pred| / |y_true|)."""
    y_true, y_pred = _converted(y_true, y_pred)
    return 100.0 * tf.reduce_mean(
        tf.abs((y_true - y_pred) / tf.maximum(tf.abs(y_true), epsilon())), axis=-1
    )


def mean_squared_logarithmic_error(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean((log(y_true + 1) - log(y_pred + 1))²)."""
    y_true, y_pred = _converted(y_true, y_pred)
    first = tf.math.log(tf.maximum(y_pred, epsilon()) + 1.0)
    second = tf.math.log(tf.maximum(y_true, epsilon()) + 1.0)
    return tf.reduce_mean(tf.math.squared_difference(first, second), axis=-1)


def huber(y_true: Any, y_pred: Any, delta: float = 1.0) -> tf.Tensor:
    """mean(e²/2 where |e| <= delta, else delta |e| - delta²/2) for errors e.

    >>> tf.keras.losses.huber([[0.0, 0.0]], [[0.5, 3.0]]).numpy().tolist()
    [1.3125]
    """
    # The only loss that is always computed in floatx.
    y_pred = tf.cast(y_pred, floatx())
    y_true = tf.cast(y_true, floatx())
    delta = tf.cast(delta, floatx())
    error = y_pred - y_true
    size = tf.abs(error)
    bent = tf.where(size <= delta, 0.5 * tf.square(error), delta * size - 0.5 * tf.square(delta))
    return tf.reduce_mean(bent, axis=-1)


def log_cosh(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean(log(cosh(y_pred - y_true))): about e²/2 for small errors, |e| - log 2 for large ones."""
    y_true, y_pred = _converted(y_true, y_pred)
    error = y_pred - y_true
    log_two = tf.cast(math.log(2.0), error.dtype)
    return tf.reduce_mean(error + tf.math.softplus(-2.0 * error) - log_two, axis=-1)


def _signs(y_true: tf.Tensor) -> tf.Tensor:
    """Labels 0 and 1 as -1 and 1; others unchanged."""
    is_binary = tf.reduce_all(tf.logical_or(tf.equal(y_true, 0), tf.equal(y_true, 1)))
    return tf.where(is_binary, 2.0 * y_true - 1.0, y_true)


def hinge(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean(max(1 - y_true y_pred, 0)) for labels -1 and 1 (or 0 and 1)."""
    y_true, y_pred = _converted(y_true, y_pred)
    return tf.reduce_mean(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0), axis=-1)


def squared_hinge(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean(max(1 - y_true y_pred, 0)²) for labels -1 and 1 (or 0 and 1)."""
    y_true, y_pred = _converted(y_true, y_pred)
    return tf.reduce_mean(tf.square(tf.maximum(1.0 - _signs(y_true) * y_pred, 0.0)), axis=-1)


def categorical_hinge(y_true: Any, y_pred: Any) -> tf.Tensor:
    """max(neg - pos + 1, 0): pos = sum(y_true y_pred), neg = max((1 - y_true) y_pred)."""
    y_true, y_pred = _converted(y_true, y_pred)
    positive = tf.reduce_sum(y_true * y_pred, axis=-1)
    negative = tf.reduce_max((1.0 - y_true) * y_pred, axis=-1)
    return tf.maximum(negative - positive + 1.0, tf.cast(0.0, y_pred.dtype))


def kl_divergence(y_true: Any, y_pred: Any) -> tf.Tensor:
    """sum(y_true log(y_true / y_pred))."""
    y_true, y_pred = _converted(y_true, y_pred)
    y_true = tf.clip_by_value(y_true, epsilon(), 1.0)
    y_pred = tf.clip_by_value(y_pred, epsilon(), 1.0)
    return tf.reduce_sum(y_true * tf.math.log(y_true / y_pred), axis=-1)


def poisson(y_true: Any, y_pred: Any) -> tf.Tensor:
    """mean(y_pred - y_true log(y_pred))."""
    y_true, y_pred = _converted(y_true, y_pred)
    return tf.reduce_mean(y_pred - y_true * tf.math.log(y_pred + epsilon()), axis=-1)


def cosine_similarity(y_true: Any, y_pred: Any, axis: int = -1) -> tf.Tensor:
    """The negative cosine similarity of labels and predictions; -1 for equal directions.

    >>> tf.keras.losses.cosine_similarity([[0.0, 2.0]], [[0.0, 5.0]]).numpy().tolist()
    [-1.0]
    """
    y_true = tf.linalg.l2_normalize(y_true, axis=axis)
    y_pred = tf.linalg.l2_normalize(y_pred, axis=axis)
    return -tf.reduce_sum(y_true * y_pred, axis=axis)


# Cross entropies. Probabilities are clipped by epsilon, so that losses are finite.


def _is_given(label_smoothing: Any) -> bool:
    return tf.is_tensor(label_smoothing) or bool(label_smoothing)


def _as_number(value: Any, dtype: tf.DType) -> tf.Tensor:
    """A number in a dtype; a Python number is converted without rounding to float32."""
    return tf.cast(value, dtype) if tf.is_tensor(value) else tf.convert_to_tensor(value, dtype)


def _between_zero_and_one(probabilities: tf.Tensor) -> tf.Tensor:
    return tf.clip_by_value(probabilities, epsilon(), 1.0 - epsilon())


def _logits(y_pred: tf.Tensor, from_logits: bool, loss: str, activation: str) -> Any:
    """The logits, if the predictions are logits or come from an activation that attached them."""
    noted = logits_of(y_pred)
    if not from_logits:
        return noted
    if noted is None:
        return y_pred
    warnings.warn(
        f"`{loss}` received `from_logits=True`, but the `output` argument was produced by a "
        f"{activation} activation and thus does not represent logits. Was this intended?",
        stacklevel=3,
    )
    return noted


def _smoothed_binary(y_true: tf.Tensor, label_smoothing: Any) -> tf.Tensor:
    if not _is_given(label_smoothing):
        return y_true
    smoothing = _as_number(label_smoothing, y_true.dtype)
    return y_true * (1.0 - smoothing) + 0.5 * smoothing


def _smoothed_categorical(y_true: tf.Tensor, label_smoothing: Any, axis: int) -> tf.Tensor:
    if not _is_given(label_smoothing):
        return y_true
    smoothing = _as_number(label_smoothing, y_true.dtype)
    classes = tf.cast(tf.shape(y_true)[axis], y_true.dtype)
    return y_true * (1.0 - smoothing) + smoothing / classes


def _binary_entropies(y_true: tf.Tensor, y_pred: tf.Tensor, logits: Any) -> tf.Tensor:
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=y_true, logits=logits)
    y_pred = _between_zero_and_one(y_pred)
    small = epsilon()
    positive = y_true * tf.math.log(y_pred + small)
    return -(positive + (1.0 - y_true) * tf.math.log(1.0 - y_pred + small))


def binary_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: Any = 0.0,
    axis: int = -1,
) -> tf.Tensor:
    """-mean(y_true log(p) + (1 - y_true) log(1 - p)) for probabilities p or their logits.

    >>> tf.keras.losses.binary_crossentropy([[0.0, 1.0]], [[0.5, 0.5]]).numpy().round(4)
    array([0.6931], dtype=float32)
    """
    y_true, y_pred = _converted(y_true, y_pred)
    y_true = _smoothed_binary(y_true, label_smoothing)
    logits = _logits(y_pred, from_logits, "binary_crossentropy", "Sigmoid")
    return tf.reduce_mean(_binary_entropies(y_true, y_pred, logits), axis=axis)


def binary_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: Any = 0.0,
    axis: int = -1,
) -> tf.Tensor:
    """Binary cross entropy times (1 - p)^gamma, where p is the predicted probability of the label.

    With `apply_class_balancing` positive labels have weight `alpha`, negative ones 1 - `alpha`.
    """
    y_true, y_pred = _converted(y_true, y_pred)
    y_true = _smoothed_binary(y_true, label_smoothing)
    logits = _logits(y_pred, from_logits, "binary_focal_crossentropy", "Sigmoid")
    entropies = _binary_entropies(y_true, y_pred, logits)
    sure = tf.sigmoid(logits) if logits is not None else y_pred
    of_label = y_true * sure + (1.0 - y_true) * (1.0 - sure)
    losses = tf.pow(1.0 - of_label, gamma) * entropies
    if apply_class_balancing:
        losses = (y_true * alpha + (1.0 - y_true) * (1.0 - alpha)) * losses
    return tf.reduce_mean(losses, axis=axis)


def _check_classes(y_true: tf.Tensor, y_pred: tf.Tensor, loss: str) -> None:
    y_true.shape.assert_is_compatible_with(y_pred.shape)
    if y_pred.shape.rank and y_pred.shape[-1] == 1:
        warnings.warn(
            f"In loss {loss}, expected y_pred.shape to be (batch_size, num_classes) with "
            f"num_classes > 1. Received: y_pred.shape={y_pred.shape}. Consider using "
            "'binary_crossentropy' if you only have 2 classes.",
            SyntaxWarning,
            stacklevel=3,
        )


def _normalized(probabilities: tf.Tensor, axis: int) -> tf.Tensor:
    """Probabilities normalized to sum to 1, and clipped."""
    total = tf.reduce_sum(probabilities, axis=axis, keepdims=True)
    return _between_zero_and_one(probabilities / total)


def categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    label_smoothing: Any = 0.0,
    axis: int = -1,
) -> tf.Tensor:
    """-sum(y_true log(p)) along `axis`, for probabilities p of the classes or their logits.

    >>> loss = tf.keras.losses.categorical_crossentropy([[0.0, 1.0]], [[0.75, 0.25]])
    >>> loss.numpy().round(4)
    array([1.3863], dtype=float32)
    """
    y_true, y_pred = _converted(y_true, y_pred)
    _check_classes(y_true, y_pred, "categorical_crossentropy")
    y_true = _smoothed_categorical(y_true, label_smoothing, axis)
    logits = _logits(y_pred, from_logits, "categorical_crossentropy", "Softmax")
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits(labels=y_true, logits=logits, axis=axis)
    return -tf.reduce_sum(y_true * tf.math.log(_normalized(y_pred, axis)), axis)


def categorical_focal_crossentropy(
    y_true: Any,
    y_pred: Any,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    label_smoothing: Any = 0.0,
    axis: int = -1,
) -> tf.Tensor:
    """-sum(alpha (1 - p)^gamma y_true log(p)) along `axis`; `alpha` may be one per class."""
    y_true, y_pred = _converted(y_true, y_pred)
    _check_classes(y_true, y_pred, "categorical_focal_crossentropy")
    # Unlike above, the original takes the number of classes from the last axis, whatever `axis` is.
    y_true = _smoothed_categorical(y_true, label_smoothing, -1)
    logits = _logits(y_pred, from_logits, "categorical_focal_crossentropy", "Softmax")
    if logits is not None:
        y_pred = tf.nn.softmax(logits, axis=axis)
    sure = _normalized(y_pred, axis)
    entropies = -y_true * tf.math.log(sure)
    return tf.reduce_sum(alpha * tf.pow(1.0 - sure, gamma) * entropies, axis=axis)


def sparse_categorical_crossentropy(
    y_true: Any,
    y_pred: Any,
    from_logits: bool = False,
    axis: int = -1,
    ignore_class: int | None = None,
) -> tf.Tensor:
    """-log(p) of the class index in each label, for probabilities p or their logits.

    Samples labelled `ignore_class` contribute no loss.

    >>> loss = tf.keras.losses.sparse_categorical_crossentropy([1], [[0.75, 0.25]])
    >>> loss.numpy().round(4)
    array([1.3863], dtype=float32)
    """
    y_pred = convert_to_tensor(y_pred)
    labels = convert_to_tensor(y_true)
    if is_ragged(labels) and is_ragged(y_pred):
        losses = sparse_categorical_crossentropy(
            labels.flat_values, y_pred.flat_values, from_logits, axis, ignore_class
        )
        return labels.with_flat_values(losses)
    if labels.dtype not in _CLASS_NUMBERS:
        labels = tf.cast(labels, tf.int64)
    logits = y_pred
    if not from_logits or logits_of(y_pred) is not None:
        logits = _logits(y_pred, from_logits, "sparse_categorical_crossentropy", "Softmax")
        if logits is None:
            logits = tf.math.log(_between_zero_and_one(y_pred))
    if axis != -1:
        logits = _with_axis_last(logits, axis)
    if ignore_class is None:
        return _sparse_entropies(labels, logits)
    counts = tf.not_equal(labels, tf.cast(ignore_class, labels.dtype))
    losses = _sparse_entropies(tf.where(counts, labels, tf.zeros_like(labels)), logits)
    counts = tf.reshape(counts, tf.shape(losses))
    return with_mask(tf.where(counts, losses, tf.zeros_like(losses)), counts)


def _with_axis_last(tensor: tf.Tensor, axis: int) -> tf.Tensor:
    rank = tensor.shape.rank
    if rank is None:
        raise ValueError(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output "
            "tensor with unknown rank. Use tf.ensure_shape to say what it is."
        )
    axis %= rank
    if axis == rank - 1:
        return tensor
    return tf.transpose(tensor, [*range(axis), *range(axis + 1, rank), axis])


def _sparse_entropies(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
    sizes, numbers = logits._sizes, labels._sizes
    rank = None if sizes is None else len(sizes)
    if rank is None or (numbers is not None and len(numbers) == rank - 1):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    rows = tf.reshape(logits, [-1, tf.shape(logits)[-1]])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.reshape(labels, [-1]), logits=rows
    )
    return tf.reshape(losses, tf.shape(logits)[:-1]) if rank >= 3 else losses


MSE = mse = mean_squared_error
MAE = mae = mean_absolute_error
MAPE = mape = mean_absolute_percentage_error
MSLE = msle = mean_squared_logarithmic_error
KLD = kld = kullback_leibler_divergence = kl_divergence
logcosh = log_cosh

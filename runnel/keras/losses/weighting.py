"""Sample weights, and reduction of per-sample losses."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .masks import mask_of

_PRECISE = (tf.float32, tf.float64)


class Reduction:
    """How the per-sample losses of a batch are reduced to a scalar.

    `AUTO` is `SUM_OVER_BATCH_SIZE`: the sum divided by the number of losses, not of weights.
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions.

        >>> tf.keras.losses.Reduction.all()
        ('auto', 'none', 'sum', 'sum_over_batch_size')
        """
        return (cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE)

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise ValueError unless `key` is a reduction."""
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')


def squeeze_to_match(y_true: tf.Tensor, y_pred: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Drop a last dimension of size 1 that only one of labels and predictions has."""
    labels, guesses = _sizes_of(y_true), _sizes_of(y_pred)
    if labels is None or guesses is None:
        return y_true, y_pred
    extra = len(guesses) - len(labels)
    if extra == 1 and guesses[-1] == 1:
        return y_true, tf.squeeze(y_pred, [-1])
    if extra == -1 and labels[-1] in (1, None):
        return tf.squeeze(y_true, [-1]), y_pred
    return y_true, y_pred


def _sizes_of(value: Any) -> tuple[int | None, ...] | None:
    """The static shape of a tensor or variable as a tuple."""
    return value._sizes if isinstance(value, tf.Tensor) else value.shape._dims


def fit_weights(weights: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """Expand or squeeze weights to the rank of the values, if they differ by one."""
    if weights.shape.rank == 0:
        return weights
    extra = _extra_dimensions(values, weights)
    if extra == -1:
        return tf.squeeze(weights, [-1])
    return tf.expand_dims(weights, -1) if extra == 1 else weights


def _extra_dimensions(first: tf.Tensor, second: tf.Tensor) -> int | None:
    one, other = first.shape.rank, second.shape.rank
    return None if one is None or other is None else one - other


def weights_with_mask(values: tf.Tensor, weights: Any, mask: Any, reduction: str) -> tf.Tensor:
    """Weights set to 0 at masked elements.

    For a mean they are scaled up to compensate, so that masked values do not count at all.
    """
    mask = tf.cast(mask, values.dtype)
    if reduction in (Reduction.AUTO, Reduction.SUM_OVER_BATCH_SIZE):
        mask *= tf.cast(tf.size(mask), mask.dtype) / tf.reduce_sum(mask)
    if weights is None:
        return mask
    return fit_weights(tf.cast(weights, mask.dtype), mask) * mask


def reduce_losses(losses: tf.Tensor, reduction: str) -> tf.Tensor:
    """The losses reduced: none, their sum, or their mean (0 if empty)."""
    if reduction == Reduction.NONE:
        return losses
    kind = losses.dtype
    if kind not in _PRECISE:
        losses = tf.cast(losses, tf.float32)
    if reduction == Reduction.SUM:
        result = tf.reduce_sum(losses)
    elif _has_elements(losses._sizes):
        result = tf.reduce_mean(losses)
    else:
        count = tf.cast(tf.size(losses), losses.dtype)
        result = tf.math.divide_no_nan(tf.reduce_sum(losses), count)
    return result if kind in _PRECISE else tf.cast(result, kind)


def _has_elements(sizes: tuple[int | None, ...] | None) -> bool:
    """Whether a tensor of this static shape is known to be non-empty."""
    return sizes is not None and all(sizes)


def is_plain_mean(y_true: tf.Tensor, y_pred: tf.Tensor, reduction: str) -> bool:
    """Whether a loss that averages the last axis is the mean over all elements of same-shaped
    tensors.
    """
    sizes = y_pred._sizes
    return (
        (reduction == Reduction.AUTO or reduction == Reduction.SUM_OVER_BATCH_SIZE)
        and y_pred.dtype in _PRECISE
        and y_true.dtype is y_pred.dtype
        and bool(sizes)
        and _has_elements(sizes)
        and y_true._sizes == sizes
        and mask_of(y_pred) is None
    )


def weighted_loss(losses: tf.Tensor, weights: Any, reduction: str) -> tf.Tensor:
    """The losses times their weights, reduced."""
    kind = losses.dtype
    precise = kind if kind in _PRECISE else tf.float32
    losses = tf.cast(losses, precise)
    weights = fit_weights(tf.cast(weights, precise), losses)
    return tf.cast(reduce_losses(losses * weights, reduction), kind)

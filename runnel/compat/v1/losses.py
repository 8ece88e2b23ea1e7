"""tf.compat.v1.losses: losses that are added to a collection of the graph."""

from __future__ import annotations

import runnel as _tf

from .building import add_to_collection as _add_to_collection, get_collection as _get_collection
from .keys import GraphKeys as _Keys


class Reduction:
    """The reductions of element-wise losses."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        """All reductions."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key):
        """ValueError for an unknown reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(
    losses, weights=1.0, scope=None, loss_collection=_Keys.LOSSES, reduction=_DEFAULT
):
    """The element-wise losses, weighted and reduced."""
    Reduction.validate(reduction)
    losses = _tf.convert_to_tensor(losses)
    kind = losses.dtype
    losses = _tf.cast(losses, _tf.float32)
    weights = _tf.cast(_tf.convert_to_tensor(weights), _tf.float32)
    weights = _fitted(weights, losses)
    weighted = losses * weights
    if reduction == Reduction.NONE:
        loss = weighted
    else:
        loss = _tf.reduce_sum(weighted)
        spread = weights * _tf.ones_like(losses)
        if reduction == Reduction.MEAN:
            loss = _tf.math.divide_no_nan(loss, _tf.reduce_sum(spread))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            present = _tf.reduce_sum(_tf.cast(_tf.not_equal(spread, 0.0), _tf.float32))
            loss = _tf.math.divide_no_nan(loss, present)
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _tf.math.divide_no_nan(loss, _tf.cast(_tf.size(losses), _tf.float32))
    loss = _tf.cast(loss, kind)
    add_loss(loss, loss_collection)
    return loss


def _fitted(weights, losses):
    """The weights, expanded or squeezed to the rank of the losses."""
    have, want = weights.shape.rank, losses.shape.rank
    if have in (None, 0) or want is None or have == want:
        return weights
    if have == want + 1 and weights.shape[-1] in (1, None):
        return _tf.squeeze(weights, [-1])
    if have + 1 == want:
        return _tf.expand_dims(weights, -1)
    raise ValueError(
        f"weights can not be broadcast to values. values.rank={want}. weights.rank={have}. "
        f"values.shape={losses.shape}. weights.shape={weights.shape}."
    )


def add_loss(loss, loss_collection=_Keys.LOSSES):
    """Add a loss to the collection of losses."""
    if loss_collection and not _tf.executing_eagerly():
        _add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=_Keys.LOSSES):
    """The losses of the collection."""
    return _get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The losses added by regularizers."""
    return _get_collection(_Keys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses added by regularizers."""
    losses = get_regularization_losses(scope)
    return _tf.add_n(losses) if losses else _tf.constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = losses + get_regularization_losses(scope)
    return _tf.add_n(losses)


def _pair(labels, predictions):
    if labels is None or predictions is None:
        raise ValueError("labels and predictions must not be None.")
    predictions = _tf.cast(_tf.convert_to_tensor(predictions), _tf.float32)
    labels = _tf.cast(_tf.convert_to_tensor(labels), _tf.float32)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return labels, predictions


def absolute_difference(
    labels, predictions, weights=1.0, scope=None, loss_collection=_Keys.LOSSES, reduction=_DEFAULT
):
    """|predictions - labels|."""
    labels, predictions = _pair(labels, predictions)
    losses = _tf.abs(predictions - labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=_Keys.LOSSES, reduction=_DEFAULT
):
    """(predictions - labels)²."""
    labels, predictions = _pair(labels, predictions)
    losses = _tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels,
    predictions,
    weights=1.0,
    delta=1.0,
    scope=None,
    loss_collection=_Keys.LOSSES,
    reduction=_DEFAULT,
):
    """The squared error halved where it is small, linear where it is large."""
    labels, predictions = _pair(labels, predictions)
    error = _tf.abs(predictions - labels)
    near = _tf.minimum(error, delta)
    losses = 0.5 * near * near + delta * (error - near)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels,
    predictions,
    weights=1.0,
    epsilon=1e-07,
    scope=None,
    loss_collection=_Keys.LOSSES,
    reduction=_DEFAULT,
):
    """-labels log(predictions) - (1 - labels) log(1 - predictions)."""
    labels, predictions = _pair(labels, predictions)
    losses = -labels * _tf.math.log(predictions + epsilon)
    losses -= (1 - labels) * _tf.math.log(1 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels, logits, weights=1.0, scope=None, loss_collection=_Keys.LOSSES, reduction=_DEFAULT
):
    """max(0, 1 - logits) where the label is 1, max(0, 1 + logits) where it is 0."""
    labels, logits = _pair(labels, logits)
    losses = _tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels,
    predictions,
    axis=None,
    weights=1.0,
    scope=None,
    loss_collection=_Keys.LOSSES,
    reduction=_DEFAULT,
    dim=None,
):
    """1 - labels · predictions, of unit vectors along an axis."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    labels, predictions = _pair(labels, predictions)
    losses = 1 - _tf.reduce_sum(predictions * labels, axis=axis, keepdims=True)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=_Keys.LOSSES
):
    """The squared errors of the differences between the elements of each sample."""
    labels, predictions = _pair(labels, predictions)
    weights = _tf.cast(_tf.convert_to_tensor(weights), _tf.float32)
    error = predictions - labels
    axes = list(range(1, error.shape.rank))
    squares = _tf.reduce_sum(error * error, axes, keepdims=True)
    count = _tf.cast(_tf.size(error) / _tf.shape(error)[0], _tf.float32)
    pairs = _tf.maximum(count - 1, 0.0)
    first = 2.0 * _tf.math.divide_no_nan(squares, pairs)
    total = _tf.reduce_sum(error, axes, keepdims=True)
    second = 2.0 * _tf.math.divide_no_nan(total * total, count * pairs)
    losses = (first - second) * _fitted(weights, first)
    loss = _tf.reduce_sum(losses)
    add_loss(loss, loss_collection)
    return loss


def sigmoid_cross_entropy(
    multi_class_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=_Keys.LOSSES,
    reduction=_DEFAULT,
):
    """The cross-entropy of labels and sigmoid(logits)."""
    logits = _tf.convert_to_tensor(logits)
    labels = _tf.cast(_tf.convert_to_tensor(multi_class_labels), logits.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = _tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels,
    logits,
    weights=1.0,
    label_smoothing=0,
    scope=None,
    loss_collection=_Keys.LOSSES,
    reduction=_DEFAULT,
):
    """The cross-entropy of distributions and softmax(logits)."""
    logits = _tf.convert_to_tensor(logits)
    labels = _tf.cast(_tf.convert_to_tensor(onehot_labels), logits.dtype)
    if label_smoothing > 0:
        classes = _tf.cast(_tf.shape(labels)[-1], logits.dtype)
        labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
    labels = _tf.stop_gradient(labels)
    losses = _tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, scope=None, loss_collection=_Keys.LOSSES, reduction=_DEFAULT
):
    """The cross-entropy of classes and softmax(logits)."""
    labels, logits = _tf.convert_to_tensor(labels), _tf.convert_to_tensor(logits)
    if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
        labels = _tf.squeeze(labels, [-1])
    losses = _tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)

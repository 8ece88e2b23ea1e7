"""Numerically stable cross entropy of labels and logits."""

from __future__ import annotations

import math

import numpy as np

from ...core import errors
from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATING, bfloat16, float16, float32, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text
from ...core.shapes import broadcast_shapes
from ...core.tensor import SymbolicTensor
from ...runtime.half_precision import computed_in_float32
from ..array import creation, joining, ordering, selection, shaping
from ..broadcasting import sum_to
from ..math import arithmetic, casting, comparison, elementwise, many_numbers
from .activation import relu
from .softmax import (
    log_softmax,
    order_with_axis_at_end,
    row_starts,
    row_sums,
    shifted_by_maximum,
    softmax,
    times_softmax_jacobian,
)

_ONE_HOT_LABELS = (
    "The labels look one-hot: the sparse loss takes the number of each row's class. For one-hot "
    "labels use categorical_crossentropy (tf.nn.softmax_cross_entropy_with_logits), or give "
    "tf.argmax(labels, axis=-1)."
)
_POSITIONS = (
    "There are {count} rows of logits for each label: a Flatten or GlobalAveragePooling layer may "
    "be missing before the last Dense layer, or return_sequences=False in a recurrent one."
)


def _loss_and_backprop(inputs, attrs):
    features, labels = (tensor.shape for tensor in inputs)
    try:
        both = broadcast_shapes(features, labels).with_rank(2)
    except ValueError:
        raise ValueError(
            "logits and labels must be broadcastable to one matrix: logits_size="
            f"{dimensions_text(features)} labels_size={dimensions_text(labels)}"
        ) from None
    return [both[:1], both]


@op(
    "SoftmaxCrossEntropyWithLogits",
    "features: T, labels: T -> loss: T, backprop: T",
    T=FLOATING,
    shape=_loss_and_backprop,
    last_on_demand=True,
)
@computed_in_float32
def SoftmaxCrossEntropyWithLogits(features, labels, keep=True):
    if features.shape != labels.shape:
        features, labels = np.broadcast_arrays(features, labels)
    if features.ndim != 2:
        raise ValueError("logits and labels must be matrices.")
    if not features.shape[1]:
        return np.zeros(len(features), features.dtype), features
    # One buffer holds in turn the shifted logits, their exponentials and the gradient, which is
    # computed only if `keep`: the backward pass needs it.
    work = shifted_by_maximum(features)
    loss = np.vecdot(labels, work)
    many_numbers.exponential(work, work)
    totals = row_sums(work)
    if keep:
        work /= totals
        work -= labels
    np.log(totals, out=totals)
    return np.einsum("ij->i", labels) * totals[:, 0] - loss, work if keep else None


@SoftmaxCrossEntropyWithLogits.gradient
def _(op, grad, grad_of_backprop):
    logits = op.inputs[0]
    column = shaping.expand_dims(grad, -1)
    to_labels = None
    if op.needs(1):
        # As in the original, backprop's second derivative with respect to the labels is left out.
        to_labels = arithmetic.multiply(column, elementwise.negative(log_softmax(logits)))
    to_logits = _logits_gradient(op, column, grad_of_backprop)
    return sum_to(to_logits, logits), None if to_labels is None else sum_to(to_labels, op.inputs[1])


def _logits_gradient(op, column, grad_of_backprop):
    gradient = arithmetic.multiply(column, op.outputs[1])
    if is_zero(grad_of_backprop):
        return gradient
    curvature = times_softmax_jacobian(grad_of_backprop, softmax(op.inputs[0]))
    return arithmetic.add(gradient, curvature)


def is_zero(tensor):
    """Whether a gradient is the constant zero: no second derivative is requested."""
    if isinstance(tensor, SymbolicTensor):
        return tensor.op.type == "ZerosLike"
    return not tensor._key and not tensor._array.any()


def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """-sum(labels × log_softmax(logits)) along `axis`; each row of labels is a distribution.

    >>> loss = tf.nn.softmax_cross_entropy_with_logits(
    ...     labels=[[1.0, 0.0], [0.5, 0.5]], logits=[[2.0, 0.0], [0.0, 0.0]])
    >>> loss.numpy().round(4)
    array([0.1269, 0.6931], dtype=float32)
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    kind = logits.dtype
    precise = float32 if kind in (float16, bfloat16) else kind
    logits = casting.cast(logits, precise)
    labels = casting.cast(labels, precise)
    rank = logits.shape.rank
    if axis != -1 and axis + 1 != rank:
        order = order_with_axis_at_end(axis, logits)
        logits = ordering.transpose(logits, order)
        labels = ordering.transpose(labels, order)
    if rank == 2 and labels.shape == logits.shape and logits.shape.is_fully_defined():
        loss, _ = execute(SoftmaxCrossEntropyWithLogits, (logits, labels))
    else:
        rows = (_as_matrix(logits), _as_matrix(labels))
        loss, _ = execute(SoftmaxCrossEntropyWithLogits, rows)
        loss = shaping.reshape(loss, _outer_shape(logits))
    return casting.cast(loss, kind)


def _as_matrix(tensor):
    """Flatten all dimensions but the last."""
    rank = tensor.shape.rank
    if rank == 0:
        raise errors.InvalidArgumentError(
            None, None, "labels and logits must have at least one dimension, got a scalar."
        )
    if rank is not None and tensor.shape[-1] is not None:
        return shaping.reshape(tensor, [-1, tensor.shape[-1]])
    return shaping.reshape(tensor, joining.concat([[-1], shaping.shape(tensor)[-1:]], 0))


def _outer_shape(tensor):
    """The shape without the last dimension."""
    outer = tensor.shape[:-1]
    return outer if outer.is_fully_defined() else shaping.shape(tensor)[:-1]


def _sparse_loss_and_backprop(inputs, attrs):
    features, labels = (tensor.shape for tensor in inputs)
    if features.rank not in (None, 2):
        raise ValueError(f"logits must be 2-D, but got shape {dimensions_text(features)}")
    if labels.rank not in (None, 1):
        raise ValueError(f"labels must be 1-D, but got shape {dimensions_text(labels)}")
    if not features[:1].is_compatible_with(labels):
        raise ValueError(
            "logits and labels must have the same first dimension, got logits shape "
            f"{dimensions_text(features)} and labels shape {dimensions_text(labels)}"
        )
    if features.rank and features[1] == 0:
        raise ValueError(
            f"Must have at least one class, but got logits shape {dimensions_text(features)}"
        )
    rows = labels.merge_with(features[:1])
    return [rows, rows.concatenate(features[1:] if features.rank else [None])]


def _sparse_mismatch(features, labels):
    """The message for shapes of logits and labels that do not match, with advice."""
    message = (
        "logits and labels must have the same first dimension, got logits shape "
        f"{list(features)} and labels shape {list(labels)}. "
    )
    if len(features) != 2 or len(labels) != 1 or not features[1]:
        return message + "The logits are a matrix of one row per label and one column per class."
    rows, classes = features
    if labels[0] == rows * classes:
        return message + _ONE_HOT_LABELS
    if labels[0] and rows > labels[0] and rows % labels[0] == 0:
        return message + _POSITIONS.format(count=rows // labels[0])
    return message + "Each row of the logits needs one label, the number of its class."


def _are_within(labels, classes):
    """Whether all labels are in [0, classes)."""
    # Viewed as unsigned, negative labels are large. argmax takes half as long as np.maximum.reduce.
    unsigned = labels.view(np.uint32 if labels.itemsize == 4 else np.uint64)
    return not unsigned.size or unsigned[unsigned.argmax()] < classes


@op(
    "SparseSoftmaxCrossEntropyWithLogits",
    "features: T, labels: Tlabels -> loss: T, backprop: T",
    T=FLOATING,
    Tlabels={int32, int64},
    shape=_sparse_loss_and_backprop,
    fresh=True,
    last_on_demand=True,
)
@computed_in_float32
def SparseSoftmaxCrossEntropyWithLogits(features, labels, keep=True):
    if features.ndim != 2 or labels.shape != features.shape[:1] or not features.shape[1]:
        raise ValueError(_sparse_mismatch(features.shape, labels.shape))
    classes = features.shape[1]
    if not _are_within(labels, classes):
        wrong = labels[(labels < 0) | (labels >= classes)][0]
        raise ValueError(
            f"Received a label value of {wrong} which is outside the valid range of "
            f"[0, {classes}). Label values: {' '.join(map(str, labels[:256]))}"
        )
    # One buffer holds in turn the shifted logits, their exponentials and the gradient, which is
    # computed only if `keep`: the backward pass needs it.
    work = np.ascontiguousarray(shifted_by_maximum(features))
    flat = work.reshape(-1)
    places = row_starts(flat.size, classes) + labels
    chosen = flat.take(places)
    many_numbers.exponential(work, work)
    totals = row_sums(work)
    if keep:
        work /= totals
        flat[places] -= 1
    loss = np.log(totals[:, 0])
    loss -= chosen
    return loss, work if keep else None


@SparseSoftmaxCrossEntropyWithLogits.gradient
def _(op, grad, grad_of_backprop):
    return _logits_gradient(op, shaping.expand_dims(grad, -1), grad_of_backprop), None


def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """-log_softmax(logits) at the label of each row; the labels are class indices.

    >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
    ...     labels=[0, 1], logits=[[2.0, 0.0], [0.0, 0.0]])
    >>> loss.numpy().round(4)
    array([0.1269, 0.6931], dtype=float32)
    """
    labels = convert_to_tensor(labels)
    logits = convert_to_tensor(logits)
    known = logits._sizes
    if (
        known is not None
        and len(known) == 2
        and labels._sizes == known[:1]
        and logits.dtype is float32
    ):
        # Fast path: nearly every call can skip the checks below.
        return execute(SparseSoftmaxCrossEntropyWithLogits, (logits, labels))[0]
    sizes, numbers = logits.shape, labels.shape
    if sizes.rank == 0:
        raise ValueError("`logits` cannot be a scalar: its last dimension is the classes.")
    if sizes.rank is not None and numbers.rank not in (None, sizes.rank - 1):
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={numbers} of rank {numbers.rank} and logits.shape={sizes} of rank "
            f"{sizes.rank}. For one-hot labels use tf.nn.softmax_cross_entropy_with_logits."
        )
    if not numbers.is_compatible_with(sizes[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={numbers} and logits.shape={sizes}"
        )
    kind = logits.dtype
    if kind in (float16, bfloat16):
        logits = casting.cast(logits, float32)
    if sizes.rank == 2 and numbers.rank == 1:
        loss, _ = execute(SparseSoftmaxCrossEntropyWithLogits, (logits, labels))
    else:
        rows = (_as_matrix(logits), shaping.reshape(labels, [-1]))
        loss, _ = execute(SparseSoftmaxCrossEntropyWithLogits, rows)
        loss = shaping.reshape_as(loss, labels)
    return casting.cast(loss, kind)


def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """max(x, 0) - x z + log(1 + exp(-|x|)) for logits x and labels z: independent classes.

    >>> tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [2.0, 0.0]).numpy().round(4)
    array([0.1269, 0.6931], dtype=float32)
    """
    if labels is None or logits is None:
        raise ValueError(
            "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits. "
            f"Received: labels={labels} and logits={logits}"
        )
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    _require_same_shape(logits, labels, "logits", "labels")
    # Written with where so that the derivative at 0 is 1/2; abs and relu would make it 0.
    positive = comparison.greater_equal(logits, creation.zeros_like(logits))
    at_least_zero = selection.where(positive, logits, creation.zeros_like(logits))
    minus_magnitude = selection.where(positive, elementwise.negative(logits), logits)
    linear = arithmetic.subtract(at_least_zero, arithmetic.multiply(logits, labels))
    return arithmetic.add(linear, elementwise.log1p(elementwise.exp(minus_magnitude)))


def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """Sigmoid cross entropy with a weight of `pos_weight` on positive labels.

    >>> tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [2.0, 0.0], 3.0).numpy().round(4)
    array([0.3808, 0.6931], dtype=float32)
    """
    labels = convert_to_tensor(labels)
    logits = convert_to_tensor(logits)
    _require_same_shape(logits, labels, "logits", "labels")
    weight = 1 + (pos_weight - 1) * labels
    softplus = elementwise.log1p(elementwise.exp(-elementwise.abs(logits))) + relu(-logits)
    return (1 - labels) * logits + weight * softplus


def _require_same_shape(first, second, first_name, second_name):
    if not first.shape.is_compatible_with(second.shape):
        raise ValueError(
            f"`{first_name}` and `{second_name}` must have the same shape, received "
            f"({first.shape} vs {second.shape})."
        )


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(c) - z c for log-predictions c and targets z, up to a term without c.

    `compute_full_loss` adds that term: Stirling's approximation of log(z!) where z > 1.

    >>> tf.nn.log_poisson_loss([0.0, 2.0], [0.0, 1.0]).numpy().round(4)
    array([1.    , 0.7183], dtype=float32)
    """
    log_input = convert_to_tensor(log_input)
    targets = convert_to_tensor(targets)
    _require_same_shape(log_input, targets, "log_input", "targets")
    result = elementwise.exp(log_input) - log_input * targets
    if not compute_full_loss:
        return result
    stirling = targets * elementwise.log(targets) - targets
    stirling += 0.5 * elementwise.log(2 * math.pi * targets)
    small = comparison.logical_and(targets >= 0.0, targets <= 1.0)
    return result + selection.where(small, creation.zeros_like(targets), stirling)

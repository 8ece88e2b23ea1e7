"""Connectionist temporal classification: the loss of a label sequence of unknown alignment."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import FLOATING, int32, int64
from ...core.op import execute, op
from ...core.shape_rules import require_rank
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ..array import creation, joining, ordering, scatter, selection, shaping
from ..math import arithmetic, casting, comparison, reduction
from .cross_entropy import is_zero

# The log-probability of a path that does not end at the end of the labels: with too few frames for
# the labels, the loss and its gradient are large but finite.
_LOG_NEVER = float(np.log(1e-307))


def _loss_and_gradient(inputs, attrs):
    logits, labels, label_length, logit_length = inputs
    require_rank(logits, 3, "logits")
    require_rank(labels, 2, "labels")
    require_rank(label_length, 1, "label_length")
    require_rank(logit_length, 1, "logit_length")
    batch = TensorShape([logits.shape[1]])
    for name, each in (
        ("labels", labels),
        ("label_length", label_length),
        ("logit_length", logit_length),
    ):
        if not batch.is_compatible_with(each.shape[:1]):
            raise ValueError(
                f"logits hold a batch of {batch[0]} sequences, but {name} has shape {each.shape}."
            )
        batch = batch.merge_with(each.shape[:1])
    return [batch, logits.shape.with_rank(3)]


# The original writes this as a loop of small operations over the frames; here it is one kernel.
@op(
    "CTCLossDense",
    "logits: T, labels: Tlabels, label_length: int32, logit_length: int32 -> loss: T, gradient: T",
    T=FLOATING,
    Tlabels={int32, int64},
    shape=_loss_and_gradient,
)
def CTCLossDense(logits, labels, label_length, logit_length, *, blank_index=0, strict=False):
    if logits.ndim != 3 or labels.ndim != 2 or label_length.ndim != 1 or logit_length.ndim != 1:
        raise ValueError("logits must have rank 3, labels rank 2 and the lengths rank 1.")
    frames, batch, classes = logits.shape
    if not len(labels) == len(label_length) == len(logit_length) == batch:
        raise ValueError("labels and lengths must have one row per sequence of logits.")
    if not -classes <= blank_index < classes:
        raise ValueError(f"blank_index {blank_index} is not in [{-classes}, {classes}).")
    if strict:
        _check_labels(labels, label_length, logit_length, blank_index % classes, classes)
    kind = logits.dtype
    log_probability = _log_softmax(logits.astype(np.float64))
    states = _states(labels, blank_index % classes)
    known = (states >= 0) & (states < classes)
    states = np.where(known, states, 0)
    emission = np.take_along_axis(log_probability, states[np.newaxis], 2) * known
    # The transition from a label to the next one without a blank between, unless they are equal.
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    end = 2 * label_length[:, np.newaxis]
    state = np.arange(states.shape[1])
    never = -np.inf if strict else _LOG_NEVER
    final = np.where((state == end) | (state == end - 1), 0.0, never)
    active = np.arange(frames)[:, np.newaxis] < logit_length
    alpha = _forward(emission, skips, active)
    beta = _backward(emission, skips, active, final)
    empty = np.where(label_length == 0, 0.0, never)
    total = _log_sum(alpha[-1] + final) if frames else empty
    total = np.where(logit_length > 0, total, empty)
    possible = np.isfinite(total)[:, np.newaxis]
    paths = alpha + beta - np.where(possible, total[:, np.newaxis], 0.0)
    occupancy = np.exp(paths) * (active[..., np.newaxis] & known & possible)
    gradient = np.exp(log_probability)
    gradient *= active[..., np.newaxis]
    rows = np.arange(batch)
    for column in range(states.shape[1]):
        gradient[:, rows, states[:, column]] -= occupancy[:, :, column]
    return (-total).astype(kind), gradient.astype(kind)


def _check_labels(labels, label_length, logit_length, blank, classes):
    """The checks that the original makes on sparse labels only."""
    given = np.arange(labels.shape[1]) < label_length[:, np.newaxis]
    if not label_length.all():
        raise ValueError(f"Labels length is zero in batch {int(np.argmin(label_length))}.")
    if (label_length > logit_length).any():
        row = int(np.argmax(label_length > logit_length))
        raise ValueError(
            f"Not enough time for target transition sequence (required: {label_length[row]}, "
            f"available: {logit_length[row]}) in batch {row}."
        )
    lowest = labels[given].min(initial=0)
    if lowest < 0 or (not blank and (labels[given] == 0).any()):
        raise ValueError(
            f"All labels must be nonnegative and none may be the blank, class 0; got {lowest}."
        )
    if labels[given].max(initial=0) >= classes:
        raise ValueError(f"Labels must be below the number of classes, {classes}.")


def _states(labels, blank):
    """The states of a path, blank, label, blank, label, ..., blank, as class indices."""
    states = np.full((len(labels), 2 * labels.shape[1] + 1), blank, np.int64)
    if blank:
        # The original renumbers the classes with the blank first; a label equal to the blank
        # becomes the class before it.
        labels = np.where(labels == blank, labels - 1, labels)
    states[:, 1::2] = labels
    return states


def _log_softmax(logits):
    logits -= np.maximum.reduce(logits, 2, keepdims=True, initial=-np.inf)
    logits -= np.log(np.add.reduce(np.exp(logits), 2, keepdims=True))
    return logits


def _log_sum(array):
    largest = np.maximum.reduce(array, 1)
    safe = np.where(np.isfinite(largest), largest, 0)
    return np.log(np.add.reduce(np.exp(array - safe[:, np.newaxis]), 1)) + safe


def _forward(emission, skips, active):
    """Forward variables: the log-probability of all path prefixes that end in each state."""
    alpha = np.full(emission.shape, -np.inf)
    if not len(alpha):
        return alpha
    alpha[0, :, :2] = emission[0, :, :2]
    for frame in range(1, len(alpha)):
        before, now = alpha[frame - 1], alpha[frame]
        now[:] = before
        np.logaddexp(now[:, 1:], before[:, :-1], out=now[:, 1:])
        np.logaddexp(now[:, 2:], before[:, :-2], out=now[:, 2:], where=skips[:, 2:])
        now += emission[frame]
        np.copyto(now, before, where=~active[frame][:, np.newaxis])
    return alpha


def _backward(emission, skips, active, final):
    """Backward variables: the log-probability of all path suffixes from each state."""
    beta = np.empty(emission.shape)
    if not len(beta):
        return beta
    beta[-1] = final
    for frame in range(len(beta) - 2, -1, -1):
        after = beta[frame + 1] + emission[frame + 1]
        now = beta[frame]
        now[:] = after
        np.logaddexp(now[:, :-1], after[:, 1:], out=now[:, :-1])
        np.logaddexp(now[:, :-2], after[:, 2:], out=now[:, :-2], where=skips[:, 2:])
        np.copyto(now, final, where=~active[frame + 1][:, np.newaxis])
    return beta


@CTCLossDense.gradient
def _(op, grad, grad_of_gradient):
    if not is_zero(grad_of_gradient):
        raise LookupError(
            "tf.nn.ctc_loss has no second derivative. Stop the first one with tf.stop_gradient, "
            "or leave it out of what is differentiated again."
        )
    weights = shaping.expand_dims(shaping.expand_dims(grad, 0), -1)
    return arithmetic.multiply(weights, op.outputs[1]), None, None, None


def ctc_loss(
    labels,
    logits,
    label_length,
    logit_length,
    logits_time_major=True,
    unique=None,
    blank_index=None,
    name=None,
):
    """-log of the probability that the frames' classes, repeats and blanks removed, are `labels`.

    `labels` is dense, [batch, longest label], or a sparse tensor, which determines its own
    `label_length`; `logits` is [frames, batch, classes], or [batch, frames, classes] unless
    `logits_time_major`. `unique` (from `ctc_unique_labels`) has no effect.

    >>> logits = tf.math.log([[[0.5, 0.5]], [[0.5, 0.5]]])
    >>> loss = tf.nn.ctc_loss(labels=[[1]], logits=logits, label_length=[1], logit_length=[2])
    >>> tf.exp(-loss).numpy().round(4).tolist()
    [0.75]
    """
    logits = convert_to_tensor(logits)
    labels = convert_to_tensor(labels)
    sparse = not isinstance(labels, Tensor)
    if sparse:
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when labels is a SparseTensor. 0 is the "
                "one for dense labels, -1 the last class."
            )
        labels, label_length = _rows_of_labels(labels)
    if labels.dtype.is_integer and labels.dtype is not int64:
        labels = casting.cast(labels, int32)
    label_length = casting.cast(convert_to_tensor(label_length), int32)
    logit_length = casting.cast(convert_to_tensor(logit_length), int32)
    if not logits_time_major:
        logits = ordering.transpose(logits, [1, 0, 2])
    attrs = {"blank_index": 0 if blank_index is None else int(blank_index), "strict": sparse}
    loss, _ = execute(CTCLossDense, (logits, labels, label_length, logit_length), attrs)
    return loss


def _rows_of_labels(labels):
    """Sparse labels as left-aligned dense rows, and the lengths of the rows."""
    from ..ragged.ragged_tensor import RaggedTensor

    rows = RaggedTensor.from_value_rowids(
        labels.values, labels.indices[:, 0], nrows=labels.dense_shape[0], validate=False
    )
    return rows.to_tensor(), rows.row_lengths()


@op(
    "CTCUniqueLabels",
    "labels: int64 -> unique: int64, index: int32",
    shape=lambda inputs, attrs: [inputs[0].shape.with_rank(2)] * 2,
    gradient=None,
)
def CTCUniqueLabels(labels):
    if labels.ndim != 2:
        raise ValueError(f"labels must be a matrix, one row per sequence, got rank {labels.ndim}.")
    unique = np.zeros_like(labels)
    index = np.zeros(labels.shape, np.int32)
    for row, numbers in enumerate(labels):
        values, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first)
        unique[row, : len(values)] = values[order]
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        index[row] = place[inverse]
    return unique, index


def ctc_unique_labels(labels, name=None):
    """The unique labels of each row in order of first appearance, and each label's index.

    >>> unique, index = tf.nn.ctc_unique_labels([[3, 4, 3]])
    >>> unique.numpy().tolist(), index.numpy().tolist()
    ([[3, 4, 0]], [[0, 1, 0]])
    """
    return list(execute(CTCUniqueLabels, (casting.cast(labels, int64),)))


def collapse_repeated(labels, seq_length, name=None):
    """Rows of labels with every run of equal ones collapsed to one, and their new lengths.

    >>> labels, length = tf.nn.collapse_repeated([[1, 1, 2, 2, 1]], [5])
    >>> labels.numpy().tolist(), length.numpy().tolist()
    ([[1, 2, 1]], [3])
    """
    labels = convert_to_tensor(labels)
    seq_length = convert_to_tensor(seq_length)
    first = creation.ones_like(labels[:, :1], dtype="bool")
    changes = comparison.not_equal(labels[:, 1:], labels[:, :-1])
    inside = selection.sequence_mask(seq_length, shaping.shape(labels)[1])
    kept = comparison.logical_and(joining.concat([first, changes], 1), inside)
    lengths = reduction.reduce_sum(casting.cast(kept, int32), 1)
    longest = reduction.reduce_max(lengths)
    places = selection.where(selection.sequence_mask(lengths, longest))
    sizes = joining.stack([shaping.shape(labels, out_type=int64)[0], casting.cast(longest, int64)])
    collapsed = scatter.scatter_nd(places, selection.boolean_mask(labels, kept), sizes)
    return collapsed, casting.cast(lengths, seq_length.dtype)

"""Metrics of the k likeliest classes, where each element has a set of labels."""

from __future__ import annotations

import runnel as _tf

from .metrics import _given, _local
from .scopes import variable_scope as _variable_scope


def _label_sets(labels, rank):
    """Labels with a dimension for those of one element, and which of them count once."""
    if isinstance(labels, _tf.SparseTensor):
        there = _tf.SparseTensor(
            labels.indices, _tf.ones_like(labels.values, _tf.bool), labels.dense_shape
        )
        counted = _tf.sparse.to_dense(there, default_value=False)
        labels = _tf.cast(_tf.sparse.to_dense(labels), _tf.int64)
    else:
        labels = _tf.cast(_tf.convert_to_tensor(labels), _tf.int64)
        counted = _tf.ones_like(labels, _tf.bool)
    if labels.shape.rank == rank - 1:
        labels, counted = labels[..., None], counted[..., None]
    same = _tf.logical_and(_tf.equal(labels[..., :, None], labels[..., None, :]),
                           counted[..., None, :])  # fmt: skip
    earlier = _tf.linalg.band_part(_tf.cast(same, _tf.int32), -1, 0)
    earlier = _tf.reduce_sum(earlier, -1) - _tf.linalg.diag_part(earlier)
    return labels, _tf.logical_and(counted, _tf.equal(earlier, 0))


def _hits(labels, counted, chosen):
    """Which of the chosen classes are labels."""
    same = _tf.equal(chosen[..., :, None], labels[..., None, :])
    return _tf.reduce_any(_tf.logical_and(same, counted[..., None, :]), -1)


def _number(flags):
    return _tf.reduce_sum(_tf.cast(flags, _tf.float64), -1)


def _sum(title, values, weights):
    """The weighted sum over all batches so far, now and after the next one."""
    variable = _local(title, dtype="float64")
    if weights is not None:
        values = values * _tf.cast(_tf.convert_to_tensor(weights), _tf.float64)
    update = _tf.identity(variable.assign_add(_tf.reduce_sum(values)))
    return variable.read_value(), update


def _share(kind, other, labels, chosen, k, class_id, weights, name):
    """True positives among themselves and another outcome, now and after the next batch."""
    chosen = _tf.cast(_tf.convert_to_tensor(chosen), _tf.int64)
    k = "k" if k is None else k
    suffix = f"_at_{k}" if class_id is None else f"_at_{k}_class{class_id}"
    with _variable_scope(name, default_name=f"{kind}{suffix}"):
        labels, counted = _label_sets(labels, chosen.shape.rank)
        taken = _tf.ones_like(chosen, _tf.bool)
        if class_id is not None:
            taken = _tf.equal(chosen, class_id)
            counted = _tf.logical_and(counted, _tf.equal(labels, class_id))
        right = _number(_tf.logical_and(_hits(labels, counted, chosen), taken))
        wrong = _number(taken if other == "false_positive" else counted) - right
        positives = _sum(f"true_positive{suffix}", right, weights)
        negatives = _sum(f"{other}{suffix}", wrong, weights)
        return [_tf.divide(a, a + b) for a, b in zip(positives, negatives, strict=True)]


def _likeliest(predictions, k):
    return _tf.math.top_k(_tf.convert_to_tensor(predictions), k).indices


def precision_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of labels among chosen classes."""
    pair = _share(
        "precision", "false_positive", labels, predictions_idx, k, class_id, weights, name
    )
    return _given(*pair, metrics_collections, updates_collections)


def recall_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of the labels that are among chosen classes."""
    pair = _share("recall", "false_negative", labels, predictions_idx, k, class_id, weights, name)
    return _given(*pair, metrics_collections, updates_collections)


def precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of labels among the k likeliest classes."""
    return precision_at_top_k(
        labels, _likeliest(predictions, k), k, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def recall_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of the labels that are among the k likeliest classes."""
    return recall_at_top_k(
        labels, _likeliest(predictions, k), k, class_id, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The mean of the precisions at those of the k likeliest classes that are labels."""
    chosen = _tf.cast(_likeliest(predictions, k), _tf.int64)
    with _variable_scope(name, default_name=f"average_precision_at_{k}"):
        is_dense = not isinstance(labels, _tf.SparseTensor)
        labels, counted = _label_sets(labels, chosen.shape.rank)
        hits = _tf.cast(_hits(labels, counted, chosen), _tf.float64)
        places = _tf.range(1.0, k + 1.0, dtype=_tf.float64)
        precisions = _tf.cumsum(hits, -1) / places * hits
        # In dense labels, one that is there twice is expected twice.
        expected = _number(_tf.ones_like(counted) if is_dense else counted)
        most = _tf.minimum(expected, _tf.constant(k, _tf.float64))
        average = _tf.math.divide_no_nan(_tf.reduce_sum(precisions, -1), most)
        whole = _sum("max_1", _tf.ones_like(average), weights)
        total = _sum("total", average, weights)
    pair = [_tf.math.divide_no_nan(a, b) for a, b in zip(total, whole, strict=True)]
    return _given(*pair, metrics_collections, updates_collections)


def sparse_precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The older name of precision_at_k."""
    return precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


def sparse_average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The older name of average_precision_at_k."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )

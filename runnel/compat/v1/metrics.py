"""tf.compat.v1.metrics: pairs of a value over all batches so far, and its update operation."""

from __future__ import annotations

import functools as _functools

import runnel as _tf

from .building import add_to_collections as _add_to_collections
from .keys import GraphKeys as _Keys
from .scopes import variable_scope as _variable_scope
from .variables import VariableV1 as _Variable

# Scopes of another name than their metric.
_TITLES = {
    "false_negatives_at_thresholds": "false_negatives",
    "false_positives_at_thresholds": "false_positives",
    "mean_per_class_accuracy": "mean_accuracy",
    "mean_tensor": "mean",
    "percentage_below": "percentage_below_threshold",
    "true_negatives_at_thresholds": "true_negatives",
    "true_positives_at_thresholds": "true_positives",
}


def _in_scope(function):
    """A metric that builds its subgraph in a scope of its name."""
    title = function.__name__

    @_functools.wraps(function)
    def metric(*args, **kwargs):
        if _tf.executing_eagerly():
            raise RuntimeError(
                f"tf.metrics.{function.__name__} is not supported when eager execution is enabled. "
                "Use tf.keras.metrics instead."
            )
        with _variable_scope(kwargs.get("name"), default_name=_TITLES.get(title, title)):
            return function(*args, **kwargs)

    return metric


def _local(name, shape=(), dtype="float32"):
    """A variable that local_variables_initializer sets to zero."""
    return _Variable(
        lambda: _tf.zeros(shape, dtype), trainable=False, name=name,
        collections=[_Keys.LOCAL_VARIABLES, _Keys.METRIC_VARIABLES],
    )  # fmt: skip


def _given(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        _add_to_collections(metrics_collections, value)
    if updates_collections:
        _add_to_collections(updates_collections, update)
    return value, update


def _weights(weights, values):
    """The weights as floats, of the shape of the values."""
    weights = _tf.cast(_tf.convert_to_tensor(weights), _tf.float32)
    if weights.shape.rank is not None and values.shape.rank == weights.shape.rank + 1:
        weights = _tf.expand_dims(weights, -1)
    return weights * _tf.ones_like(values)


def _average(values, weights):
    """The weighted mean over all batches so far, before and after the update."""
    total, count = _local("total"), _local("count")
    values = _tf.cast(_tf.convert_to_tensor(values), _tf.float32)
    if weights is None:
        number = _tf.cast(_tf.size(values), _tf.float32)
    else:
        weights = _weights(weights, values)
        number = _tf.reduce_sum(weights)
        values = values * weights
    now = _tf.math.divide_no_nan(total.read_value(), count.read_value())
    after = _tf.math.divide_no_nan(
        _tf.identity(total.assign_add(_tf.reduce_sum(values))),
        _tf.identity(count.assign_add(number)),
    )
    return now, after


@_in_scope
def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of all values so far."""
    return _given(*_average(values, weights), metrics_collections, updates_collections)


def _pair(labels, predictions):
    predictions = _tf.cast(_tf.convert_to_tensor(predictions), _tf.float32)
    labels = _tf.cast(_tf.convert_to_tensor(labels), _tf.float32)
    ranks = predictions.shape.rank, labels.shape.rank
    if None not in ranks and ranks[0] == ranks[1] + 1 and predictions.shape[-1] == 1:
        predictions = _tf.squeeze(predictions, [-1])
    elif None not in ranks and ranks[1] == ranks[0] + 1 and labels.shape[-1] == 1:
        labels = _tf.squeeze(labels, [-1])
    return labels, predictions


@_in_scope
def accuracy(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The fraction of predictions that equal the labels."""
    predictions = _tf.convert_to_tensor(predictions)
    labels = _tf.cast(_tf.convert_to_tensor(labels), predictions.dtype)
    if labels.shape.rank is not None and labels.shape.rank == (predictions.shape.rank or 0) + 1:
        labels = _tf.squeeze(labels, [-1])
    right = _tf.cast(_tf.equal(predictions, labels), _tf.float32)
    return _given(*_average(right, weights), metrics_collections, updates_collections)


@_in_scope
def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The mean of |predictions - labels|."""
    labels, predictions = _pair(labels, predictions)
    pair = _average(_tf.abs(predictions - labels), weights)
    return _given(*pair, metrics_collections, updates_collections)


@_in_scope
def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The mean of (predictions - labels)²."""
    labels, predictions = _pair(labels, predictions)
    pair = _average(_tf.square(predictions - labels), weights)
    return _given(*pair, metrics_collections, updates_collections)


@_in_scope
def root_mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The square root of the mean of (predictions - labels)²."""
    labels, predictions = _pair(labels, predictions)
    now, after = _average(_tf.square(predictions - labels), weights)
    return _given(_tf.sqrt(now), _tf.sqrt(after), metrics_collections, updates_collections)


@_in_scope
def percentage_below(
    values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The fraction of values below a threshold."""
    below = _tf.cast(_tf.less(values, threshold), _tf.float32)
    return _given(*_average(below, weights), metrics_collections, updates_collections)


def _counted(found, weights, title="count"):
    """The count of true values so far, before and after the update."""
    count = _local(title)
    found = _tf.cast(found, _tf.float32)
    if weights is not None:
        found = found * _weights(weights, found)
    return count.read_value(), _tf.identity(count.assign_add(_tf.reduce_sum(found)))


def _classes(labels, predictions):
    labels, predictions = _pair(labels, predictions)
    return _tf.cast(labels, _tf.bool), _tf.cast(predictions, _tf.bool)


def _outcome(name, wanted_label, wanted_prediction, summary):
    def function(
        labels,
        predictions,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        labels, predictions = _classes(labels, predictions)
        found = _tf.logical_and(
            _tf.equal(labels, wanted_label), _tf.equal(predictions, wanted_prediction)
        )
        return _given(*_counted(found, weights), metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return _in_scope(function)


true_positives = _outcome("true_positives", True, True, "How many positives were found.")
false_positives = _outcome("false_positives", False, True, "How many negatives were taken wrong.")
true_negatives = _outcome("true_negatives", False, False, "How many negatives were found.")
false_negatives = _outcome("false_negatives", True, False, "How many positives were missed.")


def _share(labels, predictions, weights, other):
    """True positives relative to themselves plus another outcome, before and after the update."""
    right = true_positives(labels, predictions, weights)
    wrong = other(labels, predictions, weights)
    return [_tf.math.divide_no_nan(a, a + b) for a, b in zip(right, wrong, strict=True)]


@_in_scope
def precision(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """True positives / predicted positives."""
    pair = _share(labels, predictions, weights, false_positives)
    return _given(*pair, metrics_collections, updates_collections)


@_in_scope
def recall(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """True positives / actual positives."""
    pair = _share(labels, predictions, weights, false_negatives)
    return _given(*pair, metrics_collections, updates_collections)


@_in_scope
def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The mean of |labels - predictions| / normalizer."""
    labels, predictions = _pair(labels, predictions)
    normalizer = _tf.cast(_tf.convert_to_tensor(normalizer), _tf.float32)
    errors = _tf.where(
        _tf.equal(normalizer, 0.0), _tf.zeros_like(labels),
        _tf.math.divide_no_nan(_tf.abs(labels - predictions), normalizer),
    )  # fmt: skip
    return _given(*_average(errors, weights), metrics_collections, updates_collections)


@_in_scope
def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """1 - the mean of the sums of labels · predictions along an axis."""
    labels, predictions = _pair(labels, predictions)
    products = _tf.reduce_sum(predictions * labels, [dim], keepdims=True)
    now, after = _average(products, weights)
    return _given(1.0 - now, 1.0 - after, metrics_collections, updates_collections)


@_in_scope
def mean_tensor(
    values, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of tensors of one shape over all batches so far, element by element."""
    values = _tf.cast(_tf.convert_to_tensor(values), _tf.float32)
    total, count = _local("total_tensor", values.shape), _local("count_tensor", values.shape)
    number = _tf.ones_like(values)
    if weights is not None:
        weights = _weights(weights, values)
        values, number = values * weights, number * weights
    now = _tf.math.divide_no_nan(total.read_value(), count.read_value())
    after = _tf.math.divide_no_nan(
        _tf.identity(total.assign_add(values)), _tf.identity(count.assign_add(number))
    )
    return _given(now, after, metrics_collections, updates_collections)


def _as_classes(values):
    return _tf.reshape(_tf.cast(values, _tf.int64), [-1])


@_in_scope
def mean_iou(
    labels, predictions, num_classes, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The mean over classes of intersection over union."""
    labels, predictions = _as_classes(labels), _as_classes(predictions)
    if weights is not None:
        weights = _tf.reshape(_tf.convert_to_tensor(weights), [-1])
    matrix = _local("total_confusion_matrix", [num_classes, num_classes], "float64")
    found = _tf.math.confusion_matrix(labels, predictions, num_classes, weights, _tf.float64)
    update = _tf.identity(matrix.assign_add(found))
    counts = matrix.read_value()
    right = _tf.cast(_tf.linalg.diag_part(counts), _tf.float32)
    union = _tf.cast(_tf.reduce_sum(counts, 0) + _tf.reduce_sum(counts, 1), _tf.float32) - right
    there = _tf.reduce_sum(_tf.cast(union > 0, _tf.float32))
    share = right / _tf.where(union > 0, union, _tf.ones_like(union))
    now = _tf.where(there > 0, _tf.math.divide_no_nan(_tf.reduce_sum(share), there), 0.0)
    return _given(now, update, metrics_collections, updates_collections)


@_in_scope
def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The mean over classes of the share of their elements that were found."""
    labels, predictions = (
        _tf.reshape(_tf.cast(each, _tf.int64), [-1]) for each in (labels, predictions)
    )
    total, count = _local("total", [num_classes]), _local("count", [num_classes])
    number = _tf.ones_like(labels, _tf.float32)
    right = _tf.cast(_tf.equal(predictions, labels), _tf.float32)
    if weights is not None:
        weights = _tf.reshape(_tf.cast(_tf.convert_to_tensor(weights), _tf.float32), [-1])
        number, right = number * weights, right * weights

    def of_classes(values):
        return _tf.math.unsorted_segment_sum(values, labels, num_classes)

    updates = [count.assign_add(of_classes(number)), total.assign_add(of_classes(right))]
    now = _tf.reduce_mean(_tf.math.divide_no_nan(total.read_value(), count.read_value()))
    after = _tf.math.divide_no_nan(_tf.identity(updates[1]), _tf.identity(updates[0]))
    return _given(now, after, metrics_collections, updates_collections)


from .metrics_at_k import (  # noqa: E402
    average_precision_at_k as average_precision_at_k,
    precision_at_k as precision_at_k,
    precision_at_top_k as precision_at_top_k,
    recall_at_k as recall_at_k,
    recall_at_top_k as recall_at_top_k,
    sparse_average_precision_at_k as sparse_average_precision_at_k,
    sparse_precision_at_k as sparse_precision_at_k,
)
from .metrics_at_thresholds import (  # noqa: E402
    auc as auc,
    false_negatives_at_thresholds as false_negatives_at_thresholds,
    false_positives_at_thresholds as false_positives_at_thresholds,
    precision_at_thresholds as precision_at_thresholds,
    recall_at_thresholds as recall_at_thresholds,
    sensitivity_at_specificity as sensitivity_at_specificity,
    specificity_at_sensitivity as specificity_at_sensitivity,
    true_negatives_at_thresholds as true_negatives_at_thresholds,
    true_positives_at_thresholds as true_positives_at_thresholds,
)

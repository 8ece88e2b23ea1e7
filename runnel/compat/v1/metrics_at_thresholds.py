"""Metrics of predictions between 0 and 1 at thresholds, and curves through them."""

from __future__ import annotations

import runnel as _tf

from .metrics import _given, _in_scope, _local, _pair, _weights

_EPSILON = 1e-7
_OUTCOMES = {"tp": (True, True), "fn": (True, False), "tn": (False, False), "fp": (False, True)}
_TITLES = {
    "tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives",
    "fp": "false_positives",
}  # fmt: skip


def _at_thresholds(labels, predictions, thresholds, weights, includes=tuple(_OUTCOMES)):
    """How often each outcome was there so far at each threshold, now and after the next batch."""
    labels, predictions = _pair(labels, predictions)
    if weights is not None:
        weights = _tf.reshape(_weights(weights, predictions), [1, -1])
    positive = _tf.reshape(_tf.cast(labels, _tf.bool), [1, -1])
    limits = _tf.constant(list(thresholds), _tf.float32)[:, None]
    taken = _tf.reshape(predictions, [1, -1]) > limits
    now, after = {}, {}
    for key in includes:
        wanted, chosen = _OUTCOMES[key]
        count = _local(_TITLES[key], [len(thresholds)])
        found = _tf.cast(
            _tf.logical_and(_tf.equal(positive, wanted), _tf.equal(taken, chosen)), _tf.float32
        )
        if weights is not None:
            found = found * weights
        now[key] = count.read_value()
        after[key] = _tf.identity(count.assign_add(_tf.reduce_sum(found, 1)))
    return now, after


def _counts(name, key, summary):
    def function(
        labels,
        predictions,
        thresholds,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        now, after = _at_thresholds(labels, predictions, thresholds, weights, (key,))
        return _given(now[key], after[key], metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return _in_scope(function)


true_positives_at_thresholds = _counts(
    "true_positives_at_thresholds", "tp", "How many positives were found at each threshold."
)
false_negatives_at_thresholds = _counts(
    "false_negatives_at_thresholds", "fn", "How many positives were missed at each threshold."
)
true_negatives_at_thresholds = _counts(
    "true_negatives_at_thresholds", "tn", "How many negatives were found at each threshold."
)
false_positives_at_thresholds = _counts(
    "false_positives_at_thresholds", "fp", "How many negatives were taken wrong at each threshold."
)


def _ratios(name, other, summary):
    def function(
        labels,
        predictions,
        thresholds,
        weights=None,
        metrics_collections=None,
        updates_collections=None,
        name=None,
    ):
        both = _at_thresholds(labels, predictions, thresholds, weights, ("tp", other))
        pair = [each["tp"] / (_EPSILON + each["tp"] + each[other]) for each in both]
        return _given(*pair, metrics_collections, updates_collections)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return _in_scope(function)


precision_at_thresholds = _ratios(
    "precision_at_thresholds", "fp", "The precision at each threshold."
)
recall_at_thresholds = _ratios("recall_at_thresholds", "fn", "The recall at each threshold.")


def _even(count):
    """Thresholds from below 0 to above 1."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def _rates(counts):
    tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
    return tp / (tp + fn + _EPSILON), tn / (tn + fp + _EPSILON)


def _require_share(name, value):
    if value < 0 or value > 1:
        raise ValueError(f"`{name}` must be in the range [0, 1]. Currently, {value}.")


@_in_scope
def sensitivity_at_specificity(
    labels, predictions, specificity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The sensitivity where the specificity is nearest to a given one."""
    _require_share("specificity", specificity)

    def rate(counts):
        sensitive, specific = _rates(counts)
        return sensitive[_tf.argmin(_tf.abs(specific - specificity), 0)]

    both = _at_thresholds(labels, predictions, _even(num_thresholds), weights)
    return _given(*map(rate, both), metrics_collections, updates_collections)


@_in_scope
def specificity_at_sensitivity(
    labels, predictions, sensitivity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The specificity where the sensitivity is nearest to a given one."""
    _require_share("sensitivity", sensitivity)

    def rate(counts):
        sensitive, specific = _rates(counts)
        distance = _tf.abs(sensitive - sensitivity)
        # Of thresholds with one and the same sensitivity, the last one.
        nearest = _tf.where(_tf.equal(distance, _tf.reduce_min(distance)))
        return specific[_tf.reduce_max(nearest)]

    both = _at_thresholds(labels, predictions, _even(num_thresholds), weights)
    return _given(*map(rate, both), metrics_collections, updates_collections)


@_in_scope
def auc(
    labels, predictions, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, curve="ROC", name=None, summation_method="trapezoidal",
    thresholds=None,
):  # fmt: skip
    """The area under a curve of rates through thresholds: "ROC", or "PR" for precision over recall.

    `summation_method` is "trapezoidal", "minoring", "majoring", or, for "PR",
    "careful_interpolation".
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    methods = ("trapezoidal", "minoring", "majoring", "careful_interpolation")
    if summation_method not in methods:
        raise ValueError(f"Invalid summation_method: {summation_method}")
    careful = summation_method == "careful_interpolation"
    if careful and curve != "PR":
        raise ValueError("careful_interpolation is for curve='PR' only.")
    if thresholds is None:
        limits = _even(num_thresholds)
    else:
        limits = [0.0 - _EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
    now, after = _at_thresholds(labels, predictions, limits, weights)

    def area(counts):
        tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
        if careful:
            return _interpolated(tp, fp, fn)
        recall = (tp + 1e-6) / (tp + fn + 1e-6)
        if curve == "ROC":
            x, y = fp / (fp + tn + 1e-6), recall
        else:
            x, y = recall, (tp + 1e-6) / (tp + fp + 1e-6)
        widths, first, second = x[:-1] - x[1:], y[:-1], y[1:]
        if summation_method == "trapezoidal":
            heights = (first + second) / 2.0
        elif summation_method == "minoring":
            heights = _tf.minimum(first, second)
        else:
            heights = _tf.maximum(first, second)
        return _tf.reduce_sum(widths * heights)

    return _given(area(now), area(after), metrics_collections, updates_collections)


def _interpolated(tp, fp, fn):
    """The area under precision over recall, with counts taken as linear between thresholds."""
    taken = tp + fp
    change = tp[:-1] - tp[1:]
    slope = _tf.math.divide_no_nan(change, _tf.maximum(taken[:-1] - taken[1:], 0.0))
    intercept = tp[1:] - slope * taken[1:]
    both = _tf.logical_and(taken[:-1] > 0, taken[1:] > 0)
    ratio = _tf.where(
        both, _tf.math.divide_no_nan(taken[:-1], _tf.maximum(taken[1:], 0.0)),
        _tf.ones_like(taken[1:]),
    )  # fmt: skip
    parts = slope * (change + intercept * _tf.math.log(ratio))
    return _tf.reduce_sum(_tf.math.divide_no_nan(parts, _tf.maximum(tp[1:] + fn[1:], 0.0)))

"""Metrics of sessions: their values before, and after each of three batches."""

import numpy as np
import pytest
from both_v1 import agree, error_of

RANDOM = np.random.RandomState(0)
LABELS = RANDOM.randint(0, 2, (3, 12)).astype(bool)
SCORES = RANDOM.rand(3, 12).astype(np.float32).round(2)
WEIGHTS = RANDOM.rand(3, 12).astype(np.float32)
CLASSES = RANDOM.randint(0, 4, (2, 3, 12))
LIMITS = [0.2, 0.5, 0.9]

OF_SCORES = {
    "auc": {}, "auc_pr": {"curve": "PR"}, "auc_few": {"num_thresholds": 11},
    "auc_minoring": {"summation_method": "minoring"},
    "auc_majoring": {"summation_method": "majoring", "curve": "PR"},
    "auc_careful": {"summation_method": "careful_interpolation", "curve": "PR"},
    "auc_own": {"thresholds": [0.7, 0.1, 0.4]},
    "true_positives_at_thresholds": {"thresholds": LIMITS},
    "false_positives_at_thresholds": {"thresholds": LIMITS},
    "true_negatives_at_thresholds": {"thresholds": LIMITS},
    "false_negatives_at_thresholds": {"thresholds": LIMITS},
    "precision_at_thresholds": {"thresholds": LIMITS},
    "recall_at_thresholds": {"thresholds": LIMITS},
    "sensitivity_at_specificity": {"specificity": 0.6},
    "specificity_at_sensitivity": {"sensitivity": 0.6},
    "specificity_at_sensitivity_few": {"sensitivity": 0.4, "num_thresholds": 7},
}  # fmt: skip


def batches(v1, metric, feeds, batches):
    now, update = metric
    with v1.Session() as session:
        session.run(v1.local_variables_initializer())
        found = [session.run(now)]
        for batch in batches:
            found.append(session.run(update, dict(zip(feeds, batch, strict=True))))
            found.append(session.run(now))
        names = [(v.name, v.shape.as_list()) for v in v1.get_collection("metric_variables")]
        return [*found, names]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", OF_SCORES)
def test_scores(case, weighted):
    def program(v1, tf):
        name = case if hasattr(v1.metrics, case) else case.rpartition("_")[0]
        feeds = [v1.placeholder(kind, [12]) for kind in (tf.bool, tf.float32, tf.float32)]
        options = dict(OF_SCORES[case], weights=feeds[2]) if weighted else OF_SCORES[case]
        metric = getattr(v1.metrics, name)(*feeds[:2], **options)
        return batches(v1, metric, feeds, zip(LABELS, SCORES, WEIGHTS, strict=True))

    agree(program, rtol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["mean_iou", "mean_per_class_accuracy"])
def test_classes(name, weighted):
    def program(v1, tf):
        feeds = [v1.placeholder(kind, [12]) for kind in (tf.int64, tf.int64, tf.float32)]
        options = {"weights": feeds[2]} if weighted else {}
        metric = getattr(v1.metrics, name)(*feeds[:2], 5, **options)
        return batches(v1, metric, feeds, zip(*CLASSES, WEIGHTS, strict=True))

    agree(program, rtol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["mean_relative_error", "mean_cosine_distance", "mean_tensor"])
def test_means(name, weighted):
    def program(v1, tf):
        feeds = [v1.placeholder(tf.float32, [3, 4]) for _ in range(2)]
        rows = v1.placeholder(tf.float32, [3, 1])
        options = {"weights": rows} if weighted else {}
        given = {
            "mean_relative_error": (*feeds, [[1.0, 2.0, 0.0, 3.0]] * 3),
            "mean_cosine_distance": (*feeds, 1), "mean_tensor": (feeds[0],),
        }[name]  # fmt: skip
        metric = getattr(v1.metrics, name)(*given, **options)
        values = [
            (a.reshape(3, 4), b.reshape(3, 4), b[:3, None])
            for a, b in zip(SCORES, WEIGHTS, strict=True)
        ]
        return batches(v1, metric, [*feeds, rows], values)

    agree(program, rtol=1e-4)


def test_what_is_refused():
    def program(v1, tf):
        labels, scores = tf.constant(LABELS[0]), tf.constant(SCORES[0])
        return [
            error_of(lambda: v1.metrics.auc(labels, scores, curve="other")),
            error_of(lambda: v1.metrics.auc(labels, scores, summation_method="other")),
            error_of(lambda: v1.metrics.sensitivity_at_specificity(labels, scores, 1.5)),
        ]

    agree(program)


SETS = np.array([[1, 3], [0, 2], [4, 4]])
RATES = RANDOM.rand(3, 5).astype(np.float32)
ROWS = np.array([1.0, 0.5, 2.0], np.float32)
AT_K = {
    "precision": lambda m, tf: m.precision_at_k(SETS, RATES, 2),
    "precision_class": lambda m, tf: m.precision_at_k(SETS, RATES, 3, class_id=3),
    "precision_weights": lambda m, tf: m.precision_at_k(SETS, RATES, 3, weights=ROWS),
    "precision_top": lambda m, tf: m.precision_at_top_k(SETS, tf.constant([[1, 2]] * 3, tf.int64)),
    "recall": lambda m, tf: m.recall_at_k(SETS, RATES, 2),
    "recall_class": lambda m, tf: m.recall_at_k(SETS, RATES, 3, class_id=3),
    "recall_weights": lambda m, tf: m.recall_at_k(SETS, RATES, 3, weights=ROWS),
    "recall_flat": lambda m, tf: m.recall_at_k(SETS[:, 0], RATES, 2),
    "recall_strange": lambda m, tf: m.recall_at_k(SETS[:2] * 3 - 1, RATES[:2], 2),
    "recall_top": lambda m, tf: m.recall_at_top_k(SETS, tf.constant([[1, 2]] * 3, tf.int64), 2),
    "sparse_labels": lambda m, tf: m.recall_at_k(
        tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 2, 0], tf.int64), [3, 2]),
        RATES,
        2,
    ),
    "average": lambda m, tf: m.average_precision_at_k(SETS, RATES, 3),
    "average_weights": lambda m, tf: m.average_precision_at_k(SETS, RATES, 3, weights=ROWS),
    "older": lambda m, tf: m.sparse_average_precision_at_k(SETS, RATES, 2),
}


@pytest.mark.parametrize("case", AT_K)
def test_likeliest_classes(case):
    agree(lambda v1, tf: batches(v1, AT_K[case](v1.metrics, tf), [], [[], []]))

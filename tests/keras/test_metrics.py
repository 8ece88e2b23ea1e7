"""Metrics beside tf_keras: values over several batches, weights, configs, names, exceptions."""

import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel
import runnel.keras.metrics
from runnel.keras.engine import naming

SEEDS = st.integers(0, 2**32 - 1)


def metrics(tf):
    return runnel.keras.metrics if tf is runnel else tf_keras.metrics


def assert_equal_structures(ours, theirs):
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs) or set(ours) == set(theirs)
        for key in theirs:
            assert_equal_structures(ours[key], theirs[key])
    elif isinstance(theirs, np.ndarray):
        np.testing.assert_array_equal(ours, theirs)
    else:
        assert ours == theirs


def numbers(random, dtype="float32", shape=(6, 3)):
    return random.normal(size=shape).astype(dtype), random.normal(size=shape).astype(dtype)


def positives(random):
    return tuple(random.uniform(0.1, 3, (6, 3)).astype("float32") for _ in range(2))


def binary(random):
    true = random.integers(0, 2, (6, 3)).astype("float32")
    return true, random.uniform(0, 1, (6, 3)).astype("float32")


def binary_vector(random):
    true = random.integers(0, 2, 20)
    # Some predictions lie exactly on thresholds.
    return true, np.round(random.uniform(0, 1, 20), 1).astype("float32")


def one_hot(random):
    return np.eye(4, dtype="float32")[random.integers(0, 4, 6)], _distribution(random)


def sparse(random):
    return random.integers(0, 4, 6), _distribution(random)


def sparse_column(random):
    return random.integers(0, 4, (6, 1)), _distribution(random)


def sparse_sequence(random):
    return random.integers(0, 4, (2, 3)), random.uniform(0, 1, (2, 3, 4)).astype("float32")


def _distribution(random):
    raw = random.uniform(0.05, 1, (6, 4))
    return (raw / raw.sum(-1, keepdims=True)).astype("float32")


def classes(random):
    return random.integers(0, 3, (2, 5)), random.integers(0, 3, (2, 5))


CASES = [
    *[(name, {}, numbers) for name in (
        "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "Hinge",
        "SquaredHinge", "LogCoshError", "CosineSimilarity", "RootMeanSquaredError")],
    ("CosineSimilarity", {"axis": 0}, numbers),
    ("MeanSquaredLogarithmicError", {}, positives),
    ("MeanRelativeError", {"normalizer": [0.5, 0.0, 2.0]}, numbers),
    ("CategoricalHinge", {}, one_hot),
    ("Poisson", {}, positives),
    ("KLDivergence", {}, one_hot),
    ("BinaryCrossentropy", {}, binary),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, binary),
    ("CategoricalCrossentropy", {}, one_hot),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, one_hot),
    ("SparseCategoricalCrossentropy", {}, sparse),
    ("SparseCategoricalCrossentropy", {"ignore_class": 2, "from_logits": True}, sparse),
    ("SparseCategoricalCrossentropy", {}, sparse_sequence),
    ("Accuracy", {}, classes),
    ("BinaryAccuracy", {"threshold": 0.3}, binary),
    ("BinaryAccuracy", {}, binary_vector),
    ("CategoricalAccuracy", {}, one_hot),
    ("SparseCategoricalAccuracy", {}, sparse),
    ("SparseCategoricalAccuracy", {}, sparse_column),
    ("SparseCategoricalAccuracy", {}, sparse_sequence),
    ("TopKCategoricalAccuracy", {"k": 2}, one_hot),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, sparse),
    ("SparseTopKCategoricalAccuracy", {"k": 2}, sparse_column),
    ("SparseTopKCategoricalAccuracy", {"k": 3}, sparse_sequence),
    *[(name, {"thresholds": thresholds}, data)
      for name in ("TruePositives", "TrueNegatives", "FalsePositives", "FalseNegatives",
                   "Precision", "Recall")
      for thresholds, data in ((None, binary), (0.3, binary_vector), ([0.2, 0.5, 0.9], binary),
                               ([0.0, 0.5, 1.0], binary_vector))],
    ("Precision", {"top_k": 2}, one_hot),
    ("Precision", {"top_k": 2, "class_id": 1}, one_hot),
    ("Recall", {"top_k": 1, "thresholds": 0.3}, one_hot),
    ("Recall", {"class_id": 2}, one_hot),
    *[("AUC", {"curve": curve, "summation_method": method, "num_thresholds": number}, data)
      for curve in ("ROC", "PR", "PRGAIN")
      for method in ("interpolation", "majoring", "minoring")
      for number, data in ((200, binary), (11, binary_vector))],
    ("AUC", {"thresholds": [0.1, 0.5, 0.7]}, binary_vector),
    ("AUC", {"thresholds": [0.5], "curve": "PR"}, binary),
    ("AUC", {"multi_label": True}, binary),
    ("AUC", {"multi_label": True, "num_labels": 3, "curve": "PR"}, binary),
    ("AUC", {"multi_label": True, "label_weights": [0.2, 0.5, 1.0], "num_thresholds": 7}, binary),
    ("AUC", {"multi_label": True, "thresholds": [0.3, 0.6], "curve": "PR",
             "summation_method": "minoring"}, binary),
    ("AUC", {"from_logits": True}, binary),
    *[(name, {argument: value, **more}, data)
      for name, argument in (("SensitivityAtSpecificity", "specificity"),
                             ("SpecificityAtSensitivity", "sensitivity"),
                             ("PrecisionAtRecall", "recall"), ("RecallAtPrecision", "precision"))
      for value, more, data in ((0.5, {}, binary_vector), (0.8, {"num_thresholds": 5}, binary),
                                (0.3, {"num_thresholds": 1}, binary), (1.0, {}, binary_vector),
                                (0.4, {"class_id": 1}, one_hot))],
    ("IoU", {"num_classes": 3, "target_class_ids": [0, 2]}, classes),
    ("MeanIoU", {"num_classes": 3}, classes),
    ("MeanIoU", {"num_classes": 5, "ignore_class": 1}, classes),
    ("MeanIoU", {"num_classes": 4, "sparse_y_pred": False}, sparse),
    ("BinaryIoU", {}, binary),
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.3}, binary_vector),
    ("OneHotIoU", {"num_classes": 4, "target_class_ids": [0, 3]}, one_hot),
    ("OneHotMeanIoU", {"num_classes": 4}, one_hot),
    *[("F1Score", {"average": average, "threshold": threshold}, one_hot)
      for average in (None, "micro", "macro", "weighted") for threshold in (None, 0.3)],
    ("FBetaScore", {"beta": 2.0, "average": "macro", "threshold": 0.5}, one_hot),
    *[("R2Score", {"class_aggregation": how, "num_regressors": number}, numbers)
      for how in (None, "uniform_average", "variance_weighted_average") for number in (0, 2)],
]  # fmt: skip


def _weights_for(random, name, true):
    if name.endswith("IoU"):
        shape = true.shape[:-1] if name.startswith("OneHot") else true.shape
        return random.uniform(0, 2, shape).astype("float32")
    return random.uniform(0, 2, len(true)).astype("float32")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2].__name__}")
def test_values_over_batches(case):
    name, options, data = case
    random = np.random.default_rng(7)
    ours = getattr(runnel.keras.metrics, name)(name="m", **options)
    theirs = getattr(tf_keras.metrics, name)(name="m", **options)
    assert_equal_structures(ours.get_config(), theirs.get_config())
    for step in range(20):
        true, predicted = data(random)
        weights = _weights_for(random, name, true) if step % 2 else None
        if name == "CosineSimilarity" and options:
            weights = None
        expected = theirs(
            tensorflow.constant(true), tensorflow.constant(predicted), sample_weight=weights
        )
        actual = ours(runnel.constant(true), runnel.constant(predicted), sample_weight=weights)
        assert (actual.dtype.name, tuple(actual.shape)) == (expected.dtype.name, expected.shape)
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=2e-6, atol=1e-6)
    assert [v.name for v in ours.weights] == [v.name for v in theirs.weights]
    for value, wanted in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=2e-6, atol=1e-5)
    _check_life(ours, theirs)


def test_every_metric_is_compared():
    public = [
        name
        for name, value in vars(tf_keras.metrics).items()
        if isinstance(value, type) and issubclass(value, tf_keras.metrics.Metric)
    ]
    elsewhere = {"Metric", "Mean", "Sum", "MeanTensor", "MeanMetricWrapper"}
    assert {name for name, _, _ in CASES} == set(public) - elsewhere


def _check_life(ours, theirs):
    """Weights can be copied, merged and reset; the config makes the metric again."""
    again = type(ours).from_config(ours.get_config())
    assert_equal_structures(again.get_config(), ours.get_config())
    before, result = ours.get_weights(), ours.result().numpy()
    ours.merge_state([ours])
    for value, old in zip(ours.get_weights(), before, strict=True):
        np.testing.assert_allclose(value, 2 * old)
    ours.set_weights(before)
    np.testing.assert_array_equal(ours.result().numpy(), result)
    ours.reset_state()
    theirs.reset_state()
    for value, wanted in zip(ours.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_array_equal(value, wanted)


@settings(max_examples=15)
@given(
    seed=SEEDS,
    dtype=st.sampled_from(["float16", "float32", "float64", None]),
    shape=st.sampled_from([(), (3,), (2, 3), (2, 3, 2), (0,)]),
    kind=st.sampled_from(["Mean", "Sum", "MeanTensor"]),
    weighting=st.sampled_from([None, "scalar", "first", "all", "inner", "column"]),
)
def test_means_and_sums(seed, dtype, shape, kind, weighting):
    random = np.random.default_rng(seed)
    values = random.normal(size=shape).astype("float32")
    shapes = {"scalar": (), "first": shape[:1], "all": shape, "inner": shape[:-1],
              "column": (*shape, 1)}  # fmt: skip
    weights = None
    if weighting is not None and (shape or weighting == "scalar"):
        weights = random.uniform(0, 2, shapes[weighting]).astype("float32")

    def twice(tf):
        metric = getattr(metrics(tf), kind)(dtype=dtype)
        metric.update_state(values, weights)
        return metric(values), [v.read_value() for v in metric.weights]

    check(twice, traced=False, gradient=False, tolerance=None if dtype == "float16" else 2e-6)


@settings(max_examples=10)
@given(seed=SEEDS, number=st.integers(2, 40), dtype=st.sampled_from(["float32", "float64"]))
def test_auc_counts_predictions_on_thresholds_alike(seed, number, dtype):
    random = np.random.default_rng(seed)
    true = random.integers(0, 2, 30)
    # A few lie outside of [0, 1] too.
    on_threshold = (random.integers(-1, number + 1, 30) / (number - 1)).astype("float32")

    def counted(tf):
        metric = metrics(tf).AUC(num_thresholds=number, dtype=dtype)
        return metric(true, on_threshold), [v.read_value() for v in metric.weights]

    check(counted, traced=False, gradient=False, tolerance=2e-6)


@pytest.mark.parametrize(
    ("true", "predicted"), [((4, 1), (4,)), ((4,), (4, 1)), ((4, 2), (4, 2)), ((4,), (4,))]
)
@pytest.mark.parametrize(
    "name", ["MeanSquaredError", "BinaryAccuracy", "Precision", "AUC", "RootMeanSquaredError"]
)
def test_a_dimension_of_size_one_more_or_less(true, predicted, name):
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, true).astype("float32")
    guesses = random.uniform(0, 1, predicted).astype("float32")
    flat, column = [1.0, 2.0, 0.0, 1.0], [[1.0], [2.0], [0.5], [1.0]]
    # The original refuses weights that would fit where it squeezes the predictions of these two.
    squeezed = name in ("Precision", "AUC") and len(predicted) > len(true)
    for weights in (None,) if squeezed else (None, flat, column):
        check(
            lambda tf, t, p: getattr(metrics(tf), name)()(t, p, weights),
            *(labels, guesses),
            traced=False,
            may_raise=True,
            gradient=False,
        )


FUNCTIONS = [
    ("binary_accuracy", binary),
    ("categorical_accuracy", one_hot),
    ("sparse_categorical_accuracy", sparse),
    ("sparse_categorical_accuracy", sparse_column),
    ("sparse_categorical_accuracy", sparse_sequence),
    ("top_k_categorical_accuracy", one_hot),
    ("sparse_top_k_categorical_accuracy", sparse),
    ("sparse_top_k_categorical_accuracy", sparse_column),
    ("sparse_top_k_categorical_accuracy", sparse_sequence),
]


@pytest.mark.parametrize(("name", "data"), FUNCTIONS)
def test_functions(name, data):
    random = np.random.default_rng(2)
    options = {"k": 2} if "top_k" in name else {}
    for _ in range(3):
        true, predicted = data(random)
        check(
            lambda tf, t, p: getattr(metrics(tf), name)(t, p, **options),
            *(true, predicted),
            gradient=False,
            traced=False,
        )
        check(
            lambda tf: getattr(metrics(tf), name)(true.tolist(), predicted.tolist(), **options),
            gradient=False,
            traced=False,
        )


def test_names():
    public = {name for name in dir(tf_keras.metrics) if not name.startswith("_")}
    special = {"get", "serialize", "deserialize", "experimental", "Metric"}
    needy = {"IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU", "MeanRelativeError",
             "MeanMetricWrapper", "PrecisionAtRecall", "RecallAtPrecision",
             "SensitivityAtSpecificity", "SpecificityAtSensitivity"}  # fmt: skip
    for name in sorted(public - special - needy):
        ours, theirs = runnel.keras.metrics.get(name), tf_keras.metrics.get(name)
        assert callable(getattr(runnel.keras.metrics, name))
        if isinstance(theirs, str):  # the original gives some names back as they are
            continue
        wanted = getattr(theirs, "__name__", type(theirs).__name__)
        assert getattr(ours, "__name__", type(ours).__name__) == wanted
    assert public <= set(dir(runnel.keras.metrics))
    for name in ("accuracy", "acc", "ACC", "cosine_similarity", "cosine_proximity",
                 "categorical_hinge"):  # fmt: skip
        assert runnel.keras.metrics.get(name).__name__ == tf_keras.metrics.get(name).__name__
    with pytest.raises(ValueError, match="'mean_squared_error'"):
        runnel.keras.metrics.get("mean_squred_error")
    for wrong in (None, 3):
        with pytest.raises(ValueError, match=str(wrong)):
            runnel.keras.metrics.get(wrong)


def test_default_names_are_counted():
    tf_keras.backend.clear_session()
    naming.reset()
    two = {"num_classes": 2}
    made = [("Mean", {}), ("AUC", {}), ("AUC", {}), ("Precision", {}), ("MeanIoU", two)]
    made += [("MeanIoU", two), ("OneHotMeanIoU", two), ("Mean", {}), ("TruePositives", {})]
    for name, options in [*made, ("PrecisionAtRecall", {"recall": 0.5})]:
        ours = getattr(runnel.keras.metrics, name)(**options)
        theirs = getattr(tf_keras.metrics, name)(**options)
        assert ours.name == theirs.name
        assert str(ours) == str(theirs)
        for legacy in (False, True):
            config = runnel.keras.metrics.serialize(ours, use_legacy_format=legacy)
            wanted = tf_keras.metrics.serialize(theirs, use_legacy_format=legacy)
            assert_equal_structures(config, wanted)
            again = runnel.keras.metrics.deserialize(config)
            assert_equal_structures(again.get_config(), ours.get_config())


def test_a_metric_of_a_users_own():
    def build(base, tf):
        class Largest(base):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                self.value = self.add_weight("value", initializer="zeros")
                self.steps = self.add_weight(name="steps", shape=(2,), initializer="ones")
                self.inner = metrics(tf).Mean()

            def update_state(self, values, sample_weight=None):
                self.inner.update_state(values)
                self.value.assign(tf.maximum(self.value, tf.reduce_max(values)))

            def result(self):
                return {"largest": self.value, "mean": self.inner.result(), "one": 1.0}

        return Largest

    def used(tf):
        metric = build(metrics(tf).Metric, tf)(name="largest")
        metric.update_state([1.0, 5.0])
        found = metric([3.0])
        return found, [v.read_value() for v in metric.weights], [v.name for v in metric.variables]

    check(used, traced=False, gradient=False)
    metric = build(runnel.keras.metrics.Metric, runnel)()
    metric([2.0])
    assert metric.name.startswith("largest")
    assert metric.trainable_variables == []
    metric.reset_states()
    assert all(not np.any(value) for value in metric.get_weights())


def test_reset_states_of_older_programs():
    class Old(runnel.keras.metrics.Metric):
        def update_state(self, values):
            self.seen = values

        def result(self):
            return self.seen

        def reset_states(self):
            self.seen = 0

    metric = Old()
    assert metric(3).numpy() == 3
    metric.reset_state()
    assert metric.result().numpy() == 0


def test_python_metric():
    class Count(runnel.keras.metrics.experimental.PyMetric):
        def reset_state(self):
            self.seen = 0

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.seen += len(y_true)

        def result(self):
            return self.seen

    metric = Count()
    metric([1, 2], [1, 2])
    assert metric([1], [2]).numpy() == 3
    with pytest.raises(NotImplementedError):
        runnel.keras.metrics.experimental.PyMetric()


def test_a_function_as_a_metric():
    def gap(y_true, y_pred, power=1):
        return abs(y_true - y_pred) ** power

    for make in (lambda tf: metrics(tf).MeanMetricWrapper(gap, name="gap", power=2),):
        check(lambda tf: make(tf)([1.0, 2.0], [3.0, 5.0], [1.0, 3.0]), traced=False)
        ours, theirs = make(runnel), make(tensorflow)
        assert ours.get_config() == theirs.get_config()
    again = runnel.keras.metrics.MeanMetricWrapper.from_config({"fn": "mse", "name": "m"})
    assert again([1.0], [3.0]).numpy() == 4.0


def test_adjusted_score_of_few_samples_is_the_plain_one():
    for number in (1, 3):
        with pytest.warns(UserWarning, match="Falling back"):
            result = runnel.keras.metrics.R2Score(num_regressors=number)(
                [[1.0], [2.0]], [[1.0], [2.5]]
            )
        assert result.numpy() == 0.5


REFUSED = [
    lambda m: m.Metric(),
    lambda m: m.Mean(3),
    lambda m: m.Mean(foo=1),
    lambda m: m.Precision(thresholds=2.0),
    lambda m: m.Precision(thresholds=[0.2, -1.0]),
    lambda m: m.Precision()([0, 1, 1], [0.5, 0.5]),
    lambda m: m.Precision(class_id=7)([[0, 1, 1]], [[0.5, 0.4, 0.1]]),
    lambda m: m.Precision(top_k=9)([[0, 1, 1]], [[0.5, 0.4, 0.1]]),
    lambda m: m.AUC(curve="x"),
    lambda m: m.AUC(summation_method="x"),
    lambda m: m.AUC(num_thresholds=1),
    lambda m: m.AUC(num_labels=3),
    lambda m: m.AUC(label_weights=[0.1, -0.2], multi_label=True),
    lambda m: m.AUC(multi_label=True, num_labels=3)(np.array([[0, 1]]), np.array([[0.2, 0.3]])),
    lambda m: m.SensitivityAtSpecificity(2.0),
    lambda m: m.RecallAtPrecision(-1),
    lambda m: m.SensitivityAtSpecificity(0.5, num_thresholds=0),
    lambda m: m.MeanIoU(2)([0, 3], [0, 1]),
    lambda m: m.IoU(2, [3]),
    lambda m: m.IoU(2, [0])([0, 1], [0, 1], [0.5]),
    lambda m: m.BinaryIoU([2]),
    lambda m: m.MeanTensor().result(),
    lambda m: [metric([1.0, 2.0]) and metric([1.0]) for metric in [m.MeanTensor(shape=(2,))]],
    lambda m: m.MeanRelativeError([1.0, 2.0, 3.0])([1.0, 3.0], [2.0, 3.0]),
    lambda m: m.R2Score(class_aggregation="x"),
    lambda m: m.R2Score(num_regressors=-1),
    lambda m: m.R2Score()([1.0, 2.0], [1.0, 2.0]),
    lambda m: m.F1Score(average="x"),
    lambda m: m.F1Score(threshold=2.0),
    lambda m: m.F1Score(threshold=1),
    lambda m: m.FBetaScore(beta=-1.0),
    lambda m: m.FBetaScore(beta=1),
    lambda m: m.F1Score()([0.0, 1.0], [0.2, 0.8]),
    lambda m: m.Accuracy()([1, 2, 3], [1, 2]),
    lambda m: m.Mean().merge_state([m.Sum()]),
]


@pytest.mark.parametrize("refused", REFUSED)
def test_refusals(refused):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_raises(lambda tf: refused(metrics(tf)))

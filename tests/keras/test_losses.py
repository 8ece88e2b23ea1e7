"""Losses beside tf_keras: values, gradients, weights, masks, configs, names, exceptions."""

import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras
from compare import assert_same, check, check_raises
from hypothesis import given, settings, strategies as st

import runnel
import runnel.keras.losses
from runnel.keras.engine import masking

REDUCTIONS = ["auto", "none", "sum", "sum_over_batch_size"]
SHAPES = st.sampled_from([(3, 4), (1, 2), (2, 3, 4), (2, 1, 3, 2)])
DTYPES = st.sampled_from(["float32", "float64"])
SEEDS = st.integers(0, 2**32 - 1)


def losses(tf):
    return runnel.keras.losses if tf is runnel else tf_keras.losses


def probabilities(random, shape, dtype):
    raw = random.uniform(0.05, 1.0, shape)
    return (raw / raw.sum(-1, keepdims=True)).astype(dtype)


def one_hot(random, shape, dtype):
    return np.eye(shape[-1], dtype=dtype)[random.integers(0, shape[-1], shape[:-1])]


def any_numbers(random, shape, dtype):
    return random.normal(size=shape).astype(dtype)


def positive(random, shape, dtype):
    return random.uniform(0.1, 3.0, shape).astype(dtype)


def binary(random, shape, dtype):
    return random.integers(0, 2, shape).astype(dtype)


def signs(random, shape, dtype):
    return (2 * random.integers(0, 2, shape) - 1).astype(dtype)


def class_numbers(random, shape, dtype):
    return random.integers(0, shape[-1], shape[:-1])


# Function, class, what the labels are, what the predictions are.
POINTWISE = [
    ("mean_squared_error", "MeanSquaredError", any_numbers, any_numbers),
    ("mean_absolute_error", "MeanAbsoluteError", any_numbers, any_numbers),
    ("mean_absolute_percentage_error", "MeanAbsolutePercentageError", positive, any_numbers),
    ("mean_squared_logarithmic_error", "MeanSquaredLogarithmicError", positive, positive),
    ("huber", "Huber", any_numbers, any_numbers),
    ("log_cosh", "LogCosh", any_numbers, any_numbers),
    ("hinge", "Hinge", binary, any_numbers),
    ("hinge", "Hinge", signs, any_numbers),
    ("squared_hinge", "SquaredHinge", binary, any_numbers),
    ("squared_hinge", "SquaredHinge", any_numbers, any_numbers),
    ("categorical_hinge", "CategoricalHinge", one_hot, any_numbers),
    ("kl_divergence", "KLDivergence", probabilities, probabilities),
    ("poisson", "Poisson", positive, positive),
    ("cosine_similarity", "CosineSimilarity", any_numbers, any_numbers),
    ("binary_crossentropy", "BinaryCrossentropy", binary, probabilities),
    ("categorical_crossentropy", "CategoricalCrossentropy", one_hot, probabilities),
    ("binary_focal_crossentropy", "BinaryFocalCrossentropy", binary, probabilities),
    ("categorical_focal_crossentropy", "CategoricalFocalCrossentropy", one_hot, probabilities),
]
NAMES = [f"{case[0]}-{case[2].__name__}" for case in POINTWISE]


@pytest.mark.parametrize("case", POINTWISE, ids=NAMES)
@settings(max_examples=3)
@given(shape=SHAPES, dtype=DTYPES, seed=SEEDS)
def test_functions(case, shape, dtype, seed):
    random = np.random.default_rng(seed)
    function, _, labels, predictions = case
    true, predicted = labels(random, shape, dtype), predictions(random, shape, dtype)
    check(
        lambda tf, p: getattr(losses(tf), function)(true, p),
        predicted,
        second_order=False,
        smooth=False,
        tolerance=5e-6,
    )
    check(
        lambda tf, t, p: getattr(losses(tf), function)(t, p),
        *(true, predicted),
        gradient=False,
    )


@pytest.mark.parametrize("case", POINTWISE, ids=NAMES)
@settings(max_examples=4)
@given(
    shape=SHAPES, dtype=DTYPES, seed=SEEDS, reduction=st.sampled_from(REDUCTIONS), data=st.data()
)
def test_classes(case, shape, dtype, seed, reduction, data):
    random = np.random.default_rng(seed)
    _, name, labels, predictions = case
    true, predicted = labels(random, shape, dtype), predictions(random, shape, dtype)
    inner = shape[:-1]
    weight_shapes = [(), inner, shape[:-2], (*inner, 1)]
    if name == "CosineSimilarity":
        weight_shapes = [(), inner]
    weights = random.uniform(0, 2, data.draw(st.sampled_from(weight_shapes))).astype("float32")
    for given_weights in (None, weights):
        check(
            lambda tf, t, p: getattr(losses(tf), name)(reduction=reduction)(t, p, given_weights),
            *(true, predicted),
            second_order=False,
            smooth=False,
            traced=False,
            tolerance=5e-6,
        )
    graph_shapes = runnel.TensorShape([None] * len(shape))
    _check_graph(name, reduction, true, predicted, weights, graph_shapes)


def _check_graph(name, reduction, true, predicted, weights, shape):
    """The traced loss equals the eager one where sizes are unknown."""
    from runnel.core.graph.graph import Graph

    loss = getattr(runnel.keras.losses, name)(reduction=reduction)
    graph = Graph()
    with graph.as_default():
        holders = [graph.placeholder(runnel.as_dtype(a.dtype), shape) for a in (true, predicted)]
        fetches = [loss(*holders), loss(*holders, weights)]
    feeds = list(zip(holders, (true, predicted), strict=True))
    results = graph.compute(fetches, feeds)
    tensors = runnel.constant(true), runnel.constant(predicted)
    np.testing.assert_allclose(results[0], loss(*tensors).numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(results[1], loss(*tensors, weights).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["binary_crossentropy", "binary_focal_crossentropy"])
@settings(max_examples=8)
@given(
    seed=SEEDS,
    dtype=DTYPES,
    smoothing=st.sampled_from([0.0, 0.1, 1.0]),
    from_logits=st.booleans(),
    axis=st.sampled_from([-1, 0, 1]),
)
def test_binary_options(name, seed, dtype, smoothing, from_logits, axis):
    random = np.random.default_rng(seed)
    true = binary(random, (3, 4), dtype)
    predicted = (any_numbers if from_logits else probabilities)(random, (3, 4), dtype)
    options = {"from_logits": from_logits, "label_smoothing": smoothing, "axis": axis}
    if "focal" in name:
        options |= {"apply_class_balancing": bool(seed % 2), "alpha": 0.3, "gamma": 1.5}
    check(
        lambda tf, p: getattr(losses(tf), name)(true, p, **options),
        predicted,
        second_order=False,
        tolerance=5e-6,
    )


@pytest.mark.parametrize("name", ["categorical_crossentropy", "categorical_focal_crossentropy"])
@settings(max_examples=8)
@given(
    seed=SEEDS,
    dtype=DTYPES,
    smoothing=st.sampled_from([0.0, 0.1, 1.0]),
    from_logits=st.booleans(),
    axis=st.sampled_from([-1, 0, 1]),
)
def test_categorical_options(name, seed, dtype, smoothing, from_logits, axis):
    random = np.random.default_rng(seed)
    true = one_hot(random, (2, 3, 4), dtype)
    predicted = (any_numbers if from_logits else probabilities)(random, (2, 3, 4), dtype)
    options = {"from_logits": from_logits, "label_smoothing": smoothing, "axis": axis}
    check(
        lambda tf, p: getattr(losses(tf), name)(true, p, **options),
        predicted,
        second_order=False,
        smooth=axis == -1,
        traced=False,
        tolerance=5e-6,
    )


@settings(max_examples=8)
@given(
    seed=SEEDS,
    dtype=DTYPES,
    from_logits=st.booleans(),
    axis=st.sampled_from([-1, 1]),
    ignore=st.sampled_from([None, 0, -1, 2]),
    column=st.booleans(),
    kind=st.sampled_from(["int32", "int64", "float32", "uint8"]),
)
def test_sparse_options(seed, dtype, from_logits, axis, ignore, column, kind):
    random = np.random.default_rng(seed)
    true = random.integers(0, 3, (2, 3)).astype(kind)
    if ignore == -1 and kind != "uint8":
        true[0, 0] = -1
    if column:
        true = true[..., np.newaxis]
    predicted = (any_numbers if from_logits else probabilities)(random, (2, 3, 3), dtype)
    options = {"from_logits": from_logits, "axis": axis, "ignore_class": ignore}
    check(
        lambda tf, p: losses(tf).sparse_categorical_crossentropy(true, p, **options),
        predicted,
        second_order=False,
        traced=False,
    )
    options.pop("axis")
    for weights in (None, [1.0, 2.0]):
        for reduction in ("auto", "none"):
            check(
                lambda tf, p: losses(tf).SparseCategoricalCrossentropy(
                    reduction=reduction, **options
                )(true, p, weights),
                predicted,
                second_order=False,
                smooth=False,
                traced=False,
            )


@pytest.mark.parametrize(
    ("true", "predicted"),
    [((2,), (2, 4)), ((2, 1), (2, 4)), ((), (4,)), ((1,), (4,)), ((2, 3, 1), (2, 3, 4))],
)
def test_sparse_labels_of_any_rank(true, predicted):
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, true)
    check(
        lambda tf, p: losses(tf).sparse_categorical_crossentropy(labels, p),
        probabilities(random, predicted, "float32"),
        second_order=False,
        traced=False,
    )


@pytest.mark.parametrize(
    ("true", "predicted"),
    [((2,), (2, 1)), ((2, 1), (2,)), ((2, 3), (3,)), ((2, 3, 1), (2, 3)), ((2, 3), (2, 1))],
)
@pytest.mark.parametrize("name", ["MeanSquaredError", "BinaryCrossentropy", "Hinge"])
def test_a_dimension_of_size_one_more_or_less(true, predicted, name):
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, true).astype("float32")
    guesses = random.uniform(0.1, 0.9, predicted).astype("float32")
    for make in (lambda tf: tf.constant, lambda tf: np.asarray):
        check(
            lambda tf: getattr(losses(tf), name)(reduction="none")(
                make(tf)(labels), make(tf)(guesses)
            ),
            traced=False,
            may_raise=True,
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_results_have_the_dtype_of_the_predictions(dtype, reduction):
    true = np.array([[1, 2], [3, 5]])
    predicted = np.array([[2, 4], [7, 5]])
    for weights in (None, [0.5, 2.0]):
        check(
            lambda tf: losses(tf).MeanSquaredError(reduction)(
                tf.constant(true), tf.cast(predicted, dtype), weights
            ),
            gradient=False,
            traced=False,
        )


def test_losses_of_nothing_are_zero():
    nothing = np.zeros((0, 3), "float32")
    check(lambda tf, t, p: losses(tf).MeanSquaredError()(t, p), nothing, nothing, traced=False)


def test_probabilities_of_zero_and_one_have_finite_losses():
    certain = np.array([[0.0, 1.0], [1.0, 0.0]], "float32")
    wrong = certain[::-1].copy()
    for name in ("binary_crossentropy", "categorical_crossentropy", "kl_divergence"):
        result = check(
            lambda tf, p: getattr(losses(tf), name)(certain, p), wrong, smooth=False, traced=False,
            second_order=False,
        )  # fmt: skip
        assert np.isfinite(result.numpy()).all()
    large = np.array([[1e4, -1e4], [-1e4, 1e4]], "float32")
    for name in ("binary_crossentropy", "categorical_crossentropy"):
        check(lambda tf, p: getattr(losses(tf), name)(certain, p, True), large, smooth=False,
              second_order=False)  # fmt: skip


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("weights", [None, [1.0, 2.0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
def test_masked_predictions_do_not_count(reduction, weights):
    random = np.random.default_rng(1)
    true, predicted = (any_numbers(random, (2, 3, 2), "float32") for _ in range(2))
    mask = np.array([[True, False, True], [True, True, False]])

    def masked(tf):
        tensor = tf.constant(predicted)
        if tf is runnel:
            masking.attach(tensor, tf.constant(mask))
        else:
            tensor._keras_mask = tf.constant(mask)
        return losses(tf).MeanSquaredError(reduction)(tf.constant(true), tensor, weights)

    check(masked, traced=False, gradient=False)


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy",
                                  "binary_crossentropy", "binary_focal_crossentropy"])  # fmt: skip
def test_logits_noted_by_an_activation_are_used(loss):
    true = np.array([1]) if loss.startswith("sparse") else np.array([[0.0, 1.0]], "float32")

    def saturated(tf):
        tensor = tf.constant([[1.0, 0.0]])
        tensor._keras_logits = tf.constant([[20.0, -20.0]])
        return getattr(losses(tf), loss)(true, tensor)

    check(saturated, traced=False)

    with pytest.warns(UserWarning, match="from_logits=True"):
        tensor = runnel.constant([[1.0, 0.0]])
        tensor._keras_logits = runnel.constant([[20.0, -20.0]])
        getattr(runnel.keras.losses, loss)(true, tensor, from_logits=True)


def test_a_single_class_is_warned_about():
    with pytest.warns(SyntaxWarning, match="binary_crossentropy"):
        runnel.keras.losses.categorical_crossentropy([[1.0]], [[0.5]])


CONFIGURED = [
    *[(case[1], {}) for case in POINTWISE],
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 2}),
    ("Huber", {"delta": 2.5, "name": "h", "reduction": "sum"}),
    ("CosineSimilarity", {"axis": 1}),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.2, "axis": 0}),
    ("CategoricalFocalCrossentropy", {"alpha": [0.1, 0.2], "gamma": 3.0}),
    ("Loss", {"name": "mine"}),
]


@pytest.mark.parametrize(("name", "options"), CONFIGURED)
def test_configs(name, options):
    ours = getattr(runnel.keras.losses, name)(**options)
    theirs = getattr(tf_keras.losses, name)(**options)
    assert ours.get_config() == theirs.get_config()
    assert ours.name == theirs.name
    assert ours.reduction == theirs.reduction
    again = type(ours).from_config(ours.get_config())
    assert again.get_config() == ours.get_config()
    for legacy in (False, True):
        config = runnel.keras.losses.serialize(ours, use_legacy_format=legacy)
        assert config == tf_keras.losses.serialize(theirs, use_legacy_format=legacy)
        assert runnel.keras.losses.deserialize(config).get_config() == ours.get_config()


def test_names():
    public = {name for name in dir(tf_keras.losses) if not name.startswith("_")}
    for name in sorted(public - {"get", "serialize", "deserialize", "Reduction"}):
        ours, theirs = runnel.keras.losses.get(name), tf_keras.losses.get(name)
        wanted = getattr(theirs, "__name__", type(theirs).__name__)
        assert getattr(ours, "__name__", type(ours).__name__) == wanted
        assert callable(getattr(runnel.keras.losses, name))
    for name in ("bce", "BCE", "huber_loss"):
        assert runnel.keras.losses.get(name).__name__ == tf_keras.losses.get(name).__name__
    assert runnel.keras.losses.get(None) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = tf_keras.losses.serialize(tf_keras.losses.mse)
    assert runnel.keras.losses.serialize(runnel.keras.losses.mse) == expected
    with pytest.raises(ValueError, match="'mean_squared_error'"):
        runnel.keras.losses.get("mean_squred_error")
    with pytest.raises(ValueError, match="3"):
        runnel.keras.losses.get(3)


def test_a_loss_of_a_users_own():
    def build(base, tf):
        class Scaled(base):
            def __init__(self, factor=2.0, **kwargs):
                super().__init__(**kwargs)
                self.factor = factor

            def call(self, y_true, y_pred):
                return self.factor * tf.reduce_sum(tf.abs(y_true - y_pred), axis=-1)

            def get_config(self):
                return {**super().get_config(), "factor": self.factor}

        return Scaled

    random = np.random.default_rng(3)
    true, predicted = (any_numbers(random, (3, 2), "float32") for _ in range(2))
    for weights in (None, [1.0, 2.0, 0.0]):
        check(
            lambda tf, t, p: build(losses(tf).Loss, tf)(3.0, name="s")(t, p, weights),
            *(true, predicted),
            smooth=False,
            traced=False,
        )
    ours = build(runnel.keras.losses.Loss, runnel)(3.0, reduction="sum")
    assert ours.get_config() == {"reduction": "sum", "name": None, "factor": 3.0}
    assert type(ours).from_config(ours.get_config()).factor == 3.0


def test_a_function_as_a_loss():
    def gap(y_true, y_pred, power=1):
        return (y_true - y_pred) ** power

    wrapper = runnel.keras.losses.LossFunctionWrapper(gap, "sum", "gap", power=2)
    assert wrapper(runnel.constant([1.0, 2.0]), runnel.constant([3.0, 5.0])).numpy() == 13.0
    assert wrapper.get_config() == {"reduction": "sum", "name": "gap", "power": 2, "fn": "gap"}
    config = {"fn": "mean_squared_error", "name": "m", "reduction": "sum"}
    again = runnel.keras.losses.LossFunctionWrapper.from_config(config)
    assert again.fn is runnel.keras.losses.mean_squared_error


def test_refusals():
    three, four = np.zeros((2, 3), "float32"), np.zeros((2, 4), "float32")
    check_raises(lambda tf, t, p: losses(tf).MeanSquaredError()(t, p), three, four)
    check_raises(lambda tf, t, p: losses(tf).CategoricalCrossentropy()(t, p), three, four)
    check_raises(
        lambda tf, t, p: losses(tf).BinaryCrossentropy(from_logits=True)(t, p), three, four
    )
    check_raises(lambda tf, p: losses(tf).SparseCategoricalCrossentropy()([0, 5], p), three)
    check_raises(lambda tf, p: losses(tf).SparseCategoricalCrossentropy()([0, 1, 2], p), three)
    check_raises(lambda tf, p: losses(tf).MeanSquaredError()(p, p, [1.0, 2.0, 3.0]), three)
    check_raises(lambda tf: losses(tf).MeanSquaredError()(1.0, 2.0))
    check_raises(lambda tf: losses(tf).MeanSquaredError(reduction="bad"), message="bad")
    check_raises(lambda tf: losses(tf).Reduction.validate("bad"), message="bad")
    check_raises(lambda tf, p: losses(tf).Loss()(p, p), three, message="call")


def test_reductions():
    assert runnel.keras.losses.Reduction.all() == tf_keras.losses.Reduction.all()
    for name in ("AUTO", "NONE", "SUM", "SUM_OVER_BATCH_SIZE"):
        ours, theirs = runnel.keras.losses.Reduction, tf_keras.losses.Reduction
        assert getattr(ours, name) == getattr(theirs, name)


TRAINED = [
    *[(name, {}, labels) for _, name, labels, _ in POINTWISE],
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, binary),
    ("BinaryFocalCrossentropy", {"from_logits": True, "apply_class_balancing": True}, binary),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, one_hot),
    ("CategoricalFocalCrossentropy", {"from_logits": True}, one_hot),
    ("Huber", {"delta": 0.3}, any_numbers),
    ("SparseCategoricalCrossentropy", {}, class_numbers),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, class_numbers),
    ("SparseCategoricalCrossentropy", {"ignore_class": 1}, class_numbers),
]
PROBABILITIES = ("KLDivergence", "Crossentropy")


@pytest.mark.parametrize(
    ("name", "options", "labels"), TRAINED, ids=[f"{n}-{'-'.join(o)}" for n, o, _ in TRAINED]
)
def test_training_follows_the_original(name, options, labels):
    """Twenty steps of gradient descent, with weights of the samples in every other one."""
    random = np.random.default_rng(5)
    features = any_numbers(random, (20, 3), "float32")
    true = labels(random, (20, 4), "float32")
    sample_weight = positive(random, (20,), "float32")
    start = any_numbers(random, (3, 4), "float32")
    wants_probabilities = name.endswith(PROBABILITIES) and not options.get("from_logits")

    def trained(tf):
        loss = getattr(losses(tf), name)(**options)
        weights = tf.Variable(start)
        values = []
        for step in range(20):
            with tf.GradientTape() as tape:
                predicted = tf.constant(features) @ weights
                if wants_probabilities:
                    predicted = tf.nn.softmax(predicted)
                elif name in ("Poisson", "MeanSquaredLogarithmicError"):
                    predicted = tf.math.softplus(predicted)
                value = loss(true, predicted, sample_weight if step % 2 else None)
            rate = 0.005 if name == "MeanAbsolutePercentageError" else 0.3
            weights.assign_sub(rate * tape.gradient(value, weights))
            values.append(value)
        return weights.read_value(), tf.stack(values)

    expected = trained(tensorflow)
    assert not np.allclose(expected[0], start, atol=1e-2)
    assert_same(expected, trained(runnel), 2e-5)


def test_every_loss_is_trained_with():
    public = [
        name
        for name, value in vars(tf_keras.losses).items()
        if isinstance(value, type) and issubclass(value, tf_keras.losses.Loss)
    ]
    assert {name for name, _, _ in TRAINED} == set(public) - {"Loss"}

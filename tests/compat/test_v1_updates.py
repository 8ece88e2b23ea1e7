"""What Keras returns in a graph stands for all that it changes: metrics, layers, optimizers."""

import inspect

import numpy as np
import pytest
from both_v1 import agree, run_both, same

import runnel

RANDOM = np.random.RandomState(0)
LABELS = np.array([0, 1, 1, 0, 1, 0], np.float32)
SCORES = RANDOM.rand(6).astype(np.float32)
CLASSES = np.array([0, 1, 2, 0, 1, 0], np.float32)
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES.astype(int)]
PROBABILITIES = RANDOM.dirichlet(np.ones(3), 6).astype(np.float32)

_ONE, _OF_ROWS = (LABELS, SCORES), (ONE_HOT, PROBABILITIES)
# The arguments of metrics that need any, and what they take.
METRICS = {
    "AUC": ({}, _ONE),
    "Accuracy": ({}, (LABELS, SCORES.round())),
    "BinaryAccuracy": ({}, _ONE),
    "BinaryCrossentropy": ({}, _OF_ROWS),
    "BinaryIoU": ({}, _ONE),
    "CategoricalAccuracy": ({}, _OF_ROWS),
    "CategoricalCrossentropy": ({}, _OF_ROWS),
    "CategoricalHinge": ({}, _OF_ROWS),
    "CosineSimilarity": ({}, _OF_ROWS),
    "F1Score": ({}, _OF_ROWS),
    "FBetaScore": ({}, _OF_ROWS),
    "FalseNegatives": ({}, _ONE),
    "FalsePositives": ({}, _ONE),
    "Hinge": ({}, _OF_ROWS),
    "IoU": ({"num_classes": 2, "target_class_ids": [0]}, (LABELS, SCORES.round())),
    "KLDivergence": ({}, _OF_ROWS),
    "LogCoshError": ({}, _OF_ROWS),
    "Mean": ({}, (SCORES,)),
    "MeanAbsoluteError": ({}, _OF_ROWS),
    "MeanAbsolutePercentageError": ({}, _OF_ROWS),
    "MeanIoU": ({"num_classes": 2}, (LABELS, SCORES.round())),
    "MeanMetricWrapper": ({"fn": lambda y_true, y_pred: (y_true - y_pred) ** 2}, _ONE),
    "MeanRelativeError": ({"normalizer": LABELS + 1}, _ONE),
    "MeanSquaredError": ({}, _OF_ROWS),
    "MeanSquaredLogarithmicError": ({}, _OF_ROWS),
    "MeanTensor": ({}, (SCORES,)),
    "OneHotIoU": ({"num_classes": 3, "target_class_ids": [0]}, _OF_ROWS),
    "OneHotMeanIoU": ({"num_classes": 3}, _OF_ROWS),
    "Poisson": ({}, _OF_ROWS),
    "Precision": ({}, _ONE),
    "PrecisionAtRecall": ({"recall": 0.5}, _ONE),
    "R2Score": ({}, _OF_ROWS),
    "Recall": ({}, _ONE),
    "RecallAtPrecision": ({"precision": 0.5}, _ONE),
    "RootMeanSquaredError": ({}, _ONE),
    "SensitivityAtSpecificity": ({"specificity": 0.5}, _ONE),
    "SparseCategoricalAccuracy": ({}, (CLASSES, PROBABILITIES)),
    "SparseCategoricalCrossentropy": ({}, (CLASSES, PROBABILITIES)),
    "SparseTopKCategoricalAccuracy": ({"k": 1}, (CLASSES, PROBABILITIES)),
    "SpecificityAtSensitivity": ({"sensitivity": 0.5}, _ONE),
    "SquaredHinge": ({}, _OF_ROWS),
    "Sum": ({}, (SCORES,)),
    "TopKCategoricalAccuracy": ({"k": 1}, _OF_ROWS),
    "TrueNegatives": ({}, _ONE),
    "TruePositives": ({}, _ONE),
}
# The original's own updates of these do nothing in a graph: ours are checked against eager ones.
_IDLE_IN_THE_ORIGINAL = ("F1Score", "FBetaScore", "R2Score")


def test_all_metrics_are_here():
    metrics = runnel.keras.metrics
    names = {
        name
        for name in dir(metrics)
        if inspect.isclass(getattr(metrics, name)) and issubclass(
            getattr(metrics, name), metrics.Metric
        )
    }  # fmt: skip
    assert names - set(METRICS) == {"Metric"}


def gathered(v1, tf, name, weights):
    arguments, arrays = METRICS[name]
    metric = getattr(tf.keras.metrics, name)(**arguments)
    # The shape of these is that of their first values.
    whole = name in ("MeanTensor", "MeanRelativeError")
    inputs = [
        v1.placeholder(tf.float32, each.shape if whole else [None, *each.shape[1:]])
        for each in arrays
    ]
    options = {} if weights is None else {"sample_weight": tf.constant(weights, tf.float32)}
    update = metric.update_state(*inputs, **options)
    result, call = metric.result(), metric(*inputs, **options)
    found = [type(update).__name__, len(metric.updates), [each.name for each in metric.variables]]
    with v1.Session() as session:
        session.run([each.initializer for each in metric.variables])
        feeds = dict(zip(inputs, arrays, strict=True))
        found += [session.run(update, feeds), session.run(metric.variables), session.run(result)]
        found += [session.run(call, feeds), session.run(metric.variables)]
        metric.reset_state()
        return [*found, session.run(metric.variables)]


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 7.0)], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", [name for name in METRICS if name not in _IDLE_IN_THE_ORIGINAL])
def test_metric(name, weights):
    agree(lambda v1, tf: gathered(v1, tf, name, weights), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", _IDLE_IN_THE_ORIGINAL)
def test_metric_whose_updates_the_original_loses(name):
    with runnel.Graph().as_default():
        found = gathered(runnel.compat.v1, runnel, name, None)
    arguments, arrays = METRICS[name]
    metric = getattr(runnel.keras.metrics, name)(**arguments)
    once = metric(*arrays).numpy(), [each.numpy() for each in metric.variables]
    twice = metric(*arrays).numpy(), [each.numpy() for each in metric.variables]
    zeros = [np.zeros_like(each) for each in once[1]]
    same([once[1], once[0], twice[0], twice[1], zeros], found[4:])


def test_several_metrics_in_one_run():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None])
        kinds = tf.keras.metrics
        metrics = [kinds.Mean(), kinds.Sum(), kinds.RootMeanSquaredError()]
        updates = [metrics[0].update_state(x), metrics[1].update_state(x)]
        updates.append(metrics[2].update_state(x, x * 2.0))
        results = [each.result() for each in metrics]
        grouped = tf.group(*updates)
        with tf.control_dependencies(updates):
            after = tf.identity(metrics[0].result())
        found = []
        with v1.Session() as session:
            session.run([each.initializer for metric in metrics for each in metric.variables])
            for fetch in (updates, grouped, after):
                session.run(fetch, {x: np.array([0.1, 0.6, 0.4], np.float32)})
                found.append(session.run(results))
        return found

    agree(program)


def own_metric(tf, kind):
    class Twice(tf.keras.metrics.Metric):
        def __init__(self, name="twice"):
            super().__init__(name=name)
            self.sum = self.add_weight("sum", initializer="zeros")
            self.double = self.add_weight("double", initializer="zeros")

        def update_state(self, x, sample_weight=None):
            self.sum.assign_add(tf.reduce_sum(x))
            self.double.assign_add(self.sum * 2.0)

        def result(self):
            return self.sum + self.double

    class Signs(Twice):
        def update_state(self, x, sample_weight=None):
            if tf.reduce_sum(x) > 0:
                self.sum.assign_add(1.0)
            else:
                self.double.assign_add(1.0)

    class Doubled(tf.keras.metrics.Mean):
        def update_state(self, values, sample_weight=None):
            return super().update_state(values * 2.0)

    return {"twice": Twice, "signs": Signs, "doubled": Doubled}[kind]()


@pytest.mark.parametrize("kind", ["twice", "signs", "doubled"])
def test_own_metric(kind):
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None])
        metric = own_metric(tf, kind)
        update, call = metric.update_state(x), metric(x)
        found = []
        with v1.Session() as session:
            session.run([each.initializer for each in metric.variables])
            for fetch, values in ((update, [1.0, 2.0]), (call, [3.0]), (call, [-9.0])):
                found += [session.run(fetch, {x: values}), session.run(metric.variables)]
            metric.reset_state()
            return [*found, session.run(metric.variables)]

    agree(program)


# Layers.


def moving_averages(v1, tf, make, shape, **call):
    """The weights after a batch, after the updates, and the number of the updates."""
    x = v1.placeholder(tf.float32, [None, *shape])
    layer = make(tf)
    y = layer(x, **call)
    images = np.random.RandomState(1).rand(4, *shape).astype(np.float32)
    phase = tf.keras.backend.learning_phase()
    found = []
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for training in (False, True):
            feeds = {x: images, phase: training}
            found += [session.run(y, feeds), session.run(layer.weights)]
            session.run(layer.updates, feeds)
            found.append(session.run(layer.weights))
    found.append([len(layer.get_updates_for(each)) for each in (None, x)])
    return [*found, len(v1.get_collection(v1.GraphKeys.UPDATE_OPS))]


NORMALIZATIONS = {
    "vectors": (lambda tf: tf.keras.layers.BatchNormalization(), (3,)),
    "images": (lambda tf: tf.keras.layers.BatchNormalization(), (4, 4, 2)),
    "model": (
        lambda tf: tf.keras.Sequential([tf.keras.layers.BatchNormalization()]), (4, 4, 2),
    ),
    "frozen": (lambda tf: tf.keras.layers.BatchNormalization(trainable=False), (3,)),
    "of each step": (
        lambda tf: tf.keras.layers.TimeDistributed(tf.keras.layers.BatchNormalization()), (4, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("training", [None, True, False])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_moving_averages(name, training):
    make, shape = NORMALIZATIONS[name]
    call = {} if training is None else {"training": training}
    agree(lambda v1, tf: moving_averages(v1, tf, make, shape, **call), rtol=1e-4, atol=1e-5)


def test_moving_averages_of_renormalization():
    def program(v1, tf):
        make = lambda tf: tf.keras.layers.BatchNormalization(renorm=True)  # noqa: E731
        return moving_averages(v1, tf, make, (3,))

    theirs, ours = run_both(program)
    # The original groups some of the updates.
    same(theirs[:-2], ours[:-2], rtol=1e-4, atol=1e-5)


def test_updates_added_in_a_call():
    def program(v1, tf):
        class Counting(tf.keras.layers.Layer):
            def build(self, shape):
                self.calls = self.add_weight("calls", (), initializer="zeros", trainable=False)
                self.rows = self.add_weight("rows", (), initializer="zeros", trainable=False)

            def call(self, x):
                self.add_update(self.calls.assign_add(1.0))
                self.add_update(lambda: self.rows.assign_add(tf.reduce_sum(x)))
                self.add_loss(tf.reduce_sum(x))
                return x * 2.0

        x = v1.placeholder(tf.float32, [None])
        layer = Counting()
        y, _ = layer(x), layer(x * 3.0)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            found = [session.run(y, {x: [1.0, 2.0]}), session.run(layer.weights)]
            session.run(layer.updates, {x: [1.0, 2.0]})
            found += [session.run(layer.weights), session.run(layer.losses, {x: [1.0, 2.0]})]
        layer.trainable = False
        return [*found, len(layer.updates)]

    agree(program)


LAYERS_WITH_NOISE = {
    "Dropout": (0.5, (4,)),
    "SpatialDropout2D": (0.5, (4, 4, 2)),
    "GaussianNoise": (1.0, (4,)),
    "GaussianDropout": (0.5, (4,)),
    "AlphaDropout": (0.5, (4,)),
    "LSTM": (3, (4, 2)),
    "GRU": (3, (4, 2)),
}


@pytest.mark.parametrize("name", LAYERS_WITH_NOISE)
def test_the_learning_phase_is_fed(name):
    def program(v1, tf):
        argument, shape = LAYERS_WITH_NOISE[name]
        options = {"dropout": 0.5} if name in ("LSTM", "GRU") else {}
        x = v1.placeholder(tf.float32, [None, *shape])
        y = tf.keras.Sequential([getattr(tf.keras.layers, name)(argument, **options)])(x)
        phase = tf.keras.backend.learning_phase()
        batch = np.random.RandomState(2).rand(8, *shape).astype(np.float32)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            plain, again = session.run(y, {x: batch}), session.run(y, {x: batch, phase: 0})
            noisy = session.run(y, {x: batch, phase: 1})
        return [phase.name, phase.dtype.name, np.array_equal(plain, again),
                np.array_equal(plain, noisy)]  # fmt: skip

    agree(program)


# Optimizers.


def minimized(v1, tf, make, how):
    x = v1.placeholder(tf.float32, [None, 2])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    optimizer = make(tf)
    loss = lambda: tf.reduce_mean(model(x) ** 2)  # noqa: E731
    loss()
    weights = model.trainable_weights
    if how == "minimize":
        update = optimizer.minimize(loss, weights)
    elif how == "apply_gradients":
        update = optimizer.apply_gradients(zip(tf.gradients(loss(), weights), weights, strict=True))
    else:
        update = optimizer.get_updates(loss(), weights)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(update, {x: [[1.0, 2.0], [3.0, -1.0]]})
        # After a method of a Keras model or optimizer all variables have values.
        slots = {each.name: each for each in optimizer.variables()}
        return [session.run(weights), session.run(slots), type(update).__name__]


@pytest.mark.parametrize("how", ["minimize", "apply_gradients", "get_updates"])
@pytest.mark.parametrize(
    "name", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl"]
)
def test_older_optimizer(name, how):
    make = lambda tf: getattr(tf.keras.optimizers.legacy, name)(0.1)  # noqa: E731
    agree(lambda v1, tf: minimized(v1, tf, make, how), rtol=1e-4)


def test_older_optimizer_with_momentum_clipping_and_a_schedule():
    def make(tf):
        rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
        return tf.keras.optimizers.legacy.SGD(rate, momentum=0.9, clipnorm=1.0)

    agree(lambda v1, tf: minimized(v1, tf, make, "apply_gradients"), rtol=1e-4)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Lion", "Adafactor", "Nadam"])
def test_optimizer_does_as_eagerly(name):
    # The original's optimizers of this kind only count their steps in a graph.
    make = lambda tf: getattr(tf.keras.optimizers, name)(0.1)  # noqa: E731
    for how in ("minimize", "apply_gradients"):
        with runnel.Graph().as_default():
            weights, slots, _ = minimized(runnel.compat.v1, runnel, make, how)
        model = runnel.keras.Sequential([runnel.keras.layers.Dense(1, kernel_initializer="ones")])
        batch = runnel.constant([[1.0, 2.0], [3.0, -1.0]])
        model(batch)
        optimizer = make(runnel)
        for _ in range(3):
            optimizer.minimize(
                lambda model=model: runnel.reduce_mean(model(batch) ** 2), model.trainable_weights
            )
        for expected, found in zip(model.trainable_weights, weights, strict=True):
            np.testing.assert_allclose(found, expected.numpy(), rtol=1e-4)
        assert slots["iteration:0"] == 3


def test_scaled_loss():
    def program(tf):
        variable = tf.Variable([1.0, 2.0])
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
            tf.keras.optimizers.SGD(0.5), initial_scale=8.0, dynamic_growth_steps=2
        )
        return variable, optimizer

    with runnel.Graph().as_default():
        variable, optimizer = program(runnel)
        gradient = runnel.compat.v1.placeholder(runnel.float32, [2])
        update = optimizer.apply_gradients([(gradient, variable)])
        found = []
        with runnel.compat.v1.Session() as session:
            session.run(runnel.compat.v1.global_variables_initializer())
            for value in (1.0, np.inf, 1.0, 1.0):
                session.run(update, {gradient: [value, 0.0]})
                found.append(session.run([variable, optimizer.loss_scale]))
    variable, optimizer = program(runnel)
    for value, (weights, scale) in zip((1.0, np.inf, 1.0, 1.0), found, strict=True):
        optimizer.apply_gradients([(runnel.constant([value, 0.0]), variable)])
        np.testing.assert_allclose(weights, variable.numpy())
        assert scale == optimizer.loss_scale.numpy()


def test_moving_averages_of_variables():
    def program(v1, tf):
        v, w = tf.Variable(1.0, name="v"), tf.Variable([2.0, 3.0], name="w")
        averages = tf.train.ExponentialMovingAverage(0.9)
        with tf.control_dependencies([v.assign_add(1.0)]):
            update = averages.apply([v, w])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(2):
                session.run(update)
            values = session.run([v, w, averages.average(v), averages.average(w)])
        return [values, sorted(averages.variables_to_restore())]

    agree(program)


# Functions.


def test_a_call_of_a_function_does_all_that_the_function_does():
    def program(v1, tf):
        a, b = tf.Variable(0.0), tf.Variable(0.0)

        @tf.function(autograph=False)
        def step(x):
            a.assign_add(x)
            b.assign_add(a * 2.0)
            return x * 10.0, {"a": a}

        @tf.function(autograph=False)
        def outer(x):
            step(x)
            return step(x * 2.0)[0]

        @tf.function(autograph=False)
        def constant():
            a.assign(100.0)
            return tf.constant(3.0)

        x = v1.placeholder(tf.float32, [])
        calls = [step(x)[0], step(x)[1]["a"], outer(x), constant(), tf.gradients(step(x)[0], x)[0]]
        with tf.control_dependencies([step(x)[0]]):
            calls.append(a.read_value())
        found = []
        with v1.Session() as session:
            for call in calls:
                session.run(v1.global_variables_initializer())
                found += [session.run(call, {x: 3.0}), session.run([a, b])]
        return found

    agree(program)

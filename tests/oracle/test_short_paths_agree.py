"""Tapes, short eager paths and the kernels behind them, where slopes are infinite or nothing."""

import numpy as np
import pytest
import tensorflow
from compare import assert_same, assert_same_failure

import runnel

SPECIAL = [0.0, -1.0, 1.0, 4.0, np.nan, np.inf, -np.inf]


def both(program):
    """Run `program(tf)` on both libraries and compare results or exception classes."""
    outcomes = []
    for tf in (tensorflow, runnel):
        try:
            outcomes.append(program(tf))
        except Exception as failure:
            outcomes.append(failure)
    expected, actual = outcomes
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_failure(expected, actual)
    else:
        assert_same(expected, actual)
    return actual


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
@pytest.mark.parametrize("name", ["sqrt", "rsqrt", "reciprocal"])
def test_a_gradient_of_zero_stays_zero_whatever_the_slope(name, dtype):
    def program(tf):
        x = tf.cast(tf.constant(SPECIAL), dtype)
        found = []
        for each, weights in (
            (x, tf.zeros_like(x)),
            (x, tf.cast(tf.one_hot(2, len(SPECIAL)), dtype)),
            (x[0], tf.zeros_like(x[0])),
        ):
            with tf.GradientTape() as tape:
                tape.watch(each)
                y = getattr(tf.math, name)(each)
            found.append(tape.gradient(y, each, output_gradients=weights))
        return found

    for gradient in both(program):
        assert np.isfinite(np.asarray(gradient.numpy(), "complex64")).all()


@pytest.mark.parametrize("traced", [False, True])
def test_what_where_leaves_out_has_no_gradient(traced):
    def program(tf):
        def slopes(x):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                results = [
                    tf.where(x > 0.5, tf.sqrt(x), 0.0),
                    tf.where(x > 0.5, tf.math.rsqrt(x), 0.0),
                    tf.where(x > 0.5, tf.math.reciprocal(x), 0.0),
                ]
            return [tape.gradient(each, x) for each in results]

        return (tf.function(slopes) if traced else slopes)(tf.constant(SPECIAL))

    both(program)


def test_distances_of_equal_points_that_a_mask_leaves_out():
    def program(tf):
        x = tf.constant([[1.0, 2.0], [1.0, 2.0], [3.0, 5.0]])
        labels = tf.constant([0, 0, 1])
        with tf.GradientTape() as tape:
            tape.watch(x)
            distances = tf.sqrt(tf.reduce_sum((x[:, None] - x[None]) ** 2, -1))
            others = tf.cast(labels[:, None] != labels[None], tf.float32)
            loss = tf.reduce_sum(distances * others)
        return loss, tape.gradient(loss, x)

    gradient = both(program)[1]
    assert np.isfinite(gradient.numpy()).all()


def test_recomputing_a_function_that_gives_back_its_argument():
    def program(tf):
        x = tf.constant(3.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            same = tf.recompute_grad(lambda each: each)(x)
            product = same * x
        return tape.gradient(same, x), tape.gradient(product, x)

    both(program)


def customized(tf, name):
    return {
        "square": lambda x: (x * x, lambda upstream: upstream * 7.0),
        "round": lambda x: (tf.round(x), lambda upstream: upstream),
        "identity": lambda x: (x, lambda upstream: upstream * 5.0),
        "both": lambda x: ((x * x, tf.round(x)), lambda first, second: first - second),
    }[name]


@pytest.mark.parametrize("name", ["square", "round", "identity", "both"])
def test_forward_mode_looks_inside_of_custom_gradients(name):
    def program(tf):
        x, direction = tf.constant([3.0, 4.0]), tf.constant([1.0, 2.0])
        function = tf.custom_gradient(customized(tf, name))
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.autodiff.ForwardAccumulator(x, direction) as accumulator:
                results = tf.nest.flatten(function(x))
            tangents = accumulator.jvp(results)
        return tangents, tape.gradient(tangents[0], x)

    both(program)


def test_forward_mode_of_the_variables_of_a_custom_gradient():
    def program(tf):
        v = tf.Variable([3.0, 4.0])

        @tf.custom_gradient
        def scaled(x):
            return x * v, lambda upstream, variables=None: (upstream, [upstream * 9.0])

        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 2.0])) as accumulator:
            result = scaled(tf.constant([5.0, 6.0]))
        return accumulator.jvp(result)

    both(program)


def test_a_primal_is_given_once():
    def program(tf):
        x = tf.constant(3.0)
        return tf.autodiff.ForwardAccumulator([x, x], [tf.constant(1.0), tf.constant(2.0)])

    both(program)


def test_the_jacobian_of_nothing():
    def program(tf):
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            y = x[:0] * 2.0
        return tape.jacobian(y, x)

    both(program)


def test_the_mean_of_no_numbers():
    def program(tf):
        means = []
        for dtype in ("float32", "int32", "complex64"):
            nothing = tf.zeros([0, 2], dtype)
            means += [tf.reduce_mean(nothing), tf.reduce_mean(nothing, 0)]
        return means

    both(program)


@pytest.mark.parametrize("loss", ["BinaryCrossentropy", "CategoricalCrossentropy"])
def test_label_smoothing_keeps_the_precision_of_the_predictions(loss):
    def value(tf):
        labels, predictions = np.array([[0.0, 1.0]]), np.array([[0.2, 0.8]])
        return float(getattr(tf.keras.losses, loss)(label_smoothing=0.1)(labels, predictions))

    np.testing.assert_allclose(value(runnel), value(tensorflow), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:.*batch_normalization. is deprecated")
@pytest.mark.parametrize("trainable", [True, False])
def test_averages_of_a_layer_that_is_not_trainable_stay(trainable):
    def program(tf):
        v1 = tf.compat.v1
        with tf.Graph().as_default(), v1.Session() as session:
            x = v1.placeholder(tf.float32, [4, 3])
            y = v1.layers.batch_normalization(x, training=True, trainable=trainable)
            session.run(v1.global_variables_initializer())
            updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
            given = {x: np.arange(12, dtype=np.float32).reshape(4, 3)}
            result, _ = session.run([y, updates], given)
            found = [result, *session.run(v1.global_variables())]
        return [tf.constant(each) for each in found]

    both(program)


@pytest.mark.parametrize(
    "layer, options",
    [("GroupNormalization", {"groups": 1}), ("BatchNormalization", {"synchronized": True})],
)
def test_second_derivatives_of_normalizations(layer, options):
    random = np.random.default_rng(3)
    values, weights = random.normal(size=(2, 3, 3, 2, 4))

    def program(tf):
        x = tf.constant(values)
        normalize = getattr(tf.keras.layers, layer)(dtype="float64", **options)
        training = {"training": True} if layer == "BatchNormalization" else {}
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = normalize(tf.tanh(x) * tf.reduce_sum(x**2), **training)
                loss = tf.reduce_sum(y * weights)
            gradient = inner.gradient(loss, x)
            length = tf.reduce_sum(gradient**2)
        return gradient, outer.gradient(length, x)

    both(program)

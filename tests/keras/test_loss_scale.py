"""LossScaleOptimizer: training in float16 as tf_keras does it."""

import numpy as np
import pytest
from side_by_side import assert_alike, compare, compare_failure, tf_keras

import runnel


def scaling(keras, inner=None, **kwargs):
    inner = keras.optimizers.SGD(0.5) if inner is None else inner
    return keras.mixed_precision.LossScaleOptimizer(inner, **kwargs)


def test_the_scale_follows_the_gradients():
    def course(tf, keras):
        optimizer = scaling(keras, initial_scale=4, dynamic_growth_steps=2)
        variable = tf.Variable(10.0)
        found = []
        for gradient in (4.0, 4.0, np.inf, 4.0, np.nan, np.nan, np.nan, 4.0, 4.0):
            optimizer.apply_gradients([(tf.constant(gradient), variable)])
            counts = (optimizer.dynamic_counter, optimizer.iterations, variable)
            found += [optimizer.loss_scale, *map(tf.identity, counts)]
        return found

    compare(course)


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
def test_minimize(legacy, dynamic):
    def course(tf, keras):
        kinds = keras.optimizers.legacy if legacy else keras.optimizers
        kwargs = {"initial_scale": 8.0, "dynamic": dynamic}
        if dynamic:
            kwargs["dynamic_growth_steps"] = 3
        optimizer = scaling(keras, kinds.SGD(0.1, momentum=0.9), **kwargs)
        variable = tf.Variable([3.0, -2.0])
        for _ in range(5):
            optimizer.minimize(lambda: tf.reduce_sum(variable * variable), [variable])
        return tf.identity(variable), optimizer.loss_scale, tf.identity(optimizer.iterations)

    compare(course)


def test_scaled_losses_and_unscaled_gradients():
    def results(tf, keras):
        optimizer = scaling(keras, initial_scale=4)
        slices = tf.IndexedSlices(tf.constant([4.0]), tf.constant([0]))
        dense, nothing, sparse = optimizer.get_unscaled_gradients([tf.constant(8.0), None, slices])
        assert nothing is None
        half = tf.constant(3.0, tf.float16)
        losses = [optimizer.get_scaled_loss(half), optimizer.get_scaled_loss(lambda: half)()]
        return [*losses, dense, sparse.values]

    compare(results)


@pytest.mark.parametrize(
    "kwargs", [{}, {"dynamic": False, "initial_scale": 8}, {"dynamic_growth_steps": 7}]
)
def test_settings_and_config(kwargs):
    def settings(tf, keras):
        optimizer = scaling(keras, **kwargs)
        optimizer.learning_rate = 0.25
        return (
            *(optimizer.dynamic, optimizer.initial_scale, optimizer.dynamic_growth_steps),
            *(optimizer.loss_scale, tf.identity(optimizer.learning_rate), optimizer.get_config()),
            float(optimizer.inner_optimizer.learning_rate),
        )

    compare(settings)
    optimizer = scaling(runnel.keras, **kwargs)
    again = runnel.keras.optimizers.deserialize(runnel.keras.optimizers.serialize(optimizer))
    assert again.get_config() == optimizer.get_config()
    from_there = runnel.keras.optimizers.deserialize(
        tf_keras.optimizers.serialize(scaling(tf_keras, **kwargs))
    )
    assert_alike(optimizer.get_config(), from_there.get_config())


@pytest.mark.parametrize(
    "call",
    [
        lambda k: scaling(k, dynamic=False),
        lambda k: scaling(k, "sgd"),
        lambda k: scaling(k, scaling(k)),
        lambda k: scaling(k, dynamic=3),
        lambda k: scaling(k, dynamic=False, initial_scale=2, dynamic_growth_steps=3),
    ],
)
def test_bad_arguments(call):
    compare_failure(lambda tf, keras: call(keras))


@pytest.fixture
def half_precision():
    for keras in (tf_keras, runnel.keras):
        keras.mixed_precision.set_global_policy("mixed_float16")
    yield
    for keras in (tf_keras, runnel.keras):
        keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("run_eagerly", [True, False])
def test_models_in_float16_scale_their_loss(half_precision, run_eagerly):
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    y = (x.sum(axis=1, keepdims=True) * 0.01).astype("float32")

    def trained(tf, keras):
        layer = keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")
        model = keras.Sequential([layer])
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        assert isinstance(model.optimizer, keras.mixed_precision.LossScaleOptimizer)
        history = model.fit(x, y, batch_size=4, epochs=6, shuffle=False, verbose=0)
        found = [*map(tf.constant, model.get_weights()), tf.constant(history.history["loss"])]
        return found, model.optimizer.loss_scale, tf.identity(model.optimizer.iterations)

    compare(trained, tolerance=5e-3)


def test_the_scale_is_saved_with_the_model(half_precision, tmp_path):
    keras = runnel.keras
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
    model.compile(scaling(keras, keras.optimizers.Adam(), initial_scale=2.0), "mse")
    model.fit(np.ones((8, 3)), np.ones((8, 1)), epochs=3, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.optimizer.dynamic_counter.numpy() == 3
    assert loaded.optimizer.iterations.numpy() == 3
    assert loaded.optimizer.get_config() == model.optimizer.get_config()

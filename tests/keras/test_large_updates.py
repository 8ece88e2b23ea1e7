"""Optimizers where speed could have changed results: shared numbers, threads, late values."""

import os
import sys
import threading

import numpy as np
import pytest
import tensorflow

import runnel

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "function"))
from both import same

LARGE = 40_000


def _values(seed, *shape, dtype="float32"):
    return np.random.RandomState(seed).randn(*shape).astype(dtype)


def _same(program, rtol=1e-5):
    ours, theirs = program(runnel), program(tensorflow)
    assert len(ours) == len(theirs)
    for found, expected in zip(ours, theirs, strict=True):
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(
    "module, limits",
    [
        ("new", {"clipnorm": 2.0, "clipvalue": 0.5}),
        ("new", {"global_clipnorm": 2.0, "clipvalue": 0.5}),
        ("legacy", {"clipnorm": 2.0, "clipvalue": 0.5}),
        ("legacy", {"global_clipnorm": 0.0}),
    ],
)
def test_of_several_limits_of_gradients_those_of_the_original_hold(module, limits):
    def program(tf):
        found = tf.keras.optimizers.legacy if module == "legacy" else tf.keras.optimizers
        optimizer = found.SGD(1.0, **limits)
        variables = [tf.Variable(np.zeros(4, "f")), tf.Variable(np.zeros(2, "f"))]
        gradients = [tf.constant([3.0, -4.0, 0.1, 2.0]), tf.constant([0.1, 9.0])]
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return variables

    _same(program)


def test_decay_of_legacy_nadam_has_no_effect():
    def program(tf):
        optimizer = tf.keras.optimizers.legacy.Nadam(0.1, decay=0.5)
        variable = tf.Variable([1.0, 2.0])
        for _ in range(3):
            optimizer.apply_gradients([(tf.constant([1.0, -0.5]), variable)])
        return [variable, np.float32(optimizer.get_config()["decay"])]

    _same(program)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_users_update_step_may_change_numbers_from_variable_to_variable(kind):
    def program(tf):
        class Own(getattr(tf.keras.optimizers, kind)):
            def update_step(self, gradient, variable):
                rate = self.learning_rate.numpy()
                self.momentum = 0.5 if "fast" in variable.name else 0.9
                self.learning_rate.assign(rate * (10 if "fast" in variable.name else 1))
                super().update_step(gradient, variable)
                self.learning_rate.assign(rate)

        optimizer = Own(0.01)
        variables = [tf.Variable([1.0, 2.0], name=name) for name in ("slow", "fast")]
        for _ in range(2):
            optimizer.apply_gradients([(tf.constant([1.0, -0.5]), each) for each in variables])
        return variables

    _same(program)


@pytest.mark.parametrize("kind", ["SGD", "Lion", "Ftrl", "Adafactor", "legacy.Ftrl"])
def test_hyperparameters_are_rounded_as_in_the_original(kind):
    arguments = {"learning_rate": 0.1}
    if kind == "SGD":
        arguments["momentum"] = 0.9
    if "Ftrl" in kind:
        arguments |= {
            "l1_regularization_strength": 0.01,
            "l2_regularization_strength": 0.03,
            "l2_shrinkage_regularization_strength": 0.07,
            "beta": 0.1,
        }

    def program(tf):
        made = tf.keras.optimizers
        for name in kind.split("."):
            made = getattr(made, name)
        optimizer = made(**arguments)
        variable = tf.Variable(_values(1, 5, dtype="float64"))
        for step in range(3):
            gradient = tf.constant(_values(step, 5, dtype="float64"))
            optimizer.apply_gradients([(gradient, variable)])
        slots = optimizer.variables() if callable(optimizer.variables) else optimizer.variables
        return [variable, *slots]

    _same(program, rtol=1e-13)


@pytest.mark.parametrize("size", [10, 300_000])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", ["new", "legacy"])
def test_every_update_of_several_threads_counts(kind, traced, size):
    found = runnel.keras.optimizers.legacy if kind == "legacy" else runnel.keras.optimizers
    optimizer = found.SGD(1.0)
    variable = runnel.Variable(np.zeros(size, "f"))
    gradient = runnel.constant(np.ones(size, "f"))

    def step():
        optimizer.apply_gradients([(gradient, variable)])

    step()
    if traced:
        step = runnel.function(step)

    def work():
        for _ in range(30):
            step()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (variable.numpy() == -91).all()
    assert optimizer.iterations.numpy() == 91


def test_every_update_of_rows_of_several_threads_counts():
    optimizer = runnel.keras.optimizers.legacy.Adagrad(1.0, initial_accumulator_value=0.0)
    variable = runnel.Variable(np.zeros((1000, 100), "f"))
    rows = runnel.IndexedSlices(runnel.ones((900, 100)), runnel.range(900), (1000, 100))

    def work(steps=30):
        for _ in range(steps):
            optimizer.apply_gradients([(rows, variable)])

    work(1)
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sums = optimizer.get_slot(variable, "accumulator").numpy()
    assert (sums[:900] == 91).all() and (sums[900:] == 0).all()


@pytest.mark.parametrize("decay", [None, 0.5])
def test_what_another_thread_reads_during_updates_never_changes(decay):
    optimizer = runnel.keras.optimizers.SGD(1.0, momentum=0.5, weight_decay=decay)
    variable = runnel.Variable(np.zeros(300_000, "f"))
    gradient = runnel.constant(np.ones(300_000, "f"))
    optimizer.build([variable])
    done, wrong = threading.Event(), []

    def read():
        while not done.is_set():
            for cell in (variable, optimizer.variables[1]):
                tensor = cell.read_value()
                seen = np.array(tensor)
                if seen.min() != seen.max() or not np.array_equal(seen, np.array(tensor)):
                    wrong.append(seen)

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(100):
        optimizer.apply_gradients([(gradient, variable)])
    done.set()
    thread.join()
    assert not wrong


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop", "Adagrad", "Nadam"])
def test_tensors_that_somebody_holds_never_change(kind):
    tf = runnel
    optimizer = getattr(tf.keras.optimizers, kind)(0.1)
    variable = tf.Variable(_values(1, 200, 300))
    optimizer.build([variable])
    traced = tf.function(lambda gradient: optimizer.apply_gradients([(gradient, variable)]) * 1)
    held = []
    for step in range(4):
        cells = [variable, *optimizer.variables[1:]]
        held += [(cell.read_value(), cell.numpy()) for cell in cells]
        held += [(view, np.array(view)) for view in (variable[:3], tf.reshape(variable, [-1]))]
        gradient = tf.constant(_values(step, 200, 300))
        if step % 2:
            traced(gradient)
        else:
            optimizer.apply_gradients([(gradient, variable)])
    for tensor, expected in held:
        np.testing.assert_array_equal(tensor, expected)


def test_after_fit_the_weights_are_their_averages():
    def program(tf):
        tf.keras.utils.set_random_seed(3)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(6,))])
        model.compile(tf.keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5), "mse")
        seen = []

        class Seen(tf.keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                seen.append(self.model.get_weights()[0])

            def on_train_end(self, logs=None):
                seen.append(self.model.get_weights()[0])

        x, y = _values(1, 64, 6), _values(2, 64, 1)
        model.fit(x, y, epochs=2, shuffle=False, verbose=0, callbacks=[Seen()])
        return [*seen, *model.get_weights()]

    _same(program)


@pytest.mark.parametrize("wrapped", ["new", "legacy"])
def test_after_fit_with_a_scaled_loss_the_weights_are_their_averages(wrapped):
    def program(tf):
        tf.keras.utils.set_random_seed(3)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(6,))])
        inner = tf.keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.5)
        if wrapped == "legacy":
            inner = tf.keras.optimizers.legacy.SGD(0.1)
        model.compile(tf.keras.mixed_precision.LossScaleOptimizer(inner), "mse")
        model.fit(_values(1, 64, 6), _values(2, 64, 1), shuffle=False, verbose=0)
        return model.get_weights()

    _same(program)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "Nadam", "legacy.Adam"])
def test_slots_made_after_the_checkpoint_object_is_gone_are_restored(kind, tmp_path):
    tf = runnel
    made = tf.keras.optimizers
    for name in kind.split("."):
        made = getattr(made, name)

    def new(seed):
        arguments = {"momentum": 0.9} if kind == "SGD" else {}
        return made(0.1, **arguments), tf.Variable(_values(seed, LARGE))

    def train(optimizer, variable):
        for step in range(3):
            optimizer.apply_gradients([(tf.constant(_values(step, LARGE)), variable)])

    optimizer, variable = new(1)
    train(optimizer, variable)
    path = tf.train.Checkpoint(optimizer=optimizer, variable=variable).save(tmp_path / "at")
    train(optimizer, variable)
    later, restored = new(2)
    tf.train.Checkpoint(optimizer=later, variable=restored).restore(path)
    train(later, restored)
    np.testing.assert_array_equal(restored.numpy(), variable.numpy())


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("shape", [[1], [3, 1], [4], [2, 3]])
@pytest.mark.parametrize("name", ["legacy.Adam", "legacy.RMSprop", "Adam", "SGD"])
def test_gradients_of_other_shapes(name, shape, traced):
    """The legacy optimizers' operations refuse them, the others spread what can be spread."""

    def program(tf, note):
        variable = tf.Variable(tf.zeros([2, 3]))
        kinds = tf.keras.optimizers.legacy if name.startswith("legacy") else tf.keras.optimizers
        optimizer = getattr(kinds, name.removeprefix("legacy."))(0.1)

        def step(gradient):
            optimizer.apply_gradients([(gradient, variable)])

        (tf.function(step) if traced else step)(tf.ones(shape))
        return variable

    same(program)

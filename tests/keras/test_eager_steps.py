"""An eager LSTMCell or GRUCell does a step as one operation, and gives what its parts give."""

import threading

import numpy as np
import pytest

import runnel as tf
from runnel.keras.layers.recurrent import cells

BATCH, INPUTS, UNITS = 3, 4, 5


def numbers(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


X = [numbers(BATCH, INPUTS, seed=place) for place in range(40)]
STATES = [numbers(BATCH, UNITS, seed=50), numbers(BATCH, UNITS, seed=51)]
STATES_OF = {"LSTMCell": STATES, "GRUCell": STATES[:1]}


@pytest.fixture(params=list(STATES_OF))
def kind(request):
    return request.param


@pytest.fixture
def given_states(kind):
    return STATES_OF[kind]


@pytest.fixture
def cell(kind):
    made = getattr(tf.keras.layers, kind)(UNITS)
    made.build([None, INPUTS])
    generator = np.random.default_rng(7)
    made.set_weights([generator.normal(size=w.shape).astype("float32") for w in made.weights])
    return made


@pytest.fixture
def parts(monkeypatch):
    """Has what follows done in parts."""

    def take_apart():
        for name in ("step_at_once", "gated_step_at_once"):
            monkeypatch.setattr(cells, name, lambda *_: None)

    return take_apart


def same(found, expected):
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def both(function, parts):
    found = function()
    parts()
    same(found, function())


def is_at_once(cell, inputs, states):
    if isinstance(cell, tf.keras.layers.GRUCell):
        return cells.gated_step_at_once(cell, inputs, states[0]) is not None
    return cells.step_at_once(cell, inputs, states) is not None


def test_it_is_one_operation(cell, given_states):
    assert is_at_once(cell, X[0], given_states)


def test_outputs_and_states(cell, given_states, parts):
    def function():
        states, results = given_states, []
        for x in X[:5]:
            output, states = cell(x, states)
            results += [output, states]
        return results

    both(function, parts)


def test_weights_that_change_between_steps(cell, given_states, parts):
    start = cell.get_weights()

    def function():
        cell.set_weights(start)
        states, results = given_states, []
        for place, x in enumerate(X[:9]):
            output, states = cell(x, states)
            results.append(output)
            if place in (3, 4):
                cell.kernel.assign(cell.kernel * 0.5)
            if place == 6:
                cell.bias.assign_add(tf.ones_like(cell.bias))
        return results

    both(function, parts)


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_gradients(cell, given_states, parts, steps):
    def function():
        sources = [*X[:steps], *given_states, *cell.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch([*X[:steps], *given_states])
            states, total = given_states, 0.0
            for x in X[:steps]:
                output, states = cell(x, states)
                total += tf.reduce_sum(output**2)
            total += tf.reduce_sum(states[-1])
        return tape.gradient(total, sources)

    both(function, parts)


@pytest.mark.parametrize("kind", ["LSTMCell"])
def test_gradients_of_the_carry_alone(cell, parts):
    def function():
        with tf.GradientTape() as tape:
            _, (_, carry) = cell(X[0], STATES)
        return tape.gradient(carry, cell.trainable_variables)

    both(function, parts)


def test_second_derivatives(cell, given_states, parts):
    def function():
        with tf.GradientTape() as outer:
            outer.watch(X[0])
            with tf.GradientTape() as inner:
                inner.watch(X[0])
                output, states = cell(X[0], given_states)
                output, _ = cell(X[0], states)
                loss = tf.reduce_sum(output**2)
            slope = inner.gradient(loss, X[0])
            total = tf.reduce_sum(slope**2)
        return outer.gradient(total, [X[0], *cell.trainable_variables])

    both(function, parts)


def test_a_jacobian(cell, given_states, parts):
    def function():
        with tf.GradientTape() as tape:
            tape.watch(X[0])
            output, _ = cell(X[0], given_states)
        return tape.jacobian(output, X[0])

    both(function, parts)


def test_forward_accumulation(cell, given_states, parts):
    def function():
        with tf.autodiff.ForwardAccumulator(X[0], tf.ones_like(X[0])) as accumulator:
            output, _ = cell(X[0], given_states)
        return accumulator.jvp(output)

    both(function, parts)


@pytest.mark.parametrize(
    "inputs, states",
    [
        (numbers(BATCH, INPUTS + 1), STATES),
        (X[0], [numbers(BATCH, UNITS + 1), STATES[1]]),
        (numbers(BATCH + 1, INPUTS), STATES),
        (tf.cast(X[0], tf.float64), STATES),
    ],
)
def test_what_does_not_fit_goes_to_the_parts(cell, inputs, states):
    assert not is_at_once(cell, inputs, states)


def test_other_activations_and_dtypes_go_to_the_parts(kind):
    others = [{"activation": "relu"}, {"use_bias": False}, {"dtype": "float64"}]
    if kind == "GRUCell":
        others += [{"reset_after": False}, {"recurrent_activation": "hard_sigmoid"}]
    for options in others:
        cell = getattr(tf.keras.layers, kind)(UNITS, **options)
        cell.build([None, INPUTS])
        assert not is_at_once(cell, X[0], STATES)


def test_a_state_without_a_list():
    cell = tf.keras.layers.GRUCell(UNITS)
    output, state = cell(X[0], STATES[0])
    assert state is output
    assert cell(X[0], STATES[:1])[1][0].shape == output.shape


def test_gradients_computed_in_a_graph(cell, given_states, parts):
    def function():
        with tf.GradientTape(persistent=True) as tape:
            output, _ = cell(X[0], given_states)
        return tf.function(lambda: tape.gradient(output, cell.trainable_variables))()

    both(function, parts)


def test_weights_are_given_free_for_updates(cell, given_states):
    optimizer = tf.keras.optimizers.SGD(0.5)
    for _ in range(4):
        before = cell.get_weights()
        with tf.GradientTape() as tape:
            states = given_states
            for x in X[:4]:
                output, states = cell(x, states)
            loss = tf.reduce_sum(output)
        gradients = tape.gradient(loss, cell.trainable_variables)
        optimizer.apply_gradients(zip(gradients, cell.trainable_variables, strict=True))
        for old, gradient, new in zip(before, gradients, cell.get_weights(), strict=True):
            np.testing.assert_allclose(new, old - 0.5 * gradient.numpy(), rtol=1e-5, atol=1e-6)


def test_a_cell_that_several_threads_call(cell):
    expected = cell(X[0], STATES)[0].numpy()
    doubled = [2 * weight for weight in cell.get_weights()]
    failures = []

    def call():
        for _ in range(50):
            output = cell(X[0], STATES)[0].numpy()
            if not np.allclose(output, expected, atol=1e-5):
                failures.append(output)

    for weights in (cell.get_weights(), doubled):
        cell.set_weights(weights)
        expected = cells_output(cell)
        threads = [threading.Thread(target=call) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert not failures


def cells_output(cell):
    """An output in parts."""
    return cell.advance(cell.project(X[0]), STATES, cell.recurrent_weights())[0].numpy()


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell"])
@pytest.mark.parametrize("traced", [False, True])
def test_one_state_for_a_whole_batch(kind, traced):
    one, many = (getattr(tf.keras.layers, kind)(UNITS) for _ in range(2))
    count = 2 if kind == "LSTMCell" else 1
    one(X[0], [tf.zeros([BATCH, UNITS])] * count)
    many(X[0], [tf.zeros([BATCH, UNITS])] * count)
    many.set_weights(one.get_weights())
    state = numbers(1, UNITS, seed=3)

    def gradients(cell, state):
        with tf.GradientTape() as tape:
            tape.watch(state)
            output, _ = cell(X[0], [state] * count)
            loss = tf.reduce_sum(output**2)
        return output, tape.gradient(loss, [state, *cell.trainable_variables])

    run = tf.function(gradients) if traced else gradients
    output, (by_state, *rest) = run(one, state)
    expected, (by_states, *others) = run(many, tf.repeat(state, BATCH, 0))
    same([output, by_state, rest], [expected, tf.reduce_sum(by_states, 0, keepdims=True), others])

"""The steps of unrolled cells become one layer, and compute what they computed before."""

import re

import numpy as np
import pytest

import runnel as tf

STEPS, BATCH, INPUTS, UNITS = 5, 3, 4, 6


@pytest.fixture(params=["LSTM", "GRU"])
def kind(request):
    """What cells a test is about."""
    return request.param


def made_cell(kind, units=UNITS, inputs=INPUTS, **options):
    cell = getattr(tf.keras.layers, f"{kind}Cell")(units, **options)
    cell.build([None, inputs])
    generator = np.random.default_rng(units)
    cell.set_weights([generator.normal(size=w.shape).astype("float32") for w in cell.weights])
    return cell


def numbers(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


X = numbers(BATCH, STEPS, INPUTS)
STATES = {
    "LSTM": [numbers(BATCH, UNITS, seed=1), numbers(BATCH, UNITS, seed=2)],
    "GRU": [numbers(BATCH, UNITS, seed=1)],
}


def steps(cell, x, states):
    """All outputs and the last states of a cell that is called step by step."""
    outputs = []
    for row in tf.unstack(x, axis=1):
        output, states = cell(row, states)
        outputs.append(output)
    return outputs, states


def gradients(cell, loss_of):
    """A function for the gradients of a loss by x, the states and the weights."""

    def function(x, *states):
        sources = [x, *states, *cell.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            loss = loss_of(*steps(cell, x, list(states)))
        return [loss, *tape.gradient(loss, sources, unconnected_gradients="zero")]

    return function


def same_as_eager(function, *arguments, layers=1, back=1):
    """A traced function gives what it gives op by op, and its program has so many layers."""
    traced = tf.function(function)
    expected, found = function(*arguments), traced(*arguments)
    for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    code = traced.code()
    assert len(re.findall(r"(LSTM|GRU)Layer\(", code)) == layers
    assert len(re.findall(r"(LSTM|GRU)LayerGrad\(", code)) == back
    assert (re.search(r"(LSTM|GRU)Gates\(", code) is None) == (layers > 0)


def test_outputs_and_last_states(kind):
    cell = made_cell(kind)
    same_as_eager(lambda x, *states: steps(cell, x, list(states)), X, *STATES[kind], back=0)
    same_as_eager(lambda x, *states: steps(cell, x, list(states))[0][2:4], X, *STATES[kind], back=0)


LOSSES = {
    "last output": lambda outputs, states: tf.reduce_sum(outputs[-1] ** 2),
    "last carry": lambda outputs, states: tf.reduce_sum(states[-1] ** 2),
    "all outputs": lambda outputs, states: tf.reduce_sum(tf.stack(outputs) ** 2),
    "outputs used twice": lambda outputs, states: sum(
        tf.reduce_sum(output**2) + tf.reduce_sum(tf.sin(output)) for output in outputs
    ),
    "some outputs and both states": lambda outputs, states: (
        tf.reduce_sum(outputs[1] ** 3) + tf.reduce_sum(states[0] * states[-1])
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(kind, name):
    same_as_eager(gradients(made_cell(kind), LOSSES[name]), X, *STATES[kind])


def test_gradients_by_some_weights_alone(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape() as tape:
            loss = LOSSES["all outputs"](*steps(cell, x, list(states)))
        return tape.gradient(loss, [cell.recurrent_kernel])

    same_as_eager(function, X, *STATES[kind])


def test_weights_that_others_use_as_well(kind):
    cell = made_cell(kind)

    def loss(outputs, states):
        return tf.reduce_sum(outputs[-1]) + sum(tf.reduce_sum(w**2) for w in cell.weights)

    same_as_eager(gradients(cell, loss), X, *STATES[kind])


def test_training(kind):
    cell = made_cell(kind)
    start = cell.get_weights()

    def function(x, *states):
        cell.set_weights(start)
        with tf.GradientTape() as tape:
            loss = LOSSES["last output"](*steps(cell, x, list(states)))
        variables = cell.trainable_variables
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(0.1 * gradient)
        return [tf.identity(variable) for variable in variables]

    same_as_eager(function, X, *STATES[kind])


def test_one_cell_upon_another(kind):
    first, second = made_cell(kind), made_cell(kind, inputs=UNITS)
    second.set_weights([w * 0.7 for w in second.get_weights()])

    def outputs_of(x, *states):
        below, above = list(states), list(states[::-1])
        outputs = []
        for row in tf.unstack(x, axis=1):
            output, below = first(row, below)
            output, above = second(output, above)
            outputs.append(output)
        return outputs

    def function(x, *states):
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            loss = tf.reduce_sum(tf.stack(outputs_of(x, *states)) ** 2)
        variables = [*first.trainable_variables, *second.trainable_variables]
        return tape.gradient(loss, [x, *states, *variables])

    same_as_eager(outputs_of, X, *STATES[kind], layers=2, back=0)
    same_as_eager(function, X, *STATES[kind], layers=2, back=2)


def test_two_losses_have_each_its_own_way_back(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape(persistent=True) as tape:
            outputs, after = steps(cell, x, list(states))
            first, second = tf.reduce_sum(outputs[-1]), tf.reduce_sum(after[-1] ** 2)
        sources = cell.trainable_variables
        return tape.gradient(first, sources), tape.gradient(second, sources)

    same_as_eager(function, X, *STATES[kind], layers=0, back=0)


def test_outputs_that_come_back_as_inputs(kind):
    cell = made_cell(kind, inputs=UNITS)

    def function(*states):
        output = states[0]
        for _ in range(STEPS):
            output, states = cell(output, states)
        return output

    same_as_eager(function, *STATES[kind], layers=0, back=0)


def test_a_carry_that_is_seen_on_the_way():
    cell = made_cell("LSTM")

    def function(x, *states):
        carries = []
        for row in tf.unstack(x, axis=1):
            _, states = cell(row, states)
            carries.append(states[1])
        return carries

    same_as_eager(function, X, *STATES["LSTM"], layers=0, back=0)


def test_steps_that_the_loss_does_not_need(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape() as tape:
            outputs, after = steps(cell, x, list(states))
            loss = tf.reduce_sum(outputs[2])
        return after, tape.gradient(loss, cell.trainable_variables)

    same_as_eager(function, X, *STATES[kind], layers=0, back=0)
    # Without the last states there are only three steps.
    same_as_eager(
        gradients(cell, lambda outputs, states: tf.reduce_sum(outputs[2])), X, *STATES[kind]
    )


def test_weights_that_change_on_the_way(kind):
    cell = made_cell(kind)
    start = cell.get_weights()

    def function(x, *states):
        outputs = []
        for row in tf.unstack(x, axis=1):
            output, states = cell(row, states)
            outputs.append(output)
            cell.kernel.assign(cell.kernel * 0.5)
        return outputs

    expected = function(X, *STATES[kind])
    cell.set_weights(start)
    found = tf.function(function)(X, *STATES[kind])
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_inputs_that_read_what_is_written_on_the_way(kind):
    cell = made_cell(kind)
    seen = tf.Variable(0.0)

    @tf.function
    def function(x, *states):
        for row in tf.unstack(x, axis=1):
            seen.assign_add(1.0)
            output, states = cell(row * seen, states)
        return output

    states = STATES[kind]
    for place, row in enumerate(tf.unstack(X, axis=1)):
        output, states = cell(row * (place + 1.0), states)
    np.testing.assert_allclose(function(X, *STATES[kind]), output, rtol=1e-5, atol=1e-6)


def test_second_derivatives(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                loss = tf.reduce_sum(steps(cell, x, list(states))[0][-1] ** 2)
            slope = inner.gradient(loss, x)
            total = tf.reduce_sum(slope**2)
        return outer.gradient(total, [x, cell.kernel])

    eager = function(X, *STATES[kind])
    traced = tf.function(function)(X, *STATES[kind])
    for a, b in zip(eager, traced, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_batches_of_any_size(kind):
    cell = made_cell(kind)
    spec = tf.TensorSpec([None, STEPS, INPUTS])

    @tf.function(input_signature=[spec])
    def function(x):
        states = [tf.zeros([tf.shape(x)[0], UNITS]) for _ in STATES[kind]]
        return steps(cell, x, states)[0][-1]

    for size in (1, 4):
        x = numbers(size, STEPS, INPUTS, seed=size)
        expected = steps(cell, x, [tf.zeros([size, UNITS]) for _ in STATES[kind]])[0][-1]
        np.testing.assert_allclose(function(x), expected, rtol=1e-5, atol=1e-6)


def test_steps_stay_when_the_option_is_off(kind):
    cell = made_cell(kind)
    tf.config.optimizer.set_experimental_options({"loop_optimization": False})
    try:
        same_as_eager(
            lambda x, *states: steps(cell, x, list(states))[1], X, *STATES[kind], layers=0, back=0
        )
    finally:
        tf.config.optimizer.set_experimental_options({"loop_optimization": None})


def test_gradients_that_are_parts_of_others(kind):
    cell = made_cell(kind)
    weight = numbers(BATCH, UNITS, seed=9)

    def function(x, *states):
        with tf.GradientTape() as whole:
            rows = tf.unstack(x, axis=1)
            for row in rows[:2]:
                output, states = cell(row, states)
            with tf.GradientTape() as part:
                for row in rows[2:]:
                    output, states = cell(row, states)
        variables = cell.trainable_variables
        first = whole.gradient(output, variables, output_gradients=weight)
        second = part.gradient(output, variables, output_gradients=weight)
        return [a + 0.5 * b for a, b in zip(first, second, strict=True)], second

    same_as_eager(function, X, *STATES[kind], layers=0, back=0)


@pytest.mark.parametrize(
    "rows, batch", [((BATCH,) * STEPS, 1), ((1,) * STEPS, BATCH), ((1, BATCH, BATCH), BATCH)]
)
def test_steps_that_are_spread(kind, rows, batch):
    cell = made_cell(kind)
    inputs = [numbers(size, INPUTS, seed=place) for place, size in enumerate(rows)]

    def function(*inputs):
        states = [numbers(batch, UNITS) for _ in STATES[kind]]
        for x in inputs:
            output, states = cell(x, states)
        return output

    traced = tf.function(function)(*inputs)
    np.testing.assert_allclose(traced, function(*inputs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"activation": "relu"}, {"recurrent_activation": "hard_sigmoid"}, {"use_bias": False}],
    ids=str,
)
def test_cells_that_are_no_layer(kind, options):
    cell = made_cell(kind, **options)
    function = gradients(cell, LOSSES["all outputs"])
    traced = tf.function(function)
    for a, b in zip(function(X, *STATES[kind]), traced(X, *STATES[kind]), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    assert "Layer" not in traced.code()


def test_units_that_reset_before_the_product():
    function = gradients(made_cell("GRU", reset_after=False), LOSSES["all outputs"])
    traced = tf.function(function)
    for a, b in zip(function(X, *STATES["GRU"]), traced(X, *STATES["GRU"]), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    assert "Layer" not in traced.code()


def test_states_that_others_use_as_well(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape() as tape:
            tape.watch(states)
            outputs, _ = steps(cell, x, list(states))
            loss = tf.reduce_sum(outputs[-1] * states[0]) + tf.reduce_sum(tf.sin(states[-1]))
        return tape.gradient(loss, states)

    same_as_eager(function, X, *STATES[kind])


def test_gradients_of_outputs_on_the_way_by_states(kind):
    cell = made_cell(kind)

    def function(x, *states):
        with tf.GradientTape() as tape:
            rows = tf.unstack(x, axis=1)
            for row in rows[:2]:
                output, states = cell(row, states)
            middle = output
            for row in rows[2:]:
                output, states = cell(row, states)
            loss = tf.reduce_sum(output**2)
        return tape.gradient(loss, [middle, cell.recurrent_kernel])

    same_as_eager(function, X, *STATES[kind], layers=0, back=0)


def test_parts_of_the_biases_of_units():
    cell = made_cell("GRU")
    bias = tf.Variable(cell.bias)
    masks = numbers(2, 3 * UNITS, seed=5)

    def function(x, h):
        with tf.GradientTape() as tape:
            # Each row goes its own way back to the variable.
            cell.bias = [bias[0] * masks[0], tf.concat([bias[1, :UNITS], bias[1, UNITS:]], 0)]
            loss = LOSSES["all outputs"](*steps(cell, x, [h]))
        return tape.gradient(loss, [bias, cell.kernel])

    same_as_eager(function, X, *STATES["GRU"])

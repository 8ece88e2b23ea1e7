"""The steps of unrolled LSTM cells become one layer, and compute what they computed before."""

import numpy as np
import pytest

import runnel as tf

STEPS, BATCH, INPUTS, UNITS = 5, 3, 4, 6


def made_cell(units=UNITS, inputs=INPUTS, **options):
    cell = tf.keras.layers.LSTMCell(units, **options)
    cell.build([None, inputs])
    generator = np.random.default_rng(units)
    cell.set_weights([generator.normal(size=w.shape).astype("float32") for w in cell.weights])
    return cell


def numbers(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


X = numbers(BATCH, STEPS, INPUTS)
STATES = [numbers(BATCH, UNITS, seed=1), numbers(BATCH, UNITS, seed=2)]


def steps(cell, x, states):
    """All outputs and the last states of a cell that is called step by step."""
    outputs = []
    for row in tf.unstack(x, axis=1):
        output, states = cell(row, states)
        outputs.append(output)
    return outputs, states


def gradients(cell, loss_of):
    """A function for the gradients of a loss by x, the states and the weights."""

    def function(x, h, c):
        sources = [x, h, c, *cell.trainable_variables]
        with tf.GradientTape() as tape:
            tape.watch([x, h, c])
            loss = loss_of(*steps(cell, x, [h, c]))
        return [loss, *tape.gradient(loss, sources, unconnected_gradients="zero")]

    return function


def same_as_eager(function, *arguments, layers=1, back=1):
    """A traced function gives what it gives op by op, and its program has so many layers."""
    traced = tf.function(function)
    expected, found = function(*arguments), traced(*arguments)
    for a, b in zip(tf.nest.flatten(expected), tf.nest.flatten(found), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    code = traced.code()
    assert code.count("LSTMLayer(") == layers
    assert code.count("LSTMLayerGrad(") == back
    assert (code.count("LSTMGates(") == 0) == (layers > 0)


def test_outputs_and_last_states():
    cell = made_cell()
    same_as_eager(lambda x, h, c: steps(cell, x, [h, c]), X, *STATES, back=0)
    same_as_eager(lambda x, h, c: steps(cell, x, [h, c])[0][2:4], X, *STATES, back=0)


LOSSES = {
    "last output": lambda outputs, states: tf.reduce_sum(outputs[-1] ** 2),
    "last carry": lambda outputs, states: tf.reduce_sum(states[1] ** 2),
    "all outputs": lambda outputs, states: tf.reduce_sum(tf.stack(outputs) ** 2),
    "outputs used twice": lambda outputs, states: sum(
        tf.reduce_sum(output**2) + tf.reduce_sum(tf.sin(output)) for output in outputs
    ),
    "some outputs and both states": lambda outputs, states: (
        tf.reduce_sum(outputs[1] ** 3) + tf.reduce_sum(states[0] * states[1])
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name):
    same_as_eager(gradients(made_cell(), LOSSES[name]), X, *STATES)


def test_gradients_by_some_weights_alone():
    cell = made_cell()

    def function(x, h, c):
        with tf.GradientTape() as tape:
            loss = LOSSES["all outputs"](*steps(cell, x, [h, c]))
        return tape.gradient(loss, [cell.recurrent_kernel])

    same_as_eager(function, X, *STATES)


def test_weights_that_others_use_as_well():
    cell = made_cell()

    def loss(outputs, states):
        return tf.reduce_sum(outputs[-1]) + sum(tf.reduce_sum(w**2) for w in cell.weights)

    same_as_eager(gradients(cell, loss), X, *STATES)


def test_one_cell_upon_another():
    first, second = made_cell(), made_cell(inputs=UNITS)
    second.set_weights([w * 0.7 for w in second.get_weights()])

    def outputs_of(x, h, c):
        below, above = [h, c], [c, h]
        outputs = []
        for row in tf.unstack(x, axis=1):
            output, below = first(row, below)
            output, above = second(output, above)
            outputs.append(output)
        return outputs

    def function(x, h, c):
        with tf.GradientTape() as tape:
            tape.watch([x, h, c])
            loss = tf.reduce_sum(tf.stack(outputs_of(x, h, c)) ** 2)
        variables = [*first.trainable_variables, *second.trainable_variables]
        return tape.gradient(loss, [x, h, c, *variables])

    same_as_eager(outputs_of, X, *STATES, layers=2, back=0)
    same_as_eager(function, X, *STATES, layers=2, back=2)


def test_two_losses_have_each_its_own_way_back():
    cell = made_cell()

    def function(x, h, c):
        with tf.GradientTape(persistent=True) as tape:
            outputs, states = steps(cell, x, [h, c])
            first, second = tf.reduce_sum(outputs[-1]), tf.reduce_sum(states[1])
        sources = cell.trainable_variables
        return tape.gradient(first, sources), tape.gradient(second, sources)

    same_as_eager(function, X, *STATES, layers=0, back=0)


def test_outputs_that_come_back_as_inputs():
    cell = made_cell(inputs=UNITS)

    def function(h, c):
        states, output = [h, c], h
        for _ in range(STEPS):
            output, states = cell(output, states)
        return output

    same_as_eager(function, *STATES, layers=0, back=0)


def test_a_carry_that_is_seen_on_the_way():
    cell = made_cell()

    def function(x, h, c):
        carries, states = [], [h, c]
        for row in tf.unstack(x, axis=1):
            _, states = cell(row, states)
            carries.append(states[1])
        return carries

    same_as_eager(function, X, *STATES, layers=0, back=0)


def test_steps_that_the_loss_does_not_need():
    cell = made_cell()

    def function(x, h, c):
        with tf.GradientTape() as tape:
            outputs, states = steps(cell, x, [h, c])
            loss = tf.reduce_sum(outputs[2])
        return states, tape.gradient(loss, cell.trainable_variables)

    same_as_eager(function, X, *STATES, layers=0, back=0)
    # Without the last states there are only three steps.
    same_as_eager(gradients(cell, lambda outputs, states: tf.reduce_sum(outputs[2])), X, *STATES)


def test_weights_that_change_on_the_way():
    cell = made_cell()
    start = cell.get_weights()

    def function(x, h, c):
        states, outputs = [h, c], []
        for row in tf.unstack(x, axis=1):
            output, states = cell(row, states)
            outputs.append(output)
            cell.kernel.assign(cell.kernel * 0.5)
        return outputs

    expected = function(X, *STATES)
    cell.set_weights(start)
    found = tf.function(function)(X, *STATES)
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_inputs_that_read_what_is_written_on_the_way():
    cell = made_cell()
    seen = tf.Variable(0.0)

    @tf.function
    def function(x, h, c):
        states = [h, c]
        for row in tf.unstack(x, axis=1):
            seen.assign_add(1.0)
            output, states = cell(row * seen, states)
        return output

    states = STATES
    for place, row in enumerate(tf.unstack(X, axis=1)):
        output, states = cell(row * (place + 1.0), states)
    np.testing.assert_allclose(function(X, *STATES), output, rtol=1e-5, atol=1e-6)


def test_second_derivatives():
    cell = made_cell()

    def function(x, h, c):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                loss = tf.reduce_sum(steps(cell, x, [h, c])[0][-1] ** 2)
            slope = inner.gradient(loss, x)
            total = tf.reduce_sum(slope**2)
        return outer.gradient(total, [x, cell.kernel])

    eager = function(X, *STATES)
    traced = tf.function(function)(X, *STATES)
    for a, b in zip(eager, traced, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


def test_batches_of_any_size():
    cell = made_cell()
    spec = tf.TensorSpec([None, STEPS, INPUTS])

    @tf.function(input_signature=[spec])
    def function(x):
        states = [tf.zeros([tf.shape(x)[0], UNITS])] * 2
        return steps(cell, x, states)[0][-1]

    for size in (1, 4):
        x = numbers(size, STEPS, INPUTS, seed=size)
        expected = steps(cell, x, [tf.zeros([size, UNITS])] * 2)[0][-1]
        np.testing.assert_allclose(function(x), expected, rtol=1e-5, atol=1e-6)


def test_steps_stay_when_the_option_is_off():
    cell = made_cell()
    tf.config.optimizer.set_experimental_options({"loop_optimization": False})
    try:
        same_as_eager(lambda x, h, c: steps(cell, x, [h, c])[1], X, *STATES, layers=0, back=0)
    finally:
        tf.config.optimizer.set_experimental_options({"loop_optimization": None})


def test_gradients_that_are_parts_of_others():
    cell = made_cell()
    weight = numbers(BATCH, UNITS, seed=9)

    def function(x, h, c):
        with tf.GradientTape() as whole:
            states, rows = [h, c], tf.unstack(x, axis=1)
            for row in rows[:2]:
                output, states = cell(row, states)
            with tf.GradientTape() as part:
                for row in rows[2:]:
                    output, states = cell(row, states)
        variables = cell.trainable_variables
        first = whole.gradient(output, variables, output_gradients=weight)
        second = part.gradient(output, variables, output_gradients=weight)
        return [a + 0.5 * b for a, b in zip(first, second, strict=True)], second

    same_as_eager(function, X, *STATES, layers=0, back=0)


@pytest.mark.parametrize(
    "rows, batch", [((BATCH,) * STEPS, 1), ((1,) * STEPS, BATCH), ((1, BATCH, BATCH), BATCH)]
)
def test_steps_that_are_spread(rows, batch):
    cell = made_cell()
    inputs = [numbers(size, INPUTS, seed=place) for place, size in enumerate(rows)]

    def function(*inputs):
        states = [numbers(batch, UNITS), numbers(batch, UNITS)]
        for x in inputs:
            output, states = cell(x, states)
        return output

    traced = tf.function(function)(*inputs)
    np.testing.assert_allclose(traced, function(*inputs), rtol=1e-5, atol=1e-6)

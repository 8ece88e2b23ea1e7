"""Masked sequences at once give what the steps give one by one."""

import numpy as np
import pytest

import runnel as tf

BATCH, STEPS, INPUTS, UNITS = 5, 6, 3, 4
GENERATOR = np.random.default_rng(11)
VALUES = GENERATOR.normal(size=(BATCH, STEPS, INPUTS)).astype("float32")
STATE = GENERATOR.normal(size=(BATCH, UNITS)).astype("float32")
LENGTHS = np.array([6, 1, 0, 3, 5])
MASKS = {
    "ends": np.arange(STEPS) < LENGTHS[:, None],
    "starts": np.arange(STEPS) >= LENGTHS[:, None],
    "gaps": GENERATOR.random((BATCH, STEPS)) < 0.5,
    "nothing": np.zeros((BATCH, STEPS), bool),
    "everything": np.ones((BATCH, STEPS), bool),
}


def results(layer, mask, traced):
    """The outputs, and the gradients of their squares by inputs, first state and weights."""
    states = [tf.constant(STATE)] * (2 if isinstance(layer, tf.keras.layers.LSTM) else 1)

    def function(x, mask, states):
        with tf.GradientTape() as tape:
            tape.watch([x, *states])
            outputs = tf.nest.flatten(layer(x, mask=mask, initial_state=states))
            total = tf.add_n([tf.reduce_sum(each**2) for each in outputs])
        return outputs, tape.gradient(total, [x, *states, *layer.trainable_weights])

    run = tf.function(function) if traced else function
    return tf.nest.flatten(run(tf.constant(VALUES), tf.constant(mask), states))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(
    "kind, options",
    [
        ("LSTM", {"return_sequences": True}),
        ("LSTM", {"go_backwards": True}),
        ("GRU", {"return_state": True}),
        ("GRU", {"return_sequences": True, "go_backwards": True, "zero_output_for_mask": True}),
        ("SimpleRNN", {"return_sequences": True, "return_state": True}),
    ],
)
def test_masks(kind, options, name, traced):
    made = getattr(tf.keras.layers, kind)
    at_once, by_steps = made(UNITS, **options), made(UNITS, **options, unroll=True)
    at_once(VALUES), by_steps(VALUES)
    by_steps.set_weights(at_once.get_weights())
    found, expected = (results(layer, MASKS[name], traced) for layer in (at_once, by_steps))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_one_operation_does_all_steps():
    layer = tf.keras.layers.LSTM(UNITS)
    run = tf.function(lambda x, mask: layer(x, mask=mask))
    run(tf.constant(VALUES), tf.constant(MASKS["ends"]))
    assert run.code().count("LSTMLayer(") == 1
    assert "While(" not in run.code()


def test_a_carry_is_told_step_by_step():
    at_once, by_steps = (
        tf.keras.layers.LSTM(UNITS, return_state=True, unroll=unroll) for unroll in (False, True)
    )
    at_once(VALUES), by_steps(VALUES)
    by_steps.set_weights(at_once.get_weights())
    for name, mask in MASKS.items():
        mask = tf.constant(mask)
        for a, b in zip(at_once(VALUES, mask=mask), by_steps(VALUES, mask=mask), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=name)


def test_lengths_that_are_not_known_when_traced():
    layer = tf.keras.layers.GRU(UNITS, return_sequences=True)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None, INPUTS]),
            tf.TensorSpec([None, None], tf.bool),
        ]
    )
    def run(x, mask):
        return layer(x, mask=mask)

    for steps in (6, 2):
        x, mask = VALUES[:, :steps], tf.constant(MASKS["ends"][:, :steps])
        np.testing.assert_allclose(run(x, mask), layer(x, mask=mask), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["SimpleRNN", "LSTM", "GRU"])
def test_masks_of_numpy(kind):
    layer = getattr(tf.keras.layers, kind)(UNITS)
    mask = MASKS["gaps"]
    np.testing.assert_array_equal(layer(VALUES, mask=mask), layer(VALUES, mask=tf.constant(mask)))


@pytest.mark.parametrize("kind", ["SimpleRNN", "LSTM", "GRU"])
@pytest.mark.parametrize("traced", [False, True])
def test_no_sequences_at_all(kind, traced):
    layer = getattr(tf.keras.layers, kind)(UNITS)
    layer(VALUES)

    def gradients(x):
        with tf.GradientTape() as tape:
            output = layer(x)
            loss = tf.reduce_sum(output)
        return output, tape.gradient(loss, layer.trainable_weights)

    run = tf.function(gradients) if traced else gradients
    output, found = run(tf.zeros([0, STEPS, INPUTS]))
    assert output.shape == (0, UNITS)
    for gradient, weight in zip(found, layer.trainable_weights, strict=True):
        assert gradient.shape == weight.shape and not gradient.numpy().any()


def test_an_eager_step_of_no_sequences():
    cell = tf.keras.layers.LSTMCell(UNITS)
    states = [tf.zeros([0, UNITS])] * 2
    with tf.GradientTape() as tape:
        output, _ = cell(tf.zeros([0, INPUTS]), states)
    found = tape.gradient(output, cell.trainable_weights)
    assert [each.shape for each in found] == [each.shape for each in cell.trainable_weights]

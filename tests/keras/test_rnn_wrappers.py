"""tf.nn.RNNCellDropoutWrapper, RNNCellResidualWrapper and RNNCellDeviceWrapper."""

import numpy as np
import pytest
from layer_check import random_weights
from side_by_side import assert_alike, compare_failure, tensorflow, tf_keras

import runnel

INPUTS = np.random.default_rng(1).normal(size=(2, 3)).astype(np.float32)
STATE = np.random.default_rng(2).normal(size=(2, 3)).astype(np.float32)


def wrapper(tf, name):
    return getattr(tf.nn, name)


def both(name, cell="GRUCell", **kwargs):
    """The wrapper in both libraries around a cell with the same weights."""
    made = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        wrapped = wrapper(tf, name)(getattr(keras.layers, cell)(3), name="probe", **kwargs)
        states = [tf.constant(STATE)] * (2 if cell == "LSTMCell" else 1)
        wrapped(tf.constant(INPUTS), states)
        made.append((tf, wrapped, states))
    described = [[(w.name, tuple(w.shape)) for w in wrapped.weights] for _, wrapped, _ in made]
    assert described[1] == described[0]
    for _, wrapped, _ in made:
        wrapped.set_weights(random_weights(made[0][1]))
    return made


def same_step(made, seed=None):
    results = []
    for tf, wrapped, states in made:
        if seed is not None:
            tf.random.set_seed(seed)
        output, new_states = wrapped(tf.constant(INPUTS), states)
        results.append([output, list(new_states)])
    assert_alike(*results, 1e-5)
    return results[1]


@pytest.mark.parametrize("cell", ["GRUCell", "LSTMCell", "SimpleRNNCell"])
def test_residual(cell):
    made = both("RNNCellResidualWrapper", cell)
    same_step(made)
    assert made[1][1].output_size == 3
    zeros = [w.get_initial_state(batch_size=2, dtype=tf.float32) for tf, w, _ in made]
    assert_alike(*[list(z) if isinstance(z, list) else z for z in zeros])


def test_residual_function():
    same_step(both("RNNCellResidualWrapper", residual_fn=lambda inputs, outputs: inputs * outputs))


def test_device():
    same_step(both("RNNCellDeviceWrapper", device="/cpu:0"))


@pytest.mark.parametrize(
    "kwargs",
    [
        {"input_keep_prob": 0.5},
        {"output_keep_prob": 0.5},
        {"state_keep_prob": 0.5},
        {"input_keep_prob": 0.7, "output_keep_prob": 0.6, "state_keep_prob": 0.5},
        {"state_keep_prob": 0.3, "dropout_state_filter_visitor": lambda state: False},
    ],
)
@pytest.mark.parametrize("cell", ["GRUCell", "LSTMCell"])
def test_dropout(cell, kwargs):
    same_step(both("RNNCellDropoutWrapper", cell, **kwargs), seed=5)


def test_dropout_by_seed():
    def run(seed):
        wrapped = runnel.nn.RNNCellDropoutWrapper(
            runnel.keras.layers.GRUCell(50, kernel_initializer="ones"),
            output_keep_prob=0.5,
            state_keep_prob=0.5,
            seed=seed,
        )
        runnel.random.set_seed(1)
        output, states = wrapped(runnel.constant(INPUTS), [runnel.ones([2, 50])])
        return output.numpy() != 0, states[0].numpy() != 0

    first, again, other = run(1), run(1), run(2)
    np.testing.assert_array_equal(first, again)
    assert (first[0] != other[0]).any()
    # Outputs and states are dropped independently.
    assert (first[0] != first[1]).any()


def test_variational_dropout_is_the_same_at_every_step():
    cell = runnel.keras.layers.SimpleRNNCell(40, recurrent_initializer="zeros")
    wrapped = runnel.nn.RNNCellDropoutWrapper(
        cell, output_keep_prob=0.5, variational_recurrent=True, dtype=runnel.float32
    )
    state = [runnel.zeros([2, 40])]
    first = wrapped(runnel.constant(INPUTS), state)[0].numpy()
    second = wrapped(runnel.constant(2 * INPUTS), state)[0].numpy()
    np.testing.assert_array_equal(first == 0, second == 0)
    np.testing.assert_array_equal((first == 0)[0], (first == 0)[1])
    assert 0 < (first == 0).sum() < first.size
    whole = cell(runnel.constant(INPUTS), state)[0].numpy()
    np.testing.assert_allclose(first, np.where(first == 0, 0, 2 * whole), rtol=1e-5)


def test_config():
    cell = runnel.keras.layers.GRUCell(3)
    dropout = runnel.nn.RNNCellDropoutWrapper(cell, output_keep_prob=0.5, seed=3)
    theirs = tensorflow.nn.RNNCellDropoutWrapper(
        tf_keras.layers.GRUCell(3), output_keep_prob=0.5, seed=3
    )
    want, got = theirs.get_config(), dropout.get_config()
    assert list(got) == list(want)
    for name in set(want) - {"name", "cell"}:
        assert got[name] == want[name]
    again = runnel.nn.RNNCellDropoutWrapper.from_config(got)
    assert again.get_config() == got
    device = runnel.nn.RNNCellDeviceWrapper(cell, device="/cpu:0")
    assert runnel.nn.RNNCellDeviceWrapper.from_config(device.get_config())._device == "/cpu:0"
    assert device.name.startswith("device_wrapper")


def test_in_a_layer():
    cell = runnel.nn.RNNCellResidualWrapper(runnel.keras.layers.LSTMCell(3))
    layer = runnel.keras.layers.RNN(cell, return_sequences=True)
    assert tuple(layer(runnel.ones([2, 5, 3])).shape) == (2, 5, 3)
    assert len(layer.trainable_weights) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda tf, k, x: wrapper(tf, "RNNCellDropoutWrapper")(
            k.layers.GRUCell(3), input_keep_prob=1.5
        ),
        lambda tf, k, x: wrapper(tf, "RNNCellDropoutWrapper")(
            k.layers.GRUCell(3), dropout_state_filter_visitor=3
        ),
        lambda tf, k, x: wrapper(tf, "RNNCellDropoutWrapper")(
            k.layers.GRUCell(3), variational_recurrent=True
        ),
        lambda tf, k, x: wrapper(tf, "RNNCellDropoutWrapper")(
            k.layers.GRUCell(3), variational_recurrent=True, dtype=tf.float32, input_keep_prob=0.5
        ),
        lambda tf, k, x: wrapper(tf, "RNNCellResidualWrapper")(3),
        lambda tf, k, x: wrapper(tf, "RNNCellResidualWrapper")(k.layers.GRUCell(2))(
            x, [tf.zeros([2, 2])]
        ),
    ],
)
def test_failures(make):
    compare_failure(make, INPUTS)

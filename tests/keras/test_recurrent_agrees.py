"""Recurrent layers agree with the original where their steps are computed at once."""

import numpy as np
import pytest
from side_by_side import compare, compare_failure

import runnel
from runnel.engines.onednn.reorder import Filters
from runnel.ops.nn.gated import composed_gru, gru_layer
from runnel.ops.nn.recurrent import composed_lstm, lstm_layer

GENERATOR = np.random.default_rng(5)
VALUES = GENERATOR.normal(size=(5, 7, 4)).astype("float32")
KINDS = ("SimpleRNN", "LSTM", "GRU")


def made(keras, kind, **options):
    """A layer of six units with weights that both libraries have."""
    layer = getattr(keras.layers, kind)(6, **options)
    layer.build((None, None, 4))
    generator = np.random.default_rng(1)
    layer.set_weights([generator.normal(size=each.shape) * 0.3 for each in layer.get_weights()])
    return layer


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_numbers(kind, dtype):
    counts = np.random.default_rng(2).integers(0, 4, (5, 7))
    mask = (counts * 0.25 if dtype == "float32" else counts).astype(dtype)

    def outputs(tf, keras, x, mask):
        layer = made(keras, kind, return_sequences=True)
        last = made(keras, kind, go_backwards=True, zero_output_for_mask=True)
        return [layer(x, mask=mask), last(x, mask=mask)]

    compare(outputs, VALUES, mask)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_one_state_for_many_sequences_is_refused(kind, traced):
    def outputs(tf, keras, x):
        layer = made(keras, kind)
        states = [tf.ones([1, 6])] * (2 if kind == "LSTM" else 1)

        def call(x):
            return layer(x, initial_state=states)

        return tf.function(call)(x) if traced else call(x)

    compare_failure(outputs, VALUES)


@pytest.mark.parametrize("name", ["activation", "units", "use_bias", "dropout"])
@pytest.mark.parametrize("kind", KINDS)
def test_attributes_of_the_cell_are_not_set_on_the_layer(kind, name):
    compare_failure(lambda tf, keras: setattr(made(keras, kind), name, 0))


@pytest.mark.parametrize("inputs", [24, 40, 64])
@pytest.mark.parametrize(
    "gates, layer, steps", [(4, lstm_layer, composed_lstm), (3, gru_layer, composed_gru)]
)
def test_kernels_that_begin_at_the_same_place(monkeypatch, inputs, gates, layer, steps):
    units = 40
    monkeypatch.setattr("runnel.engines.onednn.recurrent.filters", Filters())
    generator = np.random.default_rng(3)

    def numbers(*shape):
        return runnel.constant(generator.normal(size=shape).astype("float32") * 0.2)

    rows = runnel.Variable(numbers(max(inputs, units), gates * units))
    states = [numbers(5, units) for _ in range(2 if gates == 4 else 1)]
    bias = numbers(4 * units) if gates == 4 else numbers(2, 3 * units)
    x = numbers(6, 5, inputs)
    for _ in range(4):
        # Weights that stay the same are kept in the engine's order from the second call on.
        given = (x, *states, rows[:inputs], rows[:units], bias)
        np.testing.assert_allclose(layer(*given)[0], steps(*given)[0], rtol=1e-4, atol=1e-5)

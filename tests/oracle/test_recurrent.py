"""Recurrent layers as operations of their own, against their formulas in TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises

import runnel
from runnel.ops.nn.gated import gru_layer
from runnel.ops.nn.gated_gates import gru_gates
from runnel.ops.nn.recurrent import lstm_layer
from runnel.ops.nn.recurrent_gates import lstm_gates
from runnel.ops.nn.simple_recurrent import simple_rnn_layer


def gates(tf, sums, carry):
    if tf is runnel:
        return lstm_gates(sums, carry)
    i, f, g, o = tf.split(sums, 4, 1)
    carry = tf.sigmoid(f) * carry + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(carry), carry


def layer(tf, x, h, c, kernel, recurrent_kernel, bias):
    if tf is runnel:
        return lstm_layer(x, h, c, kernel, recurrent_kernel, bias)
    outputs = []
    for inputs in tf.unstack(x):
        sums = inputs @ kernel + h @ recurrent_kernel + bias
        h, c = gates(tf, sums, c)
        outputs.append(h)
    return tf.stack(outputs), h, c


def gated_gates(tf, sums, state_sums, h):
    if tf is runnel:
        return gru_gates(sums, state_sums, h)
    x_z, x_r, x_g = tf.split(sums, 3, 1)
    h_z, h_r, h_g = tf.split(state_sums, 3, 1)
    z, r = tf.sigmoid(x_z + h_z), tf.sigmoid(x_r + h_r)
    return z * h + (1 - z) * tf.tanh(x_g + r * h_g)


def gated(tf, x, h, kernel, recurrent_kernel, bias):
    if tf is runnel:
        return gru_layer(x, h, kernel, recurrent_kernel, bias)
    outputs = []
    for inputs in tf.unstack(x):
        h = gated_gates(tf, inputs @ kernel + bias[0], h @ recurrent_kernel + bias[1], h)
        outputs.append(h)
    return tf.stack(outputs), h


def simple(activation):
    def steps(tf, x, h, kernel, recurrent_kernel, bias):
        if tf is runnel:
            return simple_rnn_layer(x, h, kernel, recurrent_kernel, bias, activation)
        outputs = []
        for inputs in tf.unstack(x):
            h = getattr(tf.nn, activation)(inputs @ kernel + h @ recurrent_kernel + bias)
            outputs.append(h)
        return tf.stack(outputs), h

    return steps


def numbers(*shapes, dtype=np.float64):
    rng = np.random.default_rng(sum(map(sum, shapes)))
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


def arguments(length, batch, inputs, units, dtype=np.float64):
    states, weights = [(batch, units)] * 2, [(inputs, 4 * units), (units, 4 * units), (4 * units,)]
    return numbers((length, batch, inputs), *states, *weights, dtype=dtype)


def gated_arguments(length, batch, inputs, units, dtype=np.float64):
    weights = (inputs, 3 * units), (units, 3 * units), (2, 3 * units)
    return numbers((length, batch, inputs), (batch, units), *weights, dtype=dtype)


def simple_arguments(length, batch, inputs, units, dtype=np.float64):
    weights = (inputs, units), (units, units), (units,)
    return numbers((length, batch, inputs), (batch, units), *weights, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (0, 2)])
def test_gates(shape, dtype):
    batch, units = shape
    check(gates, *numbers((batch, 4 * units), (batch, units), dtype=dtype))
    sums = (batch, 3 * units)
    check(gated_gates, *numbers(sums, sums, (batch, units), dtype=dtype))


@pytest.mark.parametrize("place", [0, 1])
def test_one_result_of_the_gates(place):
    check(lambda tf, *args: gates(tf, *args)[place], *numbers((2, 8), (2, 2)))


@pytest.mark.parametrize("sizes", [(3, 2, 2, 2), (1, 2, 3, 1), (2, 1, 1, 2)])
def test_layer(sizes):
    check(layer, *arguments(*sizes))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_result_of_the_layer(place):
    check(lambda tf, *args: layer(tf, *args)[place], *arguments(3, 2, 2, 2))


@pytest.mark.parametrize("sizes", [(3, 2, 2, 2), (1, 2, 3, 1), (2, 1, 1, 2)])
def test_gated_layer(sizes):
    check(gated, *gated_arguments(*sizes))


@pytest.mark.parametrize("place", [0, 1])
def test_one_result_of_the_gated_layer(place):
    check(lambda tf, *args: gated(tf, *args)[place], *gated_arguments(3, 2, 2, 2))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("sizes", [(3, 2, 2, 2), (1, 2, 3, 1), (2, 0, 3, 2)])
def test_simple_layer(sizes, activation):
    check(simple(activation), *simple_arguments(*sizes))


@pytest.mark.parametrize("place", [0, 1])
def test_one_result_of_the_simple_layer(place):
    args = simple_arguments(3, 2, 2, 2, np.float32)
    check(lambda tf, *args: simple("tanh")(tf, *args)[place], *args)


def test_numbers_that_are_none_in_simple_layers():
    args = simple_arguments(4, 3, 2, 5, np.float32)
    args[0][1, 2, 0] = np.nan
    args[0][2, 0, 0] = np.inf
    for activation in ("tanh", "relu"):
        check(simple(activation), *args, gradient=False)


@pytest.mark.parametrize(
    ("function", "make"),
    [
        (layer, arguments),
        (gated, gated_arguments),
        (simple("tanh"), simple_arguments),
        (simple("relu"), simple_arguments),
    ],
)
def test_large_layers(function, make):
    args = make(5, 6, 7, 40, np.float32)
    check(function, *args, smooth=False, second_order=False)


def test_large_numbers_saturate():
    args = arguments(3, 2, 2, 2, np.float32)
    args[0] *= 1e4
    check(layer, *args, gradient=False)


def test_weights_that_do_not_fit():
    x, h, c, kernel, recurrent, bias = arguments(3, 2, 2, 40, np.float32)
    check_raises(layer, x, h, c, kernel[:1], recurrent, bias)
    check_raises(layer, x, h, c, kernel, recurrent[:1], bias)
    check_raises(layer, x, h, c, kernel, recurrent, bias[:3])
    check_raises(gates, *numbers((2, 6), (2, 2)))
    check_raises(gated_gates, *numbers((2, 8), (2, 8), (2, 2)))
    check_raises(gated_gates, *numbers((2, 6), (2, 9), (2, 2)))
    x, h, kernel, recurrent, bias = gated_arguments(3, 2, 2, 40, np.float32)
    check_raises(gated, x, h, kernel[:1], recurrent, bias)
    check_raises(gated, x, h, kernel, recurrent[:1], bias)
    check_raises(gated, x, h, kernel, recurrent, bias[:, :-1])
    x, h, kernel, recurrent, bias = simple_arguments(3, 2, 2, 4, np.float32)
    function = simple("tanh")
    check_raises(function, x, h, kernel[:1], recurrent, bias)
    check_raises(function, x, h, kernel, recurrent[:1], bias)
    check_raises(function, x, h, kernel[:, :-1], recurrent, bias)
    check_raises(function, x, h, kernel, recurrent[:, :-1], bias)
    check_raises(function, x, h, kernel, recurrent, bias[:-1])


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_values_are_kept_for_gradients_alone(kind):
    layer = getattr(runnel.keras.layers, kind)(3)
    x = runnel.ones([2, 4, 5])
    traced = runnel.function(lambda x: layer(x))
    for call in (layer, traced):
        result = call(x)
        with runnel.GradientTape() as tape:
            again = call(x)
        np.testing.assert_array_equal(result, again)
        assert all(g is not None for g in tape.gradient(again, layer.trainable_variables))

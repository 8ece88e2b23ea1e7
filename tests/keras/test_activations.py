"""tf.keras.activations against the original."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from side_by_side import compare, compare_failure, compare_gradients

import runnel as tf

_NAMES = (
    "elu exponential gelu hard_sigmoid linear mish relu selu sigmoid softmax softplus softsign "
    "swish tanh"
)
NAMES = _NAMES.split()

matrices = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4),
    elements=st.floats(-6, 6, width=32).filter(lambda x: abs(x) > 1e-3),
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(x=matrices)
def test_functions(name, x):
    def call(tf, keras, x):
        return getattr(keras.activations, name)(x)

    compare(call, x)
    compare(call, x.astype(np.float64), tolerance=1e-6 if name == "gelu" else None)
    compare_gradients(call, x)


@pytest.mark.parametrize("name", NAMES)
def test_special_values(name):
    x = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 100.0, -100.0, 1e-20]], np.float32)
    compare(lambda tf, keras, x: getattr(keras.activations, name)(x), x)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int32"])
def test_dtypes_of_relu(dtype):
    compare(lambda tf, keras, x: keras.activations.relu(x), np.array([[1, -2, 9]], dtype))
    compare(lambda tf, keras, x: keras.activations.relu(x, max_value=6), np.array([1, 9], dtype))


relu_arguments = st.fixed_dictionaries(
    {
        "alpha": st.sampled_from([0.0, 0.25, -0.5, 1]),
        "max_value": st.sampled_from([None, 0.0, 2.0, 6, 6.0, -1.0]),
        "threshold": st.sampled_from([0.0, 0.5, -1.0, 3]),
    }
)


@settings(max_examples=40)
@given(x=matrices, arguments=relu_arguments)
def test_relu_with_slope_bound_and_threshold(x, arguments):
    compare(lambda tf, keras, x: keras.activations.relu(x, **arguments), x)
    compare_gradients(lambda tf, keras, x: keras.activations.relu(x, **arguments), x)


@pytest.mark.parametrize("alpha", [1.0, 0.5, 3])
def test_elu_alpha(alpha):
    x = np.linspace(-3, 3, 12, dtype=np.float32)
    compare(lambda tf, keras, x: keras.activations.elu(x, alpha), x)
    compare_gradients(lambda tf, keras, x: keras.activations.elu(x, alpha), x)


@pytest.mark.parametrize("axis", [-1, 0, 1, 2, -2, [0, 1], (1, 2)])
def test_softmax_axes(axis):
    x = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    compare(lambda tf, keras, x: keras.activations.softmax(x, axis=axis), x)
    compare_gradients(lambda tf, keras, x: keras.activations.softmax(x, axis=axis), x)


def test_gelu_approximation():
    x = np.linspace(-4, 4, 17, dtype=np.float32)
    compare(lambda tf, keras, x: keras.activations.gelu(x, approximate=True), x)


def test_softmax_needs_a_batch():
    compare_failure(lambda tf, keras, x: keras.activations.softmax(x), np.ones(3, np.float32))
    compare_failure(lambda tf, keras, x: keras.activations.softmax(x, 5), np.ones((2, 3)))


def test_probabilities_know_their_logits():
    logits = tf.constant([[1.0, -2.0]])
    assert tf.keras.activations.sigmoid(logits)._keras_logits is logits
    assert tf.keras.activations.softmax(logits)._keras_logits is logits
    assert not hasattr(tf.nn.softmax(logits), "_keras_logits")


@pytest.mark.parametrize("name", NAMES)
def test_names_and_configs(name):
    activations = tf.keras.activations
    function = getattr(activations, name)
    assert activations.get(name) is function
    assert activations.get(function) is function
    assert activations.deserialize(name) is function
    for legacy in (False, True):
        compare(
            lambda tf, keras: keras.activations.serialize(getattr(keras.activations, name), legacy)
        )
    config = {
        "module": "builtins", "class_name": "function", "config": name,
        "registered_name": "function",
    }  # fmt: skip
    assert activations.deserialize(config) is function


@pytest.mark.parametrize("name", ["leaky_relu", "log_softmax", "relu6", "silu"])
def test_names_of_operations(name):
    assert tf.keras.activations.get(name) is getattr(tf.nn, name)
    x = np.array([[-7.0, 0.5, 8.0]], np.float32)
    compare(lambda tf, keras, x: keras.activations.get(name)(x), x)


def test_operations_serialize_by_name():
    compare(lambda tf, keras: [keras.activations.serialize(f) for f in (tf.nn.relu, tf.tanh)])


LAYERS = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


@pytest.mark.parametrize("name", LAYERS)
def test_names_of_layers(name):
    activations, cls = tf.keras.activations, getattr(tf.keras.layers, name)
    layer = activations.get(name)
    assert type(layer) is cls
    assert activations.get(layer) is layer
    for legacy in (False, True):
        again = activations.get(activations.serialize(layer, legacy))
        assert type(again) is cls
        assert again.get_config() == layer.get_config()


def test_none_is_linear():
    assert tf.keras.activations.get(None) is tf.keras.activations.linear


def double(x):
    return 2 * x


def test_functions_of_the_user():
    activations = tf.keras.activations
    assert activations.get(double) is double
    assert activations.deserialize("double", {"double": double}) is double
    assert activations.deserialize("double", {"double": double}, use_legacy_format=True) is double
    for legacy in (False, True):
        compare(lambda tf, keras: keras.activations.serialize(double, legacy))
    config = activations.serialize(double)
    assert activations.deserialize(config, {"double": double}) is double


def relu(x):
    return x + 1


def test_a_namesake_of_ours_is_not_taken_for_it():
    assert tf.keras.activations.serialize(relu) != "relu"


def test_unknown_names_and_kinds():
    error = compare_failure(lambda tf, keras: keras.activations.get("rellu"), message="'relu'")
    assert "custom_object_scope" in str(error)
    compare_failure(lambda tf, keras: keras.activations.get("Sigmoids"), message="'sigmoid'")
    compare_failure(lambda tf, keras: keras.activations.get(""))
    compare_failure(lambda tf, keras: keras.activations.get(3))
    compare_failure(lambda tf, keras: keras.activations.serialize("relu"))
    compare_failure(lambda tf, keras: keras.activations.serialize(None))

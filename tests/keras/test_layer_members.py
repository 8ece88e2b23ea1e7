"""What every layer has: masks of its calls, states, updates, and the shape it was built for."""

import numpy as np
import pytest
from side_by_side import compare, compare_failure

import runnel


def described(mask):
    if isinstance(mask, list):
        return [described(each) for each in mask]
    return None if mask is None else (tuple(mask.shape), mask.dtype.name)


@pytest.mark.parametrize(
    "connect",
    [
        lambda k: [k.layers.Dense(2)],
        lambda k: [k.layers.Embedding(5, 3, mask_zero=True)],
        lambda k: [k.layers.Embedding(5, 3, mask_zero=True), k.layers.LSTM(2)],
        lambda k: [
            k.layers.Embedding(5, 3, mask_zero=True),
            k.layers.LSTM(2, return_sequences=True),
        ],
        lambda k: [k.layers.Embedding(5, 3, mask_zero=True), k.layers.Dense(3)],
        lambda k: [k.layers.Embedding(5, 3), k.layers.Masking(), k.layers.Dropout(0.5)],
        lambda k: [k.layers.Embedding(5, 3, mask_zero=True), k.layers.Flatten()],
    ],
)
def test_masks_of_calls(connect):
    def masks(tf, keras):
        tensor = keras.Input([7])
        start = tensor
        found = []
        for layer in connect(keras):
            tensor = layer(tensor)
            found += [layer.input_mask, layer.output_mask]
            found += [layer.get_input_mask_at(0), layer.get_output_mask_at(0)]
        model = keras.Model(start, tensor)
        found += [model.input_mask, model.output_mask]
        return [described(mask) for mask in found]

    compare(masks)


def test_masks_of_several_inputs():
    def masks(tf, keras):
        layer = keras.layers.Add()
        plain, masked = keras.Input([3, 2]), keras.layers.Masking()(keras.Input([3, 2]))
        layer([plain, masked])
        layer([masked, masked])
        ats = [layer.get_input_mask_at(index) for index in (0, 1)]
        ats += [layer.get_output_mask_at(index) for index in (0, 1)]
        return [described(mask) for mask in [layer.input_mask, layer.output_mask, *ats]]

    compare(masks)


NAMES = ["input", "output", "input_shape", "output_shape", "input_mask", "output_mask"]


@pytest.mark.parametrize("name", NAMES)
def test_layers_that_were_never_called(name):
    compare_failure(lambda tf, k: getattr(k.layers.Dense(2), name))
    compare_failure(lambda tf, k: getattr(k.layers.Dense(2), f"get_{name}_at")(0))

    def second_call(tf, keras):
        layer = keras.layers.Dense(2)
        layer(keras.Input([3]))
        return getattr(layer, f"get_{name}_at")(1)

    compare_failure(second_call, message="has only 1 inbound nodes")


def test_first_of_several_calls():
    def shapes(tf, keras):
        layer = keras.layers.Dense(2)
        layer(keras.Input([3, 4]))
        layer(keras.Input([5, 4]))
        found = [layer.input.shape, layer.output.shape, layer.get_output_at(1).shape]
        return [tuple(each) for each in found]

    compare(shapes)


def test_classes_say_what_their_layers_do():
    def said(tf, keras):
        stateful = keras.layers.LSTM(2, stateful=True, batch_input_shape=[1, 2, 3])
        models = [keras.Sequential(), keras.Sequential([stateful])]
        things = [keras.layers.Layer(), keras.layers.Dense(1), keras.metrics.Mean(), *models]
        things.append(keras.Model())
        return [(thing.stateful, thing.supports_masking) for thing in things]

    compare(said)
    for kind in (runnel.keras.layers.Layer, runnel.keras.metrics.Mean, runnel.keras.Model):
        assert hasattr(kind, "stateful")
        assert hasattr(kind, "supports_masking")


def test_a_model_may_call_itself_stateful():
    class Remembering(runnel.keras.Model):
        def __init__(self):
            super().__init__()
            self.stateful = True

    assert Remembering().stateful


def test_add_update_runs_functions_at_once():
    layer = runnel.keras.layers.Layer()
    seen = []
    layer.add_update(lambda: seen.append(1))
    layer.add_update([lambda: seen.append(2), None])
    assert seen == [1, 2]
    assert layer.updates == []


LAYERS = [
    ("Dense", {"units": 2}, (None, 4)),
    ("Conv2D", {"filters": 2, "kernel_size": 2}, (None, 4, 4, 3)),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 2}, (None, 4, 4, 3)),
    ("DepthwiseConv2D", {"kernel_size": 2}, (None, 4, 4, 3)),
    ("SeparableConv1D", {"filters": 2, "kernel_size": 2}, (None, 4, 3)),
    ("BatchNormalization", {}, (None, 4)),
    ("LayerNormalization", {}, (None, 4)),
    ("UnitNormalization", {}, (None, 4)),
    ("PReLU", {}, (None, 4)),
    ("Embedding", {"input_dim": 3, "output_dim": 2}, (None, 4)),
    ("Dropout", {"rate": 0.5}, (None, 4)),
    ("LSTM", {"units": 2}, (None, 4, 3)),
    ("GRUCell", {"units": 2}, (None, 3)),
]


@pytest.mark.parametrize(("name", "kwargs", "shape"), LAYERS)
def test_building_notes_the_shape(name, kwargs, shape):
    def built(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs)
        layer.build(shape)
        return layer.built, layer.get_build_config()

    compare(built)
    layer = getattr(runnel.keras.layers, name)(**kwargs)
    layer.build(shape)
    again = type(layer).from_config(layer.get_config())
    again.build_from_config(layer.get_build_config())
    assert again.built
    assert [w.shape for w in again.weights] == [w.shape for w in layer.weights]


@pytest.mark.parametrize("name", ["Add", "Concatenate", "Dot"])
def test_building_for_several_inputs_notes_all_shapes(name):
    layer = getattr(runnel.keras.layers, name)(**({"axes": 1} if name == "Dot" else {}))
    layer.build([(None, 3), (None, 3)])
    assert layer.get_build_config() == {"input_shape": [(None, 3), (None, 3)]}


def test_optional_inputs_may_be_missing():
    def results(tf, keras):
        class Sum(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                spec = keras.layers.InputSpec
                self.input_spec = [spec(ndim=2), spec(ndim=2, optional=True)]

            def call(self, inputs):
                first, second = inputs
                return first if second is None else first + second

        ones = tf.ones([1, 2])
        return Sum()([ones, None]), Sum()([ones, ones]), self_config(keras)

    def self_config(keras):
        return keras.layers.InputSpec(ndim=2, optional=True).get_config()

    compare(results)


def test_masks_outlive_the_cast_of_mixed_precision():
    ids = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])

    def masks(tf, keras):
        embedded = keras.layers.Embedding(5, 3, mask_zero=True, dtype="float32")(ids)
        half = keras.layers.Activation("linear", dtype="mixed_float16")
        sums = keras.layers.GlobalAveragePooling1D(dtype="float64")
        weights = tf.ones_like(embedded)
        weights._keras_mask = embedded._keras_mask
        return half(embedded)._keras_mask, sums(weights)

    compare(masks)


def test_models_pass_masks_on():
    ids = np.array([[1, 2, 0, 0], [3, 0, 0, 0]])

    def masks(tf, keras):
        inputs = keras.Input([4])
        embedded = keras.layers.Embedding(5, 3, mask_zero=True)(inputs)
        inner = keras.Model(inputs, embedded)
        stack = keras.Sequential([keras.layers.Dropout(0.5), keras.layers.Activation("tanh")])
        x = tf.ones([2, 4, 3])
        mask = tf.constant(ids > 0)
        mean = keras.layers.GlobalAveragePooling1D()
        outer = keras.Sequential([stack, mean])
        return (
            inner(tf.constant(ids))._keras_mask,
            inner.compute_mask(tf.constant(ids), None),
            stack(x, mask=mask)._keras_mask,
            outer(x * [[[1.0], [2.0], [3.0], [4.0]]], mask=mask),
        )

    compare(masks)
    inner_tensor = runnel.ones([2, 4, 3])
    stack = runnel.keras.Sequential([runnel.keras.layers.Activation("tanh")])
    stack(inner_tensor, mask=runnel.constant(ids > 0))
    assert not hasattr(inner_tensor, "_keras_mask")


def test_a_mask_can_be_used_in_a_functional_model():
    inputs = runnel.keras.Input([4])
    layer = runnel.keras.layers.Embedding(5, 3, mask_zero=True)
    layer(inputs)
    counts = runnel.reduce_sum(runnel.cast(layer.output_mask, runnel.int32), axis=1)
    model = runnel.keras.Model(inputs, counts)
    ids = runnel.constant([[1, 2, 0, 0], [3, 0, 0, 0]])
    np.testing.assert_array_equal(model(ids), [2, 1])

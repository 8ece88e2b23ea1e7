"""Attention, AdditiveAttention and MultiHeadAttention, as in Keras 2."""

import inspect

import numpy as np
import pytest
from layer_check import layer_check, plain, random_weights
from side_by_side import assert_alike, compare, compare_failure, tensorflow, tf_keras

import runnel

RANDOM = np.random.default_rng(4)
QUERY = RANDOM.normal(size=(2, 4, 3)).astype(np.float32)
VALUE = RANDOM.normal(size=(2, 5, 3)).astype(np.float32)
KEY = RANDOM.normal(size=(2, 5, 3)).astype(np.float32)
QUERY_MASK = np.array([[True, False, True, True], [True, True, False, True]])
VALUE_MASK = np.array([[True, False, True, True, False], [True, True, True, False, True]])
NAMES = ["Attention", "AdditiveAttention"]


@pytest.mark.parametrize(
    ("name", "kwargs"),
    [
        ("Attention", {}),
        ("Attention", {"use_scale": True}),
        ("Attention", {"score_mode": "concat"}),
        ("Attention", {"score_mode": "concat", "use_scale": True, "dropout": 0.3}),
        ("Attention", {"dtype": "float64"}),
        ("AdditiveAttention", {}),
        ("AdditiveAttention", {"use_scale": False, "dropout": 0.2}),
    ],
)
@pytest.mark.parametrize("inputs", [[QUERY, VALUE], [QUERY, VALUE, KEY]], ids=["two", "three"])
def test_dense_attention(name, kwargs, inputs):
    layer_check(name, kwargs, inputs)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("masks", ["query", "value", "both", None])
def test_dense_attention_masks(name, causal, masks):
    def run(tf, keras, query, value, query_mask, value_mask):
        layer = getattr(keras.layers, name)(name="a")
        layer([query, value])
        layer.set_weights([np.ones(tuple(w.shape)) for w in layer.weights])
        mask = None
        if masks is not None:
            given = {"query": [query_mask, None], "value": [None, value_mask]}
            mask = given.get(masks, [query_mask, value_mask])
        results = layer(
            [query, value], mask=mask, return_attention_scores=True, use_causal_mask=causal
        )
        return results, layer.compute_mask([query, value], mask)

    compare(run, QUERY, VALUE, QUERY_MASK, VALUE_MASK, tolerance=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_dense_attention_masks_travel(name):
    def run(tf, keras, query, value):
        masking = keras.layers.Masking()
        layer = getattr(keras.layers, name)(use_scale=False)
        output = layer([masking(query), masking(value)])
        return output, output._keras_mask

    compare(
        run,
        np.where(QUERY_MASK[..., None], QUERY, 0),
        np.where(VALUE_MASK[..., None], VALUE, 0),
        tolerance=1e-5,
    )


@pytest.mark.parametrize("name", NAMES)
def test_dense_attention_dropout(name):
    def run(tf, keras, query, value):
        layer = getattr(keras.layers, name)(use_scale=False, dropout=0.5)
        tf.random.set_seed(2)
        first = layer([query, value], training=True, return_attention_scores=True)
        return first, layer([query, value], training=True), layer([query, value])

    compare(run, QUERY, VALUE, tolerance=1e-5)


def test_half_precision():
    def run(tf, keras, query, value, query_mask, value_mask):
        layer = keras.layers.Attention(dtype="float16")
        return layer([query, value], mask=[query_mask, value_mask])

    compare(run, QUERY.astype("f2"), VALUE.astype("f2"), QUERY_MASK, VALUE_MASK, tolerance=1e-2)


def test_causal_argument_of_older_programs():
    def run(tf, keras, query, value):
        return keras.layers.Attention(causal=True)([query, value])

    compare(run, QUERY, VALUE, tolerance=1e-5)


def test_output_shape():
    layer = runnel.keras.layers.Attention()
    shapes = [(2, 4, 3), (2, 5, 7), (2, 5, 3)]
    got = layer([runnel.ones(shape) for shape in shapes])
    assert tuple(layer.compute_output_shape(shapes)) == tuple(got.shape) == (2, 4, 7)


IMAGE = RANDOM.normal(size=(2, 3, 4, 5)).astype(np.float32)


@pytest.mark.parametrize(
    ("kwargs", "query", "call"),
    [
        ({}, QUERY, {"value": VALUE}),
        ({}, QUERY, {"value": VALUE, "key": KEY}),
        ({"value_dim": 5, "output_shape": 7, "use_bias": False}, QUERY, {"value": VALUE}),
        ({"output_shape": (3, 2)}, QUERY, {"value": VALUE}),
        ({}, QUERY, {"value": VALUE, "use_causal_mask": True}),
        ({}, QUERY, {"value": VALUE, "attention_mask": RANDOM.random((2, 4, 5)) > 0.3}),
        ({}, QUERY, {"value": VALUE, "attention_mask": RANDOM.random((4, 5)) > 0.3}),
        (
            {"softmax_robust_masking": True},
            QUERY,
            {"value": VALUE, "attention_mask": RANDOM.random((2, 4, 5)) > 0.3},
        ),
        ({}, IMAGE, {"value": IMAGE}),
        ({"attention_axes": (2,)}, IMAGE, {"value": IMAGE}),
        ({"attention_axes": 1}, IMAGE, {"value": IMAGE}),
        (
            {
                "kernel_regularizer": "l2",
                "bias_regularizer": "l1",
                "activity_regularizer": "l2",
                "kernel_constraint": "max_norm",
                "bias_constraint": "non_neg",
                "kernel_initializer": "he_normal",
                "bias_initializer": "ones",
                "dropout": 0.5,
                "trainable": False,
            },
            QUERY,
            {"value": VALUE},
        ),
    ],
)
def test_multi_head_attention(kwargs, query, call):
    kwargs = {"num_heads": 2, "key_dim": 4, **kwargs}
    layer_check("MultiHeadAttention", kwargs, query, call=call, symbolic=False, gradients=False)
    # The gradient of the keys' bias is zero but for rounding, so all are compared in float64.
    double = {**kwargs, "dtype": "float64"}
    layer_check("MultiHeadAttention", double, query, call=call, symbolic=False)


def _pair(**kwargs):
    layers = []
    for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras)):
        layer = keras.layers.MultiHeadAttention(2, 4, **kwargs)
        layer(tf.constant(QUERY), tf.constant(VALUE))
        layers.append(layer)
    for layer in layers:
        layer.set_weights(random_weights(layers[0]))
    return layers


def test_scores_and_masks_of_inputs():
    outputs = []
    for tf, keras, layer in zip(
        (tensorflow, runnel), (tf_keras, runnel.keras), _pair(), strict=True
    ):
        masking = keras.layers.Masking()
        query = masking(tf.constant(np.where(QUERY_MASK[..., None], QUERY, 0)))
        value = masking(tf.constant(np.where(VALUE_MASK[..., None], VALUE, 0)))
        for causal in (False, True):
            output, scores = layer(
                query, value, return_attention_scores=True, use_causal_mask=causal
            )
            outputs.append([output, scores, output._keras_mask])
    assert_alike(outputs[0], outputs[2], 1e-5)
    assert_alike(outputs[1], outputs[3], 1e-5)


def test_dropout_of_multi_head_attention():
    outputs = []
    for tf, layer in zip((tensorflow, runnel), _pair(dropout=0.5), strict=True):
        tf.random.set_seed(2)
        query, value = tf.constant(QUERY), tf.constant(VALUE)
        outputs.append(list(layer(query, value, return_attention_scores=True, training=True)))
        outputs[-1].append(layer(query, value))
    assert_alike(*outputs, 1e-5)


def test_multi_head_attention_in_a_model():
    for keras in (tf_keras, runnel.keras):
        query, value = keras.Input((4, 3)), keras.Input((None, 3))
        layer = keras.layers.MultiHeadAttention(2, 4, name="heads")
        output, scores = layer(query, value, return_attention_scores=True)
        assert (tuple(output.shape), tuple(scores.shape)) == ((None, 4, 3), (None, 2, 4, None))
        inner = [each.name.rstrip("_0123456789") for each in layer._flatten_layers()]
        assert inner == ["heads", "query", "key", "value", "softmax", "dropout", "attention_output"]
    model = keras.Model([query, value], output)
    given = [runnel.constant(QUERY), runnel.constant(VALUE)]
    assert tuple(model(given).shape) == (2, 4, 3)
    again = keras.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again(given).numpy(), model(given).numpy())


def test_configs_of_layers_never_called():
    for name, arguments in (("MultiHeadAttention", (2, 4)), ("Attention", ())):
        configs = [
            plain(getattr(keras.layers, name)(*arguments, name="a").get_config())
            for keras in (tf_keras, runnel.keras)
        ]
        assert_alike(*configs)
    with pytest.warns(UserWarning, match="without weights"):
        runnel.keras.layers.MultiHeadAttention.from_config(
            runnel.keras.layers.MultiHeadAttention(2, 4).get_config()
        )


def test_the_same_seed_gives_the_same_weights():
    def weights(tf, keras):
        keras.utils.set_random_seed(5)
        layer = keras.layers.MultiHeadAttention(2, 4)
        layer(QUERY, VALUE)
        return layer.get_weights()

    want = weights(tensorflow, tf_keras)
    for one, other in zip(want, weights(runnel, runnel.keras), strict=True):
        np.testing.assert_allclose(other, one, atol=1e-6)


@pytest.mark.parametrize(
    ("kwargs", "shapes"),
    [
        ({}, [(2, 4, 3), (2, 5, 3)]),
        ({"output_shape": 7}, [(2, 4, 3), (2, 5, 3), (2, 5, 6)]),
        ({"output_shape": (3, 2)}, [(None, 4, 3), (None, None, 3)]),
    ],
)
def test_output_shape_of_multi_head_attention(kwargs, shapes):
    wanted, got = (
        tuple(keras.layers.MultiHeadAttention(2, 4, **kwargs).compute_output_shape(*shapes))
        for keras in (tf_keras, runnel.keras)
    )
    assert got == wanted


@pytest.mark.parametrize(
    "make",
    [
        lambda tf, k, x: k.layers.Attention(score_mode="cosine"),
        lambda tf, k, x: k.layers.Attention()(x),
        lambda tf, k, x: k.layers.Attention()([x]),
        lambda tf, k, x: k.layers.AdditiveAttention()([x] * 4),
        lambda tf, k, x: k.layers.Attention()([x, x], mask=[None]),
        lambda tf, k, x: k.layers.Attention()([x, x], mask=[None] * 4),
        lambda tf, k, x: k.layers.Attention()([x, x], mask=tf.ones([2, 4], tf.bool)),
        lambda tf, k, x: k.layers.Attention()([x, x[:, :, :2]]),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4)(x),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4, seed=3),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4)(
            x, x, attention_mask=tf.ones([2, 4, 5], tf.bool)
        ),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4)(x, x, key=x[:, :2]),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4).compute_output_shape(
            (2, 4, 3), (2, 5, 6)
        ),
        lambda tf, k, x: k.layers.MultiHeadAttention(2, 4).compute_output_shape(
            (2, 4, 3), (2, 5, 3), (2, 6, 3)
        ),
    ],
)
def test_failures(make):
    compare_failure(make, QUERY)


@pytest.mark.parametrize("name", [*NAMES, "MultiHeadAttention"])
def test_signatures(name):
    for method in ("__init__", "call", "compute_mask", "compute_output_shape"):
        wanted, got = (
            inspect.signature(getattr(getattr(keras.layers, name), method))
            for keras in (tf_keras, runnel.keras)
        )
        described = [
            [(p.name, p.kind, p.default) for p in list(signature.parameters.values())[1:]]
            for signature in (wanted, got)
        ]
        assert described[1] == described[0], method

"""Dense, Embedding, Activation, Masking, changes of shape, Lambda, EinsumDense, Input."""

import inspect

import numpy as np
import pytest
from layer_check import layer_check
from side_by_side import compare, compare_failure, tensorflow, tf_keras

import runnel

INTEGERS = np.random.default_rng(3).integers(0, 5, (2, 3))


@pytest.mark.parametrize(
    ("name", "kwargs", "inputs"),
    [
        ("Dense", {"units": 3}, (2, 4)),
        ("Dense", {"units": 3, "activation": "relu", "use_bias": False}, (2, 4)),
        ("Dense", {"units": 3, "activation": "softmax"}, (2, 5, 4)),
        ("Dense", {"units": 3, "activation": "tanh", "dtype": "float64"}, (2, 3, 5, 4)),
        ("Dense", {"units": 3, "dtype": "float16"}, (2, 4)),
        ("Dense", {"units": 3, "dtype": "mixed_float16"}, (2, 4)),
        ("Dense", {"units": 2, "dtype": "mixed_bfloat16"}, (2, 4)),
        (
            "Dense",
            {
                "units": 3,
                "kernel_regularizer": "l2",
                "bias_regularizer": "l1",
                "activity_regularizer": "l1_l2",
                "kernel_constraint": "max_norm",
                "bias_constraint": "non_neg",
                "kernel_initializer": "he_normal",
                "bias_initializer": "ones",
                "input_shape": (4,),
                "trainable": False,
            },
            (2, 4),
        ),
        ("Dense", {"units": 0}, (2, 4)),
        ("Dense", {"units": 3}, INTEGERS.astype("int32")),
        ("Activation", {"activation": "sigmoid"}, (2, 3)),
        ("Identity", {}, (2, 3)),
        ("Embedding", {"input_dim": 5, "output_dim": 2}, INTEGERS),
        ("Embedding", {"input_dim": 5, "output_dim": 2}, INTEGERS.astype("float32")),
        ("Embedding", {"input_dim": 5, "output_dim": 2, "input_length": 3}, INTEGERS),
        ("Embedding", {"input_dim": 5, "output_dim": 2, "dtype": "mixed_float16"}, INTEGERS),
        ("Masking", {}, np.array([[[0.0, 0.0], [1.0, 0.0]]], "float32")),
        ("Masking", {"mask_value": 1.0}, np.array([[[1.0, 1.0], [1.0, 0.0]]], "float32")),
        ("ActivityRegularization", {"l1": 0.1, "l2": 0.2}, (2, 3)),
        ("Flatten", {}, (2, 3, 4)),
        ("Flatten", {}, (2, 3)),
        ("Flatten", {}, (2,)),
        ("Flatten", {"data_format": "channels_first"}, (2, 3, 4, 5)),
        ("Reshape", {"target_shape": (4, 3)}, (2, 3, 4)),
        ("Reshape", {"target_shape": (-1, 2)}, (2, 3, 4)),
        ("Reshape", {"target_shape": [12]}, (2, 3, 4)),
        ("Permute", {"dims": (2, 1)}, (2, 3, 4)),
        ("Permute", {"dims": (3, 1, 2)}, (2, 3, 4, 5)),
        ("RepeatVector", {"n": 3}, (2, 4)),
        ("EinsumDense", {"equation": "ab,bc->ac", "output_shape": 5, "bias_axes": "c"}, (2, 3)),
        (
            "EinsumDense",
            {"equation": "abc,cd->abd", "output_shape": (None, 5), "activation": "relu"},
            (2, 3, 4),
        ),
        (
            "EinsumDense",
            {"equation": "...x,xy->...y", "output_shape": 5, "bias_axes": "y"},
            (2, 3, 4),
        ),
        (
            "EinsumDense",
            {"equation": "ab...,bc->ac...", "output_shape": 5, "bias_axes": "c"},
            (2, 3, 4),
        ),
        (
            "EinsumDense",
            {"equation": "abc,cde->abde", "output_shape": (None, 2, 3), "bias_axes": "de"},
            (2, 5, 4),
        ),
        ("ReLU", {}, (2, 3)),
        ("ReLU", {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.2}, (4, 5)),
        ("ReLU", {"max_value": 6}, (4, 5)),
        ("LeakyReLU", {}, (2, 3)),
        ("LeakyReLU", {"alpha": 0.1, "dtype": "float64"}, (2, 3)),
        ("ELU", {"alpha": 0.7}, (2, 3)),
        ("ThresholdedReLU", {"theta": 0.3}, (3, 4)),
        ("PReLU", {}, (2, 3, 4)),
        ("PReLU", {"shared_axes": [1], "alpha_initializer": "ones"}, (2, 3, 4)),
        ("PReLU", {"shared_axes": 2, "alpha_regularizer": "l2"}, (2, 3, 4)),
        ("Softmax", {}, (2, 3)),
        ("Softmax", {"axis": 1}, (2, 3, 4)),
        ("Softmax", {"axis": (1, 2)}, (2, 3, 4)),
        ("Softmax", {"axis": [-1]}, (2, 3, 4)),
    ],
)
def test_layer(name, kwargs, inputs):
    layer_check(name, kwargs, inputs)


def test_embedding_with_other_length_fails_only_statically():
    layer_check(
        "Embedding", {"input_dim": 5, "output_dim": 2, "input_length": 4}, INTEGERS, symbolic=False
    )


MASKS = [[[True, False, True]], [[True, True, True]], [[False, False, False]]]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("robust", [False, True])
def test_softmax_with_mask(mask, robust):
    layer_check("Softmax", {"robust_masking": robust}, (1, 3), call={"mask": np.array(mask)})


def test_softmax_with_mask_along_two_axes():
    mask = np.array([[[True, False], [True, True]]])
    layer_check("Softmax", {"axis": (1, 2)}, (1, 2, 2), call={"mask": mask})


FAILURES = [
    lambda L, z: L.Dense(-1),
    lambda L, z: L.Dense("a"),
    lambda L, z: L.Dense(3)(z(3)),
    lambda L, z: L.Dense(3, dtype="int32")(np.zeros((2, 2), "int32")),
    lambda L, z: L.Dense(3).compute_output_shape((None, None)),
    lambda L, z: L.Dense(3)(L.Input((None,))),
    lambda L, z: L.Dense(3, foo=1),
    lambda L, z: L.Dense(3, activation="foo"),
    lambda L, z: L.Dense(3, kernel_initializer="foo"),
    lambda L, z: L.Embedding(0, 2),
    lambda L, z: L.Embedding(5, 2, input_length=3).compute_output_shape((2, 4)),
    lambda L, z: L.Embedding(5, 2, input_length=3).compute_output_shape((2, 4, 5)),
    lambda L, z: L.Embedding(5, 2)(np.array([[7]])),
    lambda L, z: L.Flatten(data_format="foo"),
    lambda L, z: L.Reshape((3, 2))(z(2, 5)),
    lambda L, z: L.Reshape((3, -1))(z(2, 5)),
    lambda L, z: L.Reshape((-1, 2)).compute_output_shape((None, 5)),
    lambda L, z: L.Reshape((3, 2)).compute_output_shape((None, 5)),
    lambda L, z: L.Permute((0, 1)),
    lambda L, z: L.Permute((1, 3)),
    lambda L, z: L.RepeatVector(2.5),
    lambda L, z: L.RepeatVector(3)(z(2, 3, 4)),
    lambda L, z: L.EinsumDense("ab->ac", 5)(z(2, 3)),
    lambda L, z: L.EinsumDense("ab,bc->ac", 5, bias_axes="d")(z(2, 3)),
    lambda L, z: L.EinsumDense("ab,bc->ad", 5)(z(2, 3)),
    lambda L, z: L.ReLU(max_value=-1),
    lambda L, z: L.ReLU(negative_slope=-1),
    lambda L, z: L.ReLU(negative_slope=None),
    lambda L, z: L.ReLU(threshold=None),
    lambda L, z: L.LeakyReLU(None),
    lambda L, z: L.ELU(None),
    lambda L, z: L.ThresholdedReLU(None),
    lambda L, z: L.ThresholdedReLU(-1),
    lambda L, z: L.PReLU(shared_axes=[5])(z(2, 3)),
    lambda L, z: L.PReLU()(L.Input((None,))),
    lambda L, z: L.Softmax(axis=5)(z(2, 3)),
    lambda L, z: L.Softmax()(z(3)),
    lambda L, z: L.Activation("foo"),
    lambda L, z: L.Lambda(3),
    lambda L, z: L.Input(),
    lambda L, z: L.Input(shape=(3,), batch_input_shape=(2, 3)),
    lambda L, z: L.Input(shape=(3,), foo=1),
    lambda L, z: L.InputLayer(foo=2),
    lambda L, z: L.InputLayer((3,), batch_input_shape=(2, 3)),
    lambda L, z: L.Wrapper(3),
]


def _message(failure):
    return str(failure).split("\n\n")[0]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    compare_failure(
        lambda tf, keras: FAILURES[index](keras.layers, lambda *s: np.zeros(s, "float32"))
    )


EXACT = [
    lambda L: L.Dense(-1),
    lambda L: L.Dense(3).compute_output_shape((None, None)),
    lambda L: L.Embedding(0, 2),
    lambda L: L.Embedding(5, 2, input_length=3).compute_output_shape((2, 4)),
    lambda L: L.Flatten(data_format="foo"),
    lambda L: L.Reshape((3, 2)).compute_output_shape((None, 5)),
    lambda L: L.Permute((0, 1)),
    lambda L: L.RepeatVector(2.5),
    lambda L: L.ReLU(max_value=-1),
    lambda L: L.LeakyReLU(None),
    lambda L: L.ThresholdedReLU(-1),
    lambda L: L.Input(),
    lambda L: L.Wrapper(3),
]


@pytest.mark.parametrize("index", range(len(EXACT)))
def test_messages(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises((ValueError, TypeError)) as caught:
            EXACT[index](keras.layers)
        texts.append(str(caught.value))
    assert texts[1] == texts[0]


LAYERS = [
    name
    for name in dir(runnel.keras.layers)
    if name[0].isupper() and hasattr(tf_keras.layers, name) and name not in ("Layer", "InputSpec")
]


def _signature(layer):
    return inspect.signature(layer.__init__ if inspect.isclass(layer) else layer)


@pytest.mark.parametrize("name", LAYERS)
def test_signature(name):
    ours, theirs = (_signature(getattr(keras.layers, name)) for keras in (runnel.keras, tf_keras))
    described = [
        [(p.name, p.kind, p.default) for p in each.parameters.values()] for each in (ours, theirs)
    ]
    assert described[0] == described[1]


def test_same_initial_values_for_a_seed():
    for name, arguments, shape in (
        ("Dense", (3,), (2, 4)),
        ("Conv2D", (3, 2), (1, 4, 4, 2)),
        ("Embedding", (5, 3), (2, 2)),
    ):

        def make(tf, keras):
            keras.utils.set_random_seed(11)
            layer = getattr(keras.layers, name)(*arguments)
            layer(tf.ones(shape))
            return [tf.convert_to_tensor(weight) for weight in layer.weights]

        compare(make)


def test_masking_travels():
    def masks(tf, keras):
        L = keras.layers
        hidden = L.Masking()(tf.constant([[[0.0, 0.0], [1.0, 0.0]]]))
        embedded = L.Embedding(5, 2, mask_zero=True)(tf.constant([[1, 0, 2]]))
        dense = L.Dense(2)(embedded)
        dropped = L.Dropout(0.5)(dense)
        averaged = L.GlobalAveragePooling1D()(hidden)
        added = L.Add()([dropped, dense])
        joined = L.Concatenate()([dropped, dense])
        later = L.Concatenate(axis=1)([dropped, dense])
        assert getattr(L.Flatten()(dense), "_keras_mask", None) is None
        return [
            *(each._keras_mask for each in (hidden, embedded, dense, dropped)),
            *(each._keras_mask for each in (added, joined, later)),
            averaged,
        ]

    compare(masks)


def test_lambda():
    def results(tf, keras):
        L = keras.layers
        x = tf.constant([[1.0, 2.0]])
        squared = L.Lambda(lambda x: x**2, name="l")
        powered = L.Lambda(lambda x, n: x**n, arguments={"n": 3}, name="p")
        moded = L.Lambda(lambda x, training=None: x * (2.0 if training else 1.0), name="t")
        shaped = L.Lambda(lambda x: x, output_shape=(4,), name="s")
        asked = L.Lambda(lambda x: x, output_shape=lambda shape: (shape[0], 9), name="a")
        return [
            squared(x),
            powered(x),
            moded(x, training=True),
            moded(x),
            tuple(shaped.compute_output_shape((2, 3))),
            tuple(asked.compute_output_shape((2, 3))),
            tuple(squared(keras.Input([3])).shape),
            list(squared.get_config()),
            squared.get_config()["function_type"],
            L.Lambda(lambda x: x, mask=5).compute_mask(1, None),
            L.Lambda(lambda x: x, mask=lambda inputs, mask: mask).compute_mask(1, 7),
            L.Lambda(abs, name="b").get_config(),
            L.Lambda.from_config(squared.get_config())(x),
        ]

    compare(results)


def test_lambda_must_not_make_variables():
    compare_failure(
        lambda tf, keras: keras.layers.Lambda(lambda x: x + tf.Variable(1.0))(tf.constant([1.0]))
    )


def test_lambda_code_in_a_file_is_refused():
    config = runnel.keras.layers.serialize(runnel.keras.layers.Lambda(lambda x: x))
    with pytest.raises(ValueError, match="safe_mode=False"):
        runnel.keras.layers.deserialize(config)


def test_input():
    def results(tf, keras):
        tensors = [
            keras.Input((3,), batch_size=2, name="one"),
            keras.Input(shape=3, name="two"),
            keras.Input(shape=[3], dtype="int32", name="three"),
            keras.Input(batch_shape=(2, 3), name="four"),
            keras.Input(batch_input_shape=(2, None), name="five"),
            keras.Input(type_spec=tf.TensorSpec([2, 5]), name="six"),
        ]
        layers = [
            keras.layers.InputLayer((3,), name="seven"),
            keras.layers.InputLayer((3,), batch_size=2, name="eight"),
        ]
        return [
            *[(tuple(t.shape), t.dtype.name) for t in tensors],
            *[t.name for t in tensors[:5]],
            *[layer.get_config() for layer in layers],
            *[layer.input_shape for layer in layers],
            tuple(layers[0].output.shape),
            layers[0](tf.constant([[1.0, 2.0, 3.0]])),
        ]

    compare(results)


def test_deserialize():
    layer = runnel.keras.layers.deserialize({"class_name": "Dense", "config": {"units": 2}})
    assert layer.units == 2
    with pytest.raises(ValueError, match="Dense"):
        runnel.keras.layers.deserialize({"class_name": "Dence", "config": {"units": 2}})
    theirs = tf_keras.layers.serialize(tf_keras.layers.Dense(2, name="d", activation="relu"))
    ours = runnel.keras.layers.deserialize(theirs)
    assert runnel.keras.layers.serialize(ours) == theirs
    assert tensorflow.__version__

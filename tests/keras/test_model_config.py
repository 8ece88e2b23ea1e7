"""Configs of models: equal to those of tf_keras, and each library builds the other's models."""

from __future__ import annotations

import json

import numpy as np
import pytest
from side_by_side import compare_failure, tensorflow, tf_keras

import runnel

BOTH = ((tensorflow, tf_keras), (runnel, runnel.keras))


@pytest.fixture(autouse=True)
def fresh_names():
    tf_keras.backend.clear_session()
    from runnel.keras.backend import clear_session

    clear_session()


def sequential(tf, keras):
    return keras.Sequential(
        [keras.layers.Dense(3, activation="relu", input_shape=(4,)), keras.layers.Dense(2)]
    )


def deferred(tf, keras):
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.ReLU()])
    model.build((None, 4))
    return model


def several_inputs(tf, keras):
    layers = keras.layers
    a, b, c = (keras.Input((4,), name=name) for name in "abc")
    x = layers.Dense(4, name="d2")(layers.Dense(4, name="d1")(a))
    y = layers.Dense(4, name="e1")(b)
    z = layers.Concatenate()([layers.Add()([y, x]), c])
    return keras.Model([a, b, c], [layers.Dense(1, name="o2")(y), layers.Dense(1, name="o1")(z)])


def dicts(tf, keras):
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    shared = keras.layers.Dense(3, name="shared")
    x, y = shared(a), shared(b)
    return keras.Model({"b": b, "a": a}, {"sum": keras.layers.Add()([x, y]), "x": x})


def nested(tf, keras):
    layers = keras.layers
    i = keras.Input((4,))
    inner = keras.Model(i, layers.Dense(4)(i), name="inner")
    stack = keras.Sequential([layers.Dense(4)], name="stack")
    j = keras.Input((4,))
    return keras.Model(j, layers.Dense(2)(stack(inner(stack(inner(j))))))


def keywords(tf, keras):
    i = keras.Input((4,))
    x = keras.layers.Dropout(0.5)(i, training=False)
    return keras.Model(i, keras.layers.Dropout(0.5)(x, False))


def from_the_middle(tf, keras):
    i = keras.Input((4,))
    x = keras.layers.Dense(3)(i)
    return keras.Model(x, keras.layers.Dense(2)(tf.nn.relu(x) + 1.0))


def unconnected_input(tf, keras):
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    return keras.Model([a, b], keras.layers.Dense(2)(a))


MODELS = (
    *(sequential, deferred, several_inputs, dicts, nested, keywords, from_the_middle),
    unconnected_input,
)

FUNCTIONS = {
    "add": lambda tf, x: x + 1.0,
    "reflected": lambda tf, x: 2.0 - x,
    "operators": lambda tf, x: -x / 2.0 + abs(x) ** 2.0 - x // 2.0 + x % 2.0,
    "comparison": lambda tf, x: tf.cast((x > 0.0) & (x < 1.0) | ~(x >= 2.0), "float32"),
    "matmul": lambda tf, x: tf.matmul(x, x, transpose_b=True) @ tf.ones([3, 2]),
    "reduce": lambda tf, x: tf.reduce_mean(x, axis=-1, keepdims=True),
    "concat": lambda tf, x: tf.concat([x, tf.exp(x)], axis=1),
    "split": lambda tf, x: tf.split(x, 2, axis=1)[1],
    "unstack": lambda tf, x: tf.unstack(x, axis=1)[2],
    "top_k": lambda tf, x: tf.math.top_k(x, 2).values,
    "cast": lambda tf, x: tf.cast(x, tf.int32),
    "reshape": lambda tf, x: tf.reshape(x, (-1, 2, 2)),
    "shape": lambda tf, x: tf.reshape(x, (tf.shape(x)[0], -1)),
    "transpose": lambda tf, x: tf.transpose(x, [1, 0]),
    "squeeze": lambda tf, x: tf.squeeze(x[:, :1], 1),
    "gather": lambda tf, x: tf.gather(x, [0, 2], axis=1),
    "pad": lambda tf, x: tf.pad(x, [[0, 0], [1, 1]]),
    "where": lambda tf, x: tf.where(x > 0.0, x, 0.5),
    "slices": lambda tf, x: x[:, 1:3, None],
    "ellipsis": lambda tf, x: x[..., -1],
    "tensor_in_slice": lambda tf, x: x[:, : tf.shape(x)[1] - 1],
    "mask": lambda tf, x: tf.boolean_mask(x, x[:, 0] > 0.0),
    "array": lambda tf, x: x * np.arange(4, dtype=np.float32),
    "constant": lambda tf, x: tf.constant([1.0, 2.0, 3.0, 4.0]) * x,
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "gelu": lambda tf, x: tf.nn.gelu(x, approximate=True),
    "one_hot": lambda tf, x: tf.one_hot(tf.cast(x, "int32"), 3),
    "stack": lambda tf, x: tf.stack([x, x], 1),
    "norm": lambda tf, x: tf.norm(x, axis=1),
    "clip": lambda tf, x: tf.clip_by_value(x, 0.0, 1.0),
    "l2": lambda tf, x: tf.math.l2_normalize(x, axis=1),
    "backend": lambda tf, x: (
        tf.keras.backend.mean(x, axis=1) if tf is runnel else tf_keras.backend.mean(x, axis=1)
    ),
}


def through_json(config):
    def plain(value):
        return value.name

    return json.loads(json.dumps(config, default=plain))


def inputs_for(model):
    generator = np.random.default_rng(3)
    names = [tensor.name.split(":")[0] for tensor in model.inputs]
    arrays = [
        generator.normal(size=(3, *tensor.shape[1:])).astype("float32") for tensor in model.inputs
    ]
    if isinstance(model.input, dict):
        return dict(zip(names, arrays, strict=True))
    return arrays if len(arrays) > 1 else arrays[0]


def assert_same_outputs(wanted, *models):
    inputs = inputs_for(wanted)
    expected = runnel.nest.flatten(runnel.nest.map_structure(np.asarray, wanted(inputs)))
    for model in models:
        model.set_weights(wanted.get_weights())
        got = runnel.nest.flatten(runnel.nest.map_structure(np.asarray, model(inputs)))
        assert len(got) == len(expected)
        for a, b in zip(expected, got, strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_configs_are_the_originals(make):
    wanted, got = (make(tf, keras).get_config() for tf, keras in BOTH)
    wanted, got = through_json(wanted), through_json(got)
    for config in (wanted, got):
        for layer in config["layers"]:
            if "OpLambda" in layer["class_name"]:
                # Which defaults a function was given by name is told by neither.
                layer.pop("build_config", None)
                for call in layer["inbound_nodes"]:
                    call[3].pop("name", None)
    assert got == wanted


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_each_builds_the_others_model(make):
    theirs, ours = (make(tf, keras) for tf, keras in BOTH)
    kind = "Sequential" if isinstance(ours, runnel.keras.Sequential) else "Model"
    models = [
        getattr(keras, kind).from_config(through_json(model.get_config()))
        for _, keras in BOTH
        for model in (theirs, ours)
    ]
    assert_same_outputs(theirs, ours, *models)
    assert [layer.name for layer in ours.layers] == [layer.name for layer in theirs.layers]
    assert models[3].get_config() == ours.get_config()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_keras_inputs(name):
    """The layers made of calls of functions are named as in the original, and saved alike."""

    def make(tf, keras):
        inputs = keras.Input((4,), name="i")
        return keras.Model(inputs, FUNCTIONS[name](tf, inputs))

    theirs, ours = (make(tf, keras) for tf, keras in BOTH)
    wanted, got = theirs.get_config(), ours.get_config()
    assert got["output_layers"] == wanted["output_layers"]
    for a, b in zip(wanted["layers"], got["layers"], strict=True):
        for key in ("class_name", "module", "name"):
            assert b[key] == a[key]
        assert b["config"] == a["config"]
    models = [
        keras.models.model_from_json(model.to_json())
        for _, keras in BOTH
        for model in (theirs, ours)
    ]
    assert_same_outputs(theirs, ours, *models)


def test_einsum_keeps_its_operands():
    """The original loses them; a model of ours comes back whole."""
    i = runnel.keras.Input((4,))
    model = runnel.keras.Model(i, runnel.einsum("ij,ik->ijk", i, i))
    again = runnel.keras.models.model_from_json(model.to_json())
    assert_same_outputs(model, again)


def test_rebuilt_op_layers_train():
    i = runnel.keras.Input((4,))
    x = runnel.keras.layers.Dense(4)(i)
    model = runnel.keras.Model(i, runnel.reduce_sum(x * 2.0 + i, axis=1, keepdims=True))
    again = runnel.keras.models.model_from_json(model.to_json())
    again.compile("sgd", "mse")
    before = again.get_weights()[0]
    again.train_on_batch(np.ones((2, 4), "float32"), np.ones((2, 1), "float32"))
    assert not np.array_equal(before, again.get_weights()[0])


def test_structured_inputs_and_arguments():
    def make(tf, keras):
        class Sum(keras.layers.Layer):
            def call(self, inputs, more=None, factor=1.0):
                return (inputs["x"] + inputs["y"][0] + more) * factor

        a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
        model = keras.Model([a, b], Sum(name="sum")({"x": a, "y": [b]}, a, factor=3.0))
        return model, Sum

    (theirs, their_sum), (ours, our_sum) = (make(tf, keras) for tf, keras in BOTH)
    calls = [model.get_config()["layers"][-1]["inbound_nodes"] for model in (theirs, ours)]
    assert calls[0] == calls[1]
    models = [
        keras.models.model_from_json(model.to_json(), custom_objects={"Sum": kind})
        for (_, keras), kind in zip(BOTH, (their_sum, our_sum), strict=True)
        for model in (theirs, ours)
    ]
    assert_same_outputs(theirs, ours, *models)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_clone_model(make):
    model = make(runnel, runnel.keras)
    copy = runnel.keras.models.clone_model(model)
    assert copy.get_config() == model.get_config()
    own = {id(layer) for layer in model.layers}
    assert not any(id(layer) in own for layer in copy.layers)
    assert_same_outputs(model, copy)


def test_clone_model_with_function_and_inputs():
    def wider(layer):
        config = layer.get_config()
        if "units" in config:
            config["units"] *= 2
        return type(layer).from_config(config)

    clone = runnel.keras.models.clone_model
    shapes = [
        keras.models.clone_model(several_inputs(tf, keras), clone_function=wider).output_shape
        for tf, keras in BOTH
    ]
    assert shapes[0] == shapes[1]
    new = runnel.keras.Input((4,), name="new")
    copy = clone(sequential(runnel, runnel.keras), input_tensors=new)
    assert copy.inputs[0] is new
    model = runnel.keras.Sequential([runnel.keras.layers.Dense(2)])
    assert not clone(model).built


def test_subclassed_models():
    def make(tf, keras, *args, **kwargs):
        class Line(keras.Model):
            def __init__(self, units, bias=True, **options):
                super().__init__(**options)
                self.dense = keras.layers.Dense(units, use_bias=bias)

            def call(self, inputs):
                return self.dense(inputs)

        return Line(*args, **kwargs)

    for args, kwargs in (((3,), {}), ((3,), {"name": "n"}), ((), {"units": 2, "bias": False})):
        wanted, got = (make(tf, keras, *args, **kwargs).get_config() for tf, keras in BOTH)
        assert got == wanted
    model = make(runnel, runnel.keras, 2)
    assert runnel.keras.models.clone_model(model).dense.units == 2
    with pytest.raises(ValueError, match="clone_function"):
        runnel.keras.models.clone_model(model, clone_function=lambda layer: layer)


def test_arguments_that_no_config_can_hold(caplog):
    class Applied(runnel.keras.Model):
        def __init__(self, function):
            super().__init__()

    assert Applied(lambda x: x).get_config() == {}
    assert "non-serializable" in caplog.text


def test_order_of_layers_with_shared_ones():
    def make(tf, keras):
        layers = keras.layers
        a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
        shared = layers.Dense(4, name="shared")
        x = shared(layers.Dense(4, name="first")(a))
        y = layers.Dense(4, name="second")(shared(b))
        z = layers.Multiply(name="times")([layers.Dense(4, name="third")(x), y, x])
        return keras.Model([b, a], [z, y, shared(z)])

    names = [[layer.name for layer in make(tf, keras).layers] for tf, keras in BOTH]
    assert names[1] == names[0]


def test_files_cannot_name_any_function():
    """A config that names a function which runs code or writes files is refused."""
    i = runnel.keras.Input((4,), name="i")
    config = runnel.keras.Model(i, runnel.exp(i)).get_config()
    for name in ("py_function", "print", "keras.utils.get_file", "core.op.execute", "os.system"):
        config["layers"][1]["config"]["function"] = name
        with pytest.raises(ValueError, match="could not be found"):
            runnel.keras.Model.from_config(config)


def test_bad_configs():
    compare_failure(lambda tf, keras: keras.models.model_from_config([1]), message="Sequential")
    compare_failure(
        lambda tf, keras: keras.models.model_from_config({"class_name": "Mine", "config": {}}),
        message="custom_objects",
    )
    config = several_inputs(runnel, runnel.keras).get_config()
    broken = {**config, "layers": [each for each in config["layers"] if each["name"] != "d1"]}
    with pytest.raises(ValueError, match="not complete"):
        runnel.keras.Model.from_config(broken)


OPERATIONS = [
    lambda tf, x: x * 0.1,
    lambda tf, x: 0.1 * x,
    lambda tf, x: x + 0.1,
    lambda tf, x: 0.1 - x,
    lambda tf, x: x / 3,
    lambda tf, x: x**2,
    lambda tf, x: 2.0**x,
    lambda tf, x: x // 2,
    lambda tf, x: -x,
    lambda tf, x: abs(x),
    lambda tf, x: x > 0.5,
    lambda tf, x: ~((x > 0) & (x > 1)),
    lambda tf, x: x[:, :2],
    lambda tf, x: x + np.array([0.1, 0.2, 0.3], np.float32),
    lambda tf, x: x * tf.constant(0.1),
    lambda tf, x: tf.multiply(x, 0.1),
    lambda tf, x: tf.add(x, 0.1),
    lambda tf, x: tf.add(x, 1.0, name="named"),
    lambda tf, x: tf.nn.relu(x),
    lambda tf, x: tf.sin(tf.exp(x)),
    lambda tf, x: tf.maximum(x, 1.0),
    lambda tf, x: tf.concat([x, x], -1),
    lambda tf, x: tf.split(x, 3, axis=1),
    lambda tf, x: tf.reshape(x, [-1, 1]),
    lambda tf, x: tf.tile(x, [1, 2]),
    lambda tf, x: tf.clip_by_value(x, 0.1, 0.2),
    lambda tf, x: tf.reduce_mean(x, axis=1),
]


@pytest.mark.parametrize("function", OPERATIONS, ids=range(len(OPERATIONS)))
def test_configs_of_operations(function):
    configs = []
    for tf, keras in BOTH:
        x = keras.Input([3], name="x")
        configs.append(keras.Model(x, function(tf, x), name="model").get_config())
    assert json.dumps(configs[1], sort_keys=True) == json.dumps(configs[0], sort_keys=True)

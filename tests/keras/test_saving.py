"""Model files: those of tf_keras load here, ours load there, with equal numbers."""

from __future__ import annotations

import json
import os
import warnings
import zipfile

import numpy as np
import pytest
from side_by_side import tensorflow, tf_keras

import runnel

h5py = pytest.importorskip("h5py")

keras = runnel.keras
layers = keras.layers
BOTH = ((tensorflow, tf_keras), (runnel, keras))


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Tracing of the original's steps would take most of the time.
    tensorflow.config.run_functions_eagerly(True)
    tf_keras.backend.clear_session()
    from runnel.keras.backend import clear_session

    clear_session()
    yield
    tensorflow.config.run_functions_eagerly(False)


def sequential(tf, keras):
    return keras.Sequential(
        [keras.layers.Dense(8, activation="relu", input_shape=(4,)), keras.layers.Dense(2)]
    )


def several_inputs(tf, keras):
    a, b, c = (keras.Input((size,), name=name) for name, size in (("a", 4), ("b", 3), ("c", 2)))
    x = keras.layers.Dense(4, name="d2")(keras.layers.Dense(5, name="d1")(a))
    y = keras.layers.Dense(4, name="e1")(b)
    z = keras.layers.Concatenate()([keras.layers.Add()([y, x]), c])
    return keras.Model([a, b, c], keras.layers.Dense(2, name="o")(tf.nn.relu(z) * 2.0))


def convolutional(tf, keras):
    return keras.Sequential(
        [
            keras.layers.Conv2D(3, 3, use_bias=False, input_shape=(8, 8, 1)),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dense(2),
        ]
    )


def nested(tf, keras):
    i = keras.Input((4,))
    inner = keras.layers.Dense(4, use_bias=False)(i)
    inner = keras.layers.Dense(4)(keras.layers.BatchNormalization()(inner))
    inner = keras.Model(i, inner, name="inner")
    stack = keras.Sequential([keras.layers.Dense(4, activation="tanh")], name="stack")
    j = keras.Input((4,))
    return keras.Model(j, keras.layers.Dense(2)(stack(inner(j))))


MODELS = (sequential, several_inputs, convolutional, nested)
each_model = pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
each_ending = pytest.mark.parametrize("ending", ("h5", "keras"))


def data_for(model):
    generator = np.random.default_rng(5)
    arrays = [
        generator.normal(size=(6, *tensor.shape[1:])).astype("float32") for tensor in model.inputs
    ]
    targets = generator.normal(size=(6, 2)).astype("float32")
    return (arrays if len(arrays) > 1 else arrays[0]), targets


def trained(make, tf, keras):
    """A model after three steps of Adam."""
    model = make(tf, keras)
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    inputs, targets = data_for(model)
    for _ in range(3):
        model.train_on_batch(inputs, targets)
    return model


def quietly(function, *args, **kwargs):
    """The original warns that HDF5 is old."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def outputs(model):
    return np.asarray(model(data_for(model)[0], training=False))


def assert_close(got, wanted, tolerance=2e-5):
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@each_ending
@each_model
def test_whole_models_both_ways_with_the_optimizer(make, ending):
    """Each library saves; both load; outputs agree, and training goes on identically."""
    for tf, library in BOTH:
        model = trained(make, tf, library)
        path = f"model.{ending}"
        quietly(model.save, path)
        loaded = [each.models.load_model(path) for _, each in BOTH]
        for other in loaded:
            assert_close(outputs(other), outputs(model))
            assert int(other.optimizer.iterations.numpy()) == 3
            assert [layer.name for layer in other.layers] == [layer.name for layer in model.layers]
        inputs, targets = data_for(model)
        for _ in range(3):
            losses = [each.train_on_batch(inputs, targets) for each in (model, *loaded)]
            for other in losses[1:]:
                assert_close(other, losses[0], 1e-4)


@pytest.mark.parametrize("ending", (".h5", ".weights.h5"))
@each_model
def test_weights_both_ways(make, ending):
    for tf, library in BOTH:
        model = trained(make, tf, library)
        model.save_weights(f"w{ending}")
        for other_tf, other in BOTH:
            fresh = make(other_tf, other)
            fresh.load_weights(f"w{ending}")
            assert_close(outputs(fresh), outputs(model))


def contents(file):
    """All names, attributes and shapes in an HDF5 file."""
    found = {}

    def note(name, item):
        attributes = {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in item.attrs.items()
        }
        for key in ("model_config", "training_config"):
            if key in attributes:
                attributes[key] = json.loads(attributes[key])
        found[name] = (attributes, getattr(item, "shape", None), str(getattr(item, "dtype", "")))

    with h5py.File(file, "r") as opened:
        note("", opened)
        opened.visititems(note)
    return found


@each_model
def test_h5_files_are_the_originals(make):
    """The same groups, names, attributes, shapes and dtypes, and the same config inside."""
    for index, (tf, library) in enumerate(BOTH):
        model = trained(make, tf, library)
        quietly(model.save, f"{index}.h5")
        model.save_weights(f"{index}w.h5")
    wanted, got = contents("0.h5"), contents("1.h5")
    trainings = [file[""][0].pop("training_config") for file in (wanted, got)]
    configs = [file[""][0].pop("model_config") for file in (wanted, got)]
    assert got == wanted
    assert trainings[1]["optimizer_config"] == trainings[0]["optimizer_config"]
    assert trainings[1]["loss"] == trainings[0]["loss"]
    for config in configs:
        for layer in config["config"]["layers"]:
            if "OpLambda" in layer["class_name"]:
                layer["inbound_nodes"][0][3].pop("name", None)
    assert configs[1] == configs[0]
    assert contents("1w.h5") == contents("0w.h5")


@each_model
def test_keras_files_are_the_originals(make):
    for index, (tf, library) in enumerate(BOTH):
        model = trained(make, tf, library)
        model.save(f"{index}.keras")
        model.save_weights(f"{index}.weights.h5")
    assert contents("1.weights.h5") == contents("0.weights.h5")
    configs = []
    for index in range(2):
        with zipfile.ZipFile(f"{index}.keras") as archive:
            assert archive.namelist() == ["metadata.json", "config.json", "model.weights.h5"]
            metadata = json.loads(archive.read("metadata.json"))
            assert list(metadata) == ["keras_version", "date_saved"]
            configs.append(json.loads(archive.read("config.json")))
    for config in configs:
        for layer in config["config"]["layers"]:
            if "OpLambda" in layer["class_name"]:
                layer.pop("build_config", None)
                layer["inbound_nodes"][0][3].pop("name", None)
    assert configs[1] == configs[0]


def blocks(tf, keras):
    """A subclassed model whose layers are in attributes, lists and dicts."""

    class Block(keras.layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.zed = keras.layers.Dense(2)
            self.alpha = [keras.layers.Dense(2), keras.layers.BatchNormalization()]
            self.named = {"k2": keras.layers.Dense(2), "k1": keras.layers.Dense(3)}
            self._hidden = keras.layers.Dense(5)
            self.fixed = self.add_weight("fixed", shape=(2,), trainable=False)
            self.own = self.add_weight("own", shape=(1,))
            self.mean = keras.metrics.Mean()
            self.variable = tf.Variable([1.0, 2.0])
            self.same = self.zed

        def call(self, x):
            for layer in (self.zed, *self.alpha, self.named["k1"], self.named["k2"], self._hidden):
                x = layer(x)
            return x * self.own + self.fixed[0]

    class Whole(keras.Model):
        def __init__(self):
            super().__init__()
            self.zed = keras.layers.Dense(2)
            self.parts = [keras.layers.Dense(2), keras.layers.Dense(3)]
            self.a = Block()
            self.rest = keras.Sequential([keras.layers.Dense(3)])
            self.average = keras.metrics.Mean()
            self.offset = self.add_weight("offset", shape=(3,))

        def call(self, x):
            for layer in (self.zed, *self.parts, self.a, self.rest):
                x = layer(x)
            return x + self.offset

    model = Whole()
    model(np.ones((2, 4), "float32"))
    return model


@pytest.mark.parametrize("ending", (".weights.h5", ".h5"))
def test_weights_of_subclassed_models(ending):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    models = [blocks(tf, library) for tf, library in BOTH]
    for index, model in enumerate(models):
        model.save_weights(f"{index}{ending}")
    if ending == ".weights.h5":
        assert contents(f"1{ending}") == contents(f"0{ending}")
    models[1].load_weights(f"0{ending}")
    assert_close(np.asarray(models[1](x)), np.asarray(models[0](x)))
    fresh = blocks(*BOTH[0])
    models[1].save_weights(f"2{ending}")
    fresh.load_weights(f"2{ending}")
    assert_close(np.asarray(fresh(x)), np.asarray(models[1](x)))


@keras.saving.register_keras_serializable("test_saving")
class Line(keras.Model):
    def __init__(self, units=2):
        super().__init__()
        self.dense = layers.Dense(units)

    def call(self, inputs):
        return self.dense(inputs)


def test_subclassed_model_in_a_keras_file():
    model = Line(3)
    x = np.ones((2, 4), "float32")
    wanted = model(x)
    model.save("line.keras")
    loaded = keras.models.load_model("line.keras")
    assert isinstance(loaded, Line)
    assert_close(np.asarray(loaded(x)), np.asarray(wanted), 0)
    with pytest.raises(NotImplementedError, match="subclassed"):
        model.save("line.h5")


@each_ending
def test_custom_objects(ending):
    class Twice(layers.Layer):
        def call(self, inputs):
            return inputs * 2.0

    def loss_of_mine(y_true, y_pred):
        return runnel.reduce_mean((y_true - y_pred) ** 2.0)

    model = keras.Sequential([Twice(input_shape=(3,)), layers.Dense(2)])
    model.compile("sgd", loss_of_mine)
    path = f"mine.{ending}"
    model.save(path)
    known = {"Twice": Twice, "loss_of_mine": loss_of_mine}
    loaded = keras.models.load_model(path, custom_objects=known)
    assert isinstance(loaded.layers[0], Twice)
    assert np.isfinite(loaded.train_on_batch(np.ones((2, 3)), np.ones((2, 2))))
    assert not keras.models.load_model(path, {"Twice": Twice}, compile=False)._is_compiled
    error = ValueError if ending == "h5" else TypeError
    with pytest.raises(error, match="custom_objects"):
        keras.models.load_model(path)


@each_ending
def test_losses_metrics_and_schedules_come_back(ending):
    for _, library in BOTH:
        i = library.Input((3,))
        o1, o2 = library.layers.Dense(1, name="o1")(i), library.layers.Dense(1, name="o2")(i)
        model = library.Model(i, [o1, o2])
        rate = library.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
        model.compile(
            library.optimizers.SGD(rate, momentum=0.9),
            loss={"o1": "mse", "o2": library.losses.Huber(delta=0.5)},
            loss_weights={"o1": 0.5, "o2": 2.0},
            metrics={"o1": ["mae"]},
        )
        x, y = np.ones((4, 3), "float32"), [np.ones((4, 1), "float32")] * 2
        for _ in range(3):
            model.train_on_batch(x, y)
        quietly(model.save, f"m.{ending}")
        models = [model, *(each.models.load_model(f"m.{ending}") for _, each in BOTH)]
        for _ in range(2):
            results = [each.train_on_batch(x, y) for each in models]
            assert_close(results[1], results[0])
            assert_close(results[2], results[0])


def test_compile_config():
    configs = []
    for tf, library in BOTH:
        model = sequential(tf, library)
        assert model.get_compile_config() is None
        model.compile(
            library.optimizers.RMSprop(0.02),
            library.losses.Huber(delta=0.5),
            metrics=["mae", library.metrics.MeanSquaredError(name="q")],
            loss_weights=[1.0],
        )
        configs.append(model.get_compile_config())
        fresh = sequential(tf, library)
        fresh.compile_from_config(configs[-1])
        assert float(fresh.optimizer.learning_rate.numpy()) == pytest.approx(0.02)
    for config in configs:
        # Inside a test run the original leaves this one out.
        config["loss"]["config"].pop("fn", None)
    assert configs[1] == configs[0]


def test_by_name():
    source = keras.Sequential(
        [layers.Dense(3, input_shape=(3,), name="a"), layers.Dense(2, name="c")]
    )
    source.save_weights("w.h5")
    other = keras.Sequential(
        [layers.Dense(4, input_shape=(3,), name="z"), layers.Dense(3, name="a", input_shape=(4,))]
    )
    before = other.get_weights()
    with pytest.raises(ValueError, match=r"named a.*\(4, 3\).*\(3, 3\)"):
        other.load_weights("w.h5", by_name=True)
    assert all(map(np.array_equal, before, other.get_weights()))
    other.load_weights("w.h5", by_name=True, skip_mismatch=True)
    fits = keras.Sequential([layers.Dense(3, input_shape=(3,), name="a"), layers.Dense(9)])
    fits.load_weights("w.h5", by_name=True)
    assert_close(fits.get_weights()[0], source.get_weights()[0], 0)


def test_mismatches_name_the_layer_and_leave_the_model_alone():
    source = keras.Sequential([layers.Dense(2, input_shape=(3,), name="q")])
    source.save_weights("w.h5")
    source.save_weights("w.weights.h5")
    wider = keras.Sequential([layers.Dense(5, input_shape=(3,), name="q")])
    for name in ("w.h5", "w.weights.h5"):
        before = wider.get_weights()
        with pytest.raises(ValueError, match=r"q.*\(3, 5\).*\(3, 2\)"):
            wider.load_weights(name)
        assert all(map(np.array_equal, before, wider.get_weights()))
    with pytest.warns(UserWarning, match="Skipping"):
        wider.load_weights("w.weights.h5", skip_mismatch=True)
    with pytest.raises(ValueError, match="by_name"):
        wider.load_weights("w.h5", skip_mismatch=True)
    longer = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(2)])
    with pytest.raises(ValueError, match="expected 2 layers, found 1"):
        longer.load_weights("w.h5")
    bare = keras.Sequential([layers.Dense(2, input_shape=(3,), use_bias=False, name="q")])
    with pytest.raises(ValueError, match="expects 1 weight"):
        bare.load_weights("w.h5")
    with pytest.raises(ValueError, match="expected 1 variables"):
        bare.load_weights("w.weights.h5")


def test_missing_and_foreign_files():
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    for name in ("no.h5", "no.keras", "no"):
        with pytest.raises(OSError, match="No file or directory found"):
            keras.models.load_model(name)
    with pytest.raises(FileNotFoundError):
        model.load_weights("no.h5")
    with open("text.keras", "w") as file:
        file.write("this is no model")
    with pytest.raises(OSError, match="neither"):
        keras.models.load_model("text.keras")
    model.save_weights("w.h5")
    with pytest.raises(ValueError, match="No model config"):
        keras.models.load_model("w.h5")
    os.mkdir("folder")
    with pytest.raises(OSError, match="SavedModel"):
        keras.models.load_model("folder")
    with pytest.raises(ValueError, match=r"\.keras"):
        model.save("m.h5", save_format="keras")
    with pytest.raises(ValueError, match="not supported"):
        model.save("m.keras", signatures=1)
    with pytest.raises(FileNotFoundError):
        model.save("nowhere/m.keras")
    unbuilt = keras.Sequential([layers.Dense(2)])
    with pytest.raises(ValueError, match="not yet been created"):
        unbuilt.save_weights("u.h5")
    with pytest.raises(ValueError, match="Call the Model first"):
        unbuilt.load_weights("w.h5")


@each_ending
def test_an_interrupted_save_keeps_the_old_file(ending, monkeypatch):
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    path = f"m.{ending}"
    model.save(path)
    with open(path, "rb") as file:
        before = file.read()

    def interrupted(self, store=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(layers.Dense, "save_own_variables", interrupted)
    monkeypatch.setattr(
        "runnel.keras.saving.h5_weights.write_values", lambda *args: interrupted(None)
    )
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    with open(path, "rb") as file:
        assert file.read() == before
    assert os.listdir() == [path]


def test_overwrite_asks(monkeypatch):
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.save_weights("w.weights.h5")
    kept = model.get_weights()[0]
    model.set_weights([weight + 1 for weight in model.get_weights()])
    monkeypatch.setattr("builtins.input", lambda text: "n")
    model.save_weights("w.weights.h5", overwrite=False)
    model.load_weights("w.weights.h5")
    assert_close(model.get_weights()[0], kept, 0)


@each_ending
def test_code_in_a_file_is_refused(ending):
    """A Lambda of the original carries bytecode."""
    path = f"lambda.{ending}"
    model = tf_keras.Sequential([tf_keras.layers.Lambda(lambda x: x * 2.0, input_shape=(3,))])
    quietly(model.save, path)
    with pytest.raises(ValueError, match="safe_mode=False"):
        keras.models.load_model(path)
    loaded = keras.models.load_model(path, safe_mode=False)
    assert_close(np.asarray(loaded(np.ones((1, 3), "float32"))), [[2.0, 2.0, 2.0]])
    with keras.saving.SafeModeScope(False):
        assert keras.models.load_model(path).output_shape == (None, 3)


def rewritten(source, target, change):
    """A .keras file with its config changed."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "config.json":
                content = json.dumps(change(json.loads(content)))
            new.writestr(name, content)


def test_configs_cannot_reach_outside():
    """Classes and functions of arbitrary modules, and functions that run code, are refused."""
    model = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Activation("relu")])
    model.save("m.keras")

    def other_class(config):
        config["config"]["layers"][1].update(module="subprocess", class_name="Popen")
        return config

    def other_function(config):
        config["config"]["layers"][2]["config"]["activation"] = {
            "module": "os",
            "class_name": "function",
            "config": "system",
            "registered_name": "function",
        }
        return config

    def lambda_by_name(config):
        config["config"]["layers"][2].update(
            class_name="Lambda",
            config={"name": "l", "function": "system", "function_type": "function", "module": "os"},
        )
        return config

    for change in (other_class, other_function, lambda_by_name):
        rewritten("m.keras", "bad.keras", change)
        with pytest.raises((TypeError, ValueError)):
            keras.models.load_model("bad.keras")


@pytest.mark.parametrize("name", ("../evil.txt", "/etc/evil", "a/../../b", "C:\\evil", "..\\evil"))
def test_paths_that_leave_the_folder_are_refused(name):
    keras.Sequential([layers.Dense(2, input_shape=(3,))]).save("m.keras")
    with zipfile.ZipFile("m.keras", "a") as archive:
        archive.writestr(name, "evil")
    with pytest.raises(ValueError, match="leaves the folder"):
        keras.models.load_model("m.keras")


def test_a_file_without_its_parts():
    with zipfile.ZipFile("m.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(ValueError, match=r"model\.weights\.h5"):
        keras.models.load_model("m.keras")


def test_many_long_names():
    """More names than fit into one attribute."""
    i = x = keras.Input((1,))
    for index in range(60):
        x = layers.Dense(1, name=f"{'long' * 80}_{index}")(x)
    model = keras.Model(i, x)
    model.save_weights("w.h5")
    with h5py.File("w.h5") as file:
        assert "layer_names1" in file.attrs
    wanted = model.get_weights()
    model.set_weights([weight * 0 for weight in wanted])
    model.load_weights("w.h5")
    assert all(map(np.array_equal, wanted, model.get_weights()))
    theirs = tf_keras.models.model_from_json(model.to_json())
    theirs.load_weights("w.h5")
    assert all(map(np.array_equal, wanted, theirs.get_weights()))


def test_ellipsis_in_a_keras_file():
    """The original cannot write this one."""
    i = keras.Input((4, 3))
    model = keras.Model(i, i[..., 1:])
    model.save("m.keras")
    loaded = keras.models.load_model("m.keras")
    x = np.arange(12.0, dtype="float32").reshape(1, 4, 3)
    assert_close(np.asarray(loaded(x)), x[..., 1:], 0)


def test_bfloat16_and_integers():
    class Counter(layers.Layer):
        def build(self, shape):
            self.count = self.add_weight(
                "count", shape=(2,), dtype="int64", trainable=False, initializer="ones"
            )
            self.scale = self.add_weight("scale", shape=(), initializer="ones")

        def call(self, x):
            return x * self.scale

    model = keras.Sequential([Counter(input_shape=(2,))])
    model.layers[0].count.assign([2**40, -1])
    for name in ("m.weights.h5", "m.h5"):
        model.save_weights(name)
        fresh = keras.Sequential([Counter(input_shape=(2,))])
        fresh.load_weights(name)
        assert fresh.layers[0].count.numpy().tolist() == [2**40, -1]
        assert fresh.layers[0].count.numpy().dtype == np.int64

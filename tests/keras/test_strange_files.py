"""Files, JSON and configs of strangers: what a model may hold is data, and never more than data.

Each way that is known to have run code or read files through a model of Keras is tried in every
kind of file that can hold it: CVE-2024-3660 and CVE-2025-9905 (a Lambda layer's code, in HDF5 files
too), CVE-2025-1550 (any function of any module), CVE-2025-8747 (functions of Keras itself, such as
get_file), CVE-2025-9906 (a config that turns safe mode off), CVE-2025-12058 (a vocabulary that is a
file of the machine).
"""

from __future__ import annotations

import base64
import copy
import io
import json
import marshal
import os
import pickle
import stat
import subprocess
import sys
import threading
import types
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from side_by_side import tf_keras

import runnel as tf
from runnel.formats.saved_model_messages import KerasMetadata
from runnel.keras import code_objects, loading_limits
from runnel.keras.layers.op_lambda import computing_function
from runnel.keras.saving.files import DamagedFileError

keras, layers = tf.keras, tf.keras.layers
KINDS = ("keras", "h5", "json", "config", "saved model")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def trusting():
    yield
    code_objects._Everywhere.unsafe = False


def edited(config, change):
    """A config of a Sequential model with its last layer changed."""
    config = copy.deepcopy(config)
    inner = config["config"]
    layer = (inner["layers"] if isinstance(inner, dict) else inner)[-1]
    layer.update(change(layer))
    return config


def load(kind, change, **options):
    """Load a model, saved in some form, with its last layer changed."""
    model = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Activation("relu")])
    if kind == "keras":
        model.save("whole.keras")
        with (
            zipfile.ZipFile("whole.keras") as old,
            zipfile.ZipFile("m.keras", "w") as new,
        ):
            for name in old.namelist():
                content = old.read(name)
                if name == "config.json":
                    content = json.dumps(edited(json.loads(content), change)).encode()
                new.writestr(name, content)
        return keras.models.load_model("m.keras", **options)
    if kind == "h5":
        model.save("m.h5")
        with h5py.File("m.h5", "r+") as file:
            config = json.loads(file.attrs["model_config"])
            file.attrs["model_config"] = json.dumps(edited(config, change))
        return keras.models.load_model("m.h5", **options)
    if kind == "saved model":
        model.save("folder")
        path = Path("folder", "keras_metadata.pb")
        message = KerasMetadata.FromString(path.read_bytes())
        root = json.loads(message.nodes[0].metadata)
        root["config"] = edited(root, change)["config"]
        root["model_config"] = edited(root["model_config"], change)
        message.nodes[0].metadata = json.dumps(root)
        path.write_bytes(message.SerializeToString())
        return keras.models.load_model("folder", **options)
    config = edited(json.loads(model.to_json()), change)
    if kind == "json":
        return keras.models.model_from_json(json.dumps(config), **options)
    return keras.Sequential.from_config(config["config"], **options)


def is_harmless(kind, change, *errors):
    """Whether loading neither ran the stranger's code nor used what it names."""
    try:
        loaded = load(kind, change)
    except (ValueError, TypeError) as error:
        assert not errors or isinstance(error, errors)
        loaded = None
    # A SavedModel has the functions of the model too, which take the place of the layers.
    assert loaded is None or kind == "saved model"
    if loaded is not None:
        loaded(np.zeros((1, 3), "float32"))
    return not Path("mark").exists()


def a_lambda(layer):
    """Python code that is in the file."""
    text = "lambda x: ([c for c in ().__class__.__base__.__subclasses__() if c.__name__ == " \
           "'_wrap_close'][0].__init__.__globals__['open']('mark', 65), x)[1]"  # fmt: skip
    code = marshal.dumps(compile(text, "<file>", "eval").co_consts[0])
    return _lambda([base64.encodebytes(code).decode(), None, None], "lambda", "__main__")


def a_newer_lambda(layer):
    """The same as newer versions of Keras write it."""
    found = a_lambda(layer)
    code = found["config"]["function"]
    found["config"]["function"] = {"class_name": "__lambda__", "config": {"value": code}}
    return found


def _lambda(function, kind, module, **arguments):
    config = {
        "name": "l",
        "function": function,
        "function_type": kind,
        "module": module,
        "output_shape": None,
        "output_shape_type": "raw",
        "output_shape_module": None,
        "arguments": arguments,
    }
    return {"class_name": "Lambda", "module": "keras.layers", "config": config}


def a_function_of_any_module(layer):
    return _lambda("pipepager", "function", "pydoc", cmd="touch mark")


def a_function_of_keras(layer):
    return _lambda("get_file", "function", "keras.utils", origin="file:///etc/hostname")


def an_output_shape(layer):
    """The other functions that a Lambda layer has."""
    found = _lambda("relu", "function", "keras.activations")
    found["config"].update(
        output_shape="system", output_shape_type="function", output_shape_module="os"
    )
    return found


def _activation(config):
    return lambda layer: {"class_name": "Activation", "config": {"name": "a", "activation": config}}


def _object(module, name, config=None):
    return {
        "module": module,
        "class_name": name,
        "config": {} if config is None else config,
        "registered_name": name,
    }


def _layer(module, name, config=None):
    return lambda layer: _object(module, name, config or {"name": "x"})


ATTACKS = {
    "lambda": a_lambda,
    "newer lambda": a_newer_lambda,
    "function of any module": a_function_of_any_module,
    "function of Keras": a_function_of_keras,
    "output shape": an_output_shape,
    "activation by module": _activation(_object("os", "function", "system")),
    "activation as lambda": _activation(
        {"class_name": "__lambda__", "config": {"value": ["4wEAAAA=", None, None]}}
    ),
    "activation as a function of Keras": _activation(
        _object("keras.utils", "function", "get_file")
    ),
    "safe mode off": _activation(
        _object("keras.config", "function", "enable_unsafe_deserialization")
    ),
    "safe mode off by class": _layer("keras.saving", "enable_unsafe_deserialization"),
    "class of any module": _layer("subprocess", "Popen", {"args": ["touch", "mark"]}),
    "function as a class": _layer("keras.utils", "get_file", {"origin": "file:///etc/hostname"}),
    "class that Keras imports": _layer("keras.saving.keras_zip", "zipfile.ZipFile"),
    "relative module": _layer("keras...os", "system"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_in_every_kind_of_file(kind, attack):
    assert is_harmless(kind, ATTACKS[attack])
    assert code_objects.in_safe_mode() is None


def test_code_runs_for_those_who_trust_it(trusting):
    for kind in ("keras", "h5"):
        load(kind, a_lambda, safe_mode=False)(np.zeros((1, 3), "float32"))
        assert Path("mark").exists()
        os.remove("mark")
    with keras.saving.SafeModeScope(False):
        load("json", a_lambda)
    assert Path("mark").exists()
    os.remove("mark")
    # Also in a thread that has loaded something before, as in the original.
    assert is_harmless("json", a_lambda)
    keras.saving.enable_unsafe_deserialization()
    load("json", a_lambda)
    load("keras", a_lambda)
    thread = threading.Thread(target=load, args=("h5", a_lambda))
    os.remove("mark")
    thread.start()
    thread.join()
    assert Path("mark").exists()


def test_the_original_refuses_with_the_same_classes():
    """The classes of errors for code without a word about safe mode."""
    for change in (a_lambda, a_function_of_any_module):
        model = tf_keras.Sequential(
            [tf_keras.layers.Dense(2, input_shape=(3,)), tf_keras.layers.Activation("relu")]
        )
        text = json.dumps(edited(json.loads(model.to_json()), change))
        with pytest.raises((ValueError, TypeError)) as theirs:
            tf_keras.models.model_from_json(text)
        with pytest.raises((ValueError, TypeError)) as ours:
            load("json", change)
        if change is a_lambda:
            assert (ours.type, theirs.type) == (ValueError, ValueError)
            assert str(theirs.value)[:200] == str(ours.value)[:200]


# What is in this process already may be used again.


def doubled(x):
    return 2 * x


@pytest.mark.parametrize(
    "function", (doubled, lambda x: 2 * x, tf.square), ids=("function", "lambda", "tf.square")
)
def test_live_configs_keep_their_functions(function):
    layer = layers.Lambda(function, name="l")
    assert layers.Lambda.from_config(layer.get_config()).function is function
    config = copy.deepcopy(layer.get_config())
    assert layers.Lambda.from_config(config)(3.0) == function(tf.constant(3.0))
    i = keras.Input((3,))
    functional = keras.Model(i, layer(i))
    sequential = keras.Sequential([layers.Lambda(function, input_shape=(3,))])
    for model in (functional, sequential, keras.Sequential([functional, sequential])):
        x = np.ones((1, 3), "float32")
        copied = keras.models.clone_model(model)
        made = type(model).from_config(model.get_config())
        assert np.array_equal(copied(x), model(x)) and np.array_equal(made(x), model(x))
        with pytest.raises(ValueError, match=r"safe_mode=False"):
            keras.models.model_from_json(model.to_json())
        if getattr(function, "__module__", "") == __name__:
            names = {"doubled": doubled}
            if function is doubled:
                text = model.to_json()
                assert np.array_equal(keras.models.model_from_json(text, names)(x), model(x))
    for plain in (json.loads(json.dumps(config)), pickle.loads(pickle.dumps(config))):
        with pytest.raises(ValueError, match=r"safe_mode=False"):
            layers.Lambda.from_config(plain)


# Classes of the user.


def module_with(monkeypatch, **members):
    module = types.ModuleType("module_of_the_user")
    for name, member in members.items():
        if isinstance(member, type):
            member.__module__ = module.__name__
        setattr(module, name, member)
    monkeypatch.setitem(sys.modules, module.__name__, module)


def test_classes_of_imported_modules(monkeypatch):
    class Kept(layers.Layer):
        def call(self, x):
            return x

    class Whole(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.dense = layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    class Other:
        @classmethod
        def from_config(cls, config):
            Path("mark").touch()

    module_with(monkeypatch, Kept=Kept, Whole=Whole, Other=Other, call=subprocess.call)
    model = Whole()
    x = np.ones((1, 3), "float32")
    wanted = model(x)
    model.save("m.keras")
    assert np.array_equal(keras.models.load_model("m.keras")(x), wanted)
    assert load("keras", _layer("module_of_the_user", "Kept"))(x).shape == (1, 2)
    for name in ("Other", "call"):
        with pytest.raises(TypeError, match=r"is no layer, model.*register_keras_serializable"):
            load("keras", _layer("module_of_the_user", name))
    with pytest.raises(TypeError, match="not imported"):
        load("keras", _layer("module_of_nobody", "Kept"))
    assert not Path("mark").exists()


# Functions of TensorFlow that are layers.


def op_lambda(function, first, rest, class_name="TFOpLambda"):
    """A model that calls a function on what its file says."""
    i = keras.Input((3,), name="i")
    config = json.loads(keras.Model(i, tf.math.add(i, 1.0)).to_json())
    layer = config["config"]["layers"][1]
    layer["class_name"] = layer["registered_name"] = class_name
    layer["config"]["function"] = function
    layer["inbound_nodes"] = [["_CONSTANT_VALUE", -1, first, rest]]
    return keras.models.model_from_json(json.dumps(config))


FUNCTIONS = (
    *("io.write_file", "io.read_file", "io.matching_files", "io.gfile.remove", "io.gfile.rmtree"),
    *("io.decode_proto", "compat.v1.io.write_file", "compat.v1.io.gfile.remove", "py_function"),
    *("numpy_function", "print", "keras.utils.get_file", "keras.models.load_model", "os.system"),
    *("saved_model.load", "train.load_checkpoint", "data.TextLineDataset", "load_op_library"),
    *("raw_ops.WriteFile", "math.np.load", "keras.activations.tf.io.write_file", "__doc__"),
    *("random.fixed_unigram_candidate_sampler", "debugging.Assert", "summary.create_file_writer"),
    *("random.set_seed", "random.set_global_generator", "random.experimental.create_rng_state"),
    *("io.write_graph", "io", "", ".", "math..add", "io.TFRecordWriter", "ops.io.write_file"),
)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("class_name", ("TFOpLambda", "SlicingOpLambda"))
def test_functions_on_files_and_processes_are_no_layers(function, class_name):
    Path("secret").write_text("secret")
    assert computing_function(function) is None
    for rest in ({"contents": "x"}, {"y": ["i", 0, 0]}, {"origin": "file:///x"}, {}):
        with pytest.raises(ValueError, match="could not be found"):
            op_lambda(function, "secret", rest, class_name)
    assert Path("secret").read_text() == "secret"
    assert sorted(os.listdir()) == ["secret"]


def test_members_of_tensors_that_are_no_layers():
    for class_name, config in (
        ("InstanceMethod", {"attr_name": "__reduce__"}),
        ("InstanceProperty", {"attr_name": "__class__"}),
        ("ClassMethod", {"cls_symbol": "io.gfile.GFile", "method_name": "from_x"}),
        ("ClassMethod", {"cls_symbol": "RaggedTensor", "method_name": "__init_subclass__"}),
    ):
        i = keras.Input((3,), name="i")
        text = json.loads(keras.Model(i, tf.math.add(i, 1.0)).to_json())
        layer = text["config"]["layers"][1]
        layer.update(class_name=class_name, registered_name=class_name)
        layer["config"] = {"name": "x", **config}
        layer["inbound_nodes"] = [["i", 0, 0, {"args": [], "kwargs": {}}]]
        if class_name == "InstanceProperty":
            layer["inbound_nodes"] = [["i", 0, 0, {}]]
        with pytest.raises(ValueError, match=r"may use are|models may not"):
            keras.models.model_from_json(json.dumps(text))


def test_no_function_that_models_may_name_opens_a_file():
    """All that the rules let through, called with names of files in every place."""
    program = f"""
import inspect, sys, warnings
warnings.simplefilter("ignore")
import runnel as tf
from runnel.keras.layers.op_lambda import _COMPUTING, computing_function
found = []
path = {str(Path("canary").absolute())!r}
active = False
def watch(event, arguments):
    if active and event in ("open", "os.remove", "os.listdir", "os.scandir", "os.mkdir"):
        if "canary" in str(arguments[0]):
            found.append((name, event))
    if active and event in ("os.system", "subprocess.Popen", "socket.connect", "exec"):
        found.append((name, event)) if event != "exec" or "canary" in str(arguments) else None
sys.addaudithook(watch)
count = 0
for space in ("", "io", *sorted(_COMPUTING)):
    home = getattr(tf, space) if space else tf
    for last in dir(home):
        name = f"{{space}}.{{last}}".strip(".")
        function = computing_function(name)
        if function is None:
            continue
        count += 1
        parameters = [p for p in inspect.signature(function).parameters.values()
                      if p.kind is p.POSITIONAL_OR_KEYWORD]
        for given in ([path] * len(parameters), [[path]] * len(parameters), [path], [path, path]):
            try:
                active = True
                function(*given)
            except Exception:
                pass
            finally:
                active = False
print(count, found)
"""
    Path("canary").write_text("canary")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    count, _, found = done.stdout.strip().partition(" ")
    assert found == "[]" and int(count) > 500, done.stdout + done.stderr


def test_calls_on_constants_alone_are_refused():
    with pytest.raises(ValueError, match="on constants alone"):
        op_lambda("zeros", [10], {})


def _functional(layer, calls):
    """A functional model of an input and one more layer."""
    inputs = {"class_name": "InputLayer", "name": "i", "inbound_nodes": []}
    inputs["config"] = {"batch_input_shape": [None, 3], "dtype": "float32", "name": "i"}
    name = layer["config"]["name"]
    config = {"name": f"{name}_", "input_layers": [["i", 0, 0]]}
    config["layers"] = [inputs, {**layer, "name": name, "inbound_nodes": calls}]
    first = 1 if layer["class_name"] == "Functional" else 0
    config["output_layers"] = [[name, first + len(calls) - 1, 0]]
    return {"class_name": "Functional", "config": config}


def test_other_layers_on_constants_alone_are_refused_as_well():
    zeros = {"class_name": "TFOpLambda", "config": {"name": "z", "function": "zeros"}}
    hidden = {"class_name": "Sequential", "config": {"name": "s", "layers": [zeros]}}
    config = _functional(hidden, [["_CONSTANT_VALUE", -1, [100_000, 100_000], {}]])
    with pytest.raises(ValueError, match="Sequential in the layer 's' on constants alone"):
        keras.models.model_from_json(json.dumps(config))


def test_models_in_models_do_not_multiply_without_end(monkeypatch):
    monkeypatch.setattr(loading_limits, "MOST_CALLS", 500)

    def nested(depth):
        model = _functional(
            {"class_name": "Dense", "config": {"name": "d", "units": 3}}, [[["i", 0, 0, {}]]]
        )
        for _ in range(depth):
            name = model["config"]["name"]
            model = _functional(model, [[["i", 0, 0, {}]], [[name, 1, 0, {}]]])
        return model

    assert keras.models.model_from_json(json.dumps(nested(3))).output_shape == (None, 3)
    for load_json in (keras.models.model_from_json, lambda t: keras.Model.from_config(
        json.loads(t)["config"])):  # fmt: skip
        with pytest.raises(ValueError, match="so often that more than 500 calls"):
            load_json(json.dumps(nested(40)))
    with keras.saving.SafeModeScope(False):
        assert keras.models.model_from_json(json.dumps(nested(3))).output_shape == (None, 3)


# Files that a config names.


@pytest.mark.parametrize("kind", ("keras", "h5", "json", "config"))
@pytest.mark.parametrize("name", ("StringLookup", "IntegerLookup", "TextVectorization"))
def test_vocabularies_in_files_of_the_machine_are_refused(kind, name):
    secret = Path("secret").absolute()
    secret.write_text("1\n2\n")

    def change(layer):
        return _object("keras.layers", name, {"name": "w", "vocabulary": str(secret)})

    with pytest.raises(ValueError, match=r"outside of the model.*safe_mode=False"):
        load(kind, change)
    cls = getattr(layers, name)
    with pytest.raises(ValueError, match="outside of the model"):
        cls.from_config({"name": "w", "vocabulary": str(secret)})
    with keras.saving.SafeModeScope(False):
        made = cls.from_config({"name": "w", "vocabulary": str(secret)})
    assert [str(each) for each in made.get_vocabulary()][-2:] == ["1", "2"]


@pytest.mark.parametrize("name", ("StringLookup", "TextVectorization"))
def test_a_saved_model_has_the_words_of_its_vocabulary_file(name):
    path = str(Path("words").absolute())
    Path(path).write_text("b\na\n")
    words = keras.Input((1,), dtype=tf.string)
    layer = getattr(layers, name)(vocabulary=path)
    assert layer.get_config()["vocabulary"] == path
    model = keras.Model(words, layer(words))
    x = tf.constant([["a"], ["b"], ["c"]])
    copied = keras.models.clone_model(model)
    model.save("m.keras")
    model.save("m.h5")
    text = model.to_json()
    os.remove(path)
    loaded = [keras.models.load_model("m.keras"), keras.models.load_model("m.h5")]
    for each in (copied, *loaded, keras.models.model_from_json(text)):
        assert np.array_equal(each(x), model(x))
    theirs = tf_keras.models.load_model("m.keras")
    assert np.array_equal(theirs.predict(x.numpy(), verbose=0), np.asarray(model(x)))


# The archive.


def archive(change):
    """A .keras file with its parts changed."""
    keras.Sequential([layers.Dense(2, input_shape=(3,))]).save("whole.keras")
    with zipfile.ZipFile("whole.keras") as old:
        parts = [(zipfile.ZipInfo(name), old.read(name)) for name in old.namelist()]
    with zipfile.ZipFile("m.keras", "w", zipfile.ZIP_DEFLATED) as new:
        for info, content in change(parts):
            new.writestr(info, content)
    return "m.keras"


def _more(name, mode=None):
    info = zipfile.ZipInfo(name)
    if mode is not None:
        info.external_attr = mode << 16
    return lambda parts: [*parts, (info, b"x")]


@pytest.mark.parametrize(
    ("change", "words"),
    (
        (_more("../evil"), "leaves the folder"),
        (_more("/etc/evil"), "leaves the folder"),
        (_more("assets/link", stat.S_IFLNK | 0o777), "symbolic link"),
        (_more("config.json"), "several parts"),
    ),
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_are_none_of_keras(change, words):
    path = archive(change)
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    for read in (keras.models.load_model, model.load_weights):
        with pytest.raises(DamagedFileError, match=words) as error:
            read(path)
        assert path in str(error.value)


def test_parts_that_unpack_to_much_are_refused():
    def padded(name, size):
        def change(parts):
            for info, content in parts:
                info.compress_type = zipfile.ZIP_DEFLATED
                yield info, content + b" " * size * (info.filename == name)

        return change

    small = archive(padded("config.json", 1 << 20))
    assert keras.models.load_model(small).count_params() == 8
    for name, size in (("config.json", 200 << 20), ("model.weights.h5", 400 << 20)):
        path = archive(padded(name, size))
        with pytest.raises(DamagedFileError, match=f"{name}.*safe_mode=False"):
            keras.models.load_model(path)


def test_many_parts_that_unpack_to_much_are_refused():
    def change(parts):
        yield from parts
        for number in range(4):
            info = zipfile.ZipInfo(f"assets/layers/dense/{number}")
            info.compress_type = zipfile.ZIP_DEFLATED
            yield info, b" " * (60 << 20)

    path = archive(change)
    with pytest.raises(DamagedFileError, match=r"assets.*safe_mode=False"):
        keras.models.load_model(path)
    assert keras.models.load_model(path, safe_mode=False).count_params() == 8


def test_the_checksums_of_an_archive_are_checked():
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.save("m.keras")
    whole = Path("m.keras").read_bytes()
    at = whole.index(model.get_weights()[0].tobytes())
    Path("m.keras").write_bytes(whole[: at + 5] + b"?" + whole[at + 6 :])
    for read in (keras.models.load_model, model.load_weights):
        with pytest.raises(DamagedFileError, match=r"m\.keras.*CRC"):
            read("m.keras")


# Sizes.


@pytest.mark.parametrize("kind", ("keras", "h5", "saved model"))
def test_a_config_gets_no_more_memory_than_the_weights_in_its_file(kind):
    def large(layer):
        return _object("keras.layers", "Dense", {"name": "d", "units": 2**33})

    if kind == "saved model":
        assert load(kind, large) is not None
        return
    with pytest.raises(ValueError, match=r"wants a weight of shape \(2, 8589934592\)"):
        load(kind, large)


@pytest.mark.parametrize("kind", ("keras", "h5", "saved model"))
@pytest.mark.parametrize(
    ("name", "config"),
    (
        ("AUC", {"num_thresholds": 2**40}),
        ("PrecisionAtRecall", {"recall": 0.5, "num_thresholds": 2**40}),
        ("MeanIoU", {"num_classes": 2**20}),
    ),
)
def test_metrics_get_no_more_memory_than_the_weights_in_the_file(kind, name, config):
    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=[keras.metrics.AUC(num_thresholds=3)])

    def changed(value):
        if isinstance(value, dict):
            if value.get("class_name") == "AUC":
                return {**value, "class_name": name, "config": config}
            return {key: changed(each) for key, each in value.items()}
        return [changed(each) for each in value] if isinstance(value, list) else value

    def edit(text):
        assert '"AUC"' in text
        return json.dumps(changed(json.loads(text)))

    path = {"keras": "m.keras", "h5": "m.h5", "saved model": "m"}[kind]
    model.save(path)
    if kind == "keras":
        with zipfile.ZipFile(path) as archive:
            parts = {each: archive.read(each) for each in archive.namelist()}
        parts["config.json"] = edit(parts["config.json"].decode()).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for each, content in parts.items():
                archive.writestr(each, content)
    elif kind == "h5":
        with h5py.File(path, "r+") as file:
            file.attrs["training_config"] = edit(file.attrs["training_config"])
    else:
        place = Path(path, "keras_metadata.pb")
        metadata = KerasMetadata.FromString(place.read_bytes())
        metadata.nodes[0].metadata = edit(metadata.nodes[0].metadata)
        place.write_bytes(metadata.SerializeToString())
    with pytest.raises(ValueError, match="the weights in the file have"):
        keras.models.load_model(path)


@pytest.mark.parametrize(
    ("attack", "words"),
    (
        ({"class_name": "TimeDistributed"}, "a loop"),
        ({"class_name": "StringLookup", "vocabulary": ["a"], "num_oov_indices": 2**40}, "tokens"),
        ({"class_name": "TextVectorization", "ngrams": 2**40, "vocabulary": ["a"]}, "n-grams"),
    ),
)
@pytest.mark.parametrize("kind", ("keras", "h5"))
def test_other_numbers_that_would_use_up_memory(kind, attack, words):
    def change(layer):
        config = {"name": "x", **attack}
        kind = config.pop("class_name")
        if kind != "TimeDistributed":
            return _object("keras.layers", kind, config)
        # A loop of Python, since the size of the batches is known and the layer is the user's.
        config["layer"] = _object(None, "Own", {"name": "o"})
        rnn = _object("keras.layers", kind, config)
        repeated = _object("keras.layers", "RepeatVector", {"name": "r", "n": 2**31 - 1})
        repeated["config"]["batch_input_shape"] = [4, 2]
        return _object("keras", "Sequential", {"name": "inner", "layers": [repeated, rnn]})

    class Own(layers.Layer):
        def call(self, x):
            return x

    with (
        keras.utils.custom_object_scope({"Own": Own}),
        pytest.raises(ValueError, match=f"wants {words}"),
    ):
        load(kind, change)


@pytest.mark.parametrize("config", [5, [], {"loss": 5}, {"optimizer_config": []}])
@pytest.mark.parametrize("known", [True, False])
def test_a_senseless_training_config_of_a_folder(config, known):
    keras.Sequential([layers.Dense(2, input_shape=(3,))]).save("m", save_format="tf")
    place = Path("m", "keras_metadata.pb")
    metadata = KerasMetadata.FromString(place.read_bytes())
    root = json.loads(metadata.nodes[0].metadata)
    root["training_config"] = config
    if not known:
        root["class_name"] = root["model_config"]["class_name"] = "Unknown"
    metadata.nodes[0].metadata = json.dumps(root)
    place.write_bytes(metadata.SerializeToString())
    with pytest.raises((ValueError, TypeError, OSError)):
        keras.models.load_model("m")


def test_deep_and_senseless_json():
    for text in ("[" * 100_000, '{"class_name": 3, "config": {}}', '{"a": [', "3"):
        with pytest.raises(ValueError):
            keras.models.model_from_json(text)


def test_a_long_chain_of_layers_in_the_wrong_order():
    """Each layer waits for the next one; they are not all looked at again for each of them."""
    i = x = keras.Input((2,))
    for _ in range(300):
        x = layers.ReLU()(x)
    config = json.loads(keras.Model(i, x).to_json())
    config["config"]["layers"][1:] = config["config"]["layers"][:0:-1]
    model = keras.models.model_from_json(json.dumps(config))
    assert np.asarray(model(np.array([[-1.0, 2.0]], "float32"))).tolist() == [[0, 2]]


# Damage.


@pytest.mark.parametrize("name", ("m.keras", "m.h5", "m.weights.h5"))
def test_damaged_files_give_one_kind_of_error(name):
    model = keras.Sequential([layers.Dense(3, input_shape=(4,))])
    weights = model.get_weights()
    (model.save_weights if "weights" in name else model.save)(name)
    whole = Path(name).read_bytes()
    chance = np.random.default_rng(0)
    read = model.load_weights if "weights" in name else keras.models.load_model
    noticed = 0
    for _ in range(150):
        broken = bytearray(whole)
        for at in chance.integers(0, len(whole), 3):
            broken[at] = chance.choice([0, 255, 1, 128])
        Path(name).write_bytes(broken[: chance.integers(1, len(whole))] if at % 3 else broken)
        try:
            loaded = read(name) or model
        except DamagedFileError as error:
            assert name in str(error)
            assert isinstance(error, OSError) and isinstance(error, ValueError)
            noticed += 1
        else:
            assert all(map(np.array_equal, loaded.get_weights(), weights))
    assert noticed > 120


@pytest.mark.parametrize("name", ("m.h5", "m.weights.h5"))
def test_every_flipped_bit_is_noticed_or_harmless(name):
    """The config, the names, scalars and empty arrays are behind the checksum as well."""
    model = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.BatchNormalization()])
    model.compile("adam", "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    (model.save_weights if "weights" in name else model.save)(name)
    whole = Path(name).read_bytes()
    read = model.load_weights if "weights" in name else keras.models.load_model
    for at in range(0, len(whole) - 24, 97):
        Path(name).write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(DamagedFileError, match=r"checksum|neither|not an HDF5"):
            read(name)


def test_the_original_reads_files_with_checksums_and_changes_them():
    model = keras.Sequential(
        [layers.Dense(2, input_shape=(3,)), layers.BatchNormalization(name="bn")]
    )
    model.compile("adam", "mse")
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    for name in ("m.h5", "m.weights.h5"):
        (model.save_weights if "weights" in name else model.save)(name)
    theirs = tf_keras.models.load_model("m.h5")
    assert all(map(np.array_equal, theirs.get_weights(), model.get_weights()))
    theirs.load_weights("m.weights.h5")
    assert all(map(np.array_equal, theirs.get_weights(), model.get_weights()))
    theirs.set_weights([each + 1 for each in model.get_weights()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.save("m.h5")
    loaded = keras.models.load_model("m.h5")
    assert all(map(np.array_equal, loaded.get_weights(), theirs.get_weights()))
    with h5py.File("m.h5", "r+") as file:
        file["model_weights/bn/bn/gamma:0"][...] = 5
    assert keras.models.load_model("m.h5").layers[1].gamma.numpy().tolist() == [5, 5]


def test_errors_of_the_users_own_classes_stay():
    @keras.saving.register_keras_serializable("strange")
    class Failing(layers.Layer):
        def build(self, shape):
            self.made = self.add_weight(shape=(2,))

        def call(self, x):
            return x

        @classmethod
        def from_config(cls, config):
            raise KeyError("of the user")

    keras.Sequential([layers.Dense(2, input_shape=(3,)), Failing()]).save("m.keras")
    with pytest.raises(KeyError, match="of the user"):
        keras.models.load_model("m.keras")


def test_an_array_in_a_config_does_not_say_how_large_its_elements_are():
    config = {"class_name": "__numpy__", "config": {"value": ["a"], "dtype": "U2000000000"}}
    assert keras.saving.deserialize_keras_object(config).nbytes < 100


def test_pickled_arrays_in_archives_are_not_unpickled():
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], object), allow_pickle=True)
    Path("m.keras").write_bytes(buffer.getvalue())
    with pytest.raises(DamagedFileError, match="neither"):
        keras.models.load_model("m.keras")

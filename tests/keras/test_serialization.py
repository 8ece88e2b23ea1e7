"""Registration, configs and loading, against the original."""

from __future__ import annotations

import collections
import functools
import json
import threading
import warnings

import numpy as np
import pytest
from side_by_side import compare, compare_failure, tf_keras

import runnel as tf
from runnel.keras import code_objects, object_registration, serialization
from runnel.keras.serialization import Registry, names_of


class Saving:
    """What `keras.saving` and `keras.utils.legacy` offer, on either side."""

    def __init__(self, keras):
        if keras is tf.keras:
            self.serialize = serialization.serialize_keras_object
            self.deserialize = serialization.deserialize_keras_object
            self.legacy_serialize = serialization.legacy_serialize_keras_object
            self.legacy_deserialize = serialization.legacy_deserialize_keras_object
            self.register = object_registration.register_keras_serializable
            self.scope = object_registration.custom_object_scope
            self.custom_objects = object_registration.get_custom_objects
            self.name_of = object_registration.get_registered_name
            self.object_of = object_registration.get_registered_object
        else:
            self.serialize = keras.saving.serialize_keras_object
            self.deserialize = keras.saving.deserialize_keras_object
            self.legacy_serialize = keras.utils.legacy.serialize_keras_object
            self.legacy_deserialize = keras.utils.legacy.deserialize_keras_object
            self.register = keras.saving.register_keras_serializable
            self.scope = keras.saving.custom_object_scope
            self.custom_objects = keras.saving.get_custom_objects
            self.name_of = keras.saving.get_registered_name
            self.object_of = keras.saving.get_registered_object


class Box:
    def __init__(self, content=1):
        self.content = content

    def get_config(self):
        return {"content": self.content}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Registered(Box):
    pass


class Bare:
    pass


def increment(x):
    return x + 1


def registered_increment(x):
    return x + 1


@pytest.fixture(autouse=True)
def _registered():
    for keras in (tf.keras, tf_keras):
        Saving(keras).register("shop", "Crate")(Registered)
        Saving(keras).register("shop")(registered_increment)


PLAIN = {
    "none": None,
    "number": 3,
    "float": 2.5,
    "bool": True,
    "string": "s",
    "bytes": b"ab",
    "list": [1, [2, "x"]],
    "tuple": (1, (2, [3])),
    "dict": {"a": (1,), "b": {"c": None}},
    "ordered": collections.OrderedDict(a=1),
    "numpy float": np.float32(3),
    "numpy int": np.int64(4),
    "numpy bool": np.bool_(True),
    "array": np.arange(6.0).reshape(2, 3),
    "integers": np.arange(3),
    "scalar array": np.array(3.0),
    "object": Box(2),
    "registered": Registered((1, 2)),
    "nested": [Box([1]), {"b": Registered()}],
    "function": increment,
    "registered function": registered_increment,
}


@pytest.mark.parametrize("name", PLAIN)
def test_configs_of_values(name):
    compare(lambda tf, keras: Saving(keras).serialize(PLAIN[name]))


def test_configs_of_tensors_and_types():
    compare(lambda tf, keras: Saving(keras).serialize(tf.constant([1.0, 2.0])))
    compare(lambda tf, keras: Saving(keras).serialize(tf.constant(3)))
    compare(lambda tf, keras: Saving(keras).serialize(tf.float32))
    compare(lambda tf, keras: Saving(keras).serialize(tf.TensorShape([1, None])))
    compare(lambda tf, keras: Saving(keras).serialize(tf.TensorShape(None)))
    compare(lambda tf, keras: Saving(keras).serialize(tf.TensorSpec([1, None], tf.int32, "n")))


ROUND_TRIPS = [name for name in PLAIN if name not in ("object", "nested", "function")]


@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_values_return_through_json(name):
    def round_trip(tf, keras):
        saving = Saving(keras)
        value = saving.deserialize(json.loads(json.dumps(saving.serialize(PLAIN[name]))))
        return value.content if isinstance(value, Box) else value

    compare(round_trip)


def test_tensors_and_types_return():
    def round_trip(tf, keras):
        saving = Saving(keras)
        spec = tf.TensorSpec([1, None], tf.int32, "n")
        values = [tf.constant([1.0, 2.0]), tf.constant(3, tf.int64)]
        assert saving.deserialize(saving.serialize(spec)) == spec
        return [saving.deserialize(saving.serialize(value)) for value in values]

    compare(round_trip)


def test_objects_with_a_build_and_a_compile_config():
    class Model(Box):
        def get_build_config(self):
            return {"input_shape": (None, 3)}

        def build_from_config(self, config):
            self.built = config

        def get_compile_config(self):
            return {"loss": "mse"}

        def compile_from_config(self, config):
            self.compiled = config

    def round_trip(tf, keras):
        saving = Saving(keras)
        config = saving.serialize(Model())
        model = saving.deserialize(config, {"Model": Model})
        return config, model.built, model.compiled

    compare(round_trip)


def test_legacy_configs():
    for value in (None, Box(2), Registered(), increment, registered_increment, Box):
        compare(lambda tf, keras: Saving(keras).legacy_serialize(value))
    compare_failure(lambda tf, keras: Saving(keras).legacy_serialize(Bare()))
    compare_failure(lambda tf, keras: Saving(keras).legacy_serialize(3))


def test_legacy_deserialization():
    config = {"class_name": "Box", "config": {"content": 4}}
    known = {"Box": Box, "increment": increment}

    def content(function):
        return lambda tf, keras: function(Saving(keras).legacy_deserialize).content

    compare(content(lambda f: f(config, module_objects=known)))
    compare(content(lambda f: f(config, custom_objects=known)))
    compare(content(lambda f: f("Box", known)))
    compare(content(lambda f: f({"class_name": "shop>Crate", "config": {"content": 5}})))
    compare(lambda tf, keras: Saving(keras).legacy_deserialize("increment", known)(1))
    compare(lambda tf, keras: Saving(keras).legacy_deserialize("shop>registered_increment")(1))
    compare(lambda tf, keras: Saving(keras).legacy_deserialize(increment)(1))
    compare(lambda tf, keras: Saving(keras).legacy_deserialize(None))
    plain = {"class_name": "make", "config": {"a": 2}}
    compare(lambda tf, keras: Saving(keras).legacy_deserialize(plain, {"make": lambda a: a * 10}))
    for bad in (3, [1], "Bix", {"class_name": "Box"}, {"class_name": "Crate", "config": {}}):
        compare_failure(lambda tf, keras: Saving(keras).legacy_deserialize(bad, known, None, "box"))


def test_registration():
    def names(tf, keras):
        saving = Saving(keras)
        assert saving.object_of("shop>Crate") is Registered
        assert saving.custom_objects()["shop>Crate"] is Registered
        assert saving.object_of("Crate") is None
        assert saving.object_of("b", {"b": Box}) is Box
        assert saving.object_of("b", None, {"b": Box}) is Box
        saving.custom_objects()["box"] = Box
        assert saving.object_of("box", {"box": Bare}, {"box": Bare}) is Box
        del saving.custom_objects()["box"]
        decorated = saving.register()(Box)
        assert decorated is Box
        found = saving.name_of(Box)
        assert saving.custom_objects().pop(found) is Box
        return [saving.name_of(Registered), saving.name_of(registered_increment), found]

    compare(names)
    object_registration._names.pop(Box)
    compare_failure(lambda tf, keras: Saving(keras).register("shop")(Bare), message="get_config")
    compare_failure(lambda tf, keras: Saving(keras).name_of(3))


def test_scopes_nest_and_end():
    def scopes(tf, keras):
        saving = Saving(keras)
        seen = []
        with saving.scope({"it": Box}):
            with saving.scope({"it": Registered}, {"more": increment}):
                seen += [saving.object_of("it").__name__, saving.object_of("more").__name__]
                assert "it" not in saving.custom_objects()
            seen += [saving.object_of("it").__name__, saving.object_of("more")]
            with pytest.raises(ZeroDivisionError), saving.scope({"it": None}):
                1 / 0  # noqa: B018
            seen.append(saving.object_of("it").__name__)
        return [*seen, saving.object_of("it")]

    compare(scopes)


def test_scopes_belong_to_their_thread():
    found = []
    with object_registration.custom_object_scope({"it": Box}):
        thread = threading.Thread(
            target=lambda: found.append(object_registration.get_registered_object("it"))
        )
        thread.start()
        thread.join()
    assert found == [None]


def test_classes_of_keras_are_found_under_all_its_names():
    names = ("keras", "keras.src", "tf_keras", "tf_keras.src", "tensorflow.keras")
    for package in names:
        config = {
            "module": f"{package}.initializers", "class_name": "Constant", "config": {"value": 3},
            "registered_name": None,
        }  # fmt: skip
        made = serialization.deserialize_keras_object(config)
        assert isinstance(made, tf.keras.initializers.Constant)
        assert made.value == 3
    config["module"] = "tf_keras.src.initializers.initializers"
    assert isinstance(
        serialization.deserialize_keras_object(config), tf.keras.initializers.Constant
    )


def test_objects_of_keras_have_the_addresses_of_the_original():
    def addresses(tf, keras):
        inputs = keras.Input((3,))
        objects = [
            keras.layers.Dense(2),
            keras.Sequential(),
            keras.Model(inputs, keras.layers.Dense(2)(inputs)),
            keras.losses.MeanSquaredError(),
            keras.metrics.AUC(),
            keras.optimizers.SGD(),
            keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.1),
            keras.mixed_precision.Policy("float32"),
            keras.losses.mean_squared_error,
            keras.activations.relu,
        ]
        configs = [Saving(keras).serialize(each) for each in objects]
        return [[c["module"], c["class_name"], c["registered_name"]] for c in configs]

    compare(addresses)


def test_functions_of_keras_are_found_by_name():
    for home, name in (("losses", "mean_squared_error"), ("activations", "relu")):
        function = getattr(getattr(tf.keras, home), name)
        config = serialization.serialize_keras_object(function)
        assert serialization.deserialize_keras_object(config) is function


def test_models_return():
    inputs = tf.keras.Input((3,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(2, activation="relu")(inputs))
    for each in (model, tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])):
        config = json.loads(json.dumps(serialization.serialize_keras_object(each)))
        again = serialization.deserialize_keras_object(config)
        assert type(again) is type(each)
        assert again(tf.ones((1, 3))).shape == (1, 2)


def test_what_cannot_be_serialized():
    for value in (slice(1, 2), Ellipsis, 1 + 2j, {1, 2}, Bare(), functools.partial(increment, 1)):
        compare_failure(lambda tf, keras: Saving(keras).serialize(value))
    compare_failure(lambda tf, keras: Saving(keras).serialize(b"\xff"))
    compare_failure(lambda tf, keras: Saving(keras).serialize(Box))


def _config(module, class_name, config=None, registered_name=None):
    return {
        "module": module, "class_name": class_name, "config": config or {},
        "registered_name": registered_name,
    }  # fmt: skip


BAD_CONFIGS = {
    "unknown class": _config("keras.initializers", "Zerros"),
    "unknown module": _config("nowhere.to.be.found", "Box", {}, "Box"),
    "unknown function": _config("builtins", "function", "incremant"),
    "not a class": _config("os", "system"),
    "wrong argument": _config("keras.initializers", "RandomNormal", {"meann": 3}),
    "no module": {"class_name": "Zeros", "config": {}},
    "set": {1, 2},
}


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_bad_configs(name):
    compare_failure(lambda tf, keras: Saving(keras).deserialize(BAD_CONFIGS[name]))


def test_unknown_arguments_are_refused():
    compare_failure(lambda tf, keras: Saving(keras).deserialize(3, unknown=1), message="unknown")


def test_a_file_cannot_choose_what_code_runs(tmp_path, monkeypatch):
    (tmp_path / "planted.py").write_text(
        "class Box:\n    def from_config(config):\n        return 'planted'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    deserialize = serialization.deserialize_keras_object
    with pytest.raises(TypeError, match=r"planted is not imported.*safe_mode=False"):
        deserialize(_config("planted", "Box"))
    assert deserialize(_config("planted", "Box"), safe_mode=False) == "planted"
    for module, name in (("os", "system"), ("builtins", "exec"), ("keras.utils", "get_file")):
        with pytest.raises(TypeError, match=f"Could not locate function '{name}'"):
            deserialize(_config(module, "function", name))


def _lambda_config(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return serialization.serialize_keras_object(function)


def test_lambdas_are_loaded_on_request_only():
    outside = 10
    config = json.loads(json.dumps(_lambda_config(lambda x, y=3: x + y + outside)))
    with pytest.warns(UserWarning, match="lambda"):
        serialization.serialize_keras_object(lambda x: x)
    with pytest.raises(ValueError, match="safe_mode=False"):
        serialization.deserialize_keras_object(config)
    function = serialization.deserialize_keras_object(config, safe_mode=False)
    assert (function(1), function(1, 1)) == (14, 12)
    uses_tf = serialization.deserialize_keras_object(
        _lambda_config(lambda x: tf.add(x, 1)), safe_mode=False
    )
    assert int(uses_tf(2)) == 3
    with code_objects.safe_mode_scope(False):
        assert serialization.deserialize_keras_object(config)(1) == 14
    assert code_objects.in_safe_mode() is None


def test_lambdas_are_written_as_the_original_writes_them():
    function = lambda x, y=3: x * y  # noqa: E731

    def config(tf, keras):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Saving(keras).serialize(function)

    compare(config)


def make(a=2):
    return a


fruit = Registry("fruit", lambda: names_of(Box, Registered, increment, crate=Registered))


def test_registry():
    assert isinstance(fruit.get("box"), Box)
    assert isinstance(fruit.get("Box"), Box)
    assert isinstance(fruit.get("crate"), Registered)
    assert fruit.get("increment") is increment
    assert fruit.get(increment) is increment
    assert fruit.get(None) is None
    assert fruit.get(fruit.serialize(Registered(4))).content == 4
    assert fruit.get(fruit.serialize(Registered(4), use_legacy_format=True)).content == 4
    assert fruit.deserialize("make", {"make": make}) is make
    with object_registration.custom_object_scope({"box": make}):
        assert fruit.get("box") is make
    with pytest.raises(ValueError, match=r"Unknown fruit: 'bix'. Did you mean 'box'\?"):
        fruit.get("bix")
    with pytest.raises(ValueError, match="Known are Box, Registered, increment"):
        fruit.get("zzzz")
    with pytest.raises(ValueError, match="Could not interpret fruit identifier: 3"):
        fruit.get(3)

"""What saving and loading refuse, keep and report; without the original."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import runnel as tf
from runnel.formats.saved_model_messages import SavedModel
from runnel.program import main
from runnel.saved_model import folders, saving


class Line(tf.Module):
    def __init__(self, slope=2.0):
        super().__init__()
        self.slope = tf.Variable(slope, name="slope")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return x * self.slope


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    tf.saved_model.save(Line(), path)
    return path


def value_of(path):
    return tf.saved_model.load(path)(tf.constant([1.0])).numpy().item()


# Saving.


def test_only_objects_with_parts_can_be_saved(tmp_path):
    for thing in (3, [tf.Variable(1.0)], {"a": tf.Variable(1.0)}, None):
        with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
            tf.saved_model.save(thing, tmp_path / "x")
    tf.saved_model.save(tf.train.Checkpoint(v=tf.Variable(4.0)), tmp_path / "x")
    assert tf.saved_model.load(tmp_path / "x").v.numpy() == 4.0


def test_variables_must_be_reachable(tmp_path):
    outside = tf.Variable(1.0)
    module = tf.Module()
    module.f = tf.function(lambda x: x + outside, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(KeyError, match="not reachable from root"):
        tf.saved_model.save(module, tmp_path / "x")
    assert os.listdir(tmp_path) == []
    module.outside = outside
    tf.saved_model.save(module, tmp_path / "x")


def test_not_inside_of_functions(tmp_path):
    @tf.function
    def save():
        tf.saved_model.save(Line(), tmp_path / "x")

    with pytest.raises(AssertionError, match="not supported inside a traced"):
        save()


def test_what_can_be_a_signature(tmp_path):
    module = Line()
    module.untyped = tf.function(lambda x: x)
    spec = [tf.TensorSpec([], tf.float32)]
    for function in (module.untyped, lambda x: x, 3):
        with pytest.raises(ValueError, match="Expected a TensorFlow function"):
            tf.saved_model.save(module, tmp_path / "x", signatures=function)
    for result in (lambda x: [x, {"a": x}], lambda x: None):
        module.bad = tf.function(result, input_signature=spec)
        with pytest.raises(ValueError, match="Got a non-Tensor value"):
            tf.saved_model.save(module, tmp_path / "x", signatures=module.bad)
    concrete = module.untyped.get_concrete_function(tf.TensorSpec([2], tf.int32, name="n"))
    tf.saved_model.save(module, tmp_path / "x", signatures={"one": concrete, "two": concrete})
    signatures = tf.saved_model.load(tmp_path / "x").signatures
    assert sorted(signatures) == ["one", "two"]
    assert signatures["two"](n=tf.constant([1, 2]))["output_0"].numpy().tolist() == [1, 2]
    with pytest.raises(KeyError):
        signatures["three"]


def test_the_only_typed_function_is_the_default_signature(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([], tf.int32)])
    module.g = tf.function(lambda x: x)
    tf.saved_model.save(module, tmp_path / "one")
    module.h = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.int32)])
    tf.saved_model.save(module, tmp_path / "two")
    assert list(tf.saved_model.load(tmp_path / "one").signatures) == ["serving_default"]
    assert list(tf.saved_model.load(tmp_path / "two").signatures) == []


def test_traces_for_objects_are_left_out(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x, thing: x)
    module.f(tf.constant(1.0), object())
    module.f(tf.constant(1.0), "mode")
    tf.saved_model.save(module, tmp_path / "x")
    loaded = tf.saved_model.load(tmp_path / "x")
    assert len(loaded.f.concrete_functions) == 1
    assert loaded.f(tf.constant(3.0), "mode").numpy() == 3.0


def test_functions_that_were_differentiated(tmp_path):
    class Power(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def __call__(self, n):
            x = tf.constant(1.0)
            for i in tf.range(n):
                if i % 2 == 0:
                    x = x * self.v
                else:
                    x = x * self.v * self.v
            return x

    module = Power()
    with tf.GradientTape() as tape:
        y = module(tf.constant(3))
    assert tape.gradient(y, module.v).numpy() == 4 * 2.0**3
    tf.saved_model.save(module, tmp_path / "x")
    loaded = tf.saved_model.load(tmp_path / "x")
    with tf.GradientTape() as tape:
        y = loaded(tf.constant(3))
    assert y.numpy() == 16.0
    assert tape.gradient(y, loaded.v).numpy() == 4 * 2.0**3


def test_tables_that_change(tmp_path):
    module = tf.Module()
    module.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    module.table.insert(["a", "b"], [1, 2])
    module.dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, 0, -1)
    module.dense.insert([5], [0.5])
    spec = [tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)]

    @tf.function(input_signature=spec)
    def find(words, numbers):
        return module.table.lookup(words), module.dense.lookup(numbers)

    module.find = find
    tf.saved_model.save(module, tmp_path / "x")
    words, numbers = tf.constant(["b", "c"]), tf.constant([5, 6], tf.int64)
    found = tf.saved_model.load(tmp_path / "x").find(words, numbers)
    assert found[0].numpy().tolist() == [2, -1]
    assert found[1].numpy().tolist() == [0.5, -1.0]


def test_assets_of_one_name(tmp_path):
    module = tf.Module()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "words.txt").write_text(name)
    module.one = tf.saved_model.Asset(str(tmp_path / "one" / "words.txt"))
    module.two = tf.saved_model.Asset(tmp_path / "two" / "words.txt")
    module.read = tf.function(
        lambda: [tf.io.read_file(each.asset_path) for each in (module.one, module.two)],
        input_signature=[],
    )
    tf.saved_model.save(module, tmp_path / "x")
    shutil.rmtree(tmp_path / "one")
    shutil.rmtree(tmp_path / "two")
    os.rename(tmp_path / "x", tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert [each.numpy() for each in loaded.read()] == [b"one", b"two"]


# Folders.


@pytest.mark.parametrize(
    "step", ["write_bundle", "fingerprint_of", "flush_tree", "_change_places", "_keep_others"]
)
def test_a_failure_leaves_the_old_model(folder, monkeypatch, step):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders if hasattr(folders, step) else saving, step, fail)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left"):
        tf.saved_model.save(Line(3.0), folder)
    assert value_of(folder) == 2.0
    assert os.listdir(folder.parent) == ["model"]
    monkeypatch.undo()
    tf.saved_model.save(Line(3.0), folder)
    assert value_of(folder) == 3.0
    assert os.listdir(folder.parent) == ["model"]


@pytest.mark.parametrize("exchange", [2, 1 << 20], ids=["at once", "by moving files"])
def test_files_of_others_stay(folder, monkeypatch, exchange):
    monkeypatch.setattr(folders, "_EXCHANGE", exchange)
    (folder / "notes.txt").write_text("mine")
    (folder / "assets.extra" / "deep").mkdir(parents=True)
    (folder / "assets.extra" / "deep" / "words").write_text("mine too")
    (folder / "link").symlink_to("notes.txt")
    os.chmod(folder / "assets.extra", 0o750)
    with open(folder / "notes.txt", "a") as held:
        tf.saved_model.save(Line(3.0), folder)
        # It is the same file, not a copy.
        held.write(" still")
    assert value_of(folder) == 3.0
    assert (folder / "notes.txt").read_text() == (folder / "link").read_text() == "mine still"
    assert (folder / "assets.extra" / "deep" / "words").read_text() == "mine too"
    assert (folder / "assets.extra").stat().st_mode & 0o777 == 0o750
    assert sorted(os.listdir(folder)) == [
        "assets", "assets.extra", "fingerprint.pb", "link", "notes.txt", "saved_model.pb",
        "variables",
    ]  # fmt: skip
    assert os.listdir(folder.parent) == ["model"]


def test_a_folder_that_somebody_works_in(folder, monkeypatch):
    (folder / "notes.txt").write_text("mine")
    monkeypatch.chdir(folder)
    inode = folder.stat().st_ino
    tf.saved_model.save(Line(3.0), ".")
    assert folder.stat().st_ino == inode
    assert value_of(folder) == 3.0
    assert sorted(os.listdir(".")) == [
        "assets", "fingerprint.pb", "notes.txt", "saved_model.pb", "variables",
    ]  # fmt: skip


@pytest.mark.parametrize("moved", range(5))
def test_what_was_committed_is_completed(folder, tmp_path, moved):
    tf.saved_model.save(Line(3.0), tmp_path / "new")
    os.rename(tmp_path / "new", folder / folders.COMMITTED)
    for name in sorted(os.listdir(folder / folders.COMMITTED))[:moved]:
        if not os.path.isdir(folder / name):
            os.replace(folder / folders.COMMITTED / name, folder / name)
    assert value_of(folder) == 3.0
    assert sorted(os.listdir(folder)) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(tf.errors.FailedPreconditionError, match="There is a file"):
        tf.saved_model.save(Line(), tmp_path / "x")
    assert (tmp_path / "x").read_text() == "mine"


# Loading.


def test_what_is_no_saved_model(tmp_path, folder):
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.load(tmp_path)
    assert not tf.saved_model.contains_saved_model(tmp_path)
    assert tf.saved_model.contains_saved_model(folder)
    data = (folder / "saved_model.pb").read_bytes()
    (folder / "saved_model.pb").write_bytes(data[: len(data) // 2])
    with pytest.raises(OSError, match="Cannot parse file"):
        tf.saved_model.load(folder)


def test_tags(folder, tmp_path):
    for tags in ("serve", ["serve"], {"serve"}, None):
        tf.saved_model.load(folder, tags=tags)
    with pytest.raises(ValueError, match="incompatible argument to `tags`"):
        tf.saved_model.load(folder, tags=["serve", "gpu"])
    options = tf.saved_model.SaveOptions(extra_tags=["small"])
    tf.saved_model.save(Line(), tmp_path / "x", options=options)
    assert tf.saved_model.load(tmp_path / "x", tags=["small", "serve"]) is not None


def test_calls_choose_among_the_traces(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x, scale=2.0: x * scale)
    module.f(tf.constant([1.0, 2.0]))
    module.f(tf.constant(1.0), 3.0)
    tf.saved_model.save(module, tmp_path / "x")
    loaded = tf.saved_model.load(tmp_path / "x")
    assert loaded.f(1.0, 3.0).numpy() == 3.0
    assert loaded.f([1.0, 5.0]).numpy().tolist() == [2.0, 10.0]
    with pytest.raises(ValueError) as caught:
        loaded.f(tf.constant([1, 2]))
    message = str(caught.value)
    assert "Could not find matching concrete function to call loaded from the SavedModel" in message
    assert "following 2 option(s)" in message
    assert "Option 2:\n  Positional arguments (2 total):" in message
    assert "* TensorSpec(shape=(), dtype=tf.float32, name='x')\n    * 3.0" in message
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        loaded.f()
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'y'"):
        loaded.f(tf.constant([1.0, 2.0]), y=1)
    with pytest.raises(AttributeError):
        _ = loaded.nothing
    with pytest.raises(TypeError, match="not callable"):
        loaded()


def test_a_function_that_was_never_called(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    tf.saved_model.save(module, tmp_path / "x")
    with pytest.raises(ValueError, match="it was never called before"):
        tf.saved_model.load(tmp_path / "x").f(1.0)


def changed(folder, change):
    """Write the message of a SavedModel back after a change to its graph."""
    path = folder / "saved_model.pb"
    saved = SavedModel.FromString(path.read_bytes())
    change(saved.meta_graphs[0])
    path.write_bytes(saved.SerializeToString())


def test_missing_ops_are_named_all_at_once(folder):
    def change(graph):
        nodes = [n for f in graph.graph_def.library.function for n in f.node_def if n.op == "Mul"]
        nodes[0].op, nodes[1].op = "NoSuchOp", "AnotherOne"

    changed(folder, change)
    with pytest.raises(tf.errors.NotFoundError, match="'AnotherOne', 'NoSuchOp'"):
        tf.saved_model.load(folder)


def test_values_may_be_left_out(folder):
    shutil.rmtree(folder / "variables")
    with pytest.raises(tf.errors.NotFoundError):
        tf.saved_model.load(folder)
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    assert tf.saved_model.load(folder, options=options).slope.numpy() == 0.0


def test_loaded_objects_train_and_are_checkpointed(folder, tmp_path):
    loaded = tf.saved_model.load(folder)
    optimizer = tf.keras.optimizers.SGD(0.1)
    for _ in range(200):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((loaded(tf.constant([1.0, 2.0])) - [5.0, 10.0]) ** 2)
        variables = [loaded.slope]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    assert abs(loaded.slope.numpy() - 5.0) < 1e-3
    path = tf.train.Checkpoint(loaded).save(tmp_path / "ckpt")
    again = tf.saved_model.load(folder)
    tf.train.Checkpoint(again).restore(path).assert_consumed()
    assert again.slope.numpy() == loaded.slope.numpy()


def test_loaded_functions_inside_of_functions(folder):
    loaded = tf.saved_model.load(folder)

    @tf.function
    def twice(x):
        return loaded(loaded(x))

    assert twice(tf.constant([3.0])).numpy().tolist() == [12.0]


def test_fingerprints(folder):
    read = tf.saved_model.experimental.read_fingerprint
    first = read(folder)
    assert first.singleprint().count("/") == 3
    assert str(first).startswith("SavedModel Fingerprint\n  saved_model_checksum: ")
    assert first == tf.saved_model.experimental.Fingerprint.from_proto(
        (folder / "fingerprint.pb").read_bytes()
    )
    tf.saved_model.save(Line(9.0), folder)
    assert read(folder) != first
    with pytest.raises(FileNotFoundError, match="Could not find fingerprint"):
        read(folder / "assets")


# Keras.


def test_models_of_unknown_classes_train_on(tmp_path):
    class Own(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1, activity_regularizer="l2")

        def call(self, inputs, training=False):
            return self.dense(inputs) + (1.0 if training else 0.0)

    model = Own()
    model.compile("sgd", "mse")
    features = np.linspace(0, 1, 12, dtype=np.float32).reshape(4, 3)
    model.fit(features, features[:, :1], verbose=0)
    model.save(tmp_path / "x")
    revived = tf.keras.models.load_model(tmp_path / "x")
    assert type(revived).__name__ == "Own"
    assert type(revived) is not Own
    np.testing.assert_allclose(revived.predict(features, verbose=0), model(features), rtol=1e-6)
    np.testing.assert_allclose(revived(features, training=True), model(features) + 1, rtol=1e-6)
    loss = revived.evaluate(features, features[:, :1], verbose=0)
    assert loss == pytest.approx(model.evaluate(features, features[:, :1], verbose=0), rel=1e-5)
    before = revived.get_weights()[0].copy()
    revived.fit(features, features[:, :1], verbose=0)
    assert not np.array_equal(before, revived.get_weights()[0])
    known = tf.keras.models.load_model(tmp_path / "x", custom_objects={"Own": Own})
    assert type(known) is Own
    np.testing.assert_array_equal(known(features), model(features))


def test_the_state_of_training_comes_back(tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile(tf.keras.optimizers.Adam(0.25), "mse", metrics=["mae"])
    data = np.ones((4, 3), np.float32), np.ones((4, 2), np.float32)
    model.fit(*data, verbose=0)
    model.save(tmp_path / "x", save_format="tf")
    again = tf.keras.models.load_model(tmp_path / "x")
    assert again.optimizer.iterations.numpy() == 1
    assert again.optimizer.learning_rate.numpy() == 0.25
    model.fit(*data, verbose=0)
    again.fit(*data, verbose=0)
    for one, other in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    model.save(tmp_path / "y", include_optimizer=False)
    plain = tf.keras.models.load_model(tmp_path / "y")
    assert plain.optimizer is None
    assert not hasattr(tf.saved_model.load(tmp_path / "y"), "optimizer")


def test_models_without_inputs_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="the input shape is not available"):
        tf.keras.Sequential([tf.keras.layers.Dense(2)]).save(tmp_path / "x")
    with pytest.raises(ValueError, match="Unknown `save_format`"):
        tf.keras.Sequential([tf.keras.layers.Dense(2)]).save(tmp_path / "x", save_format="zip")
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.keras.models.load_model(tmp_path)


# The command.


def test_the_command_shows_a_model(folder, capsys):
    assert main(["saved_model", "show", str(folder)]) == 0
    assert capsys.readouterr().out == (
        "The given SavedModel contains the following tag-sets:\n'serve'\n"
    )
    assert main(["saved_model", "show", str(folder), "--tag_set", "serve"]) == 0
    assert 'SignatureDef key: "serving_default"' in capsys.readouterr().out
    arguments = ["--tag_set", "serve", "--signature_def", "serving_default"]
    assert main(["saved_model", "show", str(folder), *arguments]) == 0
    assert "inputs['x'] tensor_info:\n      dtype: DT_FLOAT\n" in capsys.readouterr().out
    assert main(["saved_model", "show", str(folder), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "Function Name: '__call__'" in shown
    assert "x: TensorSpec(shape=(None,), dtype=tf.float32, name='x')" in shown
    assert main(["saved_model", "show", str(folder), "--tag_set", "other"]) == 2
    assert "could not be found" in capsys.readouterr().err
    assert main(["saved_model", "show", str(folder / "none")]) == 2

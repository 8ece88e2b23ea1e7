"""What users expect of saving beyond the values: names, folders, formats and crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import runnel as tf
from runnel.formats import tensor_bundle
from runnel.saved_model.reading import read_saved_model


def network():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    return model


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
@pytest.mark.parametrize("kind", ["alone", "others", "moving"])
def test_a_killed_program_leaves_a_whole_saved_model(tmp_path, kind):
    script = Path(__file__).with_name("killing_exports.py")
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path), os.environ.get("RUNNEL_KILLS", "40"), kind],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(tf.__file__).parent.parent)},
    )
    assert run.returncode == 0, run.stderr
    # Some victims were in the middle of writing, or the test says nothing.
    assert int(run.stdout) > 0


def test_weights_out_of_a_saved_model(tmp_path):
    model, other = network(), network()
    model.save(tmp_path / "folder")
    other.load_weights(tmp_path / "folder").assert_existing_objects_matched()
    for wanted, found in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_checkpoint_beside_a_folder_of_its_name(tmp_path):
    model, other = network(), network()
    (tmp_path / "weights").mkdir()
    model.save_weights(tmp_path / "weights")
    other.load_weights(tmp_path / "weights").assert_consumed()
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    (tmp_path / "plain").mkdir()
    with pytest.raises(IsADirectoryError, match="plain"):
        other.load_weights(tmp_path / "plain")


@pytest.mark.parametrize("name", ["model.h5", "model.hdf5", "model.keras"])
def test_the_ending_of_a_file_has_the_last_word(name, tmp_path):
    network().save(tmp_path / name, save_format="tf")
    assert (tmp_path / name).read_bytes()[:4] == b"\x89HDF"
    assert tf.keras.models.load_model(tmp_path / name).output_shape == (None, 2)


@pytest.mark.parametrize(
    ("name", "weights_only"),
    [("{epoch}.keras", False), ("{epoch}.h5", False), ("{epoch}.weights.h5", True),
     ("{epoch}.h5", True)],
)  # fmt: skip
def test_model_checkpoint_makes_its_folder(name, weights_only, tmp_path):
    path = str(tmp_path / "new" / "{epoch:02d}" / name)
    callback = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=weights_only)
    network().fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0, callbacks=[callback])
    assert (tmp_path / "new" / "01" / name.format(epoch=1)).is_file()


def test_what_a_saved_model_says_of_itself(tmp_path):
    module = tf.Module()
    spec = tf.TensorSpec([], tf.float32)
    module.f = tf.function(lambda x: x + 1.0, input_signature=[spec], autograph=False)
    options = tf.saved_model.SaveOptions(function_aliases={"plus": module.f})
    tf.saved_model.save(module, tmp_path / "model", options=options)
    info = read_saved_model(tmp_path / "model").meta_graphs[0].meta_info_def
    (name,) = info.function_aliases
    assert info.function_aliases[name] == "plus"
    assert (
        name
        in read_saved_model(tmp_path / "model").meta_graphs[0].object_graph_def.concrete_functions
    )
    loaded = tf.saved_model.load(tmp_path / "model")
    assert loaded.tensorflow_version == tf.__version__
    assert loaded.tensorflow_git_version == info.tensorflow_git_version


def test_a_checkpoint_restores_from_a_saved_model(tmp_path):
    saved, module = tf.Module(), tf.Module()
    saved.v, module.v = tf.Variable(3.0), tf.Variable(0.0)
    tf.saved_model.save(saved, tmp_path / "model")
    checkpoint = tf.train.Checkpoint(module)
    checkpoint.restore(tmp_path / "model").expect_partial()
    assert module.v.numpy() == 3.0
    with pytest.raises(tf.errors.DataLossError, match="Is a directory"):
        checkpoint.read(tmp_path / "model")


def test_a_replacement_interrupted_twice(tmp_path, monkeypatch):
    prefix = str(tmp_path / "same")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    checkpoint.write(prefix)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    for value, module, name in ((2.0, os, "link"), (3.0, tensor_bundle, "flush_folder")):
        checkpoint.v.assign(value)
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(module, name, interrupted)
            checkpoint.write(prefix)
        assert tf.train.load_variable(prefix, "v/.ATTRIBUTES/VARIABLE_VALUE") == 2.0
    checkpoint.write(prefix)
    assert tf.train.load_variable(prefix, "v/.ATTRIBUTES/VARIABLE_VALUE") == 3.0
    assert sorted(os.listdir(tmp_path)) == ["same.data-00000-of-00001", "same.index"]

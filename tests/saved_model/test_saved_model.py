"""SavedModels written by one library and loaded by the other."""

from __future__ import annotations

import os

import keras_zoo
import modules
import numpy as np
import pytest
import raw_functions

import runnel as tf


def assert_same(wanted, got):
    """Equal structures of equal arrays."""
    if isinstance(wanted, dict):
        assert isinstance(got, dict), got
        assert wanted.keys() == got.keys()
        for key in wanted:
            assert_same(wanted[key], got[key])
    elif isinstance(wanted, list):
        assert isinstance(got, list), got
        assert len(wanted) == len(got)
        for one, other in zip(wanted, got, strict=True):
            assert_same(one, other)
    elif wanted is None or isinstance(wanted, str | bytes | bool):
        assert wanted == got
    else:
        one, other = np.asarray(wanted), np.asarray(got)
        assert one.dtype == other.dtype, (wanted, got)
        assert one.shape == other.shape
        if one.dtype.kind in "fc":
            np.testing.assert_allclose(other, one, rtol=2e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("name", modules.MODULES)
def test_written_here_is_loaded_there(exchange, name):
    _, ours, theirs = exchange
    assert_same(ours["modules"][name], theirs["ours"][name])


@pytest.mark.parametrize("name", modules.MODULES)
def test_written_there_is_loaded_here(exchange, name):
    folder, _, theirs = exchange
    loaded = tf.saved_model.load(os.path.join(folder, "theirs", name))
    assert_same(theirs["theirs"][name], modules.answers(tf, name, loaded))


@pytest.mark.parametrize("name", modules.MODULES)
def test_loaded_and_saved_again(exchange, name, tmp_path):
    folder, _, theirs = exchange
    loaded = tf.saved_model.load(os.path.join(folder, "theirs", name))
    # Functions may have been differentiated before.
    modules.answers(tf, name, loaded)
    loaded = tf.saved_model.load(os.path.join(folder, "theirs", name))
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    assert_same(theirs["theirs"][name], modules.answers(tf, name, again))


@pytest.mark.parametrize("name", modules.SIGNATURES)
def test_signatures(exchange, name):
    folder, _, theirs = exchange
    for side in ("ours", "theirs"):
        loaded = tf.saved_model.load(os.path.join(folder, side, name))
        assert set(modules.SIGNATURES[name]) == set(loaded.signatures)
        found = modules.signature_answers(tf, name, loaded)
        assert_same(theirs["signatures"][name], found)


def test_sessions_restore_and_save(exchange):
    _, _, theirs = exchange
    found, variables = theirs["session"]["simple"]
    assert_same({"y": np.float32([9, 18])}, found)
    assert variables == {
        "v/.ATTRIBUTES/VARIABLE_VALUE": [2],
        "frozen/.ATTRIBUTES/VARIABLE_VALUE": [],
        "_CHECKPOINTABLE_OBJECT_GRAPH": [],
    }
    found, _ = theirs["session"]["assets"]
    assert_same({"output_0": np.int64([1, -1]), "output_1": np.float32([-1, 1])}, found)


def test_the_tool_of_the_original_shows_ours(exchange):
    _, _, theirs = exchange
    text = theirs["shown"]
    assert "signature_def['serving_default']:" in text
    assert "inputs['x'] tensor_info:\n        dtype: DT_FLOAT\n        shape: (-1)" in text
    assert "Function Name: 'f'" in text
    assert "x: TensorSpec(shape=(2,), dtype=tf.float32, name='x')" in text


@pytest.mark.parametrize("name", keras_zoo.INPUTS)
@pytest.mark.parametrize("way", ["plain", "keras"])
def test_keras_models_written_here(exchange, name, way):
    _, ours, theirs = exchange
    found = theirs["ours_keras"][way, name]
    assert not isinstance(found, str), found
    assert_same(ours["keras"][name]["outputs"], found["outputs"])
    assert_same(ours["keras"][name]["gradients"], found["gradients"])
    if way == "plain":
        assert found["signatures"] == ["serving_default"]
    elif name != "subclassed":
        assert found["class"] in ("Sequential", "Functional")


@pytest.mark.parametrize("name", keras_zoo.INPUTS)
def test_keras_models_written_there(exchange, name):
    folder, _, theirs = exchange
    path = os.path.join(folder, "theirs", f"keras_{name}")
    wanted = theirs["keras"][name]
    loaded = tf.saved_model.load(path)
    assert_same(wanted["outputs"], keras_zoo.outputs(tf, loaded, name))
    assert_same(wanted["gradients"], keras_zoo.gradients(tf, loaded, name))
    model = tf.keras.models.load_model(path, custom_objects={"Summary": keras_zoo.subclass(tf)})
    assert_same(wanted["outputs"], keras_zoo.outputs(tf, model, name))
    assert_same(wanted["gradients"], keras_zoo.gradients(tf, model, name))
    if wanted["weights"] is not None:
        assert_same(wanted["weights"], model.get_weights())


def test_ops_without_a_kernel_are_put_together(exchange):
    folder, _, theirs = exchange
    loaded = tf.saved_model.load(os.path.join(folder, "theirs", "raw_ops"))
    given = tf.constant(raw_functions.NUMBERS)
    for name, wanted in theirs["raw_ops"].items():
        assert_same(wanted, modules.arrays(getattr(loaded, name)(given)))


def test_exported_by_keras_3(exchange):
    folder, _, theirs = exchange
    loaded = tf.saved_model.load(os.path.join(folder, "theirs", "version_3"))
    wanted = theirs["version_3"]
    np.testing.assert_allclose(loaded.serve(keras_zoo.FEATURES), wanted, rtol=1e-5, atol=1e-6)
    served = loaded.signatures["serving_default"](tf.constant(keras_zoo.FEATURES))
    np.testing.assert_allclose(served["output_0"], wanted, rtol=1e-5, atol=1e-6)

"""SavedModels of sessions, written by one library and loaded by both."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import runnel

LIBRARIES = {"runnel": runnel, "tensorflow": tensorflow}


def written(tf, folder, resources=True, main_op=False):
    """A line with a slope of 5 and an offset of 6, neither of them what it was initialized with."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        more = {} if resources else {"use_resource": False}
        v = v1.get_variable("a/v", initializer=[1.0, 2.0], **more)
        step = v1.get_variable("step", initializer=7, trainable=False, **more)
        y = tf.add(x * v[0], v[1], name="y")
        session.run(v1.global_variables_initializer())
        session.run(v.assign([5.0, 6.0]))
        if not main_op:
            v1.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
            return
        builder = v1.saved_model.Builder(folder)
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            session, ["one", "two"], {"line": signature}, main_op=step.assign(9).op
        )
        builder.add_meta_graph(["more"])
        assert builder.save() == f"{folder}/saved_model.pb".encode()


def read(tf, folder, tags, scope=None):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        meta_graph = v1.saved_model.loader.load(session, tags, folder, import_scope=scope)
        (signature,) = meta_graph.signature_def.values()
        tensors = [
            v1.saved_model.utils.get_tensor_from_tensor_info(each, import_scope=scope)
            for each in (signature.inputs["x"], signature.outputs["y"])
        ]
        y = session.run(tensors[1], {tensors[0]: [1.0, 3.0]})
        values = {each.name: session.run(each).tolist() for each in v1.global_variables()}
        return y.tolist(), values, [each.name for each in v1.trainable_variables()]


@pytest.mark.parametrize(
    ("writer", "reader"),
    [("runnel", "runnel"), ("runnel", "tensorflow"), ("tensorflow", "runnel")],
)
def test_a_session_goes_on_elsewhere(writer, reader, tmp_path):
    writer, reader = LIBRARIES[writer], LIBRARIES[reader]
    written(writer, str(tmp_path / "simple"))
    values = {"a/v:0": [5.0, 6.0], "step:0": 7}
    assert read(reader, str(tmp_path / "simple"), ["serve"]) == ([11.0, 21.0], values, ["a/v:0"])
    written(writer, str(tmp_path / "built"), main_op=True)
    found = read(reader, str(tmp_path / "built"), ["two", "one"], "scope")
    assert found == ([11.0, 21.0], {"scope/a/v:0": [5.0, 6.0], "scope/step:0": 9}, ["scope/a/v:0"])


def test_variables_from_before_there_were_resources(tmp_path):
    written(tensorflow, str(tmp_path / "old"), resources=False)
    values = {"a/v:0": [5.0, 6.0], "step:0": 7}
    assert read(runnel, str(tmp_path / "old"), ["serve"]) == ([11.0, 21.0], values, ["a/v:0"])


def line(tf, v):
    spec = tf.TensorSpec([None], tf.float32, name="x")
    return tf.function(lambda x: {"y": x * v[0] + v[1]}, input_signature=[spec], autograph=False)


def test_objects_of_version_2_in_sessions(tmp_path):
    for name, tf in LIBRARIES.items():
        module = tf.Module()
        module.v = v = tf.Variable([5.0, 6.0])
        module.f = line(tf, v)
        tf.saved_model.save(module, str(tmp_path / name), signatures={"f": module.f})
        v1 = runnel.compat.v1
        with runnel.Graph().as_default(), v1.Session() as session:
            meta_graph = v1.saved_model.load(session, ["serve"], str(tmp_path / name))
            signature = meta_graph.signature_def["f"]
            y = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1.0, 3.0]})
            np.testing.assert_array_equal(y, [11.0, 21.0])


@pytest.mark.parametrize("tf", LIBRARIES.values(), ids=LIBRARIES)
def test_wrong_uses_of_savers(tf, tmp_path):
    model = tf.compat.v1.saved_model
    folder = str(tmp_path / "model")
    written(tf, folder)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with pytest.raises(RuntimeError, match=r"tags 'other' could not be found.*\{'serve'\}"):
            model.load(session, ["other"], folder)
        with pytest.raises(OSError, match="SavedModel file does not exist at"):
            model.load(session, ["serve"], str(tmp_path))
        with pytest.raises(ValueError, match="Prediction `inputs` cannot be None or empty"):
            model.simple_save(session, str(tmp_path / "new"), {}, {})
        with pytest.raises(AssertionError, match="already exists, and isn't empty"):
            model.Builder(folder)
        builder = model.Builder(str(tmp_path / "empty"))
        with pytest.raises(AssertionError, match="has not been saved yet"):
            builder.add_meta_graph(["serve"])
    with pytest.raises(RuntimeError, match="not supported in eager execution"):
        model.build_tensor_info(tf.constant(1.0))

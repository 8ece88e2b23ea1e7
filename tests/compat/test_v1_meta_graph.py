"""Meta graphs: what one library writes, the other imports, restores, uses and trains on."""

import numpy as np
import pytest
import tensorflow

import runnel

LIBRARIES = {"tensorflow": tensorflow, "runnel": runnel}
POINTS = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]], np.float32)
TARGETS = np.array([[1.0], [0.0]], np.float32)
OPTIMIZERS = {
    "descent": lambda v1: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda v1: v1.train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda v1: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda v1: v1.train.AdamOptimizer(0.01),
    "adagrad": lambda v1: v1.train.AdagradOptimizer(0.1),
    "rmsprop": lambda v1: v1.train.RMSPropOptimizer(0.01),
    "ftrl": lambda v1: v1.train.FtrlOptimizer(0.1),
    "adadelta": lambda v1: v1.train.AdadeltaOptimizer(0.1),
}


def build(tf, optimizer, use_resource):
    v1 = tf.compat.v1
    x = v1.placeholder(tf.float32, [None, 3], name="x")
    y = v1.placeholder(tf.float32, [None, 1], name="y")
    with v1.variable_scope("layer", use_resource=use_resource):
        w = v1.get_variable("w", initializer=tf.constant([[0.1], [0.2], [0.3]]))
        b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
    steps = v1.train.get_or_create_global_step()
    prediction = tf.add(tf.matmul(x, w), b, name="prediction")
    loss = tf.reduce_mean(tf.square(prediction - y), name="loss")
    train = OPTIMIZERS[optimizer](v1).minimize(loss, global_step=steps, name="train")
    v1.add_to_collection("train_op", train)
    v1.add_to_collection("ends", prediction)
    v1.add_to_collection("ends", loss)
    v1.add_to_collection("words", "hello")
    v1.add_to_collection("counts", 3)
    v1.add_to_collection("rates", 2.5)
    v1.add_to_collection("updates", train)


def trained(tf, folder, optimizer, use_resource, steps=3):
    """Train a model and save it; the checkpoint and the prediction."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        build(tf, optimizer, use_resource)
        session.run(v1.global_variables_initializer())
        feeds = {"x:0": POINTS, "y:0": TARGETS}
        for _ in range(steps):
            session.run("train", feeds)
        path = v1.train.Saver(max_to_keep=3).save(session, str(folder / "model"), global_step=7)
        prediction = session.run("prediction:0", feeds)
        for _ in range(2):
            session.run("train", feeds)
        return path, prediction, session.run(graph.get_tensor_by_name("loss:0"), feeds)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    ("writer", "reader", "use_resource"),
    [
        ("runnel", "tensorflow", True),
        ("tensorflow", "runnel", True),
        ("tensorflow", "runnel", False),
        ("runnel", "runnel", True),
    ],
)
def test_one_writes_and_the_other_goes_on(writer, reader, use_resource, optimizer, tmp_path):
    path, prediction, loss = trained(LIBRARIES[writer], tmp_path, optimizer, use_resource)
    tf = LIBRARIES[reader]
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        saver = v1.train.import_meta_graph(path + ".meta")
        saver.restore(session, path)
        feeds = {graph.get_tensor_by_name("x:0"): POINTS, "y:0": TARGETS}
        np.testing.assert_allclose(session.run("prediction:0", feeds), prediction, 1e-5, 1e-6)
        assert [v.name for v in v1.trainable_variables()] == ["layer/w:0", "layer/b:0"]
        assert session.run(v1.train.get_global_step()) == 3
        assert v1.get_collection("words") == [b"hello"] or v1.get_collection("words") == ["hello"]
        assert v1.get_collection("counts") == [3]
        assert v1.get_collection("rates") == [2.5]
        assert [each.name for each in v1.get_collection("ends")] == ["prediction:0", "loss:0"]
        for _ in range(2):
            session.run(v1.get_collection("updates")[0], feeds)
        np.testing.assert_allclose(session.run("loss:0", feeds), loss, 1e-4)
        assert session.run(v1.report_uninitialized_variables()).size == 0
        again = saver.save(session, str(tmp_path / "again"))
        session.run(v1.global_variables_initializer())
        start = session.run("layer/w:0" if reader == "runnel" else v1.trainable_variables()[0])
        np.testing.assert_allclose(start, [[0.1], [0.2], [0.3]], 1e-6)
        saver.restore(session, again)
        assert session.run(v1.train.get_global_step()) == 5


@pytest.mark.parametrize("library", LIBRARIES)
def test_under_a_scope_and_with_another_input(library, tmp_path):
    path, prediction, _ = trained(tensorflow, tmp_path, "descent", True)
    tf = LIBRARIES[library]
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = tf.constant(POINTS, name="points")
        saver = v1.train.import_meta_graph(
            path + ".meta", clear_devices=True, import_scope="old", input_map={"x:0": x}
        )
        saver.restore(session, path)
        np.testing.assert_allclose(session.run("old/prediction:0"), prediction, 1e-6)
        names = [v.name for v in v1.global_variables()]
        assert names == ["old/layer/w:0", "old/layer/b:0", "old/global_step:0"]
        assert v1.get_collection("words") == ["old/hello"]
        assert [each.name for each in v1.get_collection("train_op")][:1] == ["old/train"]
        assert saver.saver_def.restore_op_name == "old/save/restore_all"
        assert saver.saver_def.max_to_keep == 3
        with pytest.raises(ValueError, match="not found in graph_def"):
            v1.train.import_meta_graph(path + ".meta", input_map={"none:0": x})
        assert graph.get_operation_by_name("old/train").name == "old/train"


@pytest.mark.parametrize("library", LIBRARIES)
def test_messages_and_files(library, tmp_path):
    tf = LIBRARIES[library]
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        build(tf, "momentum", True)
        v1.add_to_collection("objects", object())
        saver = v1.train.Saver()
        assert v1.train.Saver().saver_def.filename_tensor_name == "save_1/Const:0"
        message = saver.export_meta_graph(str(tmp_path / "text.meta"), as_text=True)
        assert message.saver_def.save_tensor_name == "save/control_dependency:0"
        nodes = {node.name: node.op for node in message.graph_def.node}
        assert nodes["save/restore_all"] == "NoOp"
        assert nodes["save/Const"] == "PlaceholderWithDefault"
        assert nodes["save/SaveV2"] == "SaveV2"
        found = dict(message.collection_def)
        assert "objects" not in found
        assert found["counts"].int64_list.value == [3]
        assert (
            found["variables"].bytes_list.value[0]
            == found["trainable_variables"].bytes_list.value[0]
        )
        few = v1.train.export_meta_graph(collection_list=["words"])
        assert list(few.collection_def) == ["words"]
    with tf.Graph().as_default():
        saver = v1.train.import_meta_graph(str(tmp_path / "text.meta"))
        assert saver is not None
        assert len(v1.global_variables()) == 5
        w = v1.trainable_variables()[0]
        assert w is v1.global_variables()[0]
        with pytest.raises(OSError, match="does not exist"):
            v1.train.import_meta_graph(str(tmp_path / "none.meta"))
        (tmp_path / "broken.meta").write_bytes(b"hello world")
        with pytest.raises(OSError, match="Cannot parse"):
            v1.train.import_meta_graph(str(tmp_path / "broken.meta"))
        with pytest.raises(TypeError):
            v1.train.import_meta_graph(3)
    with tf.Graph().as_default():
        tf.constant(1.0)
        message = v1.train.export_meta_graph()
    with tf.Graph().as_default():
        assert v1.train.import_meta_graph(message) is None


def test_what_is_deleted_and_not_written(tmp_path):
    v1 = runnel.compat.v1
    with runnel.Graph().as_default(), v1.Session() as session:
        build(runnel, "descent", True)
        session.run(v1.global_variables_initializer())
        saver = v1.train.Saver(max_to_keep=1)
        for step in range(2):
            saver.save(session, str(tmp_path / "model"), global_step=step)
        assert sorted(each.name for each in tmp_path.glob("*.meta")) == ["model-1.meta"]
        saver.save(session, str(tmp_path / "bare"), write_meta_graph=False)
        assert not (tmp_path / "bare.meta").exists()


def test_a_graph_of_a_stranger_writes_no_files(tmp_path):
    v1 = runnel.compat.v1
    with tensorflow.Graph().as_default():
        tensorflow.io.write_file(str(tmp_path / "stolen"), "x", name="write")
        tensorflow.compat.v1.train.export_meta_graph(str(tmp_path / "evil.meta"))
    with runnel.Graph().as_default(), pytest.raises(runnel.errors.PermissionDeniedError):
        v1.train.import_meta_graph(str(tmp_path / "evil.meta"))
    (tmp_path / "torn.meta").write_bytes((tmp_path / "evil.meta").read_bytes()[:-7])
    with runnel.Graph().as_default(), pytest.raises((OSError, ValueError)):
        v1.train.import_meta_graph(str(tmp_path / "torn.meta"))

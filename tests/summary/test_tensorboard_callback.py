"""tf.keras.callbacks.TensorBoard writes the same curves, weights and graphs as that of tf_keras."""

import json
import os

import numpy as np
import pytest
from both_files import assert_same, values
from tensorboard.compat.proto.graph_pb2 import GraphDef

import runnel as tf

RANDOM = np.random.default_rng(0)
INPUTS = RANDOM.random((20, 6), np.float32)
TARGETS = INPUTS.sum(1, keepdims=True)
KERNELS = [RANDOM.normal(size=(6, 4)).astype("f"), RANDOM.normal(size=(4, 1)).astype("f")]


@pytest.fixture(scope="module")
def tf_keras():
    return pytest.importorskip("tf_keras")


def sequential(keras, **options):
    model = keras.Sequential(
        [
            keras.layers.Input([6], name="inp"),
            keras.layers.Dense(4, activation="relu", name="d1"),
            keras.layers.Dense(1, name="d2"),
        ],
        name="model",
    )
    model.set_weights([KERNELS[0], np.zeros(4, "f"), KERNELS[1], np.zeros(1, "f")])
    model.compile(options.pop("optimizer", "sgd"), "mse", metrics=["mae"], **options)
    return model


def train(keras, folder, model=sequential, epochs=2, callbacks=(), compiled=None, **options):
    """Fit a model with the callback; what the files say."""
    callback = keras.callbacks.TensorBoard(folder, **options)
    trained = model(keras, **(compiled(keras) if compiled else {}))
    trained.fit(
        INPUTS, TARGETS, batch_size=5, epochs=epochs, verbose=0, shuffle=False,
        validation_data=(INPUTS[:10], TARGETS[:10]),
        callbacks=[*(each(keras) for each in callbacks), callback],
    )  # fmt: skip
    return values(folder)


def without_times(rows):
    """Rows without speeds, which differ, with the kinds of graphs instead of their nodes."""
    kept = []
    for row in rows:
        if row[1].endswith("_per_second"):
            assert row[-1][1] > 0
            row = row[:-1]
        elif row[1] == "keras":
            row = (*row[:-1], _layers(row[-1][2][0]))
        elif row[2] in ("graph_run_metadata", "graph_run_metadata_graph"):
            row = row[:-1]
        elif row[1] == "graph_def":
            row = row[:2]
        kept.append(row)
    return kept


def _layers(text):
    config = json.loads(text)
    return config["class_name"], [each["config"]["name"] for each in config["config"]["layers"]]


def listening(keras):
    class Listener(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    return Listener()


def schedule(keras):
    rate = keras.optimizers.schedules.ExponentialDecay(0.05, 10, 0.5)
    return {"optimizer": keras.optimizers.SGD(rate)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"histogram_freq": 1, "write_images": True, "update_freq": 2},
        {"update_freq": 2, "write_steps_per_second": True},
        {"update_freq": "batch", "write_graph": False, "histogram_freq": 2, "epochs": 3},
        {"update_freq": "batch", "callbacks": [listening]},
        {"update_freq": 3, "callbacks": [listening], "write_graph": False},
        {"compiled": schedule},
        {"compiled": lambda keras: {"steps_per_execution": 2}, "update_freq": 2,
         "write_steps_per_second": True},
        {"compiled": lambda keras: {"run_eagerly": True}, "update_freq": 2,
         "write_steps_per_second": True},
        {"profile_batch": (2, 3)},
        {"profile_batch": 100, "update_freq": 3},
    ],
    ids=lambda options: "-".join(options) or "plain",
)  # fmt: skip
def test_files(options, tmp_path, tf_keras):
    expected = train(tf_keras, str(tmp_path / "theirs"), **options)
    actual = train(tf.keras, str(tmp_path / "ours"), **options)
    assert sorted(expected) == sorted(actual)
    for run in expected:
        assert_same(without_times(expected[run]), without_times(actual[run]), 2e-4)


def test_evaluate(tmp_path, tf_keras):
    found = []
    for name, keras in (("theirs", tf_keras), ("ours", tf.keras)):
        model = sequential(keras)
        callback = keras.callbacks.TensorBoard(str(tmp_path / name))
        model.evaluate(INPUTS, TARGETS, batch_size=5, verbose=0, callbacks=[callback])
        found.append({run: without_times(rows) for run, rows in values(tmp_path / name).items()})
    assert_same(*found, 1e-5)


def subclassed(library, keras):
    class Model(keras.Model):
        def __init__(self):
            super().__init__(name="m")
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            library.summary.scalar("inner", library.reduce_mean(inputs))
            return self.dense(inputs)

    model = Model()
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("update_freq", ["epoch", 1, 3])
def test_summaries_of_the_model_itself(update_freq, tmp_path, tf_keras):
    tensorflow = pytest.importorskip("tensorflow")

    theirs = train(
        tf_keras, str(tmp_path / "theirs"), lambda keras: subclassed(tensorflow, keras),
        update_freq=update_freq,
    )  # fmt: skip
    ours = train(
        tf.keras, str(tmp_path / "ours"), lambda keras: subclassed(tf, keras),
        update_freq=update_freq,
    )  # fmt: skip
    assert_same(theirs, ours, 1e-4)


def pictures(keras, **options):
    model = keras.Sequential(
        [
            keras.layers.Embedding(5, 3, input_length=6, name="emb"),
            keras.layers.Reshape([6, 3, 1]),
            keras.layers.Conv2D(2, 2, name="conv"),
            keras.layers.Conv2D(3, 1, name="conv3"),
            keras.layers.Flatten(),
            keras.layers.BatchNormalization(name="bn"),
            keras.layers.Dense(1, name="out"),
        ]
    )
    model.compile("sgd", "mse")
    model.build([None, 6])
    random = np.random.default_rng(3)
    model.set_weights([random.random(each.shape).astype("f") for each in model.get_weights()])
    return model


def test_weights_and_embeddings(tmp_path, tf_keras):
    options = {"histogram_freq": 1, "write_images": True, "embeddings_freq": 1, "epochs": 2}
    found = []
    for name, keras in (("theirs", tf_keras), ("ours", tf.keras)):
        (tmp_path / name).mkdir()
        # The original takes what it knows out of the dict.
        options["embeddings_metadata"] = {"emb": "meta.tsv"}
        rows = train(keras, str(tmp_path / name), pictures, **options)
        numbers = [row for row in without_times(rows["train"]) if not row[1].endswith("/image")]
        images = [
            (row[:-1], row[-1][1], [getattr(each, "shape", each) for each in row[-1][2]])
            for row in rows["train"]
            if row[1].endswith("/image")
        ]
        config = (tmp_path / name / "projector_config.pbtxt").read_text()
        files = sorted(
            each.name for each in (tmp_path / name / "train").iterdir() if "event" not in each.name
        )
        found.append((numbers, images, config, files))
    theirs, ours = found
    assert theirs[1:] == ours[1:]
    assert [row[:-1] for row in theirs[0]] == [row[:-1] for row in ours[0]]
    reader = tf.train.load_checkpoint(str(tmp_path / "ours" / "train" / "keras_embedding.ckpt-1"))
    name = "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.get_tensor(name).shape == (5, 3)


def test_unknown_embeddings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Unrecognized `Embedding` layer names"):
        train(
            tf.keras, str(tmp_path), pictures,
            embeddings_freq=1, embeddings_metadata={"other": "x.tsv"},
        )  # fmt: skip


def test_the_step_of_training_is_drawn(tmp_path):
    from tensorboard.compat.proto.event_pb2 import Event

    from runnel.formats.tfrecord import read_records

    train(tf.keras, str(tmp_path), callbacks=[listening])
    (path,) = (tmp_path / "train").iterdir()
    events = [Event.FromString(record) for record in read_records(path)]
    (graph,) = [GraphDef.FromString(e.graph_def) for e in events if e.graph_def]
    kinds = {node.op for node in graph.node}
    assert {"MatMul", "ReadVariableOp"} <= kinds
    assert any(node.name.startswith("model/d1/") for node in graph.node)


def test_a_profile_is_taken(tmp_path):
    train(tf.keras, str(tmp_path), profile_batch=2)
    (run,) = os.listdir(tmp_path / "plugins" / "profile")
    assert any(
        name.endswith(".xplane.pb") for name in os.listdir(tmp_path / "plugins/profile" / run)
    )


@pytest.mark.parametrize(
    "options",
    [
        {"profile_batch": "a"},
        {"profile_batch": -1},
        {"profile_batch": (3, 1)},
        {"profile_batch": (1, 2, 3)},
        {"profile_batch": 2.5},
        {"unknown": 1},
        {"profile_batch": "2,3"},
        {"profile_batch": [2, 3]},
        {"write_grads": True, "batch_size": 3, "embeddings_data": [1]},
        {"update_freq": "foo"},
    ],
    ids=str,
)
def test_arguments(options, tf_keras):
    outcomes = []
    for keras in (tf_keras, tf.keras):
        try:
            callback = keras.callbacks.TensorBoard("unused", **options)
            outcomes.append((callback._start_batch, callback._stop_batch))
        except Exception as failure:
            outcomes.append((type(failure).__name__, str(failure).partition(" {")[0]))
    assert outcomes[0] == outcomes[1]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "train").write_text("in the way")
    with pytest.raises(tf.errors.FailedPreconditionError, match="log folder"):
        train(tf.keras, str(tmp_path))


def test_a_second_fit_writes_new_files(tmp_path):
    callback = tf.keras.callbacks.TensorBoard(tmp_path, update_freq=1, write_graph=False)
    model = sequential(tf.keras)
    for _ in range(2):
        model.fit(INPUTS, TARGETS, verbose=0, callbacks=[callback])
    assert len(os.listdir(tmp_path / "train")) == 2
    assert not bool(tf.summary.should_record_summaries())

"""Wherever a path is taken, a `file://` address names the same file."""

import os

import pytest

import runnel as tf


def module():
    made = tf.Module()
    made.v = tf.Variable(1.0)
    made.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([])])
    return made


def saved_model(at):
    tf.saved_model.save(module(), at("model"))
    assert tf.saved_model.contains_saved_model(at("model"))
    assert float(tf.saved_model.load(at("model")).v) == 1.0


def checkpoints(at):
    held = tf.train.Checkpoint(m=module())
    held.write(at("written"))
    held.read(at("written")).assert_consumed()
    held.save(at("checkpoints/c"))
    held.restore(tf.train.latest_checkpoint(at("checkpoints"))).assert_consumed()
    assert tf.train.list_variables(at("written"))
    tf.train.load_checkpoint(at("written"))
    tf.train.CheckpointManager(held, at("managed"), 2).save()
    assert tf.train.latest_checkpoint(at("managed"))


def records(at):
    with tf.io.TFRecordWriter(at("records")) as writer:
        writer.write(b"a")
    assert len(list(tf.data.TFRecordDataset(at("records")))) == 1


def texts(at):
    tf.io.write_file(at("a.txt"), "a\nb\n")
    assert len(list(tf.data.TextLineDataset(at("a.txt")))) == 2
    assert len(list(tf.data.FixedLengthRecordDataset(at("a.txt"), 2))) == 2
    assert len(list(tf.data.Dataset.list_files(at("*.txt")))) == 1
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    lines = tf.lookup.TextFileInitializer(at("a.txt"), tf.string, whole, tf.int64, number)
    assert int(tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant("b"))) == 1


def events(at):
    with tf.summary.create_file_writer(at("events")).as_default() as writer:
        tf.summary.scalar("a", 1.0, step=1)
    writer.close()
    assert tf.io.gfile.listdir(at("events"))


def datasets(at):
    tf.data.Dataset.range(3).save(at("saved"))
    assert len(list(tf.data.Dataset.load(at("saved")))) == 3
    assert len(list(tf.data.Dataset.range(3).cache(at("cached")))) == 3


def keras(at):
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    for name in ("folder", "model.h5", "model.keras"):
        model.save(at(name))
        tf.keras.models.load_model(at(name), compile=False)
    for name in ("w", "w.weights.h5"):
        model.save_weights(at(name))
        model.load_weights(at(name))


@pytest.mark.parametrize(
    "program", [saved_model, checkpoints, records, texts, events, datasets, keras]
)
def test_addresses(program, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    program(lambda name: f"file://{tmp_path}/{name}")
    # Nothing was written below a folder called `file:`.
    assert not os.listdir(elsewhere)
    assert len(os.listdir(tmp_path)) > 1

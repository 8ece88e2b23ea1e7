"""Namespaces and functions that only TensorFlow 1 has, and what they share with TensorFlow 2."""

import os

import numpy as np
import pytest
from both_v1 import agree


def test_compat_is_the_same_inside():
    def program(v1, tf):
        inner = v1.compat.v1
        return [hasattr(inner, "Session"), v1.compat.as_bytes("x"), hasattr(v1.compat, "v2")]

    agree(program)


def test_files(tmp_path):
    def program(v1, tf):
        path = f"{tmp_path}/{tf.__name__}"
        v1.gfile.MakeDirs(f"{path}/a/b")
        with v1.gfile.FastGFile(f"{path}/a/file", "w") as file:
            file.write("text")
        v1.gfile.Copy(f"{path}/a/file", f"{path}/other")
        found = [v1.gfile.Exists(f"{path}/other"), sorted(v1.gfile.ListDirectory(path))]
        found += [[os.path.basename(each) for each in v1.gfile.Glob(f"{path}/a/*")]]
        found += [len(list(v1.gfile.Walk(path))), v1.gfile.Open(f"{path}/other").read()]
        v1.gfile.DeleteRecursively(path)
        with v1.python_io.TFRecordWriter(f"{tmp_path}/{tf.__name__}.records") as writer:
            writer.write(b"one")
        records = v1.python_io.tf_record_iterator(f"{tmp_path}/{tf.__name__}.records")
        return [*found, v1.gfile.IsDirectory(path), list(records)]

    agree(program)


FETCHES = {
    "decode_csv": lambda v1, tf: v1.decode_csv(["1,a", "2,"], [[0], ["x"]], ",", True, None, "b"),
    "decode_raw": lambda v1, tf: v1.decode_raw(bytes=tf.constant(["abcd"]), out_type=tf.uint8),
    "manip": lambda v1, tf: v1.manip.tile(v1.manip.roll(tf.range(3), 1, 0), [2]),
    "spectral": lambda v1, tf: v1.spectral.rfft(tf.constant([1.0, 2.0, 0.0, 3.0])),
    "sets": lambda v1, tf: v1.sets.set_size(
        v1.sets.set_union(tf.constant([[1, 2]]), tf.constant([[2, 3]]))
    ),
}


@pytest.mark.parametrize("name", FETCHES)
def test_functions(name):
    def program(v1, tf):
        with v1.Session() as session:
            return session.run(FETCHES[name](v1, tf))

    agree(program)


def test_words_from_noise():
    def program(v1, tf):
        draws = np.random.RandomState(0)
        weights = v1.Variable(draws.rand(6, 3).astype(np.float32))
        biases = v1.Variable(np.zeros(6, np.float32))
        inputs, labels = tf.constant(draws.rand(2, 3).astype(np.float32)), tf.constant([[1], [4]])
        sampled = (
            tf.constant([0, 2], tf.int64), tf.constant([[0.5], [0.25]]), tf.constant([0.5, 0.3])
        )  # fmt: skip
        losses = [
            v1.nn.nce_loss(weights, biases, tf.cast(labels, tf.int64), inputs, 2, 6,
                           sampled_values=sampled, partition_strategy="div"),
            v1.nn.sampled_softmax_loss(weights, biases, tf.cast(labels, tf.int64), inputs, 2, 6,
                                       sampled_values=sampled),
        ]  # fmt: skip
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return session.run(losses)

    agree(program, rtol=1e-4)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("", ["keras", "nn", "sin", "reduce_sum"]),
        (".keras", ["layers", "Sequential", "backend"]),
        (".compat.v1", ["layers", "keras", "Session", "placeholder", "gfile", "nn", "sin"]),
        (".compat.v1.train", ["Checkpoint", "MonitoredSession", "AdamOptimizer", "Saver"]),
        (".compat.v1.keras", ["layers", "Sequential"]),
        (".compat.v1.data", ["Dataset", "make_one_shot_iterator"]),
        (".compat.v1.nn", ["relu", "dynamic_rnn"]),
    ],
)
def test_star_imports_take_what_loads_later(module, names):
    for library in ("tensorflow", "runnel"):
        found = {}
        exec(f"from {library}{module} import *", found)
        assert not set(names) - set(found), library

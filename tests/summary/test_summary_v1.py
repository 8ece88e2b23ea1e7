"""tf.compat.v1.summary in graphs and sessions, as in TensorFlow."""

import glob
import os
import warnings

import numpy as np
import pytest
from both_files import LIBRARIES, _rows, assert_same, check, values
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary

import runnel as tf

RANDOM = np.random.default_rng(2)
IMAGES = RANDOM.normal(size=(4, 3, 5, 3)).astype(np.float32)
SOUND = (RANDOM.random((4, 20, 2)) * 2.4 - 1.2).astype(np.float32)


def summarize(tf, x):
    """One of each kind, in scopes."""
    summary = tf.compat.v1.summary
    with tf.name_scope("scope"):
        inside = [summary.scalar("x", x, family="fam"), summary.scalar("x", x, collections=["own"])]
    return [
        summary.scalar("sc al$ar", x),
        summary.scalar("x", x),
        summary.histogram("hist", tf.stack([x, x * 2, -x, 0.0 * x])),
        summary.histogram("hist", RANDOM_VALUES, family="fam"),
        summary.image("img", IMAGES, max_outputs=2),
        summary.image("one", np.abs(IMAGES[:1]), max_outputs=1),
        summary.image("grey", (IMAGES[..., :1] > 0).astype(np.uint8) * 200),
        summary.audio("aud", SOUND, 8000),
        summary.text("txt", tf.constant("a text")),
        summary.tensor_summary("ten", x, summary_description="why", display_name="shown"),
        *inside,
    ]


RANDOM_VALUES = np.concatenate([RANDOM.normal(size=200), np.zeros(3), [1e-13, -1e25]])


def computed(tf, build):
    """The names of the operations, and the summaries they give for x = 0.5."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [], name="value")
        tensors = build(tf, x)
        results = session.run(tensors, {x: 0.5})
        messages = [Event(summary=Summary.FromString(each)) for each in results]
        return [tensor.name for tensor in tensors], [list(_rows(each)) for each in messages]


def test_every_kind():
    tensorflow = pytest.importorskip("tensorflow")

    (names, expected), (ours, actual) = computed(tensorflow, summarize), computed(tf, summarize)
    assert ours == names
    assert_same(expected, actual)


@pytest.mark.parametrize(
    "picture",
    [[-1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [1.0, np.nan, 0.5], [0.0, 0.0, 0.0], [np.inf, -1.0, 1e-9]],
    ids=str,
)
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_are_scaled(picture, channels):
    tensorflow = pytest.importorskip("tensorflow")

    data = np.repeat(np.array(picture, np.float32), channels).reshape(1, 1, 3, channels)

    def build(tf, x):
        return [tf.compat.v1.summary.image("i", data)]

    assert_same(computed(tensorflow, build), computed(tf, build))


@pytest.mark.parametrize("data", [[], [0.0], [1e300, -1e300], [5, 5, 5], [True, False]], ids=str)
def test_histograms_of_few_values(data):
    tensorflow = pytest.importorskip("tensorflow")

    array = np.asarray(data)
    array = array.astype(np.int32) if array.dtype == bool else array

    def build(tf, x):
        return [tf.compat.v1.summary.histogram("h", array)]

    assert_same(computed(tensorflow, build), computed(tf, build))


def test_merged():
    tensorflow = pytest.importorskip("tensorflow")

    def build(tf, x):
        parts = summarize(tf, x)
        summary = tf.compat.v1.summary
        assert summary.merge_all("nothing") is None
        return [
            summary.merge_all(),
            summary.merge_all(scope="scope"),
            summary.merge(parts[:2], name="both", collections=["merged"]),
            *tf.compat.v1.get_collection("merged"),
            *tf.compat.v1.get_collection("own"),
        ]

    assert_same(computed(tensorflow, build), computed(tf, build))


@pytest.mark.parametrize(
    "build",
    [
        lambda tf, x: [tf.compat.v1.summary.merge([1])],
        lambda tf, x: [tf.compat.v1.summary.merge("abc")],
        lambda tf, x: [tf.compat.v1.summary.text("t", x)],
        lambda tf, x: [tf.compat.v1.summary.scalar("t", unknown(tf, [1.0, 2.0]))],
        lambda tf, x: [tf.compat.v1.summary.image("t", unknown(tf, [1.0, 2.0]))],
        lambda tf, x: [tf.compat.v1.summary.audio("t", unknown(tf, [1.0, 2.0]), 8)],
        lambda tf, x: [tf.compat.v1.summary.histogram("t", np.float32([1, np.nan]))],
        lambda tf, x: [tf.compat.v1.summary.histogram("t", np.float32([1, np.inf]))],
        lambda tf, x: [tf.compat.v1.summary.merge([tf.compat.v1.summary.scalar("t", x)] * 2)],
        lambda tf, x: [tf.compat.v1.summary.FileWriter(__file__ + "/below")],
        lambda tf, x: [tf.compat.v1.summary.initialize()],
        lambda tf, x: [tf.compat.v1.summary.get_summary_description(x.op.node_def)],
    ],
)
def test_bad_input(build):
    tensorflow = pytest.importorskip("tensorflow")

    failures = []
    for library in (tensorflow, tf):
        with pytest.raises(Exception) as failure:
            computed(library, build)
        failures.append(failure.value)
    assert type(failures[0]).__name__ == type(failures[1]).__name__
    assert len(str(failures[1])) > 20


def unknown(tf, value):
    return tf.compat.v1.placeholder_with_default(value, None)


def test_a_file(tmp_path):
    def program(tf, folder):
        v1 = tf.compat.v1
        with tf.Graph().as_default() as graph, v1.Session() as session:
            x = tf.constant(2.0, name="x")
            text = v1.summary.text("t", tf.constant("hi"))
            computed = session.run(v1.summary.merge([v1.summary.scalar("a", x), text]))
            writer = v1.summary.FileWriter(folder, graph, filename_suffix=".one")
            seen = [writer.get_logdir() == folder]
            writer.add_summary(computed, 3)
            writer.add_summary(computed, np.int64(4))
            writer.add_summary(v1.Summary(value=[v1.Summary.Value(tag="q", simple_value=2.0)]))
            writer.add_event(v1.summary.Event(step=5, file_version="x"))
            writer.add_session_log(v1.SessionLog(status=v1.SessionLog.START), 6)
            writer.add_graph(graph, 7)
            writer.add_graph(None, graph_def=graph.as_graph_def())
            writer.add_run_metadata(v1.RunMetadata(), "run", 8)
            for wrong in (
                lambda: writer.add_summary("text"),
                lambda: writer.add_graph("text"),
                lambda: writer.add_graph(None),
                lambda: writer.add_graph(graph, graph_def=graph.as_graph_def()),
                lambda: writer.add_meta_graph("text"),
                lambda: writer.add_run_metadata(v1.RunMetadata(), "run"),
            ):
                try:
                    wrong()
                except Exception as failure:
                    seen.append(type(failure).__name__)
            writer.flush()
            writer.close()
            writer.close()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                writer.add_summary(computed, 9)
            seen += [str(each.message) for each in caught]
            with v1.summary.FileWriter(folder + "/b") as second:
                second.add_summary(b"", 1)
            second.reopen()
            second.add_summary(computed, 2)
            second.close()
            cache = v1.summary.FileWriterCache
            seen.append(cache.get(folder + "/c") is cache.get(folder + "/c"))
            cache.clear()
            shared = [v1.summary.FileWriter(folder + "/d", session=session) for _ in range(2)]
            for step, each in enumerate(shared):
                each.add_summary(computed, step)
                each.flush()
            seen.append(len(os.listdir(folder + "/d")))
            return seen

    tensorflow = pytest.importorskip("tensorflow")

    results = {}
    for library in (tensorflow, tf):
        folder = str(tmp_path / library.__name__)
        results[library] = program(library, folder), values(folder)
    (seen, expected), (ours, actual) = results[tensorflow], results[tf]
    assert ours == seen
    # A file that the original opens again in the same second overwrites the first one.
    reopened = actual.pop("b")
    assert [row[:2] for row in reopened if row[1] != "file_version"] == [
        (1, "empty summary"), (2, "a"), (2, "t"),
    ]  # fmt: skip
    expected.pop("b")
    assert_same(expected, actual)
    for name in LIBRARIES:
        (path,) = glob.glob(str(tmp_path / name / "*.one"))
        assert os.path.basename(path).count(".") in (4, 5)


def test_a_graph_is_in_the_file(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with tf.Graph().as_default() as graph, tf.name_scope("layer"):
        tf.add(tf.constant(1.0, name="one"), 2.0, name="sum")
        tf.compat.v1.summary.FileWriter(tmp_path, graph).close()
    nodes = EventAccumulator(str(tmp_path)).Reload().Graph().node
    assert {"layer/one", "layer/sum"} <= {node.name for node in nodes}


def test_without_a_graph(tmp_path):
    def program(tf, folder):
        summary = tf.compat.v1.summary
        seen = []
        for refused in (lambda: summary.FileWriter(folder), summary.merge_all):
            try:
                refused()
            except RuntimeError:
                seen.append("refused")
        with tf.summary.create_file_writer(folder).as_default(step=3):
            seen += [
                summary.scalar("a", 1.0).numpy(),
                summary.histogram("h", [1.0, 2.0]).numpy(),
                summary.image("i", np.zeros([1, 2, 2, 3], np.float32)).numpy(),
                summary.text("t", tf.constant("a")).numpy(),
                summary.scalar("b", 1.0, family="fam").numpy(),
                summary.tensor_summary("ten", tf.constant(1.0)).numpy(),
            ]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seen += [summary.scalar("a", 1.0).numpy(), len(caught)]
        return seen

    check(program, tmp_path)


def test_modern_summaries_in_a_session(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        writer = tf.summary.create_file_writer(tmp_path)
        x = tf.compat.v1.placeholder(tf.float32, [])
        with writer.as_default(step=4), tf.summary.record_if(x > 0.5):
            tf.summary.scalar("x", x)
        session.run(tf.compat.v1.summary.all_v2_summary_ops(), {x: 0.25})
        session.run(tf.compat.v1.summary.all_v2_summary_ops(), {x: 0.75})
        session.run(writer.close())
    (row,) = values(tmp_path)["."][1:]
    assert row[:2] == (4, "x") and row[-1][1] == np.float32(0.75)

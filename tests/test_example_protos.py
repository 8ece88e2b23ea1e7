"""The record messages of tf.train: the same bytes, texts and errors as TensorFlow's."""

import copy
import pickle

import numpy as np
import pytest
import tensorflow
from google.protobuf import json_format, text_format
from hypothesis import given, settings, strategies as st

import runnel

NAMES = ["BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList",
         "FeatureLists", "Example", "SequenceExample", "JobDef", "ClusterDef"]  # fmt: skip

numbers = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
fractions = st.lists(st.floats(width=32, allow_nan=False), max_size=4)
texts = st.lists(st.binary(max_size=4), max_size=4)
values = st.one_of(
    st.tuples(st.just("int64"), numbers),
    st.tuples(st.just("float"), fractions),
    st.tuples(st.just("bytes"), texts),
    st.just(("none", [])),
)
maps = st.dictionaries(st.text(max_size=4), values, max_size=5)


def feature(train, value):
    kind, listed = value
    if kind == "none":
        return train.Feature()
    if kind == "int64":
        return train.Feature(int64_list=train.Int64List(value=listed))
    if kind == "float":
        return train.Feature(float_list=train.FloatList(value=listed))
    return train.Feature(bytes_list=train.BytesList(value=listed))


def features(train, described):
    return train.Features(feature={key: feature(train, each) for key, each in described.items()})


def both(make):
    return make(tensorflow.train), make(runnel.train)


@settings(max_examples=50, deadline=None)
@given(maps)
def test_examples(described):
    theirs, ours = both(lambda train: train.Example(features=features(train, described)))
    exact = ours.SerializeToString(deterministic=True)
    assert exact == theirs.SerializeToString(deterministic=True)
    assert runnel.train.Example.FromString(theirs.SerializeToString()) == ours
    assert tensorflow.train.Example.FromString(ours.SerializeToString()) == theirs
    assert text_format.MessageToString(ours) == text_format.MessageToString(theirs)
    assert json_format.MessageToDict(ours) == json_format.MessageToDict(theirs)


@settings(max_examples=25, deadline=None)
@given(maps, st.dictionaries(st.text(max_size=3), st.lists(values, max_size=3), max_size=3))
def test_sequence_examples(context, lists):
    def make(train):
        listed = {
            key: train.FeatureList(feature=[feature(train, each) for each in row])
            for key, row in lists.items()
        }
        return train.SequenceExample(
            context=features(train, context), feature_lists=train.FeatureLists(feature_list=listed)
        )

    theirs, ours = both(make)
    exact = ours.SerializeToString(deterministic=True)
    assert exact == theirs.SerializeToString(deterministic=True)
    assert runnel.train.SequenceExample.FromString(theirs.SerializeToString()) == ours


def test_printing():
    theirs, ours = both(
        lambda train: features(train, {"a": ("float", [1.5, 2]), "b": ("none", [])})
    )
    lines = [sorted(str(each).splitlines()) for each in (theirs, ours)]
    assert lines[0] == lines[1]
    theirs, ours = both(lambda train: train.BytesList(value=[b"x", b'\xff\n"']))
    assert str(ours) == str(theirs)
    theirs, ours = both(
        lambda train: train.ClusterDef(job=[train.JobDef(name="w", tasks={0: "a:1"})])
    )
    assert str(ours) == str(theirs)
    assert ours.SerializeToString() == theirs.SerializeToString()


@pytest.mark.parametrize("name", NAMES)
def test_fields(name):
    theirs, ours = both(lambda train: getattr(train, name).DESCRIPTOR)
    assert ours.full_name == theirs.full_name
    for wanted, found in zip(theirs.fields, ours.fields, strict=True):
        assert (found.name, found.number, found.type) == (wanted.name, wanted.number, wanted.type)
        assert found.json_name == wanted.json_name
        assert found.is_packed == wanted.is_packed
    assert [each.name for each in ours.oneofs] == [each.name for each in theirs.oneofs]


REFUSED = {
    "a fraction": lambda train: train.Int64List(value=[1.5]),
    "a string": lambda train: train.Int64List(value=["a"]),
    "too large": lambda train: train.Int64List(value=[2**63]),
    "no list": lambda train: train.Int64List(value=3),
    "text": lambda train: train.BytesList(value=["é"]),
    "a number": lambda train: train.BytesList(value=[1]),
    "no number": lambda train: train.FloatList(value=["a"]),
    "no field": lambda train: train.Feature(foo=1),
    "no bytes of it": lambda train: train.Example.FromString(b"\xff\xff"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    failures = []
    for train in (tensorflow.train, runnel.train):
        with pytest.raises(Exception) as failure:
            REFUSED[case](train)
        failures.append(failure.type)
    assert failures[0] is failures[1]


def test_arrays_and_tensors_as_values():
    train = runnel.train
    assert list(train.Int64List(value=np.array([1, 2])).value) == [1, 2]
    assert list(train.FloatList(value=np.array([1, 2.5])).value) == [1, 2.5]
    assert list(train.FloatList(value=runnel.constant([1.0, 2.0])).value) == [1, 2]
    assert list(train.Int64List(value=[runnel.constant(3)]).value) == [3]


def test_copies_and_pickles():
    message = runnel.train.Example(features=features(runnel.train, {"a": ("int64", [1])}))
    assert copy.deepcopy(message) == message
    assert pickle.loads(pickle.dumps(message)) == message
    assert message.features.feature["a"].WhichOneof("kind") == "int64_list"


def test_written_and_read_back(tmp_path):
    path = str(tmp_path / "records")
    with runnel.io.TFRecordWriter(path) as writer:
        for number in range(3):
            described = {"x": ("int64", [number]), "y": ("bytes", [b"a" * number])}
            example = runnel.train.Example(features=features(runnel.train, described))
            writer.write(example.SerializeToString())
    for tf in (tensorflow, runnel):
        description = {
            "x": tf.io.FixedLenFeature([], tf.int64),
            "y": tf.io.FixedLenFeature([], tf.string),
        }
        dataset = tf.data.TFRecordDataset(path)
        rows = [tf.io.parse_single_example(record, description) for record in dataset]
        found = [(int(row["x"]), row["y"].numpy()) for row in rows]
        assert found == [(0, b""), (1, b"a"), (2, b"aa")]


CLUSTERS = {
    "two jobs": lambda train: {"worker": ["a:1", "b:2"], "ps": ["c:3"]},
    "gaps": lambda train: {"worker": {3: "y:2", 1: "x:1"}},
    "dense dictionary": lambda train: {"w": {0: "a", 1: "b"}},
    "tuple": lambda train: {"w": ("a:1",)},
    "nothing": lambda train: {},
    "message": lambda train: train.ClusterDef(
        job=[train.JobDef(name="w", tasks={0: "a:1", 1: "b:2"})]
    ),
    "another": lambda train: train.ClusterSpec({"w": ["a:1"]}),
    "a number": lambda train: 3,
    "tasks that are a number": lambda train: {"w": 3},
    "tasks that are text": lambda train: {"w": "a:1"},
    "a job that is a number": lambda train: {3: ["a"]},
    "an address that is a number": lambda train: {"w": [3]},
    "an index that is text": lambda train: {"w": {"a": "b"}},
}


@pytest.mark.parametrize("case", CLUSTERS)
def test_clusters(case):
    def facts(train):
        spec = train.ClusterSpec(CLUSTERS[case](train))
        return [
            repr(spec), bool(spec), spec.as_dict(), spec.jobs, str(spec.as_cluster_def()),
            [(spec.num_tasks(job), spec.task_indices(job)) for job in spec.jobs],
            [spec.job_tasks(job) for job in spec.jobs],
            spec == train.ClusterSpec(spec.as_cluster_def()), spec == spec.as_dict(),
        ]  # fmt: skip

    outcomes = []
    for train in (tensorflow.train, runnel.train):
        try:
            outcomes.append(facts(train))
        except (TypeError, ValueError) as failure:
            outcomes.append(type(failure))
    assert outcomes[0] == outcomes[1]


def test_what_a_cluster_does_not_have():
    for train in (tensorflow.train, runnel.train):
        spec = train.ClusterSpec({"worker": ["a:1"]})
        assert spec.task_address("worker", 0) == "a:1"
        for call in (
            lambda: spec.num_tasks("q"),
            lambda: spec.task_address("q", 0),
            lambda: spec.task_address("worker", 7),
        ):
            with pytest.raises(ValueError, match="No "):
                call()

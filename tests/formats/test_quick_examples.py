"""Messages that are bytes until somebody looks inside behave as TensorFlow's, which never are."""

import collections
import copy
import decimal
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import tensorflow
from google.protobuf import any_pb2, json_format, text_format
from google.protobuf.message import Message
from hypothesis import given, settings, strategies as st

import runnel
from runnel.formats import example_messages

NAMES = ["BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList",
         "FeatureLists", "Example", "SequenceExample"]  # fmt: skip
LISTS = {"bytes_list": "BytesList", "float_list": "FloatList", "int64_list": "Int64List"}

values = st.one_of(
    st.tuples(st.just("int64_list"), st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)),
    st.tuples(st.just("int64_list"), st.lists(st.integers(0, 300), max_size=20)),
    st.tuples(st.just("float_list"), st.lists(st.floats(allow_nan=False), max_size=3)),
    st.tuples(st.just("bytes_list"), st.lists(st.binary(max_size=200), max_size=3)),
    st.none(),
)
maps = st.dictionaries(st.text(max_size=4), values, max_size=5)
rows = st.dictionaries(st.text(max_size=3), st.lists(values, max_size=3), max_size=3)


def feature(train, described):
    if described is None:
        return train.Feature()
    field, listed = described
    return train.Feature(**{field: getattr(train, LISTS[field])(value=listed)})


def features(train, described):
    return train.Features(feature={key: feature(train, each) for key, each in described.items()})


def example(train, described=None):
    if described is None:
        described = {"a": ("int64_list", [1, 300]), "b": ("bytes_list", [b"x"])}
    return train.Example(features=features(train, described))


def sequence(train, context, lists):
    lists = {
        key: train.FeatureList(feature=[feature(train, each) for each in row])
        for key, row in lists.items()
    }
    return train.SequenceExample(
        context=features(train, context), feature_lists=train.FeatureLists(feature_list=lists)
    )


def plain(value):
    """A result as what can be compared: messages of two libraries are of two types."""
    if isinstance(value, Message):
        return value.DESCRIPTOR.full_name, value.SerializeToString(deterministic=True)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def outcome(program, train):
    try:
        return plain(program(train))
    except Exception as failure:
        return type(failure)


def same(program):
    assert outcome(program, runnel.train) == outcome(program, tensorflow.train)


def lines(text):
    """A message's text, the entries of its maps in any order."""
    return sorted(text.splitlines())


# What a message that is only bytes still has to answer.
QUESTIONS = {
    "bytes": lambda message: type(message).FromString(message.SerializeToString()),
    "exact bytes": lambda message: message.SerializeToString(deterministic=True),
    "partial": lambda message: type(message).FromString(message.SerializePartialToString()),
    "size": lambda message: message.ByteSize(),
    "str": lambda message: lines(str(message)),
    "repr": lambda message: lines(repr(message)),
    "format": lambda message: lines(f"{message}"),
    "text": text_format.MessageToString,
    "json": json_format.MessageToDict,
    "fields": lambda message: [field.name for field, _ in message.ListFields()],
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda message: pickle.loads(pickle.dumps(message)),
    "initialized": lambda message: (message.IsInitialized(), message.FindInitializationErrors()),
    "extension": lambda message: message.HasExtension(None),
    "no such": lambda message: message.nothing,
    "unknown": lambda message: message.HasField("nothing"),
    "cleared": lambda message: (message.Clear(), message),
    "no order": lambda message: message < message,
    "no hash": lambda message: hash(message),
    "no length": lambda message: len(message),
    "number": lambda message: message == 3 or message != 3,
    "none": lambda message: message == None,  # noqa: E711
    "itself": lambda message: (message == message, message != message),
    "its copy": lambda message: (message == copy.copy(message), copy.copy(message) != message),
    "discarded": lambda message: (message.DiscardUnknownFields(), message),
    "wrong option": lambda message: message.SerializeToString(wrong=True),
    "packed": lambda message: (packed := any_pb2.Any()).Pack(message) or packed.type_url,
}


@pytest.mark.parametrize("question", QUESTIONS)
@settings(max_examples=8, deadline=None)
@given(maps)
def test_every_question(question, described):
    ask = QUESTIONS[question]
    same(lambda train: ask(example(train, described)))
    for each in described.values():
        same(lambda train, each=each: ask(feature(train, each)))
        if each is not None:
            same(lambda train, each=each: ask(getattr(train, LISTS[each[0]])(value=each[1])))


@settings(max_examples=25, deadline=None)
@given(maps, rows)
def test_bytes_both_ways(context, lists):
    for make in (lambda train: example(train, context), lambda t: sequence(t, context, lists)):
        ours, theirs = make(runnel.train), make(tensorflow.train)
        assert type(ours._held) is bytes
        assert type(theirs).FromString(ours.SerializeToString()) == theirs
        read = type(ours).FromString(theirs.SerializeToString())
        assert (read == ours, ours == read, read != ours, ours != read) == (
            True,
            True,
            False,
            False,
        )
        assert lines(str(ours)) == lines(str(theirs))


@settings(max_examples=25, deadline=None)
@given(maps, rows)
def test_texts_are_read(context, lists):
    message = sequence(tensorflow.train, context, lists)
    text, document = text_format.MessageToString(message), json_format.MessageToJson(message)
    same(lambda train: text_format.Parse(text, train.SequenceExample()))
    same(lambda train: json_format.Parse(document, train.SequenceExample()))


@settings(max_examples=25, deadline=None)
@given(maps, maps)
def test_two_messages(first, second):
    def merged(train, method):
        one, other = example(train, first), example(train, second)
        getattr(one, method)(other)
        return one, other, one == other, example(train, first) == example(train, second)

    for method in ("CopyFrom", "MergeFrom"):
        same(lambda train, method=method: merged(train, method))


def number(train, *numbers):
    return train.Feature(int64_list=train.Int64List(value=list(numbers)))


def changed(change):
    """A program that changes a message and returns it, and what the change returned."""

    def program(train):
        message = example(train)
        return change(train, message), message

    return program


def growing(change):
    """A program that changes the features of a step inside a SequenceExample."""

    def program(train):
        message = sequence(train, {}, {"x": [("int64_list", [1]), None]})
        return change(train, message.feature_lists.feature_list["x"].feature), message

    return program


def part_after_use(train):
    listed = [1, 2]
    part = train.Int64List(value=listed)
    listed.append(9)
    whole = train.Feature(int64_list=part)
    part.value.append(3)
    again = train.Feature(int64_list=part)
    again.int64_list.value.append(4)
    return part, whole, again


def map_after_use(train):
    described = {"a": number(train, 1)}
    whole = train.Features(feature=described)
    described["a"].int64_list.value.append(2)
    described["b"] = number(train)
    return whole, train.Features(feature=described)


def sub_message_kept(train):
    message = example(train)
    part = message.features
    part.feature["a"].int64_list.value.append(7)
    message.features.feature["b"].Clear()
    return part, message, message.features == part, train.Example(features=part)


def parsed_again(train):
    message = example(train)
    count = message.ParseFromString(example(train, {"z": None}).SerializeToString())
    other = example(train)
    other.MergeFromString(message.SerializeToString())
    return count, message, other


CHANGES = {
    "value": changed(lambda train, e: e.features.feature["a"].int64_list.value.append(5)),
    "read inserts": changed(lambda train, e: e.features.feature["new"].WhichOneof("kind")),
    "get does not": changed(lambda train, e: e.features.feature.get("new")),
    "delete": changed(lambda train, e: e.features.feature.pop("a")),
    "clear a field": changed(lambda train, e: e.ClearField("features")),
    "clear no field": changed(lambda train, e: e.ClearField("nothing")),
    "has": changed(lambda train, e: (e.HasField("features"), train.Example().HasField("features"))),
    "in": changed(lambda train, e: "a" in e.features.feature),
    "set in parent": changed(lambda train, e: e.SetInParent()),
    "assign": changed(lambda train, e: setattr(e, "features", train.Features())),
    "assign nothing": changed(lambda train, e: setattr(e, "nothing", 1)),
    "assign to a map": changed(lambda t, e: e.features.feature.__setitem__("a", t.Feature())),
    "delete a field": changed(lambda train, e: delattr(e, "features")),
    "copy into": changed(lambda t, e: e.features.feature["c"].CopyFrom(number(t, 5))),
    "merge into": changed(lambda t, e: e.features.feature["a"].MergeFrom(number(t, 5))),
    "copy another type": changed(lambda t, e: e.features.CopyFrom(t.Feature())),
    "copy no message": changed(lambda t, e: e.CopyFrom({"features": {}})),
    "a real part": changed(lambda t, e: t.Features(feature={"q": e.features.feature["a"]})),
    "a real map": changed(lambda t, e: t.Features(feature=e.features.feature)),
    "a real whole": changed(lambda t, e: t.Example(features=e.features)),
    "which": changed(lambda t, e: e.features.feature["a"].WhichOneof("kind")),
    "merged container": changed(
        lambda t, e: e.features.feature.MergeFrom(features(t, {"m": None}).feature)
    ),
    "step appended": growing(lambda t, steps: steps.append(number(t, 5))),
    "steps extended": growing(lambda t, steps: steps.extend([number(t, 5), t.Feature()])),
    "by a generator": growing(lambda t, steps: steps.extend(number(t, n) for n in range(3))),
    "by nothing": growing(lambda t, steps: steps.extend(None)),
    "by a number": growing(lambda t, steps: steps.extend(3)),
    "by another type": growing(lambda t, steps: steps.extend([t.Features()])),
    "steps merged": growing(lambda t, steps: steps.MergeFrom(t.FeatureList(feature=steps).feature)),
    "step inserted": growing(lambda t, steps: steps.insert(0, number(t, 5))),
    "step added": growing(lambda t, steps: steps.add(int64_list=t.Int64List(value=[5]))),
    "step added empty": growing(lambda t, steps: steps.add().int64_list.value.append(4)),
    "step removed": growing(lambda t, steps: steps.remove(number(t, 1))),
    "step not there": growing(lambda t, steps: steps.remove(number(t, 2))),
    "step popped": growing(lambda t, steps: steps.pop()),
    "step deleted": growing(lambda t, steps: steps.__delitem__(0)),
    "step assigned": growing(lambda t, steps: steps.__setitem__(0, number(t, 2))),
    "steps reversed": growing(lambda t, steps: steps.reverse()),
    "steps sorted": growing(lambda t, steps: steps.sort(key=lambda step: step.ByteSize())),
    "steps read": growing(lambda t, steps: (len(steps), list(steps), steps[1], steps[:1])),
    "steps compared": growing(lambda t, steps: (steps == [number(t, 1), t.Feature()], steps == [])),
    "steps contain": growing(lambda t, steps: (number(t, 1) in steps, number(t, 2) in steps)),
    "steps copied": growing(lambda t, steps: list(copy.copy(steps))),
    "steps copied deeply": growing(lambda t, steps: list(copy.deepcopy(steps))),
    "steps printed": growing(lambda t, steps: repr(steps)),
    "steps as a sequence": growing(
        lambda t, steps: isinstance(steps, collections.abc.MutableSequence)
    ),
    "part after use": part_after_use,
    "map after use": map_after_use,
    "sub-message kept": sub_message_kept,
    "parsed again": parsed_again,
}


@pytest.mark.parametrize("case", CHANGES)
def test_changes(case):
    same(CHANGES[case])


class Strange:
    def __float__(self):
        return 1.5

    def __index__(self):
        return 3


LISTED = {
    "nothing": None,
    "empty": [],
    "tuple": (1, 2),
    "range": range(3),
    "bool": [True],
    "bools": [True, 2],
    "whole floats": [1.0, 2.0],
    "text": ["a"],
    "a text": "ab",
    "some bytes": b"ab",
    "no list": 3,
    "none in it": [None],
    "bytes and text": [b"a", "a"],
    "byte array": [bytearray(b"a")],
    "numpy bytes": [np.bytes_(b"a")],
    "array of bytes": np.array([b"a", b"bc"]),
    "bounds": [2**63 - 1, -(2**63)],
    "too large": [2**63],
    "too small": [1, -(2**63) - 1],
    "far too large": [10**400],
    "middle": [127, 128, 255, 256],
    "negative": [-1],
    "many": list(range(1000)),
    "array": np.arange(5),
    "large array": np.arange(5) * 10**12,
    "unsigned array": np.array([2**64 - 1], np.uint64),
    "small array": np.arange(5, dtype=np.uint8),
    "array of floats": np.linspace(0, 1, 5),
    "array of halves": np.linspace(0, 1, 5).astype(np.float16),
    "array of booleans": np.array([True, False]),
    "array of times": np.array([1, 2], "datetime64[ns]"),
    "array of objects": np.array([1, 2], object),
    "empty array": np.array([], np.float32),
    "matrix": np.ones((2, 2)),
    "matrix of integers": np.ones((2, 2), int),
    "scalar": np.array(3),
    "numpy scalars": [np.float32(0.1), np.float64(0.1)],
    "numpy integers": [np.int64(3), np.uint8(200)],
    "decimal": [decimal.Decimal("0.1")],
    "strange": [Strange()],
    "infinite": [1e300, -1e300, float("inf"), 3.4028235677973366e38],
    "tiny": [1e-46, -1e-46, 1e-40, 5e-324],
    "not a number": [float("nan"), -float("nan")],
    "nested": [[1]],
}


@pytest.mark.parametrize("case", LISTED)
@pytest.mark.parametrize("name", ["BytesList", "FloatList", "Int64List"])
def test_lists(name, case):
    same(lambda train: getattr(train, name)(value=LISTED[case]))


MADE = {
    "iterator": lambda train: train.Int64List(value=iter([1, 2])),
    "generator": lambda train: train.FeatureList(feature=(number(train, n) for n in range(3))),
    "deque": lambda train: train.FeatureList(feature=collections.deque([number(train, 1)])),
    "values of a dictionary": lambda t: t.FeatureList(feature={"a": number(t, 1)}.values()),
    "the last wins": lambda train: train.Feature(
        int64_list=train.Int64List(value=[1]), bytes_list=train.BytesList(value=[b"a"])
    ),
    "the other last wins": lambda train: train.Feature(
        bytes_list=train.BytesList(value=[b"a"]), int64_list=train.Int64List(value=[1])
    ),
    "none and one": lambda t: t.Feature(bytes_list=None, int64_list=t.Int64List(value=[1])),
    "one and none": lambda t: t.Feature(int64_list=t.Int64List(value=[1]), bytes_list=None),
    "empty list": lambda train: train.Feature(bytes_list=train.BytesList()),
    "wrong list": lambda train: train.Feature(bytes_list=train.Int64List()),
    "no message": lambda train: train.Feature(bytes_list=[b"a"]),
    "dictionary": lambda train: train.Feature(int64_list={"value": [1]}),
    "dictionaries": lambda train: train.Example(
        features={"feature": {"a": {"int64_list": train.Int64List(value=[1])}}}
    ),
    "map of lists": lambda t: t.Features(feature={"a": {"int64_list": {"value": [1]}}}),
    "ordered map": lambda t: t.Features(feature=collections.OrderedDict(a=number(t, 1))),
    "default map": lambda t: t.Features(feature=collections.defaultdict(t.Feature, a=t.Feature())),
    "bytes as key": lambda train: train.Features(feature={b"a": train.Feature()}),
    "number as key": lambda train: train.Features(feature={1: train.Feature()}),
    "half a character as key": lambda train: train.Features(feature={"\ud800": train.Feature()}),
    "pairs": lambda train: train.Features(feature=[("a", train.Feature())]),
    "number as value": lambda train: train.Features(feature={"a": 3}),
    "none as value": lambda train: train.Features(feature={"a": None}),
    "wrong value": lambda train: train.Features(feature={"a": train.Features()}),
    "none in a list": lambda train: train.FeatureList(feature=[None]),
    "one for a list": lambda train: train.FeatureList(feature=train.Feature()),
    "no context": lambda t: t.SequenceExample(feature_lists=t.FeatureLists(feature_list={})),
    "only context": lambda train: train.SequenceExample(context=features(train, {"a": None})),
    "wrong context": lambda train: train.SequenceExample(context=train.FeatureLists()),
    "subclass": lambda train: type("Mine", (train.Example,), {}),
    "field numbers": lambda t: (
        t.Example.FEATURES_FIELD_NUMBER,
        t.Feature().INT64_LIST_FIELD_NUMBER,
    ),
    "an entry": lambda train: train.Features.FeatureEntry(key="a"),
    "sorted keys": lambda t: features(t, dict.fromkeys(["b", "a", "ab", "é", "😀", "\uffff"])),
}


@pytest.mark.parametrize("case", MADE)
def test_made(case):
    same(MADE[case])


@pytest.mark.parametrize("name", NAMES)
def test_every_class(name):
    same(lambda train: getattr(train, name)())
    same(lambda train: getattr(train, name)(3))
    same(lambda train: getattr(train, name)(nothing=3))
    same(lambda train: getattr(train, name)(**{getattr(train, name).DESCRIPTOR.fields[0].name: 3}))
    same(lambda train: getattr(train, name).FromString(b"\xff"))
    same(lambda train: getattr(train, name)().ParseFromString(b"\xff"))
    kind = getattr(runnel.train, name)
    assert issubclass(kind, Message)
    theirs = dir(getattr(tensorflow.train, name)())
    assert {each for each in theirs if each[0] != "_"} <= set(dir(kind()))
    for each in (kind(), kind.FromString(b""), pickle.loads(pickle.dumps(kind()))):
        assert isinstance(each, kind) and isinstance(each, Message)
        others = [getattr(runnel.train, other) for other in NAMES if other != name]
        assert not any(isinstance(each, other) for other in others)


def test_real_messages_and_parts_mix():
    train = runnel.train
    real = example_messages.Feature()
    real.CopyFrom(number(train, 1))
    assert real == number(train, 1) and number(train, 1) == real
    whole = train.FeatureList(feature=[real, number(train, 2)])
    assert [list(each.int64_list.value) for each in whole.feature] == [[1], [2]]
    assert isinstance(whole.feature[0], train.Feature)
    features = example_messages.Features(feature={"a": number(train, 3)})
    assert train.Example(features=features).features.feature["a"] == number(train, 3)


def test_sizes_around_those_of_a_length():
    for size in (0, 1, 100, 120, 126, 127, 128, 16_370, 16_383, 16_384, 2_100_000):
        same(lambda train, size=size: example(train, {"k": ("bytes_list", [b"x" * size])}))
        same(lambda train, size=size: features(train, {"k" * (size % 20_000): None}))


RECORDS = {
    "bytes": b"a",
    "text": "é",
    "byte array": bytearray(b"ab"),
    "numpy bytes": np.bytes_(b"abc"),
    "view": memoryview(b"a"),
    "array": np.arange(3, dtype=np.uint8),
    "number": 3,
    "nothing": None,
    "list": [b"a"],
}


@pytest.mark.parametrize("case", RECORDS)
def test_what_a_writer_takes(case, tmp_path):
    outcomes = []
    for tf in (tensorflow, runnel):
        path = str(tmp_path / "records")
        with tf.io.TFRecordWriter(path) as writer:
            try:
                outcomes.append(writer.write(RECORDS[case]))
            except Exception as failure:
                outcomes.append(type(failure))
        outcomes[-1] = outcomes[-1], (tmp_path / "records").read_bytes()
    assert outcomes[0] == outcomes[1]


def test_the_package_without_its_compiled_part():
    """Protocol buffers may be pure Python: what real messages take from parts holds there, too."""
    program = """
from google.protobuf.internal import api_implementation
assert api_implementation.Type() == "python"
from runnel import train
number = train.Feature(int64_list=train.Int64List(value=[5, 300]))
message = train.Example(features=train.Features(feature={"a": number}))
assert train.Example.FromString(message.SerializeToString()) == message
message.features.feature["b"].CopyFrom(number)
assert message.features.feature["b"] == number
lists = train.FeatureLists(feature_list={"x": train.FeatureList(feature=[number])})
message = train.SequenceExample(feature_lists=lists)
message.feature_lists.feature_list["x"].feature.extend([number, train.Feature()])
assert len(message.feature_lists.feature_list["x"].feature) == 3
try:
    train.Int64List(value=[1.5])
except TypeError:
    print("refused")
"""
    environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.stdout == "refused\n", done.stderr

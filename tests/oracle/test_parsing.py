"""Example and SequenceExample records parsed by TensorFlow and by Runnel."""

import contextlib

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel

train = tensorflow.train


def feature(values):
    if values is None:
        return train.Feature()
    kind = type(values[0]) if len(values) else float
    if kind is int:
        return train.Feature(int64_list=train.Int64List(value=values))
    if kind is float:
        return train.Feature(float_list=train.FloatList(value=values))
    return train.Feature(bytes_list=train.BytesList(value=values))


def features(values):
    return train.Features(feature={key: feature(each) for key, each in values.items()})


def example(**values):
    return train.Example(features=features(values)).SerializeToString()


def sequence(context, **lists):
    rows = {key: train.FeatureList(feature=map(feature, each)) for key, each in lists.items()}
    message = train.SequenceExample(
        context=features(context), feature_lists=train.FeatureLists(feature_list=rows)
    )
    return message.SerializeToString()


def records(*texts):
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def single(text):
    return np.array(text, dtype=object)


def vector(tf, text):
    """Records whose rank is known in every graph: ragged features need that."""
    return tf.ensure_shape(text, [None])


def parts(tf, result):
    """A parsed structure with sparse and ragged tensors taken apart."""
    if isinstance(result, dict):
        return [parts(tf, result[key]) for key in sorted(result)]
    if isinstance(result, tuple | list):
        return [parts(tf, each) for each in result]
    if isinstance(result, tf.SparseTensor):
        return [result.indices, result.values, result.dense_shape]
    if isinstance(result, tf.RaggedTensor):
        return [result.flat_values, *result.nested_row_splits]
    return result


def same(describe, *texts, names=None):
    """Parse a batch, and each of its records alone."""
    check(
        lambda tf, text: parts(tf, tf.io.parse_example(vector(tf, text), describe(tf), names)),
        records(*texts),
        may_raise=True,
    )
    for text in texts:
        check(
            lambda tf, text: parts(tf, tf.io.parse_single_example(text, describe(tf))),
            single(text),
            may_raise=True,
        )


FIRST = example(a=[1.0, 2.0], b=[3], c=[b"x", b"yy"], e=None, g=[], n=[-1, 2**40, 300])
SECOND = example(a=[3.0, 4.0], b=[500], c=[b"z"], n=[7, 8, -(2**63)])

PARSED = {
    "all kinds": lambda tf: {
        "c": tf.io.VarLenFeature(tf.string),
        "b": tf.io.FixedLenFeature([], tf.int64),
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "n": tf.io.RaggedFeature(tf.int64),
        "no": tf.io.RaggedFeature(tf.float32),
    },
    "reshaped": lambda tf: {"a": tf.io.FixedLenFeature([2, 1], tf.float32)},
    "integers": lambda tf: {"n": tf.io.FixedLenFeature((3,), "int64")},
    "defaults": lambda tf: {
        "q": tf.io.FixedLenFeature([], tf.int64, 7),
        "e": tf.io.FixedLenFeature([2], tf.float32, [1, 2]),
        "s": tf.io.FixedLenFeature([1, 2], tf.string, [["k", "l"]]),
    },
    "some missing": lambda tf: {"e": tf.io.VarLenFeature(tf.float32)},
    "padded": lambda tf: {"c": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True)},
    "padded with p": lambda tf: {
        "c": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value="p")
    },
    "padded pairs": lambda tf: {
        "a": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)
    },
    "padded nothing": lambda tf: {
        "zz": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)
    },
    "an empty list": lambda tf: {"g": tf.io.VarLenFeature(tf.float32)},
}


@pytest.mark.parametrize("case", PARSED)
def test_parsed(case):
    same(PARSED[case], FIRST, SECOND)


def test_an_empty_batch_and_empty_records():
    same(PARSED["all kinds"], *[])
    same(lambda tf: {"c": tf.io.VarLenFeature(tf.string)}, b"", b"")


def test_scalars_of_single_records():
    def describe(tf):
        return {
            "i": tf.io.FixedLenFeature([], tf.int64),
            "f": tf.io.FixedLenFeature([], tf.float32),
            "s": tf.io.FixedLenFeature([], tf.string),
            "d": tf.io.FixedLenFeature([], tf.int64, 5),
        }

    for number in (0, 1, -1, 127, 128, 2**62, -(2**63)):
        for text in (b"", b"x", b"y" * 200):
            same(describe, example(i=[number], f=[1.5], s=[text], d=[number]))
    same(describe, example(i=[1], f=[1.5], s=[b""]))
    same(describe, example(i=[1], f=[1.5], s=[b"a", b"b"], d=[1]))
    same(describe, example(i=[1, 2], f=[1.5], s=[b"a"], d=[1]))
    same(describe, example(i=[1], f=[1.5, 2.0], s=[b"a"], d=[1]))
    same(describe, example(i=[1], f=[1], s=[b"a"], d=[1]))
    same(describe, example(i=[1], f=[1.5], s=[1.0], d=[1]))


REFUSED = {
    "required": lambda tf: {"q": tf.io.FixedLenFeature([], tf.int64)},
    "without a kind": lambda tf: {"e": tf.io.FixedLenFeature([2], tf.float32)},
    "wrong dtype": lambda tf: {"a": tf.io.FixedLenFeature([2], tf.int64)},
    "wrong dtype, sparse": lambda tf: {"a": tf.io.VarLenFeature(tf.int64)},
    "wrong dtype, ragged": lambda tf: {"a": tf.io.RaggedFeature(tf.int64)},
    "wrong dtype, padded": lambda tf: {
        "a": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)
    },
    "wrong count": lambda tf: {"a": tf.io.FixedLenFeature([3], tf.float32)},
    "empty list": lambda tf: {"g": tf.io.FixedLenFeature([2], tf.float32, [1, 2])},
    "no multiple": lambda tf: {
        "a": tf.io.FixedLenSequenceFeature([3], tf.float32, allow_missing=True)
    },
    "missing not allowed": lambda tf: {"a": tf.io.FixedLenSequenceFeature([], tf.float32)},
    "default of another shape": lambda tf: {"q": tf.io.FixedLenFeature([2], tf.int64, 7)},
    "default of another dtype": lambda tf: {"q": tf.io.FixedLenFeature([2], tf.int64, 7.5)},
    "unknown first dimension": lambda tf: {"a": tf.io.FixedLenFeature([None], tf.float32)},
    "unknown dimension": lambda tf: {"a": tf.io.FixedLenFeature([1, None], tf.float32)},
    "no shape": lambda tf: {"a": tf.io.FixedLenFeature(None, tf.float32)},
    "no dtype": lambda tf: {"a": tf.io.FixedLenFeature([2], None)},
    "no such dtype": lambda tf: {"a": tf.io.FixedLenFeature([2], tf.float64)},
    "no such dtype, sparse": lambda tf: {"a": tf.io.VarLenFeature(tf.int32)},
    "nothing": lambda tf: {},
    "no feature": lambda tf: {"a": 3},
    "two uses of a key": lambda tf: {
        "r": tf.io.RaggedFeature(tf.float32, "a"),
        "a": tf.io.VarLenFeature(tf.float32),
    },
    "two dtypes of a key": lambda tf: {
        "s": tf.io.SparseFeature("b", "a", tf.float32, 5),
        "a": tf.io.VarLenFeature(tf.int64),
    },
    "no index key": lambda tf: {"s": tf.io.SparseFeature([], "a", tf.float32, [])},
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    describe = REFUSED[case]
    check_raises(lambda tf, text: tf.io.parse_example(text, describe(tf)), records(FIRST, SECOND))
    check_raises(lambda tf, text: tf.io.parse_single_example(text, describe(tf)), single(FIRST))


@pytest.mark.parametrize("case", ["required", "wrong dtype", "wrong count"])
def test_messages_name_record_and_feature(case):
    refusal = check_raises(
        lambda tf, text: tf.io.parse_example(text, REFUSED[case](tf), example_names=["one", "two"]),
        records(FIRST, SECOND),
        message="Name: one",
    )
    key = "q" if case == "required" else "a"
    assert f": {key}" in str(refusal)


def test_wrong_calls():
    describe = PARSED["all kinds"]
    check_raises(lambda tf: tf.io.parse_single_example([FIRST], describe(tf)))
    check_raises(lambda tf: tf.io.parse_example([[FIRST]], describe(tf)))
    check_raises(lambda tf: tf.io.parse_example([1], describe(tf)))
    check_raises(lambda tf: tf.io.parse_example([FIRST], None))
    check_raises(lambda tf: tf.io.parse_example([FIRST], describe(tf), example_names=["a", "b"]))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int32))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.float32))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int64, partitions="ab"))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int64, partitions=["ab"]))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int64, value_key=3))
    check_raises(lambda tf: tf.io.RaggedFeature(tf.int64, validate=3))


def test_configurations_print_alike():
    def shown(tf):
        ragged = tf.io.RaggedFeature
        return [
            tf.io.FixedLenFeature([2], tf.float32),
            tf.io.VarLenFeature(tf.int64),
            ragged(tf.float32, "v", [ragged.RowSplits("r"), ragged.UniformRowLength(2)]),
            tf.io.SparseFeature("a", "b", tf.int64, 3),
            tf.io.FixedLenSequenceFeature([], tf.int64),
        ]

    assert repr(shown(runnel)) == repr(shown(tensorflow))


POINTS = example(x=[0, 3, 1], v=[1.0, 2.0, 3.0], y=[1, 1, 2])
POINT = example(x=[4], v=[7.0], y=[0])


@pytest.mark.parametrize("keys, size", [("x", 5), (["x", "y"], [5, 3]), (["x"], [5])])
@pytest.mark.parametrize("already_sorted", [False, True])
def test_sparse_features(keys, size, already_sorted):
    same(
        lambda tf: {
            "s": tf.io.SparseFeature(keys, "v", tf.float32, size, already_sorted),
            "x": tf.io.VarLenFeature(tf.int64),
        },
        POINTS,
        POINT,
    )


def test_sparse_features_refused():
    for keys, size in (("x", [5]), (["x", "y"], 5)):
        check_raises(
            lambda tf, text, keys=keys, size=size: tf.io.parse_example(
                text, {"s": tf.io.SparseFeature(keys, "v", tf.float32, size)}
            ),
            records(POINTS, POINT),
        )


ROWS = example(
    v=[1.0, 2.0, 3.0, 4.0], splits=[0, 1, 4], lengths=[1, 3], starts=[0, 2, 2], limits=[1, 3, 4],
    ids=[0, 0, 1, 3], outer=[2], inner=[1, 3],
)  # fmt: skip
MORE_ROWS = example(
    v=[5.0, 6.0], splits=[0, 2], lengths=[2], starts=[0], limits=[2], ids=[0, 1], outer=[1, 0, 1],
    inner=[2, 0],
)  # fmt: skip
NO_ROWS = example(splits=[0], b=[1])

PARTITIONS = {
    "none": lambda ragged: [],
    "splits": lambda ragged: [ragged.RowSplits("splits")],
    "lengths": lambda ragged: [ragged.RowLengths("lengths")],
    "starts": lambda ragged: [ragged.RowStarts("starts")],
    "limits": lambda ragged: [ragged.RowLimits("limits")],
    "ids": lambda ragged: [ragged.ValueRowIds("ids")],
    "uniform": lambda ragged: [ragged.UniformRowLength(2)],
    "two": lambda ragged: [ragged.RowLengths("outer"), ragged.RowLengths("inner")],
    "uniform inside": lambda ragged: [ragged.RowLengths("outer2"), ragged.UniformRowLength(2)],
    "uniform outside": lambda ragged: [ragged.UniformRowLength(1), ragged.RowLengths("lengths")],
}


@pytest.mark.parametrize("case", PARTITIONS)
@pytest.mark.parametrize("wide", [False, True])
def test_ragged_partitions(case, wide):
    def describe(tf):
        return {
            "r": tf.io.RaggedFeature(
                tf.float32,
                "v",
                PARTITIONS[case](tf.io.RaggedFeature),
                row_splits_dtype=tf.int64 if wide else tf.int32,
            )
        }

    texts = [ROWS, MORE_ROWS]
    if case == "uniform inside":
        texts = [example(v=[1.0] * 4, outer2=[1, 1]), example(v=[2.0] * 2, outer2=[0, 1])]
    if case not in ("two", "uniform outside", "uniform inside"):
        texts.append(NO_ROWS)
    check(
        lambda tf, text: parts(tf, tf.io.parse_example(vector(tf, text), describe(tf))),
        records(*texts),
    )
    check(
        lambda tf, text: parts(tf, tf.io.parse_single_example(text, describe(tf))),
        single(texts[0]),
    )


def test_shapes_in_a_graph():
    description = {
        "a": runnel.io.FixedLenFeature([2], runnel.float32),
        "c": runnel.io.VarLenFeature(runnel.string),
        "q": runnel.io.FixedLenSequenceFeature([3], runnel.int64, allow_missing=True),
    }

    @runnel.function(input_signature=[runnel.TensorSpec([None], runnel.string)])
    def batch(text):
        found = runnel.io.parse_example(text, description)
        assert found["a"].shape.as_list() == [None, 2]
        assert found["q"].shape.as_list() == [None, None, 3]
        assert found["c"].indices.shape.as_list() == [None, 2]
        return found["a"]

    @runnel.function(input_signature=[runnel.TensorSpec(None, runnel.string)])
    def one(text):
        found = runnel.io.parse_single_example(text, description)
        assert found["a"].shape.as_list() == [2]
        assert found["q"].shape.as_list() == [None, 3]
        return found["a"]

    @runnel.function(input_signature=[runnel.TensorSpec(None, runnel.string)])
    def unranked(text):
        return runnel.io.parse_example(text, {"r": runnel.io.RaggedFeature(runnel.int64)})

    with pytest.raises(ValueError, match="statically-known rank"):
        unranked(FIRST)
    assert batch([FIRST, SECOND]).numpy().tolist() == [[1, 2], [3, 4]]
    assert one(FIRST).numpy().tolist() == [1, 2]


def test_in_a_dataset():
    def pipeline(tf):
        description = PARSED["all kinds"](tf)
        source = tf.data.Dataset.from_tensor_slices([FIRST, SECOND])
        singles = source.map(lambda text: tf.io.parse_single_example(text, description))
        batches = source.batch(2).map(lambda text: tf.io.parse_example(text, description))
        return parts(tf, [*singles, *batches])

    check(lambda tf: pipeline(tf), traced=False)


def delimited(tag, data):
    assert len(data) < 128
    return bytes([tag, len(data)]) + data


def entry(key, value):
    return delimited(0x0A, delimited(0x0A, key) + delimited(0x12, value))


ONE = delimited(0x1A, delimited(0x0A, b"\x01"))
TWO = delimited(0x1A, delimited(0x0A, b"\x02"))
WIRES = {
    "last of two": delimited(0x0A, entry(b"a", ONE) + entry(b"a", TWO)),
    "two messages": delimited(0x0A, entry(b"a", ONE)) + delimited(0x0A, entry(b"a", TWO)),
    "unpacked": delimited(0x0A, entry(b"a", delimited(0x1A, b"\x08\x05\x08\x06"))),
    "value first": delimited(0x0A, delimited(0x0A, delimited(0x12, ONE) + delimited(0x0A, b"a"))),
    "unknown fields": b"\x18\x05" + delimited(0x0A, entry(b"a", ONE)) + delimited(0x22, b"abc")
    + b"\x2d1234" + b"\x3112345678",
    "broken but unwanted": delimited(0x0A, entry(b"z", b"\xff\xff") + entry(b"a", ONE)),
    "10 bytes": delimited(
        0x0A, entry(b"a", delimited(0x1A, delimited(0x0A, b"\xff" * 9 + b"\x01")))
    ),
    "11 bytes": delimited(
        0x0A, entry(b"a", delimited(0x1A, delimited(0x0A, b"\xff" * 10 + b"\x01")))
    ),
    "cut number": delimited(0x0A, entry(b"a", delimited(0x1A, delimited(0x0A, b"\xff")))),
    "kind after kind": delimited(0x0A, entry(b"a", ONE + delimited(0x12, delimited(10, b"1234")))),
    "cut": example(a=[1, 2, 3])[:-1],
    "tag 0": b"\0",
    "group": b"\x1b\x1c",
}  # fmt: skip


@pytest.mark.parametrize("case", WIRES)
def test_wire_formats(case):
    same(lambda tf: {"a": tf.io.VarLenFeature(tf.int64)}, WIRES[case])


def test_a_key_that_is_no_text():
    check(
        lambda tf, text: tf.io.parse_example(text, {b"\xff": tf.io.FixedLenFeature([], tf.int64)}),
        records(delimited(0x0A, entry(b"\xff", ONE))),
    )


def test_lengths_are_not_believed():
    for text in (b"\x0a" + b"\xff" * 8 + b"\x7f", b"\x0a\xff\xff\xff\xff\x0f\x0a"):
        with pytest.raises(runnel.errors.InvalidArgumentError):
            runnel.io.parse_example([text], {"a": runnel.io.VarLenFeature(runnel.int64)})


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_damaged_records_give_clean_errors(data):
    """Whatever the bytes, there is a result or an InvalidArgumentError."""
    text = bytearray(data.draw(st.sampled_from([FIRST, SECOND, SEQUENCE, ROWS])))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
        text = text or bytearray(b"\0")
    text = bytes(text)
    for parse in (
        lambda: runnel.io.parse_example([text, FIRST], PARSED["all kinds"](runnel)),
        lambda: runnel.io.parse_single_example(text, PARSED["all kinds"](runnel)),
        lambda: runnel.io.parse_sequence_example([text], None, LISTS["ragged"](runnel)),
        lambda: runnel.io.parse_single_sequence_example(text, None, LISTS["sparse"](runnel)),
    ):
        with contextlib.suppress(runnel.errors.InvalidArgumentError):
            parse()


numbers = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
fractions = st.lists(st.floats(width=32), max_size=4)
texts = st.lists(st.binary(max_size=3), max_size=4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(numbers, fractions, texts), min_size=1, max_size=3))
def test_any_values(rows):
    messages = []
    for integers, floats, strings in rows:
        row = {
            "i": train.Feature(int64_list=train.Int64List(value=integers)),
            "f": train.Feature(float_list=train.FloatList(value=floats)),
            "s": train.Feature(bytes_list=train.BytesList(value=strings)),
        }
        message = train.Example(features=train.Features(feature=row))
        messages.append(message.SerializeToString())

    def describe(tf):
        return {
            "i": tf.io.VarLenFeature(tf.int64),
            "f": tf.io.RaggedFeature(tf.float32),
            "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
        }

    check(
        lambda tf, text: parts(tf, tf.io.parse_example(vector(tf, text), describe(tf))),
        records(*messages),
        gradient=False,
    )


SEQUENCE = sequence(
    {"a": [1.0, 2.0], "b": [3]}, l=[[1, 2], [3, 4]], w=[[b"x"], [b"y", b"z"], None],
    f=[[1.0], [2.0], [3.0]],
)  # fmt: skip
SHORTER = sequence({"a": [4.0, 5.0], "b": [6]}, l=[[5, 6]], w=[[b"q"]], f=[])

LISTS = {
    "dense": lambda tf: {
        "l": tf.io.FixedLenSequenceFeature([2], tf.int64),
        "f": tf.io.FixedLenSequenceFeature([], tf.float32),
    },
    "deeper": lambda tf: {"l": tf.io.FixedLenSequenceFeature([2, 1], tf.int64)},
    "sparse": lambda tf: {
        "w": tf.io.VarLenFeature(tf.string),
        "q": tf.io.VarLenFeature(tf.int64),
        "l": tf.io.VarLenFeature(tf.int64),
    },
    "ragged": lambda tf: {
        "w": tf.io.RaggedFeature(tf.string),
        "l": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
        "q": tf.io.RaggedFeature(tf.float32),
    },
    "partitioned": lambda tf: {
        "s": tf.io.RaggedFeature(tf.int64, "l", [tf.io.RaggedFeature.UniformRowLength(2)])
    },
    "may be missing": lambda tf: {
        "q": tf.io.FixedLenSequenceFeature([3], tf.int64, allow_missing=True)
    },
    "is missing": lambda tf: {"q": tf.io.FixedLenSequenceFeature([3], tf.int64)},
    "wrong dtype": lambda tf: {"l": tf.io.FixedLenSequenceFeature([2], tf.float32)},
    "wrong dtype, sparse": lambda tf: {"l": tf.io.VarLenFeature(tf.float32)},
    "wrong dtype, ragged": lambda tf: {"l": tf.io.RaggedFeature(tf.float32)},
    "wrong count": lambda tf: {"l": tf.io.FixedLenSequenceFeature([3], tf.int64)},
    "a step without values": lambda tf: {"w": tf.io.FixedLenSequenceFeature([], tf.string)},
    "a default": lambda tf: {"l": tf.io.FixedLenSequenceFeature([2], tf.int64, default_value=3)},
    "fixed": lambda tf: {"l": tf.io.FixedLenFeature([2], tf.int64)},
    "no such dtype": lambda tf: {"l": tf.io.FixedLenSequenceFeature([2], tf.int32)},
}
CONTEXTS = {
    "dense": lambda tf: {
        "a": tf.io.FixedLenFeature([2], tf.float32),
        "b": tf.io.FixedLenFeature([], tf.int64),
    },
    "others": lambda tf: {
        "a": tf.io.VarLenFeature(tf.float32),
        "b": tf.io.RaggedFeature(tf.int64),
        "d": tf.io.FixedLenFeature([2], tf.int64, [8, 9]),
    },
    "missing": lambda tf: {"q": tf.io.FixedLenFeature([], tf.int64)},
    "wrong dtype": lambda tf: {"a": tf.io.FixedLenFeature([2], tf.int64)},
    "wrong count": lambda tf: {"a": tf.io.FixedLenFeature([3], tf.float32)},
    "a sequence": lambda tf: {"a": tf.io.FixedLenSequenceFeature([], tf.float32, True)},
    "a sparse feature": lambda tf: {"s": tf.io.SparseFeature("b", "a", tf.float32, 9)},
}


@pytest.mark.parametrize("context, lists", [
    *[(None, case) for case in LISTS], *[(case, None) for case in CONTEXTS], ("dense", "dense"),
    ("others", "ragged"), ("dense", "sparse"),
])  # fmt: skip
def test_sequences(context, lists):
    def arguments(tf):
        return CONTEXTS[context](tf) if context else None, LISTS[lists](tf) if lists else None

    check(
        lambda tf, text: parts(tf, tf.io.parse_sequence_example(vector(tf, text), *arguments(tf))),
        records(SEQUENCE, SHORTER),
        may_raise=True,
    )
    check(
        lambda tf, text: parts(tf, tf.io.parse_single_sequence_example(text, *arguments(tf))),
        single(SEQUENCE),
        may_raise=True,
    )


def test_sequences_called_wrongly():
    description = LISTS["dense"]
    check_raises(lambda tf: tf.io.parse_sequence_example([SEQUENCE]))
    check_raises(lambda tf: tf.io.parse_single_sequence_example(SEQUENCE))
    check_raises(lambda tf: tf.io.parse_single_sequence_example([SEQUENCE], None, description(tf)))
    check_raises(lambda tf: tf.io.parse_sequence_example([[SEQUENCE]], None, description(tf)))
    check_raises(lambda tf: tf.io.parse_sequence_example([SEQUENCE[:-2]], None, description(tf)))
    check_raises(
        lambda tf: tf.io.parse_single_sequence_example(
            SEQUENCE, CONTEXTS["missing"](tf), None, example_name="one"
        ),
        message="Name: one",
    )


JSON = [
    '{"features": {"feature": {"a": {"int64List": {"value": ["1", 2, -3]}}}}}', "{}",
    '{"features": {"feature": {"a": {"float_list": {"value": [1.5, "NaN", "-Infinity", 2]}}}}}',
    '{"features": {"feature": {"b": {"bytesList": {"value": ["eA==", ""]}}, "a": {}}}}',
    '{"features": {"feature": {"b": {"int64List": {}}, "c": {"int64List": {"value": []}}}}}',
    '{"features": {}}', "{", "", "[]", '{"x": 1}', '{"features": {"feature": {"b": 3}}}',
    '{"features": {"feature": {"b": {"bytesList": {"value": ["e"]}}}}}',
    '{"features": {"feature": {"b": {"int64List": {"value": [1.5]}}}}}',
    '{"features": {"feature": {"b": {"int64List": {"value": ["x"]}}}}}',
    '{"features": {"feature": {"b": {"int64List": {"value": [9223372036854775808]}}}}}',
    '{"features": {"feature": {"b": {"floatList": {"value": [true]}}}}}',
]  # fmt: skip


@pytest.mark.parametrize("text", JSON)
def test_json(text):
    check(
        lambda tf, text: tf.io.decode_json_example(text),
        records(text.encode(), b"{}"),
        may_raise=True,
    )


def test_sparse_tensors_as_strings():
    dense = np.int32([[0, 1, 0], [0, 0, 0], [2, 0, 3]])

    def as_sparse(tf):
        return tf.sparse.from_dense(dense)

    check(lambda tf: tf.io.serialize_sparse(as_sparse(tf)))
    check(lambda tf: tf.io.serialize_many_sparse(as_sparse(tf)))
    check(
        lambda tf: parts(
            tf, tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(as_sparse(tf)), tf.int32)
        )
    )
    check(
        lambda tf: parts(
            tf,
            tf.io.deserialize_many_sparse(
                tf.stack([tf.io.serialize_sparse(tf.sparse.from_dense(d)) for d in ([[1]], dense)]),
                tf.int32,
                rank=3,
            ),
        )
    )
    check_raises(lambda tf: tf.io.serialize_many_sparse(tf.sparse.from_dense([1, 0])))
    check_raises(lambda tf: tf.io.serialize_sparse([1]))
    for dtype, rank in (("float32", None), ("int32", 3)):
        check_raises(
            lambda tf, dtype=dtype, rank=rank: tf.io.deserialize_many_sparse(
                tf.io.serialize_many_sparse(as_sparse(tf)), dtype, rank
            )
        )
    check_raises(lambda tf: tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.int32))


def test_file_names_matched_once(tmp_path):
    (tmp_path / "f1").touch()
    found = [tf.io.match_filenames_once(f"{tmp_path}/f*") for tf in (tensorflow, runnel)]
    (tmp_path / "f2").touch()
    theirs, ours = found
    assert isinstance(ours, runnel.Variable) and not ours.trainable
    assert ours.numpy().tolist() == theirs.numpy().tolist()


def test_names_of_compressions():
    for option in ("GZIP", "ZLIB", "", None, 2, 1, 0):
        names = [
            tf.io.TFRecordOptions.get_compression_type_string(option) for tf in (tensorflow, runnel)
        ]
        assert names[0] == names[1]
    ours = runnel.io.TFRecordOptions
    assert ours.get_compression_type_string(ours("ZLIB")) == "ZLIB"
    assert ours.compression_type_map == tensorflow.io.TFRecordOptions.compression_type_map
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        ours.get_compression_type_string("foo")


def test_records_of_one_length_that_differ_in_their_keys():
    rows = [example(**{key: [number]}) for number in (1, 2, 3) for key in "abab"]
    rows += [example(ab=[1]), example(a=[1, 2]), example(a=[b"x"])[:-1] + b"\x01"]
    for row in rows * 2:
        check(
            lambda tf, text: parts(
                tf, tf.io.parse_example(text, {"a": tf.io.FixedLenFeature([], tf.int64, 9)})
            ),
            records(row),
            traced=False,
            may_raise=True,
        )
    same(lambda tf: {"a": tf.io.VarLenFeature(tf.int64)}, *rows[:-1])

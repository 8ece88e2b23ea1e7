"""Fields of protocol messages against TensorFlow."""

import random

import numpy as np
import pytest
import tensorflow
from compare import assert_same, check, check_raises
from google.protobuf import descriptor_pb2
from message_sets import FILES, SCALARS, SOURCE, full_message, number_of

import runnel
from runnel.formats.wire import varint

FULL = full_message()
# Packed int32 as int64: the original loses the sign.
WITHOUT_SIGN = ("packed_int32", "int64")
OTHERS = {
    "one_inner": "string",
    "many_inner": "string",
    "one_colour": "int32",
    "many_colour": "int32",
    "packed_colour": "int32",
    "alone": "string",
    "several": "string",
    "pairs": "string",
    "two.plus": "int32",
    "two.pluses": "string",
}


def texts(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def decoder(fields, name="two.All", source=SOURCE, **options):
    """A function from messages to their fields, given by name and dtype."""

    def decode(tf, messages):
        types = [getattr(tf, each) for each in fields.values()]
        names = list(fields)
        return tf.io.decode_proto(messages, name, names, types, source, **options)

    return decode


def part(field, wire, content, name="two.All"):
    """A field on the wire."""
    return varint(number_of(field, name) << 3 | wire) + content


@pytest.mark.parametrize("kind", SCALARS)
def test_every_scalar_type(kind):
    for prefix in ("one", "many", "packed"):
        for dtype in SCALARS[kind][1]:
            name = f"{prefix}_{kind}"
            absent = prefix == "packed" and kind in ("string", "bytes")
            if not absent and (name, dtype) != WITHOUT_SIGN:
                check(decoder({name: dtype}), texts(FULL, b"", FULL))


def test_the_sign_of_packed_numbers():
    found = decoder({"packed_int32": "int64"})(runnel, [FULL])
    assert found.values[0].numpy().tolist() == [[-5, 0, -5]]


def test_messages_groups_enumerations_maps_and_extensions():
    extended = FULL + varint(200 << 3) + b"\5" + varint(201 << 3 | 2) + b"\1a"
    check(decoder(OTHERS), texts(b"", extended))


def test_dtypes_that_do_not_fit():
    types = ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint32",
             "uint64", "bool", "string", "complex64"]  # fmt: skip
    for kind, (_, fitting) in [*SCALARS.items(), ("inner", (0, ["string"]))]:
        for dtype in types:
            if dtype not in fitting:
                check_raises(decoder({f"one_{kind}": dtype}), texts(b""), message="output type")


@pytest.mark.parametrize("shape", [(), (1,), (2, 1), (1, 2, 3)])
def test_batches(shape):
    several = [b"", FULL, part("many_int32", 0, b"\5")] * 2
    batch = texts(*several[: int(np.prod(shape))]).reshape(shape)
    check(decoder({"many_int32": "int32", "one_string": "string"}), batch)


def test_no_batch_and_no_fields():
    check(decoder({}), texts(b"", FULL))
    failure = check_raises(decoder({"one_int32": "int32"}), np.zeros((2, 0), object))
    assert "at least one" in str(failure)


def test_defaults():
    fields = {kind: dtypes[-1] for kind, (_, dtypes) in SCALARS.items()}
    check(decoder({**fields, "colour": "int32"}, "two.Defaults"), texts(b""))
    fields = {f"many_{kind}": dtypes[0] for kind, (_, dtypes) in SCALARS.items()}
    check(decoder({**fields, "left": "int32", "inner": "string"}, "three.All"), texts(b""))


TWICE = part("one_inner", 2, b"\2\x08\1") + part("one_inner", 2, b"\3\x12\1x")
CHOICES = part("left", 0, b"\1", "three.All") + part("right", 2, b"\1r", "three.All")
ODD = {
    "twice": (part("one_int32", 0, b"\1") + part("one_int32", 0, b"\2"), "one_int32"),
    "wrong wire type": (part("one_int32", 5, b"\2\1\2\1"), "one_int32"),
    "number for text": (part("one_string", 0, b"\2"), "one_string"),
    "packed and not": (part("many_int32", 2, b"\2\1\2") + part("many_int32", 0, b"\5"),
                       "many_int32"),
    "nothing packed": (part("packed_int32", 2, b"\0"), "packed_int32"),
    "spoiled packed": (part("packed_int32", 2, b"\1\x80"), "packed_int32"),
    "packed of odd length": (part("packed_fixed32", 2, b"\3abc"), "packed_fixed32"),
    "truths": (part("many_bool", 2, b"\3\0\2\1"), "many_bool"),
    "cut text": (part("one_string", 2, b"\5ab"), "one_string"),
    "cut text unread": (part("one_string", 2, b"\5ab"), "one_int32"),
    "cut number": (part("one_int32", 0, b"\x80"), "one_int32"),
    "cut fixed number": (part("one_double", 1, b"\x80"), "one_double"),
    "cut tag": (b"\x80", "one_int32"),
    "zero tag": (b"\0", "one_int32"),
    "field 0": (b"\2\1a", "one_int32"),
    "end of no group": (varint(7 << 3 | 4), "one_int32"),
    "wire type 6": (varint(7 << 3 | 6), "one_double"),
    "wire type 7": (part("one_int32", 7, b""), "one_int32"),
    "open group": (part("alone", 3, b"\x08\1"), "alone"),
    "open group unread": (part("alone", 3, b"\x08\1"), "one_int32"),
    "end of another group": (part("alone", 3, b"\x08\1") + part("several", 4, b""), "alone"),
    "group in a group": (part("alone", 3, b"\x13\x08\1\x14") + part("alone", 4, b""), "alone"),
    "deep groups": (b"\x0b" * 90 + b"\x0c" * 90, "one_int32"),
    "too deep groups": (b"\x0b" * 120 + b"\x0c" * 120, "one_int32"),
    "wide number": (part("one_int32", 0, varint(2**40 + 5)), "one_int32"),
    "eleven bytes": (part("one_int64", 0, b"\xff" * 10 + b"\1"), "one_int64"),
    "ten full bytes": (part("one_int64", 0, b"\xff" * 9 + b"\x7f"), "one_int64"),
    "wide truth": (part("one_bool", 0, varint(2**40)), "one_bool"),
    "no such colour": (part("one_colour", 0, b"\x4d"), "one_colour"),
    "no text": (part("one_string", 2, b"\1\xff"), "one_string"),
    "wide tag": (varint((5 << 3) + 2**32) + b"\1", "one_int32"),
    "long tag": (b"\xa8\x80\x80\x80\x80\0\1", "one_int32"),
    "negative length": (part("one_string", 2, varint(-1)), "one_string"),
    "long length": (part("one_string", 2, varint(2**32)), "one_string"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_messages(name):
    data, field = ODD[name]
    kind = field.partition("_")[2]
    dtype = SCALARS[kind][1][0] if kind in SCALARS else OTHERS[field]
    check(decoder({field: dtype}), texts(data), may_raise=True)


def test_sanitized_messages():
    check(decoder({"one_inner": "string"}), texts(TWICE))
    check(decoder({"one_inner": "string"}, sanitize=True), texts(TWICE))
    choice = {"left": "int32", "right": "string"}
    check(decoder(choice, "three.All"), texts(CHOICES))
    check(decoder(choice, "three.All", sanitize=True), texts(CHOICES))
    field = {"one_string": "string"}
    bad = part("one_string", 2, b"\1\xff", "three.All")
    check(decoder(field, "three.All"), texts(bad))
    check_raises(decoder(field, "three.All", sanitize=True), texts(bad), message="parse")
    required = {"x": "int32", "y": "int32"}
    check(decoder(required, "two.Required"), texts(b"\x10\5"))
    check_raises(decoder(required, "two.Required", sanitize=True), texts(b"\x10\5"))


def test_text():
    text = """one_int32: 5 many_inner {a: 1} many_inner {b: 'x' b: 'y'} Alone {a: 3}
        one_colour: GREEN many_float: inf many_float: nan pairs {key: 'a' value: 3}
        one_bytes: '\\xff\\001' one_string: 'é' [two.plus]: 4"""
    fields = {"one_int32": "int32", "many_float": "float32", "one_bytes": "string", **OTHERS}
    options = {"message_format": "text"}
    check(decoder(fields, **options), texts(text.replace("Alone", "alone").encode(), b""))
    for wrong in (b"one_int32: x", b"zzz: 1", b"one_int32 {"):
        check_raises(decoder({"one_int32": "int32"}, **options), texts(wrong), message="text")
    check_raises(decoder({"x": "int32"}, "two.Required", **options), texts(b"y: 5"))
    check(decoder({"one_int32": "int32"}, "three.All", **options), texts(b"one_int32: 0"))


@pytest.mark.parametrize(
    "call",
    [
        decoder({"zz": "int32"}),
        decoder({"plus": "int32"}),
        decoder({"two.All.one_int32": "int32"}),
        decoder({"two.plus": "int32"}, "two.Required"),
        decoder({"x": "int32"}, "two.Nothing"),
        decoder({"x": "int32"}, ".two.Required"),
        decoder({"x": "int32"}, ""),
        decoder({"x": "int32"}, "two.Colour"),
        decoder({"x": "int32"}, "two.Required", "no such file"),
        decoder({"x": "int32"}, "two.Required", "bytes://garbage"),
        decoder({"x": "int32"}, "two.Required", "bytes://"),
        decoder({"x": "int32"}, "two.Required", message_format="json"),
        lambda tf, x: tf.io.decode_proto(x, "two.Required", ["x"], [tf.int32] * 2, SOURCE),
        lambda tf, x: tf.io.decode_proto([b""], "two.All", "one_int32", [tf.int32], SOURCE),
        lambda tf, x: tf.io.decode_proto(x, "two.Required", ["x"], tf.int32, SOURCE),
        lambda tf, x: tf.io.decode_proto(x, "two.Required", [5], [tf.int32], SOURCE),
        lambda tf, x: tf.io.decode_proto(x, 5, ["x"], [tf.int32], SOURCE),
        lambda tf, x: tf.io.decode_proto([1], "two.Required", ["x"], [tf.int32], SOURCE),
    ],
)
def test_refused_descriptions(call):
    check_raises(call, texts(b""))


def test_missing_imports():
    alone = descriptor_pb2.FileDescriptorSet(file=[FILES.file[1]])
    source = b"bytes://" + alone.SerializeToString()
    field = {"one_int32": "int32"}
    check_raises(decoder(field, "three.All", source), texts(b""), message="three.proto")


def test_descriptors_in_a_file(tmp_path):
    path = tmp_path / "set.pb"
    path.write_bytes(FILES.SerializeToString())
    for source in (str(path), f"file://{path}"):
        check(decoder({"one_int32": "int32"}, source=source), texts(FULL))
    path.write_bytes(b"")
    # The original keeps what it has read once.
    with pytest.raises(runnel.errors.InvalidArgumentError, match="No descriptor found"):
        decoder({"one_int32": "int32"}, source=str(path))(runnel, [b""])


@pytest.mark.parametrize("source", ["local://", ""])
def test_messages_of_the_library(source):
    features = {"a": tensorflow.train.Feature(int64_list={"value": [1]})}
    example = tensorflow.train.Example(features={"feature": features}).SerializeToString()
    check(decoder({"features": "string"}, "tensorflow.Example", source), texts(example))


def test_messages_that_tensorflow_would_have_brought():
    from runnel.ops.message_types import _like

    for name in ("Example", "GraphDef", "Summary.Value", "SavedModel", "BundleEntryProto"):
        found = []
        for pool, full in _like(name):
            try:
                found.append(pool.FindMessageTypeByName(full))
            except KeyError:
                continue
        assert found, name
        assert found[0].name == name.rpartition(".")[2]
    check(decoder({"seconds": "int64"}, "google.protobuf.Timestamp", "local://"), texts(b"\x08\3"))


def encoder(fields, name="two.All", source=SOURCE):
    """A function from sizes and values to messages."""
    return lambda tf, sizes, *values: tf.io.encode_proto(sizes, values, fields, name, source)


ONE = np.int32([[1]])


@pytest.mark.parametrize("kind", SCALARS)
def test_every_scalar_type_is_written(kind):
    value, dtypes = SCALARS[kind]
    if isinstance(value, str):
        value = value.encode()
    for dtype in dtypes:
        row = np.array([[value, value]], object if dtype == "string" else dtype)
        for prefix in ("one", "many", "packed"):
            if prefix != "packed" or kind not in ("string", "bytes"):
                function = encoder([f"{prefix}_{kind}"])
                check(function, np.int32([[2 if prefix != "one" else 1]]), row, gradient=False)
    for wrong in ("float16", "int8", "uint8"):
        check_raises(encoder([f"one_{kind}"]), ONE, np.ones((1, 1), wrong), message="dtype")


def test_numbers_that_are_too_large():
    wide = np.int64([[2**40 + 3]])
    for kind in ("int32", "sint32", "sfixed32"):
        check(encoder([f"one_{kind}"]), ONE, wide)
        check(encoder([f"one_{kind}"]), ONE, -wide)
    for kind in ("uint32", "fixed32"):
        check(encoder([f"one_{kind}"]), ONE, wide.astype(np.uint64))


def test_messages_are_written():
    inner, group = texts(b"\x08\3", b"").reshape(1, 2), texts(b"\x08\7", b"").reshape(1, 2)
    sizes = np.int32([[1, 2, 2, 1, 2]])
    names = ["one_inner", "many_inner", "several", "alone", "pairs"]
    check(encoder(names), sizes, inner, inner, group, group, inner)
    spoiled = texts(b"\x80").reshape(1, 1)
    check(encoder(["one_inner"]), ONE, spoiled)
    check(encoder(["one_string"], "three.All"), ONE, texts(b"\xff").reshape(1, 1))
    check(encoder(["packed_colour", "one_colour"]), np.int32([[2, 1]]), *[np.int32([[99, -2]])] * 2)
    check(encoder(["y"], "two.Required"), ONE, np.int32([[5]]))


def test_sizes_and_the_order_of_fields():
    first, second = np.int32([[5, 6], [7, 8]]), np.int32([[1, 2, 3], [4, 5, 6]])
    sizes = np.int32([[2, 1], [0, 3]])
    check(encoder(["packed_int32", "many_int32"]), sizes, first, second)
    check(encoder(["many_int32", "many_int32"], "three.All"), sizes, first, second)
    check(encoder(["one_int32"]), np.int32([[2], [-1]]), first)
    check(encoder(["one_int32"], "three.All"), ONE, np.int32([[0]]))
    check(encoder(["many_int32"]), np.zeros((0, 1), np.int32), np.zeros((0, 1), np.int32))
    check(encoder(["many_int32"]), np.int32([[0]]), np.zeros((1, 0), np.int32))
    check(encoder(["many_int32"]), np.ones((2, 1, 1), np.int32), np.int32([[[0, 1]], [[2, 3]]]))


@pytest.mark.parametrize(
    "arguments",
    [
        (["many_int32"], [[2]], [[5]]),
        (["many_int32"], [[1, 1]], [[5]]),
        (["many_int32"], [[1]], [[5], [6]]),
        (["many_int32"], [[1]], [5]),
        (["many_int32"], 1, 5),
        (["many_int32", "one_int32"], [[1, 1]], [[5]], [[5], [6]]),
        (["many_int32", "one_int32"], [[1, 1]], [[5]], [[[5]]]),
        (["many_int32", "one_int32"], [[1, 1]], [[5]]),
        (["zz"], [[1]], [[5]]),
        (["two.plus"], [[1]], [[5]]),
        ([], [[]]),
    ],
)
def test_refused_values(arguments):
    names, *arrays = arguments
    check_raises(encoder(names), *[np.array(each, np.int32) for each in arrays])


def test_other_refusals():
    five = np.int32([[5]])
    check_raises(encoder(["one_int32"]), np.int64([[1]]), five)
    check_raises(lambda tf: tf.io.encode_proto([[1]], [[[5]]], "one_int32", "two.All", SOURCE))
    check_raises(encoder(["one_int32"], "two.Nothing"), ONE, five)
    check_raises(encoder(["one_int32"], source="no such file"), ONE, five)


def test_there_and_back():
    fields = {f"many_{kind}": dtypes[-1] for kind, (_, dtypes) in SCALARS.items()}
    sizes, values = decoder(fields)(runnel, [FULL, b""])
    again = runnel.io.encode_proto(sizes, values, list(fields), "two.All", SOURCE)
    assert_same(
        decoder(fields)(tensorflow, [FULL, b""]), decoder(fields)(runnel, again.numpy().tolist())
    )


def test_graphs_go_both_ways():
    """Nodes of both ops, with descriptors that are no text."""
    for writer in (runnel, tensorflow):
        with writer.Graph().as_default() as graph:
            placeholder = writer.compat.v1.placeholder(writer.string, [None], "messages")
            sizes, values = decoder({"one_int32": "int32"})(writer, placeholder)
            again = writer.io.encode_proto(sizes, values, ["one_int32"], "two.All", SOURCE)
            writer.identity(again, name="again")
        described = graph.as_graph_def().SerializeToString()
        for reader in (runnel, tensorflow):
            with reader.Graph().as_default(), reader.compat.v1.Session() as session:
                message_read = reader.compat.v1.GraphDef.FromString(described)
                reader.graph_util.import_graph_def(message_read, name="")
                fetches = ["DecodeProtoV2:1", "again:0"]
                found, written = session.run(fetches, {"messages:0": [FULL]})
            assert found.tolist() == [[-5]]
            assert written.tolist() == [part("one_int32", 0, varint(-5))]


def _mutated(source):
    data = bytearray(FULL)
    start = source.randrange(len(data))
    del data[start + source.randrange(200) :]
    for _ in range(source.randrange(4)):
        if data:
            place = source.randrange(len(data))
            data[place : place + source.randrange(3)] = source.randbytes(source.randrange(3))
    return bytes(data)


def test_changed_messages():
    """Where both read a message they read the same, and both refuse the same ones."""
    source = random.Random(3)
    kinds = ("int32", "fixed64", "string", "float", "sint64")
    fields = {
        f"{prefix}_{kind}": SCALARS[kind][1][0] for kind in kinds for prefix in ("one", "many")
    }
    decode = decoder({**fields, "several": "string", "one_inner": "string"})
    for _ in range(300):
        data = _mutated(source)
        if not _packs_one(data):
            check(decode, texts(data), traced=False, may_raise=True)


def _packs_one(data):
    """Whether a field that is there once has a packed value, of which the original makes a 0."""
    kinds = ("int32", "fixed64", "float", "sint64")
    return any(part(f"one_{kind}", 2, b"") in data for kind in kinds)


def test_the_type_of_the_result():
    found = decoder({"one_int32": "int32"})(runnel, [b""])
    assert type(found).__name__ == "DecodeProtoV2"
    assert found._fields == ("sizes", "values")
    assert isinstance(found.values, list)

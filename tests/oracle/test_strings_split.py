"""Splits, n-grams and formatted text against TensorFlow."""

import numpy as np
import pytest
from compare import COMPUTED, check, check_raises
from hypothesis import given, settings, strategies as st

import runnel
from runnel.core.graph.graph import Graph


def parts(result):
    """A ragged tensor as plain tensors; a plain tensor as it is."""
    if hasattr(result, "flat_values"):
        return [result.flat_values, *result.nested_row_splits]
    return [result]


def check_rows(function, *arrays):
    """Compare ragged results; in a graph too, which has to know the ranks."""
    eager = check(lambda tf, *x: parts(function(tf, *x)), *arrays, traced=False)
    if isinstance(eager, Exception):
        return
    for known in (True, False):
        graph = Graph()
        feeds = []
        for array in arrays:
            shape = array.shape if known else [None] * array.ndim
            dtype = runnel.constant(array).dtype
            feeds.append((graph.placeholder(dtype, runnel.TensorShape(shape)), array))
        with graph.as_default():
            results = parts(function(runnel, *[tensor for tensor, _ in feeds]))
        COMPUTED.update(operation.type for operation in graph.operations)
        values = graph.compute(results, [(t, runnel.constant(a)._array) for t, a in feeds])
        for result, value, wanted in zip(results, values, eager, strict=True):
            assert result.shape.is_compatible_with(np.shape(value))
            np.testing.assert_array_equal(np.asarray(value), np.asarray(wanted._array))


def texts(*values, shape=(-1,)):
    array = np.empty(len(values), object)
    array[:] = [value.encode() if isinstance(value, str) else value for value in values]
    return array.reshape(shape)


SENTENCES = [
    "a b  c",
    "",
    "  x ",
    "a,b,,c",
    ",",
    "a<>b<><>c",
    "tab\tend\nline\x0b\x0c\r",
    "\u00a0é",
]


@pytest.mark.parametrize("sep", [None, "", ",", "<>", " ", b"\t"])
@pytest.mark.parametrize("maxsplit", [-5, -1, 0, 1, 2])
def test_split(sep, maxsplit):
    check_rows(lambda tf, x: tf.strings.split(x, sep, maxsplit), texts(*SENTENCES))


@pytest.mark.parametrize("shape", [(), (1,), (2, 4), (2, 2, 2), (0,), (2, 0)])
def test_split_shapes(shape):
    count = int(np.prod(shape))
    array = texts(*SENTENCES[:count], shape=shape)
    check_rows(lambda tf, x: tf.strings.split(x), array)
    check_rows(lambda tf, x: tf.strings.bytes_split(x), array)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=10), max_size=4), st.sampled_from([None, b"a", b"\x00", b"ab"]))
def test_any_bytes(words, sep):
    check_rows(lambda tf, x: tf.strings.split(x, sep), texts(*words))
    check_rows(lambda tf, x: tf.strings.bytes_split(x), texts(*words))


def test_separator_in_a_tensor():
    check_rows(lambda tf, x: tf.strings.split(x, tf.constant(",")), texts("a,b", "c"))


@pytest.mark.parametrize("skip_empty", [True, False])
@pytest.mark.parametrize("delimiter", ["", ",", ",;", " "])
def test_the_older_op(skip_empty, delimiter):
    from runnel.ops.strings.split import StringSplit

    def split(tf, x):
        if tf is runnel:
            return StringSplit(x, tf.constant(delimiter), skip_empty=skip_empty)
        return list(tf.raw_ops.StringSplit(input=x, delimiter=delimiter, skip_empty=skip_empty))

    check(split, texts("a,b;;c d", "", ",;", "x"))


def test_ragged_input():
    def rows(tf):
        return tf.ragged.constant([["a b", "c"], [], ["d e f"]])

    check(lambda tf: parts(tf.strings.split(rows(tf))))
    check(lambda tf: parts(tf.strings.split(rows(tf), "b", maxsplit=1)))
    check(lambda tf: parts(tf.strings.bytes_split(rows(tf))))


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.split(3),
        lambda tf: tf.strings.split(tf.constant(3)),
        lambda tf: tf.strings.split(None),
        lambda tf: tf.strings.split(["a,b"], [",", ";"]),
        lambda tf: tf.strings.bytes_split(3),
    ],
)
def test_splits_refuse(call):
    check_raises(call)


def test_an_unknown_rank_is_refused():
    graph = Graph()
    strings = graph.placeholder(runnel.string, runnel.TensorShape(None))
    with graph.as_default(), pytest.raises(ValueError, match="rank"):
        runnel.strings.bytes_split(strings)


# N-grams.

WIDTHS = [1, 2, 3, 5, [1, 2], (3, 2), (4, 2), (4, 3)]
PADS = [{}, {"pad_values": "_"}, {"pad_values": ("<", ">")},
        {"pad_values": ("<", ">"), "padding_width": 1},
        {"pad_values": ("<", ">"), "padding_width": 5}]  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize("preserve", [False, True])
def test_ngrams(width, pads, preserve):
    def ngrams(tf, x):
        return tf.strings.ngrams(x, width, separator="|", preserve_short_sequences=preserve, **pads)

    check(ngrams, texts("a", "b", "c", "d"), traced=False)
    check(ngrams, texts(*"abcdef", shape=(2, 3)), traced=False)

    def of_rows(tf):
        rows = tf.ragged.constant([["a", "b", "c"], ["d"], [], ["e", "f"]])
        return parts(ngrams(tf, rows))

    check(of_rows)


def test_ngrams_of_unknown_shapes():
    check(lambda tf, x: tf.strings.ngrams(x, 2), texts(*"abcdef", shape=(2, 3)))
    check(lambda tf, x: tf.strings.ngrams(x, [1, 3]), texts(*"abcdef", shape=(1, 2, 3)))
    check(lambda tf, x: tf.strings.ngrams(x, 9), texts(*"abcdef", shape=(2, 3)))


@pytest.mark.parametrize("width", [2**31 - 1, 2**33])
@pytest.mark.parametrize("preserve", [True, False])
def test_ngrams_of_any_width(width, preserve):
    def ngrams(tf, x):
        return tf.strings.ngrams(x, width, preserve_short_sequences=preserve)

    check(ngrams, texts("a", "b", "c"), traced=False, may_raise=True)


def test_ngrams_of_nested_rows():
    nested = [[["a", "b"], ["c"]], [["d", "e", "f"]]]
    check(lambda tf: parts(tf.strings.ngrams(tf.ragged.constant(nested), 2)))


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.ngrams(["a"], 0),
        lambda tf: tf.strings.ngrams(["a"], [1, 0]),
        lambda tf: tf.strings.ngrams(["a"], "a"),
        lambda tf: tf.strings.ngrams(["a"], 2, padding_width=1),
        lambda tf: tf.strings.ngrams(["a"], 2, pad_values="a", padding_width=0),
        lambda tf: tf.strings.ngrams(["a"], 2, pad_values=3),
        lambda tf: tf.strings.ngrams(["a"], 2, pad_values=("a", 3)),
        lambda tf: tf.strings.ngrams(["a"], 2, pad_values=("a",)),
        lambda tf: tf.strings.ngrams(["a"], 2, separator=3),
        lambda tf: tf.strings.ngrams("a", 2),
        lambda tf: tf.strings.ngrams([1, 2], 2),
    ],
)
def test_ngrams_refuse(call):
    check_raises(call)


# Formatted text.


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.format("x: {}!", tf.range(3)),
        lambda tf: tf.strings.format("x: {}", tf.range(10)),
        lambda tf: tf.strings.format("x: {}", tf.range(10), summarize=2),
        lambda tf: tf.strings.format("x: {}", tf.range(10), summarize=-1),
        lambda tf: tf.strings.format("x: {}", tf.reshape(tf.range(27), [3, 3, 3])),
        lambda tf: tf.strings.format("{} and {}", (tf.range(3), tf.constant(2.5))),
        lambda tf: tf.strings.format("{} and {}", [tf.constant("a"), [True, False]]),
        lambda tf: tf.strings.format("x: %", tf.constant(["a", "bc"]), "%"),
        lambda tf: tf.strings.format("x: {}", ([1, 2],)),
        lambda tf: tf.strings.format("x: {}", tf.constant([1.5, 1 / 3, 1e-10, 1e6, 1234567.0])),
        lambda tf: tf.strings.format("x: {}", tf.Variable([1, 2])),
        lambda tf: tf.strings.format("nothing", ()),
    ],
)
def test_format(call):
    check(call)


def test_format_of_ragged_tensors():
    def text(tf):
        return tf.strings.format("x: {}, {}!", (tf.ragged.constant([[1], [2, 3]]), tf.range(3)))

    check(text, traced=False)


def test_format_refuses():
    check_raises(lambda tf: tf.strings.format("{}", (tf.range(3), 2)))
    check_raises(lambda tf: tf.strings.format("{} {}", tf.range(3)))

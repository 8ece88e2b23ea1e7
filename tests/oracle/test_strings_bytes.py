"""Length, case, white space, parts and joins of strings against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel

WORDS = st.one_of(st.text(max_size=12).map(str.encode), st.binary(max_size=12))
# Case mappings that changed between versions of Unicode are left to Unicode.
LETTERS = st.text("abcXYZ éÉßΣσςǆİıﬁ0_", max_size=10).map(str.encode)
SHAPES = [(), (3,), (2, 3), (0,), (2, 0), (1, 2, 2)]


def strings(words, shape):
    count = int(np.prod(shape))
    flat = np.empty(count, object)
    flat[:] = [words[i % len(words)] for i in range(count)]
    return flat.reshape(shape)


def arrays(words=WORDS):
    return st.builds(strings, st.lists(words, min_size=1, max_size=6), st.sampled_from(SHAPES))


@settings(max_examples=25, deadline=None)
@given(arrays())
def test_elementwise(texts):
    check(lambda tf, x: tf.strings.length(x), texts)
    check(lambda tf, x: tf.strings.length(x, unit="UTF8_CHAR"), texts)
    check(lambda tf, x: tf.strings.lower(x), texts)
    check(lambda tf, x: tf.strings.upper(x), texts)
    check(lambda tf, x: tf.strings.strip(x), texts)


@settings(max_examples=25, deadline=None)
@given(arrays(LETTERS))
def test_case_of_all_letters(texts):
    check(lambda tf, x: tf.strings.lower(x, encoding="utf-8"), texts)
    check(lambda tf, x: tf.strings.upper(x, encoding="utf-8"), texts)


def test_case_of_invalid_text():
    check(lambda tf: tf.strings.lower([b"A\xffB\xe2\x82C", b"A"], encoding="utf-8"))


def test_white_space_is_that_of_ascii():
    check(lambda tf: tf.strings.strip([b" \t\n\x0b\x0c\r a b \x00 ", "\u00a0a\u2003"]))


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
@settings(max_examples=25, deadline=None)
@given(arrays(st.text(max_size=8).map(str.encode)), st.integers(-8, 8), st.integers(-2, 6))
def test_substr(unit, texts, start, count):
    check(
        lambda tf, x: tf.strings.substr(x, start, count, unit=unit),
        texts,
        traced=False,
        may_raise=True,
    )


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_substr_broadcasts(unit, dtype):
    texts = np.array(["hello", "héllo", "größe"], object)

    def part(tf, x, start, count):
        return tf.strings.substr(x, start, count, unit=unit)

    check(part, texts, np.array([0, 1, 2], dtype), np.array([1, 2, 9], dtype))
    check(part, texts, np.array([[0], [-3]], dtype), np.array([[4], [2]], dtype))
    check(part, np.array("hello", object), np.array([0, 1, 5], dtype), np.array([1, 2, 3], dtype))
    check(part, texts.reshape(3, 1), np.array([0, 2], dtype), np.array([1, 3], dtype))
    check(part, texts.reshape(1, 1, 3), np.array(1, dtype), np.array(2, dtype))
    check(part, texts[:0], np.array(1, dtype), np.array(2, dtype))


@settings(max_examples=20, deadline=None)
@given(arrays(), arrays(), st.sampled_from(["", "-", b"\x00"]))
def test_join(first, second, separator):
    def join(tf, x, y):
        return tf.strings.join([x, "mid", y], separator=separator)

    if first.shape == second.shape or not first.ndim or not second.ndim:
        check(join, first, second)
    else:
        check_raises(join, first, second)


def test_joins_of_few():
    check(lambda tf: tf.strings.join([]))
    check(lambda tf: tf.strings.join(["a"], separator="-"))
    check(lambda tf: tf.strings.join(tf.constant(["a", "b"])))
    check(lambda tf: tf.strings.join(("a", ["b", "c"]), "/"))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 1], [1, 0], [2, 0], [0, 2, 1], []])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduce_join(axis, keepdims):
    texts = np.array([f"t{i}" for i in range(12)], object).reshape(2, 2, 3)
    check(lambda tf, x: tf.strings.reduce_join(x, axis, keepdims, separator=","), texts)


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 0), ()])
def test_reduce_join_of_nothing(shape):
    texts = strings([b"a"], shape)
    check(lambda tf, x: tf.strings.reduce_join(x, separator="-"), texts)
    if shape:
        check(lambda tf, x: tf.strings.reduce_join(x, 0), texts)
        check(lambda tf, x: tf.strings.reduce_join(x, -1, keepdims=True), texts)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_unsorted_segment_join(dtype):
    def join(tf, x, ids):
        return tf.strings.unsorted_segment_join(x, ids, 4, separator=":")

    texts = np.array([f"t{i}" for i in range(12)], object)
    check(join, texts, np.arange(12).astype(dtype)[::-1] % 3)
    check(join, texts.reshape(4, 3), np.array([3, 0, 3, 1], dtype))
    check(join, texts.reshape(4, 3), (np.arange(12) % 4).reshape(4, 3).astype(dtype))
    check(join, texts[:0], np.array([], dtype))


def test_ragged():
    def each(tf):
        rows = tf.ragged.constant([["Hello"], [], ["a", " Bc "]])
        results = [
            tf.strings.lower(rows),
            tf.strings.length(rows),
            tf.strings.strip(rows),
            tf.strings.substr(rows, 0, 1),
            tf.strings.join([rows, "x", rows], "-"),
        ]
        joined = tf.strings.reduce_join(rows, axis=1, separator="+")
        return [joined, *[part for r in results for part in (r.flat_values, r.row_splits)]]

    check(each)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.lower(3),
        lambda tf: tf.strings.lower(tf.constant(3)),
        lambda tf: tf.strings.lower("A", encoding="utf8"),
        lambda tf: tf.strings.length("A", unit="WORD"),
        lambda tf: tf.strings.substr("hello", 6, 1),
        lambda tf: tf.strings.substr("hello", -6, 1),
        lambda tf: tf.strings.substr("héllo", 6, 1, unit="UTF8_CHAR"),
        lambda tf: tf.strings.substr("hello", 1.0, 1),
        lambda tf: tf.strings.substr(["hello", "abc"], [1, 2], 1),
        lambda tf: tf.strings.substr(["hello", "abc"], [1, 2, 0], [1, 1, 1]),
        lambda tf: tf.strings.substr([[["hello", "abc"]]], [1, 2], [1, 1]),
        lambda tf: tf.strings.join(["a", 3]),
        lambda tf: tf.strings.join("abc"),
        lambda tf: tf.strings.join(["a"], separator=3),
        lambda tf: tf.strings.join([["a", "d"], ["b"]]),
        lambda tf: tf.strings.reduce_join([["a"]], 2),
        lambda tf: tf.strings.reduce_join([["a"]], [0, -2]),
        lambda tf: tf.strings.reduce_join([1, 2]),
        lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [0, -1], 2),
        lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [0, 2], 2),
        lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [0], 2),
        lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [0, 1], -2),
        lambda tf: tf.strings.unsorted_segment_join("a", 0, 2),
    ],
)
def test_refuses(call):
    check_raises(call)


def test_a_graph_knows_shapes():
    graph = runnel.core.graph.graph.Graph()
    texts = graph.placeholder(runnel.string, runnel.TensorShape([2, None, 3]))
    with graph.as_default():
        assert runnel.strings.reduce_join(texts, [1, 2]).shape.as_list() == [2]
        assert runnel.strings.reduce_join(texts, 2, keepdims=True).shape.as_list() == [2, None, 1]
        assert runnel.strings.join([texts, "x"]).shape.as_list() == [2, None, 3]
        with pytest.raises(ValueError, match="do not match"):
            runnel.strings.join([texts, ["a", "b"]])

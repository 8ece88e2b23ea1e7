"""Code points, encodings and scripts against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from test_strings_split import check_rows, parts, texts

import runnel

WORDS = ["héy😀", "", "a", "日本語", "e\u0301", "\u0000\u001f\u007f\u0085\n"]
BROKEN = [b"a\xffb", b"\xe2\x82c", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80\xf8\x88",
          b"\xff\xff", b"\xf4\x90\x80\x80a", b"\xf0\x9fa\xf0\xe2", b"\xef\xbb\xbfx",
          b"a\x01\x80"]  # fmt: skip
BROKEN_16 = [b"\x00a\xd8", b"\x00a\xd8\x00\x00b", b"\x00a\xdc\x00\x00b", b"\xfe\xff\x00a", b"x"]
BROKEN_32 = [b"\x00\x11\x00\x00\x00\x00\x00a", b"\x00\x00\xd8\x00\x00\x00\x00a\x00", b"xy"]

FUNCTIONS = [
    lambda tf, x, **k: tf.strings.unicode_decode(x, **k),
    lambda tf, x, **k: tf.strings.unicode_decode_with_offsets(x, **k),
    lambda tf, x, **k: tf.strings.unicode_split(x, **k),
    lambda tf, x, **k: tf.strings.unicode_split_with_offsets(x, **k),
]


def flat(results):
    both = results if isinstance(results, tuple) else (results,)
    return [part for result in both for part in parts(result)]


def check_all(function, *arrays):
    check_rows(lambda tf, *x: _Flat(flat(function(tf, *x))), *arrays)


class _Flat:
    """Tensors in the guise of one ragged tensor, as `check_rows` wants them."""

    def __init__(self, tensors):
        self.flat_values, *self.nested_row_splits = tensors


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("shape", [(), (6,), (2, 3), (1, 2, 3), (0,)])
def test_valid_text(function, encoding, shape):
    count = int(np.prod(shape))
    words = [word.encode(encoding) for word in WORDS[:count]]
    check_all(lambda tf, x: function(tf, x, input_encoding=encoding), texts(*words, shape=shape))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("encoding", "words"),
    [("UTF-8", BROKEN), ("UTF-16-BE", BROKEN_16), ("UTF-32-BE", BROKEN_32)],
)
@pytest.mark.parametrize("policy", [
    {}, {"errors": "ignore"}, {"errors": "replace", "replacement_char": 63},
])  # fmt: skip
def test_invalid_text(function, encoding, words, policy):
    check(
        lambda tf, x: flat(function(tf, x, input_encoding=encoding, **policy)),
        texts(*words),
        traced=False,
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_invalid_text_is_refused(function):
    for word in BROKEN[:6]:
        check_raises(lambda tf, w=word: function(tf, [w], input_encoding="UTF-8", errors="strict"))
    check(lambda tf: flat(function(tf, ["é"], input_encoding="UTF-8", errors="strict")))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=12), min_size=1, max_size=4))
def test_any_bytes(words):
    for function in FUNCTIONS[:2]:
        check(
            lambda tf, x, f=function: flat(f(tf, x, input_encoding="UTF-8")),
            texts(*words),
            traced=False,
        )
    check(lambda tf, x: tf.strings.unicode_transcode(x, "UTF-8", "UTF-16-BE"), texts(*words))


@pytest.mark.parametrize("function", FUNCTIONS[:2])
@pytest.mark.parametrize("policy", [{}, {"errors": "ignore"}, {"replacement_char": 32}])
def test_control_characters(function, policy):
    check(
        lambda tf, x: flat(
            function(tf, x, input_encoding="UTF-8", replace_control_characters=True, **policy)
        ),
        texts(b"a\x00\x01\x7f\x1f b\n\t", b"\xc2\x85\xff", "é\n"),
        traced=False,
    )


@pytest.mark.parametrize(
    ("encoding", "word"),
    [
        ("latin1", b"h\xe9"),
        ("ISO-8859-1", b"h\xe9"),
        ("utf8", "hé".encode()),
        ("US-ASCII", b"a\xe9"),
        ("windows-1252", b"\x93a\x80"),
        ("SHIFT-JIS", "日本".encode("shift_jis")),
        ("KOI8-R", "мир".encode("koi8-r")),
    ],
)
def test_other_encodings(encoding, word):
    check(lambda tf: parts(tf.strings.unicode_decode([word], encoding)))
    check(lambda tf: flat(tf.strings.unicode_decode_with_offsets([word], encoding)))
    check(lambda tf: tf.strings.unicode_transcode([word], encoding, "UTF-8"))


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (1, 2, 3), (3, 0)])
def test_encode(encoding, shape):
    codes = np.array([104, 233, 128512, 0, 0x4E00, 0x10FFFF][: int(np.prod(shape))], np.int32)
    check_rows(lambda tf, x: tf.strings.unicode_encode(x, encoding), codes.reshape(shape))


@pytest.mark.parametrize("policy", [
    {}, {"errors": "ignore"}, {"replacement_char": 63}, {"replacement_char": 0xD800},
])  # fmt: skip
def test_encode_what_is_no_character(policy):
    codes = [[104, -1, 0x110000], [0xD800, 0xDFFF, 0xE000]]
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        check(lambda tf, e=encoding: tf.strings.unicode_encode(codes, e, **policy))
    check_raises(lambda tf: tf.strings.unicode_encode([104, -1], "UTF-8", errors="strict"))


@pytest.mark.parametrize("target", ["UTF-8", "UTF-16-BE", "UTF-32-BE"])
@pytest.mark.parametrize("policy", [
    {}, {"errors": "ignore"}, {"replacement_char": 32}, {"replace_control_characters": True},
    {"errors": "ignore", "replace_control_characters": True}, {"replacement_char": 0xD800},
])  # fmt: skip
def test_transcode(target, policy):
    words = texts(*WORDS, *BROKEN)
    check(lambda tf, x: tf.strings.unicode_transcode(x, "UTF-8", target, **policy), words)
    check(
        lambda tf, x: tf.strings.unicode_transcode(x, "UTF-8", target, **policy),
        words.reshape(2, -1),
        traced=False,
    )


def test_script():
    """Every character there is, and what is none."""
    codes = np.arange(-3, 0x110003, dtype=np.int32)
    check(lambda tf, x: tf.strings.unicode_script(x), codes)
    check(lambda tf, x: tf.strings.unicode_script(x), np.array(97, np.int32))
    check(lambda tf, x: tf.strings.unicode_script(x), np.array([[97, 945], [0x4E00, -1]], np.int32))


def test_ragged():
    def each(tf):
        words = tf.ragged.constant([["hé", ""], [], ["a"]])
        codes = tf.strings.unicode_decode(words, "UTF-8")
        return [
            *parts(codes),
            *parts(tf.strings.unicode_encode(codes, "UTF-8")),
            *parts(tf.strings.unicode_script(codes)),
            *parts(tf.strings.unicode_split(words, "UTF-8")),
            *flat(tf.strings.unicode_split_with_offsets(words, "UTF-8")),
            *parts(tf.strings.unicode_transcode(words, "UTF-8", "UTF-16-BE")),
        ]

    check(each)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.unicode_decode(3, "UTF-8"),
        lambda tf: tf.strings.unicode_decode(["a"], "foo"),
        lambda tf: tf.strings.unicode_decode(["a"], "UTF-8", errors="foo"),
        lambda tf: tf.strings.unicode_decode(["a"], "UTF-8", replacement_char=-1),
        lambda tf: tf.strings.unicode_decode(["a"], "UTF-8", replacement_char=0x110000),
        lambda tf: tf.strings.unicode_encode([1], "latin1"),
        lambda tf: tf.strings.unicode_encode(1, "UTF-8"),
        lambda tf: tf.strings.unicode_encode([1.5], "UTF-8"),
        lambda tf: tf.strings.unicode_encode(tf.constant([1], tf.int64), "UTF-8"),
        lambda tf: tf.strings.unicode_encode([1], "UTF-8", replacement_char=-1),
        lambda tf: tf.strings.unicode_split(["a"], "latin1"),
        lambda tf: tf.strings.unicode_transcode(["a"], "UTF-8", "latin1"),
        lambda tf: tf.strings.unicode_transcode(["a"], "foo", "UTF-8"),
        lambda tf: tf.strings.unicode_transcode(3, "UTF-8", "UTF-8"),
        lambda tf: tf.strings.unicode_script(tf.constant([1], tf.int64)),
    ],
)
def test_refuses(call):
    check_raises(call)


def test_an_unknown_rank_is_refused():
    graph = runnel.core.graph.graph.Graph()
    strings = graph.placeholder(runnel.string, runnel.TensorShape(None))
    codes = graph.placeholder(runnel.int32, runnel.TensorShape(None))
    with graph.as_default():
        with pytest.raises(ValueError, match="rank"):
            runnel.strings.unicode_decode(strings, "UTF-8")
        with pytest.raises(ValueError, match="rank"):
            runnel.strings.unicode_encode(codes, "UTF-8")

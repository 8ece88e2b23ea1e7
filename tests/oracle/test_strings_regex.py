"""Regular expressions of RE2 against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

TEXTS = [
    "", "a", "b", "ab", "abab", "aab b", "A", "é", "aé", "\n", "a\nb\n", "a.b", "[x]", "0", "_",
    "x*y", "٣", "αβ", "К k", "日本語", "Hello, World!", "tab\tend", "\x0b", "{1,2}", "-", "ß",
    b"\xff", b"a\xffb", b"\xe2\x82", "ſ", "12:34", "don't", "\\",
]  # fmt: skip

PATTERNS = [
    "", "a", "ab", "a|b", "a*", "a+?", "a??", "(a)(b)?", "(?:ab)+", "a{2}", "a{1,2}", "a{2,}",
    "a{,2}", "a{", "{1,a}", "x*", "|a", "a||b", "^a", "b$", "^", "$", r"\Aa", r"b\z", "(?m)^",
    "(?m)$", "(?m)^b$", ".", ".*", "(?s).*", "(?s).", "[ab]", "[^a]", "[^a-z]", "[]a]", "[^]a]",
    "[a-]", "[-a]", "[[]", r"[\]\[]", r"[\d_]", r"[^\w\s]", r"\d", r"\D", r"\w+", r"\W", r"\s",
    r"\S", r"\b", r"\ba", "[[:punct:]]", "[[:^alpha:]]", "[[:space:]]+", "[[:alpha:][:digit:]]",
    "[^[:alnum:]]", r"\pL", r"\p{L}+", r"\PL", r"\p{^L}", r"\p{Lu}", r"\p{Greek}", r"\p{Han}+",
    r"\pN", r"[\pL\pN]", r"[^\p{Latin}]", r"\p{Any}", "(?i)a", "(?i)É", "(?i)k", "(?i)[a-b]",
    "(?i)[^a]", "a(?i)B", "(?i:A)b", "a(?i)b|C", "(?i)s", "(?i)(?-i)A", "(?i-s:A)", "(?U)a+",
    "(?U)a+?", "(?P<name>a)b", r"\x41", r"\x{e9}", r"\101", r"\0", r"\t", r"\n", r"\.", r"\*",
    r"\_", r"\ ", r"\Qa.b\E", r"\Q[", "é", "[é-ü]", "[^é]", "日.語", "^*a", "(a*)*", "(a|b)*",
    "((a)|b)+", r"\\", "[\\\\]", "]", "}", "<[^>]+>", r"([a-z]+), ([A-Z])", "(?i)hello", "a b",
    "#", "(?i)ß", "(?i)[ſ]", "(?i)[^ſ]", "(?i)ſ", "(?i)[^K]", r"(?i)\pL", r"(?i)\P{Lu}",
    "a(?i)*", "b(?s)+?", r"é\Q*b\E?", r"[\x00-\x7f]", "[^\\x{0}-\\x{7f}]",
]  # fmt: skip

INVALID = [
    "(", ")", "(?:", "a**", "a*+", "a+*", "a{2}{3}", "a{1001}", "a{2,1}", "(a{100}){100}", "*a",
    "|*", "(*)", "{1,2}", "(?=a)", "(?!a)", "(?<=a)", "(?<n>a)", "(?>a)", "(?#c)", "(?z)a", "(?i",
    "(?P=n)", "(?P<>a)", "(?P<a-b>a)", "(?P<a", r"(a)\1", r"\8", r"\Z", r"\e", r"\y", r"\h",
    r"\R", r"\K", r"\G", r"\X", r"\N", r"\x4", r"\x{110000}", "[", "[a", "[z-a]", r"[a-\d]",
    r"[\b]", "[[:foo:]]", "a\\", r"\p{Foo}", r"\p", r"\p{L",
]  # fmt: skip

REWRITES = ["-", "", r"[\0]", r"\1", r"\\", r"<\1\2>", "x\\n", "\\", "é"]


def texts():
    array = np.empty(len(TEXTS), object)
    array[:] = [text.encode() if isinstance(text, str) else text for text in TEXTS]
    return array


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern):
    check(lambda tf, x: tf.strings.regex_full_match(x, pattern), texts(), traced=False)
    for rewrite in REWRITES[:3]:
        for everywhere in (True, False):
            check(
                lambda tf, x, r=rewrite, g=everywhere: tf.strings.regex_replace(x, pattern, r, g),
                texts(),
                traced=False,
            )


@pytest.mark.parametrize("rewrite", REWRITES)
@pytest.mark.parametrize("pattern", ["a", "(a)(b)?", "x*", "(.)", "[abc]"])
def test_rewrites(pattern, rewrite):
    check(lambda tf, x: tf.strings.regex_replace(x, pattern, rewrite), texts(), traced=False)


@pytest.mark.parametrize("pattern", INVALID)
def test_invalid_patterns(pattern):
    failure = check_raises(lambda tf: tf.strings.regex_full_match("a", pattern))
    assert "Invalid pattern" in str(failure)
    check_raises(lambda tf: tf.strings.regex_replace("a", tf.constant(pattern), "b"))


ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", "^", "$", r"\b", "é", "(?i)", "(a)"])
PIECES = st.builds(str.__add__, ATOMS, st.sampled_from(["", "", "*", "+?", "?", "{1,2}", "|"]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=4).map("".join),
    st.lists(st.text("abAé_ \n", max_size=6), min_size=1, max_size=4),
)
def test_any_pattern(pattern, words):
    array = np.array([word.encode() for word in words], object)
    check(lambda tf, x: tf.strings.regex_full_match(x, pattern), array, traced=False)
    check(lambda tf, x: tf.strings.regex_replace(x, pattern, "<>"), array, traced=False)


def test_patterns_in_tensors():
    pattern, rewrite = np.array(b"(a+)b", object), np.array(rb"<\1>", object)
    words = np.array([["aab", "b"], ["ab ab", "x"]], object)
    check(lambda tf, x, p: tf.strings.regex_full_match(x, p), words, pattern)
    check(lambda tf, x, p, r: tf.strings.regex_replace(x, p, r), words, pattern, rewrite)
    check(lambda tf, x, p: tf.strings.regex_replace(x, p, "x", False), words, pattern)


@pytest.mark.parametrize("shape", [(), (0,), (2, 2)])
def test_shapes(shape):
    words = np.full(shape, b"Hello, World", object)
    check(lambda tf, x: tf.strings.regex_full_match(x, ".*World"), words)
    check(lambda tf, x: tf.strings.regex_replace(x, "[a-z]", ""), words)
    check(lambda tf, x: tf.strings.regex_replace(x, "[a-z]+", r"\\\\1\\\\"), words)


def test_what_text_vectorization_uses():
    words = np.array(["It's <b>GREAT</b>; isn't it?", "naïve – café!"], object)
    punctuation = r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']'
    check(lambda tf, x: tf.strings.regex_replace(x, punctuation, ""), words)
    check(lambda tf, x: tf.strings.regex_replace(x, punctuation, " "), words)
    check(lambda tf, x: tf.strings.regex_replace(x, punctuation, r" \0 "), words)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.strings.regex_full_match(3, "a"),
        lambda tf: tf.strings.regex_full_match(tf.constant(3), "a"),
        lambda tf: tf.strings.regex_full_match("a", 5),
        lambda tf: tf.strings.regex_full_match("a", ["a"]),
        lambda tf: tf.strings.regex_replace(["a"], ["a"], "b"),
        lambda tf: tf.strings.regex_replace(["a"], "a", ["b"]),
        lambda tf: tf.strings.regex_replace("a", "a", "b", "yes"),
    ],
)
def test_refuses(call):
    check_raises(call)


def test_inside_words():
    words = np.array(["", "a", "ab c", " ", "- -"], object)
    check(lambda tf, x: tf.strings.regex_replace(x, r"\B", "-"), words)
    check(lambda tf, x: tf.strings.regex_full_match(x, r"\B"), words)


def test_single_bytes():
    pytest.importorskip("re2")
    words = np.array(["", "a", "é", b"\xff\xff"], object)
    check(lambda tf, x: tf.strings.regex_replace(x, r"\C", "-"), words)
    check(lambda tf, x: tf.strings.regex_full_match(x, r"\C\C"), words)


def test_single_bytes_are_refused_without_re2(monkeypatch):
    import runnel as tf
    from runnel.ops.strings import regex

    monkeypatch.setattr(regex, "_re2", lambda: None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\\C"):
        tf.strings.regex_full_match("a", r"\C{2}")

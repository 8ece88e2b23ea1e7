"""Both engines for regular expressions that `re` is too slow for, against TensorFlow's RE2."""

import subprocess
import sys
import time

import numpy as np
import pytest
import tensorflow as original
from hypothesis import HealthCheck, given, settings, strategies as st
from test_strings_regex import INVALID, PATTERNS, REWRITES, TEXTS

import runnel as tf
from runnel.formats import paths
from runnel.ops.strings import regex, regex_syntax

# Texts on which `re` tries exponentially many ways, or a high power of their length.
SLOW = [
    ("(a+)+$", "a!"),
    ("(a|aa)+$", "a!"),
    ("(a|a)*b", "a"),
    ("(.*)(.*)(.*)(.*)x", "a"),
    (r"(\w+\s?)*$", "a !"),
    ("(x+x+)+y", "x"),
    ("a*a*a*a*a*a*b", "a"),
    ("((a{0,9}){0,9}){0,9}b", "a"),
    ("(a?){30}a{30}b", "a"),
    ("(a|b|ab)*c", "ab"),
    ("(|a|)*b", "a"),
    ("<[^>]+>", "<"),
    ("(?i)(é+)+$", "é!"),
    ("(a|a)" * 40 + "b", "a"),
]


@pytest.fixture(params=["re2", "own", "chosen"])
def engine(request, monkeypatch):
    """All patterns by one of the engines, or by what suits them."""
    if request.param == "re2":
        pytest.importorskip("re2")
    if request.param == "own":
        monkeypatch.setattr(regex, "_re2", lambda: None)
    if request.param != "chosen":
        monkeypatch.setattr(regex_syntax, "_FEW", -1)
        monkeypatch.setattr(regex_syntax, "_STEPS", 0)
    for cached in (regex.expression, regex._replacer):
        cached.cache_clear()
    yield request.param
    for cached in (regex.expression, regex._replacer):
        cached.cache_clear()


def results(module, pattern, rewrite, texts):
    """What the functions make of the texts; the name of the error where there is one."""
    try:
        words = module.constant(texts)
        return [
            module.strings.regex_full_match(words, pattern).numpy().tolist(),
            module.strings.regex_replace(words, pattern, rewrite).numpy().tolist(),
            module.strings.regex_replace(words, pattern, rewrite, False).numpy().tolist(),
        ]
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(engine, pattern):
    texts = np.array(TEXTS, object)
    for rewrite in REWRITES:
        expected = results(original, pattern, rewrite, texts)
        assert results(tf, pattern, rewrite, texts) == expected


@pytest.mark.parametrize("pattern", INVALID)
def test_what_re2_refuses(engine, pattern):
    for module in (original, tf):
        with pytest.raises(module.errors.InvalidArgumentError) as caught:
            module.strings.regex_full_match("a", pattern)
        text = str(caught.value)
        said = text[text.index("Invalid pattern") : text.index(" [Op:")]
        if module is original:
            expected = said
    assert said == expected


ATOMS = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", r"\b", r"\B", "^", "$", "(?m:^)", "(?m:$)", "é", r"\pL",
     r"\w", r"\s", "(?i)A", "x?", "(?s).", r"\d", "(?i:é)"]
)  # fmt: skip
REPEATS = st.sampled_from(
    ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{0,1}?", "{0}"]
)


def wider(inner):
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        inner.map(lambda part: f"({part})"),
        st.tuples(inner, REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(inner, REPEATS).map(lambda pair: f"({pair[0]}){pair[1]}"),
        inner.map(lambda part: f"({part}|)"),
    )


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.recursive(ATOMS, wider, max_leaves=6),
    st.lists(st.text("abé\n x0A", max_size=8), min_size=1, max_size=6),
    st.sampled_from(["-", r"<\0>", r"[\1]", r"[\2\1]"]),
)
def test_generated_patterns(engine, pattern, texts, rewrite):
    texts = np.array(texts, object)
    assert results(tf, pattern, rewrite, texts) == results(original, pattern, rewrite, texts)


@pytest.mark.parametrize(("pattern", "unit"), SLOW)
def test_no_pattern_takes_long(engine, pattern, unit):
    body, end = unit.rstrip("!"), "!" * unit.endswith("!")
    text = body * (400 // len(body)) + end
    begin = time.process_time()
    ours = results(tf, pattern, "-", np.array([text], object))
    # A backtracking engine takes years for most of them.
    assert time.process_time() - begin < 20
    assert ours == results(original, pattern, "-", np.array([text], object))


def test_patterns_of_file_names_do_not_take_long(tmp_path):
    (tmp_path / ("a" * 200)).touch()
    (tmp_path / ("a" * 150 + "b")).touch()
    pattern = str(tmp_path / ("*a" * 60 + "*b"))
    begin = time.process_time()
    assert tf.io.gfile.glob(pattern) == original.io.gfile.glob(pattern)
    assert list(tf.data.Dataset.list_files(pattern)) != []
    assert time.process_time() - begin < 20


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text("ab*?", max_size=8), st.text("ab", max_size=8))
def test_stars_of_file_names(pattern, name):
    import fnmatch

    assert paths._fits(paths._pieces(pattern), name) == fnmatch.fnmatchcase(name, pattern)


def test_too_long_a_program_is_refused(monkeypatch):
    monkeypatch.setattr(regex, "_re2", lambda: None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="pattern too large"):
        tf.strings.regex_full_match("a", "((a{999,}b){999,}c){999,}")


def test_the_engine_is_loaded_when_it_is_needed():
    program = (
        "import sys, runnel as tf; assert 're2' not in sys.modules; "
        "tf.strings.regex_replace('a<b>', '<b>', ''); assert 're2' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

"""Wrong calls: the original's class of exception, and a message that helps."""

import os
import sys
import warnings

import pytest
import wrong_calls

import runnel

tensorflow = pytest.importorskip("tensorflow")
tf_keras = pytest.importorskip("tf_keras")

CASES = [
    pytest.param(call, words, id=f"{group.lower()}: {name}")
    for group in ("NAMES", "NUMBERS", "LABELS", "SHAPES", "VALUES", "SYMBOLIC")
    for name, call, words in getattr(wrong_calls, group)
]


def failure(tf, keras, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as raised:
            call(tf, keras)
    return raised.value


@pytest.mark.parametrize(("call", "words"), CASES)
def test_the_class_is_the_originals_and_the_message_helps(call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = failure(tensorflow, tf_keras, call)
    got = failure(runnel, runnel.keras, call)
    kinds = [kind.__name__ for kind in type(got).__mro__]
    assert type(wanted).__name__ in kinds, f"{got!r} instead of {wanted!r}"
    assert words in str(got)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [pytest.param(*case, id=name) for name, *case in wrong_calls.TAKEN_BY_THE_ORIGINAL],
)
def test_what_the_original_takes_in_silence(call, kind, words):
    with pytest.raises(kind) as raised:
        call(runnel, runnel.keras)
    assert words in str(raised.value)


def test_messages_from_a_fit_show_the_line_of_the_program():
    keras = runnel.keras
    error = failure(runnel, keras, lambda tf, k: wrong_calls.classifier(
        k, wrong_calls.SPARSE).fit(wrong_calls.X, wrong_calls.ONE_HOT, verbose=0))  # fmt: skip
    assert os.path.basename(__file__) in str(error)
    assert "use categorical_crossentropy" in str(error)


def test_nothing_is_looked_for_before_a_mistake():
    """What finds near names is loaded by the first mistake, not with the package."""
    import subprocess

    program = "import sys, runnel; print('difflib' in sys.modules)"
    root = os.path.dirname(os.path.dirname(runnel.__file__))
    environment = {**os.environ, "PYTHONPATH": root}
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert found.stdout == "False\n"

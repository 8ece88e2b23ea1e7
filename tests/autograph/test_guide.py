"""Whole programs print what they print with TensorFlow, at tracing and when they run."""

import importlib.util
from pathlib import Path

import tensorflow

import runnel

_FILE = Path(__file__).with_name("guide_programs.py")


def _printed(library, capfd):
    spec = importlib.util.spec_from_file_location(f"guide_for_{library.__name__}", _FILE)
    module = importlib.util.module_from_spec(spec)
    module.tf = library
    spec.loader.exec_module(module)
    capfd.readouterr()
    module.run()
    return capfd.readouterr()


def test_same_output(capfd):
    expected = _printed(tensorflow, capfd)
    actual = _printed(runnel, capfd)
    assert actual.out == expected.out
    # The original logs to the same stream.
    said = [line for line in expected.err.splitlines() if not line.startswith(("I0", "W0", "20"))]
    assert actual.err.splitlines() == said
    assert "fizzbuzz" in said and "converged after 5" in said

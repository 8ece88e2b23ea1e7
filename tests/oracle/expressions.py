"""Python expressions evaluated with both libraries: the same text, or the same exception class."""

import numpy as np
import tensorflow

import runnel


def outcome(tf, expression):
    try:
        return eval(expression, {"tf": tf, "np": np})
    except Exception as failure:
        return failure


def assert_same_outcome(expression):
    """`repr` and `str` of the result agree to the letter; a failure agrees in its class."""
    expected, actual = outcome(tensorflow, expression), outcome(runnel, expression)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert isinstance(expected, Exception), f"only Runnel refuses: {actual!r}"
        assert isinstance(actual, Exception), f"only TensorFlow refuses: {expected!r}"
        assert type(actual).__name__ == type(expected).__name__, f"{actual!r}, not {expected!r}"
        return
    assert repr(actual) == repr(expected)
    assert str(actual) == str(expected)

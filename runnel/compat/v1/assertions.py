"""Assertions with TensorFlow 1's argument order."""

from __future__ import annotations

import runnel as tf


def _pair(name, summary):
    def function(x, y, data=None, summarize=None, message=None, name=None):
        return check(x, y, message, summarize, name)

    check = getattr(tf.debugging, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _single(name, summary):
    def function(x, data=None, summarize=None, message=None, name=None):
        return check(x, message, summarize, name)

    check = getattr(tf.debugging, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _rank(name, summary):
    def function(x, rank, data=None, summarize=None, message=None, name=None):
        return check(x, rank, message, name)

    check = getattr(tf.debugging, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


assert_equal = _pair("assert_equal", "Fail unless x == y everywhere.")
assert_none_equal = _pair("assert_none_equal", "Fail unless x != y everywhere.")
assert_less = _pair("assert_less", "Fail unless x < y everywhere.")
assert_less_equal = _pair("assert_less_equal", "Fail unless x <= y everywhere.")
assert_greater = _pair("assert_greater", "Fail unless x > y everywhere.")
assert_greater_equal = _pair("assert_greater_equal", "Fail unless x >= y everywhere.")
assert_positive = _single("assert_positive", "Fail unless x > 0 everywhere.")
assert_negative = _single("assert_negative", "Fail unless x < 0 everywhere.")
assert_non_negative = _single("assert_non_negative", "Fail unless x >= 0 everywhere.")
assert_non_positive = _single("assert_non_positive", "Fail unless x <= 0 everywhere.")
assert_rank = _rank("assert_rank", "Fail unless the tensor is of this rank.")
assert_rank_at_least = _rank("assert_rank_at_least", "Fail unless the rank is as high.")


def assert_rank_in(x, ranks, data=None, summarize=None, message=None, name=None):
    """Fail unless the rank is one of these."""
    return tf.debugging.assert_rank_in(x, ranks, message, name)


def assert_near(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """Fail unless x and y are close everywhere."""
    return tf.debugging.assert_near(x, y, rtol, atol, message, summarize, name)


def assert_integer(x, message=None, name=None):
    """Fail unless the tensor holds integers."""
    return tf.debugging.assert_integer(x, message, name)


def assert_type(tensor, tf_type, message=None, name=None):
    """Fail unless the tensor is of this dtype."""
    return tf.debugging.assert_type(tensor, tf_type, message, name)


def assert_scalar(tensor, name=None, message=None):
    """Fail unless the tensor is of rank 0."""
    return tf.debugging.assert_scalar(tensor, message, name)

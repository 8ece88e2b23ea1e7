"""The same short program on Keras 2 (tf_keras) and on Runnel: what it leaves in `r` is compared.

A program is text, for it is run twice, with `tf`, `np`, `K` (Keras) and `L` (its layers) of one
library and then of the other. What it raises is part of its answer: the class of the exception.
"""

from __future__ import annotations

import contextlib
import io
import textwrap
import warnings

import numpy as np
from side_by_side import tensorflow, tf_keras

import runnel

TOLERANCE = 2e-3


def agree(program, setup=""):
    """Both answers are the same; numbers but for rounding."""
    wanted = _answer(tensorflow, tf_keras, program, setup)
    got = _answer(runnel, runnel.keras, program, setup)
    assert _same(wanted, got), f"{got}\ninstead of\n{wanted}\nfrom\n{program}"


def _answer(tf, keras, program, setup):
    space = {"tf": tf, "np": np, "K": keras, "L": keras.layers, "__name__": "__main__"}
    keras.backend.clear_session()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(textwrap.dedent(setup), space)
            exec(textwrap.dedent(program), space)
        except Exception as error:
            return f"raises {type(error).__name__}"
    return _plain(space.get("r"))


def _plain(value):
    """A value without what is the library's own: its tensors, shapes and containers."""
    if hasattr(value, "numpy") and not isinstance(value, type):
        return ("tensor", value.dtype.name, np.asarray(value).tolist())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.name, value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return value


def _same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        close = abs(one - other) <= TOLERANCE * max(1.0, abs(one))
        return close or one == other or (one != one and other != other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    return one == other

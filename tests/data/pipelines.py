"""The same pipeline on TensorFlow and on Runnel: its types, its cardinality and its elements."""

from __future__ import annotations

import itertools

import numpy as np
import tensorflow

import runnel

LIMIT = 40


def outcome(tf, program, *arguments):
    """What a user can see of the dataset, or of other values, that a program makes."""
    try:
        made = program(tf, *arguments)
        if not isinstance(made, tf.data.Dataset):
            return _plain(tf, made)
        shown = repr(made)
        count = int(made.cardinality())
        elements = [_plain(tf, each) for each in itertools.islice(made, LIMIT)]
        return shown, count, elements
    except Exception as error:
        return f"raised {public_class(error)}"


def public_class(error):
    names = [kind.__name__ for kind in type(error).__mro__]
    return "TypeError" if "TypeError" in names else names[0]


def _plain(tf, value):
    """Nested lists and arrays in place of tensors, ragged and sparse tensors, and datasets."""
    if isinstance(value, tf.data.Dataset):
        return ["dataset", *[_plain(tf, each) for each in value]]
    if isinstance(value, tf.SparseTensor):
        return ["sparse", *[np.asarray(v) for v in (value.indices, value.values, value.shape)]]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.to_list(), value.dtype.name]
    if isinstance(value, dict):
        return {key: _plain(tf, each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [type(value).__name__, *[_plain(tf, each) for each in value]]
    if isinstance(value, tf.Tensor):
        return np.asarray(value)
    return value


def assert_equal(got, wanted):
    assert type(got) is type(wanted), f"{got!r} instead of {wanted!r}"
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(got, wanted)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key in wanted:
            assert_equal(got[key], wanted[key])
    elif isinstance(wanted, list | tuple):
        assert len(got) == len(wanted), f"{got!r} instead of {wanted!r}"
        for ours, theirs in zip(got, wanted, strict=True):
            assert_equal(ours, theirs)
    else:
        assert got == wanted, f"{got!r} instead of {wanted!r}"


def same(program, *arguments):
    """Run `program(tf, *arguments)` on both and compare what comes of it."""
    wanted = outcome(tensorflow, program, *arguments)
    got = outcome(runnel, program, *arguments)
    assert_equal(got, wanted)
    return got


def same_error(program, *arguments):
    """Both refuse, with the same class of exception."""
    wanted = outcome(tensorflow, program, *arguments)
    assert isinstance(wanted, str) and wanted.startswith("raised"), "the original does not refuse"
    assert outcome(runnel, program, *arguments) == wanted

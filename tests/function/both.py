"""The same program on TensorFlow and on Runnel: what it notes, gives back and raises."""

from __future__ import annotations

import numpy as np
import tensorflow

import runnel


def same(program, *arguments, tolerance=1e-5):
    """Run `program(tf, note, *arguments)` on both; compare the notes and the results."""
    wanted, got = outcome(tensorflow, program, arguments), outcome(runnel, program, arguments)
    assert len(wanted) == len(got), f"{got} instead of {wanted}"
    for a, b in zip(wanted, got, strict=True):
        if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
            assert a.dtype == b.dtype
        elif isinstance(a, np.ndarray):
            np.testing.assert_array_equal(b, a)
            assert a.dtype == b.dtype
        else:
            assert a == b, f"{b!r} instead of {a!r}"
    return got


def outcome(tf, program, arguments=()):
    notes = []
    try:
        result = program(tf, lambda *values: notes.extend(_plain(tf, v) for v in values),
                         *arguments)  # fmt: skip
    except Exception as error:
        return [*notes, f"raised {class_name(error)}"]
    return [*notes, *[_plain(tf, each) for each in tf.nest.flatten(result)]]


def class_name(error):
    """The class of an exception; the one of the original that users can name."""
    names = [kind.__name__ for kind in type(error).__mro__]
    for private, public in (
        ("InaccessibleTensorError", "TypeError"),
        ("OutOfScopeError", "TypeError"),
        ("_FallbackException", "TypeError"),
        ("OperatorNotAllowedInGraphError", "TypeError"),
        ("StagingError", "StagingError"),
    ):
        if private in names:
            return public
    return names[0]


def _plain(tf, value):
    if isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value)
    if hasattr(value, "numpy"):
        return np.asarray(value.numpy())
    return value

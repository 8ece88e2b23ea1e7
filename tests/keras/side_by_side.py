"""The same call on Keras 2 (tf_keras) and on Runnel: results, configs and exceptions compared.

`compare(function, *arguments)` calls `function(tf, keras, *arguments)` with both; NumPy arrays
among the arguments become tensors first.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import runnel

tf_keras = pytest.importorskip("tf_keras")
tensorflow = pytest.importorskip("tensorflow")

TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-6}


def compare(function, *arguments, tolerance=None, exact=False, least_scale=1e-3):
    """Compare one call; returns Runnel's result. A failure of either is an error."""
    wanted = function(tensorflow, tf_keras, *_tensors(tensorflow, arguments))
    got = function(runnel, runnel.keras, *_tensors(runnel, arguments))
    assert_alike(wanted, got, tolerance, exact, least_scale)
    return got


def compare_failure(function, *arguments, message=""):
    """Both refuse the call with the same class of exception; returns Runnel's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as wanted:
            function(tensorflow, tf_keras, *_tensors(tensorflow, arguments))
    with pytest.raises(Exception) as got:
        function(runnel, runnel.keras, *_tensors(runnel, arguments))
    names = [type(each.value).__name__ for each in (got, wanted)]
    assert names[0] == names[1], f"{got.value!r} instead of {wanted.value!r}"
    assert len(str(got.value)) > 10, f"no explanation: {got.value!r}"
    assert message in str(got.value)
    return got.value


def compare_gradients(function, *arguments, tolerance=1e-5):
    """Compare the gradients of the sum of the results by all floating arguments."""

    def gradients(tf, keras, *tensors):
        floats = [t for t in tensors if hasattr(t, "dtype") and t.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            results = tf.nest.flatten(function(tf, keras, *tensors))
            total = tf.add_n([tf.reduce_sum(r * tf.cast(r, r.dtype)) for r in results])
        return [
            None if g is None else tf.convert_to_tensor(g) for g in tape.gradient(total, floats)
        ]

    compare(gradients, *arguments, tolerance=tolerance, least_scale=1.0)


def assert_alike(wanted, got, tolerance=None, exact=False, least_scale=1e-3):
    """The same structure of the same plain values, and tensors equal but for rounding.

    The tolerance is relative to the largest magnitude in a tensor, or to `least_scale`.
    """
    if hasattr(wanted, "dtype") and hasattr(wanted, "shape"):
        _assert_close(wanted, got, tolerance, exact, least_scale)
    elif isinstance(wanted, dict):
        assert isinstance(got, dict)
        assert list(got) == list(wanted)
        for key in wanted:
            assert_alike(wanted[key], got[key], tolerance, exact, least_scale)
    elif isinstance(wanted, list | tuple):
        assert type(got).__name__ == type(wanted).__name__
        assert len(got) == len(wanted), f"{got} instead of {wanted}"
        for a, b in zip(wanted, got, strict=True):
            assert_alike(a, b, tolerance, exact, least_scale)
    else:
        assert type(got).__name__ == type(wanted).__name__, f"{got!r} instead of {wanted!r}"
        assert got == wanted or wanted != wanted, f"{got!r} instead of {wanted!r}"


def _assert_close(wanted, got, tolerance, exact, least_scale):
    assert hasattr(got, "dtype"), f"{got!r} instead of {wanted!r}"
    dtype = np.dtype(getattr(wanted.dtype, "as_numpy_dtype", wanted.dtype))
    assert np.dtype(getattr(got.dtype, "as_numpy_dtype", got.dtype)) == dtype, got
    wanted, got = (np.asarray(x.numpy() if hasattr(x, "numpy") else x) for x in (wanted, got))
    assert got.shape == wanted.shape
    if exact or dtype.kind in "biuOSU":
        np.testing.assert_array_equal(got, wanted)
        return
    if tolerance is None:
        tolerance = TOLERANCE.get(dtype.name, 1e-10)
    wide = np.complex128 if dtype.kind == "c" else np.float64
    wanted, got = wanted.astype(wide), got.astype(wide)
    scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=least_scale)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)


def _tensors(tf, arguments):
    return [tf.constant(a) if isinstance(a, np.ndarray) else a for a in arguments]

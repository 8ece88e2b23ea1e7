"""Runs a program on TensorFlow's `compat.v1` and on Runnel's, each in a graph of its own."""

import numpy as np
import tensorflow

import runnel


def run_both(program, *args):
    """The results of `program(v1, tf, *args)` on TensorFlow and on Runnel."""
    results = []
    for library in (tensorflow, runnel):
        with library.Graph().as_default():
            results.append(program(library.compat.v1, library, *args))
    return results


def agree(program, *args, rtol=2e-5, atol=1e-6):
    """Check that a program gives the same on both."""
    theirs, ours = run_both(program, *args)
    same(theirs, ours, rtol, atol)
    return ours


def same(theirs, ours, rtol=2e-5, atol=1e-6):
    """Check that two structures hold the same kinds of values, and the same values."""
    if isinstance(theirs, dict):
        assert list(theirs) == list(ours)
        same(list(theirs.values()), list(ours.values()), rtol, atol)
    elif isinstance(theirs, (list, tuple)):
        assert len(theirs) == len(ours), (theirs, ours)
        assert type(theirs).__name__ == type(ours).__name__
        for their, our in zip(theirs, ours, strict=True):
            same(their, our, rtol, atol)
    elif isinstance(theirs, (str, bytes, type(None), bool, type)):
        assert theirs == ours, (theirs, ours)
    else:
        assert np.asarray(theirs).dtype == np.asarray(ours).dtype
        assert np.shape(theirs) == np.shape(ours)
        if np.asarray(theirs).dtype.kind in "fc":
            np.testing.assert_allclose(ours, theirs, rtol, atol)
        else:
            np.testing.assert_array_equal(ours, theirs)


def error_of(call):
    """The class of the error that a call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None

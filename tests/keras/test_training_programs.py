"""Whole programs, as guides teach them: from the same seed both libraries show the same numbers.

A program is a function of the library, its Keras and `show(label, *values)`; it runs in a folder of
its own. Orders, vocabularies and first weights are compared exactly, losses as far as rounding
errors leave them.
"""

import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras
from training_programs import by_acting, from_files, of_images, of_sequences

import runnel

PROGRAMS = {
    **from_files.PROGRAMS,
    **of_images.PROGRAMS,
    **of_sequences.PROGRAMS,
    **by_acting.PROGRAMS,
}


def shown(program, tf, keras, folder, monkeypatch):
    folder.mkdir()
    monkeypatch.chdir(folder)
    values = []
    keras.backend.clear_session()
    keras.utils.set_random_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program(tf, keras, lambda label, *given: values.extend((label, np.array(v)) for v in given))
    return values


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, tmp_path, monkeypatch):
    wanted, got = (
        shown(PROGRAMS[name], tf, keras, tmp_path / tf.__name__, monkeypatch)
        for tf, keras in ((tensorflow, tf_keras), (runnel, runnel.keras))
    )
    assert [label for label, _ in got] == [label for label, _ in wanted]
    for (label, value), (_, original) in zip(got, wanted, strict=True):
        if original.dtype.kind == "f":
            np.testing.assert_allclose(value, original, rtol=1e-3, atol=1e-4, err_msg=label)
        else:
            np.testing.assert_array_equal(value, original, err_msg=label)
    assert len(wanted) > 1

"""An optimizer's update by oneDNN is NumPy's, to the last digit or so."""

import os

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.core import engine
from runnel.engines.onednn import library

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")


@pytest.fixture(autouse=True)
def default_engine():
    yield
    engines.use(os.environ.get("RUNNEL_ENGINE", "onednn"))


def trained(name, values, gradients, traced, **arguments):
    """A variable and the optimizer's slots after three steps."""
    engines.use(name)
    variable = tf.Variable(values)
    optimizer = tf.keras.optimizers.Adam(0.01, **arguments)
    optimizer.build([variable])

    def step(gradient):
        optimizer.apply_gradients([(gradient, variable)])

    step = tf.function(step) if traced else step
    for gradient in gradients:
        step(tf.constant(gradient))
    return [each.numpy() for each in (variable, *optimizer.variables)]


def assert_alike(wanted, got):
    """Slots are the same digits; the variable's change is rounded once more."""
    for place, (a, b) in enumerate(zip(wanted, got, strict=True)):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=2e-6, atol=0 if place else 1e-8)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("count", [0, 1, 31, 100_000])
def test_adam(count, traced):
    random = np.random.default_rng(count)
    size = engine.SMALLEST["adam"] + count
    values = random.normal(size=size).astype("float32")
    gradients = random.normal(size=(3, size)).astype("float32")
    # Large and small gradients, and variables that nothing changes.
    gradients[:, :50] *= 1e15
    gradients[:, 50:99] *= 1e-15
    gradients[:, 99:120] = 0
    wanted = trained("numpy", values, gradients, traced)
    assert_alike(wanted, trained("onednn", values, gradients, traced))


def test_what_is_no_number_stays_none():
    size = engine.SMALLEST["adam"] + 5
    gradients = np.ones((3, size), "float32")
    gradients[0, :4] = np.nan, np.inf, -np.inf, 1e30
    values = np.ones(size, "float32")
    wanted = trained("numpy", values, gradients, False)
    assert_alike(wanted, trained("onednn", values, gradients, False))


def test_other_layouts_and_types():
    random = np.random.default_rng(0)
    values = random.normal(size=(300, 400)).astype("float32")
    gradients = [np.asfortranarray(random.normal(size=(300, 400)).astype("float32"))] * 3
    for kind in ("float32", "float64"):
        given = np.asfortranarray(values.astype(kind)), [g.astype(kind) for g in gradients]
        wanted = trained("numpy", *given, False)
        assert_alike(wanted, trained("onednn", *given, False))


def test_a_tensor_read_before_stays_as_it_was():
    size = engine.SMALLEST["adam"] + 1
    engines.use("onednn")
    variable = tf.Variable(np.ones(size, "float32"))
    before = variable.read_value()
    tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.ones(size), variable)])
    assert (before.numpy() == 1).all() and (variable.numpy() != 1).all()

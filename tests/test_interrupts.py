"""Ctrl-C after any call of a piece of work: no lock stays closed, nothing is lost.

An interrupt is raised where Python looks for signals, which is at the start of a function and after
a call. The work is done again and again, each time with an interrupt at the next of these places.
"""

import gc
import sys

import numpy as np
import pytest

import runnel as tf
from runnel.core.context import state
from runnel.keras.engine.call_context import CallContext, context

X, Y = np.ones((8, 4), np.float32), np.ones((8, 1), np.float32)

# Python finds an interrupt there before it runs the first line: no `with` statement can help it.
_BEFORE_THE_FIRST_LINE = ("__exit__", "_stop")


class _Interrupt:
    """A profile function that interrupts the work after so many calls."""

    def __init__(self, after):
        self.left = after
        self.place = None

    def __call__(self, frame, event, argument):
        if event not in ("call", "c_return") or self.place is not None:
            return
        self.left -= 1
        if self.left < 0 and not (
            event == "call" and frame.f_code.co_name in _BEFORE_THE_FIRST_LINE
        ):
            self.place = f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})"
            raise KeyboardInterrupt

    def during(self, work):
        """Do the work; an interrupt is raised, or swallowed by the part that it came into."""
        sys.setprofile(self)
        try:
            work()
        except (KeyboardInterrupt, TypeError, RuntimeError):
            assert self.place is not None
        finally:
            sys.setprofile(None)


@pytest.fixture(autouse=True)
def quiet_destructors(monkeypatch):
    """Python can only tell of interrupts that come into a destructor, and goes on."""
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)
    yield
    gc.collect()


def is_as_at_the_beginning():
    """Whether nothing is recorded, built or called."""
    own = ("training", "depth", "scope", "compute_dtype", "trial", "building")
    return (
        state.graph is None
        and state.tapes == ()
        and state.name_scope == ""
        and all(getattr(context, name) == getattr(CallContext, name) for name in own)
    )


def interrupted_everywhere(work, check, step=1):
    """How many places there were."""
    for _ in range(3):
        work()
    after = 0
    while True:
        interrupt = _Interrupt(after)
        interrupt.during(work)
        if interrupt.place is None:
            return after
        assert is_as_at_the_beginning(), interrupt.place
        check(interrupt.place)
        after += step


def whole(variables):
    """A check that the variables have their values, and that no lock was left closed."""

    def check(place):
        for variable in variables:
            assert not variable._lock.locked(), place
            assert np.isfinite(variable.numpy()).all(), place

    return check


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize("kind", ["one", "small", "large", "held", "transposed"])
def test_updates(optimizer, kind):
    shape = {"one": (1,), "small": (3, 4), "held": (3, 4)}.get(kind, (200, 300))
    value = np.ones(shape, np.float32)
    variable = tf.Variable(np.asarray(value, order="F") if kind == "transposed" else value)
    optimizer = getattr(tf.keras.optimizers, optimizer)(0.01)
    optimizer.build([variable])
    gradient = tf.constant(value)

    def work():
        held = variable.value() if kind == "held" else None
        optimizer.apply_gradients([(gradient, variable)])
        return held

    variables = [variable, *optimizer.variables]
    assert interrupted_everywhere(work, whole(variables)) > 20
    before = variable.numpy()
    work()
    assert (variable.numpy() < before).all()


def test_assigning():
    variable = tf.Variable(np.ones((3, 4), np.float32))

    def work():
        variable.assign_add(tf.ones((3, 4)))
        variable.scatter_nd_add([[0]], tf.ones((1, 4)))
        variable[1].assign(tf.zeros(4))

    assert interrupted_everywhere(work, whole([variable])) > 20


@pytest.mark.parametrize("eagerly", [False, True])
def test_training_steps(eagerly):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(3, "relu"), layers.Dropout(0.2), layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"], run_eagerly=eagerly)
    model.train_on_batch(X, Y)
    variables = [*model.weights, *model.optimizer.variables]
    check = whole(variables)
    count = interrupted_everywhere(lambda: model.train_on_batch(X, Y), check, 3 if eagerly else 1)
    assert count > 100
    assert np.isfinite(model.train_on_batch(X, Y)).all()


def test_gradient_tapes():
    variable = tf.Variable([1.0, 2.0])

    def work():
        with tf.GradientTape() as tape, tf.GradientTape() as inner:
            result = tf.reduce_sum(tf.tanh(variable) ** 2)
            first = inner.gradient(result, variable)
        return tape.gradient(first, variable)

    assert interrupted_everywhere(work, whole([variable])) > 100


def test_tracing():
    def work():
        @tf.function
        def f(x):
            for _ in tf.range(3):
                x = x + 1.0 if tf.reduce_sum(x) > 2.0 else x * 2.0
            return x

        return f(tf.ones([3]))

    def check(place):
        assert (tf.constant(1) + 1).numpy() == 2, place

    assert interrupted_everywhere(work, check, 11) > 1000
    np.testing.assert_array_equal(work(), [4, 4, 4])

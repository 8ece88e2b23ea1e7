"""An optimizer's update by oneDNN is NumPy's, to the last digit or so."""

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.engines.onednn import library, primitive, updates
from runnel.ops.training import UPDATE_THRESHOLD
from runnel.runtime import engine_selection
from runnel.runtime.thread_pools import owner_of

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")


OPTIMIZERS = {
    "adam": lambda: tf.keras.optimizers.Adam(0.01),
    "weight decay": lambda: tf.keras.optimizers.AdamW(0.01),
    "plain": lambda: tf.keras.optimizers.SGD(0.01),
    "momentum": lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9),
    "nesterov": lambda: tf.keras.optimizers.SGD(0.01, momentum=0.9, nesterov=True),
    "rmsprop": lambda: tf.keras.optimizers.RMSprop(0.01),
    "nadam": lambda: tf.keras.optimizers.Nadam(0.01),
    "adagrad": lambda: tf.keras.optimizers.Adagrad(0.01),
    "legacy plain": lambda: tf.keras.optimizers.legacy.SGD(0.01),
    "legacy momentum": lambda: tf.keras.optimizers.legacy.SGD(0.01, momentum=0.9),
    "legacy rmsprop": lambda: tf.keras.optimizers.legacy.RMSprop(0.01, momentum=0.9),
    "legacy adagrad": lambda: tf.keras.optimizers.legacy.Adagrad(0.01),
}
LEAST = UPDATE_THRESHOLD + 1
every_optimizer = pytest.mark.parametrize("kind", OPTIMIZERS)


def trained(name, values, gradients, traced, kind="adam"):
    """A variable and the optimizer's slots after three steps."""
    engines.use(name)
    variable = tf.Variable(values)
    optimizer = OPTIMIZERS[kind]()

    def step(gradient):
        optimizer.apply_gradients([(gradient, variable)])

    step = tf.function(step) if traced else step
    for gradient in gradients:
        step(tf.constant(gradient))
    found = optimizer.variables
    return [each.numpy() for each in (variable, *(found() if callable(found) else found))]


def assert_alike(wanted, got, kind="adam"):
    """Quotients are rounded once more, and can be larger than what is left of their sum."""
    for place, (a, b) in enumerate(zip(wanted, got, strict=True)):
        assert a.dtype == b.dtype
        sums_quotients = place == 0 or kind == "legacy rmsprop"
        np.testing.assert_allclose(b, a, rtol=2e-6, atol=5e-8 if sums_quotients else 0)


def inputs(size):
    random = np.random.default_rng(size)
    gradients = random.normal(size=(3, size)).astype("float32")
    # Large and small gradients, and variables that nothing changes.
    gradients[:, :50] *= 1e15
    gradients[:, 50:99] *= 1e-15
    gradients[:, 99:120] = 0
    return random.normal(size=size).astype("float32"), gradients


@pytest.fixture
def done(monkeypatch):
    """Counts the updates that the engine did."""
    found = []
    real = updates.Passes.run_unclaimed

    def counting(self, *values):
        found.append(self)
        real(self, *values)

    monkeypatch.setattr(updates.Passes, "run_unclaimed", counting)
    return found


@pytest.mark.parametrize("traced", [False, True])
@every_optimizer
def test_optimizers(kind, traced, done):
    given = inputs(LEAST)
    wanted = trained("numpy", *given, traced, kind)
    assert not done
    assert_alike(wanted, trained("onednn", *given, traced, kind), kind)
    assert len(done) == 3


@pytest.mark.parametrize("count", [0, 1, 31, 100_000])
def test_sizes(count, done):
    given = inputs(LEAST + count)
    wanted = trained("numpy", *given, True)
    engine_selection.pool.give_to_engine()
    assert_alike(wanted, trained("onednn", *given, True))
    assert len(done) == 3


@pytest.mark.parametrize(
    ("size", "quick", "shared"),
    [(60_000, True, False), (78_400, False, False), (78_400, True, True), (200_000, False, True)],
)
def test_smaller_updates_are_shared_where_threads_meet_quickly(monkeypatch, size, quick, shared):
    class Known:
        is_in_use = quick

    used = []
    compute = updates.compute

    def noting(key, make, work, *arrays):
        used.append(work >= primitive._WORTH_SHARING)
        return compute(key, make, work, *arrays)

    monkeypatch.setattr(updates, "sharing", Known)
    monkeypatch.setattr(updates, "compute", noting)
    given = inputs(size)
    wanted = trained("numpy", *given, True)
    assert_alike(wanted, trained("onednn", *given, True))
    assert used == [shared] * 3


@every_optimizer
def test_what_is_no_number_stays_none(kind):
    gradients = np.ones((3, LEAST), "float32")
    gradients[0, :4] = np.nan, np.inf, -np.inf, 1e30
    values = np.ones(LEAST, "float32")
    with np.errstate(all="ignore"):
        wanted = trained("numpy", values, gradients, False, kind)
    assert_alike(wanted, trained("onednn", values, gradients, False, kind), kind)


def test_other_layouts_and_types():
    random = np.random.default_rng(0)
    values = random.normal(size=(300, 400)).astype("float32")
    gradients = [np.asfortranarray(random.normal(size=(300, 400)).astype("float32"))] * 3
    for kind in ("float32", "float64"):
        given = np.asfortranarray(values.astype(kind)), [g.astype(kind) for g in gradients]
        wanted = trained("numpy", *given, False)
        assert_alike(wanted, trained("onednn", *given, False))


def test_a_tensor_read_before_stays_as_it_was():
    engines.use("onednn")
    variable = tf.Variable(np.ones(LEAST, "float32"))
    before = variable.read_value()
    tf.keras.optimizers.Adam(0.1).apply_gradients([(tf.ones(LEAST), variable)])
    assert (before.numpy() == 1).all() and (variable.numpy() != 1).all()


@pytest.mark.parametrize("units, owner", [(100, "engine"), (10, "blas")])
def test_who_has_the_processors(units, owner):
    """A program that updates large variables is the engine's, whose threads share that."""
    variable = tf.Variable(tf.ones([784, units]))
    optimizer = tf.keras.optimizers.SGD()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x @ variable)
        optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])

    graph = step.get_concrete_function(tf.TensorSpec([50, 784])).graph
    assert owner_of(graph.get_operations()) == owner

"""Learning rate schedules against tf_keras over many steps; configs and refusals."""

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel
from runnel.core.graph.graph import Graph
from runnel.keras.optimizers import schedules

CASES = [
    ("ExponentialDecay", (0.1, 10, 0.5), {}),
    ("ExponentialDecay", (0.1, 7, 0.9), {"staircase": True, "name": "mine"}),
    ("InverseTimeDecay", (0.1, 10, 0.5), {}),
    ("InverseTimeDecay", (0.3, 7, 0.9), {"staircase": True}),
    ("PiecewiseConstantDecay", ([5, 20], [1.0, 0.5, 0.1]), {}),
    ("PiecewiseConstantDecay", ([5.0, 20.0, 21.0], [1.0, 0.5, 0.1, 0.2]), {}),
    ("PiecewiseConstantDecay", ([3, 5], [1, 2, 3]), {}),
    ("PolynomialDecay", (0.1, 30), {}),
    ("PolynomialDecay", (0.1, 9, 0.01, 2.0), {"cycle": True}),
    ("PolynomialDecay", (0.1, 30, 0.01), {"power": 0.5}),
    ("CosineDecay", (0.1, 30), {}),
    ("CosineDecay", (0.1, 30), {"alpha": 0.2}),
    ("CosineDecay", (0.1, 30), {"alpha": 0.1, "warmup_target": 0.5, "warmup_steps": 8}),
    ("CosineDecay", (0.1, 30), {"warmup_target": 0.5}),
    ("CosineDecay", (0.1, 30), {"warmup_steps": 8}),
    ("CosineDecayRestarts", (0.1, 6), {}),
    ("CosineDecayRestarts", (0.1, 6), {"t_mul": 1.0, "m_mul": 0.9}),
    ("CosineDecayRestarts", (0.1, 6), {"t_mul": 1.5, "m_mul": 0.5, "alpha": 0.1}),
    ("ExponentialDecay", (0.1, 0, 0.5), {}),
]
STEPS = [*range(45), 100, 1000]


def _both(name, arguments, keywords):
    return [
        getattr(module, name)(*arguments, **keywords)
        for module in (tf_keras.optimizers.schedules, schedules)
    ]


@pytest.mark.parametrize(("name", "arguments", "keywords"), CASES)
def test_rates(name, arguments, keywords):
    theirs, ours = _both(name, arguments, keywords)
    for step in STEPS:
        expected, actual = theirs(step), ours(step)
        assert actual.dtype.name == expected.dtype.name and actual.shape == expected.shape
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("name", "arguments", "keywords"), CASES)
def test_kinds_of_steps(name, arguments, keywords):
    theirs, ours = _both(name, arguments, keywords)
    expected = theirs(tensorflow.constant(4)).numpy()
    steps = [runnel.constant(4), runnel.Variable(4, dtype=runnel.int64), runnel.constant(4.0)]
    graph = Graph()
    with graph.as_default():
        step = graph.placeholder(runnel.int64, runnel.TensorShape([]))
        traced = ours(step)
    results = [ours(each).numpy() for each in steps]
    results += graph.compute([traced], [(step, np.int64(4))])
    np.testing.assert_allclose(results, np.full(4, expected), rtol=1e-5)


def test_the_type_of_the_initial_rate_counts():
    for module, tf in ((tf_keras.optimizers.schedules, tensorflow), (schedules, runnel)):
        for name in ("ExponentialDecay", "InverseTimeDecay"):
            schedule = getattr(module, name)(tf.constant(0.1, tf.float64), 10, 0.5)
            assert schedule(3).dtype == tf.float64


@pytest.mark.parametrize(("name", "arguments", "keywords"), CASES)
def test_configs(name, arguments, keywords):
    theirs, ours = _both(name, arguments, keywords)
    assert list(ours.get_config().items()) == list(theirs.get_config().items())
    for legacy in (False, True):
        config = schedules.serialize(ours, use_legacy_format=legacy)
        assert config == tf_keras.optimizers.schedules.serialize(theirs, use_legacy_format=legacy)
        again = schedules.deserialize(config)
        assert type(again) is type(ours) and again.get_config() == ours.get_config()
        assert schedules.deserialize(config, use_legacy_format=legacy).get_config()


def test_a_schedule_of_the_users_own():
    class Mine(schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.5 / (runnel.cast(step, runnel.float32) + 1)

    with pytest.raises(NotImplementedError, match="Mine"):
        Mine().get_config()
    with pytest.raises(NotImplementedError, match="Mine"):
        runnel.keras.optimizers.SGD(Mine()).get_config()
    restored = schedules.deserialize(
        {"class_name": "Mine", "config": {}}, custom_objects={"Mine": Mine}
    )
    assert restored(1).numpy() == 0.25


def test_refusals():
    with pytest.raises(ValueError, match="1 less than"):
        schedules.PiecewiseConstantDecay([1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match="Did you mean 'CosineDecay'"):
        schedules.deserialize({"class_name": "CosinDecay", "config": {}})

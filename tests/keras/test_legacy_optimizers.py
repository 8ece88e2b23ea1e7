"""The optimizers of TensorFlow 2.0 to 2.10 against tf_keras: steps, slots, configs, refusals."""

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel
from runnel.core.graph.graph import Graph
from runnel.core.op import REGISTRY
from runnel.keras import optimizers
from runnel.keras.optimizers import legacy

CASES = [
    ("SGD", {"learning_rate": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "decay": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True, "clipvalue": 0.5}),
    ("Adam", {"learning_rate": 0.05, "decay": 0.2}),
    ("Adam", {"learning_rate": 0.05, "amsgrad": True, "beta_2": 0.8, "clipnorm": 0.5}),
    ("Adamax", {"learning_rate": 0.05, "beta_2": 0.9}),
    ("Nadam", {"learning_rate": 0.05}),
    ("RMSprop", {"learning_rate": 0.05, "epsilon": 0.1}),
    ("RMSprop", {"learning_rate": 0.05, "momentum": 0.5, "epsilon": 0.1}),
    ("RMSprop", {"learning_rate": 0.05, "centered": True, "epsilon": 0.1}),
    ("RMSprop", {"learning_rate": 0.05, "centered": True, "momentum": 0.5, "epsilon": 0.1}),
    ("Adagrad", {"learning_rate": 0.1, "epsilon": 0.3, "global_clipnorm": 1.0}),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.9, "epsilon": 0.01}),
    ("Ftrl", {"learning_rate": 0.1}),
    (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "l1_regularization_strength": 0.2,
            "l2_regularization_strength": 0.3,
            "l2_shrinkage_regularization_strength": 0.1,
            "beta": 0.2,
        },
    ),
]
IDS = [f"{name}-{'-'.join(arguments)}" for name, arguments in CASES]


def _run(tf, module, name, arguments, dtype, sparse):
    random = np.random.default_rng(7)
    shapes = [(6, 3), (4,), ()]
    variables = [
        tf.Variable(random.normal(size=shape).astype(dtype), name=f"layer/w{i}")
        for i, shape in enumerate(shapes)
    ]
    optimizer = getattr(module, name)(**arguments)
    seen = []
    for step in range(20):
        gradients = [tf.constant(random.normal(size=shape).astype(dtype)) for shape in shapes]
        if sparse:
            gradients[0] = tf.IndexedSlices(
                tf.constant(random.normal(size=(4, 3)).astype(dtype)),
                tf.constant(random.integers(0, 6, size=4)),
                tf.constant([6, 3]),
            )
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        if step in (0, 1, 19):
            seen += [v.numpy() for v in [*variables, *optimizer.weights]]
    return [v.name for v in optimizer.variables()], optimizer.get_slot_names(), seen


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_twenty_steps(name, arguments, sparse):
    for dtype in ("float32", "float64"):
        expected = _run(tensorflow, tf_keras.optimizers.legacy, name, arguments, dtype, sparse)
        actual = _run(runnel, legacy, name, arguments, dtype, sparse)
        assert actual[:2] == expected[:2]
        for a, b in zip(expected[2], actual[2], strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_configs(name, arguments):
    theirs = getattr(tf_keras.optimizers.legacy, name)(**arguments)
    ours = getattr(legacy, name)(**arguments)
    for _ in range(2):
        assert list(ours.get_config().items()) == list(theirs.get_config().items())
        for old in (False, True):
            config = optimizers.serialize(ours, use_legacy_format=old)
            assert config == tf_keras.optimizers.serialize(theirs, use_legacy_format=old)
            again = optimizers.deserialize(config)
            assert type(again) is type(ours) and again.get_config() == ours.get_config()
        # Reading a hyperparameter turns all of them into variables.
        assert ours.lr.numpy() == theirs.lr.numpy()


def test_hyperparameters_are_attributes():
    optimizer = legacy.Adam(0.5, name="mine")
    optimizer.apply_gradients([(runnel.ones([2]), runnel.Variable([1.0, 2.0]))])
    assert optimizer.learning_rate.name == "mine/learning_rate:0"
    optimizer.lr = 0.25
    optimizer.beta_1 = 0.5
    assert optimizer.learning_rate.numpy() == 0.25 and optimizer.beta_1.numpy() == 0.5
    optimizer.learning_rate.assign(2.0)
    assert optimizer.get_config()["learning_rate"] == 2.0
    with pytest.raises(AttributeError):
        optimizer.gamma  # noqa: B018 - the reading is what fails
    with pytest.warns(UserWarning, match="deprecated"):
        assert legacy.SGD(lr=0.5).lr.numpy() == 0.5


def test_a_schedule_as_learning_rate():
    results = []
    for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
        optimizer = module.legacy.SGD(module.schedules.ExponentialDecay(0.1, 1, 0.5))
        variable = tf.Variable([1.0])
        for _ in range(3):
            optimizer.apply_gradients([(tf.constant([1.0]), variable)])
        results.append((variable.numpy().item(), optimizer.get_config()))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SGD", {"foo": 1}),
        ("SGD", {"clipnorm": -1.0}),
        ("SGD", {"decay": -1.0}),
        ("SGD", {"clipnorm": 1.0, "global_clipnorm": 1.0}),
        ("SGD", {"momentum": 2.0}),
        ("RMSprop", {"momentum": 2.0}),
        ("Adagrad", {"initial_accumulator_value": -1.0}),
        ("Ftrl", {"learning_rate_power": 1.0}),
        ("Ftrl", {"beta": 0.1, "l2_regularization_strength": -1.0}),
    ],
)
def test_refused_arguments(name, arguments):
    with pytest.raises((TypeError, ValueError)) as theirs:
        getattr(tf_keras.optimizers.legacy, name)(**arguments)
    with pytest.raises(theirs.type):
        getattr(legacy, name)(**arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, o, v: o.apply_gradients([(None, v)]),
        lambda tf, o, v: o.apply_gradients([(tf.ones([3]), v)]),
        lambda tf, o, v: o.apply_gradients([(tf.ones([2], tf.float64), v)]),
        lambda tf, o, v: o.set_weights([1, 2]),
        lambda tf, o, v: o.get_slot(v, "momentum"),
        lambda tf, o, v: o.minimize(tf.reduce_sum(v), [v]),
    ],
)
def test_refused_calls(call):
    failures = []
    for tf, module in ((tensorflow, tf_keras.optimizers.legacy), (runnel, legacy)):
        variable = tf.Variable([1.0, 2.0])
        with pytest.raises(Exception) as failure:
            call(tf, module.SGD(), variable)
        failures.append(failure.type.__name__)
        np.testing.assert_array_equal(variable.numpy(), [1.0, 2.0])
    assert failures[0] == failures[1]


def test_weights():
    variable = runnel.Variable([3.0])
    optimizer = legacy.Adam(0.1)
    assert optimizer.get_weights() == []
    optimizer.minimize(lambda: variable * variable, [variable])
    other = legacy.Adam(0.1)
    other.apply_gradients([(runnel.zeros([1]), variable)])
    other.set_weights(optimizer.get_weights())
    for a, b in zip(optimizer.weights, other.weights, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    assert optimizer.get_slot(variable, "m").shape == [1]


def _custom(tf, base):
    class Custom(base):
        def __init__(self, learning_rate=0.1, name="Custom", **kwargs):
            super().__init__(name, **kwargs)
            self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
            self._set_hyper("decay", self._initial_decay)

        def _create_slots(self, var_list):
            for variable in var_list:
                self.add_slot(variable, "sum", initializer="ones")

        def _resource_apply_dense(self, grad, var, apply_state=None):
            key = (var.device, var.dtype.base_dtype)
            numbers = (apply_state or {}).get(key) or self._fallback_apply_state(*key)
            total = self.get_slot(var, "sum")
            total.assign_add(grad)
            return var.assign_sub(numbers["lr_t"] * total)

        def _resource_apply_sparse(self, grad, var, indices):
            rows = self._decayed_lr(var.dtype.base_dtype) * grad
            return self._resource_scatter_add(var, indices, -rows)

    return Custom


def test_an_optimizer_of_the_users_own():
    results = []
    for tf, base in (
        (tensorflow, tf_keras.optimizers.legacy.Optimizer),
        (runnel, legacy.Optimizer),
    ):
        optimizer = _custom(tf, base)(decay=0.5)
        a, b = tf.Variable([[1.0], [2.0]], name="a"), tf.Variable([1.0, 2.0], name="b")
        rows = tf.IndexedSlices(tf.ones([2, 1]), tf.constant([1, 1]), tf.constant([2, 1]))
        for _ in range(3):
            optimizer.apply_gradients([(rows, a), (tf.constant([1.0, -1.0]), b)])
        everything = [a, b, *optimizer.weights]
        results.append(([v.name for v in everything], [v.numpy() for v in everything]))
    assert results[0][0] == results[1][0]
    for expected, actual in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_updates_of_a_graph():
    variable = runnel.Variable([3.0])
    optimizer = legacy.SGD(0.25)
    optimizer.apply_gradients([(runnel.zeros([1]), variable)])
    graph = Graph()
    with graph.as_default():
        assert len(optimizer.get_updates(variable * variable, [variable])) == 1
        with pytest.raises(ValueError, match="None"):
            optimizer.get_gradients(runnel.constant(1.0) * 2.0, [variable])
    graph.compute([], [])
    assert variable.numpy() == 1.5
    with pytest.raises(RuntimeError):
        optimizer.get_gradients(variable * variable, [variable])


SPARSE = {
    "ResourceSparseApplyKerasMomentum": 2,
    "ResourceSparseApplyRMSProp": 3,
    "ResourceSparseApplyCenteredRMSProp": 4,
    "ResourceSparseApplyAdagradV2": 2,
    "ResourceSparseApplyAdadelta": 3,
    "ResourceSparseApplyFtrlV2": 3,
}


@pytest.mark.parametrize("name", SPARSE)
def test_row_ops_do_what_the_ops_of_that_name_do(name):
    cells = SPARSE[name]
    random = np.random.default_rng(1)
    values = [random.uniform(0.5, 1, size=(4, 2)).astype(np.float32) for _ in range(cells)]
    if name == "ResourceSparseApplyCenteredRMSProp":
        values[2] += 1
    names = [argument.name for argument in REGISTRY[name].inputs]
    given = {each: np.float32(random.uniform(0.1, 0.9)) for each in names[cells:]}
    given["grad"] = random.normal(size=(2, 2)).astype(np.float32)
    given["indices"] = np.array([3, 1])
    if "lr_power" in given:
        given["lr_power"] = np.float32(-0.6)
    theirs = [tensorflow.Variable(value) for value in values]
    ours = [runnel.Variable(value) for value in values]
    handles = dict(zip(names, [cell.handle for cell in theirs], strict=False))
    getattr(tensorflow.raw_ops, name)(**handles, **given)
    inputs = [runnel.constant(given[each]) for each in names[cells:]]
    REGISTRY[name](*[cell.handle for cell in ours], *inputs)
    for expected, actual in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)

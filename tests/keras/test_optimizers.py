"""Optimizers against tf_keras: variables and slots over 20 steps, configs, refusals."""

import gc

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel
from runnel.core.graph.graph import Graph
from runnel.core.op import REGISTRY
from runnel.keras import optimizers
from runnel.keras.optimizers import schedules

STEPS = 20

CASES = [
    ("SGD", {"learning_rate": 0.1}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"learning_rate": 0.1, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"learning_rate": 0.05}),
    ("Adam", {"learning_rate": 0.05, "beta_1": 0.5, "beta_2": 0.7, "epsilon": 0.1}),
    ("Adam", {"learning_rate": 0.05, "amsgrad": True, "beta_2": 0.8}),
    ("Adam", {"learning_rate": 0.05, "adaptive_epsilon": True, "epsilon": 0.1}),
    ("Adam", {"learning_rate": 0.05, "weight_decay": 0.1, "clipnorm": 0.7}),
    ("AdamW", {"learning_rate": 0.05, "weight_decay": 0.2}),
    ("AdamW", {"learning_rate": 0.05, "amsgrad": True}),
    ("Adamax", {"learning_rate": 0.05, "beta_2": 0.9}),
    ("Nadam", {"learning_rate": 0.05}),
    ("Nadam", {"learning_rate": 0.05, "beta_1": 0.7, "beta_2": 0.9, "epsilon": 0.01}),
    ("RMSprop", {"learning_rate": 0.05}),
    ("RMSprop", {"learning_rate": 0.05, "momentum": 0.8, "epsilon": 0.01}),
    ("RMSprop", {"learning_rate": 0.05, "centered": True, "epsilon": 0.1}),
    ("RMSprop", {"learning_rate": 0.05, "centered": True, "momentum": 0.5, "epsilon": 0.1}),
    ("Adagrad", {"learning_rate": 0.1, "epsilon": 0.3}),
    ("Adadelta", {"learning_rate": 1.0, "rho": 0.9, "epsilon": 0.01}),
    ("Ftrl", {"learning_rate": 0.1}),
    (
        "Ftrl",
        {
            "learning_rate": 0.1,
            "learning_rate_power": -0.7,
            "initial_accumulator_value": 0.5,
            "l1_regularization_strength": 0.2,
            "l2_regularization_strength": 0.3,
            "l2_shrinkage_regularization_strength": 0.1,
            "beta": 0.2,
        },
    ),
    ("Lion", {"learning_rate": 0.01, "beta_1": 0.8, "beta_2": 0.9}),
    ("Adafactor", {"learning_rate": 0.05}),
    ("Adafactor", {"learning_rate": 0.05, "relative_step": False, "clip_threshold": 0.5}),
    ("SGD", {"learning_rate": 0.1, "clipvalue": 0.5}),
    ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.5, "momentum": 0.5}),
    ("SGD", {"learning_rate": 0.1, "use_ema": True, "ema_momentum": 0.7}),
    (
        "Adam",
        {
            "learning_rate": 0.1,
            "use_ema": True,
            "ema_momentum": 0.7,
            "ema_overwrite_frequency": 3,
        },
    ),
]
IDS = [f"{name}-{'-'.join(arguments)}" for name, arguments in CASES]

SHAPES = [(3, 4), (5,), (), (2, 3, 2), (0, 2)]


def _run(tf, keras_optimizers, name, arguments, dtype, sparse=False, wrap=None, steps=STEPS):
    """All variables and slots after each of the first steps and at the end."""
    random = np.random.default_rng(7)
    shapes = [(6, 3), (4,)] if sparse else SHAPES
    if name == "Adafactor":
        shapes = [shape for shape in shapes if 0 not in shape]
    variables = [
        tf.Variable(random.normal(size=shape).astype(dtype), name=f"layer/w{i}")
        for i, shape in enumerate(shapes)
    ]
    optimizer = getattr(keras_optimizers, name)(**arguments)
    seen = []
    for step in range(steps):
        gradients = [tf.constant(random.normal(size=shape).astype(dtype)) for shape in shapes]
        if sparse:
            rows = random.integers(0, 6, size=4)
            gradients[0] = tf.IndexedSlices(
                tf.constant(random.normal(size=(4, 3)).astype(dtype)),
                tf.constant(rows),
                tf.constant([6, 3]),
            )
        (wrap or _apply)(optimizer, gradients, variables)
        if step in (0, 1, 2, 3, steps - 1):
            seen.append([v.numpy() for v in [*variables, *optimizer.variables]])
    names = [v.name for v in optimizer.variables]
    optimizer.finalize_variable_values(variables)
    seen.append([v.numpy() for v in variables])
    return names, seen


def _apply(optimizer, gradients, variables):
    optimizer.apply_gradients(zip(gradients, variables, strict=True))


def _assert_equal_runs(expected, actual):
    assert actual[0] == expected[0]
    for wanted, got in zip(expected[1], actual[1], strict=True):
        for a, b in zip(wanted, got, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b, a, rtol=4e-6, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_twenty_steps(name, arguments, sparse):
    for dtype in ("float32", "float64"):
        expected = _run(tensorflow, tf_keras.optimizers, name, arguments, dtype, sparse)
        actual = _run(runnel, optimizers, name, arguments, dtype, sparse)
        _assert_equal_runs(expected, actual)


def test_every_optimizer_is_compared():
    public = [
        name
        for name, value in vars(tf_keras.optimizers).items()
        if isinstance(value, type) and issubclass(value, tf_keras.optimizers.Optimizer)
    ]
    assert {name for name, _ in CASES} == set(public) - {"Optimizer"}


def _traced(optimizer, gradients, variables):
    """The step added to a graph, then computed."""
    if not getattr(optimizer, "_built", False):
        with runnel.name_scope(optimizer.name):
            optimizer.build(variables)
    graph = Graph()
    with graph.as_default():
        fed = [graph.placeholder(g.dtype, g.shape) for g in gradients]
        optimizer.apply_gradients(zip(fed, variables, strict=True))
    graph.compute([], [(p, g._array) for p, g in zip(fed, gradients, strict=True)])


@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_a_traced_step_equals_an_eager_one(name, arguments):
    for dtype in ("float32", "float64"):
        eager = _run(runnel, optimizers, name, arguments, dtype, steps=6)
        traced = _run(runnel, optimizers, name, arguments, dtype, wrap=_traced, steps=6)
        _assert_equal_runs(eager, traced)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Ftrl", "Lion", "RMSprop", "Adadelta", "Nadam"])
def test_big_variables_are_updated_in_blocks(name):
    """Several blocks and a rest; columns first in memory; all as the small variables are."""
    random = np.random.default_rng(3)
    values = random.normal(size=(300, 301)).astype(np.float32)
    gradients = random.normal(size=(300, 301)).astype(np.float32)
    arguments = {"momentum": 0.5} if name in ("SGD", "RMSprop") else {}
    whole = runnel.Variable(np.asfortranarray(values))
    rows = [runnel.Variable(row) for row in values]
    big, small = [getattr(optimizers, name)(0.1, **arguments) for _ in range(2)]
    for _ in range(3):
        big.apply_gradients([(runnel.constant(np.asfortranarray(gradients)), whole)])
        small.apply_gradients(
            [(runnel.constant(g), v) for g, v in zip(gradients, rows, strict=True)]
        )
    # Large ones may be an engine's, which rounds the last digit in its own way.
    found = np.stack([row.numpy() for row in rows])
    np.testing.assert_allclose(whole.numpy(), found, rtol=1e-6, atol=2e-7)


@pytest.mark.parametrize(("name", "arguments"), CASES, ids=IDS)
def test_tensors_read_before_a_step_do_not_change(name, arguments):
    for size in (4, 40000):
        variable = runnel.Variable(np.ones(size, np.float32))
        optimizer = getattr(optimizers, name)(**arguments)
        gradient = runnel.constant(np.linspace(-1, 1, size, dtype=np.float32))
        optimizer.apply_gradients([(gradient, variable)])
        cells = [variable, *optimizer.variables]
        tensors = [cell.value() for cell in cells]
        before = [tensor.numpy() for tensor in tensors]
        optimizer.apply_gradients([(gradient, variable)])
        for tensor, array in zip(tensors, before, strict=True):
            np.testing.assert_array_equal(tensor.numpy(), array)
        assert not np.array_equal(variable.numpy(), before[0])
        np.testing.assert_array_equal(gradient.numpy(), np.linspace(-1, 1, size, dtype=np.float32))


def test_nothing_is_copied_when_nobody_else_holds_the_buffer():
    variable = runnel.Variable(np.ones((10, 10), np.float32))
    optimizer = optimizers.Adam()
    gradient = runnel.constant(np.ones((10, 10), np.float32))
    optimizer.apply_gradients([(gradient, variable)])
    cells = [variable, *optimizer.variables[1:]]
    buffers = [cell._tensor._array.ctypes.data for cell in cells]
    for _ in range(3):
        gc.collect()
        optimizer.apply_gradients([(gradient, variable)])
    assert [cell._tensor._array.ctypes.data for cell in cells] == buffers


RAW = {
    "ResourceApplyGradientDescent": (1, ["alpha", "delta"], {}),
    "ResourceApplyKerasMomentum": (2, ["lr", "grad", "momentum"], {"use_nesterov": True}),
    "ResourceApplyAdam": (
        3,
        ["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"],
        {},
    ),
    "ResourceApplyAdamWithAmsgrad": (
        4,
        ["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"],
        {},
    ),
    "ResourceApplyAdaMax": (3, ["beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"], {}),
    "ResourceApplyRMSProp": (3, ["lr", "rho", "momentum", "epsilon", "grad"], {}),
    "ResourceApplyCenteredRMSProp": (4, ["lr", "rho", "momentum", "epsilon", "grad"], {}),
    "ResourceApplyAdagradV2": (2, ["lr", "epsilon", "grad"], {}),
    "ResourceApplyAdadelta": (3, ["lr", "rho", "epsilon", "grad"], {}),
    "ResourceApplyFtrlV2": (3, ["grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"], {}),
}


@pytest.mark.parametrize("name", RAW)
def test_ops_do_what_the_ops_of_that_name_do(name):
    cells, arguments, attrs = RAW[name]
    random = np.random.default_rng(1)
    values = [random.uniform(0.5, 1, size=(3, 2)).astype(np.float32) for _ in range(cells)]
    if name == "ResourceApplyCenteredRMSProp":
        values[2] += 1  # the mean square is above the square of the mean
    scalars = {each: np.float32(random.uniform(0.1, 0.9)) for each in arguments}
    scalars.update(
        (each, random.normal(size=(3, 2)).astype(np.float32)) for each in ("grad", "delta")
    )
    if "lr_power" in arguments:
        scalars["lr_power"] = np.float32(-0.6)
    theirs = [tensorflow.Variable(value) for value in values]
    ours = [runnel.Variable(value) for value in values]
    raw = getattr(tensorflow.raw_ops, name)
    names = [argument.name for argument in REGISTRY[name].inputs]
    assert names[cells:] == arguments
    raw(
        **dict(zip(names, [cell.handle for cell in theirs], strict=False)),
        **{each: scalars[each] for each in arguments},
        **attrs,
    )
    inputs = [*[cell.handle for cell in ours], *[runnel.constant(scalars[a]) for a in arguments]]
    REGISTRY[name](*inputs, **attrs)
    for expected, actual in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)


CONFIGS = [
    *CASES,
    ("Adam", {"name": "mine", "jit_compile": False, "use_ema": True}),
    ("RMSprop", {}),
    *[(name, {}) for name in ("SGD", "Adam", "AdamW", "Adamax", "Nadam", "Adagrad", "Adadelta")],
    *[(name, {}) for name in ("Ftrl", "Lion", "Adafactor")],
]


@pytest.mark.parametrize(("name", "arguments"), CONFIGS)
def test_configs(name, arguments):
    theirs = getattr(tf_keras.optimizers, name)(**arguments)
    ours = getattr(optimizers, name)(**arguments)
    assert list(ours.get_config().items()) == list(theirs.get_config().items())
    assert optimizers.serialize(ours) == tf_keras.optimizers.serialize(theirs)
    legacy = optimizers.serialize(ours, use_legacy_format=True)
    assert legacy == tf_keras.optimizers.serialize(theirs, use_legacy_format=True)
    for config in (optimizers.serialize(ours), legacy):
        again = optimizers.deserialize(config)
        assert type(again) is type(ours) and again.get_config() == ours.get_config()
    assert type(ours).from_config(ours.get_config()).get_config() == ours.get_config()


def test_a_schedule_as_learning_rate():
    results = []
    for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
        schedule = module.schedules.ExponentialDecay(0.1, 2, 0.5)
        optimizer = module.SGD(schedule, weight_decay=0.1)
        variable = tf.Variable([1.0, 2.0])
        rates = []
        for _ in range(5):
            optimizer.apply_gradients([(tf.constant([1.0, -1.0]), variable)])
            rates.append(optimizer.learning_rate.numpy())
        results.append((rates, variable.numpy(), optimizer.lr.name, optimizer.get_config()))
        with pytest.raises(TypeError, match="not settable"):
            optimizer.learning_rate = 0.5
        again = module.SGD.from_config(optimizer.get_config())
        assert again._learning_rate.get_config() == schedule.get_config()
    np.testing.assert_allclose(results[1][0], results[0][0])
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-6)
    assert results[1][2:] == results[0][2:]


def test_the_learning_rate_is_a_variable_that_can_be_set():
    optimizer = optimizers.Adam(runnel.constant(0.25))
    variable = optimizer.learning_rate
    assert variable.name == "learning_rate:0" and variable.numpy() == 0.25
    optimizer.learning_rate = 0.5
    assert optimizer.lr is variable and variable.numpy() == 0.5
    optimizer.lr = runnel.Variable(2.0)
    assert optimizer.learning_rate.numpy() == 2.0
    optimizer.learning_rate = schedules.ExponentialDecay(0.5, 1, 0.5)
    v = runnel.Variable(1.0)
    for _ in range(2):
        optimizer.apply_gradients([(runnel.constant(1.0), v)])
    assert optimizer.learning_rate.numpy() == 0.25
    assert optimizers.SGD(lambda: 0.5).learning_rate.numpy() == 0.5


def test_variables_of_one_element():
    """Of several shapes and dtypes, in steps of two optimizers that take turns."""

    def run(tf, module):
        shapes = [(), (1,), (1, 1), ()]
        variables = [
            tf.Variable(np.full(shape, 0.5 + i, "float64" if i == 3 else "float32"))
            for i, shape in enumerate(shapes)
        ]
        each = [module.SGD(0.1), module.SGD(0.3, momentum=0.9), module.Adam(0.2)]
        held, seen = [], []
        for step in range(6):
            held.append([variable.read_value() for variable in variables])
            gradients = [variable * (0.3 + step) for variable in variables]
            each[step % 3].apply_gradients(zip(gradients, variables, strict=True))
            seen += [variable.numpy() for variable in variables]
        slots = [slot.numpy() for optimizer in each for slot in optimizer.variables]
        return [*seen, *[tensor.numpy() for row in held for tensor in row], *slots]

    expected, actual = run(tensorflow, tf_keras.optimizers), run(runnel, optimizers)
    for wanted, got in zip(expected, actual, strict=True):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_new_rates_and_momentums_count_at_the_next_step():
    def run(tf, module):
        v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])
        optimizer, other = module.SGD(0.5), module.SGD(0.125)
        seen = []
        for rate, momentum in [(0.5, 0.0), (0.5, 0.0), (0.25, 0.0), (0.25, 0.5), (1.0, 0.5)]:
            optimizer.learning_rate = rate
            optimizer.momentum = momentum
            optimizer.apply_gradients([(tf.constant(1.0), v), (tf.constant([1.0, 3.0]), w)])
            other.apply_gradients([(tf.constant(1.0), v)])
            seen += [v.numpy(), *w.numpy()]
        return seen

    np.testing.assert_allclose(run(runnel, optimizers), run(tensorflow, tf_keras.optimizers))


def test_the_scope_of_a_step_is_named_and_left():
    def run(tf, module):
        scopes = []

        class Refusing(module.Optimizer):
            def __init__(self):
                super().__init__("Refusing")
                self._learning_rate = self._build_learning_rate(0.1)

            def update_step(self, gradient, variable):
                scopes.append(tf.get_current_name_scope())
                raise ArithmeticError

        pairs = [(tf.constant(1.0), tf.Variable(1.0))]
        with tf.name_scope("outer"):
            for name in (None, "given"):
                with pytest.raises(ArithmeticError):
                    Refusing().apply_gradients(pairs, name=name)
                scopes.append(tf.get_current_name_scope())
        return scopes

    assert run(runnel, optimizers) == run(tensorflow, tf_keras.optimizers)
    with pytest.raises(ValueError, match="must be a string"):
        optimizers.SGD().apply_gradients([(runnel.constant(1.0), runnel.Variable(1.0))], name=5)


class TestRefusals:
    """The same class of exception as in tf_keras."""

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("Adam", {"clipnorm": 1.0, "global_clipnorm": 1.0}),
            ("Adam", {"use_ema": True, "ema_momentum": 2.0}),
            ("Adam", {"use_ema": True, "ema_overwrite_frequency": 1.5}),
            ("Adam", {"use_ema": True, "ema_overwrite_frequency": -1}),
            ("Adam", {"decay": 0.1}),
            ("Adam", {"gradient_aggregator": None}),
            ("Adam", {"no_such_argument": 1}),
            ("SGD", {"momentum": 2.0}),
            ("Lion", {"beta_1": 0.0}),
            ("AdamW", {"weight_decay": None}),
            ("Ftrl", {"learning_rate_power": 1.0}),
            ("Ftrl", {"initial_accumulator_value": -1.0}),
            ("Ftrl", {"l1_regularization_strength": -1.0}),
            ("Ftrl", {"l2_regularization_strength": -1.0}),
            ("Ftrl", {"l2_shrinkage_regularization_strength": -1.0}),
        ],
    )
    def test_arguments(self, name, arguments):
        with pytest.raises((ValueError, TypeError)) as theirs:
            getattr(tf_keras.optimizers, name)(**arguments)
        with pytest.raises(theirs.type) as ours:
            getattr(optimizers, name)(**arguments)
        assert next(iter(arguments)) in str(ours.value) or len(arguments) > 1

    @pytest.mark.parametrize(
        "call",
        [
            lambda tf, o, v: o.apply_gradients([(None, v)]),
            lambda tf, o, v: o.apply_gradients([(tf.ones([3]), v)]),
            lambda tf, o, v: o.apply_gradients([(tf.ones([2], tf.float64), v)]),
            lambda tf, o, v: o.minimize(tf.reduce_sum(v), [v]),
            lambda tf, o, v: o.exclude_from_weight_decay(var_names=["w"]),
            lambda tf, o, v: o.set_weights([np.array(1), np.ones(3)]),
            lambda tf, o, v: setattr(o, "iterations", tf.Variable(1)),
            lambda tf, o, v: type(o)().set_weights([np.array(1)]),
            lambda tf, o, v: type(o).__mro__[-2 if tf is runnel else -5]("a").learning_rate,
        ],
    )
    def test_calls(self, call):
        failures = []
        for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
            variable = tf.Variable([1.0, 2.0], name="w")
            optimizer = module.SGD(0.5)
            optimizer.build([variable])
            with pytest.raises(Exception) as failure:
                call(tf, optimizer, variable)
            failures.append(failure.type.__name__)
            np.testing.assert_array_equal(variable.numpy(), [1.0, 2.0])
        assert failures[1] == failures[0]

    def test_names(self):
        for identifier in ("adm", 3, None, optimizers.Adam):
            with pytest.raises(ValueError):
                optimizers.get(identifier)
        with pytest.raises(ValueError, match="Did you mean 'adam'"):
            optimizers.get("adm")


def test_get():
    for name in ("adam", "Adam", "ADAM", "rmsprop", "sgd", "AdamW", "adadelta", "ftrl", "nadam"):
        assert type(optimizers.get(name)).__name__.lower() == name.lower()
    mine = optimizers.SGD()
    assert optimizers.get(mine) is mine
    config = {"class_name": "adam", "config": {"learning_rate": 0.5, "is_legacy_optimizer": False}}
    assert optimizers.get(config).learning_rate.numpy() == 0.5
    old = {"class_name": "SGD", "config": {"lr": 0.5, "decay": 0.1}}
    assert type(optimizers.get(old)) is optimizers.legacy.SGD
    assert type(optimizers.get("sgd", use_legacy_optimizer=True)) is optimizers.legacy.SGD
    with pytest.raises(TypeError):
        optimizers.get("sgd", unknown=True)


def test_gradients_without_values_are_skipped(caplog):
    a, b = runnel.Variable([1.0], name="a"), runnel.Variable([1.0], name="b")
    optimizer = optimizers.SGD(0.5)
    optimizer.apply_gradients([(None, a), (runnel.constant([1.0]), b)])
    assert a.numpy() == 1.0 and b.numpy() == 0.5
    assert optimizer.apply_gradients([]) is optimizer.iterations


def test_gradients_may_be_arrays_lists_or_smaller():
    for gradient in (np.ones((2, 2), np.float32), [[1.0, 1.0], [1.0, 1.0]], runnel.ones([2])):
        variable = runnel.Variable(np.ones((2, 2), np.float32))
        optimizers.SGD(0.5).apply_gradients([(gradient, variable)])
        np.testing.assert_array_equal(variable.numpy(), np.full((2, 2), 0.5))


def test_weight_decay_spares_what_is_excluded():
    results = []
    for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
        variables = [tf.Variable([1.0], name=name) for name in ("kernel", "bias", "other")]
        optimizer = module.AdamW(0.1, weight_decay=0.5)
        optimizer.exclude_from_weight_decay(var_list=[variables[2]], var_names=["bi"])
        optimizer.apply_gradients([(tf.zeros([1]), v) for v in variables])
        results.append([v.numpy() for v in variables])
    np.testing.assert_allclose(results[1], results[0])


def test_constraints_hold_after_the_step():
    variable = runnel.Variable([1.0, 1.0], constraint=lambda x: runnel.clip_by_value(x, 0.0, 1.0))
    optimizers.SGD(1.0).apply_gradients([(runnel.constant([2.0, -1.0]), variable)])
    np.testing.assert_array_equal(variable.numpy(), [0.0, 1.0])


def test_saving_and_loading_of_variables():
    variable = runnel.Variable([1.0, 2.0])
    first, second = optimizers.Adam(), optimizers.Adam()
    first.apply_gradients([(runnel.constant([1.0, 2.0]), variable)])
    store = {}
    first.save_own_variables(store)
    second.build([variable])
    second.load_own_variables(store)
    for a, b in zip(first.variables, second.variables(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    third = optimizers.Adam()
    third.load_own_variables(store)
    assert third.iterations.numpy() == 0
    third.build([variable])
    third.set_weights([v.numpy() for v in first.variables])
    assert third.iterations.numpy() == 1


def _custom(tf, module):
    class Custom(module.Optimizer):
        def __init__(self, learning_rate=0.1, name="Custom", **kwargs):
            super().__init__(name=name, **kwargs)
            self._learning_rate = self._build_learning_rate(learning_rate)

        def build(self, var_list):
            super().build(var_list)
            if hasattr(self, "_built") and self._built:
                return
            self._built = True
            self.sums = [self.add_variable_from_reference(v, "sum") for v in var_list]
            self.count = self.add_variable((), name="count")

        def update_step(self, gradient, variable):
            total = self.sums[self._index_dict[self._var_key(variable)]]
            self.count.assign_add(1.0)
            if isinstance(gradient, tf.IndexedSlices):
                total.scatter_add(gradient)
            else:
                total.assign_add(gradient)
            variable.assign_sub(tf.cast(self.learning_rate, variable.dtype) * total)

        def get_config(self):
            config = super().get_config()
            config["learning_rate"] = self._serialize_hyperparameter(self._learning_rate)
            return config

    return Custom


def test_an_optimizer_of_the_users_own():
    results = []
    for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
        optimizer = _custom(tf, module)(weight_decay=0.1, use_ema=True)
        variables = [tf.Variable(np.ones((3, 2), np.float32), name=n) for n in ("a", "b")]
        rows = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), tf.constant([3, 2]))
        for _ in range(3):
            optimizer.apply_gradients([(rows, variables[0]), (tf.ones([3, 2]), variables[1])])
        everything = [*variables, *optimizer.variables]
        results.append(([v.name for v in everything], [v.numpy() for v in everything]))
        assert type(optimizer).from_config(optimizer.get_config()).lr.numpy() == np.float32(0.1)
    assert results[1][0] == results[0][0]
    for expected, actual in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_minimize_and_compute_gradients():
    variable = runnel.Variable([3.0])
    optimizer = optimizers.SGD(0.25)
    assert optimizer.minimize(lambda: variable * variable, [variable]) is None
    assert variable.numpy() == 1.5
    with runnel.GradientTape() as tape:
        loss = variable * variable
    pairs = optimizer.compute_gradients(loss, [variable], tape)
    assert pairs[0][0].numpy() == 3.0 and pairs[0][1] is variable
    pairs = optimizer.compute_gradients(lambda: variable * 2.0, lambda: [variable])
    assert pairs[0][0].numpy() == 2.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad"])
def test_small_floats(name, dtype):
    results = []
    for tf, module in ((tensorflow, tf_keras.optimizers), (runnel, optimizers)):
        variable = tf.Variable(tf.ones([3], dtype))
        optimizer = getattr(module, name)(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(tf.cast(tf.constant([1.0, -2.0, 0.5]), dtype), variable)])
        results.append([v.numpy().astype(np.float32) for v in [variable, *optimizer.variables]])
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=3e-2, atol=1e-2)

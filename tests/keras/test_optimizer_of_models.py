"""One optimizer for several models: slots for the variables it meets later."""

import numpy as np
import pytest

import runnel as tf

KINDS = [
    "SGD",
    "Adam",
    "AdamW",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adamax",
    "Nadam",
    "Ftrl",
    "Adafactor",
    "Lion",
]


def steps(optimizer, function, variables):
    """Three steps of each variable by itself, as programs with several models do them."""

    def step():
        for variable in variables:
            optimizer.apply_gradients([(variable * 0.5, variable)])

    run = tf.function(step) if function else step
    for _ in range(3):
        run()
    return [variable.numpy() for variable in variables]


def fresh():
    return [tf.Variable(np.ones([3, 2], "f4")), tf.Variable(np.ones(4, "f4"))]


@pytest.mark.parametrize("function", [False, True])
@pytest.mark.parametrize("options", [{}, {"use_ema": True}, {"clipnorm": 0.5}])
@pytest.mark.parametrize("kind", KINDS)
def test_as_if_it_had_been_built_for_all(kind, options, function):
    make = getattr(tf.keras.optimizers, kind)
    later, known = make(**options), make(**options)
    variables, others = fresh(), fresh()
    known.build(others)
    for got, wanted in zip(
        steps(later, function, variables), steps(known, function, others), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    assert later.iterations.numpy() == known.iterations.numpy() == 6
    assert sorted(v.shape.as_list() for v in later.variables) == sorted(
        v.shape.as_list() for v in known.variables
    )


def test_a_schedule_goes_on_and_the_state_is_saved(tmp_path):
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    optimizer = tf.keras.optimizers.Adam(rate)
    variables = fresh()
    steps(optimizer, True, variables)
    assert float(optimizer.learning_rate) == pytest.approx(0.1 * 0.5**5)
    path = tf.train.Checkpoint(optimizer=optimizer).write(str(tmp_path / "state"))
    again = tf.keras.optimizers.Adam(rate)
    tf.train.Checkpoint(optimizer=again).read(path)
    for variable in fresh():
        again.apply_gradients([(variable * 0.0, variable)])
    assert again.iterations.numpy() == 8
    assert len(again.variables) == len(optimizer.variables)


def test_two_models_trained_in_turns():
    optimizer = tf.keras.optimizers.Adam(0.1)
    models = [tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))]) for _ in range(2)]
    for model in models:
        model.compile(optimizer, "mse")
    x, y = np.ones([8, 2], "f4"), np.full([8, 1], 3.0, "f4")
    losses = [[model.fit(x, y, verbose=0).history["loss"][0] for model in models] for _ in range(9)]
    assert all(last < first for first, last in zip(losses[0], losses[-1], strict=True))
    assert optimizer.iterations.numpy() == 18


def test_an_optimizer_of_the_users_own():
    class Momentum(tf.keras.optimizers.Optimizer):
        def __init__(self):
            super().__init__("momentum")
            self._learning_rate = self._build_learning_rate(0.1)

        def build(self, var_list):
            super().build(var_list)
            if getattr(self, "_built", False):
                return
            self._built = True
            self.moments = [self.add_variable_from_reference(v, "m") for v in var_list]

        def update_step(self, gradient, variable):
            moment = self.moments[self._index_dict[self._var_key(variable)]]
            moment.assign(0.5 * moment + gradient)
            variable.assign_sub(self.learning_rate * moment)

    later, known = Momentum(), Momentum()
    variables, others = fresh(), fresh()
    known.build(others)
    for got, wanted in zip(
        steps(later, False, variables), steps(known, False, others), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)

"""The global step, and learning rate schedules."""

from __future__ import annotations

import math

from ....core.context import state
from ....core.convert import convert_to_tensor
from ....core.dtypes import int64
from ....core.variable import Variable
from ..defaults import get_default_graph
from ..initializers import zeros_initializer
from ..keys import GraphKeys
from ..scopes import get_variable, variable_scope


def get_global_step(graph=None):
    """The global step of a graph, or None."""
    graph = get_default_graph() if graph is None else graph
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) == 1:
        return found[0]
    if found:
        raise TypeError(f"Multiple tensors in global_step collection: {found}")
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return next((each for each in variables if each.name == "global_step:0"), None)


def create_global_step(graph=None):
    """Create the global step of a graph."""
    graph = get_default_graph() if graph is None else graph
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    if state.graph is None:
        step = Variable(0, trainable=False, name="global_step", dtype=int64)
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
        return step
    with graph.as_default(), variable_scope(_root(), auxiliary_name_scope=False):
        return get_variable(
            "global_step", [], int64, zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )  # fmt: skip


def _root():
    from ..scopes import VariableScope

    return VariableScope(False)


def get_or_create_global_step(graph=None):
    """The global step of a graph, created where there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def assert_global_step(global_step_tensor):
    """TypeError unless the global step is a scalar of integers."""
    if not isinstance(global_step_tensor, Variable) or not global_step_tensor.dtype.is_integer:
        raise TypeError(
            f"Existing 'global_step' must be an integer variable: {global_step_tensor!r}."
        )
    if global_step_tensor.shape.rank not in (0, None):
        raise TypeError(f"Existing 'global_step' must be scalar: {global_step_tensor.shape}.")


def global_step(sess, global_step_tensor):
    """The value of the global step in a session."""
    if state.graph is None and not hasattr(global_step_tensor, "graph"):
        return int(global_step_tensor)
    return int(sess.run(global_step_tensor))


# Learning rates.


def _schedules():
    from ....keras.optimizers import schedules

    return schedules


def _decayed(rate):
    """The learning rate; eagerly, a function that recomputes it."""
    return rate if state.graph is None else rate()


def _required(global_step, name):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")


def exponential_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate · decay_rate ^ (global_step / decay_steps)."""
    _required(global_step, "exponential_decay")
    schedule = _schedules().ExponentialDecay(learning_rate, decay_steps, decay_rate, staircase)
    return _decayed(lambda: schedule(_step(global_step)))


def natural_exp_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate · exp(-decay_rate · global_step / decay_steps)."""
    _required(global_step, "natural_exp_decay")
    from ....ops.math.elementwise import exp

    def rate():
        initial, progress = _progress(learning_rate, global_step, decay_steps, staircase)
        return initial * exp(progress * -decay_rate)

    return _decayed(rate)


def inverse_time_decay(
    learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None
):
    """learning_rate / (1 + decay_rate · global_step / decay_steps)."""
    _required(global_step, "inverse_time_decay")

    def rate():
        initial, progress = _progress(learning_rate, global_step, decay_steps, staircase)
        return initial / (progress * decay_rate + 1.0)

    return _decayed(rate)


def _progress(learning_rate, global_step, decay_steps, staircase):
    from ....ops.math.casting import cast
    from ....ops.math.rounding import floor

    initial = convert_to_tensor(learning_rate, dtype_hint="float32")
    progress = cast(_step(global_step), initial.dtype) / cast(decay_steps, initial.dtype)
    return initial, floor(progress) if staircase else progress


def _step(global_step):
    return convert_to_tensor(global_step)


def polynomial_decay(
    learning_rate,
    global_step,
    decay_steps,
    end_learning_rate=0.0001,
    power=1.0,
    cycle=False,
    name=None,
):
    """A polynomial from `learning_rate` down to `end_learning_rate` at `decay_steps`."""
    _required(global_step, "polynomial_decay")
    schedule = _schedules().PolynomialDecay(
        learning_rate, decay_steps, end_learning_rate, power, cycle
    )
    return _decayed(lambda: schedule(_step(global_step)))


def piecewise_constant(x, boundaries, values, name=None):
    """The value of the interval between boundaries that contains `x`."""
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            "The length of boundaries should be 1 less than the length of values. Received: "
            f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of length "
            f"{len(values)}."
        )
    schedule = _schedules().PiecewiseConstantDecay(list(boundaries), list(values))
    return _decayed(lambda: schedule(_step(x)))


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine wave, down to `alpha` times the learning rate."""
    _required(global_step, "cosine decay")
    schedule = _schedules().CosineDecay(learning_rate, decay_steps, alpha)
    return _decayed(lambda: schedule(_step(global_step)))


def cosine_decay_restarts(
    learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None
):
    """Cosine decay with restarts, each period longer."""
    _required(global_step, "cosine decay restarts")
    schedule = _schedules().CosineDecayRestarts(
        learning_rate, first_decay_steps, t_mul, m_mul, alpha
    )
    return _decayed(lambda: schedule(_step(global_step)))


def linear_cosine_decay(
    learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None
):
    """Linear decay times a cosine."""
    _required(global_step, "linear cosine decay")
    return _decayed(
        lambda: _linear_cosine(
            learning_rate, global_step, decay_steps, num_periods, alpha, beta, None
        )
    )


def noisy_linear_cosine_decay(
    learning_rate,
    global_step,
    decay_steps,
    initial_variance=1.0,
    variance_decay=0.55,
    num_periods=0.5,
    alpha=0.0,
    beta=0.001,
    name=None,
):
    """Linear decay times a cosine, with decaying noise."""
    _required(global_step, "noisy linear cosine decay")
    from ....ops import random
    from ....ops.math.arithmetic import pow
    from ....ops.math.elementwise import sqrt

    def noise(step):
        variance = initial_variance / pow(step + 1.0, convert_to_tensor(variance_decay, step.dtype))
        return random.normal(step.shape, dtype=step.dtype) * sqrt(variance)

    return _decayed(
        lambda: _linear_cosine(
            learning_rate, global_step, decay_steps, num_periods, alpha, beta, noise
        )
    )


def _linear_cosine(learning_rate, global_step, decay_steps, num_periods, alpha, beta, noise):
    from ....ops.math.arithmetic import minimum
    from ....ops.math.casting import cast
    from ....ops.math.trigonometry import cos

    initial = convert_to_tensor(learning_rate, dtype_hint="float32")
    steps = cast(decay_steps, initial.dtype)
    step = minimum(cast(_step(global_step), initial.dtype), steps)
    line = (steps - step) / steps
    if noise is not None:
        line = line + noise(step)
    wave = 0.5 * (1.0 + cos(step / steps * (math.pi * 2.0 * num_periods)))
    return initial * ((alpha + line) * wave + beta)

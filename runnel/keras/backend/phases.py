"""Global state: learning phase, name counters, switches; and `function`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import runnel as tf

from ...core.context import seeds, state
from ..engine import naming
from ..engine.call_context import context, phase_of_graph
from .settings import floatx

name_scope = tf.name_scope


def get_uid(prefix=""):
    """The next counter value for a prefix, from 1 on.

    >>> first = tf.keras.backend.get_uid("something")
    >>> tf.keras.backend.get_uid("something") - first
    1
    """
    return naming.get_uid(prefix)


def reset_uids():
    """Reset the name counters of layers."""
    naming.reset()


def clear_session():
    """Reset all global state: name counters, the learning phase, random number generators."""
    naming.reset()
    context.learning_phase = None
    seeds.begin_streams_anew()


def learning_phase():
    """The learning phase if it was set, 1 or True in training, 0 or False in inference; else 0.

    In a program's graph, if it was not set, it is a tensor to be fed.

    >>> tf.keras.backend.learning_phase()
    0
    """
    if context.learning_phase is not None:
        return context.learning_phase
    return 0 if state.home is None else phase_of_graph(state.home)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`tf.keras.backend.{name}` is deprecated and will be removed after 2020-10-11. To update "
        "it, simply pass a True/False value to the `training` argument of the `__call__` method "
        "of your layer or model.",
        stacklevel=3,
    )


def _checked_phase(value: Any) -> Any:
    if value not in (0, 1):
        raise ValueError(f"Expected learning phase to be 0 or 1. Received: {value}")
    return value


def set_learning_phase(value):
    """Set the learning phase: 1 for training, 0 for inference."""
    _deprecated("set_learning_phase")
    context.learning_phase = _checked_phase(value)


@contextmanager
def learning_phase_scope(value) -> Iterator[None]:
    """Set the learning phase within a block."""
    _deprecated("learning_phase_scope")
    outer, context.learning_phase = context.learning_phase, _checked_phase(value)
    try:
        yield
    finally:
        context.learning_phase = outer


def _value(x: Any) -> Any:
    return x() if callable(x) else x


def in_train_phase(x, alt, training=None):
    """x in training, else `alt`; if these are functions, only one is called.

    >>> tf.keras.backend.in_train_phase(lambda: "drop", lambda: "keep", training=True)
    'drop'
    """
    if training is None:
        training = learning_phase()
    if not tf.is_tensor(training):
        return _value(x if training else alt)
    return switch(training, x, alt)


def in_test_phase(x, alt, training=None):
    """x in inference, else `alt`; if these are functions, only one is called."""
    return in_train_phase(alt, x, training)


def switch(condition, then_expression, else_expression):
    """Select one of two values by a scalar condition, or element-wise by a tensor.

    The expressions may be functions; a scalar condition calls only one of them.

    >>> tf.keras.backend.switch(tf.constant(True), lambda: 1, lambda: 2).numpy().item()
    1
    """
    condition = tf.cast(condition, tf.bool)
    if condition.shape.rank == 0:
        return tf.cond(
            condition,
            lambda: tf.convert_to_tensor(_value(then_expression)),
            lambda: tf.convert_to_tensor(_value(else_expression)),
        )
    then, otherwise = (
        tf.convert_to_tensor(_value(each)) for each in (then_expression, else_expression)
    )
    if condition.shape.rank > then.shape.rank:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={condition.shape.rank}, "
            f"ndim(then_expression)={then.shape.rank}"
        )
    return tf.where(condition, then, otherwise)


def manual_variable_initialization(value):
    """Accepted for TensorFlow 1 programs and ignored; variables are initialized when created."""


def gradients(loss, variables):
    """Symbolic gradients in a graph; use `tf.GradientTape` for eager execution."""
    return tf.gradients(loss, variables)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A symbolic input of a functional model; `shape` includes the batch axis.

    >>> tf.keras.backend.placeholder((2, 3)).shape
    TensorShape([2, 3])
    """
    if shape is None and ndim:
        shape = (None,) * ndim
    dtype = dtype or floatx()
    if not (sparse or ragged):
        return tf.keras.Input(type_spec=tf.TensorSpec(shape, dtype), name=name)
    return tf.keras.Input(batch_shape=shape, dtype=dtype, name=name, sparse=sparse, ragged=ragged)


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A Python function from a functional model's inputs to NumPy arrays of its values.

    >>> x = tf.keras.Input([2])
    >>> tf.keras.backend.function([x], [x * 2])([np.ones([1, 2])])
    [array([[2., 2.]], dtype=float32)]
    """
    if kwargs:
        raise ValueError(
            "Session keyword arguments are not supported during eager execution. You passed: "
            f"{kwargs}"
        )
    if updates:
        raise ValueError(
            f"`updates` argument is not supported during eager execution. You passed: {updates}"
        )
    model = tf.keras.Model(inputs=inputs, outputs=outputs)
    wants_list = isinstance(outputs, list)

    def call(model_inputs):
        results = model(model_inputs)
        if wants_list and not isinstance(results, list):
            results = [results]
        return tf.nest.map_structure(lambda tensor: tensor.numpy(), results)

    return call

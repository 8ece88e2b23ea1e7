"""tf.compat.v1.keras.utils: functions that build in TensorFlow 1's way, as layers of TensorFlow 2.

All else is `tf.keras.utils`.
"""

from __future__ import annotations

import functools as _functools
import threading as _threading
from contextlib import contextmanager as _contextmanager

import runnel as _tf

from ....core.context import name_scope as _name_scope
from ....keras.engine.call_context import context as _context
from ....keras.utils import *  # noqa: F403
from ....ops import random_streams as _streams
from .. import scopes as _scopes


def __getattr__(name: str) -> object:
    return getattr(_tf.keras.utils, name)


def __dir__() -> list[str]:
    own = ["DeterministicRandomTestTool", "get_or_create_layer", "track_tf1_style_variables"]
    return sorted({*dir(_tf.keras.utils), *own})


class _TrackedVariables(_tf.Module):
    """The variables and layers that a method of a layer or module makes, by their names."""

    def __init__(self):
        super().__init__()
        self._vars = {}
        self._layers = {}
        self._regularizers = {}


_making = _threading.local()


def track_tf1_style_variables(method):
    """Let what a method of a layer or module makes with `get_variable` be variables of its object.

    The next call finds them again. Losses of their regularizers are losses of the layer.

    >>> v1 = tf.compat.v1
    >>> class Dense(tf.keras.layers.Layer):
    ...     @v1.keras.utils.track_tf1_style_variables
    ...     def call(self, x):
    ...         with v1.variable_scope("dense"):
    ...             w = v1.get_variable("w", [x.shape[-1], 2])
    ...         return tf.matmul(x, w)
    >>> layer = Dense()
    >>> layer(tf.ones([1, 3])).shape
    TensorShape([1, 2])
    >>> [v.name for v in layer.weights]
    ['dense/w:0']
    """

    @_functools.wraps(method)
    def tracked(self, *args, **kwargs):
        kept = getattr(self, "_tf1_style_var_store", None)
        if kept is None:
            if not isinstance(self, _tf.Module):
                raise ValueError(
                    "`@tf.compat.v1.keras.utils.track_tf1_style_variables` is for methods of a "
                    f"tf.Module, a layer or a model; {type(self).__name__} is none of them."
                )
            kept = self._tf1_style_var_store = _TrackedVariables()
        before = getattr(_making, "now", None), getattr(_making, "owner", None)
        _making.now, _making.owner = kept, self
        try:
            with _scopes.tracking(kept._vars, _functools.partial(_regularize, self, kept)):
                return method(self, *args, **kwargs)
        finally:
            _making.now, _making.owner = before

    return tracked


def _regularize(owner, kept, name, regularizer, variable):
    """Let a layer have the loss of a variable that it has made."""
    loss = kept._regularizers[name] = _functools.partial(regularizer, variable)
    if isinstance(owner, _tf.keras.layers.Layer):
        owner.add_loss(loss)


def get_or_create_layer(name, create_layer_method):
    """The layer of this name of the object whose tracked method is at work, made the first time.

    Outside of such a method it is made each time.
    """
    kept = getattr(_making, "now", None)
    if kept is None:
        return create_layer_method()
    if name not in kept._layers:
        # Its weights are named as if it were made outside of the layer at work.
        outer = _context.depth, _context.scope
        _context.depth, _context.scope = 0, ""
        try:
            with _name_scope(""):
                layer = kept._layers[name] = create_layer_method()
        finally:
            _context.depth, _context.scope = outer
        if isinstance(_making.owner, _tf.keras.layers.Layer):
            # So that its losses are among those of the owner.
            _making.owner._tracked.append(layer)
    return kept._layers[name]


class DeterministicRandomTestTool:
    """Gives random operations seeds that are the same in graphs and eagerly, to compare the two.

    mode "constant": each operation has the same seed; "num_random_ops": it is how many operations
    there were before.

    >>> tool = tf.compat.v1.keras.utils.DeterministicRandomTestTool(mode="num_random_ops")
    >>> with tool.scope():
    ...     print(tf.random.uniform([2]))
    tf.Tensor([0.8354591 0.9162973], shape=(2,), dtype=float32)
    """

    def __init__(self, seed: int = 42, mode="constant"):
        if mode not in ("constant", "num_random_ops"):
            raise ValueError(f"Mode arg must be 'constant' or 'num_random_ops'. Got: {mode}")
        self._mode = mode
        self._seed = seed
        self._operation_seed = 0
        self._used: set[int] = set()

    @property
    def operation_seed(self):
        return self._operation_seed

    @operation_seed.setter
    def operation_seed(self, value):
        self._operation_seed = value

    def _next(self):
        """The seeds of the next operation."""
        seed = self._operation_seed
        if self._mode == "num_random_ops":
            if seed in self._used:
                raise ValueError(
                    "This `DeterministicRandomTestTool` object is trying to re-use the "
                    f"already-used operation seed {seed}. It cannot guarantee random numbers will "
                    "match between eager and sessions when an operation seed is reused. You most "
                    "likely set `operation_seed` explicitly but used a value that caused the "
                    "naturally-incrementing operation seed sequences to overlap with an "
                    "already-used seed."
                )
            self._used.add(seed)
            self._operation_seed += 1
        return self._seed, seed

    @_contextmanager
    def scope(self):
        """Give the random operations of a block their seeds."""
        with _streams.seeded_by(self._next):
            yield

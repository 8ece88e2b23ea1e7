"""Wrappers of recurrent cells: tf.nn.RNNCellDropoutWrapper and its like."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import runnel as tf

from ..serialization import deserialize_keras_object, serialize_keras_object
from .recurrent.cells import AbstractRNNCell
from .recurrent.stacked import initial_state_of


class _CellWrapper(AbstractRNNCell):
    """A cell that wraps another one and has its weights and sizes."""

    def __init__(self, cell, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if "call" not in dir(cell) or "state_size" not in dir(cell):
            raise AttributeError(
                f"A wrapper needs a cell with `call` and `state_size`. Received: cell={cell}"
            )
        self.cell = cell

    @property
    def state_size(self):
        return self.cell.state_size

    @property
    def output_size(self):
        return self.cell.output_size

    @property
    def wrapped_cell(self):
        return self.cell

    def build(self, inputs_shape):
        """Build the cell."""
        if not getattr(self.cell, "built", True):
            self.cell.build(inputs_shape)
            self.cell.built = True
        self.built = True

    def call(self, inputs, state, **kwargs):
        """One step of the cell, transformed by the wrapper."""
        call = self.cell if callable(self.cell) else self.cell.call
        return self._around(call, inputs, state, **kwargs)

    def _around(self, call: Callable[..., Any], inputs: Any, state: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The cell's initial states."""
        return initial_state_of(self.cell, inputs, batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """The cell's initial states."""
        return self.get_initial_state(batch_size=batch_size, dtype=dtype)

    def apply(self, inputs, *args, **kwargs):
        """Call the wrapper: the same as `wrapper(inputs, ...)`."""
        return self(inputs, *args, **kwargs)

    def add_update(self, updates, inputs=None):
        """Register updates to run in training; `inputs` is accepted and ignored."""
        super().add_update(updates)

    def get_losses_for(self, inputs):
        """The losses; they do not depend on the call's inputs."""
        return self.losses

    def get_updates_for(self, inputs):
        """The updates; they do not depend on the call's inputs."""
        return self.updates

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "cell": serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a wrapper from its config."""
        config = dict(config)
        for name in ("cell", "residual_fn", "dropout_state_filter_visitor"):
            if isinstance(config.get(name), dict):
                config[name] = deserialize_keras_object(config[name], custom_objects=custom_objects)
        return cls(**config)


class DropoutWrapper(_CellWrapper):
    """A cell with dropout of its inputs, its new states and its outputs, in training or not.

    With `variational_recurrent` the same elements are dropped at every step.

    >>> from runnel.keras.layers.rnn_wrappers import DropoutWrapper
    >>> cell = DropoutWrapper(tf.keras.layers.GRUCell(4), output_keep_prob=0.5)
    >>> output, state = cell(tf.ones([2, 3]), tf.zeros([2, 4]))
    >>> output.shape
    TensorShape([2, 4])
    """

    def __init__(
        self,
        cell,
        input_keep_prob=1.0,
        output_keep_prob=1.0,
        state_keep_prob=1.0,
        variational_recurrent=False,
        input_size=None,
        dtype=None,
        seed=None,
        dropout_state_filter_visitor=None,
        **kwargs,
    ):
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._visitor = dropout_state_filter_visitor
        self._keep = {
            "input": _probability("input_keep_prob", input_keep_prob),
            "state": _probability("state_keep_prob", state_keep_prob),
            "output": _probability("output_keep_prob", output_keep_prob),
        }
        self._variational = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._noise: dict[str, list[Any]] = {}
        if variational_recurrent:
            self._draw_noise(input_size, dtype)

    def _draw_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")
        if input_size is None and self._drops("input"):
            raise ValueError(
                "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                "input_size must be provided"
            )
        sizes = {"state": self.state_size, "output": self.output_size}
        if input_size is not None:
            sizes["input"] = input_size
        for kind in ("input", "state", "output"):
            if kind in sizes and self._drops(kind):
                self._noise[kind] = [
                    tf.random.uniform(
                        [1, *tf.TensorShape(size).as_list()],
                        dtype=dtype,
                        seed=self._seed_of(kind, index),
                    )
                    for index, size in enumerate(tf.nest.flatten(sizes[kind]))
                ]

    def _drops(self, kind: str) -> bool:
        keep = self._keep[kind]
        return not isinstance(keep, float) or keep < 1

    def _seed_of(self, kind: str, index: int) -> int | None:
        """A distinct seed for each kind of dropout: equal seeds would drop the same elements."""
        if self._seed is None:
            return None
        return zlib.crc32(f"{self._seed}{kind}{index}".encode()) & 0x7FFFFFFF

    def _dropped(self, kind: str, values: Any, chosen: Any = None) -> Any:
        if not self._drops(kind):
            return values
        flat = tf.nest.flatten(values)
        chosen = [True] * len(flat) if chosen is None else tf.nest.flatten(chosen)
        results = [
            self._drop_one(kind, index, value) if wanted else value
            for index, (value, wanted) in enumerate(zip(flat, chosen, strict=True))
        ]
        return tf.nest.pack_sequence_as(values, results)

    def _drop_one(self, kind: str, index: int, value: Any) -> Any:
        keep = self._keep[kind]
        if not self._variational:
            return tf.nn.dropout(value, rate=1.0 - keep, seed=self._seed_of(kind, index))
        kept = tf.floor(tf.cast(keep, value.dtype) + self._noise[kind][index])
        return value / keep * kept

    def _around(self, call, inputs, state, **kwargs):
        output, new_state = call(self._dropped("input", inputs), state, **kwargs)
        chosen = None if self._visitor is None else _choices(self._visitor, new_state)
        new_state = self._dropped("state", new_state, chosen)
        return self._dropped("output", output), new_state

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = {
            **super().get_config(),
            "input_keep_prob": self._keep["input"],
            "output_keep_prob": self._keep["output"],
            "state_keep_prob": self._keep["state"],
            "variational_recurrent": self._variational,
            "input_size": self._input_size,
            "seed": self._seed,
        }
        if self._visitor is not None:
            config["dropout_state_filter_visitor"] = serialize_keras_object(self._visitor)
        return config


class ResidualWrapper(_CellWrapper):
    """A cell with a residual connection; `residual_fn` combines inputs and outputs.

    >>> from runnel.keras.layers.rnn_wrappers import ResidualWrapper
    >>> cell = ResidualWrapper(tf.keras.layers.GRUCell(3))
    >>> tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape
    TensorShape([2, 3])
    """

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _around(self, call, inputs, state, **kwargs):
        outputs, new_state = call(inputs, state, **kwargs)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), new_state
        tf.nest.assert_same_structure(inputs, outputs)
        for one, other in zip(tf.nest.flatten(inputs), tf.nest.flatten(outputs), strict=True):
            one.shape.assert_is_compatible_with(other.shape)
        return tf.nest.map_structure(tf.add, inputs, outputs), new_state

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = super().get_config()
        if self._residual_fn is not None:
            config["residual_fn"] = serialize_keras_object(self._residual_fn)
        return config


class DeviceWrapper(_CellWrapper):
    """A cell that runs on a device."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)
        self._device = device

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The cell's initial states, on the device."""
        with tf.device(self._device):
            return super().get_initial_state(inputs, batch_size, dtype)

    def _around(self, call, inputs, state, **kwargs):
        with tf.device(self._device):
            return call(inputs, state, **kwargs)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "device": self._device}


def _probability(name: str, value: Any) -> Any:
    if tf.is_tensor(value):
        return value
    if not 0 <= value <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {value}")
    return float(value)


def _choices(visitor: Callable[[Any], Any], structure: Any) -> Any:
    """Whether to drop each state: the visitor's answer for a level applies to all below it."""
    chosen = visitor(structure)
    if isinstance(chosen, bool):
        if not chosen or not isinstance(structure, list | tuple):
            return tf.nest.map_structure(lambda _: chosen, structure)
        chosen = [True] * len(structure)
    return [
        _choices(visitor, each) if wanted else tf.nest.map_structure(lambda _: False, each)
        for each, wanted in zip(structure, chosen, strict=True)
    ]

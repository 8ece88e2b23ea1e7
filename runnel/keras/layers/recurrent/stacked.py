"""StackedRNNCells: several cells as one."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import runnel as tf

from ...engine.base_layer import Layer
from ...serialization import deserialize_keras_object, serialize_keras_object
from .states import zero_states


class StackedRNNCells(Layer):
    """A stack of cells: the output of each is the input of the next.

    >>> cell = tf.keras.layers.StackedRNNCells([tf.keras.layers.GRUCell(n) for n in (4, 2)])
    >>> tf.keras.layers.RNN(cell)(tf.ones([1, 5, 3])).shape
    TensorShape([1, 2])
    """

    def __init__(self, cells, **kwargs):
        for cell in cells:
            if "call" not in dir(cell):
                raise ValueError(
                    f"All cells must have a `call` method. Received cell without a `call`: {cell}"
                )
            if "state_size" not in dir(cell):
                raise ValueError(
                    "All cells must have a `state_size` attribute. Received cell without a "
                    f"`state_size`: {cell}"
                )
        # Keras 2 had an option for the state order; states are in the order of the cells.
        kwargs.pop("reverse_state_order", None)
        super().__init__(**kwargs)
        self.cells = cells

    @property
    def state_size(self):
        return tuple(cell.state_size for cell in self.cells)

    @property
    def output_size(self):
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        return _first_size(last.state_size)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The initial states of all cells."""
        return tuple(initial_state_of(cell, inputs, batch_size, dtype) for cell in self.cells)

    def build(self, input_shape):
        """Build the cells, each for the previous one's output."""
        super().build(input_shape)
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        batch = input_shape[0]
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                with tf.name_scope(cell.name):
                    cell.build(input_shape)
                cell._build_input_shape = input_shape
                cell.built = True
            size = getattr(cell, "output_size", None)
            if size is None:
                size = _first_size(cell.state_size)
            input_shape = (batch, *tf.TensorShape(size).as_list())
        self.built = True

    def call(self, inputs, states, constants=None, training=None, **kwargs):
        """One time step of every cell: the last output, and the states of all."""
        new_states = []
        for cell, of_cell in zip(self.cells, states, strict=True):
            listed = isinstance(of_cell, list | tuple)
            more = dict(kwargs)
            if takes(cell, "constants") and constants is not None:
                more["constants"] = constants
            if takes(cell, "training"):
                more["training"] = training
            step = cell if callable(cell) else cell.call
            inputs, new = step(inputs, of_cell if listed else [of_cell], **more)
            new_states.append(new if listed or not isinstance(new, list | tuple) else new[0])
        return inputs, tuple(new_states)

    def get_config(self):
        """The constructor arguments, as a dict."""
        cells = [serialize_keras_object(cell) for cell in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create the cells from their config."""
        config = dict(config)
        cells = [
            deserialize_keras_object(cell, custom_objects=custom_objects)
            for cell in config.pop("cells")
        ]
        return cls(cells, **config)


def initial_state_of(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """The initial state of a cell: from its own method, or zeros."""
    own = getattr(cell, "get_initial_state", None)
    if own is not None:
        return own(inputs=inputs, batch_size=batch_size, dtype=dtype)
    return zero_states(cell, inputs, batch_size, dtype)


def takes(cell: Any, name: str) -> bool:
    """Whether a cell's `call` has a parameter of that name."""
    kind: Any = type(cell)
    return _takes(kind, name)


@functools.cache
def _takes(kind: Any, name: str) -> bool:
    return name in inspect.signature(kind.call).parameters


def _first_size(state_size: Any) -> Any:
    return state_size[0] if isinstance(state_size, list | tuple) else state_size

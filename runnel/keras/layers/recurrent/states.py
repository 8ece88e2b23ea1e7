"""Initial states of recurrent cells."""

from __future__ import annotations

from typing import Any

import runnel as tf


def zero_states(cell: Any, inputs: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros in the structure of a cell's `state_size`, with the inputs' or the given batch size."""
    if inputs is not None:
        first = tf.nest.flatten(inputs)[0]
        batch_size = batch_of(first)
        dtype = first.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype cannot be None while constructing initial state. Received: "
            f"batch_size={batch_size}, dtype={dtype}"
        )
    return tf.nest.map_structure(
        lambda size: tf.zeros([batch_size, *tf.TensorShape(size).as_list()], dtype),
        cell.state_size,
    )


def batch_of(tensor: Any, axis: int = 0) -> Any:
    """The batch size: an integer if static, else a tensor."""
    size = tensor.shape[axis]
    return tf.shape(tensor)[axis] if size is None else size


def as_list(value: Any) -> list[Any]:
    """A list of states from a single one or a tuple."""
    return list(value) if isinstance(value, list | tuple) else [value]

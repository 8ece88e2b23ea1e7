"""The steps of fit, evaluate and predict as traced functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf


class TracedStep:
    """A step of training, traced once for batches of every size.

    As in the original, the size of a batch is unknown inside of the step, so that a smaller last
    batch needs no trace of its own.
    """

    def __init__(self, step: Callable[[Any], Any], jit_compile: bool | None = None) -> None:
        self.function = tf.function(step, reduce_retracing=True, jit_compile=jit_compile)
        self._known: dict[Any, Any] = {}

    def __call__(self, data: Any) -> Any:
        flat = tf.nest.flatten(data)
        if not all([type(each) is tf.Tensor for each in flat if each is not None]):
            return self.function(data)
        key = tuple(
            [None if each is None else (each.dtype, each._array.shape[1:]) for each in flat]
        )
        known = self._known.get(key)
        if known is None:
            specs = tf.nest.map_structure(_of_any_size, data)
            known = self._known[key] = self.function.get_concrete_function(specs)
        return known.call([each for each in flat if each is not None])


def _of_any_size(tensor: Any) -> Any:
    """The type of batches like this one, of any number of examples."""
    if tensor is None or not tensor.shape.rank:
        return tensor if tensor is None else tf.TensorSpec(tensor.shape, tensor.dtype)
    return tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype)

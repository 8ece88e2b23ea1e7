"""The steps of fit, evaluate and predict as traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import runnel as tf

from ...core.context import state
from ...core.graph.signature import key_of
from ...core.tensor import Tensor

# In the place of logs: they are what the metrics of the model say.
IN_METRICS: dict[str, Any] = {"": None}

# From the how manieth batch of a size on the step has a program for this size, and for a step of
# at most how many operations: a program for each size is made in milliseconds then, and in larger
# steps the time goes elsewhere.
_OFTEN = 16
_SMALL = 1000
# How many sizes are remembered: programs of data that has always others must not pile up.
_SIZES = 32


class TracedStep:
    """A step of training, traced once for batches of every size.

    As in the original, the size of a batch is unknown inside of the step, so that a smaller last
    batch needs no trace of its own.
    """

    def __init__(self, step: Callable[[Any], Any], jit_compile: bool | None = None) -> None:
        self.function = tf.function(step, reduce_retracing=True, jit_compile=jit_compile)
        self._known: dict[Any, Any] = {}
        self._of_size: dict[Any, _OfSize] = {}
        self._compiled = bool(jit_compile)

    @property
    def has_effects_alone(self) -> bool:
        """Whether the effects of a step can be had without its logs: not those of a compiled one.

        In a graph under construction the step is only written down.
        """
        return not self._compiled and state.graph is None

    def __call__(self, data: Any) -> Any:
        concrete, tensors = self._traced(data)
        return self.function(data) if concrete is None else concrete.call(tensors)

    def without_logs(self, data: Any) -> dict[str, Any]:
        """Train or measure with a batch, and leave what is to be told of it in the metrics."""
        concrete, tensors = self._traced(data)
        if concrete is None:
            self.function(data)
        else:
            concrete.run_effects(tensors)
        return IN_METRICS

    def _traced(self, data: Any) -> tuple[Any, Sequence[tf.Tensor]]:
        """The trace for a batch, and its tensors; no trace where it holds anything else."""
        tensors: Sequence[tf.Tensor]
        if type(data) is tuple and all([type(each) is Tensor for each in data]):
            tensors = data
            key: Any = tuple([(each.dtype, each._array.shape) for each in data])
        elif type(data) is Tensor:
            tensors = (data,)
            key = data.dtype, data._array.shape
        else:
            tensors = [each for each in tf.nest.flatten(data) if each is not None]
            if not all([type(each) is Tensor for each in tensors]):
                return None, ()
            # Other structures of the same tensors mean other inputs.
            key = key_of(data, [])
        known = self._of_size.get(key)
        if known is None:
            if len(self._of_size) == _SIZES:
                self._of_size.clear()
            known = self._of_size[key] = _OfSize(self._of_any_size(data))
        return known.function(tensors), tensors

    def _of_any_size(self, data: Any) -> Any:
        specs = tf.nest.map_structure(_of_any_size, data)
        key = key_of(specs, [])
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.function.get_concrete_function(specs)
        return known


class _OfSize:
    """The trace for batches of one size, and how many there have been."""

    def __init__(self, concrete: Any) -> None:
        self._concrete = concrete
        small = len(concrete.graph.operations) <= _SMALL
        self._left = _OFTEN if small else 0

    def function(self, tensors: Sequence[tf.Tensor]) -> Any:
        """The trace, specialized once there have been many such batches."""
        if self._left:
            self._left -= 1
            if not self._left:
                self._concrete = self._concrete.specialized([each.shape for each in tensors])
        return self._concrete


def _of_any_size(tensor: Any) -> Any:
    """The type of batches like this one, of any number of examples."""
    if tensor is None or not tensor.shape.rank:
        return tensor if tensor is None else tf.TensorSpec(tensor.shape, tensor.dtype)
    return tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype)

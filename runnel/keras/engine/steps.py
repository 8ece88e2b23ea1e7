"""Steps of fit, evaluate and predict as traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import runnel as tf

from ...core.context import state
from ...core.graph.signature import key_of
from ...core.tensor import Tensor

# In place of logs: they are the results of the model's metrics.
IN_METRICS: dict[str, Any] = {"": None}

# The number of batches of one size after which the step is shape-specialized, and the largest step,
# in operations, for which it is: its plan is generated within milliseconds then, and larger steps
# gain little.
_OFTEN = 16
_SMALL = 1000
# The maximum number of sizes cached, for data whose batch sizes keep varying.
_SIZES = 32


class TracedStep:
    """A training step, traced once for all batch sizes.

    As in the original, the batch size is unknown within the step, so that a smaller last batch
    needs no retracing.
    """

    def __init__(self, step: Callable[[Any], Any], jit_compile: bool | None = None) -> None:
        self.function = tf.function(step, reduce_retracing=True, jit_compile=jit_compile)
        self._known: dict[Any, Any] = {}
        self._of_size: dict[Any, _OfSize] = {}
        self._compiled = bool(jit_compile)

    @property
    def has_effects_alone(self) -> bool:
        """Whether the step's effects can run without its logs: not if it is compiled.

        In a graph under construction the step is only recorded.
        """
        return not self._compiled and state.graph is None

    def __call__(self, data: Any) -> Any:
        concrete, tensors = self._traced(data)
        return self.function(data) if concrete is None else concrete.call(tensors)

    def without_logs(self, data: Any) -> dict[str, Any]:
        """Run the step on a batch for its effects; the logs can be read from the metrics."""
        concrete, tensors = self._traced(data)
        if concrete is None:
            self.function(data)
        else:
            concrete.run_effects(tensors)
        return IN_METRICS

    def _traced(self, data: Any) -> tuple[Any, Sequence[tf.Tensor]]:
        """The trace for a batch, and its tensors; None if it holds anything but tensors."""
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
            # A different structure of the same tensors is a different input.
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
    """The trace for batches of one size, and their count so far."""

    def __init__(self, concrete: Any) -> None:
        self._concrete = concrete
        small = len(concrete.graph.operations) <= _SMALL
        self._left = _OFTEN if small else 0

    def function(self, tensors: Sequence[tf.Tensor]) -> Any:
        """The trace, shape-specialized after enough such batches."""
        if self._left:
            self._left -= 1
            if not self._left:
                self._concrete = self._concrete.specialized([each.shape for each in tensors])
        return self._concrete


def _of_any_size(tensor: Any) -> Any:
    """The type spec of such batches, with unknown batch size."""
    if tensor is None or not tensor.shape.rank:
        return tensor if tensor is None else tf.TensorSpec(tensor.shape, tensor.dtype)
    return tf.TensorSpec([None, *tensor.shape[1:]], tensor.dtype)

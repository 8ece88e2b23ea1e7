"""Metric: state accumulated over batches, and a result."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import runnel as tf

from ...core.context import state
from ...core.graph.graph import Operation
from ..engine.base_layer import Layer
from ..engine.tracking import leaves_of, unique
from . import in_graphs


class Metric(Layer, metaclass=abc.ABCMeta):
    """Accumulates state over batches in variables; subclasses implement `update_state` and
    `result`.

    >>> class Largest(tf.keras.metrics.Metric):
    ...     def __init__(self, name="largest"):
    ...         super().__init__(name=name)
    ...         self.value = self.add_weight("value", initializer="zeros")
    ...     def update_state(self, values):
    ...         self.value.assign(tf.maximum(self.value, tf.reduce_max(values)))
    ...     def result(self):
    ...         return self.value
    >>> metric = Largest()
    >>> metric.update_state([3.0, 5.0])
    >>> metric([4.0]).numpy().item()
    5.0
    """

    _is_metric = True

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"Expected `name` argument to be a string, but got: {name}")
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.stateful = True
        self.built = True
        self._value_dtype = tf.as_dtype(self.dtype)
        if state.home is not None:
            in_graphs.prepare(self)

    def _weight_holders(self, layers: list[Any]) -> list[Any]:
        # Sublayers and submodules are not part of the state that `reset_state` zeroes.
        return unique(self._metrics)

    def _variables_and_layers(self) -> tuple[list[tf.Variable], list[Any]]:
        leaves = [leaf for value in self._tracked for leaf in leaves_of(value)]
        variables = [leaf for leaf in leaves if isinstance(leaf, tf.Variable)]
        return unique(variables), unique(leaf for leaf in leaves if isinstance(leaf, Layer))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "result" in cls.__dict__:
            cls.result = _as_tensors(cls.__dict__["result"])  # type: ignore[method-assign]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Update the state with a batch; returns the result so far."""
        update = self.update_state(*args, **kwargs)
        if isinstance(update, Operation):
            return in_graphs.result_after(self, update)
        return self.result()

    def __str__(self) -> str:
        arguments = ",".join(f"{key}={value}" for key, value in self.get_config().items())
        return f"{type(self).__name__}({arguments})"

    @abc.abstractmethod
    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Update the state with a batch."""

    @abc.abstractmethod
    def result(self) -> Any:
        """The value of the metric: a number, a tensor, or a dict of them."""

    def reset_state(self) -> None:
        """Reset the accumulated state."""
        own = type(self).reset_states
        if own is not Metric.reset_states:
            # Older programs override `reset_states` instead.
            own(self)
            return
        for variable in self.variables:
            variable.assign(np.zeros(variable.shape, variable.dtype.numpy))

    def reset_states(self) -> None:
        """The same as `reset_state`."""
        self.reset_state()

    def merge_state(self, metrics: Iterable[Metric]) -> None:
        """Merge the state of other metrics of the same kind."""
        for metric in metrics:
            if len(self.weights) != len(metric.weights):
                raise ValueError(
                    f"Metric {metric} is not compatible with {self}: it has {len(metric.weights)} "
                    f"variables, not {len(self.weights)}."
                )
            for variable, other in zip(self.weights, metric.weights, strict=True):
                variable.assign_add(other)

    def add_weight(  # type: ignore[override]
        self,
        name: str,
        shape: Any = (),
        aggregation: Any = tf.VariableAggregation.SUM,
        synchronization: Any = tf.VariableSynchronization.ON_READ,
        initializer: Any = None,
        dtype: Any = None,
    ) -> tf.Variable:
        """Create a state variable."""
        return super().add_weight(
            name=name,
            shape=shape,
            dtype=self.dtype if dtype is None else dtype,
            initializer=initializer,
            trainable=False,
            synchronization=synchronization,
            aggregation=aggregation,
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {"name": self.name, "dtype": self.dtype}


def _as_tensors(result: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `result` so that numbers and variables are returned as tensors."""

    @functools.wraps(result)
    def converted(self: Any) -> Any:
        value = result(self)
        if isinstance(value, tf.Tensor):
            return value
        if isinstance(value, dict):
            return {key: tf.convert_to_tensor(each) for key, each in value.items()}
        if isinstance(value, tf.Variable | float | int):
            return tf.convert_to_tensor(value)
        return value

    return converted

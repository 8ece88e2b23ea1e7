"""Adagrad: steps divided by the square root of the sum of squared gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Adagrad(Optimizer):
    """Adagrad: accumulator += g²; variable -= rate · g / √(accumulator + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Adagrad(learning_rate=0.1, initial_accumulator_value=0.0)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._accumulators = [
            self.add_variable_from_reference(
                variable,
                "accumulator",
                initial_value=tf.fill(
                    variable.shape, tf.constant(self.initial_accumulator_value, variable.dtype)
                ),
            )
            for variable in var_list
        ]

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        return self._rate(dtype), self._number(self.epsilon, dtype)

    def update_step(self, grad: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        accumulator = self._slot(self._accumulators, variable)
        if type(grad) is tf.IndexedSlices:
            dtype = variable.dtype
            scalars = (tf.cast(self.learning_rate, dtype), tf.constant(self.epsilon, dtype))
            training.SparseApplyKerasAdagrad(
                (variable, accumulator), scalars, grad.values, grad.indices
            )
        else:
            self._fuse(training.ApplyKerasAdagrad, grad, (variable, accumulator))

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("initial_accumulator_value", "epsilon")

"""Adadelta: steps scaled by a running average of recent squared steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Adadelta(Optimizer):
    """Adadelta: step = g · √(mean of step² + epsilon) / √(mean of g² + epsilon).

    variable -= rate · step; both means are exponential moving averages with decay `rho`.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Adadelta(learning_rate=1.0, rho=0.75, epsilon=1e-4)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.98
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.rho = rho
        self.epsilon = epsilon

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._accumulated_grads = []
        self._accumulated_delta_vars = []
        for variable in var_list:
            self._accumulated_grads.append(
                self.add_variable_from_reference(variable, "accumulated_grad")
            )
            self._accumulated_delta_vars.append(
                self.add_variable_from_reference(variable, "accumulated_delta_var")
            )

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        return (
            self._rate(dtype),
            self._number(self.rho, dtype),
            self._number(self.epsilon, dtype),
        )

    def update_step(self, grad: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        cells = (variable, self._accumulated_grads[i], self._accumulated_delta_vars[i])
        self._fuse(training.ApplyAdadelta, grad, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("rho", "epsilon")

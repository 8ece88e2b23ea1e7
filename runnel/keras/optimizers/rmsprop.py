"""RMSprop: steps divided by the root mean square of recent gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class RMSprop(Optimizer):
    """RMSprop: velocity averages g²; variable -= rate · g / √(velocity + epsilon).

    `centered` uses the variance of the gradients instead of their mean square; with `momentum`,
    steps accumulate.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.1, rho=0.75)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.8
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = 100,
        jit_compile: bool = True,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._velocities = self._slots(var_list, "velocity")
        self._momentums = self._slots(var_list, "momentum") if self.momentum > 0 else []
        self._average_gradients = self._slots(var_list, "average_gradient") if self.centered else []

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        numbers = [self._number(self.rho, dtype), self._number(self.epsilon, dtype)]
        if self.momentum > 0:
            numbers.insert(1, self._number(self.momentum, dtype))
        return (self._rate(dtype), *numbers)

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        cells: tuple[Any, ...] = (variable, self._velocities[i])
        if self.centered:
            cells = (variable, self._average_gradients[i], self._velocities[i])
        if self.momentum > 0:
            update = training.ApplyCenteredRMSProp if self.centered else training.ApplyRMSProp
            cells = (*cells, self._momentums[i])
        elif self.centered:
            update = training.ApplyKerasCenteredRMSProp
        else:
            update = training.ApplyKerasRMSProp
        self._fuse(update, gradient, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("rho", "momentum", "epsilon", "centered")

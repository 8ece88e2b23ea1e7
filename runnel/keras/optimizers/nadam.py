"""Nadam: Adam with Nesterov momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Nadam(Optimizer):
    """Nadam: Adam with Nesterov momentum on a momentum schedule u.

    u(t) = beta_1 · (1 - 0.96^t / 2); m̂ = u(t+1) · m / (1 - Π u(1…t+1)) + (1 - u(t)) · g / (1 - Π
    u(1…t)); variable -= rate · m̂ / (√v̂ + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Nadam(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(3))
    0.894
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._momentums = []
        self._velocities = []
        self._u_product = tf.Variable(1.0, dtype=var_list[0].dtype, trainable=False)
        for variable in var_list:
            self._momentums.append(self.add_variable_from_reference(variable, "m"))
            self._velocities.append(self.add_variable_from_reference(variable, "v"))

    def _internal_apply_gradients(self, grads_and_vars: list[tuple[Any, Any]]) -> Any:
        dtype = self._u_product.dtype
        self._u_product.assign(self._u_product * self._momentum(self._step(dtype), dtype))
        return super()._internal_apply_gradients(grads_and_vars)

    def _momentum(self, step: Any, dtype: tf.DType) -> Any:
        half = self._number(0.5, dtype)
        return self._rounded(self.beta_1, dtype) * (1 - half * self._rounded(0.96, dtype) ** step)

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        step = self._step(dtype)
        return (
            self._number(self._u_product, dtype),
            self._momentum(step, dtype),
            self._momentum(step + 1, dtype),
            self._rounded(self.beta_2, dtype) ** step,
            self._rate(dtype),
            self._rounded(self.beta_1, dtype),
            self._rounded(self.beta_2, dtype),
            self._number(self.epsilon, dtype),
        )

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        cells = (variable, self._momentums[i], self._velocities[i])
        self._fuse(training.ApplyNadam, gradient, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2", "epsilon")

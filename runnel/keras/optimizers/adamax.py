"""Adamax: Adam with the infinity norm in place of the second moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Adamax(Optimizer):
    """Adamax: m averages g, u = max(beta_2 · u, |g|); variable -= rate · m̂ / (u + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Adamax(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.9
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
        name: str = "Adamax",
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
        self._m = []
        self._u = []
        for variable in var_list:
            self._m.append(self.add_variable_from_reference(variable, "m"))
            self._u.append(self.add_variable_from_reference(variable, "u"))

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        return (
            self._rounded(self.beta_1, dtype) ** self._step(dtype),
            self._rate(dtype),
            self._number(self.beta_1, dtype),
            self._number(self.beta_2, dtype),
            self._number(self.epsilon, dtype),
        )

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        self._fuse(training.ApplyAdaMax, gradient, (variable, self._m[i], self._u[i]))

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2", "epsilon")

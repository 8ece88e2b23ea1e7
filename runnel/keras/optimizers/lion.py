"""Lion: steps of uniform size, from the sign of the momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Lion(Optimizer):
    """Lion: variable -= rate · sign(beta_1 · m + (1 - beta_1) · g); m averages g with decay beta_2.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Lion(learning_rate=0.25)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> v.numpy().item()
    0.75
    """

    def __init__(
        self,
        learning_rate: Any = 0.0001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Lion",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        if beta_1 <= 0 or beta_1 > 1:
            raise ValueError(
                f"`beta_1`={beta_1} must be between ]0, 1]. Otherwise, the optimizer degenerates "
                "to SignSGD."
            )

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self.momentums = self._slots(var_list, "m")
        self._built = True

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        return (
            self._rate(dtype),
            self._rounded(self.beta_1, dtype),
            self._rounded(self.beta_2, dtype),
        )

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        cells = (variable, self._slot(self.momentums, variable))
        self._fuse(training.ApplyLion, gradient, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2")

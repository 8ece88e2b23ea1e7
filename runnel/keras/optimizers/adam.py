"""Adam and AdamW: moving averages of gradients and squared gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


class _Moments(Optimizer):
    """The slots and the update of Adam."""

    beta_1: float
    beta_2: float
    epsilon: float
    amsgrad: bool

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._momentums = []
        self._velocities = []
        for variable in var_list:
            self._momentums.append(self.add_variable_from_reference(variable, "m"))
            self._velocities.append(self.add_variable_from_reference(variable, "v"))
        if self.amsgrad:
            self._velocity_hats = self._slots(var_list, "vhat")

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        step = self._step(dtype)
        return (
            self._rounded(self.beta_1, dtype) ** step,
            self._rounded(self.beta_2, dtype) ** step,
            self._rate(dtype),
            self._number(self.beta_1, dtype),
            self._number(self.beta_2, dtype),
            self._number(self.epsilon, dtype),
        )

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        cells: tuple[Any, ...] = (variable, self._momentums[i], self._velocities[i])
        if self.amsgrad:
            cells = (*cells, self._velocity_hats[i])
            self._fuse(training.ApplyAdamWithAmsgrad, gradient, cells)
        else:
            self._fuse(training.ApplyAdam, gradient, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2", "epsilon", "amsgrad")


@register_keras_serializable()
class Adam(_Moments):
    """Adam: m and v average g and g²; variable -= rate · m̂ / (√v̂ + epsilon).

    `amsgrad` divides by the largest v so far; `adaptive_epsilon` scales epsilon as v is scaled.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
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
        adaptive_epsilon: bool = False,
        amsgrad: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Adam",
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
        self.adaptive_epsilon = adaptive_epsilon
        self.amsgrad = amsgrad

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        scalars = super()._scalars(dtype)
        if not self.adaptive_epsilon:
            return scalars
        half = self._number(0.5, dtype)
        return (*scalars[:-1], scalars[-1] * (1 - scalars[1]) ** half)


@register_keras_serializable()
class AdamW(_Moments):
    """Adam with decoupled weight decay: variable -= rate · weight_decay · variable.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.AdamW(learning_rate=0.1, weight_decay=0.5)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.85
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float | None = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "AdamW",
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
        self.amsgrad = amsgrad
        if self.weight_decay is None:
            raise ValueError(
                "Missing value of `weight_decay` which is required and must be a float value."
            )

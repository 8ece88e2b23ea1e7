"""Ftrl: follow the regularized leader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class Ftrl(Optimizer):
    """Follow the regularized leader, with L1, L2 and shrinkage-type L2 penalties.

    n += g²; σ = (n_new^-p - n_old^-p) / rate; z += g + 2 · shrinkage · w - σ · w;
    w = (clip(z, -l1, l1) - z) / (n^-p / rate + 2 · l2 + beta / rate), p the `learning_rate_power`.

    >>> v = tf.Variable([1.0, 2.0])
    >>> optimizer = tf.keras.optimizers.Ftrl(0.1, l1_regularization_strength=100.0)
    >>> _ = optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    >>> print(v.numpy())
    [0. 0.]
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Ftrl",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        _require_not_negative("initial_accumulator_value", initial_accumulator_value)
        _require_not_negative("l1_regularization_strength", l1_regularization_strength)
        _require_not_negative("l2_regularization_strength", l2_regularization_strength)
        _require_not_negative(
            "l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength
        )
        self.learning_rate_power = learning_rate_power
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength
        self.beta = beta

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._accumulators = []
        self._linears = []
        for variable in var_list:
            # Rounded through float32, as in the original.
            start = tf.cast(self.initial_accumulator_value, variable.dtype)
            self._accumulators.append(
                self.add_variable_from_reference(
                    variable, "accumulator", initial_value=tf.fill(variable.shape, start)
                )
            )
            self._linears.append(self.add_variable_from_reference(variable, "linear"))
        self._built = True

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        rate = self._rate(dtype)
        l2 = self._number(self.l2_regularization_strength, dtype)
        return (
            rate,
            self._number(self.l1_regularization_strength, dtype),
            l2 + self._number(self.beta, dtype) / (2 * rate),
            self._number(self.l2_shrinkage_regularization_strength, dtype),
            self._number(self.learning_rate_power, dtype),
        )

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        i = self._index_dict[variable._key]
        cells = (variable, self._accumulators[i], self._linears[i])
        self._fuse(training.ApplyFtrlV2, gradient, cells)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with(
            "learning_rate_power",
            "initial_accumulator_value",
            "l1_regularization_strength",
            "l2_regularization_strength",
            "l2_shrinkage_regularization_strength",
            "beta",
        )


def _require_not_negative(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"`{name}` needs to be positive or zero. Received: {name}={value}.")

"""Adafactor: Adam with factored second moments: two vectors per matrix as slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ..object_registration import register_keras_serializable
from .base import Optimizer
from .gradients import dense


@register_keras_serializable()
class Adafactor(Optimizer):
    """Adafactor: the second moment of a matrix as the outer product of its row and column means.

    beta = 1 - t^beta_2_decay; v is a moving average of g² + epsilon_1 with decay beta; u = g / √v,
    scaled down to a root mean square of `clip_threshold`; variable -= max(epsilon_2, RMS(variable))
    · ρ · u, where ρ is the rate, or with `relative_step` the smaller of it and 1/√t.

    >>> v = tf.Variable([1.0, 1.0])
    >>> optimizer = tf.keras.optimizers.Adafactor(learning_rate=0.25)
    >>> _ = optimizer.apply_gradients([(tf.constant([5.0, -5.0]), v)])
    >>> print(v.numpy())
    [0.75 1.25]
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_2_decay: float = -0.8,
        epsilon_1: float = 1e-30,
        epsilon_2: float = 1e-3,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "Adafactor",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.beta_2_decay = beta_2_decay
        self.epsilon_1 = epsilon_1
        self.epsilon_2 = epsilon_2
        self.clip_threshold = clip_threshold
        self.relative_step = relative_step

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self._built = True
        self._r: list[Any] = []
        self._c: list[Any] = []
        self._v: list[Any] = []
        for variable in var_list:
            sizes = variable.shape
            if len(sizes) < 2:
                # Vectors are not factored; checkpoints of the original hold a scalar in each of
                # these slots.
                self._r.append(tf.Variable(0, name=f"r/{variable._name.removesuffix(':0')}"))
                self._c.append(tf.Variable(0, name=f"c/{variable._name.removesuffix(':0')}"))
            else:
                add = self.add_variable_from_reference
                self._r.append(add(variable, "r", shape=sizes[:-1]))
                self._c.append(add(variable, "c", shape=sizes[:-2] + sizes[-1]))
            self._v.append(self.add_variable_from_reference(variable, "v"))

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        gradient = dense(gradient, variable)
        dtype = variable.dtype
        i = self._index_dict[variable._key]
        step = tf.cast(self._iterations + 1, dtype)
        rate = tf.cast(self.learning_rate, dtype)
        if self.relative_step:
            rate = tf.minimum(rate, 1 / tf.sqrt(step))
        keep = 1 - tf.pow(step, tf.constant(self.beta_2_decay, dtype))
        squares = tf.square(gradient) + tf.cast(self.epsilon_1, dtype)
        row, column, velocity = self._r[i], self._c[i], self._v[i]
        if len(variable.shape) < 2:
            velocity.assign(keep * velocity + (1 - keep) * squares)
        else:
            row.assign(keep * row + (1 - keep) * tf.reduce_mean(squares, axis=-1))
            column.assign(keep * column + (1 - keep) * tf.reduce_mean(squares, axis=-2))
            share = row / tf.reduce_mean(row, axis=-1, keepdims=True)
            velocity.assign(tf.expand_dims(share, -1) * tf.expand_dims(column, -2))
        update = gradient * tf.math.rsqrt(velocity + tf.cast(self.epsilon_1, dtype))
        update /= tf.maximum(tf.cast(1, dtype), _root_mean_square(update) / self.clip_threshold)
        scale = tf.maximum(tf.cast(self.epsilon_2, dtype), _root_mean_square(variable))
        variable.assign_sub(scale * rate * update)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with(
            "beta_2_decay", "epsilon_1", "epsilon_2", "clip_threshold", "relative_step"
        )


def _root_mean_square(x: Any) -> Any:
    return tf.sqrt(tf.reduce_mean(tf.square(x)))

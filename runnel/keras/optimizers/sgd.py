"""SGD: gradient descent with optional momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...core.indexed_slices import IndexedSlices
from ...ops import training
from ..object_registration import register_keras_serializable
from .base import Optimizer


@register_keras_serializable()
class SGD(Optimizer):
    """Gradient descent: velocity = momentum · velocity - rate · g; variable += velocity.

    With `nesterov`, variable += momentum · velocity - rate · g.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.5, momentum=0.5)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy().item()
    -0.25
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            name, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum,
            ema_overwrite_frequency, jit_compile, **kwargs,
        )  # fmt: skip
        self._learning_rate = self._build_learning_rate(learning_rate)
        self.momentum = momentum
        self.nesterov = nesterov
        if isinstance(momentum, int | float) and (momentum < 0 or momentum > 1):
            raise ValueError(f"`momentum` must be between [0, 1]. Received: momentum={momentum}.")

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots."""
        super().build(var_list)
        if getattr(self, "_built", False):
            return
        self.momentums = self._slots(var_list, "m")
        self._built = True

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        return self._rate(dtype), self._rounded(self.momentum, dtype)

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        momentum = self.momentums[self._index_dict[variable._key]]
        if type(gradient) is IndexedSlices and self.momentum == 0:
            rate = tf.cast(self.learning_rate, variable.dtype)
            change = tf.IndexedSlices(-rate * gradient.values, gradient.indices)
            variable.scatter_add(change)
            momentum.assign(tf.zeros_like(momentum))
            momentum.scatter_add(change)
            return
        self._fuse(training.ApplyKerasMomentum, gradient, (variable, momentum), self.nesterov)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("momentum", "nesterov")

"""TFOptimizer: a TensorFlow 1 optimizer in a Keras model."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import runnel as tf

from .legacy.base import Optimizer

_MODULE = "runnel.compat.v1.train.optimizer"


def is_of_tensorflow_1(value: Any) -> bool:
    """Whether a value is an optimizer of `tf.compat.v1.train`."""
    module = sys.modules.get(_MODULE)
    return module is not None and isinstance(value, module.Optimizer)


class TFOptimizer(Optimizer):
    """The wrapper that `compile` puts around a `tf.compat.v1.train` optimizer.

    It has no config and no settable hyperparameters; checkpoints hold its slots and step count.
    """

    def __init__(self, optimizer: Any) -> None:
        super().__init__(type(self).__name__)
        self.optimizer = optimizer

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property  # type: ignore[misc]
    def iterations(self) -> Any:
        """The step count: a variable."""
        if self._iterations is None:
            with tf.init_scope():
                self._iterations = tf.Variable(
                    0, name="iterations", dtype=tf.int64, trainable=False
                )
        return self._iterations

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: Any = None, tape: Any = None
    ) -> Any:
        """Compute the gradients of a loss and apply them."""
        pairs = self._compute_gradients(loss, var_list, grad_loss, tape)
        return self.apply_gradients(pairs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        """Update the variables from their gradients."""
        return self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations)

    @property
    def weights(self) -> list[Any]:
        """Not implemented: the state belongs to the inner optimizer."""
        raise NotImplementedError("An optimizer of tf.compat.v1.train has no list of its weights.")

    def get_config(self) -> dict[str, Any]:
        """Not implemented: TensorFlow 1 optimizers have no config."""
        raise NotImplementedError(
            "An optimizer of tf.compat.v1.train has no config. Use one of tf.keras.optimizers."
        )

    def _checkpoint_children(self) -> dict[str, Any]:
        parts = {"optimizer": self.optimizer}
        return parts if self._iterations is None else {**parts, "global_step": self._iterations}

"""SGD of TensorFlow 2.0 to 2.10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ....ops import training
from .base import Optimizer, require_momentum


class SGD(Optimizer):
    """Gradient descent: velocity = momentum · velocity - rate · g; variable += velocity.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=0.5)
    >>> _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy().item()
    0.5
    """

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        require_momentum(momentum)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._momentum = not isinstance(momentum, int | float) or momentum > 0
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._momentum:
            for variable in var_list:
                self.add_slot(variable, "momentum")

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: dict[Any, Any]) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        momentum = self._get_hyper("momentum", var_dtype)
        apply_state[var_device, var_dtype]["momentum"] = tf.convert_to_tensor(momentum)

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        numbers = self._coefficients(handle, apply_state)
        if not self._momentum:
            training.ApplyGradientDescent((handle,), (numbers["lr_t"],), grad)
            return
        cells = (handle, self.get_slot(handle, "momentum"))
        scalars = (numbers["lr_t"], numbers["momentum"])
        training.ApplyKerasMomentum(cells, scalars, grad, use_nesterov=self.nesterov)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        numbers = self._coefficients(handle, apply_state)
        if not self._momentum:
            handle.scatter_sub(tf.IndexedSlices(numbers["lr_t"] * grad, indices))
            return
        cells = (handle, self.get_slot(handle, "momentum"))
        scalars = (numbers["lr_t"], numbers["momentum"])
        training.SparseApplyKerasMomentum(cells, scalars, grad, indices, use_nesterov=self.nesterov)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("momentum", "nesterov")

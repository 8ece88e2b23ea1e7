"""RMSprop, Adagrad, Adadelta and Ftrl of TensorFlow 2.0 to 2.10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ....ops import training
from ... import backend
from .base import Optimizer, require_momentum


class RMSprop(Optimizer):
    """RMSprop: rms averages g²; variable -= rate · g / (√rms + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.RMSprop(learning_rate=0.1, rho=0.75)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.8
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float | None = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        require_momentum(momentum)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self._momentum = not isinstance(momentum, int | float) or momentum > 0
        self._set_hyper("momentum", momentum)
        self.epsilon = epsilon or backend.epsilon()
        self.centered = centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        slots = ["rms"]
        slots += ["momentum"] if self._momentum else []
        slots += ["mg"] if self.centered else []
        for slot in slots:
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: dict[Any, Any]) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        rho = tf.convert_to_tensor(self._get_hyper("rho", var_dtype))
        apply_state[var_device, var_dtype].update(
            rho=rho,
            one_minus_rho=1 - rho,
            momentum=tf.convert_to_tensor(self._get_hyper("momentum", var_dtype)),
            epsilon=tf.constant(self.epsilon, var_dtype),
        )

    def _with_momentum(self, handle: Any, numbers: dict[str, Any]) -> tuple[Any, Any]:
        slots = ("mg", "rms", "momentum") if self.centered else ("rms", "momentum")
        cells = (handle, *[self.get_slot(handle, slot) for slot in slots])
        return cells, [numbers[name] for name in ("lr_t", "rho", "momentum", "epsilon")]

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        numbers = self._coefficients(handle, apply_state)
        if self._momentum:
            centered = self.centered
            update = training.ApplyCenteredRMSProp if centered else training.ApplyRMSProp
            update(*self._with_momentum(handle, numbers), grad)
            return
        rho, rest = numbers["rho"], numbers["one_minus_rho"]
        rms = self.get_slot(handle, "rms")
        rms.assign(rho * rms + rest * tf.square(grad))
        spread = rms.read_value()
        if self.centered:
            mean = self.get_slot(handle, "mg")
            mean.assign(rho * mean + rest * grad)
            spread -= tf.square(mean)
        handle.assign_sub(numbers["lr_t"] * grad / (tf.sqrt(spread) + numbers["epsilon"]))

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        numbers = self._coefficients(handle, apply_state)
        if self._momentum:
            centered = self.centered
            update = (
                training.SparseApplyCenteredRMSProp if centered else training.SparseApplyRMSProp
            )
            update(*self._with_momentum(handle, numbers), grad, indices)
            return
        rho, rest = numbers["rho"], numbers["one_minus_rho"]
        rms = self.get_slot(handle, "rms")
        rms.assign(rho * rms)
        rms.scatter_add(tf.IndexedSlices(rest * tf.square(grad), indices))
        spread = tf.gather(rms, indices)
        if self.centered:
            mean = self.get_slot(handle, "mg")
            mean.assign(rho * mean)
            mean.scatter_add(tf.IndexedSlices(rest * grad, indices))
            spread -= tf.square(tf.gather(mean, indices))
        step = numbers["lr_t"] * grad / (tf.sqrt(spread) + numbers["epsilon"])
        handle.scatter_sub(tf.IndexedSlices(step, indices))

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("rho", "momentum", "epsilon", "centered")


class Adagrad(Optimizer):
    """Adagrad: accumulator += g²; variable -= rate · g / (√accumulator + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.Adagrad(0.1, initial_accumulator_value=0.0)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            start = tf.constant(self._initial_accumulator_value, variable.dtype)
            self.add_slot(variable, "accumulator", tf.fill(variable.shape, start))

    def _inputs(self, handle: Any, apply_state: Any) -> tuple[Any, Any]:
        rate = self._coefficients(handle, apply_state)["lr_t"]
        cells = (handle, self.get_slot(handle, "accumulator"))
        return cells, (rate, tf.constant(self.epsilon, handle.dtype))

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        training.ApplyAdagradV2(*self._inputs(handle, apply_state), grad)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        training.SparseApplyAdagradV2(*self._inputs(handle, apply_state), grad, indices)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = self._config_with()
        config["initial_accumulator_value"] = self._initial_accumulator_value
        config["epsilon"] = self.epsilon
        return config


class Adadelta(Optimizer):
    """Adadelta: step = g · √(mean of step² + epsilon) / √(mean of g² + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.Adadelta(1.0, rho=0.75, epsilon=1e-4)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.98
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float | None = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for slot in ("accum_grad", "accum_var"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def _inputs(self, handle: Any, apply_state: Any) -> tuple[Any, Any]:
        rate = self._coefficients(handle, apply_state)["lr_t"]
        slots = [self.get_slot(handle, slot) for slot in ("accum_grad", "accum_var")]
        rho = self._get_hyper("rho", handle.dtype)
        return (handle, *slots), (rate, rho, tf.constant(self.epsilon, handle.dtype))

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        training.ApplyAdadelta(*self._inputs(handle, apply_state), grad)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        training.SparseApplyAdadelta(*self._inputs(handle, apply_state), grad, indices)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("rho", "epsilon")


class Ftrl(Optimizer):
    """Follow the regularized leader, with L1, L2 and shrinkage-type L2 penalties.

    >>> v = tf.Variable([1.0, 2.0])
    >>> optimizer = tf.keras.optimizers.legacy.Ftrl(0.1, l1_regularization_strength=100.0)
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
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        beta: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        penalties = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for argument, value in penalties.items():
            if value < 0.0:
                raise ValueError(
                    f"`{argument}` needs to be positive or zero. Received: {argument}={value}."
                )
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._set_hyper("beta", beta)
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            start = tf.constant(self._initial_accumulator_value, variable.dtype)
            self.add_slot(variable, "accumulator", tf.fill(variable.shape, start))
            self.add_slot(variable, "linear")

    def _inputs(self, handle: Any, apply_state: Any) -> tuple[Any, Any]:
        dtype = handle.dtype
        rate = self._coefficients(handle, apply_state)["lr_t"]
        l2 = self._get_hyper("l2_regularization_strength", dtype)
        scalars = (
            rate,
            self._get_hyper("l1_regularization_strength", dtype),
            l2 + self._get_hyper("beta", dtype) / (2 * rate),
            tf.cast(self._l2_shrinkage_regularization_strength, dtype),
            self._get_hyper("learning_rate_power", dtype),
        )
        slots = (self.get_slot(handle, "accumulator"), self.get_slot(handle, "linear"))
        return (handle, *slots), scalars

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        training.ApplyFtrlV2(*self._inputs(handle, apply_state), grad)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        training.SparseApplyFtrlV2(*self._inputs(handle, apply_state), grad, indices)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = self._config_with()
        config["initial_accumulator_value"] = self._initial_accumulator_value
        names = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
        for name in (*names, "beta"):
            config[name] = self._serialize_hyperparameter(name)
        config["l2_shrinkage_regularization_strength"] = self._l2_shrinkage_regularization_strength
        return config

"""Adam, Adamax and Nadam of TensorFlow 2.0 to 2.10."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ....ops import training
from ... import backend
from ..gradients import dense
from ..schedules import LearningRateSchedule
from .base import Optimizer


class _Moments(Optimizer):
    """What the three have in common: two betas, epsilon, and the slots m and v."""

    def __init__(
        self,
        learning_rate: Any,
        beta_1: Any,
        beta_2: Any,
        epsilon: float | None,
        name: str,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or backend.epsilon()

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for slot in ("m", "v"):
            for variable in var_list:
                self.add_slot(variable, slot)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: dict[Any, Any]) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        step = tf.cast(self.iterations + 1, var_dtype)
        beta_1 = tf.convert_to_tensor(self._get_hyper("beta_1", var_dtype))
        beta_2 = tf.convert_to_tensor(self._get_hyper("beta_2", var_dtype))
        apply_state[var_device, var_dtype].update(
            beta_1_t=beta_1,
            beta_2_t=beta_2,
            beta_1_power=tf.pow(beta_1, step),
            beta_2_power=tf.pow(beta_2, step),
            one_minus_beta_1_t=1 - beta_1,
            one_minus_beta_2_t=1 - beta_2,
            epsilon=tf.constant(self.epsilon, var_dtype),
        )

    def _cells(self, variable: Any) -> tuple[Any, ...]:
        return variable, self.get_slot(variable, "m"), self.get_slot(variable, "v")

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        # The moments of the other rows decay as well, so that all rows change.
        gradient = dense(tf.IndexedSlices(grad, indices), handle)
        self._resource_apply_dense(gradient, handle, apply_state)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2", "epsilon")


class Adam(_Moments):
    """Adam: m and v average g and g²; variable -= rate · m̂ / (√v̂ + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.Adam(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.9
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        super()._create_slots(var_list)
        if self.amsgrad:
            for variable in var_list:
                self.add_slot(variable, "vhat")

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        names = ("beta_1_power", "beta_2_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")
        numbers = self._coefficients(handle, apply_state)
        scalars = [numbers[name] for name in names]
        if self.amsgrad:
            cells = (*self._cells(handle), self.get_slot(handle, "vhat"))
            training.ApplyAdamWithAmsgrad(cells, scalars, grad)
        else:
            training.ApplyAdam(self._cells(handle), scalars, grad)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return self._config_with("beta_1", "beta_2", "epsilon", "amsgrad")


class Adamax(_Moments):
    """Adamax: m averages g, v = max(beta_2 · v, |g|); variable -= rate · m̂ / (v + epsilon).

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.Adamax(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> print(v.numpy().round(4))
    0.9
    """

    _SCALARS = ("beta_1_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        numbers = self._coefficients(handle, apply_state)
        scalars = [numbers[name] for name in self._SCALARS]
        training.ApplyAdaMax(self._cells(handle), scalars, grad)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        numbers = self._coefficients(handle, apply_state)
        scalars = [numbers[name] for name in self._SCALARS]
        training.SparseApplyAdaMax(self._cells(handle), scalars, grad, indices)


class Nadam(_Moments):
    """Nadam: Adam with Nesterov momentum on a momentum schedule.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.Nadam(learning_rate=0.1)
    >>> _ = optimizer.apply_gradients([(tf.constant(5.0), v)])
    >>> bool(v < 1.0)
    True
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        # The original ignores a given `decay`, too.
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as "
                "the learning rate."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._m_cache: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache", shape=[], dtype=var_list[0].dtype, initializer="ones"
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _decayed_lr(self, var_dtype: Any) -> Any:
        # The decay of the momentum schedule.
        return tf.convert_to_tensor(self._get_hyper("learning_rate", var_dtype))

    def _momentum(self, step: Any, dtype: Any) -> Any:
        decay = tf.cast(self._initial_decay, dtype)
        half = tf.constant(0.5, dtype)
        fading = tf.pow(tf.cast(0.96, dtype), decay * step)
        return self._get_hyper("beta_1", dtype) * (1 - half * fading)

    def _prepare(self, var_list: Sequence[Any]) -> dict[Any, Any]:
        dtype = self._m_cache.dtype
        step = tf.cast(self.iterations + 1, dtype)
        self._m_cache.assign(self._m_cache * self._momentum(step, dtype))
        return super()._prepare(var_list)

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: dict[Any, Any]) -> None:
        super()._prepare_local(var_device, var_dtype, apply_state)
        step = tf.cast(self.iterations + 1, var_dtype)
        apply_state[var_device, var_dtype].update(
            product=tf.convert_to_tensor(tf.cast(self._m_cache, var_dtype)),
            now=self._momentum(step, var_dtype),
            after=self._momentum(step + 1, var_dtype),
        )

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> None:
        numbers = self._coefficients(handle, apply_state)
        names = ("product", "now", "after", "beta_2_power", "lr_t", "beta_1_t", "beta_2_t")
        scalars = [numbers[name] for name in (*names, "epsilon")]
        training.ApplyNadam(self._cells(handle), scalars, grad)

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> None:
        # The moments decay in all rows; only the rows of the gradient are updated in the variable.
        numbers = self._coefficients(handle, apply_state)
        product, now, after = [numbers[name] for name in ("product", "now", "after")]
        _, mean, square = self._cells(handle)
        mean.assign(numbers["beta_1_t"] * mean)
        mean.scatter_add(tf.IndexedSlices(numbers["one_minus_beta_1_t"] * grad, indices))
        square.assign(numbers["beta_2_t"] * square)
        square.scatter_add(tf.IndexedSlices(numbers["one_minus_beta_2_t"] * grad**2, indices))
        ahead = after * tf.gather(mean, indices) / (1 - product * after)
        ahead += (1 - now) * grad / (1 - product)
        root = tf.sqrt(tf.gather(square, indices) / (1 - numbers["beta_2_power"]))
        step = numbers["lr_t"] * ahead / (root + numbers["epsilon"])
        handle.scatter_sub(tf.IndexedSlices(step, indices))

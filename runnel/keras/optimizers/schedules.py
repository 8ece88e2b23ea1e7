"""tf.keras.optimizers.schedules: learning rates as functions of the step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import runnel as tf

from ...core.suggestions import suggesting as _suggesting
from .. import serialization
from ..keywords import RefusesUnknownKeywords


class LearningRateSchedule(RefusesUnknownKeywords):
    """Base class of schedules: `schedule(step)` returns the learning rate at a step.

    >>> class Halving(tf.keras.optimizers.schedules.LearningRateSchedule):
    ...     def __call__(self, step):
    ...         return 0.5 ** tf.cast(step, tf.float32)
    >>> Halving()(3).numpy().item()
    0.125
    """

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `get_config()` in order "
            "to be serializable."
        )

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a schedule from its config."""
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A schedule whose arguments are its attributes; `_rate(step)` implements the formula."""

    _arguments: tuple[str, ...] = ()

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(getattr(self, "name", None) or type(self).__name__):
            return self._rate(step)

    def _rate(self, step: Any) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {name: getattr(self, name) for name in self._arguments}


class ExponentialDecay(_Decay):
    """rate = initial_learning_rate · decay_rate ^ (step / decay_steps).

    With `staircase`, the exponent is rounded down.

    >>> schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.5, 2, decay_rate=0.5)
    >>> schedule(4).numpy().item()
    0.125
    """

    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def _rate(self, step: Any) -> Any:
        initial = tf.convert_to_tensor(self.initial_learning_rate)
        exponent = tf.cast(step, initial.dtype) / tf.cast(self.decay_steps, initial.dtype)
        if self.staircase:
            exponent = tf.floor(exponent)
        return initial * tf.pow(tf.cast(self.decay_rate, initial.dtype), exponent)


class InverseTimeDecay(_Decay):
    """rate = initial_learning_rate / (1 + decay_rate · step / decay_steps).

    With `staircase`, step / decay_steps is rounded down.

    >>> schedule = tf.keras.optimizers.schedules.InverseTimeDecay(1.0, 1, decay_rate=0.5)
    >>> schedule(2).numpy().item()
    0.5
    """

    _arguments = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def _rate(self, step: Any) -> Any:
        initial = tf.convert_to_tensor(self.initial_learning_rate)
        passed = tf.cast(step, initial.dtype) / tf.cast(self.decay_steps, initial.dtype)
        if self.staircase:
            passed = tf.floor(passed)
        return initial / (1 + tf.cast(self.decay_rate, initial.dtype) * passed)


class PiecewiseConstantDecay(_Decay):
    """Piecewise constant: the first value up to and including the first boundary, and so on.

    >>> schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([10, 20], [1.0, 0.5, 0.25])
    >>> [schedule(step).numpy().item() for step in (10, 11, 21)]
    [1.0, 0.5, 0.25]
    """

    _arguments = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of "
                f"length {len(values)}."
            )
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def _rate(self, step: Any) -> Any:
        step = tf.convert_to_tensor(step)
        rate = tf.convert_to_tensor(self.values[0])
        for boundary, value in zip(self.boundaries, self.values[1:], strict=True):
            rate = tf.where(self._is_past(step, boundary), tf.cast(value, rate.dtype), rate)
        return rate

    def _is_past(self, step: Any, boundary: Any) -> Any:
        boundary = tf.convert_to_tensor(boundary)
        if boundary.dtype is not step.dtype:
            if step.dtype.is_integer and not boundary.dtype.is_integer:
                step = tf.cast(step, boundary.dtype)
            else:
                boundary = tf.cast(boundary, step.dtype)
        return step > boundary


class PolynomialDecay(_Decay):
    """Polynomial decay from the initial to the end rate over `decay_steps`.

    rate = (initial - end) · (1 - step / decay_steps) ^ power + end. With `cycle`, the decay is
    stretched to the next multiple of `decay_steps` beyond the step.

    >>> schedule = tf.keras.optimizers.schedules.PolynomialDecay(1.0, 4, end_learning_rate=0.0)
    >>> schedule(3).numpy().item()
    0.25
    """

    _arguments = (
        *("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name"),
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def _rate(self, step: Any) -> Any:
        initial = tf.convert_to_tensor(self.initial_learning_rate)
        dtype = initial.dtype
        end = tf.cast(self.end_learning_rate, dtype)
        step, steps = tf.cast(step, dtype), tf.cast(self.decay_steps, dtype)
        if self.cycle:
            cycles = tf.math.ceil(step / steps)
            steps = steps * tf.where(tf.equal(step, 0), tf.ones_like(cycles), cycles)
        else:
            step = tf.minimum(step, steps)
        left = tf.pow(1 - step / steps, tf.cast(self.power, dtype))
        return (initial - end) * left + end


class CosineDecay(_Decay):
    """Cosine decay to `alpha` times the initial rate, after an optional warm-up.

    With `warmup_target`, the rate first rises linearly from the initial one to the target over
    `warmup_steps`, and the decay starts from there.

    >>> schedule = tf.keras.optimizers.schedules.CosineDecay(1.0, decay_steps=10)
    >>> print(schedule(5).numpy().round(6))
    0.5
    """

    _arguments = (
        *("initial_learning_rate", "decay_steps", "alpha", "name"),
        *("warmup_target", "warmup_steps"),
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: float = 0.0,
        name: str | None = None,
        warmup_target: Any = None,
        warmup_steps: int = 0,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name
        self.warmup_steps = warmup_steps
        self.warmup_target = warmup_target

    def _rate(self, step: Any) -> Any:
        initial = tf.convert_to_tensor(self.initial_learning_rate)
        dtype = initial.dtype
        step, steps = tf.cast(step, dtype), tf.cast(self.decay_steps, dtype)
        if self.warmup_target is None:
            return self._decayed(tf.minimum(step, steps), steps, initial)
        warm, target = tf.cast(self.warmup_steps, dtype), tf.cast(self.warmup_target, dtype)
        step = tf.minimum(step, steps + warm)
        rising = initial + (target - initial) * tf.math.divide_no_nan(step, warm)
        return tf.where(step < warm, rising, self._decayed(step - warm, steps, target))

    def _decayed(self, step: Any, steps: Any, start: Any) -> Any:
        wave = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, start.dtype) * step / steps))
        return start * ((1 - self.alpha) * wave + self.alpha)


class CosineDecayRestarts(_Decay):
    """Cosine decay with restarts: each period is `t_mul` times as long, and starts at `m_mul` times
    the rate.

    >>> schedule = tf.keras.optimizers.schedules.CosineDecayRestarts(1.0, first_decay_steps=10)
    >>> schedule(10).numpy().item()
    1.0
    """

    _arguments = (
        *("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha", "name"),
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self._t_mul = t_mul
        self._m_mul = m_mul
        self.alpha = alpha
        self.name = name

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            "initial_learning_rate": self.initial_learning_rate,
            "first_decay_steps": self.first_decay_steps,
            "t_mul": self._t_mul,
            "m_mul": self._m_mul,
            "alpha": self.alpha,
            "name": self.name,
        }

    def _rate(self, step: Any) -> Any:
        initial = tf.convert_to_tensor(self.initial_learning_rate)
        dtype = initial.dtype
        alpha, growth = tf.cast(self.alpha, dtype), tf.cast(self._t_mul, dtype)
        passed = tf.cast(step, dtype) / tf.cast(self.first_decay_steps, dtype)
        if self._t_mul == 1.0:
            restart = tf.floor(passed)
            part = passed - restart
        else:
            ratio = 1.0 - passed * (1.0 - growth)
            restart = tf.floor(tf.math.log(ratio) / tf.math.log(growth))
            begun = (1.0 - growth**restart) / (1.0 - growth)
            part = (passed - begun) / growth**restart
        height = tf.cast(self._m_mul, dtype) ** restart
        wave = 0.5 * height * (1.0 + tf.cos(tf.constant(math.pi, dtype) * part))
        return initial * ((1 - alpha) * wave + alpha)


_registry = serialization.Registry(
    "decay",
    serialization.names_of(
        *(CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay),
        *(LearningRateSchedule, PiecewiseConstantDecay, PolynomialDecay),
    ),
)


def serialize(learning_rate_schedule: Any, use_legacy_format: bool = False) -> Any:
    """The config of a schedule."""
    return _registry.serialize(learning_rate_schedule, use_legacy_format)


def deserialize(
    config: Any, custom_objects: dict[str, Any] | None = None, use_legacy_format: bool = False
) -> Any:
    """Create a schedule from its config.

    >>> config = tf.keras.optimizers.schedules.serialize(
    ...     tf.keras.optimizers.schedules.CosineDecay(0.1, 100))
    >>> tf.keras.optimizers.schedules.deserialize(config).decay_steps
    100
    """
    return _registry.deserialize(config, custom_objects, use_legacy_format)


__getattr__ = _suggesting(__name__)

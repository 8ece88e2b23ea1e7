"""tf.keras.constraints: constraints on weights, applied after each step."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ..core.suggestions import suggesting as _suggesting
from .backend.settings import epsilon
from .keywords import RefusesUnknownKeywords
from .serialization import Registry, names_of


class Constraint(RefusesUnknownKeywords):
    """Projects a weight onto a constraint; subclasses implement `__call__`.

    >>> class Bounded(tf.keras.constraints.Constraint):
    ...     def __call__(self, w):
    ...         return tf.clip_by_value(w, -1.0, 1.0)
    >>> Bounded()(tf.constant([-3.0, 0.5])).numpy()
    array([-1. ,  0.5], dtype=float32)
    """

    def __call__(self, w):
        """The constrained weight."""
        return w

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {}

    @classmethod
    def from_config(cls, config):
        """Create a constraint from its config."""
        return cls(**config)


def _norms(w: tf.Tensor, axis: Any) -> tf.Tensor:
    return tf.sqrt(tf.reduce_sum(tf.square(w), axis, keepdims=True))


class MaxNorm(Constraint):
    """Scales down the weights of units whose norm exceeds `max_value`.

    Norms are taken along `axis`: 0 for a dense kernel, [0, 1, 2] for a convolution's.

    >>> tf.keras.constraints.MaxNorm(2.0)(tf.constant([[3.0], [4.0]])).numpy()
    array([[1.2],
           [1.6]], dtype=float32)
    """

    def __init__(self, max_value=2, axis=0):
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w):
        """The constrained weight."""
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        desired = tf.clip_by_value(norms, 0.0, max(self.max_value, 0.0))
        return w * (desired / (epsilon() + norms))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Sets negative weights to zero.

    >>> tf.keras.constraints.NonNeg()(tf.constant([2.0, -3.0])).numpy()
    array([ 2., -0.], dtype=float32)
    """

    def __call__(self, w):
        """The constrained weight."""
        w = tf.convert_to_tensor(w)
        return w * tf.cast(w >= 0.0, w.dtype)


class UnitNorm(Constraint):
    """Scales the weights of each unit to norm 1.

    >>> tf.keras.constraints.UnitNorm()(tf.constant([[3.0], [4.0]])).numpy()
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        """The constrained weight."""
        w = tf.convert_to_tensor(w)
        return w / (epsilon() + _norms(w, self.axis))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Scales the norm of each unit's weights into [`min_value`, `max_value`].

    `rate` is how strictly this is enforced: 1 means fully at each step.

    >>> tf.keras.constraints.MinMaxNorm(1.0, 2.0)(tf.constant([[0.3], [0.4]])).numpy().round(4)
    array([[0.6],
           [0.8]], dtype=float32)
    """

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w):
        """The constrained weight."""
        w = tf.convert_to_tensor(w)
        norms = _norms(w, self.axis)
        within = tf.clip_by_value(norms, self.min_value, max(self.min_value, self.max_value))
        desired = self.rate * within + (1 - self.rate) * norms
        return w * (desired / (epsilon() + norms))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            "min_value": self.min_value,
            "max_value": self.max_value,
            "rate": self.rate,
            "axis": self.axis,
        }


class RadialConstraint(Constraint):
    """Makes a square convolution kernel radially symmetric.

    Each ring around the center takes one value of the kernel's diagonal.

    >>> kernel = tf.reshape(tf.range(9.0), [3, 3, 1, 1])
    >>> tf.keras.constraints.RadialConstraint()(kernel)[:, :, 0, 0].numpy()
    array([[4., 4., 4.],
           [4., 0., 4.],
           [4., 4., 4.]], dtype=float32)
    """

    def __call__(self, w):
        """The constrained weight."""
        w = tf.convert_to_tensor(w)
        if w.shape.rank != 4:
            raise ValueError(
                f"The weight tensor must have rank 4. Received weight tensor with shape: {w.shape}"
            )
        height, width = w.shape[:2]
        if height != width:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                "RadialConstraint takes square kernels only. Received a weight tensor with shape: "
                f"{w.shape}",
            )
        places = _ring_places(height)
        return tf.gather_nd(w, np.stack([places, places], axis=-1))


def _ring_places(size: int) -> np.ndarray:
    """The diagonal index of each element of a square kernel."""
    distance = np.abs(np.arange(size) - (size - 1) / 2)
    ring = np.maximum(distance[:, np.newaxis], distance).astype(np.int32)
    places = ring + max(size // 2 - 1, 0)
    # With an even size, the diagonal's second value of the inner ring is skipped.
    return places + (ring > 0) if size % 2 == 0 else places


max_norm = MaxNorm
non_neg = NonNeg
unit_norm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint

_registry = Registry(
    "constraint",
    names_of(
        Constraint,
        MaxNorm,
        NonNeg,
        UnitNorm,
        MinMaxNorm,
        RadialConstraint,
        maxnorm=MaxNorm,
        nonneg=NonNeg,
        unitnorm=UnitNorm,
    ),
)


def serialize(constraint, use_legacy_format=False):
    """The config of a constraint.

    >>> tf.keras.constraints.serialize(tf.keras.constraints.UnitNorm())["config"]
    {'axis': 0}
    """
    return _registry.serialize(constraint, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """A constraint from its config or name."""
    return _registry.deserialize(config, custom_objects, use_legacy_format)


def get(identifier):
    """A constraint from a name, a config or a function.

    >>> tf.keras.constraints.get("max_norm").get_config()
    {'max_value': 2, 'axis': 0}
    """
    return _registry.get(identifier)


__getattr__ = _suggesting(__name__)

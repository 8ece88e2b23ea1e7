"""tf.keras.regularizers: penalties on weights and outputs, added to the loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import runnel as tf

from ..core.suggestions import keyword_advice, suggesting as _suggesting
from .backend.settings import floatx
from .keywords import RefusesUnknownKeywords
from .serialization import Registry, names_of


class Regularizer(RefusesUnknownKeywords):
    """Computes a scalar penalty for a tensor; subclasses implement `__call__`.

    >>> class Average(tf.keras.regularizers.Regularizer):
    ...     def __call__(self, x):
    ...         return tf.reduce_mean(x)
    >>> float(Average()(tf.constant([1.0, 3.0])))
    2.0
    """

    def __call__(self, x):
        """The penalty for a tensor."""
        return 0.0

    @classmethod
    def from_config(cls, config):
        """Create a regularizer from its config."""
        return cls(**config)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        raise NotImplementedError(f"{self} does not implement get_config()")


def _penalty(number: Any) -> np.ndarray:
    """A penalty factor, rounded to the default float type."""
    if not isinstance(number, int | float):
        raise ValueError(
            f"Value {number} is not a valid regularization penalty number, expected an int or "
            "float value."
        )
    if not math.isfinite(number):
        raise ValueError(
            f"Value {number} is not a valid regularization penalty number, an infinite number or "
            "NaN are not valid values."
        )
    return np.asarray(number, floatx())


def _sum_of_magnitudes(factor: np.ndarray, x: Any) -> tf.Tensor:
    return factor * tf.reduce_sum(tf.abs(x))


def _sum_of_squares(factor: np.ndarray, x: Any) -> tf.Tensor:
    return 2.0 * factor * tf.nn.l2_loss(x)


class L1(Regularizer):
    """l1 * sum(|x|)

    >>> float(tf.keras.regularizers.L1(0.5)(tf.constant([1.0, -3.0])))
    2.0
    """

    def __init__(self, l1=0.01, **kwargs):
        l1 = kwargs.pop("l", l1)
        _require_none_left(type(self), kwargs)
        self.l1 = _penalty(0.01 if l1 is None else l1)

    def __call__(self, x):
        """The penalty for a tensor."""
        return _sum_of_magnitudes(self.l1, x)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"l1": float(self.l1)}


class L2(Regularizer):
    """l2 * sum(x²)

    >>> float(tf.keras.regularizers.L2(0.5)(tf.constant([1.0, -3.0])))
    5.0
    """

    def __init__(self, l2=0.01, **kwargs):
        l2 = kwargs.pop("l", l2)
        _require_none_left(type(self), kwargs)
        self.l2 = _penalty(0.01 if l2 is None else l2)

    def __call__(self, x):
        """The penalty for a tensor."""
        return _sum_of_squares(self.l2, x)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"l2": float(self.l2)}


def _require_none_left(kind: type, kwargs: dict[str, Any]) -> None:
    if kwargs:
        near = keyword_advice(kind, next(iter(kwargs)))
        raise TypeError(f"Argument(s) not recognized: {kwargs}.{near}")


class L1L2(Regularizer):
    """l1 * sum(|x|) + l2 * sum(x²)

    >>> float(tf.keras.regularizers.L1L2(l1=0.5, l2=0.5)(tf.constant([1.0, -3.0])))
    7.0
    """

    def __init__(self, l1=0.0, l2=0.0):
        self.l1 = _penalty(0.0 if l1 is None else l1)
        self.l2 = _penalty(0.0 if l2 is None else l2)

    def __call__(self, x):
        """The penalty for a tensor."""
        if not self.l2:
            x = tf.convert_to_tensor(x)
            return _sum_of_magnitudes(self.l1, x) if self.l1 else tf.constant(0.0, x.dtype)
        squares = _sum_of_squares(self.l2, x)
        return _sum_of_magnitudes(self.l1, x) + squares if self.l1 else squares

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


class OrthogonalRegularizer(Regularizer):
    """Encourages orthogonal rows or columns: factor * mean |cosine| of the angles between them.

    >>> regularizer = tf.keras.regularizers.OrthogonalRegularizer(factor=0.5)
    >>> float(regularizer(tf.constant([[1.0, 0.0], [0.0, 2.0]])))
    0.0
    """

    def __init__(self, factor=0.01, mode="rows"):
        if mode not in ("rows", "columns"):
            raise ValueError(
                'Invalid value for argument `mode`. Expected one of {"rows", "columns"}. '
                f"Received: mode={mode}"
            )
        self.factor = _penalty(factor)
        self.mode = mode

    def __call__(self, inputs):
        """The penalty for a matrix."""
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.rank != 2:
            raise ValueError(
                "Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape == "
                f"{inputs.shape}"
            )
        by_rows = self.mode == "rows"
        directions = tf.math.l2_normalize(inputs, axis=1 if by_rows else 0)
        cosines = tf.matmul(directions, directions, transpose_a=not by_rows, transpose_b=by_rows)
        size = inputs.shape[0 if by_rows else 1]
        others = 1.0 - tf.eye(size, dtype=inputs.dtype)
        pairs = tf.constant(size * (size - 1.0) / 2.0, inputs.dtype)
        return self.factor * 0.5 * tf.reduce_sum(tf.abs(cosines * others)) / pairs

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {"factor": float(self.factor), "mode": self.mode}


l1 = L1
l2 = L2
orthogonal_regularizer = OrthogonalRegularizer


def l1_l2(l1=0.01, l2=0.01):
    """An `L1L2` regularizer whose factors default to 0.01.

    >>> round(float(tf.keras.regularizers.l1_l2()(tf.constant([1.0, -3.0]))), 4)
    0.14
    """
    return L1L2(l1=l1, l2=l2)


_registry = Registry("regularizer", names_of(Regularizer, L1, L2, L1L2, OrthogonalRegularizer))


def serialize(regularizer, use_legacy_format=False):
    """The config of a regularizer.

    >>> tf.keras.regularizers.serialize(tf.keras.regularizers.L2(0.5))["config"]
    {'l2': 0.5}
    """
    return _registry.serialize(regularizer, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """A regularizer from its config or name."""
    if config == "l1_l2":
        # The name refers to the function with its own defaults, not the class with zeros.
        return l1_l2()
    return _registry.deserialize(config, custom_objects, use_legacy_format)


def get(identifier):
    """A regularizer from a name, a config or a function.

    >>> tf.keras.regularizers.get("l2").get_config()
    {'l2': 0.009999999776482582}
    """
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    return _registry.get(identifier)


__getattr__ = _suggesting(__name__)

"""Initializers: objects that compute the initial value of a variable from a shape and a dtype."""

from __future__ import annotations

import numpy as np

from ..core.convert import constant
from ..core.dtypes import as_dtype, float32
from . import random, random_stateless
from .array.creation import ones, zeros

_PARTITION = ("partition_shape", "partition_offset")


class Initializer:
    """Computes a tensor of a given shape and dtype."""

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor of this shape and dtype."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to make a tensor.")

    def get_config(self):
        """The arguments to recreate the initializer."""
        return {}

    @classmethod
    def from_config(cls, config):
        """An initializer from a `get_config` dict."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)

    def _part(self, shape, kwargs):
        """The shape to create: that of a partition where one is requested."""
        for name in kwargs:
            if name not in _PARTITION:
                raise TypeError(
                    f"Keyword argument should be one of {list(_PARTITION)}. Received: {name}"
                )
        return kwargs.get("partition_shape", shape)


def _numeric(dtype):
    dtype = as_dtype(dtype)
    if not (dtype.is_numpy_compatible and (dtype.is_numeric or dtype.is_bool)):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype!r}.")
    return dtype


class zeros_initializer(Initializer):
    """Fills with zeros.

    >>> tf.zeros_initializer()([2], tf.int32).numpy().tolist()
    [0, 0]
    """

    def __call__(self, shape, dtype=float32, **kwargs):
        """A tensor of zeros."""
        return zeros(self._part(shape, kwargs), _numeric(dtype))


class ones_initializer(Initializer):
    """Fills with ones.

    >>> tf.ones_initializer()([2], tf.int32).numpy().tolist()
    [1, 1]
    """

    def __call__(self, shape, dtype=float32, **kwargs):
        """A tensor of ones."""
        return ones(self._part(shape, kwargs), _numeric(dtype))


class constant_initializer(Initializer):
    """Fills with one value, or with the values of a list or array.

    >>> tf.constant_initializer([1, 2, 3, 4])([2, 2]).numpy().tolist()
    [[1, 2], [3, 4]]
    """

    def __init__(self, value=0, support_partition=False):
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, "
                "list or tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape, dtype=None, **kwargs):
        """A tensor with the value, or filled with it."""
        self._part(shape, kwargs)
        if kwargs and not self.support_partition:
            raise ValueError(
                "Constant initializer doesn't support partition-related arguments. Make it with "
                "support_partition=True."
            )
        return constant(self.value, None if dtype is None else as_dtype(dtype), shape)

    def get_config(self):
        """The arguments to recreate the initializer."""
        return {"value": self.value}


class random_uniform_initializer(Initializer):
    """Uniform numbers between `minval` and `maxval`; with a seed the same ones at every call.

    >>> tf.random_uniform_initializer(-1.0, 1.0)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed

    def __call__(self, shape, dtype=float32, **kwargs):
        """A tensor of random numbers."""
        shape, dtype = self._part(shape, kwargs), as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(
                f"Argument `dtype` expected to be numeric or boolean. Received {dtype!r}."
            )
        if self.seed is None:
            return random.uniform(shape, self.minval, self.maxval, dtype)
        return random_stateless.stateless_uniform(
            shape, [self.seed, 0], self.minval, self.maxval, dtype
        )

    def get_config(self):
        """The arguments to recreate the initializer."""
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class random_normal_initializer(Initializer):
    """Normal numbers; with a seed the same ones at every call.

    >>> tf.random_normal_initializer(mean=1.0)([2, 3]).shape
    TensorShape([2, 3])
    """

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed

    def __call__(self, shape, dtype=float32, **kwargs):
        """A tensor of random numbers."""
        shape, dtype = self._part(shape, kwargs), as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(
                f"Argument `dtype` is expected to be floating point. Received: {dtype!r}."
            )
        if self.seed is None:
            return random.normal(shape, self.mean, self.stddev, dtype)
        return random_stateless.stateless_normal(
            shape, [self.seed, 0], self.mean, self.stddev, dtype
        )

    def get_config(self):
        """The arguments to recreate the initializer."""
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}

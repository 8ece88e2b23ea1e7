"""Random tensors and variables; default seeds are drawn from NumPy's global generator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import runnel as tf

from ...core.context import seeds
from .settings import floatx

# The upper bounds of default seeds: for tensors, and for variables.
_TENSOR_SEEDS = 10**7
_VARIABLE_SEEDS = 10**9


def _seed(seed: Any, limit: int = _TENSOR_SEEDS) -> Any:
    if seed is None:
        seeds.counted_in_python += 1
        return np.random.randint(limit)
    return seed


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normally distributed values.

    >>> tf.keras.backend.random_normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return tf.random.normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniformly distributed values between `minval` and `maxval`."""
    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), _seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Truncated normal values: none further than two standard deviations from the mean."""
    return tf.random.truncated_normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability p, else zeros.

    >>> tf.keras.backend.random_bernoulli([3], p=1.0).numpy()
    array([1., 1., 1.], dtype=float32)
    """
    dtype = dtype or floatx()
    drawn = tf.random.uniform(shape, dtype=dtype, seed=_seed(seed)) <= p
    return tf.where(drawn, tf.ones(shape, dtype), tf.zeros(shape, dtype))


def random_binomial(shape, p=0.0, dtype=None, seed=None):
    """The older name of `random_bernoulli`."""
    warnings.warn(
        "`tf.keras.backend.random_binomial` is deprecated, and will be removed in a future "
        "version. Please use `tf.keras.backend.random_bernoulli` instead.",
        stacklevel=2,
    )
    return random_bernoulli(shape, p, dtype, seed)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable with normally distributed values."""
    dtype = dtype or floatx()
    numbers = tf.random.normal(shape, mean, scale, dtype, _seed(seed, _VARIABLE_SEEDS))
    return tf.Variable(numbers, dtype=dtype, name=name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable with uniformly distributed values between `low` and `high`."""
    dtype = dtype or floatx()
    numbers = tf.random.uniform(shape, low, high, dtype, _seed(seed, _VARIABLE_SEEDS))
    return tf.Variable(numbers, dtype=dtype, name=name)


def dropout(x, level, noise_shape=None, seed=None):
    """Set elements to zero with probability `level`, and scale the others.

    >>> tf.keras.backend.dropout(tf.ones([2]), 0.0).numpy()
    array([1., 1.], dtype=float32)
    """
    return tf.nn.dropout(x, level, noise_shape, _seed(seed))

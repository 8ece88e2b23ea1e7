"""tf.experimental.numpy.random: random arrays, with NumPy's legacy names."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as _tf

from ...core.tensor import Tensor
from .conversion import promoted as _promoted, sizes_of as _sizes_of, to_array as _to_array
from .promotion import as_dtype as _as_dtype, default_float as _default_float


def _shape(size: Any) -> Any:
    return [] if size is None else _sizes_of(size)


def seed(s: Any) -> None:
    """Set the seed of the functions of this module; it is TensorFlow's global one."""
    _tf.random.set_seed(s)


def randn(*args: int) -> Tensor:
    """Normally distributed numbers of the shape given by the arguments."""
    return standard_normal(size=args)


def standard_normal(size: Any = None) -> Tensor:
    """Normally distributed numbers of mean 0 and standard deviation 1."""
    return _tf.random.normal(_shape(size), dtype=_default_float())


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Tensor:
    """Uniformly distributed numbers from low to high, exclusive."""
    dtype = _default_float()
    low, high = _to_array(low, dtype), _to_array(high, dtype)
    if size is None:
        size = _tf.broadcast_dynamic_shape(_tf.shape(low), _tf.shape(high))
    return _tf.random.uniform(_shape(size), dtype=dtype) * (high - low) + low


def rand(*size: int) -> Tensor:
    """Uniformly distributed numbers in [0, 1) of the shape given by the arguments."""
    return uniform(0.0, 1.0, size)


def random(size: Any = None) -> Tensor:
    """Uniformly distributed numbers in [0, 1)."""
    return uniform(0.0, 1.0, size)


def poisson(lam: Any = 1.0, size: Any = None) -> Tensor:
    """Poisson-distributed numbers with mean `lam`."""
    lam = _to_array(lam, _default_float())
    if size is None:
        return _tf.random.poisson([], lam, dtype=_tf.int64)
    return _tf.random.poisson(_shape(size), lam, dtype=_tf.int64)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Tensor:
    """Integers from low to high, exclusive, or from 0 to low where high is not given."""
    if high is None:
        low, high = 0, low
    dtype = _tf.int64 if dtype is int else _as_dtype(dtype)
    if dtype not in (_tf.int32, _tf.int64):
        raise ValueError(f"randint: dtype must be int32 or int64, got {np.dtype(dtype.numpy)}.")
    low, high = (_to_array(x, dtype) for x in _promoted(low, high))
    return _tf.random.uniform(_shape(size), low, high, dtype)

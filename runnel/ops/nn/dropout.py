"""Dropout: random elements are zeroed, the rest scaled up to preserve the expectation."""

from __future__ import annotations

import functools
import numbers

from ...core.convert import convert_to_tensor
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from .. import random, random_stateless, random_streams
from ..array import selection, shaping
from ..math import arithmetic, comparison, division


def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Set each element of x to 0 with probability `rate`; divide the others by 1 - rate.

    Along the dimensions of size 1 in `noise_shape` the mask is broadcast.

    >>> tf.random.set_seed(0)
    >>> tf.nn.dropout(tf.ones([3, 5]), rate=0.5, seed=1).numpy().tolist()
    [[2.0, 0.0, 0.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0, 2.0], [2.0, 0.0, 2.0, 0.0, 2.0]]
    """
    sampler = functools.partial(random.uniform, seed=seed)
    result = general_dropout(x, rate, lambda shape, dtype: sampler(shape, dtype=dtype), noise_shape)
    if isinstance(rate, numbers.Real) and rate == 0:
        # No numbers were drawn: advance the seeds as any other rate does.
        random_streams.get_seed(seed)
    return result


def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Dropout that is deterministic for a given seed, a pair of integers.

    >>> x = tf.ones([4])
    >>> tf.nn.experimental.stateless_dropout(x, rate=0.5, seed=[1, 2]).numpy().tolist()
    [2.0, 0.0, 2.0, 0.0]
    """
    algorithm = "auto_select" if rng_alg is None else rng_alg

    def sampler(shape, dtype):
        return random_stateless.stateless_uniform(shape, seed, dtype=dtype, alg=algorithm)

    return general_dropout(x, rate, sampler, noise_shape)


def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Dropout with numbers from `uniform_sampler(shape, dtype)`, uniform in [0, 1).

    >>> def sampler(shape, dtype):
    ...     return tf.constant([0.1, 0.9, 0.4, 0.6])
    >>> tf.nn.experimental.general_dropout(tf.ones([4]), 0.5, sampler).numpy().tolist()
    [0.0, 2.0, 0.0, 2.0]
    """
    is_number = isinstance(rate, numbers.Real)
    if is_number and not 0 <= rate < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x.dtype={x.dtype}"
        )
    if not isinstance(x, Tensor):
        if noise_shape is not None:
            raise ValueError("noise_shape is not supported yet for RaggedTensor x")
        return x.with_flat_values(general_dropout(x.flat_values, rate, uniform_sampler))
    if is_number:
        if rate == 0:
            return x
        scaled = arithmetic.multiply(x, 1 / (1 - float(rate)))
        limit = convert_to_tensor(float(rate), x.dtype)
    else:
        limit = _rate_tensor(rate, x.dtype)
        scaled = division.divide(x, arithmetic.subtract(1.0, limit))
    numbers_drawn = uniform_sampler(_noise_shape(x, noise_shape), dtype=x.dtype)
    kept = comparison.greater_equal(numbers_drawn, limit)
    return selection.where(kept, scaled, convert_to_tensor(0.0, x.dtype))


def _rate_tensor(rate, dtype):
    # A variable becomes a tensor; a list or a string is no rate.
    if not hasattr(rate, "dtype"):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    rate = convert_to_tensor(rate)
    rate.shape.assert_has_rank(0)
    if rate.dtype is not dtype:
        raise ValueError(
            "`x.dtype` must be compatible with `rate.dtype`. Received: "
            f"x.dtype={dtype} and rate.dtype={rate.dtype}. Use tf.cast(rate, x.dtype)."
        )
    return rate


def _noise_shape(x, noise_shape):
    if noise_shape is None:
        return shaping.shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    if isinstance(noise_shape, list | tuple) and any(isinstance(n, Tensor) for n in noise_shape):
        return convert_to_tensor(noise_shape)
    wanted, sizes = TensorShape(noise_shape), x.shape
    if sizes.rank is None or sizes.rank != wanted.rank or wanted.is_fully_defined():
        return wanted
    # None stands for the size of that dimension of x.
    known = TensorShape([a if b is None else b for a, b in zip(sizes, wanted, strict=True)])
    if known.is_fully_defined():
        return known
    actual = shaping.shape(x)
    return [actual[i] if size is None else size for i, size in enumerate(known)]

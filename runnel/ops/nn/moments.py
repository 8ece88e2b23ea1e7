"""Means and variances over axes, plain, weighted and from sufficient statistics."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import float16, float32, int32
from ..array import creation, gathering
from ..array.shaping import rank, shape, squeeze
from ..math import arithmetic, casting, division, elementwise
from ..math.reduction import reduce_mean, reduce_prod, reduce_sum


def moments(x, axes, shift=None, keepdims=False, name=None):
    """The mean and the variance of `x` over `axes`; `shift` is not used.

    The variance is not differentiated through the mean, whose contribution to the gradient is zero.

    >>> mean, variance = tf.nn.moments(tf.constant([1.0, 2.0, 3.0]), axes=[0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(2.0), np.float32(0.6666667))
    """
    x = convert_to_tensor(x)
    wide = _wide(x)
    mean = reduce_mean(wide, axes, keepdims=True)
    fixed = elementwise.stop_gradient(mean)
    variance = reduce_mean(arithmetic.squared_difference(wide, fixed), axes, keepdims=True)
    return _finished(mean, variance, axes, keepdims, x.dtype)


def _wide(x):
    return casting.cast(x, float32) if x.dtype is float16 else x


def _finished(mean, variance, axes, keepdims, dtype):
    if not keepdims:
        mean, variance = squeeze(mean, axes), squeeze(variance, axes)
    return casting.cast(mean, dtype), casting.cast(variance, dtype)


def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """The weighted mean and variance of `x` over `axes`.

    >>> mean, variance = tf.nn.weighted_moments([1.0, 2.0], [0], [1.0, 3.0])
    >>> mean.numpy(), variance.numpy()
    (np.float32(1.75), np.float32(0.1875))
    """
    x = convert_to_tensor(x)
    wide = _wide(x)
    weights = casting.cast(convert_to_tensor(frequency_weights), wide.dtype)
    total = reduce_sum(weights * wide, axes, keepdims=True)
    everywhere = weights + creation.zeros_like(wide)
    weight = reduce_sum(everywhere, axes, keepdims=True)
    mean = division.divide_no_nan(total, weight)
    squares = weights * arithmetic.squared_difference(wide, mean)
    variance = division.divide_no_nan(reduce_sum(squares, axes, keepdims=True), weight)
    return _finished(mean, variance, axes, keepdims, x.dtype)


def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """The statistics of mean and variance over `axes`: count, sum, sum of squares, and shift.

    >>> count, mean_ss, var_ss, _ = tf.nn.sufficient_statistics([1.0, 2.0, 3.0], [0])
    >>> count.numpy(), mean_ss.numpy(), var_ss.numpy()
    (np.float32(3.0), np.float32(6.0), np.float32(14.0))
    """
    axes = list(dict.fromkeys(axes))
    x = convert_to_tensor(x)
    sizes = None if x.shape.rank is None else [x.shape.as_list()[axis] for axis in axes]
    if sizes is not None and None not in sizes:
        count = convert_to_tensor(int(np.prod(sizes, dtype=np.int64)), x.dtype)
    else:
        places = division.floormod(convert_to_tensor(axes, int32), rank(x))
        count = reduce_prod(casting.cast(gathering.gather(shape(x), places), x.dtype))
    if shift is None:
        values, squares = x, elementwise.square(x)
    else:
        shift = convert_to_tensor(shift)
        values = arithmetic.subtract(x, shift)
        squares = arithmetic.squared_difference(x, shift)
    mean_ss = reduce_sum(values, axes, keepdims)
    variance_ss = reduce_sum(squares, axes, keepdims)
    return count, mean_ss, variance_ss, shift


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """The mean and the variance from sufficient statistics.

    >>> mean, variance = tf.nn.normalize_moments(3.0, 6.0, 14.0, None)
    >>> mean.numpy(), round(float(variance), 4)
    (np.float32(2.0), 0.6667)
    """
    divisor = elementwise.reciprocal(convert_to_tensor(counts))
    shifted = arithmetic.multiply(mean_ss, divisor)
    mean = shifted if shift is None else arithmetic.add(shifted, shift)
    variance = arithmetic.multiply(variance_ss, divisor) - elementwise.square(shifted)
    return mean, variance

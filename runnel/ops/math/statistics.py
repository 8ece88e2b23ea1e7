"""Log-sum-exps, variances and norms over axes; counts of zeros."""

from __future__ import annotations

from ...core import dtypes
from ...core.convert import convert_to_tensor
from ...core.dtypes import INTEGER, as_dtype, int64
from ...core.op import execute
from ...core.tensor import Tensor
from ..array import creation, selection
from ..array.shaping import reshape, shape, size
from . import (
    arithmetic,
    casting,
    comparison,
    complex as complex_numbers,
    elementwise,
    rounding,
)
from .reduction import Max, Sum, reduce_mean, reduce_sum, reduction_axes


def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) over `axis`, without overflow.

    >>> tf.reduce_logsumexp([[0.0, 0.0], [1000.0, 1000.0]], axis=1).numpy()
    array([6.9314718e-01, 1.0006932e+03], dtype=float32)
    """
    value = convert_to_tensor(input_tensor)
    axes = reduction_axes(value, axis)
    keep = {"keep_dims": True}
    highest = execute(Max, (value, axes), keep)
    finite = rounding.is_finite(highest)
    highest = selection.where(finite, highest, creation.zeros_like(highest))
    highest = elementwise.stop_gradient(highest)
    total = execute(Sum, (elementwise.exp(value - highest), axes), {"keep_dims": bool(keepdims)})
    result = elementwise.log(total)
    if not keepdims:
        highest = reshape(highest, shape(result))
    return result + highest


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance over `axis`: the mean squared distance from the mean.

    >>> tf.math.reduce_variance([1.0, 2.0, 3.0, 4.0]).numpy()
    np.float32(1.25)
    """
    value = convert_to_tensor(input_tensor)
    if not isinstance(value, Tensor):
        return _variance_of_rows(value, axis, keepdims)
    means = reduce_mean(value, axis, keepdims=True)
    if means.dtype in INTEGER:
        raise TypeError(
            f"Input must be either real or complex. Received integer type {means.dtype}. "
            "Cast it to a floating dtype with tf.cast."
        )
    difference = value - means
    if difference.dtype.is_complex:
        squares = complex_numbers.real(difference * complex_numbers.conj(difference))
    else:
        squares = elementwise.square(difference)
    return reduce_mean(squares, axis, keepdims)


def _variance_of_rows(value, axis, keepdims):
    """E[x²] - E[x]²: for ragged rows the mean does not broadcast against the elements."""
    if value.dtype.is_complex:
        raise ValueError(
            "reduce_variance is not supported for RaggedTensors with complex dtypes. Take it of "
            "the real and the imaginary parts."
        )
    dtype = value.dtype if value.dtype.is_floating else dtypes.float64
    # Cancellation: the difference of two large numbers needs more than float32's precision.
    wide = casting.cast(value, dtypes.float64)
    mean = reduce_mean(wide, axis, keepdims)
    variance = reduce_mean(elementwise.square(wide), axis, keepdims) - elementwise.square(mean)
    return casting.cast(arithmetic.maximum(variance, 0.0), dtype)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation over `axis`: the square root of the variance.

    >>> tf.math.reduce_std([1.0, 3.0]).numpy()
    np.float32(1.0)
    """
    return elementwise.sqrt(reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(input, axis=None, keepdims=None, dtype=int64, name=None):
    """The number of elements over `axis` that are not zero, False or the empty string.

    >>> tf.math.count_nonzero([[0, 1], [2, 3]], axis=1).numpy().tolist()
    [1, 2]
    """
    value = convert_to_tensor(input)
    if value.dtype is dtypes.bool:
        nonzero = value
    else:
        zero = convert_to_tensor("" if value.dtype is dtypes.string else 0, value.dtype)
        nonzero = comparison.not_equal(value, zero)
    return reduce_sum(casting.cast(nonzero, as_dtype(dtype)), axis, keepdims)


def zero_fraction(value, name=None):
    """The fraction of the elements that are zero; NaN for no elements.

    >>> tf.math.zero_fraction([0.0, 1.0, 0.0, 2.0]).numpy()
    np.float32(0.5)
    """
    value = convert_to_tensor(value)
    count = size(value, int64)
    zeros = count - count_nonzero(value)
    return casting.cast(zeros, dtypes.float32) / casting.cast(count, dtypes.float32)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x / sqrt(max(sum(x²), epsilon)), the sum over `axis`: normalize to length 1.

    >>> tf.math.l2_normalize([3.0, 4.0]).numpy()
    array([0.6, 0.8], dtype=float32)
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'.")
        axis = dim
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        real, imaginary = complex_numbers.real(x), complex_numbers.imag(x)
        squares = elementwise.square(real) + elementwise.square(imaginary)
        inverse = _inverse_norm(squares, axis, epsilon)
        return complex_numbers.complex(real * inverse, imaginary * inverse)
    return x * _inverse_norm(elementwise.square(x), axis, epsilon)


def _inverse_norm(squares, axis, epsilon):
    total = reduce_sum(squares, axis, keepdims=True)
    return elementwise.rsqrt(arithmetic.maximum(total, convert_to_tensor(epsilon, total.dtype)))

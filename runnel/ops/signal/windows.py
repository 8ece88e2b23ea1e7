"""Window functions: weights that taper the ends of a frame."""

from __future__ import annotations

import math

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import as_dtype, bool as bool_dtype, float32, int32
from ..array import creation, joining, ordering, selection
from ..math import arithmetic, bessel, casting, cumulative, elementwise, trigonometry
from ..math.elementwise import number_like


def _length(window_length):
    length = convert_to_tensor(window_length, int32)
    if length.shape.rank not in (None, 0):
        raise ValueError(
            f"Shape {length.shape} must have rank 0: window_length is one number, got "
            f"{window_length!r}"
        )
    return length


def floating_dtype(dtype):
    """The dtype of a window; ValueError unless it is a floating one."""
    dtype = as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype!r}")
    return dtype


def _raised_cosine(window_length, periodic, dtype, a, b):
    """a - b cos(2πn / (N - 1)); a periodic window of even length is a truncated longer one."""
    dtype = floating_dtype(dtype)
    length = _length(window_length)
    periodic = casting.cast(convert_to_tensor(periodic, bool_dtype), int32)
    if constant_value(length) == 1:
        return creation.ones([1], dtype)
    even = 1 - length % 2
    span = casting.cast(length + periodic * even - 1, dtype)
    count = casting.cast(creation.range(length), dtype)
    angle = count * math.tau / span
    window = a - b * trigonometry.cos(angle)
    return _one_if_alone(length, window)


def _one_if_alone(length, window):
    """A window of a single element is 1: the formulas would divide by 0."""
    if constant_value(length) is not None:
        return window
    return selection.where(length == 1, creation.ones_like(window), window)


def hann_window(window_length, periodic=True, dtype=float32, name=None):
    """The Hann window: 1/2 - 1/2 cos(2πn / N).

    >>> tf.signal.hann_window(4).numpy().round(3).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


def hamming_window(window_length, periodic=True, dtype=float32, name=None):
    """The Hamming window: 0.54 - 0.46 cos(2πn / N)."""
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


def kaiser_window(window_length, beta=12.0, dtype=float32, name=None):
    """The Kaiser window: I₀(β √(1 - (2n/(N-1) - 1)²)) / I₀(β)."""
    dtype = floating_dtype(dtype)
    length = _length(window_length)
    if constant_value(length) == 1:
        return creation.ones([1], dtype)
    half = (casting.cast(length, float32) - 1) / 2
    position = casting.cast(creation.range(-half, half + 0.5), dtype)
    beta = casting.cast(convert_to_tensor(beta), dtype)
    # Rounding may leave a value slightly below zero at the ends.
    inside = arithmetic.maximum(
        1 - elementwise.square(position / casting.cast(half, dtype)), number_like(0, position)
    )
    argument = beta * elementwise.sqrt(inside)
    # Scaled Bessel functions and one exponential do not overflow for a large beta.
    scale = elementwise.exp(argument - beta)
    window = scale * bessel.bessel_i0e(argument) / bessel.bessel_i0e(beta)
    return _one_if_alone(length, window)


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=float32, name=None):
    """The square root of the cumulative sum of a Kaiser window, and its reflection."""
    dtype = floating_dtype(dtype)
    half = _length(window_length) // 2
    weights = kaiser_window(half + 1, beta, dtype)
    sums = cumulative.cumsum(weights)
    rising = elementwise.sqrt(sums[:-1] / sums[-1])
    return joining.concat([rising, ordering.reverse(rising, [0])], 0)


def vorbis_window(window_length, dtype=float32, name=None):
    """The window of Vorbis: sin(π/2 sin²(π (n + 1/2) / N))."""
    dtype = floating_dtype(dtype)
    length = _length(window_length)
    position = casting.cast(creation.range(length), dtype) + 0.5
    angle = position * math.pi / casting.cast(length, dtype)
    return trigonometry.sin(math.pi / 2 * elementwise.square(trigonometry.sin(angle)))

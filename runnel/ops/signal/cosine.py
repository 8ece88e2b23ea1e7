"""Discrete cosine transforms of types I to IV, by Fourier transforms."""

from __future__ import annotations

import math

from ...core.convert import convert_to_tensor
from ...core.dtypes import float32, float64
from ..array import creation, joining, ordering, shaping
from ..math import casting, elementwise, trigonometry
from ..math.complex import complex as complex_of, real
from .fourier import fft, fit, irfft, rfft, size_of
from .frames import sizes

_INVERSE_TYPE = {1: 1, 2: 3, 3: 2, 4: 4}


def _require_transform(type, axis, norm):
    if type not in _INVERSE_TYPE:
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported. Got type={type!r}")
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1 and norm is not None:
        raise ValueError("Normalization is not supported for the Type-I DCT.")


def _cut(value, n):
    """The last axis truncated or zero-padded to n elements."""
    if isinstance(n, int) and n < 1:
        raise ValueError(f"n should be a positive integer or None, got {n}")
    if isinstance(n, float):
        raise TypeError(f"n should be a positive integer or None, got {n}")
    shape = value.shape
    if shape.is_fully_defined() and isinstance(n, int):
        target = [*shape[:-1], n]
        if shape[-1] == n:
            return value
    else:
        target = joining.concat([shaping.sizes_of(value)[:-1], shaping.reshape(n, [1])], 0)
    return fit(value, convert_to_tensor(target))


def _turn(angle):
    """e^(i angle)."""
    return complex_of(trigonometry.cos(angle), trigonometry.sin(angle))


def _as_complex(value):
    return complex_of(value, creation.zeros_like(value))


def _scaled_first(value, count, first, others):
    """The last axis times `others`, but its first element times `first`."""
    weights = casting.cast(creation.range(count) > 0, value.dtype) * (others - first) + first
    return value * weights


def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform of the last axis, of `n` elements (truncated or zero-padded).

    Type II: y[k] = 2 Σ x[j] cos(πk(2j + 1) / 2n); III is its inverse up to the factor 2n; IV: 2 Σ
    x[j] cos(π(2k + 1)(2j + 1) / 4n); I: x[0] + (-1)^k x[n-1] + 2 Σ x[j] cos(πkj / (n - 1)).
    `norm="ortho"` makes types II to IV orthonormal.

    >>> tf.signal.dct([1.0, 2.0, 4.0], norm="ortho").numpy().round(2)
    array([ 4.04, -2.12,  0.41], dtype=float32)
    """
    _require_transform(type, axis, norm)
    value = convert_to_tensor(input)
    if value.dtype not in (float32, float64):
        raise TypeError(
            f"A cosine transform takes float32 or float64, got {value.dtype.name}: use tf.cast."
        )
    if value.shape.rank == 0:
        raise IndexError("A cosine transform needs an axis, got a scalar.")
    if n is not None:
        value = _cut(value, n)
    return _TRANSFORMS[type](value, size_of(value, -1), norm)


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of `tf.signal.dct` of this type; without `norm="ortho"` scaled by 2n.

    Type I is its own inverse up to the factor 2(n - 1), IV up to 2n; III and II are each other's.

    >>> x = tf.signal.dct([1.0, 2.0, 3.0], norm="ortho")
    >>> tf.signal.idct(x, norm="ortho").numpy().round(3).tolist()
    [1.0, 2.0, 3.0]
    """
    _require_transform(type, axis, norm)
    return dct(input, _INVERSE_TYPE[type], n, axis, norm)


def _first(value, count, norm):
    # The transform of the signal concatenated with its reflection is real.
    mirrored = joining.concat([value, ordering.reverse(value, [-1])[..., 1:-1]], -1)
    return real(rfft(mirrored))


def _positions(value, count):
    return casting.cast(creation.range(count), value.dtype)


def _number(count, dtype):
    return casting.cast(convert_to_tensor(count), dtype)


def _second(value, count, norm):
    size = _number(count, value.dtype)
    spectrum = rfft(value, sizes(2 * count))[..., :count]
    turned = spectrum * _turn(_positions(value, count) * (-math.pi / 2) / size)
    result = 2 * real(turned)
    if norm is None:
        return result
    return _scaled_first(
        result, count, 0.5 * elementwise.rsqrt(size), math.sqrt(0.5) * elementwise.rsqrt(size)
    )


def _third(value, count, norm):
    size = _number(count, value.dtype)
    if norm is not None:
        value = _scaled_first(
            value, count, elementwise.rsqrt(size), math.sqrt(0.5) * elementwise.rsqrt(size)
        )
    turned = _as_complex(value) * _turn(_positions(value, count) * (math.pi / 2) / size)
    return 2 * size * irfft(turned, sizes(2 * count))[..., :count]


def _fourth(value, count, norm):
    size = _number(count, value.dtype)
    position = _positions(value, count)
    turned = _as_complex(value) * _turn(position * (-math.pi / 2) / size)
    spectrum = fft(_doubled(turned))[..., :count]
    result = 2 * real(spectrum * _turn((2 * position + 1) * (-math.pi / 4) / size))
    return result if norm is None else result * math.sqrt(0.5) * elementwise.rsqrt(size)


def _doubled(value):
    """The last axis zero-padded to twice its length."""
    return joining.concat([value, creation.zeros_like(value)], -1)


_TRANSFORMS = {1: _first, 2: _second, 3: _third, 4: _fourth}

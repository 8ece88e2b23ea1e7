"""ReLU and ReLU6 of many floats of 16 bits, by their bits.

Floats that are not negative have the order of their bits as integers, which NumPy compares many
times faster. What is not a number has none, and is left to the caller.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ...runtime.half_precision import is_half

# The bits of infinity and of 6.
_BITS = {np.dtype(ml_dtypes.bfloat16): (0x7F80, 0x40C0), np.dtype(np.float16): (0x7C00, 0x4600)}
_SIGN = 0x8000
_MANY = 4096


def _farthest(array):
    """The bits of the largest and of the least number, without its sign, if there are any."""
    # As unsigned integers, negative ones are above all others.
    largest = np.maximum.reduce(array.view(np.int16), None)
    return max(int(largest), int(np.maximum.reduce(array.view(np.uint16), None)) - _SIGN)


def clipped(x, at_six):
    """max(x, 0), and not above 6 if asked for; None for few numbers, other types and NaNs."""
    if x.size < _MANY or not is_half(x):
        return None
    infinity, six = _BITS[x.dtype]
    if _farthest(x) > infinity:
        return None
    # To clip takes an eighth of the time of a maximum with one number.
    return np.clip(x.view(np.int16), np.int16(0), np.int16(six if at_six else infinity)).view(
        x.dtype
    )


def slope(gradients, features, at_six):
    """The gradients where features are between 0 and the limit; None also for infinite ones."""
    if gradients.size < _MANY or not is_half(gradients):
        return None
    infinity, six = _BITS[gradients.dtype]
    if _farthest(gradients) >= infinity:
        return None
    # Less 1 and without a sign, zero and all that is negative are beyond the limit.
    below = np.subtract(features.view(np.uint16), np.uint16(1))
    passes = below < np.uint16(six - 1 if at_six else infinity)
    bits = np.multiply(gradients.view(np.uint16), passes, dtype=np.uint16)
    return bits.view(gradients.dtype)

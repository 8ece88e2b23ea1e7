"""The complementary error function: a formula whose intermediate values stay in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime.buffers import aligned
from ...runtime.half_precision import is_half, rounded_to_half
from .library import Library
from .post_ops import ADD, DIVIDE, MULTIPLY, Step
from .primitive import compute, described
from .updates import combined

_SQUARE, _ABS, _LINEAR, _EXP, _CLIP = 0x23, 0x24, 0x26, 0x2A, 0x2E
# In elements. The operands of a block fit in the cache.
_BLOCK = 1 << 17
# The arithmetic intensity, in units of one element-wise pass.
_ITS_WORK = 2
# Times a number that is not tiny it is beyond 1, on either side of 0.
_HUGE = 3e38
_FLOATS = np.dtype(np.float32)
_ZERO = np.zeros(1, _FLOATS)


def erfc(array: Any, steepness: float, coefficients: Sequence[float]) -> Any:
    """t exp(-x² + polynomial in t) with t = 1 / (1 + steepness |x|), 2 - erfc(-x) below 0.

    The coefficient of the highest power of the polynomial is the first.
    """
    if is_half(array):
        wide = erfc(array.astype(_FLOATS), steepness, coefficients)
        return None if wide is None else rounded_to_half(wide, array.dtype)
    if array.dtype != _FLOATS or not array.flags.c_contiguous or array.size < _BLOCK:
        return None
    result = aligned(array.shape, _FLOATS)
    flat, results = array.reshape(-1), result.reshape(-1)
    # The last block overlaps the one before: all have one size, and one set of primitives.
    for start in (*range(0, array.size - _BLOCK, _BLOCK), array.size - _BLOCK):
        block = slice(start, start + _BLOCK)
        found = compute(
            ("erfc", steepness, *coefficients),
            lambda library: _Formula(library, steepness, coefficients),
            _ITS_WORK * _BLOCK, flat[block], results[block],
        )  # fmt: skip
        if not found:
            return None
    return result


class _Formula:
    """The primitives of one block, and its intermediate buffers."""

    def __init__(self, library: Library, steepness: float, coefficients: Sequence[float]) -> None:
        data, number = described(library, (_BLOCK,), (1,)), described(library, (1,), (1,))

        def of_one(*steps: Step) -> Any:
            # A primitive starts with two operands: the second is zero.
            return combined(library, ADD, (data, number), steps)

        highest, next_highest, *others = map(float, coefficients)
        polynomial: list[Step] = [(_LINEAR, (highest, next_highest))]
        for each in others:
            polynomial += [(MULTIPLY, data), (_LINEAR, (1.0, each))]
        self._powers = len(others)
        sign = (_CLIP, (-1.0, 1.0))
        self._denominator = of_one((_ABS, (0.0, 0.0)), (_LINEAR, (steepness, 1.0)))
        self._quotient = combined(library, DIVIDE, (data, data), ())
        self._exponent = of_one((_SQUARE, (0.0, 0.0)), (_LINEAR, (-1.0, 0.0)))
        self._sign = of_one((_LINEAR, (_HUGE, 0.0)), sign)
        self._less_sign = of_one((_LINEAR, (-_HUGE, 0.0)), sign, (_LINEAR, (1.0, 1.0)))
        # Times t, then with the sign of x, to 1 less that: at 0 it is 1 whatever the sign.
        last = (ADD, data), (_EXP, (0.0, 0.0)), (MULTIPLY, data), (MULTIPLY, data), (ADD, data)
        self._value = of_one(*polynomial, *last)
        self._ones = aligned((_BLOCK,), _FLOATS)
        self._ones[...] = 1
        self._kept = [aligned((_BLOCK,), _FLOATS) for _ in range(4)]

    def run_unclaimed(self, x: Any, output: Any) -> None:
        """Compute without claiming the thread pool."""
        t, exponent, sign, less_sign = self._kept
        self._denominator.run_unclaimed(x, _ZERO, exponent)
        self._quotient.run_unclaimed(self._ones, exponent, t)
        self._exponent.run_unclaimed(x, _ZERO, exponent)
        self._sign.run_unclaimed(x, _ZERO, sign)
        self._less_sign.run_unclaimed(x, _ZERO, less_sign)
        powers = [t] * self._powers
        self._value.run_unclaimed(t, _ZERO, output, *powers, exponent, t, sign, less_sign)

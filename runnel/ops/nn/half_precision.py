"""Kernels that compute 16-bit floats in float32."""

from __future__ import annotations

import functools

import numpy as np


def computed_in_float32(kernel):
    """Let a kernel see float16 and bfloat16 as float32; its results go back to 16 bits.

    NumPy is slow in float16, leaves half of its functions out for bfloat16, and sums in 16 bits
    lose what the original keeps.
    """

    @functools.wraps(kernel)
    def widened(*arrays, **attrs):
        dtype = arrays[0].dtype
        if dtype.itemsize > 2:
            return kernel(*arrays, **attrs)
        arrays = [a.astype(np.float32) if a.dtype == dtype else a for a in arrays]
        result = kernel(*arrays, **attrs)
        if isinstance(result, tuple):
            return tuple([each.astype(dtype) for each in result])
        return result.astype(dtype)

    # The op's attributes and their defaults are read from here.
    widened.__kwdefaults__ = kernel.__kwdefaults__
    return widened

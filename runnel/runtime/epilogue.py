"""Epilogue: a per-channel scale and shift and an activation, fused into a matmul or convolution.

The bias, or the inference-time batch normalization, that follows most layers. A kernel that can
fuse it takes it as one more argument; else `Epilogue.apply` applies it to the result in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import maximum, minimum

# As arrays: ufuncs take half as long with them as with Python scalars.
_ZERO, _SIX, _INFINITY = (np.array(bound, np.float32) for bound in (0, 6, np.inf))
# Above this size `clip` is faster than `maximum` with a scalar, which is not vectorized.
_MANY = 1024


def _without_negative_zero(array: Any) -> Any:
    """The array, in place, with 0.0 for -0.0, which `clip` lets pass."""
    return np.add(array, _ZERO, array)


def relu_kernel(array: Any, out: Any = None) -> Any:
    """max(array, 0) of float32 or float64, into `out` if given."""
    if array.size > _MANY:
        return _without_negative_zero(array.clip(_ZERO, _INFINITY, out))
    return maximum(array, _ZERO, out=out)


def relu6_kernel(array: Any, out: Any = None) -> Any:
    """min(max(array, 0), 6) of float32 or float64, into `out` if given."""
    if array.size > _MANY:
        return _without_negative_zero(array.clip(_ZERO, _SIX, out))
    return minimum(maximum(array, _ZERO, out=out), _SIX, out=out)


# Each takes an array and the output array, which may be the same.
ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Relu": relu_kernel,
    "Relu6": relu6_kernel,
    "Tanh": np.tanh,
}


def require_channels(vector: Any, channels: int) -> None:
    """Refuse a vector whose length is not the number of channels."""
    if vector.shape != (channels,):
        raise ValueError(
            "Must provide as many biases, or scales, as the last dimension of the input tensor: "
            f"got the shape {list(vector.shape)} for {channels} channels."
        )


# With a mean of more standard deviations cancellation costs digits: subtract it first.
_LARGEST_MEAN = 64


def normalization_coefficients(
    vectors: tuple[Any, Any, Any, Any], epsilon: float
) -> tuple[Any, Any, Any]:
    """Center, factor and shift of a batch normalization by scale, offset, mean and variance.

    factor (x - center) + shift; the center is None where the shift includes it.
    """
    scale, offset, mean, variance = vectors
    deviation = np.sqrt(variance + np.float32(epsilon))
    factor = scale / deviation
    # False for NaN; the dot product is infinite if a factor is.
    largest = np.maximum.reduce(abs(mean / deviation), initial=0)
    if largest <= _LARGEST_MEAN and factor.dot(factor) < np.inf:
        return None, factor, offset - mean * factor
    return mean, factor, offset


class Epilogue(NamedTuple):
    """activation(scale (x - center) + shift), with one element per channel, channels last."""

    scale: Any
    shift: Any
    activation: str | None
    center: Any = None

    @classmethod
    def normalizing(
        cls, vectors: tuple[Any, Any, Any, Any], epsilon: float, activation: str | None
    ) -> Epilogue:
        """The epilogue of a batch normalization by scale, offset, mean and variance."""
        channels = vectors[0].size
        for vector in vectors:
            require_channels(vector, channels)
        center, factor, shift = normalization_coefficients(vectors, epsilon)
        return cls(factor, shift, activation, center)

    def require(self, channels: int) -> None:
        """Refuse vectors of another length than the channels: kernels do not check bounds."""
        require_channels(self.shift, channels)
        if self.scale is not None:
            require_channels(self.scale, channels)

    def apply(self, result: Any) -> Any:
        """Apply it to a result in place, or to a copy if the buffer is shared or read-only."""
        self.require(result.shape[-1])
        if not result.flags.writeable or result.base is not None:
            result = result.copy()
        if self.center is not None:
            result -= self.center
        if self.scale is not None:
            result *= self.scale
        result += self.shift
        return self.activate(result)

    def activate(self, result: Any) -> Any:
        """Apply the activation alone, in place."""
        return result if self.activation is None else ACTIVATIONS[self.activation](result, result)

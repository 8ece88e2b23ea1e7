"""Finish: what a product or convolution does to its result before it hands it out.

A scale and a shift for each channel, then an activation: the bias, or the batch normalization by
known moments, that follow most layers. A kernel that can do it in passing takes it as one more
argument; else `Finish.apply` does it in the result's own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import maximum, minimum

# As arrays: NumPy takes half as long for them as for Python numbers.
_ZERO, _SIX, _INFINITY = (np.array(bound, np.float32) for bound in (0, 6, np.inf))
# From here on NumPy clips faster than it compares with one number, which it does one by one.
_MANY = 1024


def positive_part(array: Any, out: Any = None) -> Any:
    """max(array, 0) of 32 or 64-bit floats, into `out` if given."""
    if array.size > _MANY:
        return array.clip(_ZERO, _INFINITY, out)
    return maximum(array, _ZERO, out=out)


def between_zero_and_six(array: Any, out: Any = None) -> Any:
    """min(max(array, 0), 6) of 32 or 64-bit floats, into `out` if given."""
    if array.size > _MANY:
        return array.clip(_ZERO, _SIX, out)
    return minimum(maximum(array, _ZERO, out=out), _SIX, out=out)


# Of an array, into another or itself.
ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "Relu": positive_part,
    "Relu6": between_zero_and_six,
    "Tanh": np.tanh,
}


def require_channels(vector: Any, channels: int) -> None:
    """Refuse a vector without one number for each channel."""
    if vector.shape != (channels,):
        raise ValueError(
            "Must provide as many biases, or scales, as the last dimension of the input tensor: "
            f"got the shape {list(vector.shape)} for {channels} channels."
        )


# A mean of more standard deviations takes so much of the digits away that it is subtracted first.
_FARTHEST_MEAN = 64


def normalizing_vectors(vectors: tuple[Any, Any, Any, Any], epsilon: float) -> tuple[Any, Any, Any]:
    """Centre, factor and shift of a batch normalization with scale, offset, mean and variance.

    factor (x - centre) + shift; the centre is None where it can be part of the shift.
    """
    scale, offset, mean, variance = vectors
    deviation = np.sqrt(variance + np.float32(epsilon))
    factor = scale / deviation
    # Comparisons are False for NaN, and a square of what is infinite is infinite.
    farthest = np.maximum.reduce(abs(mean / deviation), initial=0)
    if farthest <= _FARTHEST_MEAN and factor.dot(factor) < np.inf:
        return None, factor, offset - mean * factor
    return mean, factor, offset


class Finish(NamedTuple):
    """activation(scale (x - centre) + shift), with vectors of the channels, the last dimension."""

    scale: Any
    shift: Any
    activation: str | None
    centre: Any = None

    @classmethod
    def normalizing(
        cls, vectors: tuple[Any, Any, Any, Any], epsilon: float, activation: str | None
    ) -> Finish:
        """That of a batch normalization with scale, offset, mean and variance."""
        channels = vectors[0].size
        for vector in vectors:
            require_channels(vector, channels)
        centre, factor, shift = normalizing_vectors(vectors, epsilon)
        return cls(factor, shift, activation, centre)

    def require(self, channels: int) -> None:
        """Refuse vectors without one number for each channel, which a kernel reads unseen."""
        require_channels(self.shift, channels)
        if self.scale is not None:
            require_channels(self.scale, channels)

    def apply(self, result: Any) -> Any:
        """Finish a result in its own memory, unless others may see that."""
        self.require(result.shape[-1])
        if not result.flags.writeable or result.base is not None:
            result = result.copy()
        if self.centre is not None:
            result -= self.centre
        if self.scale is not None:
            result *= self.scale
        result += self.shift
        return self.activate(result)

    def activate(self, result: Any) -> Any:
        """Do the last step alone, in the memory of a result that nobody else sees."""
        return result if self.activation is None else ACTIVATIONS[self.activation](result, result)

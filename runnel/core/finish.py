"""Finish: what a product or convolution does to its result before it hands it out.

A scale and a shift for each channel, then an activation: the bias, or the batch normalization by
known moments, that follow most layers. A kernel that can do it in passing takes it as one more
argument; else `Finish.apply` does it in the result's own memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

# As an array: NumPy takes half as long for it as for a Python number.
_ZERO = np.zeros((), np.float32)


def _relu(array: Any) -> Any:
    return np.maximum(array, _ZERO, out=array)


def _relu6(array: Any) -> Any:
    return np.clip(array, 0, 6, out=array)


def _tanh(array: Any) -> Any:
    return np.tanh(array, out=array)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"Relu": _relu, "Relu6": _relu6, "Tanh": _tanh}


class Finish(NamedTuple):
    """activation(scale x + shift), with vectors of the channels, the last dimension."""

    scale: Any
    shift: Any
    activation: str | None

    @classmethod
    def normalizing(
        cls, vectors: tuple[Any, Any, Any, Any], epsilon: float, activation: str | None
    ) -> Finish:
        """That of a batch normalization with scale, offset, mean and variance."""
        scale, offset, mean, variance = vectors
        factor = scale / np.sqrt(variance + np.float32(epsilon))
        return cls(factor, offset - mean * factor, activation)

    def apply(self, result: Any) -> Any:
        """Finish a result in its own memory, unless others may see that."""
        if not result.flags.writeable or result.base is not None:
            result = result.copy()
        if self.scale is not None:
            result *= self.scale
        result += self.shift
        return self.activate(result)

    def activate(self, result: Any) -> Any:
        """Do the last step alone, in the memory of a result that nobody else sees."""
        return result if self.activation is None else ACTIVATIONS[self.activation](result)

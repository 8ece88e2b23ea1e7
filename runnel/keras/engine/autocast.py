"""Variables of layers that compute in another float type than they store."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.convert import register_converter
from .call_context import context


class AutoCastVariable(tf.Variable):
    """A variable that a layer's call reads in the float type the layer computes in.

    >>> layer = tf.keras.layers.Dense(2, dtype="mixed_float16")
    >>> layer(tf.ones([1, 3])).dtype, layer.kernel.dtype
    (tf.float16, tf.float32)
    """

    def _as_tensor(self) -> tf.Tensor:
        tensor = super()._as_tensor()
        wanted = context.compute_dtype
        return tensor if wanted is None or wanted is tensor.dtype else tf.cast(tensor, wanted)

    def value(self) -> tf.Tensor:
        """A tensor with the current value."""
        return super().value() if context.compute_dtype is None else tf.identity(self._as_tensor())

    def __repr__(self) -> str:
        wanted = context.compute_dtype or self.dtype
        text = super().__repr__().replace("<tf.Variable", "<AutoCastVariable", 1)
        plain = f"dtype={self.dtype.name}"
        return text.replace(plain, f"{plain} dtype_to_cast_to={wanted.name}", 1)


def _convert(variable: AutoCastVariable, dtype: Any) -> tf.Tensor:
    tensor = variable._as_tensor()
    if dtype is not None and dtype is not tensor.dtype:
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for AutoCastVariable "
            f"which is casted to type {tensor.dtype.name!r}: {variable.name}"
        )
    return tensor


register_converter(AutoCastVariable, _convert)

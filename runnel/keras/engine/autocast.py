"""Variables of mixed-precision layers, cast to the compute dtype when read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import runnel as tf

from ...core.convert import register_converter
from ...core.tensor import numpy_text
from .call_context import context


def _as_stored(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of plain variables, run with the storage dtype."""

    @functools.wraps(method)
    def run(variable: AutoCastVariable, *args: Any, **kwargs: Any) -> Any:
        wanted, context.compute_dtype = context.compute_dtype, None
        try:
            return method(variable, *args, **kwargs)
        finally:
            context.compute_dtype = wanted

    return run


def _cast_and(method: Callable[..., Any]) -> Callable[..., Any]:
    """An update with a value in the compute dtype, cast to the storage dtype."""
    update = _as_stored(method)

    @functools.wraps(method)
    def run(variable: AutoCastVariable, value: Any, *args: Any, **kwargs: Any) -> Any:
        dtype = getattr(value, "dtype", None)
        if dtype is not None and dtype == context.compute_dtype:
            value = tf.cast(value, variable.true_dtype)
        return update(variable, value, *args, **kwargs)

    return run


class AutoCastVariable(tf.Variable):
    """A variable that is cast to the layer's compute dtype when read inside its call.

    >>> layer = tf.keras.layers.Dense(2, dtype="mixed_float16")
    >>> layer(tf.ones([1, 3])).dtype, layer.kernel.dtype
    (tf.float16, tf.float32)
    """

    @property
    def dtype(self) -> tf.DType:
        """The dtype of reads: inside a layer's call, the compute dtype."""
        return context.compute_dtype or self.true_dtype

    @dtype.setter
    def dtype(self, dtype: tf.DType) -> None:
        self.__dict__["dtype"] = dtype

    @property
    def true_dtype(self) -> Any:
        """The storage dtype."""
        return self.__dict__["dtype"]

    _replace = _as_stored(tf.Variable._replace)
    _plain_tensor = _as_stored(tf.Variable._as_tensor)
    __deepcopy__ = _as_stored(tf.Variable.__deepcopy__)
    numpy = _as_stored(tf.Variable.numpy)
    assign = _cast_and(tf.Variable.assign)
    assign_add = _cast_and(tf.Variable.assign_add)
    assign_sub = _cast_and(tf.Variable.assign_sub)

    def _updated(self, read_value: bool = True) -> Any:
        return self if read_value else None

    def _as_tensor(self) -> tf.Tensor:
        tensor = self._plain_tensor()
        wanted = context.compute_dtype
        return tensor if wanted is None or wanted is tensor.dtype else tf.cast(tensor, wanted)

    def value(self) -> tf.Tensor:
        """A tensor with the current value."""
        return super().value() if context.compute_dtype is None else tf.identity(self._as_tensor())

    def __repr__(self) -> str:
        plain = (
            f"shape={self.shape} dtype={self.true_dtype.name} dtype_to_cast_to={self.dtype.name}"
        )
        if not tf.executing_eagerly():
            return f"<AutoCastVariable '{self.name}' {plain}>"
        value = numpy_text(self._as_tensor(), is_repr=True)
        return f"<AutoCastVariable '{self.name}' {plain}, numpy={value}>"


def _convert(variable: AutoCastVariable, dtype: Any) -> tf.Tensor:
    tensor = variable._as_tensor()
    if dtype is not None and dtype is not tensor.dtype:
        raise ValueError(
            f"Incompatible type conversion requested to type {dtype.name!r} for AutoCastVariable "
            f"which is casted to type {tensor.dtype.name!r}: {variable.name}"
        )
    return tensor


register_converter(AutoCastVariable, _convert)

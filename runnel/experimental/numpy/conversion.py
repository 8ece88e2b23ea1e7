"""Conversion of values to tensors, in the dtypes that NumPy would choose."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ...core.convert import constant_value
from ...core.dtypes import DType
from ...core.tensor import Tensor
from .promotion import as_dtype, behaviour, default_float, lattice_type, leaves_of, shared_type

# np.float64 is a Python float too, so prefer_float32 applies to it.
_PYTHON = (list, tuple, bool, int, float, complex)


def to_array(value: Any, dtype: Any = None) -> Tensor:
    """A value as a tensor, of the given dtype or of the one that NumPy would choose."""
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, range):
        value = list(value)
    if not isinstance(value, Tensor):
        value = _from_python(value, dtype)
    return value if dtype is None or value.dtype is dtype else tf.cast(value, dtype)


def _from_python(value: Any, dtype: DType | None) -> Tensor:
    if not isinstance(value, _PYTHON):
        return tf.convert_to_tensor(value)
    leaves = list(leaves_of(value))
    if any(isinstance(leaf, str | bytes) or leaf is None for leaf in leaves):
        return tf.convert_to_tensor(value)
    chosen = dtype is None
    if dtype is None and not leaves:
        dtype = default_float()
    elif dtype is None:
        dtype = shared_type([value] if behaviour.is_lattice else value)
    if any(tf.is_tensor(leaf) for leaf in leaves):
        return tf.convert_to_tensor(_cast_leaves(value, dtype))
    try:
        array = np.array(value)
    except ValueError:
        return tf.convert_to_tensor(value)  # the op explains what is wrong with the rows
    if chosen and dtype is tf.int32 and np.any(array.astype(np.int32) != array):
        raise OverflowError(f"{value!r} does not fit int32. Give a dtype: dtype=tf.int64.")
    return tf.constant(array.astype(dtype.numpy))


def _cast_leaves(value: Any, dtype: DType) -> Any:
    if isinstance(value, list | tuple):
        return [_cast_leaves(each, dtype) for each in value]
    return to_array(value, dtype)


def promoted(*values: Any) -> list[Tensor]:
    """Values as tensors of their common dtype."""
    dtype = shared_type(*values)
    return [to_array(value, dtype) for value in values]


def blended(*values: Any) -> list[Tensor]:
    """Values as tensors of their common dtype, where numbers count as elements of lists do."""
    dtype = shared_type(*[value if isinstance(value, Tensor) else [value] for value in values])
    return [to_array(value, dtype) for value in values]


def joined(*values: Any) -> list[Tensor]:
    """Values to be put together, as tensors of one dtype.

    Unlike the functions that compute, those that only join follow the lattice where it holds.
    """
    if not behaviour.is_lattice:
        return blended(*values)
    dtype = lattice_type(list(leaves_of(list(values))))
    return [to_array(value, dtype) for value in values]


def inexact(value: Any) -> Tensor:
    """A value as a float16, float32, float64 or complex array; others become the default float."""
    array = to_array(value)
    if array.dtype.is_complex or array.dtype in (tf.float16, tf.float32, tf.float64):
        return array
    return tf.cast(array, default_float())


def known(value: Any, what: str) -> Any:
    """The Python value of an argument that must be static."""
    if isinstance(value, Tensor):
        found = constant_value(value)
        if found is None:
            raise ValueError(f"`{what}` must be known when the function is traced, got {value}.")
        return np.asarray(found).tolist()
    return value


def sizes_of(shape: Any) -> Any:
    """A shape given as a number, a sequence, a TensorShape or a tensor, for TensorFlow's ops."""
    if isinstance(shape, Tensor):
        return tf.reshape(shape, [-1]) if shape.shape.rank == 0 else shape
    if isinstance(shape, tf.TensorShape):
        return shape
    return [shape] if isinstance(shape, int | np.integer) else shape


def rank_of(array: Tensor, function: str) -> int:
    """The static rank, which NumPy's functions need."""
    rank = array.shape.rank
    if rank is None:
        raise ValueError(
            f"tf.experimental.numpy.{function} needs an array of known rank, got {array}. Use "
            "tf.ensure_shape or set_shape to say how many dimensions it has."
        )
    return rank

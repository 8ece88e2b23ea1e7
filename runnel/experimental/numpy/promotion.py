"""Dtype promotion: the dtype of a value and the common dtype of several, by the current mode.

"off" and "legacy" follow NumPy: a Python number is weak next to an array, and alone it is int64 or
float64 (float32 where 32 bits are preferred). "all" and "safe" follow a lattice in which an integer
never widens a float; "safe" refuses what may lose precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import runnel as tf

from ...core.dtypes import DType, from_numpy

_WEAK = {int: tf.int32, float: tf.float32, complex: tf.complex128}
_FLOATS = (tf.float16, tf.bfloat16, tf.float32, tf.float64)
_COMPLEX_OF = {
    tf.float16: tf.complex64,
    tf.bfloat16: tf.complex64,
    tf.float32: tf.complex64,
    tf.float64: tf.complex128,
}
# The integers that a float represents exactly, by bytes; 64-bit integers fit none.
_EXACT_BYTES = {tf.float16: 1, tf.bfloat16: 1, tf.float32: 2, tf.float64: 4}
_EXACT_BYTES |= {tf.complex64: 2, tf.complex128: 4}


class Behaviour:
    """The global mode, set by `experimental_enable_numpy_behavior`."""

    prefer_float32 = False
    mode = "off"

    @property
    def is_lattice(self) -> bool:
        return self.mode in ("all", "safe")


behaviour = Behaviour()


def default_float() -> DType:
    """The dtype of functions of integers with non-integer results."""
    return tf.float32 if behaviour.is_lattice else tf.float64


def default_integer() -> DType:
    """The minimum dtype in which integers are summed."""
    return tf.int32 if behaviour.is_lattice else tf.int64


def as_dtype(dtype: Any) -> DType:
    """A dtype given as TensorFlow's, NumPy's, a name, or Python's int, float, complex or bool."""
    if isinstance(dtype, DType):
        return dtype
    if dtype in (bool, int, float, complex):
        if behaviour.is_lattice:
            return _WEAK.get(dtype, tf.bool)
        return from_numpy(np.dtype(dtype))
    return tf.as_dtype(dtype)


def leaves_of(value: Any) -> Iterator[Any]:
    """The values in nested lists and tuples."""
    if isinstance(value, list | tuple) and not isinstance(value, tf.TensorShape):
        for each in value:
            yield from leaves_of(each)
    else:
        yield value


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The common dtype of arrays, numbers and dtypes.

    >>> tf.experimental.numpy.result_type(1, tf.float32)
    tf.float32
    >>> tf.experimental.numpy.result_type(tf.int32, tf.float32)
    tf.float64
    """
    return shared_type(*arrays_and_dtypes, [])


def shared_type(*values: Any) -> DType:
    """The common dtype of the arguments of a function.

    The lattice applies among lists only: with numbers and tensors, functions follow NumPy in every
    mode, and only the operators of tensors do not.
    """
    leaves = list(leaves_of(list(values)))
    listed = any(isinstance(value, list | tuple) for value in values)
    if behaviour.is_lattice and listed:
        return lattice_type(leaves)
    kinds = [_numpy_kind(leaf) for leaf in leaves]
    if not kinds:
        return tf.float64
    return from_numpy(np.result_type(*kinds)) if kinds != [str] else tf.string


def _numpy_kind(leaf: Any) -> Any:
    """The argument of np.result_type for a value: a dtype, or a Python number, which is weak."""
    if isinstance(leaf, float | complex) and behaviour.prefer_float32:
        return np.dtype(np.float32 if isinstance(leaf, float) else np.complex64)
    if isinstance(leaf, np.generic | np.ndarray):
        return leaf.dtype
    if isinstance(leaf, bool):
        return np.dtype(bool)
    if isinstance(leaf, int):
        return 0 if -(2**63) <= leaf < 2**63 else np.asarray(leaf).dtype
    if isinstance(leaf, float | complex):
        return type(leaf)(0)
    if isinstance(leaf, DType):
        return leaf.numpy
    dtype = getattr(leaf, "dtype", None)
    if isinstance(dtype, DType):
        return dtype.numpy
    return leaf


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype (NumPy's) to which both can be cast safely.

    >>> tf.experimental.numpy.promote_types(tf.int32, tf.float32)
    dtype('float64')
    """
    return np.promote_types(_numpy_dtype(type1), _numpy_dtype(type2))


def _numpy_dtype(dtype: Any) -> Any:
    return np.dtype(dtype.as_numpy_dtype if isinstance(dtype, DType) else dtype)


def lattice_type(values: list[Any]) -> DType:
    """The common dtype of values in the lattice; Python numbers are weak."""
    strong = [_dtype_of(value) for value in values if not _is_weak(value)]
    weak = [_weak_class(value) for value in values if _is_weak(value)]
    result: DType | None = None
    for dtype in strong:
        result = dtype if result is None else _join(result, dtype)
    if weak:
        widest = max(weak, key=[int, float, complex].index)
        result = _WEAK[widest] if result is None else _join_weak(result, widest)
    if result is None:
        return tf.float32
    _require_room(values, result)
    # Safe is what one of the operands has already, if it keeps every integer of the others.
    given = {*strong, *(_WEAK[kind] for kind in weak)}
    exact = all(_keeps_integers(result, dtype) for dtype in strong)
    if behaviour.mode == "safe" and not (result in given and exact):
        raise TypeError(
            f"In promotion mode SAFE, {_described(values)} have no common dtype that keeps their "
            f"values: {result.name} is another one or could lose precision. Cast one of them "
            'with tf.cast, or use dtype_conversion_mode="all".'
        )
    return result


def _require_room(values: list[Any], result: DType) -> None:
    """OverflowError where a Python integer fits neither int32, which it is, nor the result."""
    if not result.is_integer:
        return
    for value in values:
        if not _is_weak(value) or not isinstance(value, int) or -(2**31) <= value < 2**31:
            continue
        if not result.min <= value <= result.max:
            raise OverflowError(
                f"Python int {value} too large to convert to np.int32, which Python's integers "
                f"are in this dtype_conversion_mode, and to {result.name}, the dtype of the "
                "result. Use tf.cast(x, tf.int64) on the other operand."
            )


def _is_weak(value: Any) -> bool:
    return isinstance(value, int | float | complex) and not isinstance(value, bool | np.generic)


def _weak_class(value: Any) -> type:
    return next(kind for kind in (int, float, complex) if isinstance(value, kind))


def _dtype_of(value: Any) -> DType:
    if isinstance(value, DType):
        return value
    if isinstance(value, bool):
        return tf.bool
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return tf.string if isinstance(value, str | bytes) else as_dtype(value)
    return dtype if isinstance(dtype, DType) else from_numpy(dtype)


def _join(x: DType, y: DType) -> DType:
    if x is y or y is tf.bool:
        return x
    if x is tf.bool:
        return y
    if x.is_complex or y.is_complex:
        parts = [z.real_dtype if z.is_complex else z for z in (x, y)]
        return _COMPLEX_OF[_join(*parts)]
    if x.is_floating and y.is_floating:
        if {x, y} == {tf.float16, tf.bfloat16}:
            return tf.float32
        return max(x, y, key=_FLOATS.index)
    if x.is_floating or y.is_floating:
        return x if x.is_floating else y
    return from_numpy(np.promote_types(x.numpy, y.numpy))


def _join_weak(dtype: DType, kind: type) -> DType:
    if dtype is tf.bool or kind is int:
        return _WEAK[kind] if dtype is tf.bool else dtype
    if kind is float:
        return tf.float64 if dtype.is_integer else dtype
    return tf.complex128 if dtype.is_integer else _COMPLEX_OF.get(dtype, dtype)


def _keeps_integers(result: DType, dtype: DType) -> bool:
    if not dtype.is_integer or result.is_integer:
        return True
    return dtype.size <= _EXACT_BYTES.get(result, 8)


def _described(values: list[Any]) -> str:
    return " and ".join(
        f"Python's {_weak_class(value).__name__}" if _is_weak(value) else _dtype_of(value).name
        for value in values
    )

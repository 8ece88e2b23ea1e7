"""Constants, dtypes and predicates on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from .conversion import to_array
from .promotion import as_dtype

e = np.e
pi = np.pi
inf = np.inf
newaxis = None

ndarray = Tensor

bool_ = np.bool_
complex128 = np.complex128
complex64 = np.complex64
complex_ = np.complex128
float16 = np.float16
float32 = np.float32
float64 = np.float64
float_ = np.float64
iinfo = np.iinfo
inexact = np.inexact
int16 = np.int16
int32 = np.int32
int64 = np.int64
int8 = np.int8
int_ = np.int64
object_ = np.object_
string_ = np.bytes_
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
uint8 = np.uint8
unicode_ = np.str_
issubdtype = np.issubdtype


def finfo(dtype: Any) -> Any:
    """The limits of a floating-point dtype, as NumPy's finfo.

    >>> float(tf.experimental.numpy.finfo(tf.float16).max)
    65504.0
    """
    return np.finfo(as_dtype(dtype).as_numpy_dtype)


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype of a value is complex."""
    return to_array(x).dtype.is_complex


def isrealobj(x: Any) -> bool:
    """Whether the dtype of a value is not complex."""
    return not iscomplexobj(x)


def isscalar(num: Any) -> bool:
    """Whether a value is a number, a string or an array of rank 0.

    >>> tf.experimental.numpy.isscalar(tf.constant(1))
    True
    """
    if isinstance(num, Tensor):
        return num.shape.rank == 0
    return bool(np.isscalar(num))

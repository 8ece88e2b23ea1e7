"""Conversion between dtypes."""

from __future__ import annotations

import numpy as np

from ...core import dtypes, errors
from ...core.convert import convert_to_tensor
from ...core.dtypes import COMPLEX, FLOATING, NUMERIC, as_dtype
from ...core.indexed_slices import IndexedSlices
from ...core.logger import get_logger
from ...core.op import execute, op, type_text
from ...core.shape_rules import UNKNOWN, unchanged
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.variable import Variable
from ...runtime.half_precision import rounded_to_half
from .complex import complex, imag, real

_DIFFERENTIABLE = FLOATING | COMPLEX
_HAS_VALUE = (Tensor, Variable)
_PLAIN = NUMERIC | dtypes.QUANTIZED_DTYPES
_WIDE_FLOATS = frozenset({dtypes.float32, dtypes.float64})


@op("Cast", "x: SrcT -> y: DstT", shape=unchanged)
def Cast(x, *, DstT, Truncate=False):
    kind = x.dtype.kind
    if DstT in _WIDE_FLOATS and kind in "iufb":
        # The fast path of most casts; NumPy scalars are fastest to make with their class.
        return x.astype(DstT.numpy) if type(x) is np.ndarray else DstT.numpy_type(x)
    if kind == "O" or DstT is dtypes.string:
        source = dtypes.from_numpy(x.dtype).name
        raise errors.UnimplementedError(
            None, None, f"Cast {source} to {DstT.name} is not supported: tf.strings converts text."
        )
    if kind == "c" and not DstT.is_complex:
        x = x.real
    elif DstT.is_integer and x.dtype.itemsize <= 2 and kind not in "iub":
        # Half precision is cast to integers through float32: NumPy's and ml_dtypes' direct casts
        # differ.
        x = x.astype(np.float32)
    return rounded_to_half(x, DstT.numpy)


@Cast.gradient
def _(op, grad):
    source = op.inputs[0].dtype
    if source in _DIFFERENTIABLE and grad.dtype in _DIFFERENTIABLE:
        return execute(Cast, (grad,), {"DstT": source})
    return None


def cast(x, dtype, name=None):
    """Cast to another dtype: floats to integers truncate, nonzero numbers to bool are True.

    >>> tf.cast([1.8, -2.2], tf.int32)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -2], dtype=int32)>
    """
    dtype = as_dtype(dtype)
    if isinstance(x, _HAS_VALUE) and x.dtype is dtype:
        return x
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, dtype), x.indices, x.dense_shape)
    x = convert_to_tensor(x)
    if x.dtype is dtype:
        return x
    if x.dtype.is_complex and dtype.is_floating:
        get_logger().warning(
            "You are casting an input of type %s to an incompatible dtype %s.  This will discard "
            "the imaginary part and may not be what you intended.",
            x.dtype.name,
            dtype.name,
        )
    return execute(Cast, (x,), {"DstT": dtype})


def saturate_cast(value, dtype, name=None):
    """Cast with saturation: values out of the dtype's range become its minimum or maximum.

    >>> tf.saturate_cast([-5.0, 7.0, 300.0], tf.uint8).numpy().tolist()
    [0, 7, 255]
    """
    value = convert_to_tensor(value)
    dtype = as_dtype(dtype)
    if value.dtype.is_complex:
        if dtype.is_complex:
            part = dtype.real_dtype
            return complex(saturate_cast(real(value), part), saturate_cast(imag(value), part))
        get_logger().warning("Casting complex to real discards imaginary part.")
        value = real(value)
    bounds, target = _range(value.dtype), _range(dtype.real_dtype)
    least = _limit(value.dtype, max(bounds[0], target[0]))
    greatest = _limit(value.dtype, min(bounds[1], target[1]))
    from .clipping import clip_by_value

    return cast(clip_by_value(value, least, greatest), dtype)


def _range(dtype):
    """The minimum and maximum of a dtype as Python numbers, which compare exactly."""
    least, greatest = dtype.min, dtype.max
    return (float(least), float(greatest)) if dtype.is_floating else (least, greatest)


def _limit(dtype, bound):
    """The bound in this dtype; where rounding would exceed it, the preceding number."""
    limit = dtype.numpy_type(float(bound) if dtype.is_floating else bound)
    if dtype.is_floating and abs(float(limit)) > abs(bound):
        limit = np.nextafter(limit, dtype.numpy_type(0))
    return limit


def _bitcast_shape(inputs, attrs):
    shape, old, new = inputs[0].shape, inputs[0].dtype.size, attrs["type"].size
    if shape.rank is None or old == new:
        return shape if old == new else UNKNOWN
    if old > new:
        return shape.concatenate([old // new])
    if not shape.rank or shape[-1] not in (None, new // old):
        raise ValueError(
            f"Cannot bitcast from {attrs['type'].name} to {inputs[0].dtype.name} of shape {shape}: "
            f"the last dimension must be {new // old}, the number of elements that make up one."
        )
    return TensorShape(shape[:-1])


@op("Bitcast", "input: T -> output: type", T=_PLAIN, shape=_bitcast_shape, gradient=None)
def Bitcast(input, *, type):
    array = np.ascontiguousarray(input).reshape(input.shape)
    old, new = array.dtype.itemsize, type.size
    if old > new:
        return array.reshape(*array.shape, 1).view(type.numpy)
    if old < new:
        if array.shape[-1:] != (new // old,):
            raise ValueError(f"Cannot bitcast from {old} to {new} bytes.")
        return array.view(type.numpy)[..., 0]
    return array.view(type.numpy)


def bitcast(input, type, name=None):
    """Reinterpret the bytes as another dtype; a smaller one adds a last dimension.

    >>> tf.bitcast([1.0], tf.int32)
    <tf.Tensor: shape=(1,), dtype=int32, numpy=array([1065353216], dtype=int32)>
    """
    type = as_dtype(type)
    if type not in _PLAIN:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Value for attr 'type' of {type_text(type)} is not in the list of allowed values: "
            "floating, integer and complex dtypes. [Op:Bitcast]",
        )
    return execute(Bitcast, (convert_to_tensor(input),), {"type": type})

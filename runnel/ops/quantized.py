"""Quantized tensors: real numbers as integers of few bits and a range, and back."""

from __future__ import annotations

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import as_dtype, bfloat16, float32
from ..core.errors import UnimplementedError
from ..core.op import execute, op
from ..core.shape_rules import unchanged
from .array.arguments import require_type
from .quantization import QUANTIZED, ROUNDINGS, along_axis, choose, common_scale

_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def _integers(dtype):
    """The limits of a quantized dtype's integers."""
    return np.iinfo(dtype.numpy[0])


def _require_range(input, low, high, axis, mode):
    if axis >= 0 and mode == "MIN_FIRST":
        raise UnimplementedError(
            None, None, "MIN_FIRST mode is not implemented for a range by channel: axis must be -1."
        )
    if axis < 0:
        if low.size != 1 or high.size != 1:
            raise ValueError("min_range and max_range must be scalars unless an axis is given")
        return
    if axis >= input.ndim:
        raise ValueError(f"Axis must be less than input dimension({input.ndim}), got {axis}")
    for name, bound in (("min_range", low), ("max_range", high)):
        if bound.shape != (input.shape[axis],):
            raise ValueError(
                f"If axis is specified, {name} must be a 1-D tensor whose size matches the axis "
                f"dimension of the input: {input.shape[axis]}, got shape {list(bound.shape)}"
            )


def _quantized_shapes(inputs, attrs):
    value, low, _ = inputs
    return [value.shape, low.shape, low.shape]


@op(
    "QuantizeV2",
    "input: float32, min_range: float32, max_range: float32 -> "
    "output: T, output_min: float32, output_max: float32",
    shape=_quantized_shapes,
    gradient=None,
)
def QuantizeV2(
    input,
    min_range,
    max_range,
    *,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    narrow_range=False,
    axis=-1,
    ensure_minimum_range=0.01,
):
    choose("mode", mode, _MODES)
    choose("round_mode", round_mode, ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"))
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise ValueError(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )
    _require_range(input, min_range, max_range, axis, mode)
    if np.any(max_range < min_range):
        raise ValueError("input_max_range must be larger than input_min_range.")
    # Zero is in the range, and the range is not too small to divide by.
    low = np.minimum(np.float32(0), min_range)
    widest = np.maximum(np.float32(1), np.maximum(abs(min_range), abs(max_range)))
    high = np.maximum(low + widest * np.float32(ensure_minimum_range), max_range)
    high = np.maximum(np.float32(0), high)
    limits = _integers(T)
    least = np.float32(limits.min + bool(narrow_range))
    most = np.float32(limits.max)
    if mode == "SCALED":
        scale = common_scale(np.asarray(low), np.asarray(high), least, most)
        low, high = least / scale, most / scale
    start, end = (along_axis(each, axis, input.ndim) for each in (low, high))
    clamped = np.clip(input, start, end)
    if mode == "SCALED":
        levels = ROUNDINGS[round_mode](clamped * along_axis(scale, axis, input.ndim))
    elif mode == "MIN_FIRST":
        step = (end - start) / (float(limits.max) - limits.min)
        away = ROUNDINGS[round_mode]
        first = away(np.asarray(start / step, np.float64))
        levels = away(np.asarray(clamped / step, np.float64)) - first + limits.min
    else:
        span = np.float32(float(limits.max) - limits.min)
        levels = (clamped - start) * (span / (end - start))
        if limits.min < 0:
            levels = levels - (span + np.float32(1)) / 2
        levels = ROUNDINGS[round_mode](np.asarray(levels, np.float32))
    whole = np.clip(np.asarray(levels, np.float64), limits.min, limits.max)
    result = np.ascontiguousarray(whole.astype(limits.dtype)).reshape(input.shape)
    bounds = [np.asarray(each, np.float32).reshape(min_range.shape) for each in (low, high)]
    return result.view(T.numpy), *bounds


@op(
    "Dequantize",
    "input: T, min_range: float32, max_range: float32 -> output: dtype",
    T=QUANTIZED,
    shape=unchanged,
    gradient=None,
)
def Dequantize(
    input, min_range, max_range, *, mode="MIN_COMBINED", narrow_range=False, axis=-1, dtype=float32
):
    choose("mode", mode, _MODES)
    _require_range(input, min_range, max_range, axis, mode)
    input = np.asarray(input)
    levels = input.view(input.dtype[0]).astype(np.float64)
    limits = np.iinfo(input.dtype[0])
    low, high = (
        np.asarray(along_axis(each, axis, input.ndim), np.float64)
        for each in (min_range, max_range)
    )
    step = (high - low) / (float(limits.max) - limits.min)
    if mode == "SCALED":
        step = high / limits.max
        if limits.min < 0:
            step = np.maximum(low / (limits.min + bool(narrow_range)), step)
        values = levels * step
    elif mode == "MIN_FIRST":
        # The same levels as in quantizing: zero is one of them.
        first = ROUNDINGS["HALF_AWAY_FROM_ZERO"](np.asarray(low / step))
        values = (levels - limits.min + first) * step
    else:
        values = (levels - limits.min) * step + low
    return values.astype(np.float32).astype(dtype.numpy).reshape(input.shape)


def quantize(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    name=None,
    narrow_range=False,
    axis=None,
    ensure_minimum_range=0.01,
):
    """Real numbers as integers of a quantized dtype: them, and the range that they stand for.

    >>> q, low, high = tf.quantization.quantize([-1.0, 0.0, 1.0], -1.0, 1.0, tf.quint8)
    >>> tf.cast(q, tf.int32).numpy().tolist()
    [0, 128, 255]
    """
    dtype = as_dtype(T)
    require_type("QuantizeV2", "T", dtype, QUANTIZED)
    attrs = {
        "T": dtype,
        "mode": mode,
        "round_mode": round_mode,
        "narrow_range": narrow_range,
        "axis": -1 if axis is None else axis,
        "ensure_minimum_range": ensure_minimum_range,
    }
    values = tuple([convert_to_tensor(each, float32) for each in (input, min_range, max_range)])
    return execute(QuantizeV2, values, attrs)


def dequantize(
    input,
    min_range,
    max_range,
    mode="MIN_COMBINED",
    name=None,
    axis=None,
    narrow_range=False,
    dtype=float32,
):
    """The real numbers for which quantized ones stand.

    >>> q, low, high = tf.quantization.quantize([-1.0, 1.0], -1.0, 1.0, tf.quint8)
    >>> tf.quantization.dequantize(q, low, high).numpy()
    array([-1.,  1.], dtype=float32)
    """
    dtype = as_dtype(dtype)
    require_type("Dequantize", "dtype", dtype, {bfloat16, float32})
    attrs = {
        "mode": mode,
        "narrow_range": narrow_range,
        "axis": -1 if axis is None else axis,
        "dtype": dtype,
    }
    bounds = [convert_to_tensor(each, float32) for each in (min_range, max_range)]
    return execute(Dequantize, (convert_to_tensor(input), *bounds), attrs)

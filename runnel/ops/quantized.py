"""Quantized tensors: real numbers as integers of few bits with a range, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import as_dtype, bfloat16, float32, int32
from ..core.errors import InvalidArgumentError, UnimplementedError
from ..core.op import execute, op
from ..core.shape_rules import SCALAR, unchanged
from .array import joining
from .array.arguments import require_type
from .quantization import QUANTIZED, ROUNDINGS, along_axis, choose, common_scale

_AWAY = ROUNDINGS["HALF_AWAY_FROM_ZERO"]
_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")


def _integers(dtype):
    """The limits of a quantized dtype's integers."""
    return np.iinfo(dtype.numpy)


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
    # The range includes zero, and is not too small to divide by.
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
        # Levels per unit, in float32: the rounding to a level depends on the last bit.
        density = np.float32(float(limits.max) - limits.min) / (end - start)
        away = ROUNDINGS[round_mode]
        first = away(np.asarray(start * density, np.float64))
        levels = away(np.asarray(clamped * density, np.float64)) - first + limits.min
    else:
        span = np.float32(float(limits.max) - limits.min)
        levels = (clamped - start) * (span / (end - start))
        if limits.min < 0:
            levels = levels - (span + np.float32(1)) / 2
        levels = ROUNDINGS[round_mode](np.asarray(levels, np.float32))
    whole = np.clip(np.asarray(levels, np.float64), limits.min, limits.max)
    result = np.ascontiguousarray(whole.astype(limits.dtype)).reshape(input.shape)
    bounds = [np.asarray(each, np.float32).reshape(min_range.shape) for each in (low, high)]
    return result, *bounds


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
    levels = input.astype(np.float64)
    limits = np.iinfo(input.dtype)
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
        # Zero is a level; its index is the quotient in float32, rounded.
        quotient = np.asarray(low, np.float32) / np.asarray(step, np.float32)
        first = ROUNDINGS["HALF_AWAY_FROM_ZERO"](np.asarray(quotient, np.float64))
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
    """Quantize real numbers: the integers, and the range that they represent.

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
    return _Quantized(*execute(QuantizeV2, values, attrs))


class _Quantized(NamedTuple):
    """Quantized integers, and the range of real numbers that they represent."""

    output: Any
    output_min: Any
    output_max: Any


# Results are a named tuple with the op's name.
_Quantized.__name__ = "QuantizeV2"


class _Concatenated(NamedTuple):
    """Quantized integers, and the range of real numbers that they represent."""

    output: Any
    output_min: Any
    output_max: Any


_Concatenated.__name__ = "QuantizedConcat"


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
    """The real numbers that quantized ones represent.

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


def _concatenated_shapes(inputs, attrs):
    axis, values, mins, maxes = inputs
    for name, bounds in (("input_mins", mins), ("input_maxes", maxes)):
        for bound in bounds:
            if bound.shape.num_elements() not in (None, 1):
                raise ValueError(f"{name} must be scalars, but one has the shape {bound.shape}")
    place = constant_value(axis)
    if place is not None and place.item() < 0:
        raise ValueError(f"concat_dim must not be negative, got {place.item()}")
    return [joining.ConcatV2.shape_rule([values, axis], {}), SCALAR, SCALAR]


@op(
    "QuantizedConcat",
    "concat_dim: int32, values: N*T, input_mins: N*float32, input_maxes: N*float32 -> "
    "output: T, output_min: float32, output_max: float32",
    T=QUANTIZED,
    shape=_concatenated_shapes,
    gradient=None,
)
def QuantizedConcat(concat_dim, values, input_mins, input_maxes):
    lows, highs = ([np.float32(each.item()) for each in list] for list in (input_mins, input_maxes))
    axis = concat_dim.item()
    if axis < 0:
        raise ValueError(f"concat_dim must not be negative, got {axis}")
    low, high = min(np.float32(0), *lows), max(highs)
    limits = np.iinfo(values[0].dtype)
    if limits.min < 0:
        # The range of signed integers is symmetric around zero.
        high = max(-low, abs(high))
        low = -high
    parts = [
        part
        if (start, end) == (low, high)
        else _levels(_numbers(part, start, end), low, high, limits)
        for part, start, end in zip(values, lows, highs, strict=True)
    ]
    return np.concatenate(parts, axis), np.float32(low), np.float32(high)


def _numbers(levels, low, high):
    """The real numbers that levels represent; zero is a level."""
    limits = np.iinfo(levels.dtype)
    step = (high - low) / np.float32(float(limits.max) - limits.min)
    places = levels.astype(np.float32) - np.float32(limits.min)
    return (places + _AWAY(np.asarray(low / step))) * step


def _levels(numbers, low, high, limits):
    """Quantize real numbers to levels."""
    # Multiplied by levels per unit: dividing by the step would round ties differently.
    density = np.float32(float(limits.max) - limits.min) / (high - low)
    first = _AWAY(np.asarray(low * density))
    levels = _AWAY(numbers * density).astype(np.float64) - first + limits.min
    return np.clip(levels, limits.min, limits.max).astype(limits.dtype)


def quantized_concat(concat_dim, values, input_mins, input_maxes, name=None):
    """Concatenate quantized tensors, requantized to a range that contains all of theirs.

    >>> q, low, high = tf.quantization.quantize([-1.0, 1.0], -1.0, 1.0, tf.quint8)
    >>> joined = tf.quantization.quantized_concat(0, [q, q], [low, -3.0], [high, 3.0])
    >>> joined.output.numpy().tolist(), float(joined.output_max)
    ([86, 171, 0, 255], 3.0)
    """
    lengths = {len(values), len(input_mins), len(input_maxes)}
    if len(lengths) > 1 or len(values) < 2:
        raise InvalidArgumentError(
            None,
            None,
            "values, input_mins and input_maxes must be lists of one length, 2 or more, but have "
            f"{len(values)}, {len(input_mins)} and {len(input_maxes)} items [Op:QuantizedConcat]",
        )
    return _Concatenated(
        *QuantizedConcat(
            convert_to_tensor(concat_dim, int32),
            [convert_to_tensor(each) for each in values],
            [convert_to_tensor(each, float32) for each in input_mins],
            [convert_to_tensor(each, float32) for each in input_maxes],
        )
    )

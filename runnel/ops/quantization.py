"""Quantization: quantized tensors, dequantization, and fake quantization of real numbers."""

from __future__ import annotations

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import (
    bfloat16,
    float16,
    float32,
    float64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
)
from ..core.op import execute, op
from ..core.shape_rules import SCALAR, unchanged
from .array import creation, selection
from .math import comparison

QUANTIZED = frozenset({qint8, quint8, qint16, quint16, qint32})


def choose(attr, value, allowed):
    """Reject an attribute value that is none of those allowed."""
    if value not in allowed:
        names = ", ".join(f'"{each}"' for each in allowed)
        raise ValueError(
            f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: {names}"
        )


# Fake quantization: real numbers rounded to the nearest of 2^num_bits levels, zero among them.


def _levels(low, high, num_bits, narrow_range):
    """The nudged range in which zero is a level, the step, and where the range is empty."""
    if not 2 <= num_bits <= 16:
        raise ValueError("num_bits must be between 2 and 16, inclusive")
    low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
    first, last = np.float32(1 if narrow_range else 0), np.float32(2**num_bits - 1)
    flat = (low == 0) & (high == 0)
    step = np.where(flat, np.float32(1), (high - low) / (last - first))
    exact = first - low / step
    zero = np.clip(np.floor(exact + np.float32(0.5)), first, last)
    return (first - zero) * step, (last - zero) * step, step, flat


def _snapped(inputs, low, high, num_bits, narrow_range):
    start, end, step, flat = _levels(low, high, num_bits, narrow_range)
    clamped = np.clip(inputs, start, end)
    inverse = np.float32(1) / step
    zero = np.floor(-start * inverse + np.float32(0.5))
    level = np.floor((clamped - start) * inverse - zero + np.float32(0.5))
    return np.where(flat, np.float32(0), level * step).astype(np.float32)


def _inside(inputs, low, high, num_bits, narrow_range):
    """Masks of inputs below, within and above the nudged range."""
    start, end, _, flat = _levels(low, high, num_bits, narrow_range)
    below, above = (inputs < start) & ~flat, (inputs > end) & ~flat
    return below, ~(below | above), above


def _require_order(low, high):
    if low >= high:
        raise ValueError(f"min has to be smaller than max, was: {low} >= {high}")


def _require_same(gradients, inputs):
    if gradients.shape != inputs.shape:
        raise ValueError(
            f"gradients and inputs must have the same shape, got {list(gradients.shape)} and "
            f"{list(inputs.shape)}"
        )


@op("FakeQuantWithMinMaxArgs", "inputs: float32 -> outputs: float32", shape=unchanged)
def FakeQuantWithMinMaxArgs(inputs, *, min=-6.0, max=6.0, num_bits=8, narrow_range=False):
    _require_order(min, max)
    return _snapped(inputs, min, max, num_bits, narrow_range)


@op(
    "FakeQuantWithMinMaxArgsGradient",
    "gradients: float32, inputs: float32 -> backprops: float32",
    shape=unchanged,
    gradient=None,
)
def FakeQuantWithMinMaxArgsGradient(
    gradients, inputs, *, min=-6.0, max=6.0, num_bits=8, narrow_range=False
):
    _require_order(min, max)
    _require_same(gradients, inputs)
    within = _inside(inputs, min, max, num_bits, narrow_range)[1]
    return np.where(within, gradients, np.float32(0))


@FakeQuantWithMinMaxArgs.gradient
def _(op, grad):
    return execute(FakeQuantWithMinMaxArgsGradient, (grad, op.inputs[0]), op.attrs)


def _with_scalar_range(inputs, attrs):
    for name, bound in zip(("min", "max"), inputs[-2:], strict=True):
        if bound.shape.rank not in (None, 0):
            raise ValueError(f"`{name}` must be rank 0 but is rank {bound.shape.rank}")
    return inputs[0].shape


def _require_scalars(low, high):
    for name, bound in (("min", low), ("max", high)):
        if bound.ndim:
            raise ValueError(f"`{name}` must be rank 0 but is rank {bound.ndim}")


@op(
    "FakeQuantWithMinMaxVars",
    "inputs: float32, min: float32, max: float32 -> outputs: float32",
    shape=_with_scalar_range,
)
def FakeQuantWithMinMaxVars(inputs, min, max, *, num_bits=8, narrow_range=False):
    _require_scalars(min, max)
    return _snapped(inputs, min, max, num_bits, narrow_range)


@op(
    "FakeQuantWithMinMaxVarsGradient",
    "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
    shape=lambda inputs, attrs: [_with_scalar_range(inputs, attrs), SCALAR, SCALAR],
    gradient=None,
)
def FakeQuantWithMinMaxVarsGradient(gradients, inputs, min, max, *, num_bits=8, narrow_range=False):
    _require_scalars(min, max)
    return _gradients(gradients, inputs, min, max, num_bits, narrow_range, None)


def _gradients(gradients, inputs, low, high, num_bits, narrow_range, axes):
    """Pass gradients within the range; its ends get the sums of the gradients beyond them."""
    _require_same(gradients, inputs)
    below, within, above = _inside(inputs, low, high, num_bits, narrow_range)
    parts = [np.where(each, gradients, np.float32(0)) for each in (within, below, above)]
    return parts[0], *[np.sum(part, axis=axes, dtype=np.float32) for part in parts[1:]]


@FakeQuantWithMinMaxVars.gradient
def _(op, grad):
    return tuple(execute(FakeQuantWithMinMaxVarsGradient, (grad, *op.inputs), op.attrs))


def _with_channel_range(inputs, attrs):
    value = inputs[-3]
    for name, bound in zip(("min", "max"), inputs[-2:], strict=True):
        if bound.shape.rank not in (None, 1):
            raise ValueError(f"`{name}` must be rank 1 but is rank {bound.shape.rank}")
        known = value.shape[-1] if value.shape.rank else None
        size = bound.shape[0] if bound.shape.rank else None
        if None not in (known, size) and known != size:
            raise ValueError(f"{name} has incorrect size, expected {known} was {size}")
    return value.shape


def _require_channels(inputs, low, high):
    for name, bound in (("min", low), ("max", high)):
        if not inputs.ndim or bound.shape != inputs.shape[-1:]:
            size = inputs.shape[-1] if inputs.ndim else 0
            raise ValueError(f"{name} has incorrect size, expected {size} was {bound.size}")


@op(
    "FakeQuantWithMinMaxVarsPerChannel",
    "inputs: float32, min: float32, max: float32 -> outputs: float32",
    shape=_with_channel_range,
)
def FakeQuantWithMinMaxVarsPerChannel(inputs, min, max, *, num_bits=8, narrow_range=False):
    _require_channels(inputs, min, max)
    return _snapped(inputs, min, max, num_bits, narrow_range)


@op(
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
    shape=lambda inputs, attrs: [
        _with_channel_range(inputs, attrs),
        inputs[2].shape,
        inputs[3].shape,
    ],
    gradient=None,
)
def FakeQuantWithMinMaxVarsPerChannelGradient(
    gradients, inputs, min, max, *, num_bits=8, narrow_range=False
):
    _require_channels(inputs, min, max)
    axes = tuple(range(inputs.ndim - 1))
    return _gradients(gradients, inputs, min, max, num_bits, narrow_range, axes)


@FakeQuantWithMinMaxVarsPerChannel.gradient
def _(op, grad):
    inputs = (grad, *op.inputs)
    return tuple(execute(FakeQuantWithMinMaxVarsPerChannelGradient, inputs, op.attrs))


def _floats(*values):
    return tuple([convert_to_tensor(value, float32) for value in values])


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """Round each number to the nearest of 2^num_bits levels between min and max.

    The range is nudged so that zero is a level. Gradients pass within the range.

    >>> tf.quantization.fake_quant_with_min_max_args([-9.0, 0.0, 1.0], num_bits=2).numpy()
    array([-8.,  0.,  0.], dtype=float32)
    """
    attrs = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    return execute(FakeQuantWithMinMaxArgs, _floats(inputs), attrs)


def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
):
    """The gradients where inputs are within the range, elsewhere zero."""
    attrs = {"min": min, "max": max, "num_bits": num_bits, "narrow_range": narrow_range}
    return execute(FakeQuantWithMinMaxArgsGradient, _floats(gradients, inputs), attrs)


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Like `fake_quant_with_min_max_args`, with a trainable range.

    Gradients of inputs beyond an end of the range go to that end.

    >>> tf.quantization.fake_quant_with_min_max_vars([0.2, 0.7, 5.0], 0.0, 1.0, num_bits=2).numpy()
    array([0.33333334, 0.6666667 , 1.        ], dtype=float32)
    """
    attrs = {"num_bits": num_bits, "narrow_range": narrow_range}
    return execute(FakeQuantWithMinMaxVars, _floats(inputs, min, max), attrs)


def fake_quant_with_min_max_vars_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of `fake_quant_with_min_max_vars` with respect to inputs, min and max."""
    attrs = {"num_bits": num_bits, "narrow_range": narrow_range}
    values = _floats(gradients, inputs, min, max)
    return execute(FakeQuantWithMinMaxVarsGradient, values, attrs)


def fake_quant_with_min_max_vars_per_channel(
    inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """Like `fake_quant_with_min_max_vars`, with a range per channel (the last axis)."""
    attrs = {"num_bits": num_bits, "narrow_range": narrow_range}
    return execute(FakeQuantWithMinMaxVarsPerChannel, _floats(inputs, min, max), attrs)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """The gradients of `fake_quant_with_min_max_vars_per_channel` for inputs, min and max."""
    attrs = {"num_bits": num_bits, "narrow_range": narrow_range}
    values = _floats(gradients, inputs, min, max)
    return execute(FakeQuantWithMinMaxVarsPerChannelGradient, values, attrs)


# Quantize and dequantize in one step: levels are multiples of a scale that fits the range.


def common_scale(low, high, lowest, highest):
    """The largest scale (levels per unit) that fits both ends; an end at zero is no limit."""
    limit = np.asarray(np.finfo(np.float32).max, low.dtype)
    from_low = np.where(low * lowest > 0, lowest / np.where(low == 0, 1, low), limit)
    from_high = np.where(high * highest > 0, highest / np.where(high == 0, 1, high), limit)
    return np.minimum(from_low, from_high).astype(low.dtype)


def along_axis(vector, axis, rank):
    """A value per index of an axis, shaped to broadcast with the tensor."""
    if not np.ndim(vector) or axis < 0:
        return vector
    return np.reshape(vector, [-1 if each == axis else 1 for each in range(rank)])


ROUNDINGS = {
    "HALF_TO_EVEN": np.rint,
    "HALF_UP": lambda x: np.floor(x + x.dtype.type(0.5)),
    "HALF_AWAY_FROM_ZERO": lambda x: np.copysign(np.floor(abs(x) + x.dtype.type(0.5)), x),
}


def _there_and_back(
    input,
    input_min,
    input_max,
    *,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    narrow_range=False,
    axis=-1,
):
    choose("round_mode", round_mode, ("HALF_TO_EVEN", "HALF_UP"))
    if not 1 <= num_bits <= 62:
        raise ValueError(f"num_bits is out of range: {num_bits} with signed_input {signed_input}")
    if axis >= input.ndim:
        raise ValueError(f"axis {axis} is out of range for an input of rank {input.ndim}")
    kind = input.dtype.type
    half = 2 ** (num_bits - 1)
    lowest, highest = (-half, half - 1) if signed_input else (0, 2 * half - 1)
    lowest, highest = kind(lowest + bool(narrow_range)), kind(highest)
    if range_given:
        low, high = input_min, input_max
        if np.any(low > high):
            raise ValueError(f"Invalid range: input_min {low} > input_max {high}")
    elif not input.size:
        return input
    else:
        others = tuple([each for each in range(input.ndim) if each != axis])
        others = others if axis >= 0 else None
        low, high = input.min(others), input.max(others)
    low, high = (np.asarray(along_axis(each, axis, input.ndim)) for each in (low, high))
    scale = common_scale(low, high, lowest, highest)
    if range_given:
        input = np.clip(input, lowest / scale, highest / scale)
    return (ROUNDINGS[round_mode](input * scale) / scale).astype(input.dtype)


_REAL = {bfloat16, float16, float32, float64}


_RANGED = "input: T, input_min: T, input_max: T -> output: T"
QuantizeAndDequantizeV2 = op(
    "QuantizeAndDequantizeV2", _RANGED, T=_REAL, shape=unchanged, kernel=_there_and_back
)
# Straight-through estimator: the gradient is that of the identity.
QuantizeAndDequantizeV2.gradient(lambda op, grad: (grad, None, None))


QuantizeAndDequantizeV4 = op(
    "QuantizeAndDequantizeV4", _RANGED, T=_REAL, shape=unchanged, kernel=_there_and_back
)


@QuantizeAndDequantizeV4.gradient
def _(op, grad):
    value, low, high = op.inputs
    within = comparison.logical_and(
        comparison.greater_equal(value, low), comparison.less_equal(value, high)
    )
    passed = selection.where(within, grad, creation.zeros_like(grad))
    return passed, creation.zeros_like(low), creation.zeros_like(high)


def _converted(input, input_min, input_max):
    value = convert_to_tensor(input)
    low, high = (convert_to_tensor(each, value.dtype) for each in (input_min, input_max))
    return value, low, high


def quantize_and_dequantize_v2(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """Quantize numbers to `num_bits` bits and dequantize them.

    The range is that of the input, or (`range_given=True`) between input_min and input_max.
    Gradients pass between input_min and input_max.

    >>> x = tf.constant([-1.0, 0.3, 1.0])
    >>> tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0, num_bits=3).numpy()
    array([-1.        ,  0.33333334,  1.        ], dtype=float32)
    """
    attrs = {
        "signed_input": signed_input, "num_bits": num_bits, "range_given": range_given,
        "round_mode": round_mode, "narrow_range": narrow_range,
        "axis": -1 if axis is None else axis,
    }  # fmt: skip
    return execute(QuantizeAndDequantizeV4, _converted(input, input_min, input_max), attrs)


def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """Like `quantize_and_dequantize_v2`, with the gradient of the identity."""
    attrs = {
        "signed_input": signed_input, "num_bits": num_bits, "range_given": range_given,
        "round_mode": round_mode, "narrow_range": narrow_range,
        "axis": -1 if axis is None else axis,
    }  # fmt: skip
    return execute(QuantizeAndDequantizeV2, _converted(input, input_min, input_max), attrs)

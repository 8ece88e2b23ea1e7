"""Adding a bias to every channel."""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import convert_to_tensor, operands
from ...core.dtypes import NUMERIC
from ...core.op import execute, op
from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape, unknown_shape
from ...runtime.engine_selection import accelerated
from ...runtime.half_precision import LARGE, is_half, rounded_to_half
from ..array import creation
from ..math.reduction_kernels import ones

_NHWC = {"data_format": "NHWC"}
_NCHW = {"data_format": "NCHW"}


def channel_axis(data_format, rank):
    """The axis of the channels: the last, or 1 for NCHW."""
    return 1 if data_format == "NCHW" else rank - 1


def _with_bias(inputs, attrs):
    value, bias = inputs
    sizes = bias.shape.rank
    if sizes not in (None, 1):
        raise ValueError(f"Biases must be 1D: {dimensions_text(bias.shape)}")
    rank = _rank_at_least_two(value)
    if rank is None:
        return value.shape
    axis = channel_axis(attrs["data_format"], rank)
    count = bias.shape[0] if sizes else None
    if count is not None and value.shape[axis] not in (None, count):
        raise ValueError(
            "Must provide as many biases as the channel dimension of the input tensor "
            f"(dimension {axis}): {dimensions_text(bias.shape)} vs. {dimensions_text(value.shape)}"
        )
    dims = value.shape.as_list()
    dims[axis] = count if dims[axis] is None else dims[axis]
    return TensorShape(dims)


def _rank_at_least_two(value):
    rank = value.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"Input tensor must be at least 2D: {dimensions_text(value.shape)}")
    return rank


@op("BiasAdd", "value: T, bias: T -> output: T", T=NUMERIC, shape=_with_bias, fresh=True)
def BiasAdd(value, bias, *, data_format="NHWC"):
    shape = value.shape
    rank = len(shape)
    if rank < 2 or bias.shape != (shape[channel_axis(data_format, rank)],):
        raise ValueError("The bias must be a vector with one element per channel.")
    if data_format == "NCHW":
        bias = bias.reshape(-1, *[1] * (rank - 2))
        return _sum_of_halves(value, bias) if is_half(value) else value + bias
    return _biased_halves(value, bias) if is_half(value) else _biased(value, bias)


@accelerated("bias_add", 131_072)
def _biased(value, bias):
    return value + bias


def _sum_of_halves(value, bias):
    if value.size < LARGE:
        return value + bias
    return rounded_to_half(value.astype(np.float32) + bias.astype(np.float32), value.dtype)


_biased_halves = accelerated("half_bias_add", 8192)(_sum_of_halves)


@BiasAdd.gradient
def _(op, grad):
    attrs = {"data_format": op.attrs["data_format"]}
    return grad, execute(BiasAddGrad, (grad,), attrs) if op.needs(1) else None


def _channels(inputs, attrs):
    value = inputs[0]
    rank = _rank_at_least_two(value)
    if rank is None:
        return unknown_shape(1)
    return TensorShape([value.shape[channel_axis(attrs["data_format"], rank)]])


@op("BiasAddGrad", "out_backprop: T -> output: T", T=NUMERIC, shape=_channels, fresh=True)
def BiasAddGrad(out_backprop, *, data_format="NHWC"):
    shape = out_backprop.shape
    if len(shape) < 2:
        raise ValueError("The input must have at least two dimensions.")
    if data_format == "NCHW":
        return channel_sum(out_backprop.reshape(*shape[:2], math.prod(shape[2:])), "nci->c")
    if len(shape) == 2 and out_backprop.size <= 16384 and out_backprop.dtype.char in "fd":
        return ones(shape[0], out_backprop.dtype.type).dot(out_backprop)
    return channel_sum(out_backprop.reshape(math.prod(shape[:-1]), shape[-1]), "nc->c")


def channel_sum(array, subscripts):
    """Reduce over all axes but the channels; einsum is several times faster than np.add.reduce."""
    if array.dtype.kind in "fc" and array.dtype.itemsize > 2:
        return np.einsum(subscripts, array)
    axes = tuple(i for i, letter in enumerate(subscripts[:-3]) if letter != "c")
    if array.dtype.kind in "iu":
        return np.add.reduce(array, axes, dtype=array.dtype)
    return rounded_to_half(np.einsum(subscripts, array.astype(np.float32)), array.dtype)


@BiasAddGrad.gradient
def _(op, grad):
    value = op.inputs[0]
    expanded = execute(BiasAdd, (creation.zeros_like(value), grad), op.attrs)
    return expanded


def bias_add(value, bias, data_format=None, name=None):
    """Add a bias vector with one element per channel.

    The channels are the last dimension, or the second where `data_format` begins with "NC".

    >>> tf.nn.bias_add([[1.0, 2.0], [3.0, 4.0]], [10.0, 20.0]).numpy().tolist()
    [[11.0, 22.0], [13.0, 24.0]]
    """
    attrs = _NHWC
    if data_format is not None:
        if data_format.startswith("NC"):
            attrs = _NCHW
        elif not (data_format.startswith("N") and data_format.endswith("C")):
            raise ValueError(
                "`data_format` must be of the form `N...C` or `NC...`. Received: "
                f"data_format={data_format}"
            )
    return execute(BiasAdd, operands(convert_to_tensor(value), bias), attrs)

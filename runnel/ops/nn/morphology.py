"""Grayscale dilation and erosion, and their gradients."""

import numpy as np

from ...core import errors
from ...core.convert import operands
from ...core.dtypes import REAL
from ...core.op import op
from ...core.shape_rules import dimensions_text, same_as_input
from ...core.shapes import TensorShape
from ..array.creation import ZerosLike
from ..math.elementwise import negative
from .convolution_shapes import check_choice, known_rank
from .pooling_kernels import lowest_value, select
from .pooling_shapes import check_shape
from .window_arguments import full_list, padding_name
from .windows import computing_dtype, inner_taps, place_window


def _place(input_shape, filter_shape, strides, rates, padding):
    """Check a dilation; return its axes."""
    check_choice("padding", padding, ("SAME", "VALID"))
    for name, values in (("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise ValueError(
                f"Length for attr '{name}' of {len(values)} must be 4, got {list(values)}."
            )
        if values[0] != 1 or values[3] != 1:
            raise errors.UnimplementedError(
                None, None, f"{name} are only supported across space, got {list(values)}."
            )
        if min(values) < 1:
            raise ValueError(f"{name} must be > 0, but got {list(values)}.")
    for name, shape, rank in (("input", input_shape, 4), ("filter", filter_shape, 3)):
        if len(shape) != rank:
            raise ValueError(
                f"{name} must be {rank}-dimensional: {dimensions_text(TensorShape(shape))}."
            )
    if None not in (input_shape[3], filter_shape[2]) and input_shape[3] != filter_shape[2]:
        raise ValueError(
            f"input and filter must have the same depth: {input_shape[3]} vs {filter_shape[2]}."
        )
    return place_window(
        tuple(input_shape[1:3]),
        tuple(filter_shape[:2]),
        tuple(strides[1:3]),
        tuple(rates[1:3]),
        padding,
    )


def _rule(inputs, attrs):
    input_shape = known_rank(inputs[0].shape, 4)
    filter_shape = known_rank(inputs[1].shape, 3)
    axes = _place(input_shape, filter_shape, attrs["strides"], attrs["rates"], attrs["padding"])
    depth = input_shape[3] if filter_shape[2] is None else filter_shape[2]
    return TensorShape([input_shape[0], *(axis.output for axis in axes), depth])


def _dilate(images, filters, axes):
    """The maximum of the sums under each window."""
    shape = (images.shape[0], *(axis.output for axis in axes), images.shape[3])
    best = np.full(shape, lowest_value(images.dtype), images.dtype)
    for tap in inner_taps(axes):
        part = best[tap.outputs]
        # NaN loses against any number.
        np.fmax(part, images[tap.inputs] + filters[tap.position], out=part)
    return best


def _winners(images, filters, axes):
    """Yield (tap, mask) where the tap is the first with the maximal sum of its window."""
    best = _dilate(images, filters, axes)
    free = best > lowest_value(images.dtype)
    for tap in inner_taps(axes):
        wins = images[tap.inputs] + filters[tap.position] == best[tap.outputs]
        wins &= free[tap.outputs]
        free[tap.outputs] ^= wins
        yield tap, wins


@op("Dilation2D", "input: T, filter: T -> output: T", T=REAL, shape=_rule)
def Dilation2D(input, filter, *, strides, rates, padding):
    return _dilate(input, filter, _place(input.shape, filter.shape, strides, rates, padding))


@Dilation2D.gradient
def _(op, grad):
    input, filter = op.inputs
    return (
        Dilation2DBackpropInput(input, filter, grad, **op.attrs) if op.needs(0) else None,
        Dilation2DBackpropFilter(input, filter, grad, **op.attrs) if op.needs(1) else None,
    )


def _given_parts(images, filters, gradients, axes):
    """Yield (tap, gradients), the gradients masked to the windows whose maximum is at the tap."""
    shape = (images.shape[0], *(axis.output for axis in axes), images.shape[3])
    check_shape("out_backprop", gradients.shape, shape)
    for tap, wins in _winners(images, filters, axes):
        yield tap, select(gradients[tap.outputs], wins)


@op(
    "Dilation2DBackpropInput",
    "input: T, filter: T, out_backprop: T -> in_backprop: T",
    T=REAL,
    shape=same_as_input(0),
)
def Dilation2DBackpropInput(input, filter, out_backprop, *, strides, rates, padding):
    axes = _place(input.shape, filter.shape, strides, rates, padding)
    result = np.zeros(input.shape, input.dtype)
    for tap, part in _given_parts(input, filter, out_backprop, axes):
        result[tap.inputs] += part
    return result


@op(
    "Dilation2DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> filter_backprop: T",
    T=REAL,
    shape=same_as_input(1),
)
def Dilation2DBackpropFilter(input, filter, out_backprop, *, strides, rates, padding):
    axes = _place(input.shape, filter.shape, strides, rates, padding)
    result = np.zeros(filter.shape, input.dtype)
    for tap, part in _given_parts(input, filter, out_backprop, axes):
        total = np.add.reduce(part, axis=(0, 1, 2), dtype=computing_dtype(part.dtype))
        result[tap.position] = total
    return result


@op(
    "Dilation2DTangent",
    "input: T, filter: T, input_tangent: T, filter_tangent: T -> output: T",
    T=REAL,
    shape=_rule,
)
def Dilation2DTangent(input, filter, input_tangent, filter_tangent, *, strides, rates, padding):
    """Forward mode: the sum of the input's and the filter's tangents at the argmax tap."""
    axes = _place(input.shape, filter.shape, strides, rates, padding)
    shape = (input.shape[0], *(axis.output for axis in axes), input.shape[3])
    result = np.zeros(shape, input.dtype)
    for tap, wins in _winners(input, filter, axes):
        sums = input_tangent[tap.inputs] + filter_tangent[tap.position]
        np.copyto(result[tap.outputs], sums, where=wins)
    return result


@Dilation2DBackpropInput.gradient
def _(op, grad):
    input, filter, _ = op.inputs
    tangent = Dilation2DTangent(input, filter, grad, ZerosLike(filter), **op.attrs)
    return ZerosLike(input), ZerosLike(filter), tangent


@Dilation2DBackpropFilter.gradient
def _(op, grad):
    input, filter, _ = op.inputs
    tangent = Dilation2DTangent(input, filter, ZerosLike(input), grad, **op.attrs)
    return ZerosLike(input), ZerosLike(filter), tangent


@Dilation2DTangent.gradient
def _(op, grad):
    input, filter, _, _ = op.inputs
    return (
        ZerosLike(input),
        ZerosLike(filter),
        Dilation2DBackpropInput(input, filter, grad, **op.attrs) if op.needs(2) else None,
        Dilation2DBackpropFilter(input, filter, grad, **op.attrs) if op.needs(3) else None,
    )


def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The maximum of image plus filter under each window.

        output[n, y, x, c] = max over i, j of
            input[n, strides * y + dilations * i, strides * x + dilations * j, c] + filters[i, j, c]

    >>> image, flat = [[[[1.0], [5.0], [2.0]]]], tf.zeros([1, 2, 1])
    >>> tf.nn.dilation2d(image, flat, [1] * 4, "VALID", "NHWC", [1] * 4).numpy().ravel()
    array([5., 5.], dtype=float32)
    """
    _check_format(data_format)
    input, filters = operands(input, filters)
    return Dilation2D(
        input,
        filters,
        strides=full_list(strides, "strides", "dilation2d"),
        rates=full_list(dilations, "rates", "dilation2d"),
        padding=padding_name(padding),
    )


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The minimum of image minus mirrored filter under each window.

    >>> image, flat = [[[[1.0], [5.0], [2.0]]]], tf.zeros([1, 2, 1])
    >>> tf.nn.erosion2d(image, flat, [1] * 4, "VALID", "NHWC", [1] * 4).numpy().ravel()
    array([1., 2.], dtype=float32)
    """
    _check_format(data_format)
    value, filters = operands(value, filters)
    mirrored = filters[::-1, ::-1]
    return negative(dilation2d(negative(value), mirrored, strides, padding, data_format, dilations))


def _check_format(data_format):
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )

"""Depthwise and separable convolutions, and their gradients."""

from ...core.convert import convert_to_tensor, operands
from ...core.op import op
from ..array.arguments import integers
from ..array.shaping import shape
from .convolution import CONVOLVED, conv2d
from .convolution_shapes import (
    check_output_gradient,
    convolution_rule,
    filter_gradient_rule,
    input_gradient_rule,
    output_depth,
    place_convolution,
    with_channels,
)
from .depthwise_kernels import (
    backprop_depthwise_filters,
    backprop_depthwise_images,
    convolve_depthwise,
)
from .window_arguments import (
    full_list,
    is_channels_first,
    padding_attrs,
    spatial_list,
)
from .windows import channels_first, to_channels_first, to_channels_last


@op(
    "DepthwiseConv2dNative",
    "input: T, filter: T -> output: T",
    T=CONVOLVED,
    shape=convolution_rule(4, depthwise=True),
    fresh=True,
    convolution="forward",
    epilogue="inside",
    heavy=True,
)
def DepthwiseConv2dNative(
    input,
    filter,
    finish=None,
    *,
    strides,
    padding,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    attrs = (strides, padding, explicit_paddings, data_format, dilations)
    axes = place_convolution(input.shape, filter.shape, 4, attrs, depthwise=True)
    if not channels_first(data_format):
        return convolve_depthwise(input, filter, axes, finish)
    output = to_channels_first(convolve_depthwise(to_channels_last(input), filter, axes))
    # The rest assumes channels last.
    return output if finish is None else finish.apply(output)


@DepthwiseConv2dNative.gradient
def _(op, grad):
    input, filter = op.inputs
    by_input = by_filter = None
    if op.needs(0):
        by_input = DepthwiseConv2dNativeBackpropInput(shape(input), filter, grad, **op.attrs)
    if op.needs(1):
        by_filter = DepthwiseConv2dNativeBackpropFilter(input, shape(filter), grad, **op.attrs)
    return by_input, by_filter


def _place_gradient(image_shape, filter_shape, gradients, attrs):
    """Check the upstream gradient of a convolution; return the convolution's axes."""
    axes = place_convolution(image_shape, filter_shape, 4, attrs, depthwise=True)
    space = [axis.output for axis in axes]
    depth = output_depth(filter_shape, depthwise=True)
    expected = with_channels(image_shape[0], space, depth, channels_first(attrs[3]))
    check_output_gradient(gradients.shape, expected, "The gradient of a depthwise convolution")
    return axes


@op(
    "DepthwiseConv2dNativeBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    T=CONVOLVED,
    shape=input_gradient_rule(4),
    fresh=True,
    convolution="input",
    heavy=True,
)
def DepthwiseConv2dNativeBackpropInput(
    input_sizes,
    filter,
    out_backprop,
    *,
    strides,
    padding,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    attrs = (strides, padding, explicit_paddings, data_format, dilations)
    sizes = tuple(input_sizes.tolist())
    axes = _place_gradient(sizes, filter.shape, out_backprop, attrs)
    if not channels_first(data_format):
        return backprop_depthwise_images(out_backprop, filter, sizes, axes)
    last = (sizes[0], *sizes[2:], sizes[1])
    return to_channels_first(
        backprop_depthwise_images(to_channels_last(out_backprop), filter, last, axes)
    )


@DepthwiseConv2dNativeBackpropInput.gradient
def _(op, grad):
    _, filter, out_backprop = op.inputs
    by_filter = by_output = None
    if op.needs(1):
        by_filter = DepthwiseConv2dNativeBackpropFilter(
            grad, shape(filter), out_backprop, **op.attrs
        )
    if op.needs(2):
        by_output = DepthwiseConv2dNative(grad, filter, **op.attrs)
    return None, by_filter, by_output


@op(
    "DepthwiseConv2dNativeBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    T=CONVOLVED,
    shape=filter_gradient_rule(4),
    convolution="filter",
    heavy=True,
)
def DepthwiseConv2dNativeBackpropFilter(
    input,
    filter_sizes,
    out_backprop,
    *,
    strides,
    padding,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    attrs = (strides, padding, explicit_paddings, data_format, dilations)
    sizes = tuple(filter_sizes.tolist())
    axes = _place_gradient(input.shape, sizes, out_backprop, attrs)
    if channels_first(data_format):
        input, out_backprop = to_channels_last(input), to_channels_last(out_backprop)
    return backprop_depthwise_filters(input, out_backprop, sizes, axes)


@DepthwiseConv2dNativeBackpropFilter.gradient
def _(op, grad):
    input, _, out_backprop = op.inputs
    by_input = by_output = None
    if op.needs(0):
        by_input = DepthwiseConv2dNativeBackpropInput(shape(input), grad, out_backprop, **op.attrs)
    if op.needs(2):
        by_output = DepthwiseConv2dNative(input, grad, **op.attrs)
    return by_input, None, by_output


def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """Convolve every channel with its own filters [height, width, depth, multiplier].

    output[n, y, x, c * multiplier + m] = sum over i, j of
        input[n, strides * y + i, strides * x + j, c] * filter[i, j, c, m]

    >>> image = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    >>> tf.nn.depthwise_conv2d(image, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel()
    array([12., 16.], dtype=float32)
    """
    input, filter = operands(input, filter)
    padding, explicit_paddings = padding_attrs(padding, 2)
    data_format = data_format or "NHWC"
    spread = spatial_list(dilations, 2, "dilations")
    return DepthwiseConv2dNative(
        input,
        filter,
        strides=full_list(strides, "strides", "depthwise_conv2d_native"),
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=(1, 1, *spread) if is_channels_first(data_format) else (1, *spread, 1),
    )


def depthwise_conv2d_backprop_input(
    input_sizes,
    filter,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `depthwise_conv2d` with respect to its input of shape `input_sizes`."""
    filter, out_backprop = operands(filter, out_backprop)
    padding, explicit_paddings = padding_attrs(padding, 2)
    return DepthwiseConv2dNativeBackpropInput(
        integers(input_sizes),
        filter,
        out_backprop,
        strides=full_list(strides, "strides", "depthwise_conv2d_native_backprop_input"),
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=full_list(dilations, "dilations", "depthwise_conv2d_native_backprop_input"),
    )


def depthwise_conv2d_backprop_filter(
    input,
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `depthwise_conv2d` with respect to its filter of shape `filter_sizes`."""
    input, out_backprop = operands(input, out_backprop)
    padding, explicit_paddings = padding_attrs(padding, 2)
    return DepthwiseConv2dNativeBackpropFilter(
        input,
        integers(filter_sizes),
        out_backprop,
        strides=full_list(strides, "strides", "depthwise_conv2d_native_backprop_filter"),
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=full_list(dilations, "dilations", "depthwise_conv2d_native_backprop_filter"),
    )


def separable_conv2d(
    input,
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    data_format=None,
    dilations=None,
    name=None,
):
    """A depthwise convolution followed by a pointwise one.

    The pointwise filter is [1, 1, depth * multiplier, count].

    >>> image, filters, mix = tf.ones([1, 3, 3, 2]), tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 5])
    >>> tf.nn.separable_conv2d(image, filters, mix, [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 5])
    """
    input = convert_to_tensor(input)
    pointwise_filter = convert_to_tensor(pointwise_filter, input.dtype)
    mixing = pointwise_filter.shape.with_rank(4)
    for size in mixing[:2]:
        if size not in (None, 1):
            raise ValueError(
                f"Dimensions {size} and 1 are not compatible: the pointwise filter must be "
                f"[1, 1, channels, count], got shape {mixing}."
            )
    each = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(each, pointwise_filter, 1, "VALID", data_format or "NHWC")

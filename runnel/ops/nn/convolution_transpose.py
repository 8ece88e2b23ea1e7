"""Transposed convolutions: gradients of convolutions with respect to the input, as functions."""

from ...core.convert import constant_value, convert_to_tensor, operands
from ...core.tensor import Tensor
from ..array.arguments import integers
from ..array.joining import concat
from ..array.shaping import expand_dims, shape, squeeze
from .convolution import (
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    Conv3DBackpropInputV2,
    sequences_channels_first,
    with_row,
)
from .window_arguments import (
    full_list,
    is_channels_first,
    padding_attrs,
    padding_name,
    window_list,
)


def _sizes(output_shape):
    """The sizes of an output as an int32 tensor; a tensor is returned unchanged."""
    if isinstance(output_shape, Tensor):
        return output_shape
    return integers(output_shape)


def conv1d_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NWC",
    dilations=None,
    name=None,
):
    """The transpose of `conv1d`: map its output to sequences of `output_shape`.

    The filters are [taps, output depth, input depth].

    >>> sequence, filters = [[[1.0], [2.0]]], [[[1.0]], [[10.0]]]
    >>> tf.nn.conv1d_transpose(sequence, filters, [1, 4, 1], 2).numpy().ravel()
    array([ 1., 10.,  2., 20.], dtype=float32)
    """
    input, filters = operands(input, filters)
    first = sequences_channels_first(data_format)
    strides = window_list(strides, 1, first, "strides")
    dilations = window_list(dilations, 1, first, "dilations")
    axis = 2 if first else 1
    sizes = _sizes(output_shape)
    result = Conv2DBackpropInput(
        concat([sizes[:axis], convert_to_tensor([1], sizes.dtype), sizes[axis:]], 0),
        expand_dims(filters, 0),
        expand_dims(input, axis),
        strides=with_row(strides, axis),
        padding=padding_name(padding),
        data_format="NCHW" if first else "NHWC",
        dilations=with_row(dilations, axis),
    )
    return squeeze(result, [axis])


def conv2d_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NHWC",
    dilations=None,
    name=None,
):
    """The transpose of `conv2d`: map its output to images of `output_shape`.

    The filters are [height, width, output depth, input depth].

    >>> tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 3]), tf.ones([2, 2, 4, 3]), [1, 4, 4, 4], 2).shape
    TensorShape([1, 4, 4, 4])
    """
    input, filters = operands(input, filters)
    data_format = data_format or "NHWC"
    first = is_channels_first(data_format)
    padding, explicit_paddings = padding_attrs(padding, 2)
    return Conv2DBackpropInput(
        _sizes(output_shape),
        filters,
        input,
        strides=window_list(strides, 2, first, "strides"),
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=window_list(dilations, 2, first, "dilations"),
    )


def conv3d_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NDHWC",
    dilations=None,
    name=None,
):
    """The transpose of `conv3d`: map its output to volumes of `output_shape`."""
    input, filters = operands(input, filters)
    data_format = data_format or "NDHWC"
    first = is_channels_first(data_format)
    return Conv3DBackpropInputV2(
        _sizes(output_shape),
        filters,
        input,
        strides=window_list(strides, 3, first, "strides"),
        padding=padding_name(padding),
        data_format=data_format,
        dilations=window_list(dilations, 3, first, "dilations"),
    )


def conv_transpose(
    input,
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format=None,
    dilations=None,
    name=None,
):
    """A transposed convolution over as many dimensions as `output_shape` has besides two.

    >>> tf.nn.conv_transpose(tf.ones([1, 2, 3]), tf.ones([2, 4, 3]), [1, 4, 4], 2).shape
    TensorShape([1, 4, 4])
    """
    sizes = _sizes(output_shape)
    length = sizes.shape[0] if sizes.shape.rank == 1 else None
    if length not in (3, 4, 5):
        raise ValueError(
            f"`output_shape` must be of length 3, 4 or 5. "
            f"Received: output_shape={output_shape} of length {length}."
        )
    function = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[length - 3]
    data_format = data_format or ("NWC", "NHWC", "NDHWC")[length - 3]
    return function(input, filters, sizes, strides, padding, data_format, dilations)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of `atrous_conv2d`: map its output to images of `output_shape`.

    >>> value, filters = tf.ones([1, 5, 5, 4]), tf.ones([3, 3, 2, 4])
    >>> tf.nn.atrous_conv2d_transpose(value, filters, [1, 9, 9, 2], 2, "VALID").shape
    TensorShape([1, 9, 9, 2])
    """
    value, filters = operands(value, filters)
    _check_channels("`value` channel count", value, 3, "`filters` input channel count", filters, 3)
    if rate < 1:
        raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
    sizes = _sizes(output_shape)
    if not sizes.shape.is_compatible_with([4]):
        raise ValueError(
            f"`output_shape` must have shape (4,). Received: output_shape={sizes.shape}"
        )
    known = constant_value(sizes)
    depth = filters.shape[2] if filters.shape.rank is not None else None
    if known is not None and depth is not None and known[3] != depth:
        raise ValueError(
            f"`output_shape` channel count must be compatible with `filters` output channel count. "
            f"Received: output_shape={known.tolist()} with channel count {known[3]} and "
            f"filters.shape={filters.shape} with output channel count {depth}."
        )
    return conv2d_transpose(
        value, filters, sizes, 1, padding_name(padding), dilations=[1, rate, rate, 1]
    )


def _check_channels(what, tensor, axis, other_what, other, other_axis):
    """Raise ValueError unless two dimensions are equal or unknown."""
    if tensor.shape.rank is None or other.shape.rank is None:
        return
    ours, theirs = tensor.shape[axis], other.shape[other_axis]
    if ours is not None and theirs is not None and ours != theirs:
        raise ValueError(
            f"{what} must be compatible with {other_what}. Received: {tensor.shape} with channel "
            f"count {ours} and {other.shape} with channel count {theirs}."
        )


def conv2d_backprop_input_v2(
    input,
    filter,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `conv2d` with respect to its input, of which only the shape is used."""
    filter, out_backprop = operands(filter, out_backprop)
    return Conv2DBackpropInput(
        shape(input),
        filter,
        out_backprop,
        strides=full_list(strides, "strides", "conv2d_backprop_input_v2"),
        padding=padding_name(padding),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=tuple(explicit_paddings),
        data_format=data_format,
        dilations=full_list(dilations, "dilations", "conv2d_backprop_input_v2"),
    )


def conv2d_backprop_filter_v2(
    input,
    filter,
    out_backprop,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of `conv2d` with respect to its filter, of which only the shape is used."""
    input, out_backprop = operands(input, out_backprop)
    return Conv2DBackpropFilter(
        input,
        shape(filter),
        out_backprop,
        strides=full_list(strides, "strides", "conv2d_backprop_filter_v2"),
        padding=padding_name(padding),
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=tuple(explicit_paddings),
        data_format=data_format,
        dilations=full_list(dilations, "dilations", "conv2d_backprop_filter_v2"),
    )

"""Convolutions in one, two and three dimensions, and their gradients."""

from ...core import errors
from ...core.convert import operands
from ...core.dtypes import bfloat16, float16, float32, float64, int32, int64
from ...core.op import op
from ..array.padding import pad
from ..array.shaping import expand_dims, shape, squeeze
from .convolution_kernels import convolve, convolve_backprop_filters, convolve_backprop_images
from .convolution_shapes import (
    FORMATS,
    check_output_gradient,
    convolution_rule,
    filter_gradient_rule,
    input_gradient_rule,
    place_convolution,
    with_channels,
)
from .window_arguments import (
    full_list,
    is_channels_first,
    over_batches,
    padding_attrs,
    padding_name,
    window_list,
)
from .windows import channels_first, to_channels_first, to_channels_last

CONVOLVED = {float16, bfloat16, float32, float64}


def _forward(images, filters, rank, *attrs, finish=None):
    axes = place_convolution(images.shape, filters.shape, rank, attrs)
    if not channels_first(attrs[3]):
        return convolve(images, filters, axes, finish)
    output = to_channels_first(convolve(to_channels_last(images), filters, axes))
    # The rest assumes channels last.
    return output if finish is None else finish.apply(output)


def _backprop_input(sizes, filters, gradients, rank, *attrs):
    first = channels_first(attrs[3])
    image_shape = tuple(sizes.tolist())
    if len(image_shape) == 2 and rank == 4:
        image_shape = with_channels(gradients.shape[0], image_shape, filters.shape[-2], first)
    if min(image_shape, default=0) < 0:
        raise ValueError(f"Sizes of the input must be >= 0, got {list(image_shape)}.")
    axes = place_convolution(image_shape, filters.shape, rank, attrs)
    space = [axis.output for axis in axes]
    expected = with_channels(image_shape[0], space, filters.shape[-1], first)
    check_output_gradient(gradients.shape, expected, "The gradient of a convolution by its input")
    if not first:
        return convolve_backprop_images(gradients, filters, image_shape, axes)
    last = (image_shape[0], *image_shape[2:], image_shape[1])
    return to_channels_first(
        convolve_backprop_images(to_channels_last(gradients), filters, last, axes)
    )


def _backprop_filter(images, sizes, gradients, rank, *attrs):
    first = channels_first(attrs[3])
    filter_shape = tuple(sizes.tolist())
    axes = place_convolution(images.shape, filter_shape, rank, attrs)
    space = [axis.output for axis in axes]
    expected = with_channels(images.shape[0], space, filter_shape[-1], first)
    check_output_gradient(gradients.shape, expected, "The gradient of a convolution by its filter")
    if first:
        images, gradients = to_channels_last(images), to_channels_last(gradients)
    return convolve_backprop_filters(images, gradients, filter_shape, axes)


@op(
    "Conv2D",
    "input: T, filter: T -> output: T",
    T=CONVOLVED | {int32},
    shape=convolution_rule(4),
    fresh=True,
    convolution="forward",
    epilogue="inside",
    heavy=True,
)
def Conv2D(
    input,
    filter,
    finish=None,
    *,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    return _forward(
        input, filter, 4, strides, padding, explicit_paddings, data_format, dilations,
        finish=finish,
    )  # fmt: skip


@Conv2D.gradient
def _(op, grad):
    input, filter = op.inputs
    return (
        Conv2DBackpropInput(shape(input), filter, grad, **op.attrs) if op.needs(0) else None,
        Conv2DBackpropFilter(input, shape(filter), grad, **op.attrs) if op.needs(1) else None,
    )


@op(
    "Conv2DBackpropInput",
    "input_sizes: int32, filter: T, out_backprop: T -> output: T",
    T=CONVOLVED | {int32},
    shape=input_gradient_rule(4),
    fresh=True,
    convolution="input",
    heavy=True,
)
def Conv2DBackpropInput(
    input_sizes,
    filter,
    out_backprop,
    *,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    return _backprop_input(
        input_sizes, filter, out_backprop, 4, strides, padding, explicit_paddings, data_format,
        dilations,
    )  # fmt: skip


@Conv2DBackpropInput.gradient
def _(op, grad):
    _, filter, out_backprop = op.inputs
    return (
        None,
        Conv2DBackpropFilter(grad, shape(filter), out_backprop, **op.attrs)
        if op.needs(1)
        else None,
        Conv2D(grad, filter, **op.attrs) if op.needs(2) else None,
    )


@op(
    "Conv2DBackpropFilter",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    T=CONVOLVED,
    shape=filter_gradient_rule(4),
    fresh=True,
    convolution="filter",
    heavy=True,
)
def Conv2DBackpropFilter(
    input,
    filter_sizes,
    out_backprop,
    *,
    strides,
    padding,
    use_cudnn_on_gpu=True,
    explicit_paddings=(),
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
):
    return _backprop_filter(
        input, filter_sizes, out_backprop, 4, strides, padding, explicit_paddings, data_format,
        dilations,
    )  # fmt: skip


@Conv2DBackpropFilter.gradient
def _(op, grad):
    input, _, out_backprop = op.inputs
    return (
        Conv2DBackpropInput(shape(input), grad, out_backprop, **op.attrs) if op.needs(0) else None,
        None,
        Conv2D(input, grad, **op.attrs) if op.needs(2) else None,
    )


@op(
    "Conv3D", "input: T, filter: T -> output: T", T=CONVOLVED, shape=convolution_rule(5), heavy=True
)
def Conv3D(input, filter, *, strides, padding, data_format="NDHWC", dilations=(1, 1, 1, 1, 1)):
    return _forward(input, filter, 5, strides, padding, (), data_format, dilations)


@Conv3D.gradient
def _(op, grad):
    input, filter = op.inputs
    return (
        Conv3DBackpropInputV2(shape(input), filter, grad, **op.attrs) if op.needs(0) else None,
        Conv3DBackpropFilterV2(input, shape(filter), grad, **op.attrs) if op.needs(1) else None,
    )


@op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    T=CONVOLVED,
    Tshape={int32, int64},
    shape=input_gradient_rule(5),
    heavy=True,
)
def Conv3DBackpropInputV2(
    input_sizes,
    filter,
    out_backprop,
    *,
    strides,
    padding,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
):
    return _backprop_input(
        input_sizes, filter, out_backprop, 5, strides, padding, (), data_format, dilations
    )


@Conv3DBackpropInputV2.gradient
def _(op, grad):
    _, filter, out_backprop = op.inputs
    return (
        None,
        Conv3DBackpropFilterV2(grad, shape(filter), out_backprop, **op.attrs)
        if op.needs(1)
        else None,
        Conv3D(grad, filter, **op.attrs) if op.needs(2) else None,
    )


@op(
    "Conv3DBackpropFilterV2",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    T=CONVOLVED,
    shape=filter_gradient_rule(5),
    heavy=True,
)
def Conv3DBackpropFilterV2(
    input,
    filter_sizes,
    out_backprop,
    *,
    strides,
    padding,
    data_format="NDHWC",
    dilations=(1, 1, 1, 1, 1),
):
    return _backprop_filter(
        input, filter_sizes, out_backprop, 5, strides, padding, (), data_format, dilations
    )


@Conv3DBackpropFilterV2.gradient
def _(op, grad):
    input, _, out_backprop = op.inputs
    return (
        Conv3DBackpropInputV2(shape(input), grad, out_backprop, **op.attrs)
        if op.needs(0)
        else None,
        None,
        Conv3D(input, grad, **op.attrs) if op.needs(2) else None,
    )


def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """Convolve sequences [..., width, depth] with filters [taps, depth, count].

    >>> tf.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]], 1, "VALID").numpy().ravel()
    array([-1., -2.], dtype=float32)
    """
    input, filters = operands(input, filters)
    first = sequences_channels_first(data_format)
    strides = window_list(stride, 1, first, "stride")
    spread = window_list(dilations, 1, first, "dilations")
    padding = padding_name(padding)
    axis = 2 if first else 1

    def convolve_rows(sequences):
        result = Conv2D(
            expand_dims(sequences, axis),
            expand_dims(filters, 0),
            strides=with_row(strides, axis),
            padding=padding,
            data_format="NCHW" if first else "NHWC",
            dilations=with_row(spread, axis),
        )
        return squeeze(result, [axis])

    return over_batches(convolve_rows, input, 3)


def sequences_channels_first(data_format):
    """Whether a data format of sequences is channels-first; ValueError if it is unknown."""
    if data_format in (None, "NWC", "NHWC"):
        return False
    if data_format in ("NCW", "NCHW"):
        return True
    raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")


def with_row(values, axis):
    """Insert the size 1 of the row dimension into a list of entries per dimension."""
    return (*values[:axis], 1, *values[axis:])


def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """Convolve images [..., height, width, depth] with filters [height, width, depth, count].

        output[n, y, x, f] = sum over i, j, c of
            input[n, strides * y + i, strides * x + j, c] * filters[i, j, c, f]

    It is a grouped convolution if the filters' depth is a divisor of the input's.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), 1, "VALID").numpy().ravel()
    array([ 8., 12., 20., 24.], dtype=float32)
    """
    input, filters = operands(input, filters)
    padding, explicit_paddings = padding_attrs(padding, 2)
    data_format = data_format or "NHWC"
    first = is_channels_first(data_format)
    attrs = {
        "strides": window_list(strides, 2, first, "strides"),
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "data_format": data_format,
        "dilations": window_list(dilations, 2, first, "dilations"),
    }
    return over_batches(lambda images: Conv2D(images, filters, **attrs), input, 4)


def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """Convolve volumes [..., depth, height, width, channels] with filters of the same order.

    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.nn.conv3d(volume, tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID").numpy().ravel()
    array([28.], dtype=float32)
    """
    input, filters = operands(input, filters)
    data_format = data_format or "NDHWC"
    first = is_channels_first(data_format)
    attrs = {
        "strides": full_list(strides, "strides", "conv3d"),
        "padding": padding_name(padding),
        "data_format": data_format,
        "dilations": window_list(dilations, 3, first, "dilations"),
    }
    return over_batches(lambda volumes: Conv3D(volumes, filters, **attrs), input, 5)


def convolution(
    input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None
):
    """Convolve over as many dimensions as the filters have besides their two channel dimensions.

    >>> tf.nn.convolution(tf.ones([1, 4, 1]), tf.ones([3, 1, 1])).numpy().ravel()
    array([3., 3.], dtype=float32)
    """
    input, filters = operands(input, filters)
    dimensions = _spatial_dimensions(input, filters)
    first = is_channels_first(data_format)
    strides = window_list(strides, dimensions, first, "strides")
    dilations = window_list(dilations, dimensions, first, "dilations")
    if any(rate != 1 for rate in dilations):
        check_dilated(strides, dilations, padding)
    function = (conv1d, conv2d, conv3d)[dimensions - 1]
    data_format = data_format or ("NWC", "NHWC", "NDHWC")[dimensions - 1]
    return function(input, filters, strides, padding_name(padding), data_format, dilations)


def _spatial_dimensions(input, filters):
    """Count the dimensions to convolve over; ValueError unless there are 1 to 3."""
    if filters.shape.rank is not None:
        dimensions = filters.shape.rank - 2
    elif input.shape.rank is not None:
        dimensions = input.shape.rank - 2
    else:
        raise ValueError(
            "The rank of `filters` or of `input` must be known to tell the number of dimensions "
            "to convolve over."
        )
    if not 1 <= dimensions <= 3:
        raise ValueError(
            f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={dimensions}."
        )
    return dimensions


def check_dilated(strides, dilations, padding):
    """Raise ValueError unless a dilated window has padding SAME or VALID and strides of 1."""
    if any(rate < 1 for rate in dilations):
        raise ValueError(
            f"all values of `dilation_rate` must be positive. Received: dilation_rate={dilations}"
        )
    if any(stride > 1 for stride in strides):
        raise ValueError(
            f"`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides} and dilation_rate={dilations}"
        )
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")


def conv(
    input,
    filter,
    strides,
    padding,
    explicit_paddings=(),
    data_format="CHANNELS_LAST",
    dilations=(),
    batch_dims=1,
    groups=1,
    name=None,
):
    """Convolve over two or three dimensions, with any number of batch dimensions before them.

    Strides, dilations and the flat list of explicit paddings have entries for one batch dimension,
    the spatial dimensions and the channels.

    >>> tf.conv(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 2, 2])
    """
    input, filter = operands(input, filter)
    first = data_format == "CHANNELS_FIRST"
    rank = len(strides)
    _check_conv(input, filter, rank, data_format, batch_dims, groups, first)
    attrs = {
        "strides": tuple(strides),
        "padding": padding_name(padding),
        "data_format": FORMATS[rank][first],
        "dilations": tuple(dilations) or (1,) * rank,
    }
    if rank == 4:
        attrs["explicit_paddings"] = tuple(explicit_paddings)
    elif padding == "EXPLICIT":
        pairs = [explicit_paddings[i : i + 2] for i in range(0, 2 * rank, 2)]
        input = pad(input, [[0, 0]] * (batch_dims - 1) + [list(pair) for pair in pairs])
        attrs["padding"] = "VALID"
    apply = Conv2D if rank == 4 else Conv3D
    if batch_dims == 0:
        return squeeze(apply(expand_dims(input, 0), filter, **attrs), [0])
    return over_batches(lambda images: apply(images, filter, **attrs), input, rank)


def _check_conv(input, filter, rank, data_format, batch_dims, groups, first):
    """Raise InvalidArgumentError where the arguments of `conv` are inconsistent."""
    problem = None
    dimensions = None if input.shape.rank is None else input.shape.rank - batch_dims - 1
    if data_format not in ("CHANNELS_FIRST", "CHANNELS_LAST"):
        problem = (
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed "
            f'values: "CHANNELS_FIRST", "CHANNELS_LAST"'
        )
    elif dimensions not in (None, 2, 3):
        problem = f"The input must have 2 or 3 spatial dimensions but got {dimensions}"
    elif rank not in (4, 5) or dimensions not in (None, rank - 2):
        problem = f"Sliding window strides field must specify {dimensions + 2} dimensions"
    elif input.shape.rank is not None and filter.shape.rank is not None:
        depth = input.shape[batch_dims if first else -1]
        expected = filter.shape[-2]
        if depth is not None and expected is not None and depth != expected * groups:
            problem = f"Input depth must be equal to filter depth: {depth} vs {expected}"
            if groups > 1:
                problem += f" in each of {groups} groups"
    if problem:
        raise errors.InvalidArgumentError(None, None, f"{problem} [Op:Conv]")


def atrous_conv2d(value, filters, rate, padding, name=None):
    """Convolve images with dilated filters, `rate` being the dilation.

    >>> tf.nn.atrous_conv2d(tf.ones([1, 5, 5, 1]), tf.ones([2, 2, 1, 1]), 2, "VALID").shape
    TensorShape([1, 3, 3, 1])
    """
    return convolution(value, filters, padding=padding, dilations=rate)

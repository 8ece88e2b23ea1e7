"""The public pooling functions."""

from typing import NamedTuple

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int64
from ...core.tensor import Tensor
from ..array.shaping import expand_dims, squeeze
from . import max_pooling
from .average_pooling import AvgPool, AvgPool3D
from .convolution import sequences_channels_first, with_row
from .max_pooling import MaxPool, MaxPool3D
from .space_batch import with_space_to_batch
from .window_arguments import (
    is_channels_first,
    padding_attrs,
    padding_name,
    spatial_list,
    window_list,
)


class MaxPoolWithArgmax(NamedTuple):
    """The maxima, and their flat indices."""

    output: Tensor
    argmax: Tensor


def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """Return the maximum of each window of sequences [batch, width, channels].

    >>> tf.nn.max_pool1d([[[1.0], [5.0], [2.0], [3.0]]], 2, 2, "VALID").numpy().ravel()
    array([5., 3.], dtype=float32)
    """
    padding, explicit_paddings = padding_attrs(padding, 1)
    first = sequences_channels_first(data_format)
    if explicit_paddings:
        axis = 4 if first else 2
        explicit_paddings = (*explicit_paddings[:axis], 0, 0, *explicit_paddings[axis:])
    return _pool_sequences(
        MaxPool, input, ksize, strides, first, padding=padding, explicit_paddings=explicit_paddings
    )


def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):
    """Return the mean of each window of sequences [batch, width, channels]; padding is not counted.

    >>> tf.nn.avg_pool1d([[[1.0], [5.0], [2.0]]], 2, 2, "SAME").numpy().ravel()
    array([3., 2.], dtype=float32)
    """
    first = sequences_channels_first(data_format)
    return _pool_sequences(AvgPool, input, ksize, strides, first, padding=padding_name(padding))


def _pool_sequences(apply, input, ksize, strides, first, **attrs):
    """Pool sequences as images of height 1."""
    axis = 2 if first else 1
    result = apply(
        expand_dims(convert_to_tensor(input), axis),
        ksize=with_row(window_list(ksize, 1, first, "ksize"), axis),
        strides=with_row(window_list(strides, 1, first, "strides"), axis),
        data_format="NCHW" if first else "NHWC",
        **attrs,
    )
    return squeeze(result, [axis])


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Return the maximum of each window of images [batch, height, width, channels].

    >>> tf.nn.max_pool2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "VALID").numpy().ravel()
    array([ 5.,  7., 13., 15.], dtype=float32)
    """
    padding, explicit_paddings = padding_attrs(padding, 2)
    data_format = data_format or "NHWC"
    first = is_channels_first(data_format)
    return MaxPool(
        convert_to_tensor(input),
        ksize=window_list(ksize, 2, first, "ksize"),
        strides=window_list(strides, 2, first, "strides"),
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )


def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """Return the mean of each window of images [batch, height, width, channels].

    Padding is not counted.

    >>> tf.nn.avg_pool2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, "VALID").numpy().ravel()
    array([ 2.5,  4.5, 10.5, 12.5], dtype=float32)
    """
    return _pool_volume(AvgPool, 2, input, ksize, strides, padding, data_format or "NHWC")


def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Return the maximum of each window of volumes [batch, depth, height, width, channels].

    >>> tf.nn.max_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().ravel()
    array([7.], dtype=float32)
    """
    return _pool_volume(MaxPool3D, 3, input, ksize, strides, padding, data_format or "NDHWC")


def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):
    """Return the mean of each window of volumes [batch, depth, height, width, channels].

    >>> tf.nn.avg_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID").numpy().ravel()
    array([3.5], dtype=float32)
    """
    return _pool_volume(AvgPool3D, 3, input, ksize, strides, padding, data_format or "NDHWC")


def _pool_volume(apply, dimensions, input, ksize, strides, padding, data_format):
    first = is_channels_first(data_format)
    return apply(
        convert_to_tensor(input),
        ksize=window_list(ksize, dimensions, first, "ksize"),
        strides=window_list(strides, dimensions, first, "strides"),
        padding=padding_name(padding),
        data_format=data_format,
    )


def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """Return the maximum of each window of an input with one, two or three spatial dimensions.

    >>> tf.nn.max_pool(tf.reshape(tf.range(4.0), [1, 4, 1]), 2, 2, "VALID").numpy().ravel()
    array([1., 3.], dtype=float32)
    """
    input = convert_to_tensor(input)
    function = (max_pool1d, max_pool2d, max_pool3d)[_dimensions(input, data_format) - 1]
    return function(input, ksize, strides, padding, data_format)


def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """Return the mean of each window of an input with one, two or three spatial dimensions.

    >>> tf.nn.avg_pool(tf.reshape(tf.range(4.0), [1, 4, 1]), 2, 2, "VALID").numpy().ravel()
    array([0.5, 2.5], dtype=float32)
    """
    input = convert_to_tensor(input)
    function = (avg_pool1d, avg_pool2d, avg_pool3d)[_dimensions(input, data_format) - 1]
    return function(input, ksize, strides, padding, data_format)


def _dimensions(input, data_format):
    """Count the spatial dimensions, by the data format if the rank is unknown."""
    rank = input.shape.rank
    if rank is None and data_format is not None:
        rank = len(data_format)
    if rank is None:
        rank = 4
    if rank not in (3, 4, 5):
        raise ValueError(
            f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank "
            f"{rank}."
        )
    return rank - 2


def pool(
    input,
    window_shape,
    pooling_type,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
):
    """Pool over as many dimensions as the window has; `pooling_type` is "MAX" or "AVG".

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.pool(image, [2, 2], "MAX", dilations=[2, 2]).numpy().ravel()
    array([8.], dtype=float32)
    """
    input = convert_to_tensor(input)
    dimensions = len(window_shape)
    if not 1 <= dimensions <= 3:
        raise ValueError(
            f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window_shape} of "
            f"length {dimensions}"
        )
    input.shape.with_rank(dimensions + 2)
    strides = spatial_list(strides, dimensions, "strides")
    dilations = spatial_list(dilations, dimensions, "dilations")
    _check_pool(window_shape, strides, dilations, padding)
    functions = {
        "MAX": (max_pool1d, max_pool2d, max_pool3d),
        "AVG": (avg_pool1d, avg_pool2d, avg_pool3d),
    }
    if pooling_type not in functions:
        raise ValueError(f"{dimensions}-D {pooling_type} pooling is not supported.")
    function = functions[pooling_type][dimensions - 1]

    def apply(images, _, padding):
        return function(images, window_shape, strides, padding, data_format)

    return with_space_to_batch(
        input, dilations, padding, apply, filter_shape=window_shape, data_format=data_format
    )


def _check_pool(window_shape, strides, dilations, padding):
    """Raise ValueError for an invalid combination of window, strides and dilations."""
    dilated = any(rate > 1 for rate in dilations)
    if dilated and any(stride > 1 for stride in strides):
        raise ValueError(
            f"`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides} and dilation_rate={dilations}"
        )
    if any(s > w for s, w in zip(strides, window_shape, strict=True)):
        raise ValueError(
            f"`strides` > `window_shape` not supported. Received: strides={strides} and "
            f"window_shape={window_shape}"
        )
    if dilated and padding == "SAME":
        raise ValueError(
            f"pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={dilations}"
        )


def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype=int64,
    include_batch_in_index=False,
    name=None,
):
    """The maximum of each window and its flat index (y * width + x) * channels + c.

    >>> image = [[[[1.0], [3.0]], [[2.0], [0.0]]]]
    >>> tf.nn.max_pool_with_argmax(image, 2, 2, "SAME").argmax.numpy().ravel()
    array([1])
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. "
            f"Received: data_format={data_format}"
        )
    output, argmax = max_pooling.MaxPoolWithArgmax(
        convert_to_tensor(input),
        ksize=window_list(ksize, 2, False, "ksize"),
        strides=window_list(strides, 2, False, "strides"),
        Targmax=as_dtype(output_dtype),
        padding=padding_name(padding),
        include_batch_in_index=bool(include_batch_in_index),
    )
    return MaxPoolWithArgmax(output, argmax)

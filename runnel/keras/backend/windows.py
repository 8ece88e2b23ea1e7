"""Convolutions and pooling, for both data formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf

from .settings import resolved_data_format

_PADDINGS = {"same": "SAME", "valid": "VALID"}


def _padding(padding: str) -> str:
    if padding not in _PADDINGS:
        raise ValueError(f"Invalid padding: {padding}. Expected one of {list(_PADDINGS)}")
    return _PADDINGS[padding]


def _channels_last(
    x: Any, data_format: str | None, axes: int, compute: Callable[[tf.Tensor], tf.Tensor]
) -> tf.Tensor:
    """Run a channels-last computation in either data format, transposing as necessary."""
    x = tf.convert_to_tensor(x)
    if resolved_data_format(data_format) == "channels_last":
        return compute(x)
    spatial = range(axes)
    x = tf.transpose(x, [0, *(axis + 2 for axis in spatial), 1])
    return tf.transpose(compute(x), [0, axes + 1, *(axis + 1 for axis in spatial)])


def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution along one axis; `padding` may be "causal" too.

    >>> tf.keras.backend.conv1d(tf.ones([1, 5, 2]), tf.ones([3, 2, 4]), padding="causal").shape
    TensorShape([1, 5, 4])
    """
    causal = padding == "causal"
    padding = "VALID" if causal else _padding(padding)

    def compute(x: tf.Tensor) -> tf.Tensor:
        if causal:
            x = tf.pad(x, [[0, 0], [dilation_rate * (kernel.shape[0] - 1), 0], [0, 0]])
        return tf.nn.convolution(x, kernel, strides, padding, dilations=dilation_rate)

    return _channels_last(x, data_format, 1, compute)


def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution along two axes.

    >>> tf.keras.backend.conv2d(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])).shape
    TensorShape([1, 3, 3, 4])
    """
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(
    x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)
):
    """A convolution along three axes."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate, 3)


def _convolution(x, kernel, strides, padding, data_format, dilation_rate, axes):
    padding = _padding(padding)

    def compute(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.convolution(x, kernel, strides, padding, dilations=dilation_rate)

    return _channels_last(x, data_format, axes, compute)


def conv2d_transpose(
    x,
    kernel,
    output_shape,
    strides=(1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1),
):
    """A transposed convolution: the gradient of a convolution with respect to its input.

    >>> kernel = tf.ones([2, 2, 3, 4])
    >>> tf.keras.backend.conv2d_transpose(
    ...     tf.ones([1, 5, 5, 4]), kernel, (1, 10, 10, 3), strides=(2, 2)).shape
    TensorShape([1, 10, 10, 3])
    """
    padding = _padding(padding)
    if resolved_data_format(data_format) == "channels_first" and not tf.is_tensor(output_shape):
        output_shape = [output_shape[axis] for axis in (0, 2, 3, 1)]
    elif resolved_data_format(data_format) == "channels_first":
        output_shape = tf.gather(output_shape, [0, 2, 3, 1])

    def compute(x: tf.Tensor) -> tf.Tensor:
        shape = output_shape
        if not tf.is_tensor(shape) and shape[0] is None:
            shape = [tf.shape(x)[0], *shape[1:]]
        if tuple(dilation_rate) == (1, 1):
            return tf.nn.conv2d_transpose(x, kernel, shape, strides, padding)
        if dilation_rate[0] != dilation_rate[1]:
            raise ValueError(
                "Expected the 2 dimensions of the `dilation_rate` argument to be equal to each "
                f"other. Received: dilation_rate={dilation_rate}"
            )
        return tf.nn.atrous_conv2d_transpose(x, kernel, shape, dilation_rate[0], padding)

    return _channels_last(x, data_format, 2, compute)


def depthwise_conv2d(
    x, depthwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """A depthwise convolution: each channel separately.

    >>> tf.keras.backend.depthwise_conv2d(tf.ones([1, 5, 5, 2]), tf.ones([3, 3, 2, 4])).shape
    TensorShape([1, 3, 3, 8])
    """
    padding = _padding(padding)

    def compute(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.depthwise_conv2d(
            x, depthwise_kernel, (1, *strides, 1), padding, dilations=dilation_rate
        )

    return _channels_last(x, data_format, 2, compute)


def separable_conv2d(
    x,
    depthwise_kernel,
    pointwise_kernel,
    strides=(1, 1),
    padding="valid",
    data_format=None,
    dilation_rate=(1, 1),
):
    """A depthwise convolution followed by a pointwise (1x1) one."""
    padding = _padding(padding)
    if len(strides) != 2:
        raise ValueError(f"`strides` must be a tuple of 2 integers. Received: {strides}")

    def compute(x: tf.Tensor) -> tf.Tensor:
        return tf.nn.separable_conv2d(
            x,
            depthwise_kernel,
            pointwise_kernel,
            (1, *strides, 1),
            padding,
            dilations=dilation_rate,
        )

    return _channels_last(x, data_format, 2, compute)


def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Max or average pooling ("max" or "avg") of images.

    >>> tf.keras.backend.pool2d(tf.ones([1, 6, 6, 2]), (2, 2), strides=(2, 2)).shape
    TensorShape([1, 3, 3, 2])
    """
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """Max or average pooling ("max" or "avg") of volumes."""
    return _pool(x, pool_size, strides, padding, data_format, pool_mode, 3)


def _pool(x, pool_size, strides, padding, data_format, pool_mode, axes):
    padding = _padding(padding)
    for name, sizes in (("pool_size", pool_size), ("strides", strides)):
        if len(sizes) != axes:
            raise ValueError(f"`{name}` must be a tuple of {axes} integers. Received: {sizes}")
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}. Expected 'max' or 'avg'.")
    function = tf.nn.max_pool if pool_mode == "max" else tf.nn.avg_pool
    return _channels_last(
        x, data_format, axes, lambda x: function(x, list(pool_size), list(strides), padding)
    )


def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """A convolution along one axis with unshared weights.

    `kernel` has the shape (positions, kernel_size * channels, filters).

    >>> tf.keras.backend.local_conv1d(tf.ones([1, 5, 2]), tf.ones([3, 6, 4]), (3,), (1,)).shape
    TensorShape([1, 3, 4])
    """
    places = (tf.TensorShape(kernel.shape)[0],)
    return _local_convolution(inputs, kernel, kernel_size, strides, places, data_format)


def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """A convolution along two axes with unshared weights.

    `kernel` has the shape (positions, kernel sizes * channels, filters), `output_shape` is the
    number of positions along each axis.
    """
    return _local_convolution(inputs, kernel, kernel_size, strides, output_shape, data_format)


def _local_convolution(inputs, kernel, kernel_size, strides, places, data_format):
    inputs = tf.convert_to_tensor(inputs)
    channels_first = resolved_data_format(data_format) == "channels_first"
    features = tf.TensorShape(kernel.shape)[1]
    windows = [
        tf.reshape(window, [-1, features])
        for window in _windows(inputs, kernel_size, strides, places, channels_first)
    ]
    # A batched matmul over positions: (positions, batch, features) @ (positions, features,
    # filters).
    results = tf.transpose(tf.matmul(tf.stack(windows), kernel), [1, 0, 2])
    filters = tf.TensorShape(kernel.shape)[2]
    results = tf.reshape(results, [-1, *places, filters])
    if not channels_first:
        return results
    axes = len(places)
    return tf.transpose(results, [0, axes + 1, *range(1, axes + 1)])


def _windows(inputs, kernel_size, strides, places, channels_first):
    """The input window of each position, in position order."""
    whole = slice(None)
    slices: list[tuple[slice, ...]] = [()]
    for count, size, stride in zip(places, kernel_size, strides, strict=True):
        along = [slice(stride * i, stride * i + size) for i in range(count)]
        slices = [(*before, each) for before in slices for each in along]
    for each in slices:
        yield inputs[(whole, whole, *each)] if channels_first else inputs[(whole, *each, whole)]


def bias_add(x, bias, data_format=None):
    """x plus a bias: one value per channel, or one per element of a sample.

    >>> tf.keras.backend.bias_add(tf.zeros([1, 2]), tf.constant([1.0, 2.0])).numpy().tolist()
    [[1.0, 2.0]]
    """
    x, bias = tf.convert_to_tensor(x), tf.convert_to_tensor(bias)
    channels_first = resolved_data_format(data_format) == "channels_first"
    rank, sizes = x.shape.rank, bias.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(
            f"Unexpected bias dimensions {len(sizes)}. Expected it to be 1 or {rank - 1} dimensions"
        )
    if len(sizes) > 1:
        shape = [1, sizes[-1], *sizes[:-1]] if channels_first else [1, *sizes]
        return x + tf.reshape(bias, shape)
    if channels_first and rank > 2:
        return x + tf.reshape(bias, [1, -1] + [1] * (rank - 2))
    return tf.nn.bias_add(x, bias)

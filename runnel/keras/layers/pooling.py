"""Pooling: the maximum or mean of windows, or global per channel."""

from __future__ import annotations

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import (
    check_window_fits,
    convolved_length,
    data_format_of,
    integer_tuple,
    operation_format,
    padding_of,
)


class _Pooling(Layer):
    """Pooling with `pool_function` over `rank` spatial axes."""

    _only_computes = True

    def __init__(self, rank, pool_function, pool_size, strides, padding, data_format, **kwargs):
        super().__init__(**kwargs)
        if strides is None:
            strides = pool_size
        self.pool_function = pool_function
        self.pool_size = integer_tuple(pool_size, rank, "pool_size")
        self.strides = integer_tuple(strides, rank, "strides", allow_zero=True)
        self.padding = padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(ndim=rank + 2)
        self._tf_data_format = operation_format(self.data_format, rank)

    def call(self, inputs):
        """Pool each window of the inputs."""
        check_window_fits(self, inputs, self.pool_size, self.data_format == "channels_first")
        return self.pool_function(
            inputs,
            list(self.pool_size),
            list(self.strides),
            self.padding.upper(),
            self._tf_data_format,
        )

    def compute_output_shape(self, input_shape):
        """The number of windows along each axis."""
        sizes = tf.TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        for axis, window in enumerate(zip(self.pool_size, self.strides, strict=True)):
            size, stride = window
            sizes[first + axis] = convolved_length(sizes[first + axis], size, self.padding, stride)
        return tf.TensorShape(sizes)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "pool_size": self.pool_size,
            "padding": self.padding,
            "strides": self.strides,
            "data_format": self.data_format,
        }


class _Pooling1D(_Pooling):
    def get_config(self):
        """The constructor arguments, as a dict."""
        config = super().get_config()
        own = ("strides", "pool_size", "padding", "data_format")
        values = {name: config.pop(name) for name in own}
        return {**config, **values}


class MaxPooling1D(_Pooling1D):
    """The maximum of windows over time.

    >>> x = tf.constant([[[1.0], [5.0], [2.0], [3.0]]])
    >>> tf.keras.layers.MaxPooling1D(2)(x).numpy().ravel().tolist()
    [5.0, 3.0]
    """

    def __init__(
        self, pool_size=2, strides=None, padding="valid", data_format="channels_last", **kwargs
    ):
        super().__init__(1, tf.nn.max_pool1d, pool_size, strides, padding, data_format, **kwargs)


class AveragePooling1D(_Pooling1D):
    """The mean of windows over time.

    >>> x = tf.constant([[[1.0], [5.0], [2.0], [4.0]]])
    >>> tf.keras.layers.AveragePooling1D(2)(x).numpy().ravel().tolist()
    [3.0, 3.0]
    """

    def __init__(
        self, pool_size=2, strides=None, padding="valid", data_format="channels_last", **kwargs
    ):
        super().__init__(1, tf.nn.avg_pool1d, pool_size, strides, padding, data_format, **kwargs)


class MaxPooling2D(_Pooling):
    """The maximum of windows over images.

    >>> tf.keras.layers.MaxPooling2D()(tf.ones([1, 6, 6, 3])).shape
    TensorShape([1, 3, 3, 3])
    """

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(2, tf.nn.max_pool2d, pool_size, strides, padding, data_format, **kwargs)


class AveragePooling2D(_Pooling):
    """The mean of windows over images.

    >>> tf.keras.layers.AveragePooling2D()(tf.ones([1, 6, 6, 3])).shape
    TensorShape([1, 3, 3, 3])
    """

    def __init__(self, pool_size=(2, 2), strides=None, padding="valid", data_format=None, **kwargs):
        super().__init__(2, tf.nn.avg_pool2d, pool_size, strides, padding, data_format, **kwargs)


class MaxPooling3D(_Pooling):
    """The maximum of windows over volumes."""

    def __init__(
        self, pool_size=(2, 2, 2), strides=None, padding="valid", data_format=None, **kwargs
    ):
        super().__init__(3, tf.nn.max_pool3d, pool_size, strides, padding, data_format, **kwargs)


class AveragePooling3D(_Pooling):
    """The mean of windows over volumes."""

    def __init__(
        self, pool_size=(2, 2, 2), strides=None, padding="valid", data_format=None, **kwargs
    ):
        super().__init__(3, tf.nn.avg_pool3d, pool_size, strides, padding, data_format, **kwargs)


class _GlobalPooling(Layer):
    """One value per channel."""

    def __init__(self, rank, data_format, keepdims, **kwargs):
        super().__init__(**kwargs)
        self.input_spec = InputSpec(ndim=rank + 2)
        self.data_format = data_format_of(data_format)
        self.keepdims = keepdims
        start = 1 if self.data_format == "channels_last" else 2
        self._axes = list(range(start, start + rank))

    def compute_output_shape(self, input_shape):
        """The batch size and the number of channels."""
        sizes = tf.TensorShape(input_shape).as_list()
        if self.keepdims:
            return tf.TensorShape(
                [1 if axis in self._axes else size for axis, size in enumerate(sizes)]
            )
        return tf.TensorShape([size for axis, size in enumerate(sizes) if axis not in self._axes])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "data_format": self.data_format,
            "keepdims": self.keepdims,
        }


class _GlobalMax(_GlobalPooling):
    _only_computes = True

    def call(self, inputs):
        """The maximum of each channel."""
        return tf.reduce_max(inputs, axis=self._axes, keepdims=self.keepdims)


class _GlobalAverage(_GlobalPooling):
    _only_computes = True

    def call(self, inputs):
        """The mean of each channel."""
        return tf.reduce_mean(inputs, axis=self._axes, keepdims=self.keepdims)


class GlobalMaxPooling1D(_GlobalMax):
    """The maximum of each feature over time.

    >>> x = tf.constant([[[1.0, 9.0], [5.0, 2.0]]])
    >>> tf.keras.layers.GlobalMaxPooling1D()(x).numpy().tolist()
    [[5.0, 9.0]]
    """

    def __init__(self, data_format="channels_last", keepdims=False, **kwargs):
        super().__init__(1, data_format, keepdims, **kwargs)


class GlobalMaxPooling2D(_GlobalMax):
    """The maximum of each channel of images."""

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(2, data_format, keepdims, **kwargs)


class GlobalMaxPooling3D(_GlobalMax):
    """The maximum of each channel of volumes."""

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(3, data_format, keepdims, **kwargs)


class GlobalAveragePooling1D(_GlobalPooling):
    """The mean of each feature over the unmasked time steps.

    >>> x = tf.constant([[[1.0, 9.0], [5.0, 3.0]]])
    >>> tf.keras.layers.GlobalAveragePooling1D()(x).numpy().tolist()
    [[3.0, 6.0]]
    """

    def __init__(self, data_format="channels_last", **kwargs):
        keepdims = kwargs.pop("keepdims", False)
        super().__init__(1, data_format, keepdims, **kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        """The mean over time."""
        if mask is None:
            return tf.reduce_mean(inputs, axis=self._axes, keepdims=self.keepdims)
        features = 2 if self.data_format == "channels_last" else 1
        weights = tf.expand_dims(tf.cast(mask, inputs.dtype), features)
        total = tf.reduce_sum(inputs * weights, axis=self._axes, keepdims=self.keepdims)
        return total / tf.reduce_sum(weights, axis=self._axes, keepdims=self.keepdims)

    def compute_mask(self, inputs, mask=None):
        """None: no time axis is left to mask."""
        return None


class GlobalAveragePooling2D(_GlobalAverage):
    """The mean of each channel of images.

    >>> tf.keras.layers.GlobalAveragePooling2D()(tf.ones([2, 4, 4, 3])).shape
    TensorShape([2, 3])
    """

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(2, data_format, keepdims, **kwargs)


class GlobalAveragePooling3D(_GlobalAverage):
    """The mean of each channel of volumes."""

    def __init__(self, data_format=None, keepdims=False, **kwargs):
        super().__init__(3, data_format, keepdims, **kwargs)

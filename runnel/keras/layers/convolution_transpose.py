"""Transposed convolutions: from a convolution's output shape to its input shape."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import integer_tuple, transposed_length
from .convolution import Conv, Conv1D, Conv2D, Conv3D

_CONVOLUTIONS: tuple[Any, ...] = (
    None,
    tf.nn.conv1d_transpose,
    tf.nn.conv2d_transpose,
    tf.nn.conv3d_transpose,
)


class _Transposed(Conv):
    """What the transposed convolutions share; comes before the convolution in the bases."""

    output_padding: Any

    def _set_output_padding(self, output_padding: Any) -> None:
        self.output_padding = output_padding
        if output_padding is None:
            return
        self.output_padding = integer_tuple(
            output_padding, self.rank, "output_padding", allow_zero=True
        )
        for stride, padding in zip(self.strides, self.output_padding, strict=True):
            if padding >= stride:
                raise ValueError(
                    "Strides must be greater than output padding. Received "
                    f"strides={self.strides}, output_padding={self.output_padding}."
                )

    def build(self, input_shape):
        """Create the kernel and the bias."""
        input_shape = tf.TensorShape(input_shape)
        rank = self.rank + 2
        if len(input_shape) != rank:
            raise ValueError(f"Inputs should have rank {rank}. Received input_shape={input_shape}.")
        channels = self._get_input_channel(input_shape, f"inputs to `{type(self).__name__}`")
        self.input_spec = InputSpec(ndim=rank, axes={self._get_channel_axis(): channels})
        self.kernel = self._add_kernel("kernel", (*self.kernel_size, self.filters, channels))
        self._add_bias(self.filters)
        Layer.build(self, input_shape)

    def _spatial_output_shape(self, sizes: list[Any]) -> list[Any]:
        padding = self.output_padding or (None,) * self.rank
        return [
            transposed_length(size, window, self.padding, extra, stride, dilation)
            for size, window, extra, stride, dilation in zip(
                sizes, self.kernel_size, padding, self.strides, self._dilations(), strict=True
            )
        ]

    def _dilations(self) -> tuple[int, ...]:
        return self.dilation_rate

    def call(self, inputs):
        """activation(transposed convolution(inputs, kernel) + bias)"""
        first = self._channels_first
        sizes = inputs.shape.as_list()
        if None in sizes:
            actual = tf.shape(inputs)
            sizes = [actual[axis] if size is None else size for axis, size in enumerate(sizes)]
        space = self._spatial_output_shape(sizes[2:] if first else sizes[1:-1])
        wanted = [sizes[0], self.filters, *space] if first else [sizes[0], *space, self.filters]
        outputs = self._convolve(inputs, wanted)
        if None in inputs.shape.as_list():
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._activated(outputs)

    def _convolve(self, inputs: Any, output_shape: list[Any]) -> Any:
        return _CONVOLUTIONS[self.rank](
            inputs,
            self.kernel,
            output_shape,
            list(self.strides),
            padding=self.padding.upper(),
            data_format=self._tf_data_format,
            dilations=list(self._dilations()),
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "output_padding": self.output_padding}


class Conv1DTranspose(_Transposed, Conv1D):
    """A transposed convolution over time.

    >>> tf.keras.layers.Conv1DTranspose(8, 3, strides=2)(tf.ones([2, 10, 4])).shape
    TensorShape([2, 21, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self._set_output_padding(output_padding)


class Conv2DTranspose(_Transposed, Conv2D):
    """A transposed convolution over images.

    >>> layer = tf.keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same")
    >>> layer(tf.ones([2, 5, 5, 4])).shape
    TensorShape([2, 10, 10, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=(1, 1),
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self._set_output_padding(output_padding)

    def _convolve(self, inputs: Any, output_shape: list[Any]) -> Any:
        if max(self.dilation_rate) == 1:
            return super()._convolve(inputs, output_shape)
        if self._channels_first:
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
            output_shape = [output_shape[0], *output_shape[2:], output_shape[1]]
        outputs = tf.nn.atrous_conv2d_transpose(
            inputs, self.kernel, output_shape, self.dilation_rate[0], self.padding.upper()
        )
        return tf.transpose(outputs, [0, 3, 1, 2]) if self._channels_first else outputs


class Conv3DTranspose(_Transposed, Conv3D):
    """A transposed convolution over volumes; the dilation is accepted and has no effect.

    >>> tf.keras.layers.Conv3DTranspose(2, 3)(tf.ones([1, 4, 4, 4, 1])).shape
    TensorShape([1, 6, 6, 6, 2])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1, 1),
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=(1, 1, 1),
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self._set_output_padding(output_padding)

    def _dilations(self) -> tuple[int, ...]:
        return (1, 1, 1)

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = super().get_config()
        config.pop("dilation_rate")
        return config

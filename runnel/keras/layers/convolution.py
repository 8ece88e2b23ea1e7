"""Convolutions over one, two and three axes."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.arguments import require_number
from ...core.context import state
from ...core.tensor import Tensor
from ...ops.nn.finished import CONVOLVED
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import (
    check_window_fits,
    convolved_length,
    data_format_of,
    integer_tuple,
    operation_format,
    options_config,
    padding_of,
    set_options,
    without_room,
)
from .at_once import outputs_at_once

_CONVOLUTIONS: tuple[Any, ...] = (None, tf.nn.conv1d, tf.nn.conv2d, tf.nn.conv3d)


class Conv(Layer):
    """A convolution over `rank` axes: activation(convolution(inputs, kernel) + bias)."""

    _only_computes = True
    activation: Any

    def __init__(
        self,
        rank,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        groups=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.rank = rank
        if isinstance(filters, float):
            filters = int(filters)
        if filters is not None:
            require_number(filters, "filters", type(self).__name__)
        if filters is not None and filters <= 0:
            raise ValueError(
                "Invalid value for argument `filters`. Expected a strictly positive value. "
                f"Received filters={filters}."
            )
        self.filters = filters
        self.groups = groups or 1
        self.kernel_size = integer_tuple(kernel_size, rank, "kernel_size")
        self.strides = integer_tuple(strides, rank, "strides", allow_zero=True)
        self.padding = padding_of(padding)
        self.data_format = data_format_of(data_format)
        self.dilation_rate = integer_tuple(dilation_rate, rank, "dilation_rate")
        self.use_bias = use_bias
        set_options(
            self,
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        self.input_spec = InputSpec(min_ndim=rank + 2)
        self._validate_init()
        self._is_causal = self.padding == "causal"
        self._channels_first = self.data_format == "channels_first"
        self._tf_data_format = operation_format(self.data_format, rank)

    def _validate_init(self) -> None:
        if self.filters is not None and self.filters % self.groups != 0:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. "
                f"Received: groups={self.groups}, filters={self.filters}"
            )
        if 0 in self.strides:
            raise ValueError(
                f"The argument `strides` cannot contains 0(s). Received: {self.strides}"
            )
        if self.padding == "causal" and not isinstance(self, _CAUSAL):
            raise ValueError("Causal padding is only supported for `Conv1D`and `SeparableConv1D`.")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )

    def build(self, input_shape):
        """Create the kernel and the bias."""
        input_shape = tf.TensorShape(input_shape)
        channels = self._get_input_channel(input_shape)
        if channels % self.groups != 0:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {channels} channels (full "
                f"input shape is {input_shape})."
            )
        # A window larger than its input is rejected before weights are created.
        if not isinstance(self.padding, list | tuple):
            self.compute_output_shape(input_shape)
        self.kernel = self._add_kernel(
            "kernel", (*self.kernel_size, channels // self.groups, self.filters)
        )
        self._add_bias(self.filters)
        self.input_spec = InputSpec(
            min_ndim=self.rank + 2, axes={self._get_channel_axis(): channels}
        )
        Layer.build(self, input_shape)

    def _add_kernel(self, name: str, shape: tuple[int, ...], options: str = "kernel") -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=getattr(self, f"{options}_initializer"),
            regularizer=getattr(self, f"{options}_regularizer"),
            constraint=getattr(self, f"{options}_constraint"),
            trainable=True,
            dtype=self.dtype,
        )

    def _add_bias(self, size: int) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self._add_kernel("bias", (size,), "bias")

    def convolution_op(self, inputs, kernel):
        """The convolution alone; for subclasses to override."""
        padding = self.padding
        if isinstance(padding, str):
            padding = "VALID" if self._is_causal else padding.upper()
        return _CONVOLUTIONS[self.rank](
            inputs,
            kernel,
            self._for_all_axes(self.strides),
            padding,
            self._tf_data_format,
            self._for_all_axes(self.dilation_rate),
        )

    def _for_all_axes(self, numbers: tuple[int, ...]) -> list[int]:
        """A value per spatial axis, padded with 1 for the batch and channel axes."""
        return [1, 1, *numbers] if self._channels_first else [1, *numbers, 1]

    def call(self, inputs):
        """activation(convolution(inputs, kernel) + bias)"""
        if inputs.dtype is not self._compute_dtype_object:
            inputs = tf.cast(inputs, self._compute_dtype_object)
        check_window_fits(self, inputs, self._window_sizes(), self._channels_first)
        if self.rank == 2 and type(inputs) is Tensor and state.graph is None:
            outputs = self._at_once(inputs)
            if outputs is not None:
                return outputs if outputs._array.size else without_room(self, inputs, outputs)
        if self._is_causal:
            inputs = tf.pad(inputs, self._compute_causal_padding(inputs))
        return self._activated(self.convolution_op(inputs, self.kernel))

    def _at_once(self, images: Tensor) -> Tensor | None:
        """The outputs by one fused op; None if it does not apply."""
        own = type(self).convolution_op is Conv.convolution_op
        if not own or self._channels_first or not isinstance(self.padding, str):
            return None
        attrs = {
            "strides": self._for_all_axes(self.strides),
            "padding": self.padding.upper(),
            "dilations": self._for_all_axes(self.dilation_rate),
        }
        return outputs_at_once(self, images, 4, CONVOLVED, attrs)

    def _window_sizes(self) -> list[int]:
        """The effective kernel sizes, with dilation."""
        return [
            (size - 1) * gap + 1
            for size, gap in zip(self.kernel_size, self.dilation_rate, strict=True)
        ]

    def _activated(self, outputs: Any) -> Any:
        if self.use_bias:
            if self._channels_first and outputs.shape.rank != self.rank + 2:
                outputs = outputs + tf.reshape(self.bias, [-1] + [1] * self.rank)
            else:
                outputs = tf.nn.bias_add(outputs, self.bias, self._tf_data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _spatial_output_shape(self, sizes: list[int | None]) -> list[int | None]:
        return [
            convolved_length(size, window, self.padding, stride, dilation)
            for size, window, stride, dilation in zip(
                sizes, self.kernel_size, self.strides, self.dilation_rate, strict=True
            )
        ]

    def compute_output_shape(self, input_shape):
        """The output shape for an input shape."""
        sizes = tf.TensorShape(input_shape).as_list()
        channels = self._output_channels(sizes)
        batches = len(sizes) - self.rank - 1
        try:
            if self._channels_first:
                space = self._spatial_output_shape(sizes[batches + 1 :])
                return tf.TensorShape([*sizes[:batches], channels, *space])
            space = self._spatial_output_shape(sizes[batches:-1])
            return tf.TensorShape([*sizes[:batches], *space, channels])
        except ValueError:
            raise ValueError(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. "
                f"Consider increasing the input size. Received input shape {sizes} which would "
                "produce output shape with a zero or negative value in a dimension."
            ) from None

    def _output_channels(self, sizes: list[Any]) -> Any:
        return self.filters

    def _compute_causal_padding(self, inputs: Any) -> list[list[int]]:
        left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        rank = inputs.shape.rank or 3
        padding = [[0, 0] for _ in range(rank)]
        padding[-1 if self._channels_first else -2] = [left, 0]
        return padding

    def _get_channel_axis(self) -> int:
        return -1 - self.rank if self.data_format == "channels_first" else -1

    def _get_input_channel(self, input_shape: Any, where: str = "inputs") -> int:
        axis = self._get_channel_axis()
        channels = input_shape[axis]
        if channels is None:
            raise ValueError(
                f"The channel dimension of the {where} should be defined. The input_shape "
                f"received is {input_shape}, where axis {axis} (0-based) is the channel "
                "dimension, which found to be `None`."
            )
        return int(channels)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "groups": self.groups,
            **options_config(self, "activation"),
            "use_bias": self.use_bias,
            **options_config(
                self,
                *("kernel_initializer", "bias_initializer"),
                *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
                *("kernel_constraint", "bias_constraint"),
            ),
        }


class CausalSeparable:
    """What SeparableConv1D shares with Conv1D: padding="causal" is allowed."""


class Conv1D(Conv):
    """A convolution over time.

    >>> tf.keras.layers.Conv1D(8, 3, padding="causal")(tf.ones([2, 10, 4])).shape
    TensorShape([2, 10, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format="channels_last",
        dilation_rate=1,
        groups=1,
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
            1,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            groups,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )


class Conv2D(Conv):
    """A convolution over images.

    >>> tf.keras.layers.Conv2D(8, 3, activation="relu")(tf.ones([2, 28, 28, 3])).shape
    TensorShape([2, 26, 26, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1),
        groups=1,
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
            2,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            groups,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )


class Conv3D(Conv):
    """A convolution over volumes.

    >>> tf.keras.layers.Conv3D(2, 3)(tf.ones([1, 8, 8, 8, 1])).shape
    TensorShape([1, 6, 6, 6, 2])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1, 1),
        groups=1,
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
            3,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            groups,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )


_CAUSAL = (Conv1D, CausalSeparable)

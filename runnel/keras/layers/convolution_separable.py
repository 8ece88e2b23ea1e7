"""Depthwise and separable convolutions."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import check_window_fits, options_config, set_options
from .convolution import CausalSeparable, Conv


class _PerChannel(Conv):
    """A convolution with `depth_multiplier` filters per input channel."""

    depth_multiplier: int
    depthwise_kernel: Any

    def _depthwise(self, inputs: Any) -> Any:
        """The depthwise convolution over one or two spatial axes."""
        first = self._channels_first
        check_window_fits(self, inputs, self._window_sizes(), first)
        kernel = self.depthwise_kernel
        strides, dilations = self.strides, self.dilation_rate
        axis = 2 if first else 1
        if self.rank == 1:
            inputs = tf.expand_dims(inputs, axis)
            kernel = tf.expand_dims(kernel, 0)
            strides, dilations = strides * 2, dilations * 2
        steps = [1, 1, *strides] if first else [1, *strides, 1]
        padding = "VALID" if self._is_causal else self.padding.upper()
        outputs = tf.nn.depthwise_conv2d(
            inputs, kernel, steps, padding, "NCHW" if first else "NHWC", list(dilations)
        )
        return tf.squeeze(outputs, [axis]) if self.rank == 1 else outputs


class _SeparableConv(_PerChannel):
    """A depthwise convolution, then a pointwise one (window size 1) over all channels."""

    def __init__(
        self,
        rank,
        filters,
        kernel_size,
        strides,
        padding,
        data_format,
        dilation_rate,
        depth_multiplier,
        activation,
        use_bias,
        depthwise_initializer,
        pointwise_initializer,
        bias_initializer,
        depthwise_regularizer,
        pointwise_regularizer,
        bias_regularizer,
        activity_regularizer,
        depthwise_constraint,
        pointwise_constraint,
        bias_constraint,
        **kwargs,
    ):
        super().__init__(
            rank,
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        set_options(
            self,
            depthwise_initializer=depthwise_initializer,
            pointwise_initializer=pointwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            pointwise_regularizer=pointwise_regularizer,
            depthwise_constraint=depthwise_constraint,
            pointwise_constraint=pointwise_constraint,
        )

    def build(self, input_shape):
        """Create the two kernels and the bias."""
        input_shape = tf.TensorShape(input_shape)
        channels = self._get_input_channel(input_shape)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._get_channel_axis(): channels})
        self.depthwise_kernel = self._add_kernel(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise"
        )
        pointwise = (*(1,) * self.rank, self.depth_multiplier * channels, self.filters)
        self.pointwise_kernel = self._add_kernel("pointwise_kernel", pointwise, "pointwise")
        self._add_bias(self.filters)
        Layer.build(self, input_shape)

    def call(self, inputs):
        """activation(pointwise(depthwise(inputs)) + bias)"""
        if self._is_causal:
            inputs = tf.pad(inputs, self._compute_causal_padding(inputs))
        mix = tf.nn.conv1d if self.rank == 1 else tf.nn.conv2d
        return self._activated(
            mix(self._depthwise(inputs), self.pointwise_kernel, 1, "VALID", self._tf_data_format)
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "depth_multiplier": self.depth_multiplier,
            **options_config(
                self,
                *("depthwise_initializer", "pointwise_initializer"),
                *("depthwise_regularizer", "pointwise_regularizer"),
                *("depthwise_constraint", "pointwise_constraint"),
            ),
        }

    @classmethod
    def from_config(cls, config):
        """Create a layer from its config; options of a single kernel are ignored here."""
        kept = {
            key: value
            for key, value in config.items()
            if not key.startswith("kernel_") or key == "kernel_size"
        }
        return super().from_config(kept)


class SeparableConv1D(_SeparableConv, CausalSeparable):
    """A separable convolution over time.

    >>> tf.keras.layers.SeparableConv1D(8, 3)(tf.ones([2, 10, 4])).shape
    TensorShape([2, 8, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
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
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            **kwargs,
        )


class SeparableConv2D(_SeparableConv):
    """A separable convolution over images.

    >>> tf.keras.layers.SeparableConv2D(8, 3)(tf.ones([2, 10, 10, 4])).shape
    TensorShape([2, 8, 8, 8])
    """

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        data_format=None,
        dilation_rate=(1, 1),
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
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
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            **kwargs,
        )


class _DepthwiseConv(_PerChannel):
    """A depthwise convolution: each channel is convolved separately."""

    def __init__(
        self,
        rank,
        kernel_size,
        strides,
        padding,
        depth_multiplier,
        data_format,
        dilation_rate,
        activation,
        use_bias,
        depthwise_initializer,
        bias_initializer,
        depthwise_regularizer,
        bias_regularizer,
        activity_regularizer,
        depthwise_constraint,
        bias_constraint,
        **kwargs,
    ):
        super().__init__(
            rank,
            None,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilation_rate=dilation_rate,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        set_options(
            self,
            depthwise_initializer=depthwise_initializer,
            depthwise_regularizer=depthwise_regularizer,
            depthwise_constraint=depthwise_constraint,
        )

    def build(self, input_shape):
        """Create the kernel and the bias."""
        input_shape = tf.TensorShape(input_shape)
        channels = self._get_input_channel(input_shape, "inputs to `DepthwiseConv`")
        self.depthwise_kernel = self._add_kernel(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), "depthwise"
        )
        self._add_bias(channels * self.depth_multiplier)
        self.input_spec = InputSpec(
            min_ndim=self.rank + 2, axes={self._get_channel_axis(): channels}
        )
        Layer.build(self, input_shape)

    def call(self, inputs):
        """activation(depthwise(inputs) + bias)"""
        return self._activated(self._depthwise(inputs))

    def _output_channels(self, sizes: list[Any]) -> Any:
        channels = sizes[self._get_channel_axis()]
        return None if channels is None else channels * self.depth_multiplier

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = super().get_config()
        for name in ("filters", *(f"kernel_{kind}" for kind in _KINDS)):
            config.pop(name)
        return {
            **config,
            "depth_multiplier": self.depth_multiplier,
            **options_config(self, *(f"depthwise_{kind}" for kind in _KINDS)),
        }


_KINDS = ("initializer", "regularizer", "constraint")


class DepthwiseConv1D(_DepthwiseConv):
    """A depthwise convolution over time.

    >>> tf.keras.layers.DepthwiseConv1D(3, depth_multiplier=2)(tf.ones([2, 10, 4])).shape
    TensorShape([2, 8, 8])
    """

    def __init__(
        self,
        kernel_size,
        strides=1,
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            1,
            kernel_size,
            strides,
            padding,
            depth_multiplier,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            bias_constraint,
            **kwargs,
        )


class DepthwiseConv2D(_DepthwiseConv):
    """A depthwise convolution over images.

    >>> tf.keras.layers.DepthwiseConv2D(3)(tf.ones([2, 10, 10, 4])).shape
    TensorShape([2, 8, 8, 4])
    """

    def __init__(
        self,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=(1, 1),
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            2,
            kernel_size,
            strides,
            padding,
            depth_multiplier,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            depthwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            bias_constraint,
            **kwargs,
        )

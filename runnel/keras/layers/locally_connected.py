"""Locally connected layers: convolutions with unshared weights."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import runnel as tf

from .. import backend
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import (
    convolved_length,
    data_format_of,
    integer_tuple,
    options_config,
    padding_of,
    set_options,
)

_OPTIONS = (
    *("kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer"),
    *("activity_regularizer", "kernel_constraint", "bias_constraint"),
)


class _LocallyConnected(Layer):
    """What both layers share.

    `implementation` 1 loops over the output positions with one small kernel for each; 2 keeps a
    dense matrix from all inputs to all outputs, mostly zeros, and does one matmul; 3 keeps that
    matrix in sparse form.
    """

    rank: int

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        implementation=1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = integer_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = integer_tuple(strides, self.rank, "strides", allow_zero=True)
        self.padding = padding_of(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f"Invalid border mode for {type(self).__name__} "
                f'(only "valid" is supported if implementation is 1): {padding}'
            )
        self.data_format = data_format_of(data_format)
        self.use_bias = use_bias
        set_options(
            self,
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _channels_first(self) -> bool:
        return self.data_format == "channels_first"

    def _places(self, input_shape: Any) -> list[int | None]:
        """The number of output positions along each axis."""
        sizes = input_shape[2:] if self._channels_first else input_shape[1:-1]
        return [
            convolved_length(size, kernel, self.padding, stride)
            for size, kernel, stride in zip(sizes, self.kernel_size, self.strides, strict=True)
        ]

    def build(self, input_shape):
        """Create the kernel and the bias."""
        shape = tf.TensorShape(input_shape).as_list()
        channels = shape[1] if self._channels_first else shape[-1]
        sizes = shape[2:] if self._channels_first else shape[1:-1]
        if None in sizes or channels is None:
            raise ValueError(
                f"The spatial dimensions of the inputs to a {type(self).__name__} layer should be "
                f"fully-defined, but layer received the inputs shape {tuple(shape)}"
            )
        self._output_places = self._places(shape)
        if any(place <= 0 for place in self._output_places):
            raise ValueError(
                f"One of the dimensions in the output is <= 0 due to downsampling in {self.name}. "
                f"Consider increasing the input size. Received input shape {tuple(shape)} which "
                "would produce output shape with a zero or negative value in a dimension."
            )
        self.kernel_shape = self._prepare(sizes, channels)
        self.kernel = self.add_weight(
            shape=self.kernel_shape if self.implementation != 3 else (len(self.kernel_idxs),),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*self._output_places, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        axis = 1 if self._channels_first else -1
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        Layer.build(self, input_shape)

    def _prepare(self, sizes: list[int], channels: int) -> tuple[int, ...]:
        """The kernel shape, and which of its entries are used."""
        places = self._output_places
        if self.implementation == 1:
            return (math.prod(places), math.prod(self.kernel_size) * channels, self.filters)
        if self.implementation not in (2, 3):
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        connected = _connections(sizes, self.kernel_size, self.strides, self.padding, places)
        if self._channels_first:
            shape = (channels, *sizes, self.filters, *places)
            mask = connected.reshape(1, *sizes, 1, *places)
        else:
            shape = (*sizes, channels, *places, self.filters)
            mask = connected.reshape(*sizes, 1, *places, 1)
        if self.implementation == 2:
            self.kernel_mask = tf.constant(mask, dtype=self.dtype)
            return shape
        whole = np.broadcast_to(mask, shape).reshape(math.prod(shape[: self.rank + 1]), -1)
        # Sorted by output, then by input: the terms of each output are contiguous.
        outputs, inputs = np.nonzero(whole.T)
        self.kernel_idxs = list(zip(outputs.tolist(), inputs.tolist(), strict=True))
        self._sources = tf.constant(inputs)
        self._targets = tf.constant(outputs)
        return (whole.shape[1], whole.shape[0])

    def call(self, inputs):
        """Weighted sums of each window, with the weights of its position."""
        if self.implementation == 1:
            outputs = self._call_by_place(inputs)
        else:
            outputs = self._call_at_once(inputs)
        if self.bias is not None:
            outputs = backend.bias_add(outputs, self.bias, data_format=self.data_format)
        return outputs if self.activation is None else self.activation(outputs)

    def _call_by_place(self, inputs: Any) -> Any:
        return backend.local_conv2d(
            inputs,
            self.kernel,
            self.kernel_size,
            self.strides,
            tuple(self._output_places),
            self.data_format,
        )

    def _call_at_once(self, inputs: Any) -> Any:
        flat = tf.reshape(inputs, [-1, math.prod(inputs.shape[1:])])
        if self.implementation == 2:
            weights = self.kernel * self.kernel_mask
            outputs = tf.matmul(flat, tf.reshape(weights, [flat.shape[1], -1]))
        else:
            terms = tf.gather(tf.transpose(flat), self._sources)
            terms = terms * tf.expand_dims(self.kernel, -1)
            outputs = tf.transpose(tf.math.segment_sum(terms, self._targets))
        sizes = self._output_sizes(self._output_places)
        outputs = tf.reshape(outputs, [-1, *sizes])
        outputs.set_shape([inputs.shape[0], *sizes])
        return outputs

    def _output_sizes(self, places: Any) -> list[Any]:
        return [self.filters, *places] if self._channels_first else [*places, self.filters]

    def compute_output_shape(self, input_shape):
        """The number of positions along each axis, and the filters."""
        shape = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([shape[0], *self._output_sizes(self._places(shape))])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            **options_config(self, "activation"),
            "use_bias": self.use_bias,
            **options_config(self, *_OPTIONS),
            "implementation": self.implementation,
        }


class LocallyConnected1D(_LocallyConnected):
    """A convolution along one axis with unshared weights.

    >>> layer = tf.keras.layers.LocallyConnected1D(3, 2)
    >>> layer(tf.ones([1, 5, 4])).shape, layer.kernel.shape
    (TensorShape([1, 4, 3]), TensorShape([4, 8, 3]))
    """

    rank = 1


class LocallyConnected2D(_LocallyConnected):
    """A convolution of images with unshared weights.

    >>> layer = tf.keras.layers.LocallyConnected2D(3, 2)
    >>> layer(tf.ones([1, 5, 4, 2])).shape, layer.kernel.shape
    (TensorShape([1, 4, 3, 3]), TensorShape([12, 8, 3]))
    """

    rank = 2

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        data_format=None,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        implementation=1,
        **kwargs,
    ):
        super().__init__(
            filters,
            kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            implementation=implementation,
            **kwargs,
        )


def _connections(
    sizes: list[int], kernel_size: Any, strides: Any, padding: str, places: Any
) -> Any:
    """The connectivity mask between inputs and output positions: booleans, (*sizes, *positions)."""
    connected = np.zeros((*sizes, *places), dtype=bool)
    for place in itertools.product(*map(range, places)):
        window: list[Any] = []
        for index, stride, size in zip(place, strides, kernel_size, strict=True):
            start = index * stride - (size // 2 if padding == "same" else 0)
            window.append(slice(max(start, 0), start + size))
        connected[(*window, *place)] = True
    return connected

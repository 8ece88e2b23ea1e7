"""Normalization: inputs standardized with the mean and variance of the adapted data."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from .base import PreprocessingLayer, as_tensor


class Normalization(PreprocessingLayer):
    """(inputs - mean) / sqrt(variance), with a mean and a variance for each index of `axis`.

    They are learnt by `adapt`, or given. `invert` applies the inverse transform.

    >>> layer = tf.keras.layers.Normalization()
    >>> layer.adapt([[0.0, 10.0], [2.0, 30.0]])
    >>> layer([[1.0, 30.0]]).numpy().tolist()
    [[0.0, 1.0]]
    """

    def __init__(self, axis=-1, mean=None, variance=None, invert=False, **kwargs):
        super().__init__(**kwargs)
        if axis is None:
            axis = ()
        elif isinstance(axis, int):
            axis = (axis,)
        else:
            axis = tuple(axis)
        if (mean is None) != (variance is None):
            raise ValueError(
                "When setting values directly, both `mean` and `variance` must be set. Got mean: "
                f"{mean} and variance: {variance}"
            )
        self.axis = axis
        self.input_mean = _as_list(mean)
        self.input_variance = _as_list(variance)
        self.invert = invert

    def build(self, input_shape):
        """Create the weights that `adapt` sets, unless mean and variance were given."""
        super().build(input_shape)
        sizes = tf.TensorShape(input_shape).as_list()
        rank = len(sizes)
        if any(not -rank <= axis < rank for axis in self.axis):
            raise ValueError(
                "All `axis` values must be in the range [-ndim, ndim). Found ndim: "
                f"`{rank}`, axis: {self.axis}"
            )
        kept = sorted(axis % rank for axis in self.axis)
        for axis in kept:
            if sizes[axis] is None:
                raise ValueError(
                    "All `axis` values to be kept must have known shape. Got axis: "
                    f"{self.axis}, input shape: {sizes}, with unknown axis at index: {axis}"
                )
        self._reduced_axes = tuple(axis for axis in range(rank) if axis not in kept)
        # Data without a batch axis is a sequence of single examples.
        self._kept_shape = tuple(sizes[axis] for axis in kept)
        self._broadcast_shape = tuple(sizes[a] if a in kept else 1 for a in range(rank))
        if self.input_mean is not None:
            self._given_mean = self._broadcast(self.input_mean)
            self._given_variance = self._broadcast(self.input_variance)
            return
        dtype = self.compute_dtype
        self.adapt_mean = self.add_weight(
            "mean", shape=self._kept_shape, dtype=dtype, initializer="zeros", trainable=False
        )
        self.adapt_variance = self.add_weight(
            "variance", shape=self._kept_shape, dtype=dtype, initializer="ones", trainable=False
        )
        self.count = self.add_weight(
            "count", shape=(), dtype="int64", initializer="zeros", trainable=False
        )

    def _broadcast(self, given: Any) -> Any:
        value = np.ones(self._kept_shape) * np.asarray(given, np.float64)
        # The layer may be built inside a model's graph, which the values must outlive.
        with tf.init_scope():
            return tf.constant(value.reshape(self._broadcast_shape), self.compute_dtype)

    @property
    def mean(self) -> Any:
        if self.input_mean is not None:
            return self._given_mean
        return tf.reshape(self.adapt_mean, self._broadcast_shape)

    @property
    def variance(self) -> Any:
        if self.input_mean is not None:
            return self._given_variance
        return tf.reshape(self.adapt_variance, self._broadcast_shape)

    def update_state(self, data):
        """Merge the moments of a batch into the running mean and variance."""
        if self.input_mean is not None:
            raise ValueError(
                "Cannot `adapt` a Normalization layer that is initialized with static `mean` and "
                f"`variance`, you passed mean {self.input_mean} and variance "
                f"{self.input_variance}."
            )
        if not self.built:
            raise RuntimeError("`build` must be called before `update_state`.")
        data = as_tensor(data, self.compute_dtype)
        if not tf.is_tensor(data):
            raise TypeError(f"Normalization cannot adapt to data without one shape: {data}")
        kept = tuple(data.shape[a] for a in range(data.shape.rank) if a not in self._reduced_axes)
        if kept != self._kept_shape:
            raise ValueError(
                f"Layer {self.name} was built for data with the sizes {self._kept_shape} along the "
                f"axis {self.axis}. Received data of shape {tuple(data.shape)}."
            )
        batch_mean, batch_variance = tf.nn.moments(data, axes=self._reduced_axes)
        sizes = tf.shape(data, out_type=tf.int64)
        batch_count = tf.reduce_prod(tf.gather(sizes, tf.constant(self._reduced_axes, tf.int64)))
        total = batch_count + self.count
        new = tf.cast(batch_count, data.dtype) / tf.cast(total, data.dtype)
        old = 1.0 - new
        mean = self.adapt_mean * old + batch_mean * new
        self.adapt_variance.assign(
            (self.adapt_variance + (self.adapt_mean - mean) ** 2) * old
            + (batch_variance + (batch_mean - mean) ** 2) * new
        )
        self.adapt_mean.assign(mean)
        self.count.assign(total)

    def reset_state(self):
        """Reset the mean and variance."""
        self._is_adapted = False
        if self.input_mean is not None or not self.built:
            return
        self.adapt_mean.assign(tf.zeros_like(self.adapt_mean))
        self.adapt_variance.assign(tf.ones_like(self.adapt_variance))
        self.count.assign(tf.zeros_like(self.count))

    def call(self, inputs):
        """The inputs, normalized."""
        inputs = as_tensor(inputs, self._compute_dtype_object)
        deviation = tf.maximum(tf.sqrt(self.variance), tf.keras.backend.epsilon())
        if self.invert:
            return self.mean + inputs * deviation
        return (inputs - self.mean) / deviation

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def compute_output_signature(self, input_spec):
        """The signature of the inputs."""
        return input_spec

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "axis": self.axis,
            "invert": self.invert,
            "mean": self.input_mean,
            "variance": self.input_variance,
        }


def _as_list(value: Any) -> Any:
    if isinstance(value, tf.Tensor | tf.Variable | np.ndarray):
        return np.asarray(value).tolist()
    return value

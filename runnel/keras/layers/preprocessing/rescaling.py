"""Rescaling: inputs * scale + offset."""

from __future__ import annotations

import runnel as tf

from ...engine.base_layer import Layer
from .base import as_tensor


class Rescaling(Layer):
    """inputs * scale + offset, in training and inference.

    >>> tf.keras.layers.Rescaling(1 / 127.5, offset=-1)([0, 255]).numpy().tolist()
    [-1.0, 1.0]
    """

    def __init__(self, scale, offset=0.0, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale
        self.offset = offset

    def call(self, inputs):
        """The rescaled inputs."""
        dtype = self._compute_dtype_object
        scaled = as_tensor(inputs, dtype) * tf.cast(self.scale, dtype)
        return scaled + tf.cast(self.offset, dtype)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "scale": self.scale, "offset": self.offset}

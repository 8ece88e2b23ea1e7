"""RandomFourierFeatures: random projections whose dot products approximate a kernel function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import runnel as tf

from .. import initializers
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec

_KERNELS = ["gaussian", "laplacian"]


class RandomFourierFeatures(Layer):
    """cos(x @ kernel / scale + bias), with a fixed random kernel.

    The dot product of the features of two inputs approximates a Gaussian or Laplacian kernel
    function of the inputs.

    >>> tf.keras.layers.experimental.RandomFourierFeatures(8)(tf.ones([2, 3])).shape
    TensorShape([2, 8])
    """

    def __init__(
        self,
        output_dim,
        kernel_initializer="gaussian",
        scale=None,
        trainable=False,
        name=None,
        **kwargs,
    ):
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Received: {output_dim}")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(
                f"Unsupported `kernel_initializer`: {kernel_initializer} Expected one of: "
                f"{_KERNELS}"
            )
        if scale is not None and scale <= 0.0:
            raise ValueError(
                f"When provided, `scale` should be a positive float. Received: {scale}"
            )
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim = output_dim
        self.kernel_initializer = kernel_initializer
        self.scale = scale

    def build(self, input_shape):
        """Create the random kernel and bias, and the scale."""
        input_shape = tf.TensorShape(input_shape)
        if input_shape.rank != 2:
            raise ValueError(
                "The rank of the input tensor should be 2. Received input with rank "
                f"{input_shape.rank} instead. Full input shape received: {input_shape}"
            )
        columns = input_shape[1]
        if columns is None:
            raise ValueError(
                "The last dimension of the input tensor should be defined. Found `None`. Full "
                f"input shape received: {input_shape}"
            )
        self.input_spec = InputSpec(ndim=2, axes={1: columns})
        self.unscaled_kernel = self.add_weight(
            name="unscaled_kernel",
            shape=(columns, self.output_dim),
            dtype=tf.float32,
            initializer=_kernel_initializer(self.kernel_initializer),
            trainable=False,
        )
        self.bias = self.add_weight(
            name="bias",
            shape=(self.output_dim,),
            dtype=tf.float32,
            initializer=initializers.RandomUniform(minval=0.0, maxval=2 * math.pi),
            trainable=False,
        )
        if self.scale is None:
            self.scale = _default_scale(self.kernel_initializer, columns)
        self.kernel_scale = self.add_weight(
            name="kernel_scale",
            shape=(1,),
            dtype=tf.float32,
            initializer=initializers.Constant(self.scale),
            trainable=True,
            constraint="NonNeg",
        )
        Layer.build(self, input_shape)

    def call(self, inputs):
        """The features of the inputs."""
        inputs = tf.cast(tf.convert_to_tensor(inputs, dtype=self.dtype), tf.float32)
        kernel = (1.0 / self.kernel_scale) * self.unscaled_kernel
        return tf.cos(tf.matmul(inputs, kernel) + self.bias)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs, with the number of features last."""
        shape = tf.TensorShape(input_shape).with_rank(2)
        if shape[-1] is None:
            raise ValueError(
                "The last dimension of the input tensor should be defined. Found `None`. Full "
                f"input shape received: {input_shape}"
            )
        return shape[:-1].concatenate(self.output_dim)

    def get_config(self):
        """The constructor arguments, as a dict."""
        kernel = self.kernel_initializer
        return {
            **super().get_config(),
            "output_dim": self.output_dim,
            "kernel_initializer": kernel
            if isinstance(kernel, str)
            else initializers.serialize(kernel),
            "scale": self.scale,
        }


def _kernel_initializer(kernel: Any) -> Any:
    if not isinstance(kernel, str):
        return initializers.get(kernel)
    if kernel.lower() == "gaussian":
        return initializers.RandomNormal(stddev=1.0)
    return _cauchy


def _cauchy(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """Samples of the Cauchy distribution, the Fourier transform of the Laplacian kernel."""
    quantiles = np.random.uniform(size=tuple(shape))
    return tf.constant(np.tan(math.pi * (quantiles - 0.5)), dtype=dtype or tf.float32)


def _default_scale(kernel: Any, columns: int) -> float:
    return math.sqrt(columns / 2.0) if str(kernel).lower() == "gaussian" else 1.0

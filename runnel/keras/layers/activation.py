"""Parametrized activation functions as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf

from ..backend.elementwise import elu, relu
from ..backend.settings import floatx
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from .arguments import options_config, set_options


class _Elementwise(Layer):
    """An element-wise activation."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape


def _rounded(number: Any) -> np.ndarray:
    """A number rounded to the default float type."""
    return np.asarray(number, dtype=floatx())


class ReLU(_Elementwise):
    """max(x, 0), or more generally

        max_value                       for x >= max_value
        x                               for threshold <= x < max_value
        negative_slope * (x - threshold) otherwise

    >>> tf.keras.layers.ReLU(max_value=6)(tf.constant([-2.0, 1.0, 9.0])).numpy().tolist()
    [0.0, 1.0, 6.0]
    """

    def __init__(self, max_value=None, negative_slope=0.0, threshold=0.0, **kwargs):
        super().__init__(**kwargs)
        message = "{} of a ReLU layer cannot be a negative value. Received: {}"
        if max_value is not None and max_value < 0.0:
            raise ValueError(message.format("max_value", max_value))
        if negative_slope is None or negative_slope < 0.0:
            raise ValueError(message.format("negative_slope", negative_slope))
        if threshold is None or threshold < 0.0:
            raise ValueError(message.format("threshold", threshold))
        self.max_value = None if max_value is None else _rounded(max_value)
        self.negative_slope = _rounded(negative_slope)
        self.threshold = _rounded(threshold)

    def call(self, inputs):
        """Apply the function element-wise."""
        return relu(
            inputs,
            alpha=float(self.negative_slope),
            max_value=None if self.max_value is None else float(self.max_value),
            threshold=float(self.threshold),
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "max_value": self.max_value,
            "negative_slope": self.negative_slope,
            "threshold": self.threshold,
        }


class LeakyReLU(_Elementwise):
    """x for x > 0, alpha * x otherwise.

    >>> tf.keras.layers.LeakyReLU(0.5)(tf.constant([-2.0, 3.0])).numpy().tolist()
    [-1.0, 3.0]
    """

    def __init__(self, alpha=0.3, **kwargs):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError(
                "The alpha value of a Leaky ReLU layer cannot be None, Expecting a float. "
                f"Received: {alpha}"
            )
        self.alpha = _rounded(alpha)

    def call(self, inputs):
        """Apply the function element-wise."""
        return relu(inputs, alpha=float(self.alpha))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "alpha": float(self.alpha)}


class ELU(_Elementwise):
    """x for x > 0, alpha * (exp(x) - 1) otherwise.

    >>> tf.keras.layers.ELU()(tf.constant([-50.0, 3.0])).numpy().tolist()
    [-1.0, 3.0]
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError(
                f"Alpha of an ELU layer cannot be None, expecting a float. Received: {alpha}"
            )
        self.alpha = _rounded(alpha)

    def call(self, inputs):
        """Apply the function element-wise."""
        return elu(inputs, float(self.alpha))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "alpha": float(self.alpha)}


class ThresholdedReLU(_Elementwise):
    """x for x > theta, 0 otherwise.

    >>> tf.keras.layers.ThresholdedReLU(1.5)(tf.constant([1.0, 2.0])).numpy().tolist()
    [0.0, 2.0]
    """

    def __init__(self, theta=1.0, **kwargs):
        super().__init__(**kwargs)
        if theta is None:
            raise ValueError(
                "Theta of a Thresholded ReLU layer cannot be None, expecting a float. Received: "
                f"{theta}"
            )
        if theta < 0:
            raise ValueError(
                f"The theta value of a Thresholded ReLU layer should be >=0. Received: {theta}"
            )
        self.theta = _rounded(theta)

    def call(self, inputs):
        """Apply the function element-wise."""
        inputs = tf.convert_to_tensor(inputs)
        return inputs * tf.cast(inputs > float(self.theta), inputs.dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "theta": float(self.theta)}


class PReLU(_Elementwise):
    """x for x > 0, alpha * x otherwise, with a trainable alpha for each feature.

    >>> layer = tf.keras.layers.PReLU(alpha_initializer="ones")
    >>> layer(tf.constant([[-2.0, 3.0]])).numpy().tolist()
    [[-2.0, 3.0]]
    """

    def __init__(
        self,
        alpha_initializer="zeros",
        alpha_regularizer=None,
        alpha_constraint=None,
        shared_axes=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        set_options(
            self,
            alpha_initializer=alpha_initializer,
            alpha_regularizer=alpha_regularizer,
            alpha_constraint=alpha_constraint,
        )
        if shared_axes is not None:
            shared_axes = list(shared_axes) if isinstance(shared_axes, list | tuple) else [
                shared_axes
            ]  # fmt: skip
        self.shared_axes = shared_axes

    def build(self, input_shape):
        """Create alpha."""
        input_shape = tf.TensorShape(input_shape)
        sizes = input_shape.as_list()[1:]
        for axis in self.shared_axes or ():
            sizes[axis - 1] = 1
        if None in sizes:
            raise ValueError(
                "The sizes of the inputs to a PReLU layer must be known except for the first and "
                f"the shared axes. Received shape {input_shape} with "
                f"shared_axes={self.shared_axes}"
            )
        self.alpha = self.add_weight(
            shape=sizes,
            name="alpha",
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        shared = self.shared_axes or ()
        axes = {
            axis: input_shape[axis] for axis in range(1, len(input_shape)) if axis not in shared
        }
        self.input_spec = InputSpec(ndim=len(input_shape), axes=axes)
        Layer.build(self, input_shape)

    def call(self, inputs):
        """Apply the function element-wise."""
        return tf.nn.relu(inputs) - self.alpha * tf.nn.relu(-inputs)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            **options_config(self, "alpha_initializer", "alpha_regularizer", "alpha_constraint"),
            "shared_axes": self.shared_axes,
        }


class Softmax(_Elementwise):
    """exp(x) / sum(exp(x)) along one or several axes; 0 where the mask is False.

    >>> tf.keras.layers.Softmax()(tf.constant([[0.0, 0.0]])).numpy().tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, axis=-1, robust_masking=False, **kwargs):
        super().__init__(**kwargs)
        self.robust_masking = robust_masking
        self.axis = axis

    def call(self, inputs, mask=None):
        """The probabilities."""
        if mask is not None:
            inputs = self._masked(inputs, mask)
        if not isinstance(self.axis, list | tuple):
            return tf.keras.activations.softmax(inputs, axis=self.axis)
        if len(self.axis) == 1:
            return tf.keras.activations.softmax(inputs, axis=self.axis[0])
        return tf.exp(inputs - tf.reduce_logsumexp(inputs, axis=self.axis, keepdims=True))

    def _masked(self, inputs: Any, mask: Any) -> Any:
        """The inputs, masked with a large negative number where the mask is False."""
        lowest = tf.constant(-65504.0 if inputs.dtype is tf.float16 else -1e9, inputs.dtype)
        if self.robust_masking:
            return tf.where(tf.cast(mask, tf.bool), inputs, lowest)
        return inputs + (1.0 - tf.cast(mask, inputs.dtype)) * lowest

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = {**super().get_config(), "axis": self.axis}
        if self.robust_masking:
            config["robust_masking"] = True
        return config

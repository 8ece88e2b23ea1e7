"""Normalization per example, and of a layer's weights."""

from __future__ import annotations

from functools import partial
from typing import Any

import runnel as tf

from ...ops.nn.group_normalization import composed_group_norm, group_norm
from ...ops.nn.normalization import fused_batch_norm
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from ..engine.kinds import is_ragged
from ..initializers import TruncatedNormal
from .arguments import options_config, set_options
from .batch_normalization import BatchNormalization as BatchNormalization, checked_axes
from .wrapper import Wrapper

_OPTIONS = (
    *("beta_initializer", "gamma_initializer"),
    *("beta_regularizer", "gamma_regularizer"),
    *("beta_constraint", "gamma_constraint"),
)
_HALF_PRECISION = (tf.float16, tf.bfloat16)
# The minimum epsilon of the fused op.
_SMALLEST_FUSED_EPSILON = 1.001e-5


class _Scaled(Layer):
    """A normalization followed by gamma * x + beta."""

    def __init__(self, epsilon, center, scale, options, **kwargs):
        super().__init__(**kwargs)
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        set_options(self, **options)
        self.supports_masking = True

    def _add_parameters(self, shape: Any) -> None:
        self.gamma = self._add("gamma", shape) if self.scale else None
        self.beta = self._add("beta", shape) if self.center else None

    def _add(self, name: str, shape: Any) -> tf.Variable:
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
            experimental_autocast=False,
        )

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def _common_config(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **options_config(self, *_OPTIONS),
        }


class LayerNormalization(_Scaled):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta, per example.

    >>> layer = tf.keras.layers.LayerNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0, 3.0], [10.0, 50.0]])).numpy().tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """

    def __init__(
        self,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        options = {
            "beta_initializer": beta_initializer,
            "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer,
            "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint,
            "gamma_constraint": gamma_constraint,
        }
        super().__init__(epsilon, center, scale, options, **kwargs)
        if isinstance(axis, list | tuple):
            self.axis = list(axis)
        elif isinstance(axis, int):
            self.axis = axis
        else:
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis!r}"
            )

    def build(self, input_shape):
        """Create gamma and beta."""
        input_shape = tf.TensorShape(input_shape)
        self.axis = checked_axes(self.axis, input_shape)
        sizes = [input_shape[axis] for axis in self.axis]
        if None in sizes:
            raise ValueError(
                f"Input has undefined `axis` dimension. Received input with shape {input_shape} "
                f"and axis={tuple(self.axis)}"
            )
        self._add_parameters(sizes)
        rank = input_shape.rank
        last = self.axis == list(range(rank - len(sizes), rank))
        self._fused = last and self.epsilon >= _SMALLEST_FUSED_EPSILON and self.dtype != "float64"
        self._spread_shape = None
        if not last:
            of_axis = dict(zip(self.axis, sizes, strict=True))
            self._spread_shape = [of_axis.get(axis, 1) for axis in range(rank)]
        Layer.build(self, input_shape)

    def call(self, inputs):
        """The normalized inputs."""
        if is_ragged(inputs) and min(self.axis) > inputs.ragged_rank:
            # Ragged values normalized as one example, with the axes of the ragged tensor.
            rows = inputs.flat_values[(tf.newaxis,) * inputs.ragged_rank]
            return inputs.with_flat_values(self.call(rows)[(0,) * inputs.ragged_rank])
        if not inputs.dtype.is_floating:
            inputs = tf.cast(inputs, self._compute_dtype_object)
        kind = inputs.dtype
        if kind in _HALF_PRECISION:
            inputs = tf.cast(inputs, tf.float32)
        outputs = self._fused_norm(inputs) if self._fused else self._plain_norm(inputs)
        if self.gamma is not None:
            outputs = outputs * self._spread(self.gamma, outputs.dtype)
        if self.beta is not None:
            outputs = outputs + self._spread(self.beta, outputs.dtype)
        return outputs if outputs.dtype is kind else tf.cast(outputs, kind)

    def _plain_norm(self, inputs: Any) -> Any:
        mean, variance = tf.nn.moments(inputs, self.axis, keepdims=True)
        return tf.nn.batch_normalization(inputs, mean, variance, None, None, self.epsilon)

    def _fused_norm(self, inputs: Any) -> Any:
        """Each example as a channel of one image, for the fused batch normalization."""
        examples = self._examples(inputs)
        rows = examples.shape[1]
        count = tf.shape(examples)[1:2] if rows is None else [rows]
        kind = inputs.dtype
        outputs, _, _ = fused_batch_norm(
            examples,
            tf.ones(count, kind),
            tf.zeros(count, kind),
            epsilon=self.epsilon,
            data_format="NCHW",
        )
        if inputs.shape.is_fully_defined():
            return tf.reshape(outputs, inputs.shape)
        result = tf.reshape(outputs, tf.shape(inputs))
        result.set_shape(inputs.shape)
        return result

    def _examples(self, inputs: Any) -> Any:
        columns = 1
        for axis in self.axis:
            columns *= inputs.shape[axis]
        if columns:
            return tf.reshape(inputs, [1, -1, columns, 1])
        rows = tf.reduce_prod(tf.shape(inputs)[: self.axis[0]])
        return tf.reshape(inputs, [1, rows, columns, 1])

    def _spread(self, parameter: Any, dtype: Any) -> Any:
        if parameter.dtype is not dtype:
            parameter = tf.cast(parameter, dtype)
        return (
            parameter if self._spread_shape is None else tf.reshape(parameter, self._spread_shape)
        )

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "axis": self.axis, **self._common_config()}


class GroupNormalization(_Scaled):
    """Normalization of groups of channels, per example.

    `groups=1` is nearly a LayerNormalization, `groups=-1` an InstanceNormalization.

    >>> tf.keras.layers.GroupNormalization(2)(tf.ones([2, 5, 5, 4])).shape
    TensorShape([2, 5, 5, 4])
    """

    def __init__(
        self,
        groups=32,
        axis=-1,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        options = {
            "beta_initializer": beta_initializer,
            "gamma_initializer": gamma_initializer,
            "beta_regularizer": beta_regularizer,
            "gamma_regularizer": gamma_regularizer,
            "beta_constraint": beta_constraint,
            "gamma_constraint": gamma_constraint,
        }
        super().__init__(epsilon, center, scale, options, **kwargs)
        self.groups = groups
        self.axis = axis

    def build(self, input_shape):
        """Create gamma and beta."""
        input_shape = tf.TensorShape(input_shape)
        checked_axes(self.axis, input_shape)
        channels = input_shape[self.axis]
        if channels is None:
            raise ValueError(
                f"Axis {self.axis} of input tensor should have a defined dimension but the layer "
                f"received an input with shape {input_shape}."
            )
        if self.groups == -1:
            self.groups = channels
        if channels < self.groups:
            raise ValueError(
                f"Number of groups ({self.groups}) cannot be more than the number of channels "
                f"({channels})."
            )
        if channels % self.groups != 0:
            raise ValueError(
                f"Number of groups ({self.groups}) must be a multiple of the number of channels "
                f"({channels})."
            )
        self.input_spec = InputSpec(ndim=input_shape.rank, axes={self.axis: channels})
        self._channels = channels
        self._add_parameters((channels,))
        super().build(input_shape)

    def call(self, inputs, mask=None):
        """The normalized inputs."""
        kind = inputs.dtype
        axis = self.axis % inputs.shape.rank
        values = tf.cast(inputs, tf.float32) if kind in _HALF_PRECISION else inputs
        scale = self._vector(self.gamma, tf.ones, values.dtype)
        offset = self._vector(self.beta, tf.zeros, values.dtype)
        arguments = (values, scale, offset, self.groups, axis, self.epsilon)
        if mask is None and axis:
            outputs = group_norm(*arguments)
        else:
            moments = None if mask is None else partial(self._moments, mask)
            outputs = composed_group_norm(*arguments, moments)
        return outputs if outputs.dtype is kind else tf.cast(outputs, kind)

    def _moments(self, mask: Any, grouped: Any, axes: list[int]) -> Any:
        weights = tf.cast(mask, grouped.dtype)
        for _ in range(grouped.shape.rank - weights.shape.rank):
            weights = tf.expand_dims(weights, -1)
        return tf.nn.weighted_moments(grouped, axes, weights, keepdims=True)

    def _vector(self, parameter: Any, otherwise: Any, dtype: Any) -> Any:
        if parameter is None:
            return otherwise([self._channels], dtype)
        return tf.cast(parameter, dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "groups": self.groups,
            "axis": self.axis,
            **self._common_config(),
        }


class UnitNormalization(Layer):
    """x / sqrt(sum(x²)): L2 normalization.

    >>> tf.keras.layers.UnitNormalization()(tf.constant([[3.0, 4.0]])).numpy().round(6).tolist()
    [[0.6..., 0.8...]]
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        if isinstance(axis, list | tuple):
            self.axis = list(axis)
        elif isinstance(axis, int):
            self.axis = axis
        else:
            raise TypeError(
                "Invalid value for `axis` argument: expected an int or a list/tuple of ints. "
                f"Received: axis={axis}"
            )
        self.supports_masking = True

    def build(self, input_shape):
        """Check the axes."""
        checked_axes(self.axis, tf.TensorShape(input_shape))
        Layer.build(self, input_shape)

    def call(self, inputs):
        """The inputs with unit norm."""
        inputs = tf.cast(inputs, self._compute_dtype_object)
        return tf.linalg.l2_normalize(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "axis": self.axis}


class SpectralNormalization(Wrapper):
    """Divides a layer's kernel by its spectral norm at each training call.

    >>> layer = tf.keras.layers.SpectralNormalization(tf.keras.layers.Dense(2))
    >>> layer(tf.ones([3, 4]), training=True).shape
    TensorShape([3, 2])
    """

    def __init__(self, layer, power_iterations=1, **kwargs):
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                "`power_iterations` should be greater than zero. Received: "
                f"`power_iterations={power_iterations}`"
            )
        self.power_iterations = power_iterations

    def build(self, input_shape):
        """Build the layer; find its kernel, create the power-iteration vector."""
        super().build(input_shape)
        input_shape = tf.TensorShape(input_shape)
        self.input_spec = InputSpec(shape=[None, *input_shape[1:]])
        for name in ("kernel", "embeddings"):
            if hasattr(self.layer, name):
                self.kernel = getattr(self.layer, name)
                break
        else:
            raise ValueError(
                f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'"
            )
        self.kernel_shape = self.kernel.shape.as_list()
        self.vector_u = self.add_weight(
            shape=(1, self.kernel_shape[-1]),
            initializer=TruncatedNormal(stddev=0.02),
            trainable=False,
            name="vector_u",
            dtype=self.kernel.dtype,
        )

    def call(self, inputs, training=False):
        """The layer's outputs; in training the kernel is normalized first."""
        if training:
            self.normalize_weights()
        return self.layer(inputs)

    def compute_output_shape(self, input_shape):
        """The output shape of the wrapped layer."""
        return self.layer.compute_output_shape(input_shape)

    def normalize_weights(self):
        """Divide the kernel by its largest singular value, estimated by power iteration."""
        weights = tf.reshape(self.kernel, [-1, self.kernel_shape[-1]])
        right = self.vector_u.read_value()
        for _ in range(self.power_iterations):
            left = tf.math.l2_normalize(tf.matmul(right, weights, transpose_b=True))
            right = tf.math.l2_normalize(tf.matmul(left, weights))
        left, right = tf.stop_gradient(left), tf.stop_gradient(right)
        value = tf.matmul(tf.matmul(left, weights), right, transpose_b=True)
        is_zero = tf.reduce_all(tf.equal(weights, 0))
        self.vector_u.assign(tf.where(is_zero, self.vector_u, right))
        # A zero kernel has no singular vector.
        value = tf.where(is_zero, tf.ones_like(value), value)
        self.kernel.assign(tf.reshape(self.kernel / value, self.kernel_shape))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "power_iterations": self.power_iterations}

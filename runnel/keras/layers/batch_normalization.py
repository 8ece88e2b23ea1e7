"""BatchNormalization: each channel standardized to mean 0 and variance 1 over the batch."""

from __future__ import annotations

import warnings
from typing import Any

import runnel as tf

from ...core.graph.main_graph import main_graph_being_built
from ...ops.nn.normalization import fused_batch_norm
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from ..engine.layer_weights import set_plainly
from .arguments import options_config, set_options
from .batch_variants import BatchVariants

# The channel axis of images and volumes, by the data format of the fused op.
_FUSED_FORMATS: dict[Any, str] = {(4, 1): "NCHW", (4, 3): "NHWC", (5, 1): "NCDHW", (5, 4): "NDHWC"}
_VARIANTS = frozenset(
    {"fused", "renorm", "renorm_clipping", "renorm_momentum", "virtual_batch_size", "adjustment"}
)
# The minimum epsilon of the fused op.
_SMALLEST_EPSILON = 1.001e-5


def checked_axes(axis: Any, input_shape: Any) -> list[int]:
    """Non-negative axes; ValueError for axes out of range or repeated."""
    rank = input_shape.rank
    axes = [axis] if isinstance(axis, int) else list(axis)
    positive = [each + rank if each < 0 else each for each in axes]
    if any(not 0 <= each < rank for each in positive):
        raise ValueError(
            "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with "
            f"inputs.rank={rank}). Received: axis={tuple(axes)}"
        )
    if len(positive) != len(set(positive)):
        raise ValueError(f"Duplicate axis: {tuple(positive)}")
    return positive


class BatchNormalization(BatchVariants):
    """gamma * (x - mean) / sqrt(variance + epsilon) + beta

    In training mean and variance are those of the batch, and the moving averages are updated; in
    inference, or if the layer is not `trainable`, the moving averages are used.

    >>> layer = tf.keras.layers.BatchNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().tolist()
    [[-1.0], [1.0]]
    """

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        synchronized=False,
        **kwargs,
    ):
        variants = {key: kwargs.pop(key) for key in _VARIANTS & set(kwargs)}
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self._take_variants(variants)
        fused = variants.get("fused")
        if isinstance(axis, list | tuple):
            self.axis = axis[:]
        elif isinstance(axis, int):
            self.axis = axis
        else:
            raise TypeError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received: "
                f"{axis!r}"
            )
        if synchronized and fused:
            raise ValueError("`fused=True` is not supported when `synchronized=True`.")
        self.synchronized = synchronized
        self.fused = False if synchronized or self._varied else fused
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        set_options(
            self,
            beta_initializer=beta_initializer,
            gamma_initializer=gamma_initializer,
            moving_mean_initializer=moving_mean_initializer,
            moving_variance_initializer=moving_variance_initializer,
            beta_regularizer=beta_regularizer,
            gamma_regularizer=gamma_regularizer,
            beta_constraint=beta_constraint,
            gamma_constraint=gamma_constraint,
        )
        self.supports_masking = True

    @property
    def _param_dtype(self) -> Any:
        return tf.float32 if self.dtype in ("float16", "bfloat16") else self.dtype or tf.float32

    def build(self, input_shape):
        """Create gamma, beta and the moving averages."""
        input_shape = tf.TensorShape(input_shape)
        self.axis = checked_axes(self.axis, input_shape)
        rank = input_shape.rank
        sizes = {axis: input_shape[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError(
                f"Input has undefined `axis` dimension. Received input with shape {input_shape} "
                f"and axis={tuple(self.axis)}"
            )
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        self._fused_format = None
        if self.fused in (None, True):
            self._set_fused(rank)
        # With virtual batches there is an extra second axis, the index of the virtual batch.
        virtual = self.virtual_batch_size is not None
        if len(sizes) == 1 and not virtual:
            shape = (sizes[self.axis[0]],)
        else:
            shape = (*(1,) * virtual, *(sizes.get(axis, 1) for axis in range(rank)))
        self.gamma = self._add("gamma", shape) if self.scale else None
        self.beta = self._add("beta", shape) if self.center else None
        self.moving_mean = self._add_moving("moving_mean", shape)
        self.moving_variance = self._add_moving("moving_variance", shape)
        if self.renorm:
            self._add_renorm_weights(shape)
        reduced = [axis for axis in range(rank) if axis not in sizes]
        self._reduction_axes = [axis + virtual if axis else axis for axis in reduced]
        # A vector for channels that are not last is reshaped to broadcast against the inputs.
        self._spread_shape = None
        if len(sizes) == 1 and self.axis != [rank - 1] and not virtual:
            self._spread_shape = [sizes.get(axis, 1) for axis in range(rank)]
        Layer.build(self, input_shape)

    def _set_fused(self, rank: int) -> None:
        where = (rank, self.axis[0] if len(self.axis) == 1 else None)
        possible = where in _FUSED_FORMATS and self.dtype != "float64"
        if self.fused and where not in _FUSED_FORMATS:
            raise ValueError(
                "Batch normalization layers with `fused=True` only support 4D or 5D input "
                "tensors with the channels first or last. Received tensor of rank "
                f"{rank} with axis={self.axis}"
            )
        self.fused = possible
        self._fused_format = _FUSED_FORMATS.get(where) if possible else None

    def _add(self, name: str, shape: tuple[int, ...]) -> tf.Variable:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
            experimental_autocast=False,
        )

    def _add_moving(self, name: str, shape: tuple[int, ...]) -> tf.Variable:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            synchronization=tf.VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=tf.VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    def call(self, inputs, training=None, mask=None):
        """The normalized inputs."""
        inputs = tf.cast(inputs, self._compute_dtype_object)
        if self.virtual_batch_size is not None:
            return self._call_in_virtual_batches(inputs, training, mask)
        return self._call(inputs, training, mask)

    def _call_in_virtual_batches(self, inputs: Any, training: Any, mask: Any) -> Any:
        sizes = tf.shape(inputs)
        parts = tf.concat([[self.virtual_batch_size, -1], sizes[1:]], axis=0)
        batches = tf.reshape(inputs, parts)
        batches.set_shape([self.virtual_batch_size, None, *inputs.shape[1:]])
        outputs = tf.reshape(self._call(batches, training, mask), sizes)
        outputs.set_shape(inputs.shape)
        return outputs

    def _call(self, inputs: Any, training: Any, mask: Any) -> Any:
        if not self._trainable:
            training = False
        graph = main_graph_being_built()
        if graph is not None:
            return self._normalize_in_graph(graph, inputs, training, mask)
        if isinstance(training, tf.Tensor | tf.Variable):
            return tf.cond(
                tf.cast(training, tf.bool),
                lambda: self._normalize(inputs, True, mask),
                lambda: self._normalize(inputs, False, mask),
            )
        return self._normalize(inputs, bool(training), mask)

    def _normalize_in_graph(self, graph: Any, inputs: Any, training: Any, mask: Any) -> Any:
        """Normalize in a graph; moving-average updates go to `updates`, which a session runs."""
        if not isinstance(training, tf.Tensor | tf.Variable):
            start = len(graph.operations)
            outputs = self._normalize(inputs, bool(training), mask)
            self.add_update(graph.effects_since(start))
            return outputs
        moves: list[tuple[tf.Variable, Any]] = []

        def in_training() -> list[Any]:
            moves.clear()
            set_plainly(self, "_put_off", moves)
            try:
                outputs = self._normalize(inputs, True, mask)
            finally:
                set_plainly(self, "_put_off", None)
            return [outputs, *[value for _, value in moves]]

        def in_inference() -> list[Any]:
            outputs = self._normalize(inputs, False, mask)
            return [outputs, *[variable.read_value() for variable, _ in moves]]

        outputs, *values = tf.cond(tf.cast(training, tf.bool), in_training, in_inference)
        for (variable, _), value in zip(moves, values, strict=True):
            self.add_update(variable.assign(value))
        return outputs

    def _normalize(self, inputs: Any, training: bool, mask: Any) -> Any:
        if self._fused_format is not None:
            if mask is not None:
                warnings.warn(
                    "Masking is not supported with `fused=True`. You should either turn off "
                    "fusing (`fused=False`) or you should not pass a `mask` argument when calling "
                    "the layer. For the moment `mask` will be ignored for the normalization.",
                    stacklevel=2,
                )
            return self._fused_batch_norm(inputs, training)
        mean, variance = self.moving_mean, self.moving_variance
        beta, gamma = self._spread(self.beta), self._spread(self.gamma)
        if training:
            mean, variance = self._moments(inputs, mask)
            if self.adjustment is not None:
                factor, offset = self.adjustment(tf.shape(inputs))
                beta, gamma = _composed(factor, offset, beta, gamma)
            usual_mean, usual_variance = self._over_virtual_batches(mean, variance)
            if self.renorm:
                factor, offset = self._renormalization(usual_mean, usual_variance)
                beta, gamma = _composed(self._spread(factor), self._spread(offset), beta, gamma)
                self._move_deviation(usual_variance, self.moving_variance)
            else:
                self._move(self.moving_variance, usual_variance, self.momentum)
            self._move(self.moving_mean, usual_mean, self.momentum)
        outputs = tf.nn.batch_normalization(
            inputs, self._spread(mean), self._spread(variance), beta, gamma, self.epsilon
        )
        return outputs if outputs.dtype is inputs.dtype else tf.cast(outputs, inputs.dtype)

    def _spread(self, vector: Any) -> Any:
        if vector is None or self._spread_shape is None:
            return vector
        return tf.reshape(vector, self._spread_shape)

    def _moments(self, inputs: Any, mask: Any) -> Any:
        inputs = tf.cast(inputs, self._param_dtype)
        keepdims = len(self.axis) > 1 or self.virtual_batch_size is not None
        if mask is None and self.synchronized:
            # Unlike tf.nn.moments this keeps all terms of the second derivatives.
            mean = tf.reduce_mean(inputs, self._reduction_axes, keepdims=keepdims)
            return mean, tf.math.reduce_variance(inputs, self._reduction_axes, keepdims=keepdims)
        if mask is None:
            return tf.nn.moments(inputs, self._reduction_axes, keepdims=keepdims)
        weights = tf.cast(mask, inputs.dtype)
        for _ in range(inputs.shape.rank - weights.shape.rank):
            weights = tf.expand_dims(weights, -1)
        return tf.nn.weighted_moments(inputs, self._reduction_axes, weights, keepdims=keepdims)

    def _fused_batch_norm(self, inputs: Any, training: bool) -> Any:
        channels = self.moving_mean.shape
        gamma = tf.ones(channels, self._param_dtype) if self.gamma is None else self.gamma
        beta = tf.zeros(channels, self._param_dtype) if self.beta is None else self.beta
        outputs, mean, variance = fused_batch_norm(
            inputs,
            gamma,
            beta,
            self.moving_mean,
            self.moving_variance,
            epsilon=max(self.epsilon, _SMALLEST_EPSILON),
            is_training=training,
            data_format=self._fused_format,
            exponential_avg_factor=1.0 - self.momentum if training else 1.0,
        )
        # The moments of an empty batch are NaN.
        if training and inputs.shape[0] != 0:
            self._set(self.moving_mean, mean)
            self._set(self.moving_variance, variance)
        return outputs

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "axis": self.axis,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
            "center": self.center,
            "scale": self.scale,
            **options_config(
                self,
                *("beta_initializer", "gamma_initializer"),
                *("moving_mean_initializer", "moving_variance_initializer"),
                *("beta_regularizer", "gamma_regularizer"),
                *("beta_constraint", "gamma_constraint"),
            ),
            **self._variants_config(),
        }


class SyncBatchNormalization(BatchNormalization):
    """BatchNormalization with moments over all replicas.

    >>> layer = tf.keras.layers.experimental.SyncBatchNormalization(epsilon=0.0)
    >>> layer(tf.constant([[1.0], [3.0]]), training=True).numpy().tolist()
    [[-1.0], [1.0]]
    """

    def __init__(
        self,
        axis=-1,
        momentum=0.99,
        epsilon=1e-3,
        center=True,
        scale=True,
        beta_initializer="zeros",
        gamma_initializer="ones",
        moving_mean_initializer="zeros",
        moving_variance_initializer="ones",
        beta_regularizer=None,
        gamma_regularizer=None,
        beta_constraint=None,
        gamma_constraint=None,
        **kwargs,
    ):
        super().__init__(
            axis,
            momentum,
            epsilon,
            center,
            scale,
            beta_initializer,
            gamma_initializer,
            moving_mean_initializer,
            moving_variance_initializer,
            beta_regularizer,
            gamma_regularizer,
            beta_constraint,
            gamma_constraint,
            synchronized=True,
            **kwargs,
        )


def _composed(factor: Any, offset: Any, beta: Any, gamma: Any) -> tuple[Any, Any]:
    """The beta and gamma of the composition of two affine maps."""
    if gamma is not None:
        factor, offset = factor * gamma, offset * gamma
    return (offset if beta is None else offset + beta), factor

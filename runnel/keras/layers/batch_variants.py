"""Variants of BatchNormalization: renorm, virtual batches, adjustment.

Batch renormalization corrects the batch moments towards the moving averages, so that training and
inference compute the same function: y = (x - mean) / stddev * r + d.
"""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.base_layer import Layer

_CLIPPING_KEYS = ["rmax", "rmin", "dmax"]


class BatchVariants(Layer):
    """The arguments `renorm`, `virtual_batch_size` and `adjustment` of BatchNormalization."""

    moving_variance_initializer: Any
    _param_dtype: Any
    epsilon: float
    momentum: float
    moving_stddev: tf.Variable
    renorm_mean: tf.Variable
    renorm_stddev: tf.Variable
    # Moving averages with their new values, where updates are deferred until after a branch.
    _put_off: list[tuple[tf.Variable, Any]] | None = None

    def _take_variants(self, kwargs: dict[str, Any]) -> None:
        """Pop these arguments from the keyword arguments, and validate them."""
        fused = kwargs.get("fused")
        self.renorm = kwargs.pop("renorm", False)
        clipping = kwargs.pop("renorm_clipping", None) or {}
        self.renorm_momentum = kwargs.pop("renorm_momentum", 0.99)
        self.virtual_batch_size = kwargs.pop("virtual_batch_size", None)
        self.adjustment = kwargs.pop("adjustment", None)
        if self.renorm and fused:
            raise ValueError("Passing both `fused=True` and `renorm=True` is not supported")
        for name in ("virtual_batch_size", "adjustment"):
            if getattr(self, name) is not None and fused:
                raise ValueError(
                    f"Passing `fused=True` is not supported when `{name}` is specified."
                )
        if self.renorm and not set(clipping) <= set(_CLIPPING_KEYS):
            raise ValueError(
                f"Received invalid keys for `renorm_clipping` argument: {clipping}. Supported "
                f"values: {_CLIPPING_KEYS}."
            )
        self.renorm_clipping = clipping

    @property
    def _varied(self) -> bool:
        """Whether a variant is in use, which the fused op does not support."""
        return bool(self.renorm) or (self.virtual_batch_size, self.adjustment) != (None, None)

    def _add_renorm_weights(self, shape: tuple[int, ...]) -> None:
        def deviation(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
            return tf.sqrt(self.moving_variance_initializer(shape, dtype=dtype))

        for name, initializer in (
            ("moving_stddev", deviation),
            ("renorm_mean", "zeros"),
            ("renorm_stddev", deviation),
        ):
            variable = self.add_weight(
                name=name,
                shape=shape,
                dtype=self._param_dtype,
                initializer=initializer,
                synchronization=tf.VariableSynchronization.ON_READ,
                trainable=False,
                aggregation=tf.VariableAggregation.MEAN,
                experimental_autocast=False,
            )
            setattr(self, name, variable)

    def _renormalization(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        """The factor r and the offset d for the batch moments; updates the moving averages."""
        deviation = tf.sqrt(variance + self.epsilon)
        usual_deviation = tf.maximum(self.renorm_stddev, tf.sqrt(tf.constant(self.epsilon)))
        factor = deviation / usual_deviation
        offset = (mean - self.renorm_mean) / usual_deviation
        least, most = (self.renorm_clipping.get(key) for key in ("rmin", "rmax"))
        factor = factor if least is None else tf.maximum(factor, least)
        factor = factor if most is None else tf.minimum(factor, most)
        bound = self.renorm_clipping.get("dmax")
        if bound is not None:
            offset = tf.clip_by_value(offset, -bound, bound)
        self._move(self.renorm_mean, mean, self.renorm_momentum)
        self._move(self.renorm_stddev, deviation, self.renorm_momentum)
        return tf.stop_gradient(factor), tf.stop_gradient(offset)

    def _move_deviation(self, variance: Any, moving_variance: tf.Variable) -> None:
        """Update the moving standard deviation, and the moving variance derived from it."""
        moved = self._move(self.moving_stddev, tf.sqrt(variance + self.epsilon), self.momentum)
        deviation = tf.convert_to_tensor(moved)
        self._set(moving_variance, tf.nn.relu(deviation * deviation - self.epsilon))

    def _move(self, variable: tf.Variable, value: Any, momentum: float) -> Any:
        """Update a moving average with a batch value; returns its previous value."""
        step = (variable - tf.cast(value, variable.dtype)) * (1.0 - momentum)
        if self._put_off is None:
            return variable.assign_sub(step)
        return self._set(variable, variable - step)

    def _set(self, variable: tf.Variable, value: Any) -> Any:
        """Assign a moving average, now or deferred."""
        if self._put_off is None:
            return variable.assign(value)
        self._put_off.append((variable, value))
        return value

    def _over_virtual_batches(self, *moments: Any) -> tuple[Any, ...]:
        """The mean over virtual batches of their moments; the batch moments without them."""
        if self.virtual_batch_size is None:
            return moments
        return tuple(tf.reduce_mean(each, axis=1, keepdims=True) for each in moments)

    def _variants_config(self) -> dict[str, Any]:
        config: dict[str, Any] = {}
        if self.renorm:
            config["renorm"] = True
            config["renorm_clipping"] = self.renorm_clipping
            config["renorm_momentum"] = self.renorm_momentum
        if self.virtual_batch_size is not None:
            config["virtual_batch_size"] = self.virtual_batch_size
        if self.adjustment is not None:
            tf.get_logger().warning(
                "The `adjustment` function of this `BatchNormalization` layer cannot be serialized "
                "and has been omitted from the layer config. It will not be included when "
                "re-creating the layer from the saved config."
            )
        return config

"""Premade models: linear, and wide and deep."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .. import activations, initializers, regularizers
from .base_layer import Layer
from .data_adapter import unpack_x_y_sample_weight
from .model import Model


class LinearModel(Model):
    """activation(sum of inputs @ kernels + bias), for one input, a list or a dict.

    >>> model = tf.keras.experimental.LinearModel(units=2)
    >>> model({"a": tf.ones([3, 1]), "b": tf.ones([3, 4])}).shape
    TensorShape([3, 2])
    """

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "zeros",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape: Any) -> None:
        """Create a kernel for each input, and the bias."""
        names = None
        if isinstance(input_shape, dict):
            names = sorted(input_shape)
            shapes = [input_shape[name] for name in names]
        elif isinstance(input_shape, list | tuple) and not _is_one_shape(input_shape):
            shapes = list(input_shape)
        else:
            shapes = [input_shape]
        self.dense_layers: list[Any] = []
        for index, shape in enumerate(shapes):
            layer = tf.keras.layers.Dense(
                self.units,
                use_bias=False,
                kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
                name=names[index] if names else None,
            )
            layer.build(shape)
            self.dense_layers = [*self.dense_layers, layer]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                trainable=True,
            )
        self._dense_names = names
        Layer.build(self, input_shape)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The sum of all inputs' matmuls."""
        if isinstance(inputs, dict):
            if set(inputs) != set(self._dense_names or ()):
                raise ValueError(
                    "The input keys of a LinearModel must be those it was built with. Received "
                    f"{sorted(inputs)} instead of {self._dense_names}."
                )
            given = [inputs[name] for name in self._dense_names or ()]
        else:
            given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        result = tf.add_n(
            [layer(each) for layer, each in zip(self.dense_layers, given, strict=True)]
        )
        if self.bias is not None:
            result = tf.nn.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            **_base_config(self),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": _serialized(self.kernel_regularizer),
            "bias_regularizer": _serialized(self.bias_regularizer),
        }


class WideDeepModel(Model):
    """activation(linear_model(x) + dnn_model(x)), or of two inputs, one for each.

    `compile` takes one optimizer for both, or a list of two.
    """

    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def compile(self, optimizer: Any = "rmsprop", *args: Any, **kwargs: Any) -> None:
        """Configure the optimizer or optimizers, the loss and the metrics."""
        several = isinstance(optimizer, list | tuple)
        super().compile(optimizer[0] if several else optimizer, *args, **kwargs)
        if several:
            self.optimizer = [tf.keras.optimizers.get(each) for each in optimizer]

    def call(self, inputs: Any, training: Any = None) -> Any:  # type: ignore[override]
        """The sum of both models' outputs."""
        of_linear = of_deep = inputs
        if isinstance(inputs, list | tuple) and len(inputs) == 2:
            of_linear, of_deep = inputs
        wide = self.linear_model(of_linear)
        deep = self.dnn_model(of_deep, training=training)
        summed = tf.nest.map_structure(tf.add, wide, deep)
        return tf.nest.map_structure(self.activation, summed)

    def train_step(self, data: Any) -> dict[str, Any]:
        """One training step, of each model with its optimizer; returns the logs."""
        if not isinstance(self.optimizer, list | tuple):
            return super().train_step(data)
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        parts = (self.linear_model.trainable_variables, self.dnn_model.trainable_variables)
        gradients = tape.gradient(loss, list(parts))
        for optimizer, grads, variables in zip(self.optimizer, gradients, parts, strict=True):
            optimizer.apply_gradients(zip(grads, variables, strict=True))
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        serialize = tf.keras.saving.serialize_keras_object
        return {
            **_base_config(self),
            "linear_model": serialize(self.linear_model),
            "dnn_model": serialize(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Create a model from its config."""
        config = dict(config)
        for name in ("linear_model", "dnn_model"):
            config[name] = tf.keras.saving.deserialize_keras_object(config[name], custom_objects)
        config["activation"] = activations.deserialize(config.get("activation"), custom_objects)
        return cls(**config)


def _is_one_shape(shape: Any) -> bool:
    return all(size is None or isinstance(size, int) for size in shape)


def _base_config(model: Any) -> dict[str, Any]:
    return {"name": model.name, "trainable": model.trainable, "dtype": model.dtype_policy.name}


def _serialized(regularizer: Any) -> Any:
    return None if regularizer is None else regularizers.serialize(regularizer)

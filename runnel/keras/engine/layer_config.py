"""A layer's config, and shape inference."""

from __future__ import annotations

import inspect
from typing import Any

import runnel as tf

from ..mixed_precision import Policy
from ..serialization import serialize_keras_object
from . import masking
from .layer_losses import LayerLosses


class LayerConfig(LayerLosses):
    """The methods of a layer for its config, its build config and its output shapes."""

    build: Any
    compute_dtype: Any
    _build_input_shape: Any
    _dtype_policy: Policy
    _dynamic: bool
    _scope: Any

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The output shape for an input shape, inferred by a symbolic call."""
        from .keras_tensor import trial_outputs

        specs = tf.nest.map_structure(
            lambda shape: tf.TensorSpec(shape, self.compute_dtype or tf.keras.backend.floatx()),
            masking.shapes_structure(input_shape),
        )
        return tf.nest.map_structure(lambda each: each.shape, trial_outputs(self, specs))

    def compute_output_signature(self, input_signature: Any) -> Any:
        """The output shapes and dtypes for an input signature."""
        shapes = tf.nest.map_structure(lambda spec: spec.shape, input_signature)
        dtype = self.compute_dtype or tf.nest.flatten(input_signature)[0].dtype
        return tf.nest.map_structure(
            lambda shape: tf.TensorSpec(shape, dtype), self.compute_output_shape(shapes)
        )

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict, without the weights."""
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        policy = self._dtype_policy
        is_mixed = policy.compute_dtype != policy.variable_dtype
        config["dtype"] = serialize_keras_object(policy) if is_mixed else policy.name
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        if self._dynamic:
            config["dynamic"] = True
        return _automatic_config(self, config)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """Create a layer from its config."""
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError(
                f"Error when deserializing class '{cls.__name__}' using config={config}.\n\n"
                f"Exception encountered: {error}"
            ) from error

    def get_build_config(self) -> Any:
        """The arguments that rebuild the layer."""
        if self._build_input_shape is None:
            return None
        shape = tf.nest.map_structure(
            lambda each: tuple(each) if isinstance(each, tf.TensorShape) else each,
            self._build_input_shape,
        )
        return {"input_shape": shape}

    def build_from_config(self, config: Any) -> None:
        """Build the layer from the result of `get_build_config`."""
        if config and config.get("input_shape") is not None:
            shapes = masking.shapes_structure(config["input_shape"])
            with tf.name_scope(self._scope() + "/"):
                self.build(shapes)
            self._build_input_shape = shapes
            self.built = True


def _automatic_config(layer: Any, config: dict[str, Any]) -> dict[str, Any]:
    """The base config; layers with further arguments must extend it."""
    from .base_layer import Layer

    if type(layer).__init__ is Layer.__init__:
        return config
    if "get_config" in vars(type(layer)) or any(
        "get_config" in vars(base) for base in type(layer).__mro__[:-1] if base is not LayerConfig
    ):
        return config
    parameters = inspect.signature(type(layer).__init__).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    own = [name for name in named if name not in ("self", *config)]
    if not own:
        return config
    missing = [name for name in own if name not in vars(layer)]
    if missing:
        raise NotImplementedError(
            f"\n                Layer {type(layer).__name__} was created by passing\n"
            f"                non-serializable argument values in `__init__()`,\n"
            f"                and therefore the layer must override `get_config()` in\n"
            f"                order to be serializable: {missing} cannot be found again."
        )
    return {name: vars(layer)[name] for name in own}

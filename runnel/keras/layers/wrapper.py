"""Wrapper: a layer around another one."""

from __future__ import annotations

from ..engine.base_layer import Layer
from ..serialization import deserialize_keras_object, serialize_keras_object


class Wrapper(Layer):
    """Base class of layers that wrap another layer."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Layer {layer} supplied to wrapper is not a supported layer type. Please ensure "
                "wrapped layer is a valid TF-Keras layer."
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        """Build the wrapped layer."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
            self.layer._build_input_shape = input_shape
        Layer.build(self, input_shape)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "layer": serialize_keras_object(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config."""
        config = dict(config)
        layer = deserialize_keras_object(config.pop("layer"), custom_objects=custom_objects)
        return cls(layer, **config)

"""Bidirectional: a recurrent layer run forward and backward in time."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...engine.base_layer import Layer
from ...engine.keras_tensor import apply_symbolically, is_keras_tensor
from ...serialization import deserialize_keras_object, serialize_keras_object
from ..wrapper import Wrapper
from .rnn import checked_alike, split_inputs
from .stacked import takes

_MERGES = {
    "sum": lambda y, z: y + z,
    "mul": lambda y, z: y * z,
    "ave": lambda y, z: (y + z) / 2,
    "concat": lambda y, z: tf.concat([y, z], axis=-1),
    None: lambda y, z: [y, z],
}

_NOT_RECURRENT = (
    "go_backwards: Bidirectional takes a recurrent layer, such as LSTM, GRU, SimpleRNN or RNN, "
    "whose config has `go_backwards`. Received: {layer}, a {kind} layer, which has no direction."
)


class Bidirectional(Wrapper):
    """A recurrent layer and a copy that runs backward in time; their outputs are merged.

    >>> layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4, return_sequences=True))
    >>> layer(tf.ones([1, 5, 10])).shape
    TensorShape([1, 5, 8])
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `tf.keras.layers.Layer` instance. "
                f"Received: {layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(
                "`backward_layer` need to be a `tf.keras.layers.Layer` instance. Received: "
                f"{backward_layer}"
            )
        if merge_mode not in _MERGES:
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(layer, **kwargs)
        # The given layer is only a template for the two.
        self._tracked.remove(layer)
        self.forward_layer = _copy(layer, f"forward_{layer.name}")
        self._backward_config = None
        if backward_layer is None:
            self.backward_layer = _copy(layer, f"backward_{layer.name}", turned=True)
        else:
            self._backward_config = serialize_keras_object(backward_layer)
            self.backward_layer = backward_layer
            backward_layer._name = f"backward_{backward_layer.name}"
        self._check_alike()
        if layer.return_sequences:
            # Repeated outputs at masked steps would differ between the directions.
            self.forward_layer.zero_output_for_mask = True
            self.backward_layer.zero_output_for_mask = True
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec
        self._num_constants = 0
        self._initial_weights = weights

    def _check_alike(self) -> None:
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError(
                "Forward layer and backward layer should have different `go_backwards` value. "
                f"forward_layer.go_backwards = {forward.go_backwards}, "
                f"backward_layer.go_backwards = {backward.go_backwards}"
            )
        for name in ("stateful", "return_sequences", "return_state"):
            one, other = getattr(forward, name), getattr(backward, name)
            if one != other:
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for "
                    f'attribute "{name}", got "{one}" for forward layer and "{other}" for backward '
                    "layer"
                )

    @property
    def constraints(self) -> dict[Any, Any]:
        """The constraints of the weights of both layers."""
        found: dict[Any, Any] = {}
        for layer in (self.forward_layer, self.backward_layer):
            found.update(getattr(layer, "constraints", {}))
        return found

    def build(self, input_shape=None):
        """Build both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                with tf.name_scope(layer.name):
                    layer.build(input_shape)
                layer.built = True
        Layer.build(self, input_shape)

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Call the layer; initial states and constants may follow the inputs in a list."""
        inputs, initial_state, constants = split_inputs(
            inputs, initial_state, constants, self._num_constants
        )
        if initial_state is not None and len(initial_state) % 2:
            raise ValueError(
                "When passing `initial_state` to a Bidirectional RNN, the state should be a list "
                "containing the states of the underlying RNNs. Received: "
                f"{initial_state}"
            )
        if constants is not None:
            self._num_constants = len(constants)
        more = checked_alike(initial_state, constants)
        if more and is_keras_tensor(tf.nest.flatten(more)[0]):
            return apply_symbolically(self, [inputs, *more], (), kwargs)
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, training=None, mask=None, initial_state=None, constants=None):
        """Run both layers; returns the merged outputs, and the states of both."""
        kwargs: dict[str, Any] = {}
        if takes(self.layer, "training"):
            kwargs["training"] = training
        if takes(self.layer, "mask"):
            kwargs["mask"] = mask
        if constants is not None:
            kwargs["constants"] = constants
        if initial_state is None:
            forward = backward = None
        else:
            half = len(initial_state) // 2
            forward, backward = initial_state[:half], initial_state[half:]
        y = self.forward_layer(inputs, initial_state=forward, **kwargs)
        z = self.backward_layer(inputs, initial_state=backward, **kwargs)
        states: list[Any] = []
        if self.return_state:
            states = [*y[1:], *z[1:]]
            y, z = y[0], z[0]
        if self.return_sequences:
            z = tf.reverse(z, [0 if getattr(self.forward_layer, "time_major", False) else 1])
        outputs = _MERGES[self.merge_mode](y, z)
        if not self.return_state:
            return outputs
        return [*outputs, *states] if self.merge_mode is None else [outputs, *states]

    def reset_states(self, states=None):
        """Reset the states of both layers to zero or to given values, the forward ones first."""
        if states is None or not self.forward_layer.stateful:
            self.forward_layer.reset_states()
            self.backward_layer.reset_states()
            return
        if not isinstance(states, list | tuple):
            raise ValueError(
                "Unrecognized value for `states`. Expected `states` to be list or tuple of arrays, "
                f"half of them for each direction. Received: {states}"
            )
        half = len(states) // 2
        self.forward_layer.reset_states(states[:half])
        self.backward_layer.reset_states(states[half:])

    def compute_output_shape(self, input_shape):
        """The merged shape; with `return_state` a list that includes the state shapes."""
        shape = self.forward_layer.compute_output_shape(input_shape)
        states = []
        if self.return_state:
            shape, states = shape[0], shape[1:]
        shape = tf.TensorShape(shape)
        if self.merge_mode == "concat":
            last = shape[-1]
            shape = shape[:-1].concatenate([None if last is None else 2 * last])
        shapes = [shape, shape] if self.merge_mode is None else [shape]
        if self.return_state:
            return [*shapes, *states, *states]
        return shapes if self.merge_mode is None else shape

    def compute_mask(self, inputs, mask):
        """The inputs' mask for output sequences; None for the last output and states."""
        if isinstance(mask, list):
            mask = mask[0]
        if not self.return_sequences:
            mask = None
        masks = [mask, mask] if self.merge_mode is None else mask
        if not self.return_state:
            return masks
        states = [None for _ in self.forward_layer.states] * 2
        return [*masks, *states] if isinstance(masks, list) else [masks, *states]

    def get_config(self):
        """The constructor arguments, as a dict."""
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self._backward_config is not None:
            config["backward_layer"] = self._backward_config
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Create a layer from its config."""
        config = dict(config)
        constants = config.pop("num_constants", 0)
        for name in ("layer", "backward_layer"):
            if config.get(name) is not None:
                config[name] = deserialize_keras_object(config[name], custom_objects=custom_objects)
        layer = cls(**config)
        layer._num_constants = constants
        return layer


def _copy(layer: Any, name: str, turned: bool = False) -> Any:
    config = layer.get_config()
    if turned:
        if "go_backwards" not in config:
            raise KeyError(_NOT_RECURRENT.format(kind=type(layer).__name__, layer=layer.name))
        config["go_backwards"] = not config["go_backwards"]
    config["name"] = name
    copy = type(layer).from_config(config)
    copy._num_constants = getattr(layer, "_num_constants", 0)
    return copy

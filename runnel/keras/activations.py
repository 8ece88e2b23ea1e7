"""tf.keras.activations: activation functions."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..core.suggestions import suggesting as _suggesting
from .backend.elementwise import (
    elu as elu,
    hard_sigmoid as hard_sigmoid,
    relu as relu,
    sigmoid as sigmoid,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    tanh as tanh,
)
from .serialization import Registry, names_of

silu = tf.nn.silu
relu6 = tf.nn.relu6
leaky_relu = tf.nn.leaky_relu
log_softmax = tf.nn.log_softmax


def selu(x):
    """scale * x for x > 0, scale * alpha * (exp(x) - 1) otherwise: self-normalizing.

    >>> tf.keras.activations.selu(tf.constant([1.0])).numpy()
    array([1.050701], dtype=float32)
    """
    return tf.nn.selu(x)


def swish(x):
    """x * sigmoid(x)

    >>> tf.keras.activations.swish(tf.constant([0.0, 20.0])).numpy().tolist()
    [0.0, 20.0]
    """
    return tf.nn.silu(x)


def gelu(x, approximate=False):
    """x * P(X <= x) for a standard normal X; `approximate` uses a tanh approximation.

    >>> tf.keras.activations.gelu(tf.constant([0.0, 20.0])).numpy().tolist()
    [0.0, 20.0]
    """
    return tf.nn.gelu(x, approximate)


def exponential(x):
    """exp(x)

    >>> tf.keras.activations.exponential(tf.constant([0.0])).numpy().tolist()
    [1.0]
    """
    return tf.exp(x)


def mish(x):
    """x * tanh(softplus(x))

    >>> tf.keras.activations.mish(tf.constant([0.0, 20.0])).numpy().tolist()
    [0.0, 20.0]
    """
    x = tf.convert_to_tensor(x)
    return x * tf.tanh(tf.nn.softplus(x))


def linear(x):
    """The identity, x.

    >>> tf.keras.activations.linear(3.0)
    3.0
    """
    return x


_KIND = "activation function"
_FUNCTIONS = names_of(
    elu,
    exponential,
    gelu,
    hard_sigmoid,
    linear,
    mish,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    softsign,
    swish,
    tanh,
    leaky_relu=leaky_relu,
    log_softmax=log_softmax,
    relu6=relu6,
    silu=silu,
)
_LAYERS = ("ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU")
_registry = Registry(_KIND, _FUNCTIONS)


def _registry_for(config: Any) -> Registry:
    """# Layers are imported only when a name refers to one of them."""
    name = config.get("class_name") if isinstance(config, dict) else config
    if name not in _LAYERS:
        return _registry
    return Registry(_KIND, {each: getattr(tf.keras.layers, each) for each in _LAYERS})


def serialize(activation, use_legacy_format=False):
    """The name of a built-in activation function, or the config of another one.

    >>> tf.keras.activations.serialize(tf.keras.activations.tanh)
    'tanh'
    """
    if isinstance(activation, str | None) or not (
        callable(activation) or hasattr(activation, "get_config")
    ):
        raise (TypeError if activation is None else ValueError)(
            f"Unknown activation function {activation!r} cannot be serialized: it is not a "
            "function. Pass one of tf.keras.activations, or register your own with "
            "`@tf.keras.saving.register_keras_serializable()`."
        )
    name = getattr(activation, "__name__", None)
    if name in _FUNCTIONS and activation.__module__.startswith("runnel."):
        return name
    return _registry.serialize(activation, use_legacy_format)


def deserialize(name, custom_objects=None, use_legacy_format=False):
    """An activation function from its name or config."""
    return _registry_for(name).deserialize(name, custom_objects, use_legacy_format)


def get(identifier):
    """An activation function from a name, a config or a function; `linear` for None.

    >>> tf.keras.activations.get("relu") is tf.keras.activations.relu
    True
    """
    if identifier is None:
        return linear
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError(
        f"Could not interpret activation function identifier: {identifier}. It should be a name, "
        "a config or a callable."
    )


__getattr__ = _suggesting(__name__)

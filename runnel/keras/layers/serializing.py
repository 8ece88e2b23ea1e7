"""Serialize and deserialize layers."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..serialization import Registry


def known_layers() -> dict[str, Any]:
    """The classes of layers and models by name."""
    from ..engine.functional import Functional
    from .op_lambda import (
        ClassMethod,
        InstanceMethod,
        InstanceProperty,
        SlicingOpLambda,
        TFOpLambda,
    )

    layers = tf.keras.layers
    known = {name: getattr(layers, name) for name in dir(layers) if name[0].isupper()}
    for name in ("Model", "Sequential"):
        if hasattr(tf.keras, name):
            known[name] = getattr(tf.keras, name)
    # Not public, but models contain layers of these classes.
    inside = (
        Functional,
        TFOpLambda,
        SlicingOpLambda,
        InstanceProperty,
        InstanceMethod,
        ClassMethod,
    )
    return {**known, **{each.__name__: each for each in inside}}


_registry = Registry("layer", known_layers)


def serialize(layer, use_legacy_format=False):
    """The config of a layer with its class name.

    >>> tf.keras.layers.serialize(tf.keras.layers.Flatten())["class_name"]
    'Flatten'
    """
    return _registry.serialize(layer, use_legacy_format)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    """Create a layer from its serialized config.

    >>> config = tf.keras.layers.serialize(tf.keras.layers.Dense(2))
    >>> tf.keras.layers.deserialize(config).units
    2
    """
    if not config:
        raise ValueError(f"Cannot deserialize empty config. Received: config={config}")
    return _registry.deserialize(config, custom_objects, use_legacy_format)

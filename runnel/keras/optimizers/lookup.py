"""Optimizers by name and config: `get`, `serialize` and `deserialize`."""

from __future__ import annotations

import warnings
from typing import Any

from .. import serialization
from . import legacy
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .base import Optimizer
from .ftrl import Ftrl
from .lion import Lion
from .loss_scale import LossScaleOptimizer
from .nadam import Nadam
from .rmsprop import RMSprop
from .sgd import SGD
from .tf_optimizer import TFOptimizer, is_of_tensorflow_1

_ALL = (Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, Lion, Nadam, RMSprop, SGD)
_NAMES: dict[str, Any] = {optimizer.__name__.lower(): optimizer for optimizer in _ALL}
# Class names in the original's files.
_NAMES["lossscaleoptimizer"] = _NAMES["lossscaleoptimizerv3"] = LossScaleOptimizer
_LEGACY: dict[str, Any] = {
    optimizer.__name__.lower(): optimizer
    for optimizer in (
        *(legacy.Adadelta, legacy.Adagrad, legacy.Adam, legacy.Adamax, legacy.Ftrl),
        *(legacy.Nadam, legacy.RMSprop, legacy.SGD),
    )
}
_registry = serialization.Registry("optimizer", _NAMES)


def get(identifier: Any, **kwargs: Any) -> Any:
    """An optimizer from a name or config; optimizers are returned unchanged.

    >>> tf.keras.optimizers.get("sgd").get_config()["name"]
    'SGD'
    """
    is_legacy = kwargs.pop("use_legacy_optimizer", False)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments: {list(kwargs)}")
    if isinstance(identifier, Optimizer | legacy.Optimizer):
        return identifier
    if is_of_tensorflow_1(identifier):
        return TFOptimizer(identifier)
    if isinstance(identifier, dict):
        return deserialize(identifier, use_legacy_optimizer=is_legacy)
    if isinstance(identifier, str):
        return deserialize({"class_name": identifier, "config": {}}, use_legacy_optimizer=is_legacy)
    raise ValueError(
        f"Could not interpret optimizer identifier: {identifier}. It should be a name such as "
        "'adam', a config or an optimizer."
    )


def serialize(optimizer: Any, use_legacy_format: bool = False) -> Any:
    """The config of an optimizer.

    >>> tf.keras.optimizers.serialize(tf.keras.optimizers.Adam(0.5))["config"]["learning_rate"]
    0.5
    """
    if not isinstance(optimizer, Optimizer | legacy.Optimizer):
        warnings.warn(
            "The `keras.optimizers.serialize()` API should only be used for objects of type "
            f"`keras.optimizers.Optimizer`. Found an instance of type {type(optimizer)}, which may "
            "lead to improper serialization.",
            UserWarning,
            stacklevel=2,
        )
    return _registry.serialize(optimizer, use_legacy_format)


def deserialize(
    config: Any,
    custom_objects: dict[str, Any] | None = None,
    use_legacy_format: bool = False,
    **kwargs: Any,
) -> Any:
    """Create an optimizer from a config; class names are case-insensitive.

    A config without `is_legacy_optimizer: False` predates the present optimizers, and gives a
    legacy one.
    """
    is_legacy = kwargs.pop("use_legacy_optimizer", False)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments: {list(kwargs)}")
    arguments = dict(config["config"] or {})
    if arguments:
        is_legacy = is_legacy or arguments.get("is_legacy_optimizer", True)
    name = config["class_name"].lower()
    registry = _NAMES
    if is_legacy and name in _LEGACY:
        arguments.pop("is_legacy_optimizer", None)
        registry = _LEGACY
    if name not in registry:
        return _registry.deserialize(config, custom_objects, use_legacy_format)
    with serialization.custom_object_scope(custom_objects or {}):
        return registry[name].from_config(arguments)

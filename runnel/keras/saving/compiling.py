"""The arguments of `compile`, as configs in files."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..optimizers.tf_optimizer import TFOptimizer
from ..serialization import legacy_serialize_keras_object

_FIELDS = (
    *("optimizer", "loss", "metrics", "loss_weights", "weighted_metrics"),
    *("run_eagerly", "steps_per_execution", "jit_compile"),
)


def keeps_optimizer(model: Any) -> bool:
    """Whether the optimizer can be saved with the model: there is one, and it has a config."""
    if isinstance(model.optimizer, TFOptimizer):
        tf.get_logger().warning(
            "The state of an optimizer of tf.compat.v1.train is not saved with the model. Compile "
            "the model again after loading it, or use an optimizer of tf.keras.optimizers."
        )
        return False
    return model.optimizer is not None


def compile_config(model: Any) -> dict[str, Any] | None:
    """The arguments of `compile` as a config; None for a model that is not compiled."""
    if not model._is_compiled:
        return None
    given = model._compile_config
    serialize = tf.keras.saving.serialize_keras_object
    return {name: serialize(given.get(name)) for name in _FIELDS}


def compile_from_config(model: Any, config: dict[str, Any]) -> None:
    """Compile a model from `compile_config`'s result, with its optimizer built for restoring."""
    from ..engine.model import Model
    from ..engine.trainer import Trainer

    if type(model).compile not in (Model.compile, Trainer.compile):
        tf.get_logger().warning(
            "`compile()` was not called as part of model loading because the model's `compile()` "
            "method is custom. All subclassed Models that have `compile()` overridden should also "
            "override `get_compile_config()` and `compile_from_config(config)`."
        )
        return
    model.compile(**tf.keras.saving.deserialize_keras_object(config))
    if model.built and model.optimizer is not None:
        model.optimizer.build(model.trainable_variables)


def training_config(model: Any) -> dict[str, Any]:
    """The arguments of `compile` in the HDF5 format."""
    given = model._compile_config
    config: dict[str, Any] = {
        "loss": _older(given.get("loss")),
        "metrics": _older(given.get("metrics")),
        "weighted_metrics": _older(given.get("weighted_metrics")),
        "loss_weights": given.get("loss_weights"),
    }
    config["optimizer_config"] = legacy_serialize_keras_object(model.optimizer)
    return config


def _older(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _older(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_older(each) for each in value]
    return legacy_serialize_keras_object(value)


def compile_from_training_config(model: Any, config: dict[str, Any], custom_objects: Any) -> None:
    """Compile a model from the `training_config` of an HDF5 file."""
    keras = tf.keras

    def read(value: Any, deserialize: Any) -> Any:
        if isinstance(value, list | tuple):
            return [read(each, deserialize) for each in value]
        if isinstance(value, dict) and "class_name" not in value:
            return {key: read(each, deserialize) for key, each in value.items()}
        if value is None or value in ("accuracy", "acc", "crossentropy", "ce"):
            # These depend on the output shapes.
            return value
        return deserialize(value, custom_objects)

    one = len(getattr(model, "outputs", None) or ["?"]) == 1
    metrics, weighted = (
        _of_one_output(read(config.get(name), keras.metrics.deserialize), one)
        for name in ("metrics", "weighted_metrics")
    )
    model.compile(
        optimizer=keras.optimizers.deserialize(config["optimizer_config"], custom_objects),
        loss=read(config.get("loss"), keras.losses.deserialize),
        metrics=metrics,
        weighted_metrics=weighted,
        loss_weights=config.get("loss_weights"),
    )


def _of_one_output(metrics: Any, one: bool) -> Any:
    """The metrics of a model's only output: files have one list per output."""
    if one and isinstance(metrics, list) and len(metrics) == 1 and isinstance(metrics[0], list):
        return metrics[0]
    return metrics

"""Whole models in HDF5 files (.h5): config, weights, compile arguments, optimizer state."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..layers.serializing import deserialize
from . import compiling, h5_weights, json_encoding, keras3
from .files import limits_of, reading_h5, replacing, writing_h5

_NOT_SUBCLASSED = (
    "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential "
    "model. It does not work for subclassed models, because such models are defined via the body "
    "of a Python method, which isn't safely serializable. Consider the .keras format, or "
    "`save_weights`."
)


def save_model(
    model: Any, path: str, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Write a model to an HDF5 file."""
    from ..engine.functional import Functional

    if not isinstance(model, Functional):
        raise NotImplementedError(_NOT_SUBCLASSED)
    if not model.built and model.layers:
        raise ValueError(
            f"Weights for model {model.name!r} have not yet been created. Weights are created when "
            "the model is first called on inputs or `build()` is called with an `input_shape`."
        )
    config = {"class_name": _class_name(model), "config": older_layers(model.get_config())}
    with replacing(path, overwrite) as temporary:
        if temporary is None:
            return
        with writing_h5(temporary) as file:
            file.attrs["keras_version"] = h5_weights.VERSION
            file.attrs["backend"] = "tensorflow"
            file.attrs["model_config"] = json_encoding.dumps(config)
            h5_weights.save_weights(file.create_group("model_weights"), model)
            if include_optimizer and model._is_compiled and compiling.keeps_optimizer(model):
                file.attrs["training_config"] = json_encoding.dumps(
                    compiling.training_config(model)
                )
                h5_weights.write_values(
                    file.create_group("optimizer_weights"), list(model.optimizer.variables)
                )


def _class_name(model: Any) -> str:
    return tf.keras.saving.get_registered_name(type(model))


def older_layers(config: Any) -> Any:
    """A model's config with its layers in the legacy format: {"class_name", "config", ...}."""
    if not isinstance(config, dict) or not isinstance(config.get("layers"), list):
        return config
    layers = []
    for each in config["layers"]:
        kept = {k: v for k, v in each.items() if k in ("name", "inbound_nodes")}
        name = each.get("registered_name") or each["class_name"]
        inner = _with_older_spec(older_layers(each["config"]))
        layers.append({"class_name": name, "config": inner, **kept})
    return {**config, "layers": layers}


def _with_older_spec(config: Any) -> Any:
    """The config of a layer with its input spec in the legacy format."""
    spec = config.get("type_spec") if isinstance(config, dict) else None
    if not isinstance(spec, dict):
        return config
    written = {
        "class_name": "TypeSpec",
        "type_spec": f"tf.{spec['spec_name']}",
        "serialized": {"class_name": "__tuple__", "items": spec["config"]},
    }
    return {**config, "type_spec": written}


def load_model(path: str, custom_objects: Any, compile: bool) -> Any:
    """Load a model from an HDF5 file."""
    with reading_h5(path) as file, limits_of(file):
        text = file.attrs.get("model_config")
        if text is None:
            raise ValueError(
                f"No model config found in the file at {path}. It may hold weights alone: make the "
                "model, then `model.load_weights`."
            )
        config = json_encoding.loads(text)
        if keras3.is_version_3(file.attrs.get("keras_version")):
            lost = keras3.lost_vocabularies(config)
            if lost:
                tf.get_logger().warning(
                    "The file %s does not have the vocabularies of %s: `adapt` these layers again.",
                    *(path, ", ".join(lost)),
                )
            config = keras3.as_version_2(config)
        model = deserialize(config, custom_objects)
        h5_weights.load_weights(file["model_weights"], model)
        if compile:
            _compile(file, model, custom_objects)
    return model


def _compile(file: Any, model: Any, custom_objects: Any) -> None:
    text = file.attrs.get("training_config")
    if text is None:
        tf.get_logger().warning(
            "No training configuration found in the save file, so the model was *not* compiled. "
            "Compile it manually."
        )
        return
    config = json_encoding.loads(text)
    if keras3.is_version_3(file.attrs.get("keras_version")):
        config = keras3.as_version_2(config)
        config["optimizer_config"]["config"]["is_legacy_optimizer"] = False
    compiling.compile_from_training_config(model, config, custom_objects)
    if "optimizer_weights" not in file or model.optimizer is None:
        return
    values = h5_weights.read_values(file["optimizer_weights"])
    if len(values) > 1:
        model.optimizer.build(model.trainable_variables)
    saved = {str(i): value for i, value in enumerate(values)}
    if not keras3.load_optimizer(model.optimizer, saved):
        model.optimizer.load_own_variables(saved)

"""keras_metadata.pb: the Keras metadata of a SavedModel."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...formats.saved_model_messages import KerasMetadata
from ..engine.base_layer import Layer
from ..engine.call_spec import call_spec
from ..engine.functional import Functional
from ..engine.model import Model
from ..layers.preprocessing.base import PreprocessingLayer
from ..metrics.base import Metric
from . import compiling, json_encoding
from .h5 import older_layers
from .h5_weights import VERSION
from .tf_format import identifier_of, inputs_of

_METADATA_VERSION = 2


def metadata_of(objects: Any, include_optimizer: bool) -> bytes:
    """The serialized keras_metadata.pb for the objects of a SavedModel."""
    message = KerasMetadata()
    for number, value in enumerate(objects.nodes):
        if not isinstance(value, Layer) or isinstance(value, Metric):
            continue
        node = message.nodes.add(
            node_id=number,
            node_path=".".join(["root", *objects.paths[number]]),
            identifier=identifier_of(value),
            metadata=json_encoding.dumps(_described(value, include_optimizer)),
        )
        node.version.producer, node.version.min_consumer = _METADATA_VERSION, 1
    data: bytes = message.SerializeToString()
    return data


def _described(layer: Any, include_optimizer: bool) -> dict[str, Any]:
    class_name = tf.keras.saving.get_registered_name(type(layer))
    config = _config_of(layer)
    found: dict[str, Any] = {
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": call_spec(type(layer)).takes_training,
        "dtype": _dtype_of(layer),
        "batch_input_shape": _shape(getattr(layer, "_batch_input_shape", None)),
        "stateful": bool(layer.stateful),
        "must_restore_from_config": isinstance(layer, PreprocessingLayer),
        "preserve_input_structure_in_config": False,
        "autocast": layer._autocast,
        "class_name": class_name,
        "config": config,
    }
    if layer._build_input_shape is not None:
        found["build_input_shape"] = layer._build_input_shape
    if isinstance(layer, Model):
        found.update(_of_model(layer, class_name, config, include_optimizer))
    return found


def _config_of(layer: Any) -> Any:
    """The legacy config of a layer; empty if it has none."""
    try:
        config = layer.get_config()
    except NotImplementedError:
        return {}
    return older_layers(config)


def _dtype_of(layer: Any) -> Any:
    policy = layer.dtype_policy
    if policy.name.startswith("mixed_"):
        return {"class_name": "Policy", "config": {"name": policy.name}}
    return layer.dtype


def _shape(sizes: Any) -> Any:
    return None if sizes is None else {"class_name": "__tuple__", "items": list(sizes)}


def _of_model(model: Any, class_name: str, config: Any, include_optimizer: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "is_graph_network": isinstance(model, Functional),
        "keras_version": VERSION,
        "backend": "tensorflow",
        "model_config": {"class_name": class_name, "config": config},
    }
    spec = inputs_of(model)
    if spec is not None and all(isinstance(s, tf.TensorSpec) for s in tf.nest.flatten(spec)):
        found["save_spec"] = tf.nest.map_structure(_spec, spec)
        found["full_save_spec"] = {
            "class_name": "__tuple__",
            "items": [[found["save_spec"]], {}],
        }
    if include_optimizer and model._is_compiled and compiling.keeps_optimizer(model):
        found["training_config"] = compiling.training_config(model)
    return found


def _spec(spec: Any) -> dict[str, Any]:
    items = [spec.shape, spec.dtype.name, spec.name]
    return {
        "class_name": "TypeSpec",
        "type_spec": "tf.TensorSpec",
        "serialized": {"class_name": "__tuple__", "items": items},
    }

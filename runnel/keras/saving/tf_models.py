"""Models in TensorFlow's SavedModel format."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import runnel as tf

from ...formats.saved_model_messages import KerasMetadata
from ...formats.saved_model_names import (
    KERAS_METADATA_FILENAME,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from ...saved_model.folders import of_one_version
from ...saved_model.limits import MOST_BYTES, require_size
from ...saved_model.loading import load as load_saved_model
from ...saved_model.options import SaveOptions
from ...saved_model.permissions import path_inside, require_files_inside
from ...saved_model.saving import exported, write
from ...train.checkpoint import Checkpoint
from ...train.trackables import children_of
from ..code_objects import is_trusted
from ..engine.keras_tensor import trial_outputs
from ..engine.model import Model
from ..engine.sequential import Sequential
from ..layers.preprocessing.lookup import IndexLookup
from ..layers.serializing import deserialize
from ..loading_limits import weights_of_file
from . import compiling, json_encoding, tf_format
from .files import DamagedFileError, reading, user_agrees
from .tf_metadata import metadata_of

_NO_INPUTS = (
    "Model {model} cannot be saved because the input shape is not available. Please specify an "
    "input shape either by calling `build(input_shape)` directly, or by calling the model on "
    "actual data using `Model()`, `Model.fit()`, or `Model.predict()`."
)
_NOT_OF_KERAS = (
    "The SavedModel at %s was not written by `model.save`: it has no file "
    + KERAS_METADATA_FILENAME
    + ". It is loaded as `tf.saved_model.load` does."
)
# A config may fail in any way: the saved functions are the fallback.
_NOT_MADE = (
    *(AttributeError, ImportError, LookupError, NotImplementedError, RecursionError),
    *(TypeError, ValueError),
)
_NOT_COMPILED = (
    "No training configuration found in save file, so the model was *not* compiled. Compile it "
    "manually."
)


def save_model(
    model: Any,
    path: str,
    overwrite: bool = True,
    include_optimizer: bool = True,
    signatures: Any = None,
    options: SaveOptions | None = None,
    save_traces: bool = True,
) -> None:
    """Write a model to a folder, with its functions and Keras metadata."""
    if tf_format.inputs_of(model) is None:
        raise ValueError(_NO_INPUTS.format(model=model))
    if not overwrite and os.path.exists(path) and not user_agrees(path):
        return
    with tf_format.exporting(include_optimizer, save_traces):
        export = exported(model, signatures, options or SaveOptions())
        metadata = metadata_of(export.objects, include_optimizer)
    export.more_files[KERAS_METADATA_FILENAME] = metadata
    write(export, path)


def load_model(path: str, custom_objects: Any, compile: bool, options: Any = None) -> Any:
    """Load a model from a folder.

    An unknown class gives a model with that class's saved functions.
    """
    return of_one_version(path, lambda: _loaded(path, custom_objects, compile, options))


def _loaded(path: str, custom_objects: Any, compile: bool, options: Any) -> Any:
    found = os.path.join(path, KERAS_METADATA_FILENAME)
    if not os.path.isfile(found):
        loaded = load_saved_model(path, options=options)
        tf.get_logger().warning(_NOT_OF_KERAS, path)
        return loaded
    path_inside(path, KERAS_METADATA_FILENAME)
    require_size(found, MOST_BYTES)
    with reading(found):
        with open(found, "rb") as file:
            nodes = {node.node_id: node for node in KerasMetadata.FromString(file.read()).nodes}
        root = json_encoding.loads(nodes[0].metadata) if 0 in nodes else None
    if root is None:
        return load_saved_model(path, options=options)
    if not isinstance(root, dict):
        raise DamagedFileError(f"The file {found} is damaged: {root!r} is no config of a model.")
    limits = nullcontext() if is_trusted() else weights_of_file(_bytes_of_variables(path))
    with limits, reading(found):
        model = _from_config(root, custom_objects)
        if model is not None and compile:
            _compile(model, root.get("training_config"), custom_objects)
        if model is None:
            loaded = load_saved_model(path, options=options)
            return _revived(root, loaded, compile, custom_objects)
    _restore(model, path)
    return model


def _bytes_of_variables(path: str) -> int:
    folder = os.path.join(path, VARIABLES_DIRECTORY)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sum(os.path.getsize(os.path.join(folder, name)) for name in names)


def _compile(model: Any, config: Any, custom_objects: Any) -> None:
    if config is None:
        tf.get_logger().warning(_NOT_COMPILED)
        return
    compiling.compile_from_training_config(model, config, custom_objects)
    if hasattr(model.optimizer, "build"):
        model.optimizer.build(model.trainable_variables)


def _from_config(metadata: dict[str, Any], custom_objects: Any) -> Any:
    """Create a model from its config; None if a class or function is unknown."""
    config = metadata.get("model_config") or {
        "class_name": metadata["class_name"],
        "config": metadata["config"],
    }
    try:
        model = deserialize(_accepted(config), custom_objects)
    except _NOT_MADE as reason:
        tf.get_logger().debug("The model is made of its saved functions: %s", reason)
        return None
    if not model.built or not model.weights:
        _build(model, metadata)
    given = set(_with_given_words(config))
    for layer in model._flatten_layers():
        words = getattr(layer, "_lookup_layer", layer)
        if layer.name in given and getattr(words, "input_vocabulary", ()) is None:
            # The vocabulary is restored later; it does not count as a weight.
            words.input_vocabulary = []
    return model


def _with_given_words(config: Any) -> Iterator[str]:
    """The names of layers created with a given vocabulary."""
    if isinstance(config, dict):
        if config.get("has_input_vocabulary"):
            yield config["name"]
        for each in config.values():
            yield from _with_given_words(each)
    elif isinstance(config, list | tuple):
        for each in config:
            yield from _with_given_words(each)


def _accepted(config: Any) -> Any:
    """A config as layers accept it.

    The saved vocabulary size is removed, as the vocabulary itself is restored, and nested layers
    are marked as such.
    """
    if isinstance(config, list):
        return [_accepted(each) for each in config]
    if not isinstance(config, dict):
        return config
    found = {key: _accepted(each) for key, each in config.items()}
    if found.get("class_name") == "TextVectorization":
        found["config"] = {k: v for k, v in found["config"].items() if k not in _OF_WORDS}
    for key in _INNER_LAYERS & found.keys():
        inner = found[key]
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, dict) and hasattr(tf.keras.layers, each.get("class_name", "")):
                each.setdefault("module", "keras.layers")
                each.setdefault("registered_name", None)
    return found


_OF_WORDS = frozenset({"has_input_vocabulary"})
_INNER_LAYERS = frozenset({"backward_layer", "cell", "cells", "layer"})


def _build(model: Any, metadata: dict[str, Any]) -> None:
    spec = metadata.get("save_spec")
    if isinstance(model, Sequential) and metadata.get("build_input_shape") is not None:
        model.build(metadata["build_input_shape"])
    elif spec is not None:
        trial_outputs(model, spec)
        model._build_input_shape = tf.nest.map_structure(lambda each: each.shape, spec)
        model._build_input_dtypes = tf.nest.map_structure(lambda each: each.dtype, spec)
        model.built = True


def _restore(model: Any, path: str) -> None:
    require_files_inside(path, VARIABLES_DIRECTORY)
    prefix = os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
    status = Checkpoint(root=model).read(prefix)
    status.expect_partial()
    missing = [each.name for each in model.weights if not status._is_restored(each)]
    if missing:
        raise ValueError(
            f"The SavedModel at {path} has no values for {missing}: it was written by another "
            f"version of {type(model).__name__}."
        )
    if any(isinstance(layer, IndexLookup) for layer in model._flatten_layers()):
        loaded = load_saved_model(path)
        for layer, saved in _pairs(model, loaded, set()):
            if isinstance(layer, IndexLookup):
                _restore_vocabulary(layer, saved)


def _pairs(value: Any, saved: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:
    """Pairs of objects below two roots with the same path."""
    if id(value) in seen or isinstance(value, tf.Variable):
        return
    seen.add(id(value))
    yield value, saved
    for name, part in children_of(value).items():
        if isinstance(saved, list):
            found = saved[int(name)] if name.isdigit() and int(name) < len(saved) else None
        elif isinstance(saved, dict):
            found = saved.get(name)
        else:
            found = getattr(saved, name, None)
        if found is not None:
            yield from _pairs(part, found, seen)


def _restore_vocabulary(layer: Any, saved: Any) -> None:
    """Restore a lookup layer's vocabulary from its saved table."""
    held = getattr(saved, "lookup_table", None)
    if layer.input_vocabulary or held is None:
        return
    entries = held.resource_handle._array.entries
    pairs = [(value, key) if layer.invert else (key, value) for key, value in entries.items()]
    first = layer._first_token()
    words = [word for word, n in sorted(pairs, key=lambda pair: pair[1]) if n >= first]
    tokens = [word.decode() if isinstance(word, bytes) else word for word in words]
    if layer.mask_token in tokens:
        tokens.remove(layer.mask_token)
    layer._use(tokens)
    if layer.input_vocabulary is not None:
        layer.input_vocabulary = tokens


class RevivedModel(Model):
    """A model of an unknown class, with its saved functions."""

    def __init__(self, loaded: Any, metadata: dict[str, Any]) -> None:
        super().__init__(name=metadata.get("name"))
        self._loaded: Any
        self._saved_config = metadata.get("config") or {}
        self._held_variables = list(loaded.variables)
        for name, part in vars(loaded).items():
            if not name.startswith("_") and not hasattr(self, name) and name not in _API:
                setattr(self, name, part)
        object.__setattr__(self, "_loaded", loaded)
        self._trains = bool(metadata.get("expects_training_arg"))
        self.built = True

    def call(self, inputs: Any, training: Any = False, mask: Any = None) -> Any:
        """Call the saved function."""
        given = {"training": bool(training)} if self._trains else {}
        both = getattr(self._loaded, "call_and_return_all_conditional_losses", None)
        if both is None:
            return self._loaded(inputs, **given)
        outputs, losses = both(inputs, **given)
        self.add_loss(losses)
        return outputs

    def get_config(self) -> dict[str, Any]:
        return dict(self._saved_config)


_API = frozenset({"variables", "trainable_variables", "regularization_losses", "keras_api"})


def _revived(metadata: dict[str, Any], loaded: Any, compile: bool, custom_objects: Any) -> Any:
    if not callable(loaded) or not hasattr(loaded, "variables"):
        return loaded
    name = str(metadata.get("class_name", "RevivedModel")).rpartition(">")[2]
    made = type(name, (RevivedModel,), {})(loaded, metadata)
    if compile:
        _compile(made, metadata.get("training_config"), custom_objects)
    return made

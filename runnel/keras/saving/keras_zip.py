"""Whole models in the .keras format: a zip of config.json, metadata.json and model.weights.h5."""

from __future__ import annotations

import io
import os
import tempfile
import time
import zipfile
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import runnel as tf

from ..layers.serializing import known_layers
from . import json_encoding, keras3
from .files import h5, replacing
from .h5_weights import VERSION
from .state import load_state, save_state, walk

_CONFIG, _METADATA, _WEIGHTS, _ASSETS = (
    "config.json", "metadata.json", "model.weights.h5", "assets"
)  # fmt: skip


def save_model(model: Any, path: str, overwrite: bool = True) -> None:
    """Write a model into a .keras file."""
    if not model.built:
        tf.get_logger().warning(
            "You are saving a model that has not yet been built. It might not contain any weights "
            "yet. Consider building the model first by calling it on some data."
        )
    config = json_encoding.dumps(tf.keras.saving.serialize_keras_object(model))
    metadata = {"keras_version": VERSION, "date_saved": time.strftime("%Y-%m-%d@%H:%M:%S")}
    with replacing(path, overwrite) as temporary:
        if temporary is None:
            return
        with zipfile.ZipFile(temporary, "w") as archive:
            _write(archive, _METADATA, json_encoding.dumps(metadata).encode())
            _write(archive, _CONFIG, config.encode())
            _write(archive, _WEIGHTS, _weights_file(model))
            _write_assets(archive, model)


def _write(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    # The moment of saving is in the metadata; equal parts of models have equal bytes.
    archive.writestr(zipfile.ZipInfo(name), content)


def _weights_file(model: Any) -> bytes:
    buffer = io.BytesIO()
    with h5().File(buffer, "w") as file:
        save_state(file, model)
    return buffer.getvalue()


def _write_assets(archive: zipfile.ZipFile, model: Any) -> None:
    """Vocabularies and other files that layers keep beside their weights."""
    for holder, path in walk(model):
        if hasattr(holder, "save_assets"):
            with tempfile.TemporaryDirectory() as folder:
                holder.save_assets(folder)
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), "rb") as file:
                        _write(archive, f"{_ASSETS}/{path}/{name}", file.read())


def load_model(path: str, custom_objects: Any, compile: bool, safe_mode: bool) -> Any:
    """The model in a .keras file."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        for name in names:
            _refuse_outside(name, path)
        missing = [name for name in (_CONFIG, _WEIGHTS) if name not in names]
        if missing:
            raise ValueError(
                f"The file {path} is not a model: {' and '.join(missing)} is missing in it. It has "
                f"{names}."
            )
        config = json_encoding.loads(archive.read(_CONFIG))
        if _METADATA in names:
            metadata = json_encoding.loads(archive.read(_METADATA))
            if keras3.is_version_3(metadata.get("keras_version")):
                config = keras3.as_version_2(config)
        if not compile:
            config = {key: value for key, value in config.items() if key != "compile_config"}
        model = tf.keras.saving.deserialize_keras_object(
            config, custom_objects, safe_mode=safe_mode, module_objects=known_layers()
        )
        with h5().File(io.BytesIO(archive.read(_WEIGHTS)), "r") as file:
            load_state(file, model)
        _load_assets(archive, model)
    return model


def load_weights(path: str, model: Any, skip_mismatch: bool) -> None:
    """Read the weights alone from a .keras file."""
    with zipfile.ZipFile(path) as archive:
        if _WEIGHTS not in archive.namelist():
            raise ValueError(f"The file {path} is not a model: {_WEIGHTS} is missing in it.")
        with h5().File(io.BytesIO(archive.read(_WEIGHTS)), "r") as file:
            load_state(file, model, skip_mismatch)


def _refuse_outside(name: str, path: str) -> None:
    """Refuse names that would be written outside of the folder the zip is unpacked in."""
    for kind in (PurePosixPath, PureWindowsPath):
        parts = kind(name)
        if parts.is_absolute() or parts.drive or parts.root or ".." in parts.parts:
            raise ValueError(
                f"The file {path} holds {name!r}, a path that leaves the folder of the model. It "
                "was not made by Keras and is not loaded."
            )


def _load_assets(archive: zipfile.ZipFile, model: Any) -> None:
    names = [name for name in archive.namelist() if name.startswith(f"{_ASSETS}/")]
    if not names:
        return
    for holder, path in walk(model):
        folder_name = f"{_ASSETS}/{path}"
        own = [name for name in names if name.rpartition("/")[0] == folder_name and name[-1] != "/"]
        if own and hasattr(holder, "load_assets"):
            with tempfile.TemporaryDirectory() as folder:
                for name in own:
                    with open(os.path.join(folder, name.rpartition("/")[2]), "wb") as file:
                        file.write(archive.read(name))
                holder.load_assets(folder)

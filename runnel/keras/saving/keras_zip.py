"""Models in the .keras format: a zip of config.json, metadata.json and model.weights.h5."""

from __future__ import annotations

import collections
import io
import os
import stat
import tempfile
import time
import zipfile
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import runnel as tf

from ..code_objects import is_trusted
from ..layers.serializing import known_layers
from . import json_encoding, keras3
from .files import DamagedFileError, h5, limits_of, reading_h5, replacing
from .h5_weights import VERSION
from .state import load_state, save_state, walk

_CONFIG, _METADATA, _WEIGHTS, _ASSETS = (
    "config.json", "metadata.json", "model.weights.h5", "assets"
)  # fmt: skip


def save_model(model: Any, path: str, overwrite: bool = True) -> None:
    """Write a model to a .keras file."""
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
    # The time of saving is only in the metadata; equal models have equal bytes elsewhere.
    archive.writestr(zipfile.ZipInfo(name), content)


def _weights_file(model: Any) -> bytes:
    buffer = io.BytesIO()
    with h5().File(buffer, "w", libver="earliest") as file:
        save_state(file, model)
    return buffer.getvalue()


def _write_assets(archive: zipfile.ZipFile, model: Any) -> None:
    """Write vocabularies and other assets of layers."""
    for holder, path in walk(model):
        if hasattr(holder, "save_assets"):
            with tempfile.TemporaryDirectory() as folder:
                holder.save_assets(folder)
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), "rb") as file:
                        _write(archive, f"{_ASSETS}/{path}/{name}", file.read())


def load_model(path: str, custom_objects: Any, compile: bool, safe_mode: bool) -> Any:
    """Load a model from a .keras file."""
    with zipfile.ZipFile(path) as archive:
        names = _checked(archive, path)
        missing = [name for name in (_CONFIG, _WEIGHTS) if name not in names]
        if missing:
            raise DamagedFileError(
                f"The file {path} is not a model: {' and '.join(missing)} is missing in it. It has "
                f"{names}."
            )
        config = json_encoding.loads(_read(archive, _CONFIG))
        if _METADATA in names:
            metadata = json_encoding.loads(_read(archive, _METADATA))
            if keras3.is_version_3(metadata.get("keras_version")):
                config = keras3.as_version_2(config)
        if not compile:
            config = {key: value for key, value in config.items() if key != "compile_config"}
        with reading_h5(_read(archive, _WEIGHTS)) as file:
            with limits_of(file):
                model = tf.keras.saving.deserialize_keras_object(
                    config, custom_objects, safe_mode=safe_mode, module_objects=known_layers()
                )
            if not isinstance(model, tf.keras.layers.Layer):
                raise DamagedFileError(
                    f"The file {path} holds no model but a {type(model).__name__}."
                )
            load_state(file, model)
        _load_assets(archive, model)
    return model


def load_weights(path: str, model: Any, skip_mismatch: bool) -> None:
    """Load only the weights from a .keras file."""
    with zipfile.ZipFile(path) as archive:
        if _WEIGHTS not in _checked(archive, path):
            raise DamagedFileError(f"The file {path} is not a model: {_WEIGHTS} is missing in it.")
        with reading_h5(_read(archive, _WEIGHTS)) as file:
            load_state(file, model, skip_mismatch)


def _checked(archive: zipfile.ZipFile, path: str) -> list[str]:
    """The names in an archive, validated as one of Keras."""
    names = archive.namelist()
    for name in names:
        _refuse_outside(name, path)
    repeated = [name for name, count in collections.Counter(names).items() if count > 1]
    if repeated:
        raise DamagedFileError(
            f"The file {path} has several parts of the name {repeated[0]!r}: which one counts "
            "would be anybody's guess."
        )
    entries = archive.infolist()
    if any(stat.S_ISLNK(entry.external_attr >> 16) for entry in entries):
        raise DamagedFileError(f"The file {path} holds symbolic links, which no model has.")
    if sum(entry.compress_size for entry in entries) > os.path.getsize(path):
        raise DamagedFileError(f"The file {path} has parts that overlap.")
    return names


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read an archive member and verify its checksum.

    It may be many times larger than its compressed size, but only up to a limit, unless the user
    trusts the file.
    """
    entry = archive.getinfo(name)
    _refuse_bombs(archive, name, [entry])
    # As many bytes as it is said to have, and no more, are unpacked.
    return archive.read(entry)


def _refuse_bombs(archive: zipfile.ZipFile, name: str, entries: list[zipfile.ZipInfo]) -> None:
    times, room = (64, 1 << 20) if name.endswith(".json") else (256, 64 << 20)
    packed = sum(entry.compress_size for entry in entries)
    size = sum(entry.file_size for entry in entries)
    most = times * packed + room
    if size > most and not is_trusted():
        raise DamagedFileError(
            f"The file {archive.filename} has a part {name!r} of {size} bytes that "
            f"takes {packed} bytes in it; up to {most} are taken to be a model. If "
            "you trust its source, `safe_mode=False` loads it all the same."
        )


def _refuse_outside(name: str, path: str) -> None:
    """Reject names that would be extracted outside of the target folder."""
    for kind in (PurePosixPath, PureWindowsPath):
        parts = kind(name)
        if parts.is_absolute() or parts.drive or parts.root or ".." in parts.parts:
            raise DamagedFileError(
                f"The file {path} holds {name!r}, a path that leaves the folder of the model. It "
                "was not made by Keras and is not loaded."
            )


def _load_assets(archive: zipfile.ZipFile, model: Any) -> None:
    names = [name for name in archive.namelist() if name.startswith(f"{_ASSETS}/")]
    if not names:
        return
    # One layer may have many, each of which is small enough.
    _refuse_bombs(archive, _ASSETS, [archive.getinfo(name) for name in names])
    for holder, path in walk(model):
        folder_name = f"{_ASSETS}/{path}"
        own = [name for name in names if name.rpartition("/")[0] == folder_name and name[-1] != "/"]
        if own and hasattr(holder, "load_assets"):
            with tempfile.TemporaryDirectory() as folder:
                for name in own:
                    with open(os.path.join(folder, name.rpartition("/")[2]), "wb") as file:
                        file.write(_read(archive, name))
                holder.load_assets(folder)

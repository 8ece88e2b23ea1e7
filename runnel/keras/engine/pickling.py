"""Pickling of functional models: the bytes of a `.keras` file, with weights and optimizer."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import runnel as tf

_FILE = "model.keras"


def pickled(model: Any) -> tuple[Any, tuple[bytes, dict[str, type]]]:
    """The pickled state of a model: a file, and the custom classes of its layers."""
    layers = model._flatten_layers()
    kinds = {type(layer).__name__: type(layer) for layer in layers if not _is_ours(type(layer))}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _FILE)
        model.save(path, save_format="keras")
        with open(path, "rb") as file:
            return unpickled, (file.read(), kinds)


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == tf.__name__


def unpickled(data: bytes, kinds: dict[str, type]) -> Any:
    """Restore a model from a pickle."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, _FILE)
        with open(path, "wb") as file:
            file.write(data)
        # Pickles can execute code anyway.
        return tf.keras.models.load_model(path, kinds, safe_mode=False)

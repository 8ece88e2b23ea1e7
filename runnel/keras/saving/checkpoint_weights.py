"""Weights of a model in a checkpoint, keyed by the model's object graph."""

from __future__ import annotations

import os
from typing import Any

from ...train.checkpoint import Checkpoint
from ...train.state_file import checkpoint_exists, update_checkpoint_state
from .files import user_agrees


def save_weights(model: Any, path: str, overwrite: bool, options: Any) -> None:
    """Write the checkpoint `path`, including the optimizer if the model has one."""
    if path.endswith((".h5", ".keras", ".hdf5")):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ({path}) looks like '
            'an HDF5 file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
        )
    if not overwrite and checkpoint_exists(path) and not user_agrees(f"{path}.index"):
        return
    folder = os.path.dirname(path)
    checkpoint = Checkpoint(root=model)
    checkpoint._write(path, options, lambda: update_checkpoint_state(folder, path))
    checkpoint.sync()


def load_weights(model: Any, path: str, skip_mismatch: bool, by_name: bool, options: Any) -> Any:
    """Restore the checkpoint `path`; weights created later are restored on creation."""
    if by_name:
        raise NotImplementedError(
            "Weights may only be loaded based on topology into Models when loading "
            "TensorFlow-formatted weights (got by_name=True to load_weights)."
        )
    if skip_mismatch:
        raise ValueError(
            "When calling model.load_weights, skip_mismatch can only be set to True when by_name "
            "is True."
        )
    status = Checkpoint(root=model).read(path, options)
    status.assert_nontrivial_match()
    return status

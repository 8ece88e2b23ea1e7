"""SidecarEvaluatorModelExport: saves the model of the best checkpoint."""

from __future__ import annotations

import os
import re
from typing import Any

import runnel as tf

from .checkpoint import ModelCheckpoint


class SidecarEvaluatorModelExport(ModelCheckpoint):
    """Saves the model of the best checkpoint that a `SidecarEvaluator` has evaluated.

    Args:
      export_filepath: The output path; `{epoch}` is the training epoch of the checkpoint.
      checkpoint_filepath: The path of the checkpoints, as passed to `ModelCheckpoint` in training.
      **kwargs: Arguments of `ModelCheckpoint`, such as `monitor` and `save_weights_only`.
    """

    def __init__(self, export_filepath: Any, checkpoint_filepath: Any, **kwargs: Any) -> None:
        super().__init__(filepath=export_filepath, save_best_only=True, **kwargs)
        self._checkpoint_filepath = os.fspath(checkpoint_filepath)
        self.export_index = 0

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Parse the epoch from the latest checkpoint's path; the first one by default."""
        folder, pattern = os.path.split(self._checkpoint_filepath)
        latest = os.path.basename(tf.train.latest_checkpoint(folder) or "")
        found = re.fullmatch(_expression(pattern), latest)
        self.export_index = 0 if found is None else int(found["epoch"]) - 1

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """Save the model if it is the best so far."""
        self._save(self.export_index, None, logs)


def _expression(pattern: str) -> str:
    """A regular expression for the file names of a format string."""
    parts = re.split(r"(\{[^}]*\})", pattern)
    seen = False
    expression = ""
    for part in parts:
        if not part.startswith("{"):
            expression += re.escape(part)
        elif re.match(r"\{epoch\W", part) and not seen:
            expression += r"(?P<epoch>\d+)"
            seen = True
        else:
            expression += ".*"
    return expression if seen else expression + r"(?P<epoch>\d+)"

"""SidecarEvaluator: evaluates checkpoints while another process trains."""

from __future__ import annotations

import re
from typing import Any

import runnel as tf

_PATIENCE_IN_SECONDS = 600.0


class SidecarEvaluator:
    """Evaluates each new checkpoint of a training process.

    A checkpoint comes from `tf.train.Checkpoint(model=..., optimizer=...)`, or from
    `ModelCheckpoint` with `save_weights_only=True` and a path that ends in "ckpt-{epoch}".

    Args:
      model: The same model as in training, compiled.
      data: The argument `x` of `model.evaluate`.
      checkpoint_dir: The directory of the training's checkpoints.
      steps: Number of batches per evaluation; None for all.
      max_evaluations: The number in the last checkpoint's path; None to run indefinitely.
      callbacks: Callbacks of the evaluations.
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        checkpoint_dir: Any,
        steps: int | None = None,
        max_evaluations: int | None = None,
        callbacks: Any = None,
    ) -> None:
        self.model = model
        self.data = data
        self.checkpoint_dir = checkpoint_dir
        self.steps = steps
        self.max_evaluations = max_evaluations
        self.callbacks = callbacks or []

    def start(self) -> None:
        """Evaluate checkpoints as they appear."""
        for path in tf.train.checkpoints_iterator(
            self.checkpoint_dir, timeout=_PATIENCE_IN_SECONDS, timeout_fn=self._report_waiting
        ):
            self._restore(path)
            self.model.evaluate(
                self.data, steps=self.steps, callbacks=self.callbacks, verbose=2, return_dict=True
            )
            number = re.search(r"-(\d+)$", path)
            last = self.max_evaluations
            if last is not None and number is not None and int(number[1]) >= last:
                return

    def _report_waiting(self) -> bool:
        """Log that no checkpoint appeared, and keep waiting."""
        tf.get_logger().debug(
            "No new checkpoint in %s for %s seconds.", self.checkpoint_dir, _PATIENCE_IN_SECONDS
        )
        return False

    def _restore(self, path: str) -> None:
        names = [name for name, shape in tf.train.list_variables(path)]
        if self.model.optimizer is None or not any("optimizer/" in name for name in names):
            raise RuntimeError(
                "Variable `iterations` cannot be loaded from the checkpoint file at "
                f"{self.checkpoint_dir}. Please ensure `iterations` is included in the checkpoint "
                "saved during training, and that the model is compiled."
            )
        if any(name.startswith("model/") for name in names):
            checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.model.optimizer)
            status = checkpoint.restore(path)
        else:
            status = self.model.load_weights(path)
        status.assert_nontrivial_match()
        status.expect_partial()

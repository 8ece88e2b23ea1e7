"""UpdateEmbeddingCallback: updates a vocabulary at intervals during training."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..utils.timed_thread import TimedThread
from .base import Callback


class UpdateEmbeddingCallback(TimedThread, Callback):
    """Updates a DynamicEmbedding layer every `interval` seconds.

    The optimizer slots of its vectors are reset to zero. Use it as a context manager, and as a
    callback of the `fit` inside.

    Args:
      dynamic_embedding_layer: The layer.
      interval: Seconds between two updates.
    """

    def __init__(self, dynamic_embedding_layer: Any, interval: float) -> None:
        TimedThread.__init__(self, interval)
        Callback.__init__(self)
        self._dynamic_embedding_layer = dynamic_embedding_layer
        self._epoch = 0

    def on_interval(self) -> None:
        """Update the layer, and reset the optimizer slots of its vectors."""
        self._dynamic_embedding_layer.update_embeddings(None)
        optimizer = getattr(self.model, "optimizer", None)
        if optimizer is None or not self._dynamic_embedding_layer.built:
            return
        name = self._dynamic_embedding_layer.embedding_layer.embeddings.name
        variables = optimizer.variables
        for slot in variables() if callable(variables) else variables:
            if slot.name.endswith("/" + name):
                slot.assign(tf.zeros_like(slot))

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Record the current epoch."""
        self._epoch = epoch

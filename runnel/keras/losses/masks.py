"""What layers and losses note on their results: masks, and the logits of probabilities."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.masking import attach, mask_of as mask_of


def with_mask(tensor: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tensor, with a note of which of its elements count."""
    attach(tensor, mask)
    return tensor


def logits_of(tensor: Any) -> Any:
    """The logits that a softmax or sigmoid activation made this tensor from, or None."""
    try:
        return tensor._keras_logits
    except AttributeError:
        return None

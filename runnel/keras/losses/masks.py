"""Attributes attached to results: masks, and the logits of probabilities."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ..engine.masking import attach, mask_of as mask_of


def with_mask(tensor: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tensor, with the mask of its valid elements attached."""
    attach(tensor, mask)
    return tensor


def logits_of(tensor: Any) -> Any:
    """The logits from which a softmax or sigmoid computed this tensor, or None."""
    try:
        return tensor._keras_logits
    except AttributeError:
        return None

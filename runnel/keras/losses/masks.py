"""Masks: which elements of a tensor count, as layers and losses note it on their results."""

from __future__ import annotations

from typing import Any

import runnel as tf


def mask_of(tensor: Any) -> Any:
    """The mask a layer left on a tensor, or None."""
    try:
        return tensor._keras_mask
    except AttributeError:
        return None


def with_mask(tensor: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The tensor, with a note of which of its elements count."""
    tensor._keras_mask = mask
    return tensor


def logits_of(tensor: Any) -> Any:
    """The logits that a softmax or sigmoid activation made this tensor from, or None."""
    try:
        return tensor._keras_logits
    except AttributeError:
        return None

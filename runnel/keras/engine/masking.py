"""Masks of valid time steps; they are propagated with tensors from layer to layer."""

from __future__ import annotations

from typing import Any

import runnel as tf


class _State:
    """Whether a mask was ever attached: most programs have none and skip the lookup."""

    in_use = False


state = _State()


def mask_of(tensor: Any) -> Any:
    """The mask of a tensor, or None."""
    mask = getattr(tensor, "_keras_mask", None)
    if mask is not None:
        # It may be the first mask, set by hand.
        state.in_use = True
    return mask


def masks_of(structure: Any) -> Any:
    """The masks of tensors in their structure; None if there are none."""
    masks = tf.nest.map_structure(mask_of, structure)
    return masks if any(each is not None for each in tf.nest.flatten(masks)) else None


def attach(outputs: Any, masks: Any) -> None:
    """Attach masks to tensors."""
    tensors = tf.nest.flatten(outputs)
    flat = masks if isinstance(masks, list | tuple) else [masks]
    for tensor, mask in zip(tensors, flat, strict=False):
        if mask is not None and getattr(tensor, "_keras_mask", None) is None:
            state.in_use = True
            tensor._keras_mask = mask


def masked(tensors: list[Any], masks: list[Any]) -> list[Any]:
    """Copies of the tensors with these masks attached; the originals keep theirs."""
    copies = [tf.identity(tensor) for tensor in tensors]
    attach(copies, masks)
    return copies


def cast(tensor: tf.Tensor, dtype: Any) -> tf.Tensor:
    """A tensor cast to another dtype, with its mask."""
    result = tf.cast(tensor, dtype)
    mask = mask_of(tensor)
    if mask is not None:
        result._keras_mask = mask
    return result


def shapes_structure(shapes: Any) -> Any:
    """Nested shapes given as tuples of sizes, as TensorShapes."""
    if isinstance(shapes, tf.TensorShape):
        return shapes
    sizes = shapes if isinstance(shapes, list | tuple) else [shapes]
    if all(size is None or isinstance(size, int) for size in sizes):
        return tf.TensorShape(shapes)
    if isinstance(shapes, dict):
        return {key: shapes_structure(value) for key, value in shapes.items()}
    return [shapes_structure(each) for each in shapes]

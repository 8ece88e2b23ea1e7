"""Preprocessing of gradients before they are applied."""

from __future__ import annotations

from typing import Any

import runnel as tf


def with_gradients(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The pairs that have a gradient; logs a warning that names the others."""
    for gradient, _ in pairs:
        if gradient is None:
            break
    else:
        return pairs
    found = [pair for pair in pairs if pair[0] is not None]
    if not found:
        variables = [variable.name for _, variable in pairs]
        raise ValueError(
            f"No gradients provided for any variable: {(variables,)}. Provided `grads_and_vars` is "
            f"{tuple(pairs)}."
        )
    names = [variable.name for gradient, variable in pairs if gradient is None]
    tf.get_logger().warning(
        "Gradients do not exist for variables %s when minimizing the loss. If you're using "
        "`model.compile()`, did you forget to provide a `loss` argument?",
        names,
    )
    return found


def clippable(gradient: Any) -> Any:
    if isinstance(gradient, tf.Tensor | tf.IndexedSlices):
        return gradient
    return tf.convert_to_tensor(gradient)


def deduplicated(slices: Any) -> Any:
    """The same slices with the rows of duplicate indices summed."""
    indices, positions = tf.unique(slices.indices)
    values = tf.math.unsorted_segment_sum(slices.values, positions, tf.shape(indices)[0])
    result = tf.IndexedSlices(values, indices, slices.dense_shape)
    result.repeated = slices
    return result


def dense(gradient: Any, variable: Any) -> Any:
    """The gradient as a tensor of the variable's shape."""
    if type(gradient) is tf.IndexedSlices:
        slices = gradient
        if gradient.repeated is not None and not tf.executing_eagerly():
            # scatter_nd sums duplicates too, and dead-code elimination then drops the
            # deduplication.
            slices = gradient.repeated
        shape = tf.cast(tf.shape(variable), slices.indices.dtype)
        return tf.scatter_nd(tf.expand_dims(slices.indices, -1), slices.values, shape)
    return tf.convert_to_tensor(gradient, variable.dtype if isinstance(gradient, list) else None)

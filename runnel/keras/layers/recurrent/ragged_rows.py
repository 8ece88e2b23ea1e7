"""Ragged sequences: converted to padded ones with lengths, and the outputs back to ragged."""

from __future__ import annotations

from typing import Any

import runnel as tf


def padded(layer: Any, inputs: Any, mask: Any) -> tuple[Any, Any]:
    """Ragged inputs as a tensor, and the lengths of the sequences."""
    if mask is not None:
        raise ValueError(
            f"The mask that was passed in was {mask}, which cannot be applied to RaggedTensor "
            "inputs. Please make sure that there is no mask injected by upstream layers."
        )
    if getattr(layer, "unroll", False):
        raise ValueError(
            "The input received contains RaggedTensors and does not support unrolling. Disable "
            "unrolling by passing `unroll=False` in the RNN Layer constructor."
        )
    return inputs.to_tensor(), inputs.row_lengths()


def ragged_again(outputs: Any, lengths: Any, go_backwards: bool) -> Any:
    """Padded outputs converted back to ragged ones."""
    counts = tf.sequence_mask(lengths, tf.shape(outputs)[1])
    if go_backwards:
        # The padding is at the start.
        counts = tf.reverse(counts, [1])
    values = tf.boolean_mask(outputs, counts)
    values.set_shape([None, *outputs.shape[2:]])
    return tf.RaggedTensor.from_row_lengths(values, lengths, validate=False)

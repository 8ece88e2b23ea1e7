"""Masked sequences by one fused op over all time steps.

A masked step leaves the states unchanged and repeats the previous output. So the unmasked steps are
compacted to the start of each sequence, in order; the steps after them are computed and discarded;
and the outputs are gathered back to their positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf


def masked_steps(
    all_steps: Callable[..., Any], inputs: Any, mask: Any, states: Any, zero_output_for_mask: bool
) -> tuple[Any, Any, tuple[Any, ...]]:
    """The last output, all outputs and the last state; inputs and mask are time-major.

    `all_steps(inputs, *states)` returns all outputs first. Only the first final state, which is the
    output, is available for sequences of different lengths.
    """
    # Masks may be numeric: nonzero is true.
    mask = tf.cast(mask, tf.bool)
    counted = tf.cast(mask, tf.int32)
    order = tf.argsort(counted, 0, direction="DESCENDING", stable=True)
    outputs, *_ = all_steps(_rows(inputs, order), *states)
    done = tf.cumsum(counted, 0)
    repeated = _rows(outputs, tf.maximum(done - 1, 0))
    is_output = done > 0 if not zero_output_for_mask else mask
    shown = tf.where(is_output[..., tf.newaxis], repeated, tf.zeros_like(repeated))
    any_done = done[-1][:, tf.newaxis] > 0
    last = tf.where(any_done, repeated[-1], states[0])
    return shown[-1], shown, (last,)


def _rows(values: Any, places: Any) -> Any:
    """values[places[t, b], b] for all t and b."""
    sequences = tf.broadcast_to(tf.range(tf.shape(places)[1]), tf.shape(places))
    return tf.gather_nd(values, tf.stack([places, sequences], -1))

"""Sequences with a mask, all steps as one operation.

A step that is masked leaves the states alone and gives the output before it once more. So the steps
that count are brought together at the start of each sequence, in their order; what follows them is
computed for nothing; and the outputs are put where they belong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import runnel as tf


def masked_steps(
    all_steps: Callable[..., Any], inputs: Any, mask: Any, states: Any, zero_output_for_mask: bool
) -> tuple[Any, Any, tuple[Any, ...]]:
    """The last output, all of them and the last state; inputs and mask are of (time, batch, ...).

    `all_steps(inputs, *states)` gives all outputs first. Of the states only the first one, which is
    the output, can be told for sequences of different lengths.
    """
    # Masks may be numbers, of which all but zero count.
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

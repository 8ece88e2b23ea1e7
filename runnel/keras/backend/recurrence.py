"""`rnn`: a step function run over the time steps of sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import runnel as tf

from ...core.context import seeds, state
from ...ops.random_streams import Rounds
from .. import loading_limits

# The approximate number of bytes that a step of an unrolled loop takes in a graph.
_BYTES_OF_STEP = 20_000


class _Masking(NamedTuple):
    """The mask of valid time steps per sample, and the replacement of masked outputs."""

    # One boolean tensor (samples,) per step, or (steps, samples) for a graph loop.
    steps: Any
    zero_output: bool

    def kept(self, mask: tf.Tensor, new: Any, old: Any) -> Any:
        """The new values where the mask is true, the old ones elsewhere."""
        return tf.nest.map_structure(lambda a, b: tf.where(_spread(mask, a), a, b), new, old)


def _spread(mask: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """A sample mask expanded with axes of size 1 to broadcast against values of any rank."""
    return tf.reshape(mask, [-1, *[1] * (len(values.shape) - 1)])


def rnn(
    step_function,
    inputs,
    initial_states,
    go_backwards=False,
    mask=None,
    constants=None,
    unroll=False,
    input_length=None,
    time_major=False,
    zero_output_for_mask=False,
    return_all_outputs=True,
):
    """Run `step_function(inputs, states) -> (output, new_states)` over the time axis.

    `inputs` are one tensor or a structure of them, (samples, time, ...), or (time, samples, ...)
    with `time_major`. `mask` (samples, time) is true at valid steps: at others the states are
    unchanged and the output is the previous one, or zero with `zero_output_for_mask`.
    `input_length`, a tensor of sequence lengths, can replace a mask. `constants` are passed after
    the states.

    Returns the last output, all outputs along the time axis (only the last unless
    `return_all_outputs`) and the new states.

    >>> def add(x, states):
    ...     return x + states[0], [x + states[0]]
    >>> last, outputs, states = tf.keras.backend.rnn(
    ...     add, tf.constant([[[1.0], [2.0], [3.0]]]), [tf.zeros([1, 1])])
    >>> outputs.numpy().ravel().tolist()
    [1.0, 3.0, 6.0]
    """
    inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
    axis = 0 if time_major else 1
    steps = _number_of_steps(inputs, axis)
    loading_limits.claim("rnn", (steps,), _BYTES_OF_STEP, "a loop")
    constants = list(constants) if constants else []
    states = tuple(initial_states)
    if unroll and not steps:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    if mask is None and tf.is_tensor(input_length) and input_length.shape.rank and not unroll:
        mask = _mask_of_lengths(inputs, input_length, axis, go_backwards)
    if go_backwards:
        inputs = tf.nest.map_structure(lambda x: tf.reverse(x, [axis]), inputs)
    if mask is not None:
        mask = _time_major_mask(mask, axis, steps, go_backwards)

    def step(x: Any, states: Any) -> Any:
        return step_function(x, (*states, *constants))

    # The original has a loop in every function, unless it is told to unroll.
    graph = None if unroll else state.graph
    rounds = Rounds(graph) if steps and graph is not None and graph.building_function else None
    if rounds is not None:
        step = rounds.each(step)
    # A loop of known length is unrolled in a graph too: a straight line of operations is fastest.
    if steps:
        masking = mask if mask is None else _Masking(tf.unstack(mask), zero_output_for_mask)
        last, outputs, states = _unrolled(
            step, inputs, states, masking, axis, return_all_outputs, graph is None and not unroll
        )
        if rounds is not None:
            rounds.end()
    else:
        masking = mask if mask is None else _Masking(mask, zero_output_for_mask)
        last, outputs, states = _looped(step, inputs, states, masking, axis, return_all_outputs)
    return last, outputs, states if mask is None and unroll else tuple(states)


def _number_of_steps(inputs: Any, axis: int) -> int | None:
    flat = tf.nest.flatten(inputs)
    for x in flat:
        if x.shape.rank is not None and x.shape.rank < 3:
            raise ValueError(
                f"Shape {x.shape} must have rank at least 3: (samples, time, ...), or "
                "(time, samples, ...) with time_major=True."
            )
    return flat[0].shape[axis] if flat[0].shape.rank else None


def _mask_of_lengths(inputs: Any, lengths: tf.Tensor, axis: int, go_backwards: bool) -> tf.Tensor:
    time = tf.range(tf.shape(tf.nest.flatten(inputs)[0])[axis], dtype=lengths.dtype)
    lengths = lengths if axis == 0 else tf.expand_dims(lengths, 1)
    time = tf.expand_dims(time, 1 - axis)
    if not go_backwards:
        return time < lengths
    # Aligned to the end of the longest sequence; `rnn` reverses this mask with the inputs.
    return tf.reverse(time > tf.reduce_max(lengths) - 1 - lengths, [axis])


def _time_major_mask(mask: Any, axis: int, steps: int | None, go_backwards: bool) -> tf.Tensor:
    """The mask as booleans of shape (time, samples), in step order."""
    mask = tf.convert_to_tensor(mask)
    if mask.dtype is not tf.bool:
        mask = tf.cast(mask, tf.bool)
    if mask.shape.rank == 3:
        mask = tf.squeeze(mask, [2])
    if axis:
        mask = tf.transpose(mask)
    size = mask.shape[0]
    if steps is not None and size is not None and size != steps:
        raise ValueError(f"`mask` is for {size} time steps, but the inputs have {steps}.")
    return tf.reverse(mask, [0]) if go_backwards else mask


def _unrolled(
    step: Callable[..., Any],
    inputs: Any,
    states: Any,
    masking: _Masking | None,
    axis: int,
    return_all: bool,
    tries: bool = False,
) -> tuple[Any, Any, Any]:
    columns = [tf.unstack(x, axis=axis) for x in tf.nest.flatten(inputs)]
    nested = tf.nest.is_nested(inputs)
    outputs = []
    output: Any = None
    for time, row in enumerate(zip(*columns, strict=True)):
        x = tf.nest.pack_sequence_as(inputs, row) if nested else row[0]
        drawn = seeds.drawn
        new_output, new_states = step(x, states)
        if tries and time == 0 and seeds.drawn > drawn:
            # The original tries the first step before its loop: random numbers are others then.
            new_output, new_states = step(x, states)
        if masking is not None:
            mask = masking.steps[time]
            if output is None or masking.zero_output:
                output = tf.nest.map_structure(tf.zeros_like, new_output)
            new_output = masking.kept(mask, new_output, output)
            new_states = masking.kept(mask, tuple(new_states), tuple(states))
        output, states = new_output, new_states
        if return_all:
            outputs.append(output)
    if not return_all:
        outputs = [output]
    if not tf.nest.is_nested(output):
        return output, tf.stack(outputs, axis), states
    return output, tf.nest.map_structure(lambda *each: tf.stack(each, axis), *outputs), states


def _looped(
    step: Callable[..., Any],
    inputs: Any,
    states: Any,
    masking: _Masking | None,
    axis: int,
    return_all: bool,
) -> tuple[Any, Any, Any]:
    """The same by `tf.while_loop`, for a number of steps unknown before execution."""
    inputs = tf.nest.map_structure(lambda x: _swapped(x, axis), inputs)
    steps = tf.shape(tf.nest.flatten(inputs)[0])[0]
    first, _ = step(tf.nest.map_structure(lambda x: x[0], inputs), states)
    flat_first = tf.nest.flatten(first)
    arrays = tuple(
        tf.TensorArray(each.dtype, size=steps if return_all else 1, element_shape=each.shape)
        for each in flat_first
    )
    before = tuple(tf.zeros_like(each) for each in flat_first)

    def body(time: Any, arrays: Any, before: Any, states: Any) -> Any:
        x = tf.nest.map_structure(lambda each: each[time], inputs)
        output, new_states = step(x, states)
        flat = tuple(tf.nest.flatten(output))
        new_states = tf.nest.pack_sequence_as(states, tf.nest.flatten(new_states))
        if masking is not None:
            mask = masking.steps[time]
            flat = masking.kept(mask, flat, before)
            new_states = masking.kept(mask, new_states, states)
            if not masking.zero_output:
                before = flat
        place = time if return_all else 0
        arrays = tuple(array.write(place, each) for array, each in zip(arrays, flat, strict=True))
        return time + 1, arrays, before, new_states

    _, arrays, _, states = tf.while_loop(
        lambda time, *_: time < steps, body, (tf.constant(0), arrays, before, states)
    )
    stacked = [array.stack() for array in arrays]
    last = tf.nest.pack_sequence_as(first, [each[-1] for each in stacked])
    outputs = tf.nest.pack_sequence_as(first, [_swapped(each, axis) for each in stacked])
    return last, outputs, states


def _swapped(x: tf.Tensor, axis: int) -> tf.Tensor:
    """The first two axes swapped, unless the input is time-major."""
    if axis == 0:
        return x
    return tf.transpose(x, [1, 0, *range(2, len(x.shape))])

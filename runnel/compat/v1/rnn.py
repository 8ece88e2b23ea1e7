"""Recurrent networks: cells applied step by step."""

from __future__ import annotations

import runnel as tf

from .scopes import variable_scope


def dynamic_rnn(
    cell,
    inputs,
    sequence_length=None,
    initial_state=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """The outputs of a cell over all steps of time, and its last state.

    `inputs` are [batch, time, ...], or [time, batch, ...] where `time_major`.
    """
    with variable_scope(scope or "rnn"):
        inputs = tf.convert_to_tensor(inputs)
        if not time_major:
            inputs = _swapped(inputs)
        if initial_state is None:
            if dtype is None:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            initial_state = cell.zero_state(_batch(inputs), dtype)
        cell.prepare(inputs.shape[1:])
        outputs, state = _loop(cell, inputs, sequence_length, initial_state)
        return outputs if time_major else _swapped(outputs), state


def _swapped(tensor):
    """The tensor with its first two dimensions swapped."""
    return tf.transpose(tensor, [1, 0, *range(2, tensor.shape.rank)])


def _batch(inputs):
    size = inputs.shape.as_list()[1]
    return tf.shape(inputs)[1] if size is None else size


def _loop(cell, inputs, sequence_length, initial_state):
    steps = tf.shape(inputs)[0]
    flat_state = [tf.convert_to_tensor(each) for each in tf.nest.flatten(initial_state)]
    dtype = flat_state[0].dtype
    lengths = None if sequence_length is None else tf.cast(sequence_length, tf.int32)
    array = tf.TensorArray(dtype, size=steps, element_shape=[inputs.shape[1], cell.output_size])

    def body(time, array, *state):
        packed = tf.nest.pack_sequence_as(cell.state_size, list(state))
        output, after = cell(inputs[time], packed)
        after = tf.nest.flatten(after)
        if lengths is not None:
            alive = (time < lengths)[:, None]
            output = tf.where(alive, output, tf.zeros_like(output))
            after = [tf.where(alive, new, old) for new, old in zip(after, state, strict=True)]
        for new, old in zip(after, state, strict=True):
            new.set_shape(old.shape)
        return (time + 1, array.write(time, output), *after)

    _, array, *state = tf.while_loop(
        lambda time, *others: time < steps, body, [tf.constant(0), array, *flat_state]
    )
    outputs = array.stack()
    outputs.set_shape([*inputs.shape.as_list()[:2], cell.output_size])
    return outputs, tf.nest.pack_sequence_as(cell.state_size, state)


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """The outputs of a cell for a list of inputs, one per step of time, and its last state."""
    if not isinstance(inputs, list | tuple):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn"):
        first = tf.convert_to_tensor(inputs[0])
        state = initial_state
        if state is None:
            if dtype is None:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            size = first.shape.as_list()[0]
            state = cell.zero_state(tf.shape(first)[0] if size is None else size, dtype)
        outputs = []
        for time, each in enumerate(inputs):
            output, after = cell(each, state)
            if sequence_length is not None:
                alive = (time < tf.cast(sequence_length, tf.int32))[:, None]
                output = tf.where(alive, output, tf.zeros_like(output))
                after = tf.nest.map_structure(
                    lambda new, old, alive=alive: tf.where(alive, new, old), after, state
                )
            outputs.append(output)
            state = after
        return outputs, state


def bidirectional_dynamic_rnn(
    cell_fw,
    cell_bw,
    inputs,
    sequence_length=None,
    initial_state_fw=None,
    initial_state_bw=None,
    dtype=None,
    parallel_iterations=None,
    swap_memory=False,
    time_major=False,
    scope=None,
):
    """The outputs and last states of two cells, one of which runs backwards in time."""
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(tensor):
        if sequence_length is None:
            return tf.reverse(tensor, [time_axis])
        return tf.reverse_sequence(tensor, sequence_length, time_axis, batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        forward, state_fw = dynamic_rnn(
            cell_fw, inputs, sequence_length, initial_state_fw, dtype, parallel_iterations,
            swap_memory, time_major, "fw",
        )  # fmt: skip
        inputs = tf.convert_to_tensor(inputs)
        backward, state_bw = dynamic_rnn(
            cell_bw, reverse(inputs), sequence_length, initial_state_bw, dtype,
            parallel_iterations, swap_memory, time_major, "bw",
        )  # fmt: skip
    return (forward, reverse(backward)), (state_fw, state_bw)

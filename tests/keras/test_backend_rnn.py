"""tf.keras.backend.rnn against the original."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from side_by_side import compare, compare_failure, compare_gradients

import runnel
from runnel.keras.backend import recurrence

random = np.random.default_rng(1)
INPUTS = random.normal(size=(2, 4, 3)).astype(np.float32)
MASK = np.array([[False, True, False, True], [True, False, True, False]])
STATE = np.full((2, 3), 0.5, np.float32)


def step_of(tf):
    def step(x, states):
        output = tf.tanh(x + 0.5 * states[0])
        return output, [output + 1.0]

    return step


def run(tf, keras, x, state, **arguments):
    last, outputs, states = keras.backend.rnn(step_of(tf), x, [state], **arguments)
    return [last, outputs, list(states)]


@settings(max_examples=40)
@given(
    go_backwards=st.booleans(),
    masked=st.booleans(),
    unroll=st.booleans(),
    time_major=st.booleans(),
    zero_output_for_mask=st.booleans(),
    return_all_outputs=st.booleans(),
)
def test_all_options(masked, time_major, **options):
    if masked and options["zero_output_for_mask"]:
        # Unrolled, the original zeroes outputs by the mask in its first order, or fails.
        options["unroll"] = False
    x, mask = (INPUTS.swapaxes(0, 1), MASK.T) if time_major else (INPUTS, MASK)

    def call(tf, keras, x, state):
        given_mask = tf.constant(mask) if masked else None
        return run(tf, keras, x, state, mask=given_mask, time_major=time_major, **options)

    compare(call, x, STATE)
    compare_gradients(call, x, STATE)


@settings(max_examples=20)
@given(
    mask=st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=2, max_size=2),
    zero_output=st.booleans(),
)
def test_masks(mask, zero_output):
    compare(
        lambda tf, keras, x, state: run(
            tf, keras, x, state, mask=tf.constant(mask), zero_output_for_mask=zero_output
        ),
        INPUTS,
        STATE,
    )


@pytest.mark.parametrize("unroll", [False, True])
def test_kinds_of_masks(unroll):
    for mask in (MASK[:, :, np.newaxis], MASK.astype(np.float32)):
        compare(
            lambda tf, keras, x, state: run(tf, keras, x, state, mask=mask, unroll=unroll),
            INPUTS,
            STATE,
        )


@pytest.mark.parametrize("unroll", [False, True])
@pytest.mark.parametrize("go_backwards", [False, True])
def test_lengths(unroll, go_backwards):
    for lengths in ([2, 3], [4, 1], [0, 4]):
        compare(
            lambda tf, keras, x, state: run(
                tf, keras, x, state,
                input_length=tf.constant(lengths), unroll=unroll, go_backwards=go_backwards,
            ),
            INPUTS, STATE,
        )  # fmt: skip
    compare(
        lambda tf, keras, x, s: run(tf, keras, x, s, input_length=2, unroll=unroll), INPUTS, STATE
    )


@pytest.mark.parametrize("unroll", [False, True])
def test_constants(unroll):
    def call(tf, keras, x, state):
        def step(x, states):
            state, factor = states
            return x * factor + state, [x]

        last, outputs, states = keras.backend.rnn(
            step, x, [state], constants=[tf.constant(3.0)], unroll=unroll
        )
        return [last, outputs, list(states)]

    compare(call, INPUTS, STATE)


@pytest.mark.parametrize("masked", [False, True])
def test_structures(masked):
    def call(tf, keras, x, state):
        def step(x, states):
            first, second = states
            output = {"a": x[0] + x[1] * first, "b": second["q"]}
            return output, [x[1], {"q": second["q"] + x[0]}]

        mask = tf.constant(MASK) if masked else None
        last, outputs, states = keras.backend.rnn(
            step, [x, x * 2.0], [state, {"q": state}], mask=mask
        )
        return [last, outputs, list(states)]

    compare(call, INPUTS, STATE)
    compare_gradients(call, INPUTS, STATE)


@pytest.mark.parametrize("masked", [False, True])
def test_no_states_and_more_axes(masked):
    images = random.normal(size=(2, 4, 3, 2)).astype(np.float32)

    def call(tf, keras, x):
        mask = tf.constant(MASK) if masked else None
        last, outputs, states = keras.backend.rnn(lambda x, s: (x * 2.0, s), x, [], mask=mask)
        return [last, outputs, list(states)]

    compare(call, images)


def test_states_of_other_shapes_and_dtypes():
    def call(tf, keras, x):
        def step(x, states):
            count, total = states
            return tf.reduce_sum(x, 1, True), [count + 1, total + tf.cast(x, tf.float64)]

        states = [tf.zeros((2, 1), tf.int32), tf.zeros((2, 3), tf.float64)]
        last, outputs, states = keras.backend.rnn(step, x, states, mask=tf.constant(MASK))
        return [last, outputs, list(states)]

    compare(call, INPUTS, tolerance=1e-6)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("zero_output", [False, True])
@pytest.mark.parametrize("return_all", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_loop_of_graphs_equals_the_unrolled_one(masked, zero_output, return_all, axis):
    x = runnel.constant(INPUTS.swapaxes(0, 1) if axis == 0 else INPUTS)
    mask = runnel.constant(MASK.T)
    results = []
    for runs, steps in ((recurrence._unrolled, runnel.unstack(mask)), (recurrence._looped, mask)):
        masking = recurrence._Masking(steps, zero_output) if masked else None
        last, outputs, states = runs(
            step_of(runnel), x, (runnel.constant(STATE),), masking, axis, return_all
        )
        results.append([t.numpy() for t in (last, outputs, *states)])
    for unrolled, looped in zip(*results, strict=True):
        np.testing.assert_array_equal(looped, unrolled)


def test_bad_arguments():
    for unroll in (False, True):
        compare_failure(
            lambda tf, keras, x, state: run(tf, keras, x[:, :, 0], state, unroll=unroll),
            INPUTS, STATE, message="rank at least 3",
        )  # fmt: skip
        compare_failure(
            lambda tf, keras, x, state: run(tf, keras, x[:, :0], state, unroll=unroll),
            INPUTS, STATE,
        )  # fmt: skip
    with pytest.raises(ValueError, match="`mask` is for 2 time steps, but the inputs have 4"):
        run(runnel, runnel.keras, INPUTS, STATE, mask=MASK[:, :2])

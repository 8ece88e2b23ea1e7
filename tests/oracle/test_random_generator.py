"""tf.random.Generator: the numbers, and the state after every call."""

import copy

import numpy as np
import pytest
import tensorflow
from compare import check_raises

import runnel
from runnel.core.graph.graph import Graph


def same(function):
    """Both libraries give the same arrays: dtype, shape and every bit."""
    expected, actual = function(tensorflow), function(runnel)
    assert len(actual) == len(expected)
    for want, got in zip(expected, actual, strict=True):
        assert got.dtype.name == want.dtype.name
        assert tuple(got.shape) == tuple(want.shape)
        np.testing.assert_array_equal(np.asarray(got.numpy()), np.asarray(want.numpy()))


def state_of(tf, generator):
    # The original's binomial changes tensors read before, so that only a copy is safe.
    return tf.constant(np.array(generator.state.numpy()))


CALLS = {
    "uniform": lambda tf, g: g.uniform([5]),
    "uniform none": lambda tf, g: g.uniform([0]),
    "uniform scalar": lambda tf, g: g.uniform([]),
    "uniform half": lambda tf, g: g.uniform([5], dtype=tf.float16),
    "uniform bfloat16": lambda tf, g: g.uniform([5], dtype=tf.bfloat16),
    "uniform double": lambda tf, g: g.uniform([5], dtype=tf.float64),
    "uniform bounds": lambda tf, g: g.uniform([3, 2], [1.0, 2.0], 5),
    "integers": lambda tf, g: g.uniform([5], 0, 10, dtype=tf.int32),
    "long integers": lambda tf, g: g.uniform([5], -7, 10**12, dtype=tf.int64),
    "whole range": lambda tf, g: g.uniform([5], None, None, dtype=tf.int32),
    "full int": lambda tf, g: g.uniform_full_int([5]),
    "full int32": lambda tf, g: g.uniform_full_int([3], dtype=tf.int32),
    "full uint32": lambda tf, g: g.uniform_full_int([], dtype=tf.uint32),
    "normal": lambda tf, g: g.normal([5]),
    "normal parameters": lambda tf, g: g.normal([2, 3], [1.0, 2.0, 3.0], 0.5),
    "normal half": lambda tf, g: g.normal([7], dtype=tf.float16),
    "truncated": lambda tf, g: g.truncated_normal([1001], 3.0, 2.0),
    "binomial": lambda tf, g: g.binomial([5], 100.0, 0.3, dtype=tf.int64),
    "binomial few": lambda tf, g: g.binomial([7, 2], [4.0, 5.0], [0.3, 0.9]),
    "binomial scalar": lambda tf, g: g.binomial([], 40.0, 0.5, dtype=tf.float32),
    "make_seeds": lambda tf, g: g.make_seeds(3),
    "one seed": lambda tf, g: g.make_seeds(),
    "skip": lambda tf, g: g.skip(7),
    "skip tensor": lambda tf, g: g.skip(tf.constant(3)),
    "skip far": lambda tf, g: g.skip(2**62),
    "key": lambda tf, g: g.key,
}


@pytest.mark.parametrize("name", CALLS)
def test_numbers_and_state(name):
    def function(tf):
        found = []
        for state in ([1, 0, 0], [-1, -1, 7], [2**63 - 1, 5, -3]):
            generator = tf.random.Generator.from_state(state, "philox")
            for _ in range(2):
                found += [CALLS[name](tf, generator), state_of(tf, generator)]
        return found

    same(function)


@pytest.mark.parametrize("counter", [[2**32 - 700, 5], [-700, 2**32 - 1], [2**62 + 2**33 - 9, -1]])
def test_counters_that_carry(counter):
    def function(tf):
        generator = tf.random.Generator.from_key_counter(7, counter, "philox")
        # The second call has its numbers 256 places apart.
        return [generator.uniform([5000]), generator.truncated_normal([9000]), generator.state]

    same(function)


def test_one_generator_through_all_calls():
    def function(tf):
        generator = tf.random.Generator.from_seed(1234)
        found = []
        for call in CALLS.values():
            found += [call(tf, generator), state_of(tf, generator)]
        return found

    same(function)


@pytest.mark.parametrize(
    "seed",
    [1, 0, -1, 2**40, 2**63 - 1, 2**64 - 1, 2**70, -(2**64) - 1, True, 1.5, [5], [1, 2], (1, 2),
     [1, 2, 3], [1, 2, 3, 4], [-1, 2], [2**63, 1], [2**64, 1], [1.5, 2.0], [], np.int64(5),
     np.uint64(2**64 - 1), np.array([[1, 2], [3, 4]])],
    ids=str,
)  # fmt: skip
def test_seeds(seed):
    same(
        lambda tf: [
            state_of(tf, tf.random.Generator.from_seed(seed)),
            tf.random.create_rng_state(seed, "philox"),
            tf.random.create_rng_state(seed, "threefry"),
        ]
    )


def test_ways_to_make_one():
    def function(tf):
        kind = tf.random.Generator
        made = [
            kind.from_seed(5, "auto_select"),
            kind.from_seed(tf.constant([5, 6])),
            kind.from_state(tf.constant([1, 2, 3], tf.uint64), tf.random.Algorithm.PHILOX),
            kind.from_state([2**64 - 1, 2, 3], 1),
            kind.from_key_counter(7, [11, 13], "philox"),
            kind(state=[1, 2, 3], alg="philox"),
            kind(copy_from=kind.from_seed(9)),
            copy.deepcopy(kind.from_seed(9)),
            *kind.from_seed(3).split(3),
        ]
        found = []
        for generator in made:
            found += [generator.uniform([3]), state_of(tf, generator)]
            found.append(tf.constant(generator.algorithm))
        return found

    same(function)


def test_resets():
    def function(tf):
        generator = tf.random.Generator.from_seed(1)
        found = []
        for reset in (
            lambda: generator.reset([9, 8, 7]),
            lambda: generator.reset(tf.constant([9, 8, -7], tf.int32)),
            lambda: generator.reset_from_seed(5),
            lambda: generator.reset_from_seed([4, 5]),
            lambda: generator.reset_from_key_counter(3, [1, 2]),
            lambda: generator.reset_from_key_counter(2**64 - 1, [1, 2]),
        ):
            reset()
            found += [state_of(tf, generator), generator.normal([3])]
        return found

    same(function)


def test_the_state_is_a_variable():
    variable = runnel.Variable([1, 2, 3], dtype=runnel.int64)
    generator = runnel.random.Generator.from_state(variable, "philox")
    assert generator.state is variable
    before = variable.read_value()
    generator.uniform([2])
    assert variable.numpy().tolist() == [513, 2, 3]
    assert before.numpy().tolist() == [1, 2, 3]
    original = tensorflow.random.Generator.from_seed(1).state
    ours = runnel.random.Generator.from_seed(1).state
    assert (ours.name, ours.trainable) == (original.name, original.trainable)


def test_copies_are_independent():
    first = runnel.random.Generator.from_seed(1)
    second = runnel.random.Generator(copy_from=first)
    first.uniform([1])
    assert second.state.numpy().tolist() == [1, 0, 0]


def test_random_states_differ():
    kind = runnel.random.Generator
    states = [tuple(kind.from_non_deterministic_state().state.numpy()) for _ in range(2)]
    assert states[0] != states[1] and len(states[0]) == 3


def test_global_generator():
    mine = runnel.random.Generator.from_seed(1)
    runnel.random.set_global_generator(mine)
    assert runnel.random.get_global_generator() is mine
    assert runnel.random.experimental.get_global_generator() is mine
    runnel.random.set_seed(5)
    assert mine.state.numpy().tolist() == [1, 0, 0]


def test_in_a_graph():
    """Every run moves the state on, as in the original's functions."""

    def draws(generator):
        return generator.uniform([2]), generator.normal([3]), generator.make_seeds(2)

    original = tensorflow.random.Generator.from_seed(1)
    function = tensorflow.function(lambda: draws(original))
    ours = runnel.random.Generator.from_seed(1)
    graph = Graph()
    with graph.as_default():
        fetches = draws(ours)
    for _ in range(2):
        for want, got in zip(function(), graph.compute(fetches, {}), strict=True):
            np.testing.assert_array_equal(got, want.numpy())
        assert ours.state.numpy().tolist() == original.state.numpy().tolist()


def test_algorithms():
    for tf in (tensorflow, runnel):
        members = [(member.name, member.value) for member in tf.random.Algorithm]
        assert members == [("PHILOX", 1), ("THREEFRY", 2), ("AUTO_SELECT", 3)]


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, g: g.uniform([2], 3, 1, dtype=tf.int32),
        lambda tf, g: g.uniform([2], dtype=tf.int32),
        lambda tf, g: g.uniform([2], 0, 5, dtype=tf.uint32),
        lambda tf, g: g.uniform([2], None, None),
        lambda tf, g: g.uniform([-1]),
        lambda tf, g: g.uniform(3),
        lambda tf, g: g.uniform([3, 2], [1, 2], [5, 5], dtype=tf.int32),
        lambda tf, g: g.uniform_full_int([2], dtype=tf.float32),
        lambda tf, g: g.normal([2], dtype=tf.int32),
        lambda tf, g: g.normal([2], mean=tf.constant(1.0, tf.float64)),
        lambda tf, g: g.truncated_normal([2], dtype=tf.int64),
        lambda tf, g: g.binomial([3], [10.0, 2.0], 0.5),
        lambda tf, g: g.binomial([2], 10, 0.5),
        lambda tf, g: g.reset([1, 2]),
        lambda tf, g: g.reset_from_key_counter(7, [1, 2, 3]),
        lambda tf, g: g.skip([1, 2]),
        lambda tf, g: tf.random.Generator(),
        lambda tf, g: tf.random.Generator(state=[1, 2, 3]),
        lambda tf, g: tf.random.Generator(state=[1, 2], alg="philox"),
        lambda tf, g: tf.random.Generator(copy_from=g, alg="philox"),
        lambda tf, g: tf.random.Generator.from_state([1, 2, 3], None),
        lambda tf, g: tf.random.Generator.from_key_counter([1], [1, 2], 1),
        lambda tf, g: tf.random.Generator.from_key_counter(1, [1], 1),
        lambda tf, g: tf.random.Generator.from_seed(1, "foo"),
        lambda tf, g: tf.random.Generator.from_seed(None),
        lambda tf, g: tf.random.Generator.from_seed("a"),
        lambda tf, g: tf.random.Generator.from_seed(1, "threefry").uniform([2]),
    ],
)
def test_refused(call):
    def function(tf):
        return call(tf, tf.random.Generator.from_seed(1))

    try:
        function(tensorflow)
    except AssertionError:
        with pytest.raises(AssertionError, match="state"):
            function(runnel)
    except Exception:
        check_raises(function)
    else:
        pytest.fail("TensorFlow does not refuse")

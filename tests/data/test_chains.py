"""Random chains of transformations over random sources, on TensorFlow and on Runnel."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings
from pipelines import same

ROWS = np.arange(24, dtype=np.float32).reshape(8, 3)


def number_of(tf, element):
    first = tf.nest.flatten(element)[0]
    if first.dtype == tf.string:
        return tf.cast(tf.size(first), tf.int64)
    return tf.cast(tf.reduce_sum(first), tf.int64)


SOURCES = {
    "range": lambda tf, n: tf.data.Dataset.range(n),
    "backwards": lambda tf, n: tf.data.Dataset.range(n, -3, -2),
    "rows": lambda tf, n: tf.data.Dataset.from_tensor_slices(ROWS[:n]),
    "pairs": lambda tf, n: tf.data.Dataset.from_tensor_slices(
        (ROWS[:n], {"b": list(range(n)), "a": [str(i) for i in range(n)]})
    ),
    "one": lambda tf, n: tf.data.Dataset.from_tensors({"x": ROWS[:n], "y": n}),
    "generated": lambda tf, n: tf.data.Dataset.from_generator(
        lambda: ((i, [i, i + 1]) for i in range(n)),
        output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32)),
    ),
    "zipped": lambda tf, n: tf.data.Dataset.zip(
        (tf.data.Dataset.range(n), tf.data.Dataset.from_tensor_slices(ROWS))
    ),
    "lines": lambda tf, n: tf.data.Dataset.from_tensor_slices([f"line {i}" for i in range(n + 1)]),
}

STEPS = {
    "take": lambda tf, d, n: d.take(n),
    "take all": lambda tf, d, n: d.take(-1),
    "skip": lambda tf, d, n: d.skip(n),
    "repeat": lambda tf, d, n: d.repeat(n % 3),
    "for ever": lambda tf, d, n: d.repeat(),
    "shard": lambda tf, d, n: d.shard(n + 1, n // 2),
    "shuffle": lambda tf, d, n: d.shuffle(n + 1, seed=n),
    "shuffle once": lambda tf, d, n: d.shuffle(9, seed=n, reshuffle_each_iteration=False),
    "batch": lambda tf, d, n: d.batch(n + 1),
    "full batch": lambda tf, d, n: d.batch(n + 1, drop_remainder=True),
    "parallel batch": lambda tf, d, n: d.batch(2, num_parallel_calls=2),
    "unbatch": lambda tf, d, n: d.unbatch(),
    "rebatch": lambda tf, d, n: d.batch(3).rebatch(n + 1),
    "concatenate": lambda tf, d, n: d.concatenate(d.take(n)),
    "enumerate": lambda tf, d, n: d.enumerate(start=n),
    "cache": lambda tf, d, n: d.cache(),
    "prefetch": lambda tf, d, n: d.prefetch(n),
    "nest": lambda tf, d, n: d.map(lambda *e: {"number": number_of(tf, e), "all": e}),
    "parallel map": lambda tf, d, n: d.map(
        lambda *e: (number_of(tf, e) + n, e[0]), num_parallel_calls=2
    ),
    "filter": lambda tf, d, n: d.filter(lambda *e: number_of(tf, e) % 2 == n % 2),
    "take while": lambda tf, d, n: d.take_while(lambda *e: number_of(tf, e) < 4 * n),
    "unique": lambda tf, d, n: d.map(lambda *e: number_of(tf, e) % 3).unique(),
    "flat map": lambda tf, d, n: d.flat_map(
        lambda *e: tf.data.Dataset.from_tensors(e).repeat(number_of(tf, e) % 3)
    ),
    "interleave": lambda tf, d, n: d.interleave(
        lambda *e: tf.data.Dataset.from_tensors(e).repeat(3), cycle_length=n + 1, block_length=2
    ),
    "parallel interleave": lambda tf, d, n: d.interleave(
        lambda *e: tf.data.Dataset.from_tensors(e).repeat(2), cycle_length=2, num_parallel_calls=2
    ),
    "scan": lambda tf, d, n: d.scan(
        tf.constant(n, tf.int64), lambda s, e: (s + number_of(tf, e), (s, e))
    ),
    "window": lambda tf, d, n: d.window(n + 1, shift=2, drop_remainder=n % 2 == 0),
    "windows of numbers": lambda tf, d, n: (
        d.map(lambda *e: number_of(tf, e)).window(3, 1).flat_map(lambda w: w.batch(3))
    ),
    "group": lambda tf, d, n: d.take(20).group_by_window(
        lambda *e: number_of(tf, e) % 3, lambda key, w: w.batch(2), window_size=n + 1
    ),
    "ignore errors": lambda tf, d, n: d.map(
        lambda *e: tf.debugging.check_numerics(
            1 / tf.cast(number_of(tf, e) % 3, tf.float32), "division"
        )
    ).ignore_errors(),
    "padded": lambda tf, d, n: d.map(lambda *e: tf.range(number_of(tf, e) % 5)).padded_batch(n + 1),
    "ragged": lambda tf, d, n: d.map(lambda *e: tf.range(number_of(tf, e) % 5)).ragged_batch(n + 1),
    "choose": lambda tf, d, n: tf.data.Dataset.choose_from_datasets(
        [d, d.skip(1)], tf.data.Dataset.range(n).map(lambda i: i % 2), stop_on_empty_dataset=False
    ),
    "sample": lambda tf, d, n: tf.data.Dataset.sample_from_datasets(
        [d, d.skip(1)], weights=[0.3, 0.7], seed=n
    ),
}


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.integers(0, 8),
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5)), max_size=4),
    st.sampled_from([None, 1234]),
)
def test_chains(source, size, steps, seed):
    def program(tf):
        tf.random.set_seed(5 if seed is None else seed)
        dataset = SOURCES[source](tf, size)
        for name, number in steps:
            dataset = STEPS[name](tf, dataset, number)
        return dataset.take(30)

    same(program)


def test_every_step_alone():
    for name in sorted(STEPS):
        for source in ("range", "pairs"):

            def program(tf, name=name, source=source):
                tf.random.set_seed(3)
                return STEPS[name](tf, SOURCES[source](tf, 7), 2)

            same(program)


def test_random_order_is_the_original_s():
    def program(tf, buffer, seed, again):
        tf.random.set_seed(11)
        dataset = tf.data.Dataset.range(30).shuffle(
            buffer, seed=seed, reshuffle_each_iteration=again
        )
        other = tf.data.Dataset.range(10).shuffle(4)
        rounds = [[int(x) for x in d] for d in (dataset, dataset, other, dataset.repeat(2))]
        batched = dataset.batch(7)
        return rounds, [x.numpy().tolist() for x in batched], [int(x) for x in batched.unbatch()]

    for arguments in [
        (1, 1, True),
        (7, 2, True),
        (30, None, False),
        (100, 3, True),
        (9, None, True),
    ]:
        same(program, *arguments)


def test_random_numbers_and_samples():
    def program(tf):
        tf.random.set_seed(2)
        numbers = tf.data.Dataset.random(seed=4, rerandomize_each_iteration=True).take(5)
        parts = [tf.data.Dataset.range(10 * i, 10 * i + 5) for i in range(3)]
        even = tf.data.Dataset.sample_from_datasets(parts, seed=3)
        stopped = tf.data.Dataset.sample_from_datasets(
            parts, [0.5, 0.2, 0.3], seed=6, stop_on_empty_dataset=True
        )
        return [[int(x) for x in d] for d in (numbers, numbers, even, stopped, stopped)]

    same(program)

"""Orders, random numbers, errors and functions of pipelines: programs run on both libraries."""

from __future__ import annotations

import gzip
import itertools

import numpy as np
import pytest
from pipelines import outcome, same


def numbers(*datasets):
    """The elements of datasets, one after the other, each iterated anew."""
    return [[np.asarray(x).tolist() for x in itertools.islice(each, 40)] for each in datasets]


def until(dataset, count=14):
    """The elements with the classes of the errors between them."""
    iterator, notes = iter(dataset), []
    for _ in range(count):
        try:
            notes.append(np.asarray(next(iterator)).tolist())
        except StopIteration:
            return [*notes, "end"]
        except Exception as error:
            notes.append(type(error).__name__)
    return notes


def shuffled(tf, count=5, **options):
    return tf.data.Dataset.range(count).shuffle(5, seed=1, **options)


ORDERS = {
    "batch, repeat": lambda tf: shuffled(tf).batch(5).repeat(3),
    "take, repeat": lambda tf: shuffled(tf).take(4).repeat(2),
    "prefetch, repeat": lambda tf: shuffled(tf).prefetch(1).repeat(2),
    "filter, shuffle, repeat": lambda tf: (
        tf.data.Dataset.range(7).filter(lambda x: x > 1).shuffle(5, seed=1).repeat(2)
    ),
    "repeat, repeat": lambda tf: shuffled(tf).repeat(2).repeat(2),
    "batch, repeat, repeat": lambda tf: shuffled(tf).batch(5).repeat(2).repeat(2),
    "repeat, take": lambda tf: shuffled(tf).batch(5).repeat(2).take(2),
    "skip none, repeat": lambda tf: shuffled(tf).skip(0).repeat(2),
    "in flat_map": lambda tf: tf.data.Dataset.range(3).flat_map(lambda i: shuffled(tf).batch(5)),
    "in flat_map, repeat": lambda tf: tf.data.Dataset.range(2).flat_map(
        lambda i: shuffled(tf).batch(5).repeat(2)
    ),
    "in flat_map, kept": lambda tf: tf.data.Dataset.range(2).flat_map(
        lambda i: shuffled(tf, reshuffle_each_iteration=False).batch(5).repeat(2)
    ),
    "windows": lambda tf: (
        tf.data.Dataset.range(8).window(4).flat_map(lambda w: w.shuffle(4, seed=3).batch(4))
    ),
    "never drawn": lambda tf: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(3), tf.data.Dataset.range(5, 9)], [1.0, 0.0], seed=2
    ),
    "one never drawn": lambda tf: tf.data.Dataset.sample_from_datasets(
        [tf.data.Dataset.range(i, i + 3) for i in (0, 10, 20)], [0.5, 0.0, 0.5], seed=2
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_later_iterations(name):
    def program(tf):
        tf.random.set_seed(99)
        dataset = ORDERS[name](tf)
        return numbers(dataset, dataset, dataset)

    same(program)


def number(tf, *_):
    return tf.cast(tf.random.uniform([], seed=1) * 1000, tf.int32)


def drawn(tf, count=4):
    return tf.data.Dataset.range(count).map(lambda x: number(tf))


RANDOM = {
    "map": drawn,
    "repeat": lambda tf: drawn(tf).repeat(2),
    "batch": lambda tf: drawn(tf).batch(2).repeat(2),
    "two in one": lambda tf: drawn(tf).map(lambda x: x * 1000 + number(tf)),
    "concatenate": lambda tf: (lambda d: d.concatenate(d))(drawn(tf)),
    "flat_map": lambda tf: tf.data.Dataset.range(3).flat_map(lambda x: drawn(tf, 2)),
    "flat_map of one from outside": lambda tf: (
        lambda d: tf.data.Dataset.range(3).flat_map(lambda x: d)
    )(drawn(tf, 2)),
    "windows": lambda tf: (
        tf.data.Dataset.range(6).window(2).flat_map(lambda w: w.map(lambda x: number(tf)))
    ),
    "filter": lambda tf: tf.data.Dataset.range(8).filter(lambda x: number(tf) > 500),
    "scan": lambda tf: tf.data.Dataset.range(4).scan(0, lambda s, x: (s, number(tf))),
    "groups": lambda tf: tf.data.Dataset.range(6).group_by_window(
        lambda x: tf.cast(number(tf) % 2, tf.int64), lambda key, w: w.batch(3), 3
    ),
    "cond": lambda tf: tf.data.Dataset.range(4).map(
        lambda x: tf.cond(x % 2 == 0, lambda: number(tf), lambda: -number(tf))
    ),
    "shuffles": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: tf.random.shuffle(tf.range(5), seed=1)
    ),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_begin_anew_with_each_iteration(name):
    def program(tf):
        tf.random.set_seed(5)
        dataset = RANDOM[name](tf)
        return numbers(dataset, dataset)

    same(program)


def test_iterations_side_by_side_have_random_numbers_of_their_own():
    def program(tf):
        tf.random.set_seed(5)
        dataset = drawn(tf)
        first, second = iter(dataset), iter(dataset)
        taken = [int(next(each)) for each in (first, first, second, second, second, first)]
        pairs = [[int(a), int(b)] for a, b in tf.data.Dataset.zip(dataset, dataset)]
        return [taken, pairs]

    same(program)


def grown(tf, dataset):
    values = tf.zeros([0], tf.int64)
    for value in dataset:
        values = tf.concat([values, [value]], 0)
    return values


def stopped(tf, dataset):
    values = tf.zeros([0], tf.int64)
    for value in dataset:
        if value > 2:
            break
        values = tf.concat([values, [value]], 0)
    return values


def deeper(tf, dataset):
    value = tf.zeros([], tf.int64)
    for _ in dataset:
        value = tf.expand_dims(value, 0)
    return value


def twice(tf, n):
    dataset = shuffled(tf)
    return tf.concat([grown(tf, dataset), grown(tf, dataset)], 0)


FUNCTIONS = {
    "growing": lambda tf, n: grown(tf, tf.data.Dataset.range(n)),
    "growing, then a break": lambda tf, n: stopped(tf, tf.data.Dataset.range(n)),
    "more axes": lambda tf, n: deeper(tf, tf.data.Dataset.range(n)),
    "shuffles begin anew": lambda tf, n: shuffled(tf).batch(5).get_single_element(),
    "two loops over one shuffle": twice,
    "seeds of graphs": lambda tf, n: next(
        iter(tf.data.Dataset.range(5).shuffle(5, seed=n).batch(5))
    ),
    "random datasets": lambda tf, n: next(
        iter(tf.data.Dataset.random(3, rerandomize_each_iteration=True).batch(3))
    ),
    "random numbers": lambda tf, n: drawn(tf).reduce(0, lambda s, x: s * 7 + x),
    "caches of one run": lambda tf, n: (
        tf.data.Dataset.range(n).cache().repeat(2).reduce(np.int64(0), lambda s, x: s + x)
    ),
    "caches in flat_map": lambda tf, n: (
        tf.data.Dataset.range(n)
        .flat_map(lambda x: tf.data.Dataset.range(x).cache().repeat(2))
        .reduce(np.int64(0), lambda s, x: s + x)
    ),
    "cardinality": lambda tf, n: tf.data.Dataset.range(n).batch(3).cardinality(),
    "single": lambda tf, n: tf.data.Dataset.range(n).batch(4).get_single_element(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_datasets_made_by_functions(name):
    def program(tf):
        tf.random.set_seed(99)
        function = tf.function(lambda n: FUNCTIONS[name](tf, n))
        return [
            outcome(tf, lambda tf, n=n: function(tf.constant(n, tf.int64))) for n in (3, 5, 4, 0)
        ]

    same(program)


def inverse(tf, x):
    return tf.debugging.check_numerics(6.0 / tf.cast(x - 2, tf.float32), "inverse")


def failing(tf, count=6, **options):
    return tf.data.Dataset.range(count).map(lambda x: inverse(tf, x), **options)


def yielded(tf, *values):
    return tf.data.Dataset.from_generator(lambda: iter(values), output_types=tf.int32)


FAILING = {
    "batch": lambda tf: failing(tf, 9).batch(3),
    "parallel": lambda tf: failing(tf, 9, num_parallel_calls=2).batch(3),
    "unequal": lambda tf: tf.data.Dataset.range(6).map(lambda x: tf.fill([x // 3], x)).batch(2),
    "filter, batch": lambda tf: (
        tf.data.Dataset.range(8).filter(lambda x: inverse(tf, x) != 7.0).batch(2)
    ),
    "filter, map, batch": lambda tf: (
        tf.data.Dataset.range(8)
        .filter(lambda x: inverse(tf, x) != 7.0)
        .map(lambda x: tf.gather(tf.range(9), x))
        .batch(2)
    ),
    "batches left out": lambda tf: failing(tf, 9).batch(2).ignore_errors(),
    "repeat": lambda tf: failing(tf, 4).repeat(2),
    "take": lambda tf: failing(tf).take(4),
    "skip": lambda tf: failing(tf).skip(1),
    "skip past": lambda tf: failing(tf).skip(4),
    "shard": lambda tf: failing(tf).shard(2, 1),
    "shuffle": lambda tf: failing(tf, 8).shuffle(3, seed=1),
    "scan": lambda tf: tf.data.Dataset.range(6).scan(0, lambda s, x: (s + 1, inverse(tf, x))),
    "flat_map": lambda tf: tf.data.Dataset.range(2).flat_map(lambda x: failing(tf, 4)),
    "flat_map itself": lambda tf: tf.data.Dataset.range(5).flat_map(
        lambda x: tf.data.Dataset.from_tensors(inverse(tf, x))
    ),
    "interleave": lambda tf: tf.data.Dataset.range(4).interleave(
        lambda x: failing(tf, 4), cycle_length=3, block_length=2
    ),
    "interleave itself": lambda tf: tf.data.Dataset.range(5).interleave(
        lambda x: tf.data.Dataset.from_tensors(inverse(tf, x)).repeat(2), cycle_length=2
    ),
    "choose": lambda tf: tf.data.Dataset.choose_from_datasets(
        [failing(tf, 4), failing(tf, 4)], tf.data.Dataset.range(2).repeat(4)
    ),
    "unbatch": lambda tf: failing(tf).map(lambda x: x[None]).unbatch(),
    "rebatch": lambda tf: failing(tf, 8).batch(2).rebatch(3),
    "cache": lambda tf: failing(tf, 4).cache().repeat(2),
    "window": lambda tf: failing(tf, 8).window(3, 2).flat_map(lambda w: w.batch(3)),
    "groups": lambda tf: tf.data.Dataset.range(8).group_by_window(
        lambda x: tf.cast(inverse(tf, x) > 0, tf.int64), lambda key, w: w.batch(2), 2
    ),
    "unique": lambda tf: failing(tf).map(lambda x: tf.cast(x, tf.int32)).unique(),
    "dtypes that are not as promised": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: tf.numpy_function(lambda n: n * 1.5 if n < 2 else np.float32(n), [x], tf.float32)
    ),
    "generator": lambda tf: yielded(tf, 1, "a", 2, [3, 4], None, 5),
    "a list for a tuple": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([[1, 2], (3, 4)]), output_types=(tf.int32, tf.int32)
    ).map(lambda a, b: a + b),
}


@pytest.mark.parametrize("name", FAILING)
def test_iterations_go_on_after_errors(name):
    same(lambda tf: until(FAILING[name](tf)))


def test_pairs_with_errors_among_them():
    def program(tf):
        return until(tf.data.Dataset.zip(tf.data.Dataset.range(6), failing(tf)).map(lambda n, x: n))

    same(program)


OTHERS = {
    "lists of structures": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: [x, (x, {"a": x}), [x, x]]
    ),
    "rebatch of ragged rows": lambda tf: (
        tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4], [5]]))
        .batch(3)
        .rebatch([2, 1])
    ),
    "rebatch of sparse rows": lambda tf: (
        tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]]))
        .batch(2)
        .rebatch(2, drop_remainder=True)
    ),
    "counting in strings": lambda tf: list(tf.data.Dataset.range(3, output_type=tf.string)),
    "nothing": lambda tf: tf.data.Dataset.from_tensors({}),
    "too many calls": lambda tf: tf.data.Dataset.range(3).interleave(
        lambda x: tf.data.Dataset.range(x), cycle_length=2, num_parallel_calls=3
    ),
    "classes as they are": lambda tf: tf.nest.map_structure(
        lambda spec: spec.dtype.name,
        tf.data.Dataset.range(6).rejection_resample(lambda x: x % 2, [0.5, 0.5]).element_spec,
    ),
    "seeds of datasets that are refused": lambda tf: (
        tf.random.set_seed(3),
        outcome(tf, lambda tf: tf.data.Dataset.range(5).shuffle(0)),
        tf.data.Dataset.range(9).shuffle(9),
    )[2],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs(name):
    same(OTHERS[name])


def test_compressed_records_that_are_cut(tmp_path):
    path = tmp_path / "records"
    path.write_bytes(gzip.compress(b"0123456789"))
    same(lambda tf: until(tf.data.FixedLengthRecordDataset(str(path), 4, compression_type="GZIP")))

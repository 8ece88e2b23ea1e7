"""How many random orders a shuffled dataset has drawn after iterations left at any place.

Each draw shows: the next iteration has the next order. Orders are drawn when an iteration begins,
or when it comes to where they are needed, or where the one element that is read ahead needs them.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest
import tensorflow

import runnel

ROWS = 6


def transformations(tf):
    datasets = tf.data.Dataset
    rest = datasets.range(ROWS)
    return {
        "itself": lambda d: d,
        "shuffle": lambda d: d.shuffle(3),
        "shuffle, repeat": lambda d: d.shuffle(3).repeat(2),
        "repeat": lambda d: d.repeat(2),
        "repeat once": lambda d: d.repeat(1),
        "repeat for ever": lambda d: d.repeat().take(13),
        "repeat for ever, two rounds": lambda d: d.repeat().take(12),
        "map, repeat": lambda d: d.map(lambda x: x + 1).repeat(2),
        "batch, repeat": lambda d: d.batch(4).repeat(2),
        "repeat, batch": lambda d: d.repeat(2).batch(4),
        "repeat, filter, batch": lambda d: d.repeat(2).filter(lambda x: x >= 0).batch(6),
        "batch, repeat for ever": lambda d: d.batch(3).repeat().take(4),
        "cache": lambda d: d.cache(),
        "cache, shuffle": lambda d: d.cache().shuffle(3),
        "cache, repeat": lambda d: d.cache().repeat(2),
        "cache in a file": lambda d: d.cache("cached"),
        "prefetch": lambda d: d.prefetch(2),
        "map in parallel": lambda d: d.map(lambda x: x, num_parallel_calls=2),
        "take nothing": lambda d: d.take(0),
        "take": lambda d: d.take(3),
        "take, repeat": lambda d: d.take(2).repeat(2),
        "skip": lambda d: d.skip(2),
        "skip all": lambda d: d.skip(-1),
        "shard": lambda d: d.shard(2, 0),
        "zip": lambda d: datasets.zip((rest, d)),
        "zip with itself": lambda d: datasets.zip((d, d)),
        "concatenate": lambda d: d.concatenate(rest),
        "concatenate behind": lambda d: rest.concatenate(d),
        "concatenate to itself": lambda d: d.concatenate(d),
        "flat_map": lambda d: d.flat_map(lambda x: datasets.range(2)),
        "flat_map, shuffle": lambda d: d.flat_map(lambda x: datasets.range(2)).shuffle(3),
        "inside of flat_map": lambda d: datasets.range(2).flat_map(lambda x: d),
        "interleave": lambda d: d.interleave(lambda x: datasets.range(2), cycle_length=2),
        "window": lambda d: d.window(2).flat_map(lambda w: w),
        "unbatch": lambda d: d.batch(2).unbatch(),
        "scan": lambda d: d.scan(np.int64(0), lambda s, x: (s + x, s)),
        "choose": lambda d: datasets.choose_from_datasets([rest, d], datasets.range(2).repeat(4)),
        "choose, named by it": lambda d: datasets.choose_from_datasets([rest] * ROWS, d),
        "sample": lambda d: datasets.sample_from_datasets([d, rest], seed=3),
        "sample, endless": lambda d: datasets.sample_from_datasets(
            [d.repeat(), rest.repeat()], seed=3
        ).take(20),
        "sample, batch": lambda d: (
            datasets.sample_from_datasets([d.repeat(), rest.repeat()], seed=3).batch(4).take(3)
        ),
        "ignore_errors": lambda d: d.ignore_errors(),
        "assert_cardinality": lambda d: d.apply(tf.data.experimental.assert_cardinality(ROWS)),
        "copy_to_device": lambda d: d.apply(tf.data.experimental.copy_to_device("/cpu:0")),
        "map, shuffle, batch, repeat": lambda d: (
            d.map(lambda x: x).shuffle(4).batch(2).repeat(2).prefetch(1)
        ),
    }


def shuffled(tf, rows=ROWS, seed=9):
    tf.random.set_seed(5)
    return tf.data.Dataset.range(rows).shuffle(rows, seed=seed)


def orders_drawn(tf, use, rows=ROWS):
    """How many orders were drawn by `use(dataset)`."""
    dataset = shuffled(tf, rows)
    orders = [list(dataset.as_numpy_iterator()) for _ in range(12)]
    dataset = shuffled(tf, rows)
    use(dataset)
    return orders.index(list(dataset.as_numpy_iterator()))


def assert_same_number(use):
    """Both draw as many orders by `use(tf, dataset, pause)`.

    The threads of the original need a pause to get as far as they do in a step of training, and a
    longer one where others compute, too.
    """
    drawn = orders_drawn(runnel, partial(use, runnel, pause=0))
    for pause in (0.01, 0.1, 0.5):
        wanted = orders_drawn(tensorflow, partial(use, tensorflow, pause=pause))
        if wanted == drawn:
            return
    assert drawn == wanted


def pull(iterator, count, pause):
    for _ in range(count):
        if next(iterator, None) is None:
            break
        time.sleep(pause if count < 20 else pause / 20)
    time.sleep(pause)


@pytest.mark.parametrize("name", transformations(runnel))
@pytest.mark.parametrize("count", [0, 1, 100])
def test_an_iteration_that_is_left(name, count, tmp_path, monkeypatch):
    def use(tf, dataset, pause):
        folder = tmp_path / f"{tf.__name__}{pause}"
        folder.mkdir()
        monkeypatch.chdir(folder)
        pull(iter(transformations(tf)[name](dataset)), count, pause)

    assert_same_number(use)


@pytest.mark.parametrize("steps", [1, 3, 5, 6, 7, 12])
def test_rounds_begin_one_batch_early(steps):
    assert_same_number(
        lambda tf, dataset, pause: pull(iter(dataset.repeat().batch(2)), steps, pause)
    )


@pytest.mark.parametrize("size", [1, 2, 5])
def test_what_threads_read_ahead_is_waited_for(size):
    """The original's threads need not come as far, so that their number is written down."""

    def use(dataset):
        iterator = iter(
            dataset.repeat().map(lambda x: x + 1).filter(lambda x: x > 0).prefetch(size)
        )
        for _ in range(ROWS):
            next(iterator)

    # Behind a round, `size` elements more are prepared: one round begins.
    assert [orders_drawn(runnel, use) for _ in range(5)] == [2] * 5


def test_nothing_is_prepared_behind_the_last_element_of_take():
    def use(dataset):
        list(
            dataset.repeat().map(lambda x: x + 1).filter(lambda x: x > 0).prefetch(2).take(ROWS - 1)
        )

    assert [orders_drawn(runnel, use) for _ in range(5)] == [1] * 5


def adapted(layer, prepare):
    return lambda keras, dataset: layer(keras).adapt(prepare(dataset))


ADAPTED = {
    "Normalization": adapted(
        lambda keras: keras.layers.Normalization(axis=None), lambda d: d.batch(4)
    ),
    "Discretization": adapted(
        lambda keras: keras.layers.Discretization(num_bins=2), lambda d: d.batch(4)
    ),
    "IntegerLookup": adapted(lambda keras: keras.layers.IntegerLookup(), lambda d: d.batch(4)),
    "all steps": lambda keras, d: keras.layers.IntegerLookup().adapt(d.batch(2), steps=3),
    "fewer steps": lambda keras, d: keras.layers.IntegerLookup().adapt(d.batch(2), steps=2),
    "endless": lambda keras, d: keras.layers.IntegerLookup().adapt(d.repeat().batch(2), steps=4),
}


@pytest.mark.parametrize("name", ADAPTED)
def test_adapt(name):
    drawn = [
        orders_drawn(tf, lambda d, tf=tf: ADAPTED[name](tf.keras, d)) for tf in (tensorflow, runnel)
    ]
    assert drawn[1] == drawn[0]


@pytest.mark.parametrize(
    ("prepare", "options"),
    [
        (lambda d: d.batch(2), {"epochs": 2}),
        (lambda d: d.batch(2), {"epochs": 2, "steps_per_epoch": 3}),
        (lambda d: d.batch(2), {"epochs": 2, "steps_per_epoch": 1}),
        (lambda d: d.repeat().batch(2), {"epochs": 2, "steps_per_epoch": 3}),
        (lambda d: d.repeat().batch(2), {"epochs": 2, "steps_per_epoch": 2}),
        (lambda d: d.batch(2).repeat(), {"epochs": 3, "steps_per_epoch": 3}),
    ],
)
def test_fit(prepare, options):
    def use(tf, dataset, pause):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        columns = dataset.map(lambda x: tf.ones([1]) * tf.cast(x, tf.float32))
        pairs = prepare(columns).map(lambda x: (x, x))
        waiting = tf.keras.callbacks.LambdaCallback(on_train_batch_end=lambda *_: time.sleep(pause))
        model.fit(pairs, verbose=0, callbacks=[waiting], **options)

    assert_same_number(use)


def test_random_numbers_begin_with_a_loop_over_a_dataset():
    def program(tf):
        tf.random.set_seed(5)
        dataset = tf.data.Dataset.range(5)
        iterator = iter(dataset.repeat())

        @tf.function
        def over_dataset():
            total = tf.zeros([2])
            for element in dataset.shuffle(5):
                total = 3 * total + tf.cast(element, tf.float32) + tf.random.uniform([2])
            return total + tf.random.uniform([2])

        @tf.function
        def over_range():
            total = tf.zeros([2])
            for _ in tf.range(3):
                total = 3 * total + tf.random.uniform(tf.shape(total))
            return total

        @tf.function
        def over_iterator():
            total = tf.zeros([2])
            for _ in tf.range(3):
                drawn = tf.random.uniform(tf.shape(total))
                total = 3 * total + drawn + tf.cast(next(iterator), tf.float32)
            return total

        loops = over_dataset, over_range, over_iterator
        return [loop().numpy() for _ in range(3) for loop in loops]

    np.testing.assert_allclose(program(runnel), program(tensorflow), rtol=1e-5)

"""Pipelines give the same with and without optimizations: elements, orders, errors, places."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from pipelines import assert_equal, outcome
from test_chains import SOURCES, STEPS

import runnel as tf
from runnel.data.fused import GatheredBatches, MapAndBatchDataset, Rows, RowsDataset
from runnel.data.optimizing import optimized

IMAGES = np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3, 1)
NUMBERS = np.array([3, -1, 0, 7, 2], np.int32)

# Functions of an image and a number, and whether they are done on whole batches.
FUNCTIONS = {
    "rot90": (lambda x, n: (tf.image.rot90(x), n), True),
    "scaled": (lambda x, n: tf.cast(x, tf.float32) / 255.0 - [0.5], True),
    "converted": (lambda x, n: tf.image.convert_image_dtype(x, tf.float32), True),
    "flipped": (lambda x, n: tf.image.flip_left_right(x), True),
    "flat": (lambda x, n: {"x": tf.reshape(x, [-1]), "y": tf.reshape(x, [2, -1])}, True),
    "more axes": (lambda x, n: (x[..., None], tf.expand_dims(x, 0), tf.squeeze(x, -1)), True),
    "parts": (lambda x, n: (x[1:, ::-1], x[0], x[-1, :, 0], x[:, tf.newaxis]), True),
    "classes": (lambda x, n: tf.one_hot(n, 4), True),
    "classes in front": (lambda x, n: tf.one_hot(n, 4, axis=0), True),
    "mixed ranks": (lambda x, n: tf.cast(x, tf.int32) * n + tf.range(3)[:, None], True),
    "chosen": (lambda x, n: tf.where(n > 0, tf.cast(x, tf.int32), -n), True),
    "largest": (lambda x, n: (tf.reduce_max(x), tf.reduce_min(x, axis=[0, -1])), True),
    "sums": (lambda x, n: tf.reduce_sum(tf.cast(x, tf.int32), axis=1, keepdims=True), True),
    "joined": (
        lambda x, n: (tf.concat([x, x], -1), tf.stack([n, n + 1]), tf.concat([x, x], 0)),
        True,
    ),
    "padded": (lambda x, n: tf.pad(x, [[1, 0], [0, 2], [0, 0]]), True),
    "tiled": (lambda x, n: tf.tile(x, [1, 2, 1]), True),
    "sliced": (lambda x, n: tf.slice(x, [1, 0, 0], [2, -1, 1]), True),
    "transposed": (lambda x, n: tf.transpose(x, [2, 0, 1]), True),
    "constant": (lambda x, n: (n, tf.constant([1.5, 2.5])), True),
    "clipped": (lambda x, n: tf.clip_by_value(tf.cast(n, tf.float32), -0.5, 2.0), True),
    "compared": (lambda x, n: tf.logical_and(n > 0, tf.reduce_all(x > 1)), True),
    "captured": (lambda x, n: tf.cast(x, tf.float32) - tf.constant(2.0), True),
    "same": (lambda x, n: (n, x), True),
    "sum of floats": (lambda x, n: tf.reduce_sum(tf.cast(x, tf.float32)), False),
    "logarithm": (lambda x, n: tf.math.log(tf.cast(x, tf.float32)), False),
    "to integers": (lambda x, n: tf.cast(tf.cast(n, tf.float32) * 1e9, tf.uint8), False),
    "division": (lambda x, n: 7 // (n * n + 1), False),
    "random": (lambda x, n: tf.cast(n, tf.float32) + tf.random.uniform([], seed=1), False),
    "sizes": (lambda x, n: tf.range(tf.abs(n)), False),
    "python": (lambda x, n: tf.numpy_function(lambda m: m + 1, [n], tf.int32), False),
    "branches": (lambda x, n: n + 1 if n > 0 else n - 1, False),
    "checked": (lambda x, n: tf.debugging.check_numerics(tf.cast(n, tf.float32), "n"), False),
}


def source():
    return tf.data.Dataset.from_tensor_slices((IMAGES, NUMBERS))


def plainly(dataset):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def seen(make):
    tf.random.set_seed(1)
    return outcome(tf, lambda _: make())


def assert_same_with_and_without(make):
    ours, wanted = seen(make), seen(lambda: plainly(make()))
    if isinstance(wanted, tuple):
        # Only the name of the outermost transformation is another one.
        assert ours[0].split(" ", 1)[1] == wanted[0].split(" ", 1)[1]
        ours, wanted = ours[1:], wanted[1:]
    assert_equal(ours, wanted)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_on_batches(name):
    function, whole = FUNCTIONS[name]
    mapped = source().map(function)
    program = mapped._function.on_batches()
    assert (program is not None and program.total) == whole
    assert_same_with_and_without(lambda: source().map(function))
    if name == "sizes":
        return
    assert_same_with_and_without(lambda: source().map(function).batch(2))
    assert_same_with_and_without(lambda: source().map(function).shuffle(3, seed=2).batch(3, True))
    assert_same_with_and_without(
        lambda: source().map(function, num_parallel_calls=2).shard(2, 1).repeat(3).skip(1).batch(4)
    )


@settings(max_examples=60)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.integers(0, 8),
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 5)), max_size=4),
)
def test_chains_with_and_without(name, size, steps):
    def make():
        dataset = SOURCES[name](tf, size)
        for step, number in steps:
            dataset = STEPS[step](tf, dataset, number)
        return dataset.take(30)

    assert_same_with_and_without(make)


def test_random_numbers_stay_in_step():
    """Iterations of one dataset draw the same orders, optimized or not."""

    def rounds(change):
        tf.random.set_seed(4)
        shuffled = tf.data.Dataset.range(20).shuffle(5).map(lambda x: x * 2)
        dataset = change(shuffled.repeat(2).shuffle(7, seed=1).batch(3))
        return [[x.numpy().tolist() for x in dataset] for _ in range(3)]

    assert rounds(lambda dataset: dataset) == rounds(plainly)


def test_the_forms():
    assert isinstance(optimized(source().shuffle(3).repeat().skip(1)), RowsDataset)
    whole = source().map(lambda x, n: (x, n + 1)).shuffle(9).batch(2)
    assert isinstance(optimized(whole), GatheredBatches)
    one_by_one = source().map(lambda x, n: tf.math.exp(tf.cast(n, tf.float32))).batch(2)
    assert isinstance(optimized(one_by_one), MapAndBatchDataset)
    options = tf.data.Options()
    options.experimental_optimization.map_and_batch_fusion = False
    assert not isinstance(optimized(one_by_one.with_options(options)), MapAndBatchDataset)
    options.experimental_optimization.noop_elimination = False
    kept = tf.data.Dataset.range(3).filter(lambda x: x > 0).repeat(1)
    assert type(optimized(kept)).__name__ == "_FilterDataset"
    assert type(optimized(kept.with_options(options))).__name__ == "_RepeatDataset"
    plain = plainly(whole)
    assert optimized(plain) is plain


def test_errors_come_at_the_same_elements():
    def make():
        return tf.data.Dataset.range(-4, 8).map(
            lambda x: tf.debugging.check_numerics(1 / x, "inverse")
        )

    for change in (lambda d: d, lambda d: d.batch(3), lambda d: d.batch(3, True)):
        assert told(change(make())) == told(plainly(change(make())))
    shapes = tf.data.Dataset.range(6).map(lambda x: tf.range(x // 2))
    assert told(shapes.batch(3)) == told(plainly(shapes.batch(3)))
    assert "different shapes" in told(shapes.batch(3))[0][1]


PLACES = {
    "rows": lambda: source().shuffle(3, seed=1).repeat(),
    "batches": lambda: source().map(lambda x, n: n * 2).shuffle(4, seed=2).repeat().batch(3),
    "ahead": lambda: source().shuffle(3, seed=1).repeat().batch(2).prefetch(2),
    "mapped": lambda: (
        tf.data.Dataset.range(50).shuffle(9, seed=3).map(lambda x: tf.math.exp(x / 50)).batch(4)
    ),
}


@pytest.mark.parametrize("name", PLACES)
def test_positions_in_checkpoints(name, tmp_path):
    def values(iterator, count):
        return [
            [np.asarray(leaf).tolist() for leaf in tf.nest.flatten(element)]
            for element in itertools.islice(iterator, count)
        ]

    notes = []
    for change in (lambda d: d, plainly):
        iterator = iter(change(PLACES[name]()))
        checkpoint = tf.train.Checkpoint(iterator=iterator)
        values(iterator, 4)
        path = checkpoint.save(str(tmp_path / f"place{len(notes)}"))
        wanted = values(iterator, 5)
        checkpoint.restore(path)
        assert values(iterator, 5) == wanted
        fresh = iter(change(PLACES[name]()))
        tf.train.Checkpoint(iterator=fresh).restore(path)
        assert values(fresh, 5) == wanted
        notes.append(wanted)
    assert notes[0] == notes[1]


def test_positions_over_rows_are_jumped_to(monkeypatch):
    gathered = []
    whole = Rows.gathered
    monkeypatch.setattr(
        Rows, "gathered", lambda rows, which: (gathered.append(which), whole(rows, which))[1]
    )
    iterator = iter(tf.data.Dataset.range(1000).map(lambda x: x + 1).batch(10))
    iterator._go_to([90])
    assert next(iterator).numpy().tolist() == list(range(901, 911))
    assert [which.tolist() for which in gathered] == [list(range(900, 910))]


def examples():
    """Serialized examples of 4 bytes and a number, one of them without its number."""
    texts = []
    for number in range(11):
        features = {
            "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([number] * 4)]))
        }
        if number != 7:
            features["n"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
        example = tf.train.Example(features=tf.train.Features(feature=features))
        texts.append(example.SerializeToString())
    return texts


def parse(text):
    description = {
        "b": tf.io.FixedLenFeature([], tf.string),
        "n": tf.io.FixedLenFeature([], tf.int64),
    }
    found = tf.io.parse_single_example(text, description)
    numbers = tf.cast(tf.io.decode_raw(found["b"], tf.uint8), tf.float32) / 2.0
    return tf.reshape(numbers, [2, 2]), found["n"]


def told(dataset, count=8):
    """The elements up to the first error; what follows depends on what runs as one."""
    iterator, notes = iter(dataset), []
    for _ in range(count):
        try:
            notes.append([np.asarray(leaf).tolist() for leaf in tf.nest.flatten(next(iterator))])
        except tf.errors.OpError as error:
            return [*notes, (type(error), error.message)]
        except StopIteration:
            return [*notes, "end"]
    return notes


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("parallel", [None, 2])
def test_functions_that_may_fail_on_batches(drop, parallel):
    texts = examples()

    def make(texts, function=parse):
        source = tf.data.Dataset.from_generator(
            lambda: iter(texts), output_signature=tf.TensorSpec([], tf.string)
        )
        return source.map(function, num_parallel_calls=parallel).batch(3, drop_remainder=drop)

    program = make(texts)._inputs[0]._function.on_batches()
    assert program is not None and not program.total
    good = [text for place, text in enumerate(texts) if place != 7]
    broken = [*good[:4], b"\xff\xff", *good[4:5], b"\x07", *good[5:]]
    for texts_given in (good, texts, broken, good[:2], []):
        notes = told(make(texts_given))
        assert notes == told(plainly(make(texts_given)))
    assert "element 7" in told(make(texts))[2][1]
    lengths = [b"abcd", b"efgh", b"ab", b"ijkl", b"mnop"]
    for function in (
        lambda text: tf.io.decode_raw(text, tf.uint8),
        lambda text: tf.reshape(tf.io.decode_raw(text, tf.uint8), [2, 2]),
        lambda text: tf.reshape(tf.io.decode_raw(text, tf.uint8), [8]),
        lambda text: tf.cast(tf.io.decode_raw(text, tf.uint16), tf.int32) * 2,
    ):
        assert make(lengths, function)._inputs[0]._function.on_batches() is not None
        for texts_given in (lengths, lengths[:2], [b"abc", b"abcd"]):
            assert told(make(texts_given, function)) == told(plainly(make(texts_given, function)))


def test_errors_of_the_source_come_after_those_of_the_function():
    def numbers():
        yield from examples()[:9]
        raise ValueError("the source is broken")

    def make():
        source = tf.data.Dataset.from_generator(
            numbers, output_signature=tf.TensorSpec([], tf.string)
        )
        return source.map(parse).batch(5)

    notes = told(make())
    assert notes == told(plainly(make()))
    assert "element 7" in notes[1][1]


def test_debugging_runs_every_element():
    from runnel.data.functions import Debugging

    called = []

    def function(x):
        called.append(int(x))
        return x + 1

    try:
        tf.data.experimental.enable_debug_mode()
        dataset = tf.data.Dataset.range(4).map(function).batch(2)
        called.clear()
        assert [x.numpy().tolist() for x in dataset] == [[1, 2], [3, 4]]
    finally:
        Debugging.on = False
    assert called == [0, 1, 2, 3]

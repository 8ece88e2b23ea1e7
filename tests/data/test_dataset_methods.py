"""Sources, transformations and questions, one by one, as on TensorFlow."""

from __future__ import annotations

import collections

import numpy as np
import pytest
import tensorflow
from pipelines import same, same_error

import runnel

Point = collections.namedtuple("Point", ["x", "y"])

PROGRAMS = {
    "lists are tensors": lambda tf: tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]),
    "namedtuples": lambda tf: tf.data.Dataset.from_tensor_slices(Point([1, 2], [3.0, 4.0])).map(
        lambda p: Point(p.y, p.x)
    ),
    "none": lambda tf: tf.data.Dataset.from_tensors((1, None)).map(lambda a, b: (a, b)),
    "strings": lambda tf: tf.data.Dataset.from_tensor_slices(["a", "bc"]).map(tf.strings.length),
    "range with a type": lambda tf: tf.data.Dataset.range(1, 9, 3, output_type=tf.float32),
    "counter": lambda tf: tf.data.Dataset.counter(3, 2).take(4),
    "old generator": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([(1, [2.0]), (3, [4.0, 5.0])]), (tf.int32, tf.float32), ([], [None])
    ),
    "generator with arguments": lambda tf: tf.data.Dataset.from_generator(
        lambda n: iter(range(n)), output_types=tf.int64, args=[3]
    ),
    "generator of ragged tensors": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([tf.ragged.constant([[1], [2, 3]])]),
        output_signature=tf.RaggedTensorSpec([2, None], tf.int32),
    ),
    "from_list": lambda tf: tf.data.experimental.from_list([(1, "a"), (2, "b")]),
    "zip of a dict": lambda tf: tf.data.Dataset.zip(
        {"a": tf.data.Dataset.range(3), "b": tf.data.Dataset.range(2)}
    ),
    "ragged rows": lambda tf: tf.data.Dataset.from_tensor_slices(
        tf.ragged.constant([[1], [2, 3], []])
    ).batch(2),
    "sparse rows": lambda tf: tf.data.Dataset.from_tensor_slices(
        tf.sparse.from_dense([[1, 0], [2, 3], [0, 0]])
    ).batch(2),
    "padding to a shape": lambda tf: (
        tf.data.Dataset.range(5)
        .map(lambda n: (tf.fill([n], n), n))
        .padded_batch(2, ([6], []), (np.int64(-1), None), drop_remainder=True)
    ),
    "padding strings": lambda tf: (
        tf.data.Dataset.from_tensor_slices(["a b", "c"])
        .map(lambda s: tf.strings.split([s]).values)
        .padded_batch(2, padding_values="-")
    ),
    "buckets": lambda tf: (
        tf.data.Dataset.from_tensor_slices([3, 1, 5, 2, 7, 1, 4])
        .map(lambda n: tf.range(n))
        .bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2])
    ),
    "buckets to the boundary": lambda tf: (
        tf.data.Dataset.from_tensor_slices([3, 1, 2, 4, 1])
        .map(lambda n: tf.range(n))
        .bucket_by_sequence_length(
            lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True
        )
    ),
    "windows of pairs": lambda tf: tf.data.Dataset.range(7).enumerate().window(3, 2, 2),
    "windows as datasets": lambda tf: (
        tf.data.Dataset.range(7)
        .window(3, 1, drop_remainder=True)
        .flat_map(lambda w: w.map(lambda x: x * 2).batch(3, drop_remainder=True))
    ),
    "captures": lambda tf: tf.data.Dataset.range(3).flat_map(
        lambda n: tf.data.Dataset.range(2).map(lambda m: m * 10 + n)
    ),
    "python control flow": lambda tf: tf.data.Dataset.range(4).map(branching),
    "constants": lambda tf: tf.data.Dataset.range(2).map(lambda x: (3.5, "text", [1, 2])),
    "list results": lambda tf: tf.data.Dataset.range(2).map(lambda x: [x, x + 1]),
    "python functions": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: tf.py_function(lambda y: y.numpy() * 2, [x], tf.int64)
    ),
    "reduce": lambda tf: tf.data.Dataset.range(5).reduce(
        (np.int64(0), 1.0), lambda s, x: (s[0] + x, s[1] * 2.0)
    ),
    "reduce to growing shapes": lambda tf: tf.data.Dataset.range(3).reduce(
        tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0)
    ),
    "single element": lambda tf: tf.data.Dataset.from_tensors({"a": 1}).get_single_element(),
    "cardinality": lambda tf: (
        tf.data.Dataset.range(9)
        .filter(lambda x: x > 3)
        .apply(tf.data.experimental.assert_cardinality(5))
    ),
    "numpy": lambda tf: list(
        tf.data.Dataset.from_tensor_slices((["a", "b"], [[1], [2]])).as_numpy_iterator()
    ),
    "structure": lambda tf: repr(
        tf.data.experimental.get_structure(tf.data.Dataset.range(3).window(2))
    ),
    "rebatch in turn": lambda tf: tf.data.Dataset.range(10).batch(4).rebatch([1, 2]),
    "older names": lambda tf: (
        tf.data.Dataset.range(6)
        .apply(tf.data.experimental.enumerate_dataset(2))
        .apply(tf.data.experimental.take_while(lambda i, x: x < 4))
        .apply(tf.data.experimental.map_and_batch(lambda i, x: i + x, 3))
        .apply(tf.data.experimental.unbatch())
    ),
}


def branching(x):
    if x % 2 == 0:
        y = x * 10
    else:
        y = -x
    for _ in range(2):
        y += 1
    return y


@pytest.mark.parametrize("name", PROGRAMS)
def test_same(name):
    same(PROGRAMS[name])


BAD = {
    "unequal rows": lambda tf: tf.data.Dataset.from_tensor_slices(([1, 2], [3])),
    "no rows": lambda tf: tf.data.Dataset.from_tensor_slices(1),
    "nothing": lambda tf: tf.data.Dataset.from_tensor_slices(()),
    "endless length": lambda tf: len(tf.data.Dataset.range(2).repeat()),
    "unknown length": lambda tf: len(tf.data.Dataset.range(2).filter(lambda x: x > 0)),
    "different shapes": lambda tf: tf.data.Dataset.range(3).map(lambda x: tf.range(x)).batch(2),
    "empty batches": lambda tf: tf.data.Dataset.range(3).batch(0),
    "empty buffer": lambda tf: tf.data.Dataset.range(3).shuffle(0),
    "shard too high": lambda tf: tf.data.Dataset.range(3).shard(2, 2),
    "no shards": lambda tf: tf.data.Dataset.range(3).shard(0, 0),
    "several elements": lambda tf: tf.data.Dataset.range(3).get_single_element(),
    "no element": lambda tf: tf.data.Dataset.range(0).get_single_element(),
    "no predicate": lambda tf: tf.data.Dataset.range(3).filter(lambda x: x),
    "other types": lambda tf: tf.data.Dataset.range(3).concatenate(
        tf.data.Dataset.from_tensors(1.0)
    ),
    "zip of a list": lambda tf: tf.data.Dataset.zip([tf.data.Dataset.range(3)]),
    "zip of a number": lambda tf: tf.data.Dataset.zip(3),
    "generator of other types": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([1, "a"]), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "generator of other shapes": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([[1, 2]]), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "generator of other structure": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([(1, 2)]), output_signature=(tf.TensorSpec([], tf.int32),)
    ),
    "generator fails": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter({}["missing"]), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "generator without types": lambda tf: tf.data.Dataset.from_generator(lambda: iter([1])),
    "generator object": lambda tf: tf.data.Dataset.from_generator([1], tf.int32),
    "function fails": lambda tf: tf.data.Dataset.range(3).map(
        lambda x: tf.debugging.check_numerics(1 / tf.cast(x, tf.float32), "zero")
    ),
    "function takes other arguments": lambda tf: (
        tf.data.Dataset.range(3).enumerate().map(lambda x: x)
    ),
    "range of nothing": lambda tf: tf.data.Dataset.range(),
    "range without steps": lambda tf: tf.data.Dataset.range(0, 3, 0),
    "scan without state": lambda tf: tf.data.Dataset.range(3).scan(0, lambda s, x: x),
    "state of another type": lambda tf: tf.data.Dataset.range(3).reduce(0, lambda s, x: x),
    "padding too small": lambda tf: (
        tf.data.Dataset.range(3).map(lambda x: tf.range(x)).padded_batch(3, padded_shapes=[1])
    ),
    "padding of another type": lambda tf: tf.data.Dataset.range(3).padded_batch(
        2, padding_values=1.5
    ),
    "padding of unknown rank": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([[1]]), tf.int32
    ).padded_batch(2),
    "unbatch numbers": lambda tf: tf.data.Dataset.range(3).unbatch(),
    "unique floats": lambda tf: tf.data.Dataset.from_tensor_slices([1.0]).unique(),
    "unique pairs": lambda tf: tf.data.Dataset.range(3).enumerate().unique(),
    "after the end": lambda tf: iter(tf.data.Dataset.range(0)).get_next(),
    "wrong cardinality": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.assert_cardinality(4)
    ),
    "windows as arrays": lambda tf: tf.data.Dataset.range(3).window(2).as_numpy_iterator(),
    "no files": lambda tf: tf.data.Dataset.list_files("no/such/file*"),
    "choice out of range": lambda tf: tf.data.Dataset.choose_from_datasets(
        [tf.data.Dataset.range(3)], tf.data.Dataset.from_tensors(np.int64(3))
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_same_error(name):
    same_error(BAD[name])


def test_names_of_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name)

    def program(tf, **keywords):
        return tf.data.Dataset.list_files(str(tmp_path / "*.txt"), **keywords)

    same(lambda tf: program(tf, shuffle=False))
    same(lambda tf: program(tf, seed=3))


def test_an_error_tells_element_transformation_and_line():
    dataset = runnel.data.Dataset.range(-3, 3).map(
        lambda x: runnel.debugging.check_numerics(1 / x, "inverse of zero")
    )
    with pytest.raises(runnel.errors.InvalidArgumentError) as caught:
        list(dataset)
    told = str(caught.value)
    assert "MapDataset" in told and "element 3" in told and "inverse of zero" in told
    assert "test_dataset_methods.py" in told


def test_unequal_rows_are_told_with_their_shapes():
    with pytest.raises(ValueError, match=r"\(2, 2\).*\(3,\)"):
        runnel.data.Dataset.from_tensor_slices((np.zeros((2, 2)), np.zeros(3)))


def test_debug_mode_runs_functions_as_python():
    from runnel.data.functions import Debugging

    seen = []

    def function(x):
        seen.append(int(x.numpy()))
        return x + 1

    try:
        runnel.data.experimental.enable_debug_mode()
        dataset = runnel.data.Dataset.range(3).map(function, num_parallel_calls=2)
        assert dataset.element_spec == runnel.TensorSpec([], runnel.int64)
        seen.clear()
        assert [int(x) for x in dataset] == [1, 2, 3]
    finally:
        Debugging.on = False
    assert seen == [0, 1, 2]


def test_options_merge():
    for tf in (tensorflow, runnel):
        first, second = tf.data.Options(), tf.data.Options()
        first.deterministic = False
        first.threading.private_threadpool_size = 3
        second.threading.max_intra_op_parallelism = 1
        dataset = tf.data.Dataset.range(3).with_options(first).map(lambda x: x)
        merged = dataset.with_options(second).options()
        assert merged.deterministic is False
        assert merged.threading.private_threadpool_size == 3
        assert merged.threading.max_intra_op_parallelism == 1
        with pytest.raises(AttributeError):
            first.no_such_option = 1


def test_rows_in_order_share_memory_and_are_safe():
    rows = np.arange(12).reshape(6, 2)
    dataset = runnel.data.Dataset.from_tensor_slices(rows).batch(2)
    rows[:] = 0
    assert [x.numpy().tolist() for x in dataset] == [
        [[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]
    ]  # fmt: skip


def test_positions_of_iterators():
    dataset = runnel.data.Dataset.range(40).shuffle(7, seed=3).batch(3).repeat()
    first = iter(dataset)
    for _ in range(5):
        next(first)
    iterator = iter(dataset)
    for _ in range(4):
        next(iterator)
    place = iterator._position()
    wanted = [next(iterator).numpy().tolist() for _ in range(30)]
    for other in (iterator, first, iter(dataset)):
        other._go_to(place)
        assert [next(other).numpy().tolist() for _ in range(30)] == wanted


def test_caches_in_files(tmp_path):
    calls = []

    def numbers():
        calls.append(1)
        yield from [(1, "a"), (2, "b")]

    signature = (runnel.TensorSpec([], runnel.int32), runnel.TensorSpec([], runnel.string))
    name = str(tmp_path / "cache")

    def dataset():
        source = runnel.data.Dataset.from_generator(numbers, output_signature=signature)
        return source.cache(name)

    with pytest.raises(runnel.errors.AlreadyExistsError):
        iterator = iter(dataset())
        next(iterator)
        next(iter(dataset()))
    del iterator
    calls.clear()
    for _ in range(3):
        assert list(dataset().as_numpy_iterator()) == [(1, b"a"), (2, b"b")]
    assert calls == [1]


def test_iterators_in_checkpoints(tmp_path):
    def program(tf):
        def dataset():
            return tf.data.Dataset.range(12).shuffle(5, seed=1).repeat(2).map(lambda x: x * 2)

        iterator = iter(dataset())
        step = tf.Variable(0)
        checkpoint = tf.train.Checkpoint(iterator=iterator, step=step)
        notes = [int(next(iterator)) for _ in range(3)]
        path = checkpoint.save(str(tmp_path / tf.__name__ / "saved"))
        notes += [int(next(iterator)) for _ in range(4)]
        checkpoint.restore(path)
        notes += [int(next(iterator)) for _ in range(4)]
        other = iter(dataset())
        tf.train.Checkpoint(iterator=other, step=step).restore(path).assert_consumed()
        notes += [int(x) for x in other]
        return notes

    same(program)


@pytest.mark.parametrize("initial", [None, [0.25, 0.75]])
def test_resampling_gives_the_wanted_distribution(initial):
    def resampled(tf):
        dataset = tf.data.Dataset.range(4000).map(lambda x: x % 4)
        return dataset.rejection_resample(
            lambda x: tf.cast(x > 0, tf.int32), [0.5, 0.5], initial_dist=initial, seed=1
        )

    for tf in (tensorflow, runnel):
        dataset = resampled(tf)
        pairs = [(int(label), int(x)) for label, x in dataset]
        assert all(label == (x > 0) for label, x in pairs)
        assert abs(np.mean([label for label, _ in pairs]) - 0.5) < 0.05
    assert repr(resampled(runnel).element_spec) == repr(resampled(tensorflow).element_spec)

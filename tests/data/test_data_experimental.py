"""tf.data.experimental and the rarer methods of datasets, as on TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from pipelines import same, same_error

import runnel


def lengths(tf, last=5):
    return tf.data.Dataset.range(1, last).map(lambda n: tf.range(n))


def total(tf, first=0):
    return tf.data.experimental.Reducer(
        lambda key: np.int64(first), lambda state, x: state + x, lambda state: state * 10
    )


def pairs(tf):
    return tf.data.Dataset.from_tensor_slices((["a", "b", "c"], np.array([5, 6, 7], np.int64)))


PROGRAMS = {
    "sparse rows": lambda tf: lengths(tf).sparse_batch(2, row_shape=[6]),
    "sparse rows of any length": lambda tf: lengths(tf, 4).sparse_batch(2, row_shape=[None]),
    "sparse planes": lambda tf: (
        lengths(tf, 4)
        .map(lambda x: tf.ones([2, tf.size(x)]))
        .apply(tf.data.experimental.dense_to_sparse_batch(2, [3, 4]))
    ),
    "sparse numbers": lambda tf: tf.data.Dataset.range(3).sparse_batch(2, row_shape=[]),
    "ragged": lambda tf: lengths(tf).apply(tf.data.experimental.dense_to_ragged_batch(2)),
    "reduced groups": lambda tf: tf.data.Dataset.range(1, 10).apply(
        tf.data.experimental.group_by_reducer(lambda x: 2 - (x * 7) % 3, total(tf))
    ),
    "reduced pairs": lambda tf: (
        tf.data.Dataset.range(6)
        .enumerate()
        .apply(
            tf.data.experimental.group_by_reducer(
                lambda i, x: x % 2,
                tf.data.experimental.Reducer(
                    lambda key: (key, tf.zeros([0], tf.int64)),
                    lambda state, pair: (state[0], tf.concat([state[1], [pair[1]]], 0)),
                    lambda key, seen: {"key": key, "seen": seen},
                ),
            )
        )
    ),
    "one element": lambda tf: tf.data.experimental.at(
        tf.data.Dataset.range(10).batch(3).map(lambda x: x + 1), 2
    ),
    "one element of pairs": lambda tf: tf.data.experimental.at(pairs(tf).skip(1), 1),
    "variants": lambda tf: tf.data.experimental.from_variant(
        tf.data.experimental.to_variant(tf.data.Dataset.range(3)), tf.TensorSpec([], tf.int64)
    ),
    "padded": lambda tf: tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).apply(
        tf.data.experimental.pad_to_cardinality(4)
    ),
    "devices": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.copy_to_device("/cpu:0")
    ),
    "ahead on a device": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.prefetch_to_device("/cpu:0")
    ),
    "random": lambda tf: tf.data.experimental.RandomDataset(seed=3).take(3),
    "table": lambda tf: tf.data.experimental.table_from_dataset(pairs(tf), default_value=-1).lookup(
        tf.constant(["b", "z"])
    ),
    "table of numbers": lambda tf: tf.data.experimental.table_from_dataset(
        tf.data.Dataset.range(3).map(lambda x: (x, x * 2)), default_value=-1, key_dtype=tf.int64
    ).lookup(tf.constant([2, 9], tf.int64)),
    "buckets": lambda tf: tf.data.experimental.table_from_dataset(
        tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate().map(lambda i, x: (x, i)), 3
    ).lookup(tf.constant(["b", "y", "z"])),
    "vocabulary": lambda tf: tf.data.experimental.index_table_from_dataset(
        tf.data.Dataset.from_tensor_slices(["a", "b", "c"]), vocab_size=2
    ).lookup(tf.constant(["b", "c"])),
    "initializer": lambda tf: tf.lookup.StaticHashTable(
        tf.data.experimental.DatasetInitializer(pairs(tf)), -1
    ).lookup(tf.constant(["c", "z"])),
    "positions of numpy": lambda tf: _there_and_back(tf),
    "hint": lambda tf: repr(
        tf.data.Dataset.range(3).shard(
            tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT
        )
    ),
    "spec as a message": lambda tf: str(
        tf.data.DatasetSpec(tf.TensorSpec([2], tf.int64)).experimental_as_proto()
    ),
    "iterator as a message": lambda tf: str(
        tf.data.IteratorSpec(tf.TensorSpec([2], tf.int64)).experimental_as_proto()
    ),
    "spec from a message": lambda tf: repr(
        tf.data.DatasetSpec.experimental_from_proto(
            tf.data.DatasetSpec(tf.TensorSpec([2], tf.int64)).experimental_as_proto()
        )
    ),
}

BAD = {
    "sparse rows too short": lambda tf: lengths(tf).sparse_batch(2, row_shape=[2]),
    "sparse rows of other rank": lambda tf: lengths(tf).sparse_batch(2, row_shape=[2, 2]),
    "sparse pairs": lambda tf: tf.data.Dataset.range(3).enumerate().sparse_batch(2, row_shape=[2]),
    "key of another type": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.group_by_reducer(lambda x: tf.cast(x, tf.int32), total(tf))
    ),
    "state of another type": lambda tf: tf.data.Dataset.range(3).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x,
            tf.data.experimental.Reducer(lambda key: 0.0, lambda state, x: x, lambda state: state),
        )
    ),
    "element after the last": lambda tf: tf.data.experimental.at(tf.data.Dataset.range(3), 3),
    "element before the first": lambda tf: tf.data.experimental.at(tf.data.Dataset.range(3), -1),
    "element of unknown many": lambda tf: tf.data.experimental.at(
        tf.data.Dataset.range(3).filter(lambda x: x > 0), 0
    ),
    "element of endless many": lambda tf: tf.data.experimental.at(
        tf.data.Dataset.range(3).repeat(), 0
    ),
    "padded to less": lambda tf: tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).apply(
        tf.data.experimental.pad_to_cardinality(1)
    ),
    "padded unknown": lambda tf: (
        tf.data.Dataset.from_tensor_slices({"a": [1]})
        .filter(lambda x: True)
        .apply(tf.data.experimental.pad_to_cardinality(4))
    ),
    "hint alone": lambda tf: tf.data.Dataset.range(3).shard(
        tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT
    ),
    "table of single values": lambda tf: tf.data.experimental.DatasetInitializer(
        tf.data.Dataset.range(3)
    ),
}


def _there_and_back(tf):
    iterator = tf.data.Dataset.range(9).shuffle(4, seed=1).map(lambda x: x * 2).as_numpy_iterator()
    first = [next(iterator) for _ in range(3)]
    place = iterator.save()
    then = [next(iterator) for _ in range(4)]
    iterator.restore(place)
    return first, then, list(iterator)


@pytest.mark.parametrize("name", PROGRAMS)
def test_same(name):
    same(PROGRAMS[name])


@pytest.mark.parametrize("name", BAD)
def test_same_error(name):
    same_error(BAD[name])


def test_records_of_a_dataset(tmp_path):
    def program(tf):
        path = str(tmp_path / tf.__name__)
        texts = tf.data.Dataset.from_tensor_slices(["a", "", "ccc"])
        tf.data.experimental.TFRecordWriter(path).write(texts)
        with pytest.raises(TypeError):
            tf.data.experimental.TFRecordWriter(path + "2").write(tf.data.Dataset.range(3))
        with open(path, "rb") as file:
            return file.read()

    same(program)


def test_every_option():
    groups = ["autotune", "experimental_distribute", "experimental_optimization",
              "experimental_service", "threading"]  # fmt: skip
    for tf in (tensorflow, runnel):
        options = tf.data.Options()
        seen = {name: getattr(options, name) for name in ("deterministic", "dataset_name")}
        assert set(seen.values()) == {None}
        for group in groups:
            held = getattr(options, group)
            names = [name for name in dir(held) if not name.startswith("_")]
            assert names
            assert getattr(options, group) is held
    wanted = {
        group: {
            name: getattr(getattr(tensorflow.data.Options(), group), name)
            for name in dir(getattr(tensorflow.data.Options(), group))
            if not name.startswith("_")
        }
        for group in groups
    }
    for group, values in wanted.items():
        ours = getattr(runnel.data.Options(), group)
        for name, value in values.items():
            assert repr(getattr(ours, name)) == repr(value), (group, name)


def test_numpy_positions_refuse_other_texts():
    iterator = runnel.data.Dataset.range(3).as_numpy_iterator()
    with pytest.raises(runnel.errors.InvalidArgumentError, match="`state` is not"):
        iterator.restore(runnel.constant("nonsense"))

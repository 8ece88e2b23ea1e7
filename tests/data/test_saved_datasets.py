"""Saved datasets: written by one library and read by the other, and safe when a writer dies."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import tensorflow
from pipelines import assert_equal, outcome, same

import runnel
from runnel.data.snapshot_files import Metadata
from runnel.formats.wire import field, varint

ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)

SOURCES = {
    "numbers": lambda tf: tf.data.Dataset.range(7),
    "rows": lambda tf: tf.data.Dataset.from_tensor_slices((ROWS, [True, False] * 3)),
    # One key: in what order several come back, the original leaves open.
    "texts": lambda tf: tf.data.Dataset.from_tensor_slices(({"b": ["", "x" * 300]}, ["y", "é"])),
    "texts in rows": lambda tf: tf.data.Dataset.from_tensor_slices([["a", "bc"], ["", "d"]]),
    "sizes": lambda tf: tf.data.Dataset.range(3).map(lambda n: (tf.range(n), tf.fill([n], "s"))),
    "ragged": lambda tf: tf.data.Dataset.from_tensor_slices(
        tf.ragged.constant([[[1], [2, 3]], [], [[4]]])
    ),
    "ragged rows": lambda tf: tf.data.Dataset.from_tensor_slices(
        tf.ragged.constant([[1], [], [2, 3]])
    ),
    "ragged texts": lambda tf: tf.data.Dataset.from_tensors(
        tf.ragged.constant([["a"], ["b", "c"]])
    ),
    "sparse": lambda tf: tf.data.Dataset.from_tensors(tf.sparse.from_dense([[0, 1.5], [2, 0]])),
    "half": lambda tf: tf.data.Dataset.from_tensors(
        (tf.constant([1.5, 2], tf.bfloat16), tf.constant(1 + 2j), tf.constant(3, tf.uint16))
    ),
    "nothing": lambda tf: tf.data.Dataset.range(0),
}


@pytest.mark.parametrize(
    ("name", "compression"),
    [*zip(SOURCES, [None] * len(SOURCES), strict=True), ("rows", "GZIP"), ("rows", "SNAPPY"),
     ("texts", "SNAPPY"), ("sparse", "SNAPPY")],
)  # fmt: skip
def test_written_by_one_and_read_by_the_other(tmp_path, name, compression):
    results = []
    for writer, reader in itertools.product((tensorflow, runnel), repeat=2):
        path = str(tmp_path / f"{writer.__name__}-{reader.__name__}")
        SOURCES[name](writer).save(path, compression=compression)
        results.append(outcome(reader, lambda tf: tf.data.Dataset.load(path, None, compression)))
    for each in results[1:]:
        assert_equal(each, results[0])


def test_shards_and_readers(tmp_path):
    def program(tf):
        path = str(tmp_path / tf.__name__)
        tf.data.Dataset.range(20).save(path, shard_func=lambda x: x % 5)
        folders = sorted(os.listdir(path))
        run = next(each for each in folders if "." not in each)
        whole = tf.data.Dataset.load(path, reader_func=lambda parts: parts.flat_map(lambda x: x))
        # The specs are beside the shards as well, so that a reader gets those of its run.
        files = set(os.listdir(os.path.join(path, run))) - {"dataset_spec.pb"}
        return sorted(files), [int(x) for x in whole]

    same(program)

    def in_turn(tf):
        return tf.data.Dataset.load(str(tmp_path / "tensorflow"))

    same(in_turn)


def test_refusals(tmp_path):
    path = str(tmp_path / "numbers")
    runnel.data.Dataset.range(3).save(path)
    for program in (
        lambda tf: tf.data.Dataset.load(str(tmp_path / "none")),
        lambda tf: tf.data.Dataset.load(path, tf.TensorSpec([], tf.float32)),
        lambda tf: tf.data.Dataset.load(path, compression="GZIP"),
        lambda tf: tf.data.Dataset.range(3).save(
            str(tmp_path / "other"), shard_func=lambda x: tf.cast(x, tf.float32)
        ),
    ):
        assert outcome(runnel, program) == outcome(tensorflow, program)
        assert str(outcome(runnel, program)).startswith("raised")


def test_damaged_files_are_told(tmp_path):
    path = tmp_path / "numbers"
    for compression in ("", "GZIP", "SNAPPY"):
        shutil.rmtree(path, ignore_errors=True)
        runnel.data.Dataset.range(50).save(str(path), compression=compression)
        file = next(path.rglob("*.snapshot"))
        whole = file.read_bytes()
        for place in range(0, len(whole), max(1, len(whole) // 20)):
            changed = bytearray(whole)
            changed[place] ^= 0x55
            file.write_bytes(changed)
            with pytest.raises(runnel.errors.DataLossError):
                list(runnel.data.Dataset.load(str(path), compression=compression))
    for damage in (b"\xff", b"\x18\x05", b""):
        for spec in path.rglob("dataset_spec.pb"):
            spec.write_bytes(damage)
        with pytest.raises(runnel.errors.DataLossError):
            runnel.data.Dataset.load(str(path), compression="SNAPPY")
    (path / "snapshot.metadata").write_bytes(b"\x12\xff")
    with pytest.raises(runnel.errors.DataLossError):
        runnel.data.Dataset.load(str(path), compression="SNAPPY")


@pytest.mark.parametrize("run", ["../other/{}", "{}/other/{}", "..", "a\0b"])
def test_a_run_is_a_folder_of_the_dataset(tmp_path, run):
    for name in ("mine", "other"):
        runnel.data.Dataset.range(3).save(str(tmp_path / name))
    other = Metadata.read(str(tmp_path / "other")).run
    run = run.format(other) if run.startswith(".") else run.format(tmp_path, other)
    mine = Metadata.read(str(tmp_path / "mine"))
    mine._replace(run=run).write(str(tmp_path / "mine"))
    with pytest.raises(runnel.errors.DataLossError, match="no name of a folder"):
        runnel.data.Dataset.load(str(tmp_path / "mine"))


def test_texts_that_are_not_in_the_message(tmp_path):
    path = tmp_path / "texts"
    runnel.data.Dataset.from_tensors(["a", "b"]).save(str(path), compression=None)
    (file,) = path.rglob("*.snapshot")
    # A TensorProto of strings: 2**40 of them, of which one or none is there.
    for more in (b"", b"\x42\x01x"):
        with runnel.io.TFRecordWriter(str(file)) as writer:
            writer.write(b"\x08\x07" + field(2, field(2, b"\x08" + varint(1 << 40))) + more)
        with pytest.raises(runnel.errors.DataLossError, match="declares 1099511627776 texts"):
            list(runnel.data.Dataset.load(str(path)))


def test_a_failing_or_killed_save_leaves_the_old_one(tmp_path):
    path = str(tmp_path / "numbers")
    runnel.data.Dataset.range(3).save(path)
    before = sorted(os.listdir(path))
    failing = runnel.data.Dataset.range(-3, 3).map(
        lambda x: runnel.debugging.check_numerics(1 / x, "zero")
    )
    with pytest.raises(runnel.errors.InvalidArgumentError):
        failing.save(path)
    assert sorted(os.listdir(path)) == before
    program = (
        "import os, runnel as tf\n"
        "def numbers():\n"
        "    yield from range(1000)\n"
        "    os._exit(7)\n"
        "source = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([]))\n"
        f"source.save({path!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == 7
    assert [int(x) for x in runnel.data.Dataset.load(path)] == [0, 1, 2]
    runnel.data.Dataset.range(5).save(path)
    assert [int(x) for x in runnel.data.Dataset.load(path)] == [0, 1, 2, 3, 4]


def test_an_interrupted_save_goes_on(tmp_path):
    seen = []
    fails = [True]

    def numbers():
        for number in range(10):
            seen.append(number)
            if number == 7 and fails:
                raise RuntimeError("power cut")
            yield number

    source = runnel.data.Dataset.from_generator(
        numbers, output_signature=runnel.TensorSpec([], runnel.int64)
    )
    dataset = source.map(lambda x: x * 2)
    path, kept = str(tmp_path / "numbers"), str(tmp_path / "kept")
    arguments = {"directory": kept, "checkpoint_interval": 3}
    with pytest.raises(runnel.errors.UnknownError):
        dataset.save(path, checkpoint_args=arguments)
    fails.clear()
    dataset.save(path, checkpoint_args=arguments)
    assert [int(x) for x in runnel.data.Dataset.load(path)] == list(range(0, 20, 2))
    with pytest.raises(ValueError, match="checkpoint_interval"):
        dataset.save(path, checkpoint_args={"directory": kept})


def test_snapshots_are_written_once(tmp_path):
    calls = []

    def count(x):
        calls.append(int(x))
        return x

    def dataset(tf, factor=2, **keywords):
        source = tf.data.Dataset.range(7)
        if tf is runnel:
            source = source.map(lambda x: tf.numpy_function(count, [x], tf.int64))
        source = source.map(lambda x: x * factor)
        return source.snapshot(str(tmp_path / tf.__name__), **keywords)

    for keywords in ({}, {"shard_func": lambda x: x % 3, "compression": None}):
        wanted = [[int(x) for x in dataset(tensorflow, **keywords)] for _ in range(2)]
        calls.clear()
        mine = [[int(x) for x in dataset(runnel, **keywords)] for _ in range(2)]
        assert mine == wanted
        assert calls == list(range(7))
    iterator = iter(dataset(runnel, factor=3))
    assert int(next(iterator)) == 0
    del iterator
    calls.clear()
    assert [int(x) for x in dataset(runnel, factor=3)] == list(range(0, 21, 3))
    assert calls == list(range(7))
    same(lambda tf: tf.data.Dataset.range(3).snapshot(str(tmp_path / f"{tf.__name__}-numbers")))


def test_fingerprints():
    def of(make):
        return int(make(runnel.data.Dataset).fingerprint())

    def pipelines(D):
        return [
            D.range(5), D.range(6), D.range(5).map(lambda x: x + 1),
            D.range(5).map(lambda x: x + 2), D.range(5).batch(2), D.range(5).batch(3),
            D.range(5).map(lambda x: runnel.cast(x, runnel.int32)),
            D.range(5).map(lambda x: runnel.cast(x, runnel.uint32)),
            D.from_tensor_slices(["a"]), D.from_tensor_slices(["b"]),
        ]  # fmt: skip

    count = len(pipelines(runnel.data.Dataset))
    first, second = (
        [of(lambda D, i=i: pipelines(D)[i]) for i in range(count)] for _ in range(2)
    )  # fmt: skip
    assert first == second and len(set(first)) == count
    assert runnel.data.Dataset.range(3).fingerprint().dtype is runnel.uint64

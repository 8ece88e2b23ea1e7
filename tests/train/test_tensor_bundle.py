"""Tensor bundles: equal to the original's in both directions, and checked to the last bit."""

import math
import os
import random
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as original
from hypothesis import given, strategies as st

import runnel as tf
from runnel.formats import masked_crc, safe_files, sstable, tensor_bundle
from runnel.formats.slice_keys import slice_key

KINDS = [
    *["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16"],
    *["bfloat16", "float32", "float64", "complex64", "complex128"],
]
VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


def by_bits(data: bytes) -> int:
    """CRC-32C as it is defined: the remainder of a division, bit by bit."""
    state = 0xFFFFFFFF
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0x82F63B78 if state & 1 else 0)
    return state ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [0, 1, 9, 8191, 8192, 8193, 30_011])
def test_crc_is_the_remainder_of_the_polynomial(size, monkeypatch):
    data = random.Random(size).randbytes(size)
    expected = by_bits(data)
    assert masked_crc.crc32c(data) == expected
    assert masked_crc.crc32c(data[size // 3 :], masked_crc.crc32c(data[: size // 3])) == expected
    monkeypatch.setattr(masked_crc, "_compiled", None)
    assert masked_crc.crc32c(data) == expected
    assert masked_crc.crc32c(np.frombuffer(data, np.uint8)) == expected


@given(st.dictionaries(st.binary(max_size=40), st.binary(max_size=300), max_size=60))
def test_a_table_gives_back_what_was_put_in(items):
    table = sstable.write_table(sorted(items.items()))
    assert list(sstable.read_table(table, "table")) == sorted(items.items())


def test_tables_of_several_blocks():
    items = [(f"key{i:06d}".encode(), bytes([i % 256]) * 200) for i in range(4000)]
    assert list(sstable.read_table(sstable.write_table(items), "table")) == items


def values() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(3)
    result = {}
    for kind in KINDS:
        dtype = np.dtype(ml_dtypes.bfloat16) if kind == "bfloat16" else np.dtype(kind)
        result[kind] = generator.integers(0, 2, [2, 3]).astype(dtype)
    result["scalar"] = np.array(2.5, np.float32)
    result["empty"] = np.zeros([0, 3], np.float32)
    result["strings"] = np.array([b"a", b"", b"bcd" * 200, b"\xff\x00"], dtype=object)
    result["string"] = np.array(b"hello", dtype=object)
    return result


@pytest.mark.parametrize("writer, reader", [(original, tf), (tf, original), (tf, tf)])
def test_every_dtype_goes_both_ways(writer, reader, tmp_path):
    given_values = values()
    variables = {
        name: writer.Variable(writer.constant(value.tolist() if value.dtype == object else value))
        for name, value in given_values.items()
    }
    path = writer.train.Checkpoint(**variables).write(str(tmp_path / "all"))
    listed = dict(reader.train.list_variables(path))
    for name, value in given_values.items():
        key = f"{name}/{VALUE}"
        assert listed[key] == list(value.shape)
        read = np.asarray(reader.train.load_variable(path, key))
        if value.dtype == object:
            assert read.reshape(-1).tolist() == value.reshape(-1).tolist()
        else:
            assert read.dtype == value.dtype
            np.testing.assert_array_equal(read, value)


@pytest.mark.parametrize("early", [True, False])
def test_large_tensors_go_out_in_stretches_and_are_flushed_at_the_end(early, tmp_path, monkeypatch):
    calls = []
    flush = os.fsync

    def write_out(handle, start, length, flags):
        calls.append((start, start + length))
        assert os.fstat(handle).st_size >= start + length

    def fsync(handle):
        calls.append(os.fstat(handle).st_size)
        flush(handle)

    # The second case is that of systems without such a call.
    monkeypatch.setattr(safe_files, "_write_out", lambda: write_out if early else None)
    monkeypatch.setattr(os, "fsync", fsync)
    generator = np.random.default_rng(0)
    sizes = {"a": 3, "b": 1_200_001, "c": 0, "d": 2_500_000, "e": 1}
    parts = {
        name: generator.standard_normal(size).astype(np.float32) for name, size in sizes.items()
    }
    path = tf.train.Checkpoint(**{name: tf.Variable(value) for name, value in parts.items()}).write(
        str(tmp_path / "large")
    )
    sent = calls[: next(i for i, call in enumerate(calls) if isinstance(call, int))]
    assert bool(sent) is early
    # One after the other from the first byte on, and then the whole file, whatever was sent.
    for (start, _), end in zip(sent, [0] + [stop for _, stop in sent], strict=False):
        assert start == end
    size = os.path.getsize(f"{path}.data-00000-of-00001")
    assert calls[len(sent)] == size
    if early:
        assert size - sent[-1][1] < safe_files._STRETCH + tensor_bundle._STRETCH
    for module in (original, tf):
        for name, value in parts.items():
            read = np.asarray(module.train.load_variable(path, f"{name}/{VALUE}"))
            np.testing.assert_array_equal(read, value)


def test_the_readers_agree(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0]), b=tf.Variable(3)).save(
        str(tmp_path / "ckpt")
    )
    ours, theirs = (module.train.load_checkpoint(path) for module in (tf, original))
    assert ours.get_variable_to_shape_map() == theirs.get_variable_to_shape_map()
    names = {name: dtype.name for name, dtype in ours.get_variable_to_dtype_map().items()}
    assert names == {n: d.name for n, d in theirs.get_variable_to_dtype_map().items()}
    assert ours.debug_string() == theirs.debug_string()
    assert ours.has_tensor(f"a/{VALUE}") and not ours.has_tensor("a")


def test_partitioned_tensors_are_put_together(tmp_path):
    older = original.compat.v1
    path = str(tmp_path / "sliced")
    with original.Graph().as_default(), older.Session() as session:
        parts = older.get_variable(
            "part",
            shape=[20_000, 10],
            initializer=older.random_uniform_initializer(),
            partitioner=older.fixed_size_partitioner(3),
        )
        session.run(older.global_variables_initializer())
        older.train.Saver().save(session, path)
        expected = session.run(original.convert_to_tensor(parts))
    np.testing.assert_array_equal(tf.train.load_variable(path, "part"), expected)
    assert tf.train.list_variables(path) == [("part", [20_000, 10])]


def test_keys_of_slices_sort_as_their_numbers():
    numbers = [-70_000, -65, -64, -1, 0, 1, 63, 64, 8191, 8192, 1_000_000, 2**40]
    keys = [slice_key("w", [(number, None)]) for number in numbers]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)


def small_bundle(folder) -> str:
    prefix = str(folder / "x")
    tensors = [
        ("numbers", tf.float32, np.arange(6, dtype=np.float32).reshape(2, 3)),
        ("words", tf.string, np.array([b"one", b"three"], dtype=object)),
    ]
    tensor_bundle.write_bundle(prefix, tensors)
    return prefix


def read_all(prefix: str) -> None:
    reader = tensor_bundle.BundleReader(prefix)
    for name in ("numbers", "words"):
        reader.read(name)


def test_every_flipped_bit_is_noticed_and_the_tensor_named(tmp_path):
    prefix = small_bundle(tmp_path)
    path = tensor_bundle.data_path(prefix, 0, 1)
    data = Path(path).read_bytes()
    for position in range(len(data)):
        for bit in range(8):
            broken = bytearray(data)
            broken[position] ^= 1 << bit
            Path(path).write_bytes(broken)
            name = "numbers" if position < 24 else "words"
            with pytest.raises(tf.errors.DataLossError, match=name):
                read_all(prefix)


def test_every_flipped_bit_of_an_index_is_noticed(tmp_path):
    prefix = small_bundle(tmp_path)
    path = tensor_bundle.index_path(prefix)
    data = Path(path).read_bytes()
    for position in range(len(data)):
        for bit in range(8):
            broken = bytearray(data)
            broken[position] ^= 1 << bit
            Path(path).write_bytes(broken)
            with pytest.raises((tf.errors.DataLossError, tf.errors.UnimplementedError)):
                read_all(prefix)


def test_mutated_files_give_clean_errors(tmp_path):
    prefix = small_bundle(tmp_path)
    paths = [tensor_bundle.index_path(prefix), tensor_bundle.data_path(prefix, 0, 1)]
    whole = [Path(path).read_bytes() for path in paths]
    chance = random.Random(5)
    for _ in range(int(os.environ.get("RUNNEL_MUTATIONS", "1500"))):
        for path, data in zip(paths, whole, strict=True):
            broken = bytearray(data)
            for _ in range(chance.randint(0, 4)):
                at = chance.randrange(len(broken))
                broken[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
            Path(path).write_bytes(broken)
        try:
            read_all(prefix)
        except tf.errors.OpError:
            continue
        for path, data in zip(paths, whole, strict=True):
            assert Path(path).read_bytes() == data


def test_entries_that_lie_about_sizes_allocate_nothing(tmp_path):
    prefix = small_bundle(tmp_path)
    path = tensor_bundle.index_path(prefix)
    items = dict(sstable.read_table(Path(path).read_bytes(), path))
    for change in (
        {"size": 1 << 60},
        {"offset": 1 << 62},
        {"offset": -5},
        {"size": -1},
        {"dtype": 99},
        {"dtype": 20},
    ):
        entry = tensor_bundle.BundleEntryProto.FromString(items[b"numbers"])
        for name, value in change.items():
            setattr(entry, name, value)
        lying = {**items, b"numbers": entry.SerializeToString()}
        Path(path).write_bytes(sstable.write_table(sorted(lying.items())))
        with pytest.raises((tf.errors.DataLossError, tf.errors.OutOfRangeError), match="numbers"):
            read_all(prefix)
    entry = tensor_bundle.BundleEntryProto.FromString(items[b"words"])
    entry.shape.dim[0].size = 1 << 50
    lying = {**items, b"words": entry.SerializeToString()}
    Path(path).write_bytes(sstable.write_table(sorted(lying.items())))
    with pytest.raises(tf.errors.DataLossError, match="words"):
        read_all(prefix)


def test_replacing_a_bundle_leaves_only_the_usual_files(tmp_path):
    prefix = small_bundle(tmp_path)
    small_bundle(tmp_path)
    read_all(prefix)
    assert sorted(os.listdir(tmp_path)) == ["x.data-00000-of-00001", "x.index"]


def test_a_write_that_fails_leaves_the_old_bundle(tmp_path):
    prefix = small_bundle(tmp_path)

    def failing():
        yield "numbers", tf.float32, np.zeros(3, np.float32)
        raise OSError(28, "No space left on device")

    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space"):
        tensor_bundle.write_bundle(prefix, failing())
    read_all(prefix)
    assert sorted(os.listdir(tmp_path)) == ["x.data-00000-of-00001", "x.index"]


def test_a_disk_that_becomes_full_leaves_the_old_bundle(tmp_path):
    resource = pytest.importorskip("resource")
    prefix = small_bundle(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5 << 20, before[1]))
    try:
        # The system sends the first part to the disk while the limit is met in the last.
        with pytest.raises(tf.errors.ResourceExhaustedError, match="too large"):
            numbers = np.ones(1_500_000, np.float32)
            tensor_bundle.write_bundle(prefix, [("numbers", tf.float32, numbers)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    read_all(prefix)
    assert sorted(os.listdir(tmp_path)) == ["x.data-00000-of-00001", "x.index"]


def sliced_bundle(prefix, shape, extents, part_shape):
    """A bundle whose tensor `w` says that it has these slices, each with the same data."""
    values = np.arange(math.prod(part_shape), dtype=np.float32).reshape(part_shape)
    tensor_bundle.write_bundle(prefix, [("part", tf.float32, values)])
    path = tensor_bundle.index_path(prefix)
    items = dict(sstable.read_table(Path(path).read_bytes(), path))
    part = items.pop(b"part")
    whole = tensor_bundle.BundleEntryProto(dtype=tf.float32.as_datatype_enum)
    for size in shape:
        whole.shape.dim.add(size=size)
    for each in extents:
        added = whole.slices.add()
        for start, length in each:
            added.extent.add(start=start, length=length)
        items[slice_key("w", each)] = part
    items[b"w"] = whole.SerializeToString()
    Path(path).write_bytes(sstable.write_table(sorted(items.items())))


def test_slices_that_lie(tmp_path):
    prefix = str(tmp_path / "x")
    sliced_bundle(prefix, [2], [[(0, 2)]], [2])
    assert tensor_bundle.BundleReader(prefix).read("w").tolist() == [0.0, 1.0]
    for shape, extents, part_shape in (
        # The same place twice, so that another stays as the memory was.
        ([4], [[(0, 2)], [(0, 2)]], [2]),
        ([4], [[(0, 2)], [(1, 2)]], [2]),
        ([4], [[(0, 2)], [(-3, 2)]], [2]),
        ([4], [[(0, 2)], [(3, 2)]], [2]),
        ([4], [[(0, 2)]], [2]),
        ([2, 2], [[(0, 2)], [(2, 2)]], [2]),
        # Far more than the data file has.
        ([1 << 40], [[(0, 1 << 39)], [(1 << 39, 1 << 39)]], [2]),
        ([2000], [[(2 * number, 2)] for number in range(1000)], [2]),
    ):
        sliced_bundle(prefix, shape, extents, part_shape)
        with pytest.raises((tf.errors.DataLossError, tf.errors.OutOfRangeError), match="'w'"):
            tensor_bundle.BundleReader(prefix).read("w")

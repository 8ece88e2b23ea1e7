"""Whole files and the bytes of numbers against TensorFlow."""

import gzip
import os
import threading
import zlib

import numpy as np
import pytest
import tensorflow
from compare import assert_same, check, check_raises, noted

import runnel

ARRAYS = [
    np.float32([1, 2]),
    np.int32(7),
    np.array([b"ab", b"", b"x" * 300], object),
    np.zeros((0, 2)),
    np.array([[True, False]]),
    np.complex64([1j, 2]),
    np.arange(300, dtype=np.int64).reshape(3, 100),
    np.float16([1.5]),
    np.uint8([[200], [3]]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=[f"{a.dtype}{a.shape}" for a in ARRAYS])
def test_serialized_tensors(array):
    array = np.asarray(array)
    # In a vector: NumPy would cut the zeros off the end of a lone string.
    check(lambda tf, x: tf.reshape(tf.io.serialize_tensor(x), [1]), array, gradient=False)
    contents = tensorflow.io.serialize_tensor(array).numpy()
    dtype = tensorflow.constant(array).dtype.name
    check(lambda tf: tf.io.parse_tensor(contents, getattr(tf, dtype)))


@pytest.mark.parametrize(
    "value", [3.5, [[1]], [True, False], ["a", "b"], [1 + 2j], -3, np.uint64(2**63), np.float16(2)]
)
@pytest.mark.parametrize("shape", [None, [2, 2]])
def test_messages_with_elements_one_by_one(value, shape):
    if shape and np.size(value) != 1:
        return
    contents = tensorflow.make_tensor_proto(value, shape=shape).SerializeToString()
    dtype = tensorflow.convert_to_tensor(value).dtype.name
    check(lambda tf: tf.io.parse_tensor(contents, getattr(tf, dtype)))


@pytest.mark.parametrize("contents", [b"abc", b"", b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\0\0'])
def test_no_tensor(contents):
    check_raises(lambda tf: tf.io.parse_tensor(contents, tf.float32))


def test_wrong_type_of_tensor():
    check_raises(lambda tf: tf.io.parse_tensor(tf.io.serialize_tensor([1.0]), tf.int32))
    check_raises(lambda tf: tf.io.parse_tensor([tf.io.serialize_tensor([1.0])], tf.float32))


def test_huge_declared_size_allocates_nothing():
    size = b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x0f"
    dim = b"\x12" + bytes([len(size)]) + size
    contents = b"\x08\x01\x12" + bytes([len(dim)]) + dim + b"*\x04\0\0`@"
    with pytest.raises(runnel.errors.InvalidArgumentError, match="declares"):
        runnel.io.parse_tensor(contents, runnel.float32)


def test_files(tmp_path):
    def story(tf, folder):
        first, second = str(folder / "deep" / "a.txt"), str(folder / "b.txt")
        written = [tf.io.write_file(first, "hello"), tf.io.write_file(second, b"\xff\0")]
        names = tf.io.matching_files([str(folder / "*.txt"), str(folder / "*" / "a.*")])
        relative = [n.decode().replace(str(folder), "") for n in names.numpy()]
        contents = tf.stack([tf.io.read_file(first), tf.io.read_file(second)])
        return [written, contents, relative]

    with noted():
        ours = story(runnel, tmp_path / "ours")
    assert_same(story(tensorflow, tmp_path / "theirs"), ours)


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, (2 << 20) + 7, 5 << 20])
def test_files_of_many_sizes(size, tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(np.random.default_rng(size).bytes(size))
    check(lambda tf: tf.io.read_file(str(path)))


def test_a_pipe(tmp_path):
    path, parts = tmp_path / "pipe", [b"one ", b"two ", b"three" * 20000]
    os.mkfifo(path)

    def write():
        with open(path, "wb", buffering=0) as pipe:
            for part in parts:
                pipe.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    assert runnel.io.read_file(str(path)).numpy() == b"".join(parts)
    writer.join()


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, folder: tf.io.read_file(f"{folder}/missing"),
        lambda tf, folder: tf.io.read_file(folder),
        lambda tf, folder: tf.io.read_file([folder]),
        lambda tf, folder: tf.io.write_file(folder, "x"),
        lambda tf, folder: tf.io.write_file(f"{folder}/a", ["x"]),
        lambda tf, folder: tf.io.matching_files([[folder]]),
    ],
)
def test_files_refused(call, tmp_path):
    check_raises(lambda tf: call(tf, str(tmp_path)))


@pytest.mark.parametrize("pad", [False, True])
def test_base64(pad):
    texts = np.array([b"a", b"ab", b"abc", b"", b"\xff\xfe\xfd"], object)
    check(lambda tf, x: tf.io.encode_base64(x, pad), texts)
    check(lambda tf, x: tf.io.decode_base64(tf.io.encode_base64(x, pad)), texts)


@pytest.mark.parametrize("text", ["a", "a!", "//79", "YQ=", "Y Q"])
def test_no_base64(text):
    check_raises(lambda tf: tf.io.decode_base64(text))


@pytest.mark.parametrize("dtype", ["int16", "float32", "uint8", "complex64", "bool"])
@pytest.mark.parametrize("little", [True, False])
def test_raw(dtype, little):
    texts = np.array([[b"\1\0\0\1\1\0\1\0"], [b"\0\1\1\1\0\1\0\1"]], object)
    check(lambda tf, x: tf.io.decode_raw(x, getattr(tf, dtype), little), texts, gradient=False)


@pytest.mark.parametrize("length", [2, 4, 8])
def test_padded_raw(length):
    texts = np.array([b"\1\0\2\0\3", b"", b"\5"], object)
    check(lambda tf, x: tf.io.decode_raw(x, tf.int16, fixed_length=length), texts)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.io.decode_raw(b"abc", tf.int16),
        lambda tf: tf.io.decode_raw([b"ab", b"c"], tf.uint8),
        lambda tf: tf.io.decode_raw(b"ab", tf.string),
        lambda tf: tf.io.decode_raw(b"ab", tf.int16, fixed_length=3),
        lambda tf: tf.io.decode_compressed([b"hi"], "ZLIB"),
        lambda tf: tf.io.decode_compressed([b"hi"], "GZIP"),
        lambda tf: tf.io.decode_compressed([b"hi"], "RAR"),
    ],
)
def test_refused(call):
    check_raises(call)


@pytest.mark.parametrize(
    ("kind", "pack"), [("", bytes), ("ZLIB", zlib.compress), ("GZIP", gzip.compress)]
)
def test_compressed(kind, pack):
    texts = np.array([pack(b"hello"), pack(b"")], object)
    check(lambda tf, x: tf.io.decode_compressed(x, kind), texts)

"""TFRecord, text and fixed-length files: the original's bytes, records and errors."""

from __future__ import annotations

import gzip
import struct
import zlib

import numpy as np
import pytest
import tensorflow
from hypothesis import given, settings, strategies as st
from pipelines import outcome, same, same_error

import runnel
from runnel.formats.masked_crc import crc32c, mask

RECORDS = [b"", b"one", bytes(range(256)) * 40, "zwölf".encode()]


def written(tf, path, records=RECORDS, options=None):
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return path.read_bytes()


@pytest.mark.parametrize("compression", [None, "", "GZIP", "ZLIB"])
def test_bytes_are_the_original_s(tmp_path, compression):
    wanted = written(tensorflow, tmp_path / "theirs", options=compression)
    assert written(runnel, tmp_path / "ours", options=compression) == wanted
    for name in ("theirs", "ours"):
        same(lambda tf, name=name: tf.data.TFRecordDataset(str(tmp_path / name), compression))


def test_levels_of_compression(tmp_path):
    def made(tf, level):
        options = tf.io.TFRecordOptions("GZIP", compression_level=level)
        return written(tf, tmp_path / "file", options=options)

    for level in (1, 9):
        assert made(runnel, level) == made(tensorflow, level)


@settings(max_examples=60)
@given(st.data())
def test_damaged_files(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "file"
    good = written(runnel, path, [b"first", b"second record", b"", b"the last one"])
    how = data.draw(st.sampled_from(["cut", "change", "insert"]))
    place = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255))
    if how == "cut":
        changed = good[:place]
    elif how == "change":
        changed = good[:place] + bytes([byte]) + good[place + 1 :]
    else:
        changed = good[:place] + bytes([byte]) + good[place:]
    path.write_bytes(changed)
    assert records_before_an_error(runnel, path) == records_before_an_error(tensorflow, path)


def records_before_an_error(tf, path):
    found = []
    try:
        for record in tf.data.TFRecordDataset(str(path)):
            found.append(record.numpy())
    except tf.errors.OpError as error:
        found.append(type(error).__name__)
    return found


def test_a_declared_length_allocates_nothing(tmp_path):
    length = struct.pack("<Q", 2**60)
    path = tmp_path / "huge"
    path.write_bytes(length + struct.pack("<I", mask(crc32c(length))) + b"few bytes")
    with pytest.raises(runnel.errors.DataLossError, match="huge"):
        list(runnel.data.TFRecordDataset(str(path)))
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(runnel.errors.DataLossError, match="huge"):
        list(runnel.data.TFRecordDataset(str(path), "GZIP"))


def test_several_files(tmp_path):
    names = []
    for index in range(3):
        parts = [b"%d %d" % (index, i) for i in range(index + 2)]
        written(runnel, tmp_path / f"part{index}", parts)
        names.append(str(tmp_path / f"part{index}"))
    same(lambda tf: tf.data.TFRecordDataset(names))
    same(lambda tf: tf.data.TFRecordDataset(names, num_parallel_reads=2))
    same(lambda tf: tf.data.TFRecordDataset(tf.data.Dataset.from_tensor_slices(names)))
    same(lambda tf: tf.data.Dataset.from_tensor_slices(names).flat_map(tf.data.TFRecordDataset))
    same(
        lambda tf: tf.data.Dataset.from_tensor_slices(names).interleave(
            tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2
        )
    )


def test_numbers_through_a_file(tmp_path):
    rows = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    path = tmp_path / "numbers"
    written(runnel, path, [row.tobytes() for row in rows])

    def program(tf):
        return (
            tf.data.TFRecordDataset(str(path))
            .map(lambda record: tf.io.decode_raw(record, tf.float32), num_parallel_calls=2)
            .batch(6)
        )

    _, _, batches = same(program)
    np.testing.assert_array_equal(np.concatenate(batches), rows)


def test_bad_names_and_kinds(tmp_path):
    written(runnel, tmp_path / "plain")
    same_error(lambda tf: tf.data.TFRecordDataset(str(tmp_path / "missing")))
    same_error(lambda tf: tf.data.TextLineDataset(str(tmp_path / "missing")))
    same_error(lambda tf: tf.data.TFRecordDataset(3))
    same_error(lambda tf: tf.data.TFRecordDataset(str(tmp_path / "plain"), "GZIP"))
    same_error(lambda tf: tf.io.TFRecordWriter(str(tmp_path / "no" / "folder")))
    same_error(lambda tf: tf.io.TFRecordOptions("RAR"))


def test_a_closed_writer_refuses(tmp_path):
    def program(tf):
        writer = tf.io.TFRecordWriter(str(tmp_path / "file"))
        writer.close()
        writer.write(b"late")

    same_error(program)


@pytest.mark.parametrize(
    "text", [b"", b"\n", b"a", b"a\n", b"a\r\nb\n\nc\rd", b"x" * 300_000 + b"\ny\n"]
)
def test_lines(tmp_path, text):
    path = tmp_path / "text"
    path.write_bytes(text)
    same(lambda tf: tf.data.TextLineDataset([str(path), str(path)]))
    path.write_bytes(zlib.compress(text))
    same(lambda tf: tf.data.TextLineDataset(str(path), compression_type="ZLIB").skip(1))


@settings(max_examples=20)
@given(st.binary(max_size=20), st.integers(1, 4), st.integers(0, 3), st.integers(0, 3))
def test_stretches(tmp_path_factory, content, size, header, footer):
    path = tmp_path_factory.mktemp("stretches") / "file"
    path.write_bytes(content)

    def program(tf):
        return tf.data.FixedLengthRecordDataset(str(path), size, header, footer)

    if len(content) >= header + footer:
        same(program)
    else:
        assert outcome(runnel, program).startswith("raised")

"""Mutated files and records: every input is read, or refused by a clean error.

    python tests/fuzz/fuzz_inputs.py --count 100000 --seed 1

Sound inputs are cut, spliced, and have bits flipped and lengths made huge. What comes out of the
readers may be a value, a class of tf.errors or ValueError; another exception, a crash, a call that
takes many seconds, or memory beyond a bound is a failure. Failed inputs are shown.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter

import seeds

import runnel as tf

# The longest that one input may compute, in seconds (a busy machine may need more time for it);
# the longest that a hundred may take; and the memory beyond what runs anyway.
_PATIENCE = 10
_LONGEST = 240
_MEMORY = 2 << 30
# Numbers at which readers stumble.
_NUMBERS = (0, 1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**60, 2**63,
            2**64 - 1)  # fmt: skip
# The shares of the formats: records and parsers are the fastest.
_SHARES = {
    "tfrecord": 3,
    "compressed": 1,
    "example": 4,
    "sequence": 2,
    "jpeg": 3,
    "png": 2,
    "gif": 2,
    "bmp": 1,
    "huge": 1,
    "wav": 2,
    "csv": 3,
    "message": 3,
    "descriptors": 2,
}
# The formats whose checksums would hide most changes.
_CHECKED = ("png", "tfrecord")


class Hung(BaseException):
    """A reader that did not come back in time."""


def varint(number):
    """A number as protocol buffers write it."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _flip(data, source):
    for _ in range(source.randint(1, 4)):
        data[source.randrange(len(data))] ^= 1 << source.randrange(8)


def _overwrite(data, source):
    for _ in range(source.randint(1, 3)):
        data[source.randrange(len(data))] = source.randrange(256)


def _cut(data, source):
    del data[source.randrange(len(data)) :]


def _drop(data, source):
    start = source.randrange(len(data))
    del data[start : start + source.randint(1, 8)]


def _repeat(data, source):
    start = source.randrange(len(data))
    part = data[start : start + source.randint(1, 16)]
    data[start:start] = part * source.randint(1, 4)


def _insert(data, source):
    data[source.randrange(len(data)) : 0] = source.randbytes(source.randint(1, 6))


def _count(data, source):
    number = source.choice(_NUMBERS)
    start = source.randrange(len(data))
    if source.random() < 0.5:
        data[start : start + 1] = varint(number)
    else:
        size = source.choice((2, 4, 8))
        text = (number % (1 << 8 * size)).to_bytes(size, source.choice(("little", "big")))
        data[start : start + size] = text


_CHANGES = (_flip, _overwrite, _cut, _drop, _repeat, _insert, _count)


def mutated(originals, source):
    """An input that is nearly one of the originals, or two of them spliced."""
    data = bytearray(source.choice(originals))
    if source.random() < 0.1:
        other = source.choice(originals)
        data[source.randrange(len(data) + 1) :] = other[source.randrange(len(other) + 1) :]
    for _ in range(source.choice((1, 1, 1, 2, 5))):
        if data:
            source.choice(_CHANGES)(data, source)
    return bytes(data)


FEATURES = {
    "number": tf.io.FixedLenFeature([], tf.int64, 0),
    "pair": tf.io.FixedLenFeature([2], tf.float32, [0.0, 0.0]),
    "word": tf.io.FixedLenFeature([], tf.string, ""),
    "numbers": tf.io.VarLenFeature(tf.int64),
    "floats": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    "words": tf.io.VarLenFeature(tf.string),
    "ragged": tf.io.RaggedFeature(
        tf.int64, "flat", partitions=[tf.io.RaggedFeature.RowLengths("lengths")]
    ),
    "sparse": tf.io.SparseFeature("indices", "values", tf.float32, 5),
}
CONTEXT = {"number": tf.io.FixedLenFeature([], tf.int64, 0)}
STEPS = {
    "steps": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    "words": tf.io.VarLenFeature(tf.string),
}


class Readers:
    """What is done with an input of each format."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "input")
        self.originals = {
            "tfrecord": seeds.tfrecords(),
            "compressed": seeds.compressed_tfrecords(),
            "example": seeds.examples(),
            "sequence": seeds.sequence_examples(),
            "jpeg": seeds.jpegs(),
            "png": seeds.pngs(),
            "gif": seeds.gifs(),
            "bmp": seeds.bmps(),
            "huge": seeds.huge_images(),
            "wav": seeds.wavs(),
            "csv": seeds.csvs(),
            "message": seeds.messages(),
            "descriptors": seeds.descriptors(),
        }
        self._whole = self.originals["example"][1]

    def _records(self, data, kind):
        with open(self._path, "wb") as file:
            file.write(data)
        for _ in tf.data.TFRecordDataset(self._path, compression_type=kind):
            pass

    def tfrecord(self, data, source):
        self._records(data, "")

    def compressed(self, data, source):
        self._records(data, source.choice(("GZIP", "ZLIB")))

    def example(self, data, source):
        if source.random() < 0.5:
            tf.io.parse_single_example(data, FEATURES)
        else:
            tf.io.parse_example([self._whole, data], FEATURES)

    def sequence(self, data, source):
        if source.random() < 0.5:
            tf.io.parse_single_sequence_example(data, CONTEXT, STEPS)
        else:
            tf.io.parse_sequence_example([data, data], CONTEXT, STEPS)

    def jpeg(self, data, source):
        channels = source.choice((0, 1, 3))
        recover = source.random() < 0.3
        tf.io.decode_jpeg(data, channels, source.choice((1, 2, 8)), try_recover_truncated=recover)
        tf.io.extract_jpeg_shape(data)

    def png(self, data, source):
        tf.io.decode_png(data, source.choice((0, 1, 3, 4)), source.choice((tf.uint8, tf.uint16)))

    def gif(self, data, source):
        tf.io.decode_gif(data)

    def bmp(self, data, source):
        tf.io.decode_bmp(data, source.choice((0, 3, 4)))

    def huge(self, data, source):
        tf.io.decode_image(data, expand_animations=source.random() < 0.5)

    def wav(self, data, source):
        tf.audio.decode_wav(data, source.choice((-1, 1, 2)), source.choice((-1, 5, 1000)))

    def csv(self, data, source):
        defaults = [tf.constant(0, tf.int64), tf.constant(0.0), "", ""]
        tf.io.decode_csv(data, defaults, use_quote_delim=source.random() < 0.8)

    def message(self, data, source):
        text = data[:1].isalpha()
        fields = ["numbers", "packed", "words", "inner", "group", "double", "zigzag"]
        types = [tf.int32, tf.int64, tf.string, tf.string, tf.string, tf.float64, tf.int32]
        tf.io.decode_proto(
            data,
            "fuzz.Message",
            fields,
            types,
            b"bytes://" + self.originals["descriptors"][0],
            "text" if text else "binary",
            sanitize=source.random() < 0.3,
        )

    def descriptors(self, data, source):
        described = b"bytes://" + data
        tf.io.decode_proto(b"", "fuzz.Message", ["numbers"], [tf.int32], described)
        tf.io.encode_proto([[1]], [[[1]]], ["numbers"], "fuzz.Message", described)


def _limit_memory():
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, used + _MEMORY))


def _alarm(number, frame):
    raise Hung(f"not done after {_PATIENCE} seconds")


def outcome(read, data, source):
    """ "read", the name of the error that refused the input, or a failure that nobody expects."""
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
    try:
        read(data, source)
    except (tf.errors.OpError, ValueError) as error:
        return type(error).__name__, None
    except (Exception, Hung):
        return "FAILED", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read", None


def fuzz(count, seed, only=None):
    """Read so many mutated inputs; the number of failures."""
    source = random.Random(seed)
    shares = {name: share for name, share in _SHARES.items() if only in (None, name)}
    found = {name: Counter() for name in shares}
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(folder)
        for kind in shares:
            # Changes say nothing about a reader that refuses the original.
            if kind not in ("huge", "compressed"):
                getattr(readers, kind)(readers.originals[kind][0], source)
        for number, kind in enumerate(source.choices(*zip(*shares.items(), strict=True), k=count)):
            if number % 100 == 0:
                # A loop in C or a wait without end shows where it happened.
                faulthandler.dump_traceback_later(_LONGEST, exit=True)
            data = mutated(readers.originals[kind], source)
            if kind in _CHECKED and source.random() < 0.6:
                data = seeds.with_right_checksums(data)
            told, story = outcome(getattr(readers, kind), data, source)
            found[kind][told] += 1
            if story is not None:
                failures += 1
                print(f"{kind}, input {number}: {data!r}\n{story}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    for kind, told in found.items():
        print(f"{kind}: {dict(told.most_common())}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(_SHARES))
    options = parser.parse_args()
    faulthandler.enable()
    _limit_memory()
    signal.signal(signal.SIGPROF, _alarm)
    failures = fuzz(options.count, options.seed, options.only)
    print(f"{options.count} inputs, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

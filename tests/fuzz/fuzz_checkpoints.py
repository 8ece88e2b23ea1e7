"""Broken checkpoints: whatever is in the files, reading them gives a clean error or the values.

    python tests/fuzz/fuzz_checkpoints.py --count 100000 --seed 1

Files are changed at random places, in four ways: any bytes; bytes inside the index's blocks, with
the checksums made right again; fields of the index's entries; the object graph. The last three get
past the checksums, and show what the checks behind them are worth. A crash, another exception than
TensorFlow's, a wrong value behind right checksums of values or memory beyond a limit is a finding.
"""

import argparse
import collections
import contextlib
import os
import random
import struct
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import runnel as tf
from runnel.formats import sstable, tensor_bundle
from runnel.formats.masked_crc import crc32c, mask
from runnel.formats.wire import read_varint
from runnel.train.object_graph import GRAPH_KEY

# So much memory may be asked for beyond what the process has at the beginning.
_ROOM = 512 << 20
_INTERESTING = (0, 1, 2, 127, 128, 255, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -1, -5)


class Saved(tf.Module):
    """Objects of every kind that checkpoints have values of."""

    def __init__(self, fill):
        super().__init__()
        self.numbers = tf.Variable(np.full([2, 3], fill, np.float32))
        self.words = tf.Variable([str(fill), "two"])
        self.nested = [tf.Variable(fill), {"flag": tf.Variable([bool(fill)])}]
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        self.table.insert(["a"], [fill])


def values(prefix):
    """All tensors of a checkpoint."""
    reader = tensor_bundle.BundleReader(prefix)
    reader.names(), [reader.shape(name) for name in reader.names()]
    return {name: reader.read(name) for name in reader.names()}


def equal(first, second):
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


def scrambled(chance, data):
    """Bytes with a few changes: other bytes, some more, some less."""
    broken = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(broken) + 1)
        kind = chance.randrange(4)
        if kind == 0 and at < len(broken):
            broken[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            broken[at : at + chance.randint(0, 8)] = chance.randbytes(chance.randint(0, 8))
        elif kind == 2:
            number = chance.choice(_INTERESTING) & (2**64 - 1)
            broken[at : at + 8] = struct.pack("<Q", number)[: chance.choice((1, 4, 8))]
        else:
            del broken[at:]
    return bytes(broken)


def any_bytes(chance, index, data):
    which = chance.randrange(3)
    return (
        scrambled(chance, index) if which != 1 else index,
        scrambled(chance, data) if which != 0 else data,
    )


def inside_blocks(chance, index, data):
    """The blocks of a table changed, in their old places, each with its right checksum."""
    broken = bytearray(index)
    position, handles = 0, []
    footer = index[-48:-8]
    for _ in range(4):
        number, position = read_varint(footer, position)
        handles.append(number)
    blocks = [(handles[0], handles[1]), (handles[2], handles[3]), (0, handles[0] - 5)]
    start, size = chance.choice(blocks)
    for _ in range(chance.randint(1, 3)):
        at = start + chance.randrange(size + 1)
        broken[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
    checked = bytes(broken[start : start + size + 1])
    struct.pack_into("<I", broken, start + size + 1, mask(crc32c(checked)))
    return bytes(broken), data


def entries(chance, index, data):
    """Entries with other bytes or other numbers in their fields, in a table that is whole."""
    items = dict(sstable.read_table(index, "index"))
    name = chance.choice(list(items))
    if not name or chance.random() < 0.3:
        items[name] = scrambled(chance, items[name])
    else:
        entry = tensor_bundle.BundleEntryProto.FromString(items[name])
        number = chance.choice(_INTERESTING)
        field = chance.choice(("offset", "size", "shard_id", "dtype", "dim", "slice"))
        with contextlib.suppress(ValueError):
            if field == "dim":
                entry.shape.dim.add(size=number)
            elif field == "slice":
                entry.slices.add().extent.add(start=number, length=chance.choice(_INTERESTING))
            else:
                setattr(entry, field, number)
        items[name] = entry.SerializeToString()
    if chance.random() < 0.1:
        items[chance.randbytes(4)] = items[name]
    return sstable.write_table(sorted(items.items())), data


def object_graph(chance, index, data, prefix):
    """Another object graph in a checkpoint that is otherwise right."""
    reader = tensor_bundle.BundleReader(prefix)
    tensors = []
    for name in reader.names():
        value = reader.read(name)
        if name == GRAPH_KEY:
            value = np.array(scrambled(chance, value[()]), dtype=object)
        tensors.append((name, reader.dtype(name), value))
    tensor_bundle.write_bundle(f"{prefix}-graph", tensors)
    names = (f"{prefix}-graph.index", tensor_bundle.data_path(f"{prefix}-graph", 0, 1))
    return tuple(Path(name).read_bytes() for name in names)


def run(count, seed, folder):
    """Read `count` broken checkpoints; the number of each outcome, and the findings."""
    chance = random.Random(seed)
    prefix = os.path.join(folder, "whole")
    tf.train.Checkpoint(saved=Saved(1)).write(prefix)
    index = Path(f"{prefix}.index").read_bytes()
    data = Path(tensor_bundle.data_path(prefix, 0, 1)).read_bytes()
    expected = values(prefix)
    target = os.path.join(folder, "broken")
    restored = tf.train.Checkpoint(saved=Saved(2))
    outcomes, findings = collections.Counter(), []
    ways = [any_bytes] * 5 + [inside_blocks] * 2 + [entries] * 2 + [object_graph]
    for number in range(count):
        way = chance.choice(ways)
        more = (prefix,) if way is object_graph else ()
        files = way(chance, index, data, *more)
        Path(f"{target}.index").write_bytes(files[0])
        Path(tensor_bundle.data_path(target, 0, 1)).write_bytes(files[1])
        try:
            found = values(target)
            if way is any_bytes and not equal(found, expected):
                findings.append((number, way.__name__, "other values were read"))
            outcomes[way.__name__, "read"] += 1
        except tf.errors.OpError as error:
            outcomes[way.__name__, type(error).__name__] += 1
        except BaseException as error:
            findings.append((number, way.__name__, f"{type(error).__name__}: {error}"))
        if way is any_bytes and number % 10:
            # What a checksum refuses, it refuses for the restoration as well.
            continue
        try:
            status = restored.read(target).expect_partial()
            str(status)
        except (tf.errors.OpError, ValueError) as error:
            outcomes[way.__name__, f"restore: {type(error).__name__}"] += 1
        except BaseException as error:
            findings.append((number, way.__name__, f"restore: {type(error).__name__}: {error}"))
    return outcomes, findings


def limit_memory():
    """Make a huge allocation fail, where the system can."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    except (ImportError, OSError):
        print("memory is not limited on this system")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Read checkpoints that are broken at random.")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    limit_memory()
    began = time.monotonic()
    # In memory, where the system has such a folder: the disk would take most of the time.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        outcomes, findings = run(options.count, options.seed, folder)
    for outcome, number in sorted(outcomes.items()):
        print(f"{number:8}  {': '.join(outcome)}")
    for finding in findings[:20]:
        print("FINDING", *finding)
    print(f"{options.count} checkpoints, {len(findings)} findings, seed {options.seed}, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

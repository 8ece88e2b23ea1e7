"""A full disk: the original's exceptions, the old files whole, and nothing left beside them.

The disk is a limit of the size of files, which needs no privileges, and where the system permits it
a small file system in memory.
"""

import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
from writers import WRITERS

import runnel as tf

resource = pytest.importorskip("resource")
# The original's exceptions, noted from runs on a file system of 1 MB.
EXHAUSTED, OF_SYSTEM = tf.errors.ResourceExhaustedError, OSError
SAVERS = {
    "checkpoint": EXHAUSTED,
    "manager": EXHAUSTED,
    ".keras": OF_SYSTEM,
    ".h5": OF_SYSTEM,
    ".weights.h5": OF_SYSTEM,
    "weights in a checkpoint": EXHAUSTED,
    "SavedModel": EXHAUSTED,
    "SavedModel beside other files": EXHAUSTED,
    "SavedModel in the current folder": EXHAUSTED,
    "model as a SavedModel": EXHAUSTED,
    "get_file": OF_SYSTEM,
    "Dataset.save": EXHAUSTED,
    "Dataset.cache": EXHAUSTED,
    "Dataset.snapshot": EXHAUSTED,
    "BackupAndRestore": EXHAUSTED,
    "write_graph": EXHAUSTED,
}
ONCE = ("get_file", "Dataset.cache", "Dataset.snapshot", "BackupAndRestore")


class limit_of_files:
    """No file may become larger; what does is an error, not a signal."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        self.handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.before[1]))

    def __exit__(self, *exception):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)
        signal.signal(signal.SIGXFSZ, self.handler)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB; skipped where it cannot be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("only the superuser mounts file systems")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def tree_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def hold(writer, folder):
    if hasattr(writer, "prepare"):
        writer.prepare(folder)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize("name", SAVERS)
def test_a_limit_of_the_size_of_files(name, tmp_path):
    writer = WRITERS[name]
    hold(writer, tmp_path)
    if name not in ONCE:
        writer.save(tmp_path, 1.0)
    before = tree_of(tmp_path)
    for size in (0, 40, 120):
        with pytest.raises(SAVERS[name]), limit_of_files(size):
            writer.save(tmp_path, 2.0)
        assert tree_of(tmp_path) == before
        # A cache is made anew where there is none.
        if name != "Dataset.cache":
            assert writer.load(tmp_path) == (None if name in ONCE else 1.0)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize("name", SAVERS)
def test_a_disk_without_room(name, small_disk):
    writer = WRITERS[name]
    hold(writer, small_disk)
    if name not in ONCE:
        writer.save(small_disk, 1.0)
    filler = small_disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    before = tree_of(small_disk)
    with pytest.raises(SAVERS[name]):
        writer.save(small_disk, 2.0)
    assert tree_of(small_disk) == before
    if name not in ONCE:
        assert writer.load(small_disk) == 1.0
    filler.unlink()
    writer.save(small_disk, 2.0)
    assert writer.load(small_disk) == 2.0


def records(path):
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(10):
            writer.write(bytes(100_000))


def compressed_records(path):
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write(np.random.default_rng(1).bytes(100_000))


def gfile(path):
    with tf.io.gfile.GFile(path, "wb") as file:
        file.write(bytes(100_000))


def copied(path):
    tf.io.gfile.copy(str(Path(path).with_name("source")), path)


@pytest.mark.parametrize(
    "write",
    [
        records,
        compressed_records,
        gfile,
        copied,
        lambda path: tf.io.write_file(path, bytes(100_000)),
        tf.function(lambda path: tf.io.write_file(path, tf.constant(bytes(100_000)))),
    ],
    ids=["records", "compressed records", "GFile", "copy", "write_file", "in a function"],
)
def test_files_that_are_written_in_place(write, tmp_path):
    (tmp_path / "source").write_bytes(bytes(100_000))
    with pytest.raises(EXHAUSTED, match="too large"), limit_of_files(50_000):
        write(str(tmp_path / "file"))

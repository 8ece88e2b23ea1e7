"""Several processes at the same files: whole versions, no leftovers, the living undisturbed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from writers import WRITERS

import runnel as tf
from runnel.formats import locks, safe_files, tensor_bundle

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are of POSIX systems")
# What is written once only, or of a graph whose names do not change.
ONCE = ("get_file", "Dataset.cache", "Dataset.snapshot", "BackupAndRestore")
HERE = Path(__file__).parent


def run(script, *arguments):
    path = os.pathsep.join([str(Path(tf.__file__).parent.parent), str(HERE)])
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind not in ONCE])
def test_two_writers_and_a_reader(kind):
    done = run(HERE / "writing_at_once.py", os.environ.get("RUNNEL_SECONDS", "1"), kind)
    assert done.returncode == 0, done.stderr
    # The reader saw the writers at work, or the test says nothing.
    assert int(done.stdout.split()[0]) > 2


def test_event_files_of_one_second_are_not_shared(tmp_path):
    def write(number):
        with tf.summary.create_file_writer(str(tmp_path)).as_default():
            tf.summary.scalar("number", number, step=0)

    for number in range(4):
        child = os.fork()
        if child == 0:
            try:
                write(float(number))
            finally:
                os._exit(0)
    for _ in range(4):
        os.wait()
    found = []
    for path in tmp_path.iterdir():
        for record in tf.data.TFRecordDataset(str(path)).as_numpy_iterator():
            event = tf.compat.v1.Event.FromString(record)
            found += [float(tf.make_ndarray(each.tensor)) for each in event.summary.value]
    assert sorted(found) == [0.0, 1.0, 2.0, 3.0]


def test_a_reader_keeps_its_version(tmp_path):
    prefix = str(tmp_path / "ck")

    def write(number):
        values = [(name, tf.float32, np.full(10, number, "f")) for name in "abc"]
        tensor_bundle.write_bundle(prefix, values)

    write(1.0)
    reader = tensor_bundle.BundleReader(prefix)
    found = []
    for number, name in enumerate("abc"):
        write(2.0 + number)
        found.append(reader.read(name)[0])
    assert found == [1.0, 1.0, 1.0]
    # Afterwards nothing is held, and what is read is what is there.
    reader.release()
    assert not reader._handles
    assert reader.read("a")[0] == 4.0
    assert not reader._handles


def test_workspaces_of_the_living_stay(tmp_path):
    path = str(tmp_path / "file")
    with safe_files.replacing(path) as fresh:
        Path(fresh).write_text("first")
        # Of a thread, or another process: a lock knows no difference.
        safe_files.replace_file(path, b"second")
        assert Path(path).read_text() == "second"
    assert Path(path).read_text() == "first"
    assert os.listdir(tmp_path) == ["file"]


def test_workspaces_of_the_dead_are_removed(tmp_path):
    path = str(tmp_path / "file")
    for _ in range(3):
        child = os.fork()
        if child == 0:
            with safe_files.replacing(path) as fresh:
                Path(fresh).write_text("unfinished")
                os._exit(0)
        os.wait()
    # Killed before there was a lock; of another name, and of no saver at all.
    (tmp_path / ".file.tempstate0123456789abcdef").mkdir()
    for name in (".other.tempstate0123456789abcdef", ".file.tempstate", ".file.tempstatexyz"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    safe_files.replace_file(path, b"done")
    assert sorted(os.listdir(tmp_path)) == [
        ".file.tempstate", ".file.tempstatexyz", ".other.tempstate0123456789abcdef", "file",
    ]  # fmt: skip


def test_a_child_does_not_hold_the_locks_of_its_parent(tmp_path):
    path = str(tmp_path / "lock")
    handle = locks.lock_file(path)
    reading, writing = os.pipe()
    started, tell = os.pipe()
    child = os.fork()
    if child == 0:
        # Lives on until the parent closes its end.
        os.close(writing)
        os.write(tell, b"!")
        os.read(reading, 1)
        os._exit(0)
    os.close(reading)
    os.read(started, 1)
    assert locks.lock_file(path, wait=False) is None
    # As when the parent is killed: without an unlocking.
    os.close(handle)
    locks._HELD.discard(handle)
    again = locks.lock_file(path, wait=False)
    for end in (writing, started, tell):
        os.close(end)
    os.waitpid(child, 0)
    assert again is not None
    locks.release(again)


def test_a_cache_whose_writer_was_killed(tmp_path):
    name = str(tmp_path / "cache")

    def dataset():
        return tf.data.Dataset.range(3).cache(name)

    child = os.fork()
    if child == 0:
        iterator = iter(dataset())
        next(iterator)
        os._exit(0)
    os.wait()
    assert os.path.exists(f"{name}_0.lockfile")
    assert list(dataset().as_numpy_iterator()) == [0, 1, 2]
    assert os.listdir(tmp_path) == ["cache.runnel-cache"]
    # One of another library is none that anybody knows to be dead.
    Path(f"{name}_0.lockfile").write_text("Created at: 1")
    os.unlink(f"{name}.runnel-cache")
    with pytest.raises(tf.errors.AlreadyExistsError, match="lockfile"):
        list(dataset())

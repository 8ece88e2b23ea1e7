"""Event files: their queue and thread, and what is left of them when things go wrong."""

import glob
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from both_files import messages
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext

import runnel as tf
from runnel.formats import events
from runnel.formats.events import SUMMARY, EventFile, event
from runnel.formats.wire import field, varint

RECORD = event(SUMMARY, b"", 1)


def steps(folder):
    """The steps in the file of a folder, without that of the first record."""
    return [each.step for each in messages(folder)["."][1:]]


def wait_for(condition):
    """Fails if it does not become true."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def run(program, folder, **how):
    """Run a program that has the folder as `folder`."""
    code = f"import runnel as tf\nfolder = {str(folder)!r}\n{program}"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **how)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**31, 2**63 - 1, -1, -(2**40)])
def test_numbers_are_encoded_as_by_protocol_buffers(number):
    from tensorboard.compat.proto.event_pb2 import Event

    assert Event.FromString(b"\x10" + varint(number)).step == number
    text = "x" * (abs(number) % 300)
    assert Event.FromString(field(3, text.encode())).file_version == text


def test_a_file_begins_with_its_version(tmp_path):
    file = EventFile(str(tmp_path), filename_suffix=".end")
    name = os.path.basename(file.path)
    parts = name.split(".")
    assert name.startswith("events.out.tfevents.") and name.endswith(".end")
    assert parts[-3] == str(os.getpid()) and int(parts[3]) <= time.time() < int(parts[3]) + 60
    (first,) = messages(tmp_path)["."]
    assert first.file_version == "brain.Event:2"
    assert first.source_metadata.writer == "tensorflow.core.util.events_writer"
    file.close()


def test_files_of_one_second_do_not_overwrite_each_other(tmp_path):
    files = [EventFile(str(tmp_path), numbered=False) for _ in range(3)]
    assert len({file.path for file in files}) == 3
    for file in files:
        file.close()


def test_a_long_queue_is_written_out(tmp_path):
    file = EventFile(str(tmp_path), max_queue=3, flush_millis=10**9)
    for _ in range(3):
        file.add(RECORD)
    time.sleep(0.1)
    assert steps(tmp_path) == []
    file.add(RECORD)
    wait_for(lambda: len(steps(tmp_path)) == 4)
    file.close()


def test_nothing_waits_for_longer_than_asked(tmp_path):
    file = EventFile(str(tmp_path), max_queue=1000, flush_millis=50)
    file.add(RECORD)
    wait_for(lambda: len(steps(tmp_path)) == 1)
    file.close()


def test_much_data_does_not_wait(tmp_path):
    file = EventFile(str(tmp_path), max_queue=10**9, flush_millis=10**9)
    big = event(SUMMARY, field(1, field(1, b"x" * 2_000_000)))
    for _ in range(3):
        file.add(big)
    assert len(steps(tmp_path)) == 3
    file.close()


def test_a_block_and_flush_write_at_once(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path, max_queue=1000)
    with writer.as_default():
        tf.summary.scalar("x", 1.0, step=1)
        assert steps(tmp_path) == []
        writer.flush()
        assert steps(tmp_path) == [1]
        tf.summary.scalar("x", 1.0, step=2)
    assert steps(tmp_path) == [1, 2]


def test_a_writer_that_is_dropped_closes_its_file(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path, max_queue=1000)
    file = writer._resource._array.file
    writer.set_as_default(step=4)
    tf.summary.scalar("x", 1.0)
    from runnel.summary.writers import defaults

    defaults.writer = defaults.step = None
    del writer
    assert file.closed
    assert steps(tmp_path) == [4]


def test_a_function_keeps_its_writer(tmp_path):
    def function():
        writer = tf.summary.create_file_writer(tmp_path)

        @tf.function
        def traced(x):
            with writer.as_default(step=1):
                tf.summary.scalar("x", x)

        traced(tf.constant(1.0))
        return traced

    traced = function()
    traced(tf.constant(2.0))
    assert steps(tmp_path) == [1, 1]


WRITES = """
writer = tf.summary.create_file_writer(folder, max_queue=10**6)
writer.set_as_default()
for step in range(1, 101):
    tf.summary.scalar("loss", 1.0 / step, step=step)
"""


def test_everything_is_written_at_the_end_of_a_program(tmp_path):
    assert run(WRITES, tmp_path).returncode == 0
    assert steps(tmp_path) == list(range(1, 101))


def test_everything_is_written_when_an_exception_ends_a_program(tmp_path):
    done = run(WRITES + "raise RuntimeError('too bad')", tmp_path)
    assert done.returncode == 1 and "too bad" in done.stderr
    assert steps(tmp_path) == list(range(1, 101))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_program_leaves_what_was_flushed(tmp_path):
    end = """
writer.flush()
tf.summary.scalar("loss", 0.0, step=200)
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run(WRITES + end, tmp_path).returncode == -signal.SIGKILL
    assert steps(tmp_path) == list(range(1, 101))
    (path,) = glob.glob(f"{tmp_path}/*")
    tensorflow = pytest.importorskip("tensorflow")

    found = [each.step for each in tensorflow.compat.v1.train.summary_iterator(path)]
    assert found == [0, *range(1, 101)]
    accumulator = EventAccumulator(str(tmp_path)).Reload()
    assert [each.step for each in accumulator.Tensors("loss")][-1] == 100


def test_a_full_disk_brings_one_warning(tmp_path):
    resource = pytest.importorskip("resource")
    del resource
    program = """
import resource
writer = tf.summary.create_file_writer(folder)
with writer.as_default():
    for step in range(1, 101):
        tf.summary.scalar("loss", 1.0, step=step)
    writer.flush()
    unlimited = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, unlimited))
    for step in range(1000, 4000):
        tf.summary.scalar("loss", 1.0, step=step)
        if step % 1000 == 0:
            writer.flush()
    writer.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
    tf.summary.scalar("loss", 1.0, step=5000)
print("trained")
"""
    done = run(program, tmp_path)
    assert done.returncode == 0 and done.stdout == "trained\n"
    assert done.stderr.count("Summaries are lost") == 1 == len(done.stderr.strip().splitlines())
    found = steps(tmp_path)
    assert found[:100] == list(range(1, 101)) and found[-1] == 5000


def test_threads_lose_nothing(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)

    def write(thread):
        with writer.as_default():
            for step in range(2500):
                tf.summary.scalar(f"thread{thread}", step, step=step)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = {}
    for each in messages(tmp_path)["."][1:]:
        found.setdefault(each.summary.value[0].tag, []).append(each.step)
    assert found == {f"thread{number}": list(range(2500)) for number in range(8)}


def test_the_queue_is_bounded(tmp_path):
    """However fast summaries come, no more than a few megabytes of them wait."""
    file = EventFile(str(tmp_path), max_queue=10**9, flush_millis=10**9)
    record = event(SUMMARY, field(1, field(1, b"x" * 5000)))
    most = 0
    for _ in range(2000):
        file.add(record)
        most = max(most, file._bytes_waiting)
    assert most <= events._MOST_WAITING + len(record)
    file.close()
    assert len(steps(tmp_path)) == 2000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_leaves_the_queue_to_its_parent(tmp_path):
    program = (
        WRITES
        + """
import os, warnings
warnings.simplefilter("ignore")
if os.fork() == 0:
    writer.flush()
    os._exit(0)
os.wait()
"""
    )
    assert run(program, tmp_path).returncode == 0
    assert steps(tmp_path) == list(range(1, 101))


def test_a_damaged_file(tmp_path):
    with tf.summary.create_file_writer(tmp_path).as_default():
        for step in range(1, 4):
            tf.summary.scalar("x", 1.0, step=step)
    (path,) = glob.glob(f"{tmp_path}/*")
    with open(path, "rb+") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"?")
    found = []
    with pytest.raises(tf.errors.DataLossError):
        found.extend(each.step for each in tf.compat.v1.train.summary_iterator(path))
    with open(path, "rb+") as file:
        file.truncate(os.path.getsize(path) - 30)
    assert [each.step for each in EventReader(path)] == [0, 1, 2]
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.compat.v1.train.summary_iterator(str(tmp_path / "nowhere"))


class EventReader:
    """The events of a file up to the first that is damaged."""

    def __init__(self, path):
        self._events = tf.compat.v1.train.summary_iterator(path)

    def __iter__(self):
        try:
            yield from self._events
        except tf.errors.DataLossError:
            return


def test_tensorboard_reads_the_files(tmp_path):
    with tf.summary.create_file_writer(tmp_path).as_default():
        for step in range(5):
            tf.summary.scalar("loss", step / 2, step=step)
            tf.summary.text("note", f"step {step}", step=step)
    accumulator = EventAccumulator(str(tmp_path)).Reload()
    assert accumulator.Tags()["tensors"] == ["loss", "note"]
    points = [(e.step, tf.make_ndarray(e.tensor_proto).item()) for e in accumulator.Tensors("loss")]
    assert points == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5), (4, 2.0)]


def test_every_page_of_tensorboard_has_its_data(tmp_path):
    with tf.summary.create_file_writer(tmp_path / "run").as_default(step=2):
        tf.summary.scalar("loss", 1.0)
        tf.summary.histogram("weights", [1.0, 2.0])
        tf.summary.text("note", "x")
        tf.summary.image("picture", tf.zeros([2, 4, 4, 3]))
        tf.summary.audio("sound", tf.zeros([1, 10, 1]), 8000)
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(tmp_path))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(tmp_path))
    for find, plugin, tag in (
        (provider.list_scalars, "scalars", "loss"),
        (provider.list_tensors, "histograms", "weights"),
        (provider.list_tensors, "text", "note"),
        (provider.list_blob_sequences, "images", "picture"),
        (provider.list_blob_sequences, "audio", "sound"),
    ):
        found = find(RequestContext(), experiment_id="", plugin_name=plugin)
        assert list(found["run"]) == [tag]
        assert found["run"][tag].max_step == 2


def test_the_original_reads_ours_and_we_read_the_originals(tmp_path):
    tensorflow = pytest.importorskip("tensorflow")

    for writing, reading in ((tf, tensorflow), (tensorflow, tf)):
        folder = str(tmp_path / writing.__name__)
        with writing.summary.create_file_writer(folder).as_default():
            writing.summary.scalar("loss", 0.5, step=3)
        (path,) = glob.glob(f"{folder}/*")
        first, second = reading.compat.v1.train.summary_iterator(path)
        assert first.file_version == "brain.Event:2"
        (value,) = second.summary.value
        assert (second.step, value.tag) == (3, "loss")
        assert reading.make_ndarray(value.tensor) == 0.5

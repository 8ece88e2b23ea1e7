"""Load: a million scalars from 8 threads, none lost, with at most 60 MB on top. Run by hand."""

import glob
import resource
import sys
import tempfile
import threading
import time

import runnel as tf
from runnel.formats.tfrecord import read_records

THREADS = 8
MOST_MEGABYTES = 60


def megabytes():
    """The most memory that the process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(count):
    folder = tempfile.mkdtemp()
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        tf.summary.scalar("first", 0.0, step=0)
    before = megabytes()

    def write(thread):
        with writer.as_default():
            for step in range(count // THREADS):
                tf.summary.scalar(f"thread{thread}", float(step), step=step)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    taken, more = time.perf_counter() - began, megabytes() - before
    (path,) = glob.glob(f"{folder}/*")
    found = sum(1 for _ in read_records(path)) - 2
    print(f"{found} of {count} scalars in {taken:.1f} s, {more:.1f} MB on top")
    assert found == count and more <= MOST_MEGABYTES


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)

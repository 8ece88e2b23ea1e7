"""Two processes save under one name again and again, and a third loads beside them.

    python writing_at_once.py SECONDS KIND...

Every version that is loaded must be whole, and the last one too. Prints how many different versions
were loaded of each kind.
"""

import os
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from writers import WRITERS

import runnel as tf


def save_for_ever(writer, folder, number):
    while True:
        # Even and odd numbers tell the two apart.
        number += 2.0
        writer.save(folder, number)


def versions(kind, folder, seconds):
    writer = WRITERS[kind]
    if hasattr(writer, "prepare"):
        writer.prepare(folder)
    writer.save(folder, 1.0)
    victims = []
    for number in (2.0, 3.0):
        victim = os.fork()
        if victim == 0:
            try:
                save_for_ever(writer, folder, number)
            finally:
                os._exit(1)
        victims.append(victim)
    seen = set()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end or (len(seen) < 3 and time.monotonic() < end + 30):
            seen.add(writer.load(folder))
    finally:
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
            _, status = os.waitpid(victim, 0)
            assert os.WIFSIGNALED(status), f"{kind}: a writer ended by itself"
    seen.add(writer.load(folder))
    assert None not in seen, kind
    # What the two left is taken away, and nothing is in the way of the next.
    writer.save(folder, 1.0)
    assert writer.load(folder) == 1.0
    left = [name for _, folders, files in os.walk(folder) for name in [*folders, *files]]
    assert not [name for name in left if ".tempstate" in name or name.endswith(".lock")], left
    return len(seen)


def main(seconds, kinds):
    warnings.simplefilter("ignore")
    tf.get_logger().setLevel("ERROR")
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            print(versions(kind, Path(folder), float(seconds)), kind, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

"""Other programs on the same processors: as many threads as they leave."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import runnel as tf
from runnel import engines
from runnel.core import devices
from runnel.engines.onednn import library
from runnel.runtime import blas_threads, cpu_load, engine_selection, workers

LIBRARY = library.load()
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc")


def looks(monkeypatch, *times_of_all, own=0.0):
    """A company whose looks, a second apart, find these seconds of work by all programs."""
    found = [cpu_load._Sample(float(i), spent, own * i) for i, spent in enumerate(times_of_all)]
    monkeypatch.setattr(cpu_load, "_sample", iter(found).__next__)
    made = cpu_load.CpuLoad()
    assert made.busy_cores() is None
    return made


def test_idle_cores(monkeypatch):
    made = looks(monkeypatch, 0.0, 2.0, 4.1, 6.1, 6.3, 6.35, own=0.0)
    assert made.idle_cores(4, 4) == 2
    assert made.idle_cores(4, 2) == 2
    assert made.idle_cores(4, 2) == 2
    assert made.idle_cores(4, 2) == 4
    assert made.idle_cores(4, 4) == 4


def test_own_work_is_no_company(monkeypatch):
    made = looks(monkeypatch, 0.0, 2.0, 4.0, own=2.0)
    assert made.idle_cores(2, 2) == 2
    assert made.busy_cores() == 0


def test_one_thread_is_always_left(monkeypatch):
    assert looks(monkeypatch, 0.0, 9.0).idle_cores(2, 2) == 1


def test_small_work_changes_nothing(monkeypatch):
    """It comes and goes, and thread by thread primitives would be made anew."""
    made = looks(monkeypatch, 0.0, 0.6, 1.9)
    assert made.idle_cores(2, 2) == 2
    assert made.idle_cores(2, 1) == 1


def test_nobody_can_tell(monkeypatch):
    monkeypatch.setattr(cpu_load, "_STATISTICS", cpu_load._STATISTICS / "nowhere")
    made = cpu_load.CpuLoad()
    assert made.busy_cores() is None and made.busy_cores() is None and made.idle_cores(8, 5) == 5


@ON_LINUX
def test_a_busy_program_is_seen():
    busy = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in os.sched_getaffinity(0)]
    try:
        made = cpu_load.CpuLoad()
        made.busy_cores()
        end, most = time.monotonic() + 10, 0.0
        while most < 0.6 and time.monotonic() < end:
            time.sleep(0.5)
            most = max(most, made.busy_cores())
        assert most >= 0.6
    finally:
        for each in others:
            each.kill()
            each.wait()


def convolved():
    images = np.random.default_rng(0).normal(size=(16, 12, 12, 8)).astype("float32")
    return tf.nn.conv2d(tf.constant(images), tf.ones([3, 3, 8, 8]), 1, "SAME")


@pytest.fixture
def leaving(monkeypatch):
    """Have other programs leave so many threads."""
    monkeypatch.setattr(LIBRARY, "most_threads", 2)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    # Threads cannot be chosen any more where another test has looked at the devices.
    monkeypatch.setattr(tf.config.threading, "settings", devices.Settings())
    engines.use("onednn")

    def leave(count):
        monkeypatch.setattr(cpu_load.cpu_load, "idle_cores", lambda cores, used: count)
        engine_selection.pool._next_sample = 0.0
        return convolved()

    yield leave
    workers.limit_threads(0)
    blas_threads.limit_threads(0, engine_selection.pool.owned_by_engine)


@pytest.mark.skipif(LIBRARY is None, reason="oneDNN's library is not there")
def test_threads_are_given_up_and_taken_back(leaving):
    wanted = leaving(2)
    assert LIBRARY.threads() == 2
    leaving(1)
    np.testing.assert_allclose(convolved(), wanted, rtol=1e-5, atol=1e-5)
    assert LIBRARY.threads() == 1
    engine_selection.pool.give_to_blas()
    assert blas_threads.threads_in_use() in (1, None)
    leaving(2)
    convolved()
    assert LIBRARY.threads() == 2


@pytest.mark.skipif(LIBRARY is None, reason="oneDNN's library is not there")
def test_what_the_user_chose_stays(leaving, monkeypatch):
    tf.config.threading.set_intra_op_parallelism_threads(2)
    try:
        leaving(1)
        convolved()
        assert LIBRARY.threads() == 2
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    leaving(1)
    convolved()
    assert LIBRARY.threads() == 2


@pytest.mark.skipif(LIBRARY is None, reason="oneDNN's library is not there")
def test_deterministic_operations_keep_their_threads(leaving, monkeypatch):
    monkeypatch.setattr(engines.settings, "op_determinism", True)
    leaving(1)
    convolved()
    assert LIBRARY.threads() == 2

"""Threads compute at once, each with tapes of its own; long loops hold their memory."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections import deque

import numpy as np
import pytest

import runnel as tf
from runnel.runtime import workers
from runnel.runtime.engine_selection import here
from runnel.runtime.workers import run_parallel


def in_threads(count, work):
    results, failures = [None] * count, []

    def run(index):
        try:
            results[index] = work(index)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures, failures
    return results


def test_tasks_run_in_parallel():
    started = threading.Barrier(2)

    def work(place):
        if place < 2:
            started.wait(60)
        return place, here.in_parallel_region, threading.current_thread().name

    found = run_parallel(work, 2)
    assert [place for place, *_ in found] == [0, 1] and all(alone for _, alone, _ in found)
    assert found[0][2] == threading.current_thread().name != found[1][2]
    assert not here.in_parallel_region
    # More than there are workers wait for their turn; one alone is not beside others.
    assert len(run_parallel(lambda place: place, 9)) == 9
    assert run_parallel(lambda place: here.in_parallel_region, 1) == [False]


def test_nobody_goes_on_before_all_are_done():
    done = []

    def work(place):
        if place == 0:
            raise KeyboardInterrupt
        time.sleep(0.05)
        done.append(place)

    with pytest.raises(KeyboardInterrupt):
        run_parallel(work, 3)
    assert sorted(done) == [1, 2] and not here.in_parallel_region


def begun(work, name="runnel-test"):
    """The thread that does a piece of work, and an event that says when it has."""
    done, found = threading.Event(), []

    def noting():
        found.append(threading.current_thread())
        try:
            work()
        finally:
            done.set()

    workers.start_task(noting, name)
    assert done.wait(60)
    return found[0]


def rested(thread):
    """Wait until a thread is there for other work, or has ended."""
    for _ in range(3000):
        if thread.name == workers._NAME or not thread.is_alive():
            return
        time.sleep(0.01)
    raise AssertionError("it is still at work")


def test_a_thread_that_has_ended_its_work_does_more(monkeypatch):
    monkeypatch.setattr(workers, "_idle", deque())
    names = []
    first = begun(lambda: names.append(threading.current_thread().name), "runnel-a")
    rested(first)
    assert begun(lambda: names.append(threading.current_thread().name), "runnel-b") is first
    assert names == ["runnel-a", "runnel-b"]
    # While it works, others do what else there is.
    gate, ended = threading.Event(), threading.Event()
    rested(first)
    workers.start_task(lambda: (gate.wait(60), ended.set()), "runnel-c")
    assert begun(lambda: None) is not first
    gate.set()
    assert ended.wait(60)


def test_threads_without_work_end_and_hold_nothing(monkeypatch):
    monkeypatch.setattr(workers, "_idle", deque())
    monkeypatch.setattr(workers, "_IDLE_SECONDS", 0.2)

    class Work:
        def __call__(self):
            pass

    work = Work()
    held = weakref.ref(work)
    thread = begun(work)
    del work
    rested(thread)
    gc.collect()
    assert held() is None
    thread.join(60)
    assert not thread.is_alive() and not workers._idle
    assert begun(lambda: None) is not thread


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_begins_threads_of_its_own():
    code = """
import os, threading, time
from runnel.runtime import workers
for _ in range(3):
    workers.start_task(lambda: None, "runnel-test")
time.sleep(0.2)
child = os.fork()
done = threading.Event()
workers.start_task(done.set, "runnel-test")
assert done.wait(30)
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both")
"""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=100
    )
    assert found.stdout == "both\n", found.stderr


def test_each_thread_has_its_own_tapes():
    barrier = threading.Barrier(4)

    def work(index):
        x = tf.Variable(float(index))
        gradients = []
        for _ in range(50):
            with tf.GradientTape() as tape:
                barrier.wait(30)
                y = x * x * x
            gradients.append(float(tape.gradient(y, x)))
        return gradients

    for index, gradients in enumerate(in_threads(4, work)):
        assert gradients == [3.0 * index * index] * 50


def test_a_tape_does_not_see_other_threads():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        (y,) = in_threads(1, lambda index: x * x)
    assert tape.gradient(y, x) is None


def test_name_scopes_and_devices_belong_to_their_thread():
    with tf.name_scope("outer"):
        assert in_threads(1, lambda index: tf.Variable(1.0, name="v").name) == ["v:0"]


@pytest.mark.parametrize("shape", [[], [5], [40_000]])
def test_updates_of_two_threads_both_count(shape):
    v, one = tf.Variable(tf.zeros(shape)), tf.ones(shape)
    steps = 500 if shape == [40_000] else 5_000

    def work(index):
        for _ in range(steps):
            v.assign_add(one)

    in_threads(3, work)
    assert np.all(v.numpy() == 3.0 * steps)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_numbers_of_several_threads_are_updated_apart(optimizer):
    def work(index):
        variable = tf.Variable(float(index))
        step = getattr(tf.keras.optimizers, optimizer)(0.5).apply_gradients
        for i in range(500):
            step([(tf.constant(float(index * i % 7)), variable)])
        return float(variable)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        together = in_threads(3, work)
    finally:
        sys.setswitchinterval(interval)
    assert together == [work(index) for index in range(3)]


def test_a_tensor_read_while_another_thread_updates_never_changes():
    v, one = tf.Variable(tf.zeros([200_000])), tf.ones([200_000])
    rows = tf.range(0, 200_000, dtype=tf.int64)
    done = threading.Event()

    def work(index):
        if index == 0:
            for _ in range(100):
                v.assign_add(one)
                v.scatter_add(tf.IndexedSlices(one, rows))
            done.set()
            return
        while not done.is_set():
            tensor = v.read_value()
            first, second = tensor.numpy(), tensor.numpy()
            assert np.array_equal(first, second)
            assert first.min() == first.max(), "seen in the middle of an update"

    in_threads(3, work)


LONG_LOOP = """
import gc, pathlib
import numpy as np
import runnel as tf

def resident_bytes():
    status = pathlib.Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 if status.exists() else 0

x = tf.constant(np.linspace(0, 1, 16, dtype=np.float32))
y = tf.constant(np.linspace(1, 3, 16, dtype=np.float32))
a, b = tf.Variable(0.0), tf.Variable(tf.zeros([16]))

def train(steps):
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * x + b - y))
        for variable, gradient in zip((a, b), tape.gradient(loss, [a, b])):
            variable.assign_sub(1e-4 * gradient)

train(1_000)
gc.collect()
objects, memory = len(gc.get_objects()), resident_bytes()
train(99_000)
gc.collect()
print(len(gc.get_objects()) - objects, resident_bytes() - memory)
"""


def test_a_long_training_loop_holds_its_memory():
    """In a process of its own, since the memory of this one depends on the tests before."""
    done = subprocess.run(
        [sys.executable, "-c", LONG_LOOP], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    objects, memory = map(int, done.stdout.split())
    assert objects < 100
    assert memory < 2_000_000

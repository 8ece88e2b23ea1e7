"""Threads keep the order, stay bounded, hand on errors and end with their iteration."""

from __future__ import annotations

import gc
import threading
import time

import numpy as np
import pytest

import runnel as tf


def workers():
    return [t for t in threading.enumerate() if t.name.startswith("runnel-")]


def wait_for_no_workers():
    for _ in range(200):
        if not workers():
            return
        time.sleep(0.02)
    raise AssertionError(f"still running: {workers()}")


def slow(x):
    return tf.numpy_function(lambda y: (time.sleep(0.002 * (int(y) % 3)), y)[1], [x], tf.int64)


def test_parallel_map_keeps_the_order():
    dataset = tf.data.Dataset.range(60).map(slow, num_parallel_calls=4)
    assert [int(x) for x in dataset] == list(range(60))
    wait_for_no_workers()


def test_parallel_map_without_order_gives_every_element():
    dataset = tf.data.Dataset.range(60).map(slow, num_parallel_calls=4, deterministic=False)
    assert sorted(int(x) for x in dataset) == list(range(60))


def test_parallel_map_runs_side_by_side():
    together = threading.Barrier(2, timeout=20)

    def meet(y):
        time.sleep(0.001)
        if int(y) >= 10:
            together.wait()
        return y

    dataset = tf.data.Dataset.range(20).map(
        lambda x: tf.numpy_function(meet, [x], tf.int64), num_parallel_calls=2
    )
    assert [int(x) for x in dataset] == list(range(20))


@pytest.mark.parametrize("how", ["map", "prefetch", "interleave"])
def test_leaving_a_loop_ends_the_threads(how):
    dataset = tf.data.Dataset.range(10**9)
    if how == "map":
        dataset = dataset.map(slow, num_parallel_calls=4)
    elif how == "prefetch":
        dataset = dataset.prefetch(3)
    else:
        dataset = dataset.interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(), 3, num_parallel_calls=3
        )
    gc.disable()
    try:
        for number, _ in enumerate(dataset):
            if number == 12:
                break
        wait_for_no_workers()
    finally:
        gc.enable()


def test_buffers_are_bounded():
    made = []

    def generator():
        for i in range(1000):
            made.append(i)
            yield i

    dataset = tf.data.Dataset.from_generator(
        generator, output_signature=tf.TensorSpec([], tf.int32)
    ).prefetch(5)
    iterator = iter(dataset)
    next(iterator)
    time.sleep(0.2)
    assert len(made) <= 8
    assert int(next(iterator)) == 1


@pytest.mark.parametrize("parallel", [None, 3])
def test_errors_of_threads_reach_the_consumer(parallel):
    def fail(y):
        time.sleep(0.001)
        if int(y) == 7:
            raise ValueError("seven is not allowed")
        return y

    dataset = tf.data.Dataset.range(12).map(
        lambda x: tf.numpy_function(fail, [x], tf.int64), num_parallel_calls=parallel
    )
    iterator = iter(dataset.prefetch(2))
    assert [int(next(iterator)) for _ in range(7)] == list(range(7))
    with pytest.raises(tf.errors.InvalidArgumentError, match="seven is not allowed"):
        next(iterator)
    assert [int(x) for x in iterator] == list(range(8, 12))
    kept = dataset.ignore_errors().batch(20).get_single_element()
    np.testing.assert_array_equal(kept, [i for i in range(12) if i != 7])
    del iterator
    wait_for_no_workers()

"""Threads keep the order, stay bounded, hand on errors and end with their iteration."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc

import numpy as np
import pytest

import runnel as tf


def workers():
    # Those that share large pieces of work stay, whoever asked for them first.
    ours = [t for t in threading.enumerate() if t.name.startswith("runnel-")]
    return [t for t in ours if not t.name.startswith("runnel-worker")]


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


@pytest.mark.parametrize("how", ["map", "batch", "prefetch", "interleave"])
def test_leaving_a_loop_ends_the_threads(how):
    dataset = tf.data.Dataset.range(10**9)
    if how == "map":
        dataset = dataset.map(slow, num_parallel_calls=4)
    elif how == "batch":
        dataset = dataset.map(slow, num_parallel_calls=4).batch(5)
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


def pipeline_over(path):
    dataset = tf.data.TFRecordDataset(path).map(
        lambda text: tf.numpy_function(lambda t: (time.sleep(3e-4), t)[1], [text], tf.string),
        num_parallel_calls=2,
    )
    return dataset.shuffle(10).batch(5).prefetch(2)


def test_memory_stays_flat(tmp_path):
    """A pipeline holds its buffers (45 records here) of a file with 600 of them, never the file."""
    record = 1 << 16
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(600):
            writer.write(bytes([number % 256]) * record)
    sizes = []
    tracemalloc.start()
    try:
        count = 0
        for number, batch in enumerate(pipeline_over(path)):
            count += batch.shape[0]
            if number in (20, 110):
                sizes.append(tracemalloc.get_traced_memory()[0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 600
    assert peak < 90 * record
    assert sizes[1] < sizes[0] + 20 * record


@pytest.mark.parametrize("parallel", [None, 2])
def test_errors_show_transformation_element_and_line(parallel):
    def function(x):
        time.sleep(0)
        return tf.debugging.check_numerics(1 / (x - 5), "no inverse")  # this line

    dataset = tf.data.Dataset.range(9).map(function, num_parallel_calls=parallel).prefetch(2)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(dataset)
    told = str(caught.value)
    line = function.__code__.co_firstlineno + 2
    assert f"test_data_threads.py:{line}" in told or f'test_data_threads.py", line {line}' in told
    assert "element 5" in told and "MapDataset" in told and "no inverse" in told


def several_parts(y, failing=(), odd=()):
    """A string, a number and an array, after a time that differs; not in every case."""
    number = int(y)
    time.sleep(5e-4 * (1 + number % 4))
    if number in failing:
        raise ValueError(f"{number} is not allowed")
    return str(number).encode(), y, np.full(5 if number in odd else 4, number, np.float32)


def batches_seen(batch, parallel, drop=False, **cases):
    """The batches of 30 elements, and the errors in between."""

    def function(x):
        kinds = [tf.string, tf.int64, tf.float32]
        text, number, array = tf.numpy_function(lambda y: several_parts(y, **cases), [x], kinds)
        text.set_shape([])
        number.set_shape([])
        array.set_shape([None])
        return {"text": text, "number": number, "array": array}

    iterator = iter(tf.data.Dataset.range(30).map(function, parallel).batch(batch, drop))
    found = []
    while True:
        try:
            parts = next(iterator)
            found.append([parts[name].numpy().tolist() for name in ("text", "number", "array")])
        except StopIteration:
            return found
        except tf.errors.InvalidArgumentError as failure:
            found.append(failure.message.split("\n")[-1] if cases.get("odd") else "failed")


@pytest.mark.parametrize(
    "batch, drop, cases",
    [
        (8, False, {}),
        (8, True, {}),
        (1, False, {}),
        (100, False, {}),
        (7, False, {"failing": [9]}),
        (4, False, {"failing": [6, 7, 16, 29]}),
        (6, False, {"odd": [8]}),
        (6, False, {"odd": [12]}),
    ],
)
def test_threads_fill_batches_as_one_thread_does(batch, drop, cases):
    wanted = batches_seen(batch, None, drop, **cases)
    assert batches_seen(batch, 2, drop, **cases) == wanted
    numbers = [number for each in wanted if not isinstance(each, str) for number in each[1]]
    lost = 30 % batch if drop else sum(isinstance(each, str) for each in wanted)
    assert lost or numbers == list(range(30))


def test_a_batch_does_not_wait_for_elements_of_the_next():
    taken = threading.Event()

    def function(y):
        time.sleep(0.001)
        if int(y) >= 16:
            assert taken.wait(20)
        return y

    dataset = tf.data.Dataset.range(32).map(
        lambda x: tf.numpy_function(function, [x], tf.int64), num_parallel_calls=2
    )
    iterator = iter(dataset.batch(16))
    np.testing.assert_array_equal(next(iterator), range(16))
    taken.set()
    np.testing.assert_array_equal(next(iterator), range(16, 32))


def test_the_second_iteration_knows_that_calls_are_slow():
    seen = []

    def function(y):
        time.sleep(0.001)
        seen.append(threading.current_thread().name)
        return y

    dataset = tf.data.Dataset.range(8).map(
        lambda x: tf.numpy_function(function, [x], tf.int64), num_parallel_calls=2
    )
    here = threading.current_thread().name
    for expected in (5, 0):
        seen.clear()
        assert [int(x) for x in dataset] == list(range(8))
        assert seen.count(here) == expected


@pytest.mark.parametrize("deterministic", [True, False])
def test_results_do_not_wait_for_a_source_that_is_slow(deterministic):
    asked = threading.Event()

    def generator():
        for number in range(12):
            if number == 9:
                assert asked.wait(20)
            yield number

    def function(y):
        time.sleep(0.001)
        return y

    source = tf.data.Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int64))
    dataset = source.map(
        lambda x: tf.numpy_function(function, [x], tf.int64),
        num_parallel_calls=2,
        deterministic=deterministic,
    )
    iterator = iter(dataset)
    first = sorted(int(next(iterator)) for _ in range(9))
    asked.set()
    assert first == list(range(9)) and sorted(int(x) for x in iterator) == [9, 10, 11]


def test_a_batch_stays_as_it_was_given():
    def function(y):
        time.sleep(0.001)
        return np.full(3, y)

    dataset = tf.data.Dataset.range(40).map(
        lambda x: tf.numpy_function(function, [x], tf.int64), num_parallel_calls=2
    )
    batches = list(dataset.batch(4))
    for number, batch in enumerate(batches):
        np.testing.assert_array_equal(batch, np.repeat(np.arange(4) + 4 * number, 3).reshape(4, 3))


def test_an_error_of_the_source_comes_in_its_turn():
    def fails_at_20(x):
        tf.debugging.assert_none_equal(x, tf.constant(20, tf.int64))
        return x

    dataset = tf.data.Dataset.range(40).map(fails_at_20).map(slow, num_parallel_calls=4).batch(8)
    iterator = iter(dataset)
    found, failures = [], 0
    for _ in range(9):
        try:
            found += next(iterator).numpy().tolist()
        except tf.errors.InvalidArgumentError:
            failures += 1
        except StopIteration:
            break
    assert failures == 1
    # What was in the batch that failed is gone with it; nothing before or after it is.
    assert found[:16] == list(range(16))
    assert found[16:] == list(range(24, 40))
